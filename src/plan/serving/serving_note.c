/* What a legal layout costs beside its time: KV heads that several ranks hold. */
#include "serving_weights.h"

/* Weights of keys and values that a rank holds beyond an even share. */
static double copied_weight_bytes(const serving_bench *b)
{
    const ridge_serving_desk *desk = b->desk;
    const double tp = (double)b->layout->tp;
    const serving_format *f = &b->formats.of[RIDGE_QUANT_ATTENTION];
    double bytes = 0;
    for (int k = 0; k < desk->model->n_layers; k++) {
        const ridge_layer *layer = &desk->model->layers[k];
        for (int i = 0; i < desk->n_weights[k]; i++) {
            const ridge_weight *w = &desk->weights[k][i];
            if (w->split != RIDGE_SPLIT_KV || layer->mixer.kv_heads <= 0)
                continue;
            const double all = (double)w->in * (double)w->out * (double)layer->count *
                               (ridge_dtype_bytes(f->weight) + f->scale_bytes);
            bytes += all / (double)layer->mixer.kv_heads - all / tp;
        }
    }
    return bytes > 0 ? bytes : 0;
}

const char *ridge_serving_layout_note(ridge_serving_desk *desk,
                                      const ridge_serving_layout *layout)
{
    serving_bench b;
    const int64_t ways = serving_shared_ways(desk->model, layout);
    if (ridge_serving_layout_fault(desk, layout) != NULL || ways <= 1 ||
        layout->is_weight_gathered || serving_bench_open(desk, layout, &b) != RIDGE_OK)
        return NULL;
    const double whole = serving_kept_bytes(&b) * b.batch_ways * b.token_ways;
    const double even = whole / (double)ways;
    if (layout->kv_cut != RIDGE_KV_CUT_HEADS)
        return ridge_sprintf(
            ridge_ctx_arena(desk->cx),
            "%lld ranks share each KV head's %s: a token takes %s of a "
            "chip, where copies would take %s",
            (long long)ways,
            layout->kv_cut == RIDGE_KV_CUT_BATCH ? "sequences" : "tokens",
            ridge_format_bytes(even).s, ridge_format_bytes(whole).s);
    return ridge_sprintf(ridge_ctx_arena(desk->cx),
                         "tp=%lld holds each KV head %lld times: a token takes %s of a "
                         "chip instead of %s, and weights %s more; kv_cut=batch or "
                         "kv_cut=sequence shares them",
                         (long long)layout->tp, (long long)ways,
                         ridge_format_bytes(whole).s, ridge_format_bytes(even).s,
                         ridge_format_bytes(copied_weight_bytes(&b)).s);
}
