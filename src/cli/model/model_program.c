/* ridge model --program: a model lowered to a program, and printed. */
#include "model_program.h"

#include "ridge/program.h"
#include "ridge/report.h"

/** A whole number of an option; the library says which sizes fit. */
static ridge_status size_option(cli_run *run, const char *name, double fallback,
                                int64_t *out)
{
    const double most = 1e15;
    double v;
    RIDGE_TRY(cli_option_count(run, name, fallback, &v));
    if (v > most || v < 1 || v > (double)(int64_t)v) {
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--%s is a whole number of at least 1 here", name);
    }
    *out = (int64_t)v;
    return RIDGE_OK;
}

static ridge_status lower(cli_run *run, const ridge_model *model, double seq_tokens,
                          const ridge_program **out)
{
    const char *text = cli_option_text(run, "phase");
    ridge_phase phase = RIDGE_PHASE_TRAIN;
    int64_t tokens = 0;
    int64_t sequences = 0;
    if (text)
        RIDGE_TRY(ridge_phase_parse(run->cx, text, &phase));
    RIDGE_TRY(size_option(run, "batch", 1, &sequences));
    RIDGE_TRY(size_option(run, "seq", seq_tokens, &tokens));
    if (phase == RIDGE_PHASE_DECODE)
        RIDGE_TRY(size_option(run, "context", (double)tokens, &tokens));
    const ridge_lowering how = ridge_lowering_usual(model, phase, sequences, tokens);
    return ridge_program_lower(run->cx, model, &how, out);
}

int cli_model_program(cli_run *run, const ridge_model *model, double seq_tokens)
{
    const ridge_program *program = NULL;
    if (lower(run, model, seq_tokens, &program) != RIDGE_OK)
        return cli_fail(run);
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    ridge_program_write(program, &text);
    const char *title =
        ridge_sprintf(ridge_ctx_arena(run->cx), "Program of %s", model->name);
    const int code =
        cli_emit_listing(run, title != NULL ? title : model->name,
                         "Operations over tensors with named dims; layers that are "
                         "alike are one entry with a repeat count.",
                         ridge_buf_text(&text));
    if (code)
        return code;
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_program_write_json(run->cx, program, object);
        return cli_emit_json(run, object);
    }
    return cli_emit_text(run, &text);
}
