/* Hostile sharding notation: newlines part expression, mesh and sizes. What is read is
 * written, read again and worked out. */
#include "ridge/shard.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run_one(ridge_ctx *cx, const ridge_expr_texts *texts)
{
    ridge_expr_fault fault;
    ridge_expr e, again;
    ridge_buf b;
    int n = 0;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    if (ridge_expr_parse_at(cx, texts, &fault, &e) != RIDGE_OK) {
        ridge_expr_fault_write(&fault, &b);
        return;
    }
    ridge_expr_write(&e, &b);
    if (ridge_expr_parse(cx, ridge_buf_text(&b), texts->mesh, texts->dims, &again) !=
            RIDGE_OK ||
        !ridge_sharding_equal(&e.output.sharding, &again.output.sharding))
        abort();
    (void)ridge_expr_case(&e);
    ridge_strategy *s =
        ridge_new(ridge_ctx_arena(cx), ridge_strategy, RIDGE_STRATEGY_MAX);
    if (!s || e.mesh.n > 4 || ridge_expr_strategies(cx, &e, s, &n) != RIDGE_OK)
        return;
    for (int i = 0; i < n; i++)
        ridge_strategy_write(&e, &s[i], &b);
}

/* The first text as rules of a small program. */
static void run_rules(ridge_ctx *cx, const ridge_expr_texts *texts)
{
    static const char program_text[] = "program p prefill\n"
                                       "dims B=8 D=4 F_x=6\n"
                                       "block b\n"
                                       "  input x[B,D] bf16\n"
                                       "  weight w[D,F_x] bf16\n"
                                       "  y[B,F_x] bf16 = einsum x, w\n";
    const ridge_program *program = NULL;
    ridge_expr_fault fault;
    ridge_rules rules;
    ridge_mesh mesh;
    if (ridge_mesh_parse(cx, texts->mesh, &mesh) != RIDGE_OK ||
        ridge_program_parse(cx, ridge_str_of(program_text), "p", &program) != RIDGE_OK)
        return;
    if (ridge_rules_parse(cx, texts->expr, program, &mesh, &fault, &rules) !=
            RIDGE_OK &&
        fault.column > strlen(fault.text) + 1)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST = 2048 };
    char text[MOST + 1] = "";
    if (size > MOST)
        return 0;
    memcpy(text, data, size);
    char *mesh = strchr(text, '\n');
    if (mesh)
        *mesh++ = '\0';
    char *dims = mesh ? strchr(mesh, '\n') : NULL;
    if (dims)
        *dims++ = '\0';
    const ridge_expr_texts texts = {text, mesh ? mesh : "", dims ? dims : ""};
    ridge_ctx *cx = ridge_ctx_open();
    if (cx) {
        run_rules(cx, &texts);
        run_one(cx, &texts);
    }
    ridge_ctx_close(cx);
    return 0;
}
