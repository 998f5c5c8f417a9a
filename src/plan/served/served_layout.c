/*
 * Degrees of parallelism of a measured deployment. Files write them in different ways:
 * some count data parallelism of attention within tp, some leave out what follows, and
 * one multiplies a degree with itself.
 */
#include "served_run.h"

#include <string.h>

static int64_t or_one(int64_t n)
{
    return n > 0 ? n : 1;
}

/* g where n = g x g, g > 1; else 0 */
static int64_t root_of(int64_t n)
{
    for (int64_t g = 2; g * g <= n; g++) {
        if (g * g == n)
            return g;
    }
    return 0;
}

/* Two by two is as likely meant so. */
static bool is_squared(const served_pool *p, int64_t *g)
{
    const int64_t tp = or_one(p->tp);
    const int64_t dp = or_one(p->attention_dp);
    *g = root_of(tp * dp);
    if (*g == 0 || tp * dp != p->moe_tp * p->ep)
        return false;
    const bool is_both = tp == *g && dp == *g;
    const bool is_deal = p->moe_tp == *g && p->ep == *g && (dp > 1 || *g > 2);
    return is_both || is_deal;
}

bool served_pool_unsquare(served_pool *p)
{
    int64_t g;
    if (!is_squared(p, &g))
        return false;
    p->tp = p->attention_dp > 1 ? 1 : g;
    p->attention_dp = p->attention_dp > 1 ? g : 1;
    p->moe_tp = 1;
    p->ep = g;
    return true;
}

/* JSON rows write "dp" beside "ep" for data parallelism of attention over the same
 * chips, and leave tp out. */
static ridge_status fill_degrees(ridge_ctx *cx, const served_pool *p, int64_t chips,
                                 const ridge_model *model, ridge_serving_layout *out)
{
    out->pp = or_one(p->pp);
    out->attention_dp = or_one(p->attention_dp);
    out->tp = p->tp;
    if (out->tp == 0 && p->attention_dp > 0 && p->attention_dp == p->ep)
        out->tp = 1;
    if (out->tp == 0 && chips > 0 && chips % (out->attention_dp * out->pp) == 0)
        out->tp = chips / (out->attention_dp * out->pp);
    if (out->tp == 0)
        return ridge_fail(cx, RIDGE_E_ARG, "tp is not stated");
    out->ep = ridge_model_has_experts(model) ? or_one(p->ep) : 1;
    if (out->ep > 1 && (out->tp * out->attention_dp) % out->ep != 0) {
        return ridge_fail(
            cx, RIDGE_E_ARG, "ep %lld does not divide tp %lld x attention dp %lld",
            (long long)out->ep, (long long)out->tp, (long long)out->attention_dp);
    }
    return RIDGE_OK;
}

/* Requests at once on one replica. */
static int64_t sequences_of(const served_run *run, const served_pool *p)
{
    const double workers = (double)or_one(p->workers);
    const double at_once = run->concurrency > 0 ? run->concurrency / workers : 0;
    const double whole = (double)(int64_t)(at_once + 0.999);
    return whole >= 1 && whole < 1e6 ? (int64_t)whole : 0;
}

/* Experts whose width cannot be cut so are dealt out: the engine would not start
 * otherwise. Kernels of 4-bit floats fill blocks up; those of blocks of 8 bits do not.
 */
static bool deals_experts(const ridge_model *model, const ridge_serving_layout *layout)
{
    const int64_t ways = layout->tp * layout->attention_dp / layout->ep;
    for (int i = 0; i < model->n_layers; i++) {
        const ridge_ffn *ffn = &model->layers[i].ffn;
        const bool is_filled = model->weight_dtype == RIDGE_DTYPE_FP4;
        const int64_t block =
            model->quant_block > 0 && !is_filled ? model->quant_block : 1;
        if (ffn->kind == RIDGE_FFN_MOE && ways > 1 &&
            ffn->expert_d_ff % (ways * block) != 0 &&
            ffn->experts % (layout->tp * layout->attention_dp) == 0)
            return true;
    }
    return false;
}

/* Tables that give the chips of a model with experts as its tp, and say beside them
 * that attention is data parallel: experts are dealt over the same chips. */
static served_pool told_by_note(const served_run *run, const served_pool *pool,
                                const ridge_model *model)
{
    served_pool p = *pool;
    if (run->note == NULL ||
        strstr(run->note, "attention data parallelism on for MoE") == NULL ||
        !ridge_model_has_experts(model) || p.attention_dp > 0 || p.ep > 0 || p.tp <= 1)
        return p;
    p.attention_dp = p.ep = p.tp;
    p.tp = 1;
    return p;
}

ridge_status served_layout(ridge_ctx *cx, const served_run *run,
                           const served_pool *pool, const ridge_model *model,
                           ridge_serving_layout *out)
{
    const served_pool p = told_by_note(run, pool, model);
    *out = (ridge_serving_layout){.sequences = sequences_of(run, &p)};
    RIDGE_TRY(fill_degrees(cx, &p, run->is_split ? 0 : run->chips, model, out));
    if (deals_experts(model, out))
        out->ep = out->tp * out->attention_dp;
    if (run->budget_tokens >= 1)
        out->budget_tokens = (int64_t)run->budget_tokens;
    return RIDGE_OK;
}
