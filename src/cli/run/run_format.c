/*
 * The format of a run that names none, on a machine that was calibrated: fp32 or bf16,
 * whichever that machine's rates make quicker for what will run.
 */
#include "run_plan.h"

#include "ridge/cost_program.h"

/* ---- a step of training ------------------------------------------------------------
 */

static ridge_status step_price(cli_run *run, const run_plan *p,
                               ridge_precision precision, double *out)
{
    double seq = 256.0, batch;
    ridge_layout layout = p->plan.layout;
    ridge_train_price price;
    RIDGE_TRY(cli_option_count(run, "seq", seq, &seq));
    batch = seq * (double)ridge_run_layout_sequences(&p->layout);
    RIDGE_TRY(cli_option_count(run, "batch", batch, &batch));
    ridge_train_request r = {.model = p->model,
                             .slice = p->slice,
                             .batch_tokens = batch,
                             .seq_tokens = seq,
                             .convention = RIDGE_CONVENTION_MATMUL_CAUSAL,
                             .knobs = ridge_knobs_free(),
                             .top = 1};
    layout.precision = r.knobs.precision = precision;
    RIDGE_TRY(ridge_train_price_one(run->cx, &r, &layout, &price));
    *out = price.step_time_s;
    return RIDGE_OK;
}

/* ---- a token -----------------------------------------------------------------------
 */

/* Operations of the decode program one after another, all stages together. */
static ridge_status token_price(cli_run *run, const run_plan *p,
                                ridge_precision precision, double *out)
{
    enum { CONTEXT = 256 };
    const ridge_dtype dtype = ridge_precision_policy(precision)->compute;
    const ridge_lowering how = {.phase = RIDGE_PHASE_DECODE,
                                .sequences = ridge_run_layout_sequences(&p->layout),
                                .query_tokens = 1,
                                .context_tokens = CONTEXT,
                                .weight = dtype,
                                .activation = dtype,
                                .cache = dtype};
    const ridge_program *program;
    const ridge_partition *partition;
    const ridge_rule *rules;
    ridge_laid_mesh laid;
    ridge_mesh mesh;
    int n;
    RIDGE_TRY(ridge_program_lower(run->cx, p->model, &how, &program));
    RIDGE_TRY(ridge_parallelism_rules(run->cx, program, &p->layout.degrees, &mesh,
                                      &rules, &n));
    RIDGE_TRY(ridge_partition_build(run->cx, program, &mesh, rules, n, NULL, NULL,
                                    &partition));
    *out = 0.0;
    if (!ridge_laid_mesh_fill(p->slice, NULL, &mesh, &laid))
        return RIDGE_OK;
    const ridge_program *cut = partition->program;
    for (int b = 0; b < cut->n_blocks; b++) {
        const ridge_block *block = &cut->blocks[b];
        for (int i = block->first_op; i < block->first_op + block->n_ops; i++)
            *out += (double)block->repeat *
                    ridge_operation_time_of(partition, i, &laid, dtype).expected_s;
    }
    return RIDGE_OK;
}

/* ---- the choice --------------------------------------------------------------------
 */

/* Rounding what a checkpoint holds in fp32 would make another text of it. */
static bool may_round(cli_run *run, const run_plan *p)
{
    return !cli_option_text(run, "generate") ||
           p->model->weight_dtype == RIDGE_DTYPE_BF16;
}

ridge_status cli_run_choose_format(cli_run *run, run_plan *p)
{
    static const ridge_precision WAYS[] = {RIDGE_PRECISION_FP32, RIDGE_PRECISION_BF16};
    double *const times[] = {&p->fp32_s, &p->bf16_s};
    const bool is_text = cli_option_text(run, "generate") != NULL;
    if (!may_round(run, p))
        return RIDGE_OK;
    for (int i = 0; i < 2; i++) {
        const ridge_status st = is_text ? token_price(run, p, WAYS[i], times[i])
                                        : step_price(run, p, WAYS[i], times[i]);
        if (st == RIDGE_OK && *times[i] > 0.0)
            continue;
        ridge_ctx_clear(run->cx); /* the run says for itself what is wrong */
        p->fp32_s = p->bf16_s = 0.0;
        return RIDGE_OK;
    }
    p->plan.layout.precision = WAYS[p->bf16_s < p->fp32_s];
    return cli_run_formats(run, p->plan.layout.precision, &p->layout);
}

const char *cli_run_format_text(cli_run *run, const run_plan *p)
{
    if (!(p->fp32_s > 0.0))
        return NULL;
    return ridge_sprintf(
        ridge_ctx_arena(run->cx),
        "%s: by the rates that %s measured a %s takes %s in fp32, %s in bf16",
        p->bf16_s < p->fp32_s ? "bf16" : "fp32", p->plan.slice_text,
        cli_option_text(run, "generate") ? "token" : "step",
        ridge_format_seconds(p->fp32_s).s, ridge_format_seconds(p->bf16_s).s);
}

void cli_run_set_format(cli_run *run, const run_plan *p, ridge_json *object)
{
    if (!(p->fp32_s > 0.0))
        return;
    ridge_json *format = ridge_json_set_object(run->cx, object, "format");
    ridge_json_set_text(format, "chosen", p->bf16_s < p->fp32_s ? "bf16" : "fp32");
    ridge_json_set_double(format, "fp32_s", p->fp32_s);
    ridge_json_set_double(format, "bf16_s", p->bf16_s);
}

ridge_status cli_run_formats(cli_run *run, ridge_precision precision,
                             ridge_run_layout *out)
{
    const ridge_policy *policy = ridge_precision_policy(precision);
    if (policy->compute != RIDGE_DTYPE_BF16 && policy->compute != RIDGE_DTYPE_FP32 &&
        policy->compute != RIDGE_DTYPE_TF32)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "precision=%s cannot be run: the kernels compute in fp32 and "
                          "bf16",
                          policy->text);
    out->weight = policy->weight_bytes > 2 ? RIDGE_DTYPE_FP32 : RIDGE_DTYPE_BF16;
    out->gradient = policy->gradient_bytes > 2 ? RIDGE_DTYPE_FP32 : RIDGE_DTYPE_BF16;
    out->has_master = policy->master_bytes > 0;
    return RIDGE_OK;
}
