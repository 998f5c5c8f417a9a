/* A layout brought to a desk: what its prices have in common. */
#include "serving_bench.h"

double serving_verified_rows(const ridge_draft *draft)
{
    return draft->kind == RIDGE_DRAFT_NONE ? 1 : 1 + (double)draft->nodes;
}

static int64_t key_of(int64_t first, const ridge_dtype *of, size_t n)
{
    int64_t key = first;
    for (size_t i = 0; i < n; i++)
        key = key << 4 | (int64_t)of[i];
    return key;
}

/* All formats of a layout but those of its cache and of scores, in one word: what rows
 * cost is the same with any of these. */
static int64_t formats_key(const ridge_serving_formats *f)
{
    const ridge_dtype of[] = {f->weight, f->expert, f->compute, f->expert_compute,
                              f->activation};
    return key_of(f->group, of, RIDGE_COUNT_OF(of));
}

static bool has_maps(const serving_cut *cut)
{
    for (int i = 0; i < cut->n_mixers; i++) {
        if (cut->mixers[i].n_absorb > 0 || cut->mixers[i].n_expand > 0)
            return true;
    }
    return false;
}

/* Those that scores depend on: of weights where latents are mapped. */
static int64_t scores_key(const serving_cut *cut, const ridge_serving_formats *f)
{
    const ridge_dtype of[] = {f->cache, f->attention, f->activation};
    return key_of(has_maps(cut) ? formats_key(f) : 0, of, RIDGE_COUNT_OF(of));
}

ridge_status serving_bench_open(ridge_serving_desk *desk,
                                const ridge_serving_layout *layout, serving_bench *out)
{
    const char *fault = ridge_serving_layout_fault(desk, layout);
    if (fault != NULL)
        return ridge_fail(desk->cx, RIDGE_E_ARG, "%s", fault);
    const int64_t tp = layout->is_weight_gathered ? 1 : layout->tp;
    serving_bench b = {.desk = desk,
                       .layout = layout,
                       .formats = serving_formats_find(desk->model, &layout->formats),
                       .formats_key = formats_key(&layout->formats),
                       .verified = serving_verified_rows(&layout->draft),
                       .ranks = (double)layout->attention_dp,
                       .batch_ways = 1,
                       .processors = 1,
                       .row_ways = layout->is_weight_gathered ? (double)layout->tp : 1,
                       .token_ways = 1};
    RIDGE_TRY(serving_cut_find(desk, tp, &b.cut));
    b.scores_key = scores_key(b.cut, &layout->formats);
    b.expert_width = (double)(layout->tp * layout->attention_dp / layout->ep);
    const int64_t kv_ways = layout->is_weight_gathered ? layout->tp : b.cut->kv_ways;
    if (!serving_groups_place(desk->about.slice, layout, kv_ways, &b.groups))
        return ridge_fail(desk->cx, RIDGE_E_ARG,
                          "tp=%lld attention_dp=%lld pp=%lld do not lie on %s: choose "
                          "degrees that divide its axes, or another placement",
                          (long long)layout->tp, (long long)layout->attention_dp,
                          (long long)layout->pp, desk->about.slice->text);
    RIDGE_TRY(serving_groups_number(&b));
    b.groups.shared = serving_has_latents(desk->model) ? b.groups.tp : b.groups.copies;
    const double ways = (double)serving_shared_ways(desk->model, layout);
    if (layout->kv_cut == RIDGE_KV_CUT_BATCH)
        b.batch_ways = ways;
    else if (layout->kv_cut == RIDGE_KV_CUT_SEQUENCE)
        b.token_ways = ways;
    *out = b;
    return RIDGE_OK;
}
