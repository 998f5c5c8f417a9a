/* Layouts of a run: their size, their text, the words of rates. */
#include "runner.h"

ridge_run_layout ridge_run_layout_single(void)
{
    return (ridge_run_layout){
        .degrees = {.dp = 1, .fsdp = 1, .ep = 1, .cp = 1, .tp = 1},
        .pp = 1,
        .vpp = 1,
        .schedule = RIDGE_SCHEDULE_1F1B,
        .microbatch_seqs = 1,
        .remat = RIDGE_REMAT_NONE,
        .weight = RIDGE_DTYPE_FP32,
        .gradient = RIDGE_DTYPE_FP32};
}

int64_t ridge_run_layout_ranks(const ridge_run_layout *l)
{
    const ridge_parallelism *d = &l->degrees;
    return d->dp * d->fsdp * d->ep * d->cp * d->tp * l->pp;
}

int64_t ridge_run_layout_sequences(const ridge_run_layout *l)
{
    const ridge_parallelism *d = &l->degrees;
    return l->microbatch_seqs * d->dp * d->fsdp * d->ep;
}

static void add_degree(ridge_buf *b, const char *name, int64_t n)
{
    if (n > 1)
        ridge_buf_printf(b, "%s=%lld ", name, (long long)n);
}

/* Layers of each stage where they differ. */
static void add_stages(ridge_buf *b, const ridge_run_layout *l)
{
    const int stages = ridge__layout_stages(l);
    bool is_even = true;
    for (int s = 1; l->stage_layers && s < stages; s++)
        is_even = is_even && l->stage_layers[s] == l->stage_layers[0];
    if (is_even)
        return;
    for (int s = 0; s < stages; s++)
        ridge_buf_printf(b, "%s%lld",
                         s ? "+" : "stages=", (long long)l->stage_layers[s]);
    ridge_buf_puts(b, " ");
}

static const char *const UPDATE_TEXT[] = {[RIDGE_UPDATE_ADAM] = "",
                                          [RIDGE_UPDATE_ADAM_BF16] = " adamw-bf16",
                                          [RIDGE_UPDATE_ADAM_8BIT] = " adamw-8bit",
                                          [RIDGE_UPDATE_MUON] = " muon",
                                          [RIDGE_UPDATE_ADAFACTOR] = " adafactor",
                                          [RIDGE_UPDATE_MOMENTUM] = " momentum",
                                          [RIDGE_UPDATE_SGD] = " sgd"};

const char *ridge_run_layout_text(ridge_ctx *cx, const ridge_run_layout *l)
{
    const ridge_parallelism *d = &l->degrees;
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    add_degree(&b, "dp", d->dp);
    add_degree(&b, "fsdp", d->fsdp);
    if (d->fsdp > 1)
        ridge_buf_printf(&b, "zero=%d ", d->zero_stage);
    add_degree(&b, "ep", d->ep);
    add_degree(&b, "cp", d->cp);
    if (d->cp > 1)
        ridge_buf_puts(&b,
                       d->context == RIDGE_CONTEXT_GATHER ? "ring " : "all-to-all ");
    add_degree(&b, "tp", d->tp);
    if (d->is_sequence_parallel && d->tp > 1)
        ridge_buf_puts(&b, "sp ");
    add_degree(&b, "pp", l->pp);
    add_degree(&b, "vpp", l->vpp);
    if (l->pp > 1)
        ridge_buf_printf(&b, "%s ", ridge_schedule_text(l->schedule));
    add_stages(&b, l);
    ridge_buf_printf(&b, "microbatch=%lld remat=%s ", (long long)l->microbatch_seqs,
                     l->remat_ops ? ridge_remat_ops_text(cx, l->remat_ops)
                                  : ridge_remat_text(l->remat));
    if (l->remat_layers > 0)
        ridge_buf_printf(&b, "remat_layers=%lld ", (long long)l->remat_layers);
    ridge_buf_puts(&b, ridge_dtype_text(l->weight));
    ridge_buf_puts(&b, UPDATE_TEXT[l->update]);
    return ridge_buf_text(&b);
}

/* ---- rates -------------------------------------------------------------------------
 */

static const char *const RATE_TEXT[] = {
#define RATE_ROW(name, text, what) text,
    RIDGE_RATE_LIST(RATE_ROW)
#undef RATE_ROW
};

const char *ridge_rate_kind_text(ridge_rate_kind kind)
{
    return RATE_TEXT[kind];
}

ridge_status ridge_rate_kind_parse(ridge_ctx *cx, const char *text,
                                   ridge_rate_kind *out)
{
    const size_t n = RIDGE_COUNT_OF(RATE_TEXT);
    for (size_t i = 0; i < n; i++) {
        if (ridge_str_is(ridge_str_of(text), RATE_TEXT[i])) {
            *out = (ridge_rate_kind)i;
            return RIDGE_OK;
        }
    }
    return ridge_fail_name(cx, RIDGE_E_NOTFOUND, "rate schedule", text, RATE_TEXT, n);
}
