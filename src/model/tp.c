/*
 * Which tensor-parallel degrees a model allows: heads, feed-forward widths, and blocks
 * of quantised weights. Only the text model counts; a vision tower's heads never limit
 * it.
 */
#include "config.h"

#include <string.h>

/* What stands in the way of a degree, with the numbers for the message. */
typedef struct tp_finding {
    ridge_tp_verdict verdict;
    const char *what; /* "query heads", "feed-forward width" */
    int64_t size;     /* the dim that is split */
    int64_t block;    /* of its format; 0: none */
} tp_finding;

static tp_finding fine(void)
{
    return (tp_finding){.verdict = RIDGE_TP_OK};
}

/* Worse verdicts come later in the enum, but for replication, which is no obstacle. */
static bool is_obstacle(tp_finding f)
{
    return f.verdict != RIDGE_TP_OK && f.verdict != RIDGE_TP_REPLICATES_KV;
}

static tp_finding check_heads(const char *what, int64_t heads, int64_t tp)
{
    if (heads % tp == 0)
        return fine();
    return (tp_finding){RIDGE_TP_HEADS, what, heads, 0};
}

/* KV heads are split, or each held by tp / K ranks. */
static tp_finding check_kv_heads(const char *what, int64_t heads, int64_t tp)
{
    if (heads == 0 || heads % tp == 0)
        return fine();
    ridge_tp_verdict verdict =
        tp % heads == 0 ? RIDGE_TP_REPLICATES_KV : RIDGE_TP_KV_HEADS;
    return (tp_finding){verdict, what, heads, 0};
}

static tp_finding check_mixer(const ridge_mixer *m, int64_t d_model, int64_t tp)
{
    tp_finding heads = fine(), kv = fine();
    switch (m->kind) {
    case RIDGE_MIXER_NONE:
        break;
    case RIDGE_MIXER_ATTENTION:
        heads = check_heads("query heads", m->heads, tp);
        kv = check_kv_heads("KV heads", m->kv_heads, tp);
        break;
    case RIDGE_MIXER_MLA: /* every rank holds the whole latent */
        heads = check_heads("query heads", m->heads, tp);
        break;
    case RIDGE_MIXER_DELTA:
    case RIDGE_MIXER_LIGHTNING:
        heads = check_heads("value heads of linear attention", m->value_heads, tp);
        kv = check_kv_heads("key heads of linear attention", m->key_heads, tp);
        break;
    case RIDGE_MIXER_SSM:
        heads = check_heads("state space heads", m->heads, tp);
        kv = check_kv_heads("state space groups", m->state_groups, tp);
        break;
    case RIDGE_MIXER_CONV:
        heads = check_heads("convolution channels", d_model, tp);
        break;
    }
    return is_obstacle(heads) || kv.verdict == RIDGE_TP_OK ? heads : kv;
}

static tp_finding check_width(const char *what, int64_t width, int64_t tp)
{
    if (width % tp == 0)
        return fine();
    return (tp_finding){RIDGE_TP_WIDTH, what, width, 0};
}

static const char *width_name(const ridge_weight *w)
{
    switch (w->part) {
    case RIDGE_PART_MLP:
        return "feed-forward width";
    case RIDGE_PART_EXPERTS:
        return "expert width";
    case RIDGE_PART_ATTENTION:
    case RIDGE_PART_ROUTER:
    case RIDGE_PART_NORM:
        break;
    }
    return "attention width";
}

/* Formats whose scales belong to square blocks, cut by either dim; those of groups lie
 * along the inputs only. */
static bool has_square_blocks(const ridge_model *model)
{
    return model->quant_method != NULL && strstr(model->quant_method, "fp8") != NULL;
}

/* Ranks that a weight is split over: fewer KV heads than ranks are held whole. */
static int64_t split_ways(const ridge_layer *layer, const ridge_weight *w, int64_t tp)
{
    const int64_t kv_heads = layer->mixer.kv_heads;
    return w->split == RIDGE_SPLIT_KV && kv_heads < tp ? kv_heads : tp;
}

/* A weight's split dim must be whole blocks of its format on every rank. */
static tp_finding check_block(const ridge_model *model, const ridge_layer *layer,
                              const ridge_weight *w, int64_t tp)
{
    ridge_quant_part part;
    const int64_t ways = split_ways(layer, w, tp);
    if (model->quant_block <= 1 || w->in == 0 || ways < 1 ||
        !ridge__weight_quant_part(w, &part) || model->quant_bits[part] <= 0)
        return fine();
    int64_t size = 0;
    if (w->split == RIDGE_SPLIT_IN) {
        size = w->in;
    } else if (w->split != RIDGE_SPLIT_NONE && has_square_blocks(model)) {
        size = w->out;
    }
    /* Gates of a block or less are left unquantised by those who release models. */
    if (size <= model->quant_block || size % ways != 0 ||
        size / ways % model->quant_block == 0)
        return fine();
    return (tp_finding){RIDGE_TP_BLOCK, width_name(w), size, model->quant_block};
}

/* The first obstacle among the weights of a layer that are experts, or are not. */
static tp_finding check_weights(const ridge_model *model, const ridge_layer *layer,
                                bool is_experts, int64_t tp)
{
    ridge_weight weights[RIDGE_WEIGHT_MAX];
    const int n = ridge_layer_weights(model, layer, weights);
    for (int i = 0; i < n; i++) {
        const ridge_weight *w = &weights[i];
        if ((w->part == RIDGE_PART_EXPERTS) != is_experts)
            continue;
        tp_finding f = fine();
        const bool is_ffn = w->part != RIDGE_PART_ATTENTION; /* heads were checked */
        if (is_ffn && w->split == RIDGE_SPLIT_OUT) {
            f = check_width(width_name(w), w->out, tp);
        } else if (is_ffn && w->split == RIDGE_SPLIT_IN) {
            f = check_width(width_name(w), w->in, tp);
        }
        if (!is_obstacle(f))
            f = check_block(model, layer, w, tp);
        if (is_obstacle(f))
            return f;
    }
    return fine();
}

/* Experts that cannot be cut are dealt out whole, if their number allows. */
static tp_finding check_experts(const ridge_model *model, const ridge_layer *layer,
                                int64_t tp)
{
    const ridge_ffn *ffn = &layer->ffn;
    if (ffn->kind != RIDGE_FFN_MOE || ffn->experts % tp == 0)
        return fine();
    return check_weights(model, layer, true, tp);
}

/* The first obstacle of the model; else replication, if any layer needs it. */
static tp_finding find_obstacle(const ridge_model *model, int64_t tp)
{
    tp_finding first = fine();
    for (int i = 0; i < model->n_layers && !is_obstacle(first); i++) {
        const tp_finding f = check_mixer(&model->layers[i].mixer, model->d_model, tp);
        if (is_obstacle(f) || first.verdict == RIDGE_TP_OK)
            first = f;
    }
    for (int i = 0; i < model->n_layers && !is_obstacle(first); i++) {
        const ridge_layer *layer = &model->layers[i];
        tp_finding f = check_weights(model, layer, false, tp);
        if (!is_obstacle(f))
            f = check_experts(model, layer, tp);
        if (is_obstacle(f))
            first = f;
    }
    return first;
}

ridge_tp_verdict ridge_model_tp(const ridge_model *model, int64_t tp)
{
    return tp < 1 ? RIDGE_TP_HEADS : find_obstacle(model, tp).verdict;
}

ridge_tp_verdict ridge_model_expert_tp(const ridge_model *model, int64_t tp)
{
    if (tp < 1)
        return RIDGE_TP_WIDTH;
    for (int i = 0; i < model->n_layers; i++) {
        const tp_finding f = check_weights(model, &model->layers[i], true, tp);
        if (is_obstacle(f))
            return f.verdict;
    }
    return RIDGE_TP_OK;
}

/* ---- words ----------------------------------------------------------------------- */

/* " Possible: 1, 2, 5, 10; with replicated KV heads: 20, 40": degrees up to the heads.
 */
static void list_degrees(const ridge_model *model, ridge_buf *out)
{
    int64_t most = 1;
    for (int i = 0; i < model->n_layers; i++) {
        if (model->layers[i].mixer.heads > most)
            most = model->layers[i].mixer.heads;
    }
    const struct {
        ridge_tp_verdict verdict;
        const char *title;
    } lists[] = {{RIDGE_TP_OK, "possible: "},
                 {RIDGE_TP_REPLICATES_KV, "with replicated KV heads: "}};
    for (size_t k = 0; k < RIDGE_COUNT_OF(lists); k++) {
        int found = 0;
        for (int64_t tp = 1; tp <= most && tp <= 1024; tp++) {
            if (most % tp != 0 || ridge_model_tp(model, tp) != lists[k].verdict)
                continue;
            const char *sep = found++ > 0 ? ", " : k == 0 ? ": " : "; ";
            ridge_buf_printf(out, "%s%s%lld", sep, found == 1 ? lists[k].title : "",
                             (long long)tp);
        }
    }
}

static void write_block(const tp_finding *f, int64_t tp, ridge_buf *out)
{
    const int64_t part = f->size / tp;
    ridge_buf_printf(
        out, "%s %lld / %lld = %lld is %s blocks of %lld (%s blocks in all)", f->what,
        (long long)f->size, (long long)tp, (long long)part,
        ridge_format_double((double)part / (double)f->block).s, (long long)f->block,
        ridge_format_double((double)f->size / (double)f->block).s);
}

const char *ridge_model_tp_text(ridge_arena *arena, const ridge_model *model,
                                int64_t tp)
{
    if (tp < 1)
        return "tensor parallelism must be at least 1";
    const tp_finding f = find_obstacle(model, tp);
    const long long ways = (long long)tp, size = (long long)f.size;
    ridge_buf b;
    ridge_buf_init(&b, arena);
    ridge_buf_printf(&b, "tp %lld: ", ways);
    switch (f.verdict) {
    case RIDGE_TP_OK:
        ridge_buf_puts(&b, "heads and widths split evenly");
        return ridge_buf_text(&b);
    case RIDGE_TP_REPLICATES_KV:
        ridge_buf_printf(&b,
                         "each of %lld %s is held by %lld ranks: their cache and "
                         "projections take %lld times the memory in all",
                         size, f.what, ways / size, ways / size);
        return ridge_buf_text(&b);
    case RIDGE_TP_HEADS:
    case RIDGE_TP_WIDTH:
        ridge_buf_printf(&b, "%s %lld does not divide by %lld", f.what, size, ways);
        break;
    case RIDGE_TP_KV_HEADS:
        ridge_buf_printf(&b, "%lld %s neither divide by %lld nor divide it", size,
                         f.what, ways);
        break;
    case RIDGE_TP_BLOCK:
        write_block(&f, tp, &b);
        break;
    }
    list_degrees(model, &b);
    return ridge_buf_text(&b);
}
