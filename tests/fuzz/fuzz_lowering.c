/* Models from hostile configs as programs: every parameter is a weight, text reads
 * back, nothing overflows. */
#include "ridge/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Decoding keeps keys of a source instead of the weights that make them. */
static bool has_source(const ridge_model *model)
{
    for (int i = 0; i < model->n_layers; i++) {
        if (model->layers[i].is_encoder || model->layers[i].mixer.is_cross)
            return true;
    }
    return false;
}

static void check_text(ridge_ctx *cx, const ridge_program *program)
{
    const ridge_program *again = NULL;
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    ridge_program_write(program, &text);
    if (text.is_short)
        return;
    const ridge_status st =
        ridge_program_parse(cx, (ridge_str){text.p, text.n}, "again", &again);
    if (st != RIDGE_E_NOMEM && (st != RIDGE_OK || !ridge_program_equal(program, again)))
        __builtin_trap();
}

static void check_phase(ridge_ctx *cx, const ridge_model *model, ridge_phase phase)
{
    enum { SEQUENCES = 2, TOKENS = 24 };
    const ridge_lowering how = ridge_lowering_usual(model, phase, SEQUENCES, TOKENS);
    const ridge_program *program = NULL;
    if (ridge_program_lower(cx, model, &how, &program) != RIDGE_OK)
        return;
    const double want = (double)ridge_model_params(model).total;
    const double got = ridge_program_weights(program);
    const bool is_whole = phase != RIDGE_PHASE_DECODE || !has_source(model);
    /* Beyond 2^53 sums of doubles round. */
    if (is_whole && want < 0x1p53 && (got < want || got > want))
        __builtin_trap();
    if (!(ridge_program_count(program).matmul_flops >= 0))
        __builtin_trap();
    check_text(cx, program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { BUDGET_BYTES = 256 << 20 };
    ridge_ctx *cx = ridge_ctx_open_budget(BUDGET_BYTES);
    const ridge_str text = {(const char *)data, size};
    ridge_node root;
    const ridge_model *model;
    if (cx == NULL)
        return 0;
    if (ridge_json_parse(cx, text, "fuzz", &root) == RIDGE_OK &&
        ridge_model_from_config(cx, root, "fuzz", &model) == RIDGE_OK) {
        check_phase(cx, model, RIDGE_PHASE_TRAIN);
        check_phase(cx, model, RIDGE_PHASE_PREFILL);
        check_phase(cx, model, RIDGE_PHASE_DECODE);
    }
    ridge_ctx_close(cx);
    return 0;
}
