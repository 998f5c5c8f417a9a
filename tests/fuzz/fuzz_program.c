/* Program text: what is read is written and read back as the same, can be counted, and
 * its backward pass, where it has one, is a program too. */
#include "ridge/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(ridge_ctx *cx, const ridge_program *program)
{
    const ridge_program *again = NULL;
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    ridge_program_write(program, &text);
    if (text.is_short)
        return;
    const ridge_status st =
        ridge_program_parse(cx, (ridge_str){text.p, text.n}, "again", &again);
    if (st == RIDGE_E_NOMEM)
        return;
    if (st != RIDGE_OK || !ridge_program_equal(program, again))
        __builtin_trap();
}

static void check_counts(const ridge_program *program)
{
    const ridge_op_count count = ridge_program_count(program);
    if (!(count.matmul_flops >= 0) || !(count.vector_flops >= 0) || !(count.bytes >= 0))
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { BUDGET_BYTES = 256 << 20 };
    ridge_ctx *cx = ridge_ctx_open_budget(BUDGET_BYTES);
    const ridge_str text = {(const char *)data, size};
    const ridge_program *program = NULL, *whole = NULL;
    if (cx == NULL)
        return 0;
    if (ridge_program_parse(cx, text, "fuzz", &program) == RIDGE_OK) {
        check_round_trip(cx, program);
        check_counts(program);
        if (ridge_program_backward(cx, program, &whole) == RIDGE_OK) {
            check_round_trip(cx, whole);
            check_counts(whole);
        }
    }
    ridge_ctx_close(cx);
    return 0;
}
