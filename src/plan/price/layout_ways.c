/* Over how many chips a layout cuts what, and the parameters that are left on each. */
#include "train_case.h"

int64_t train_expert_width(int64_t tp, int64_t ep)
{
    return ep == 1 ? tp : ep % tp == 0 ? 1 : tp;
}

/* Called for each layout that is priced: without experts it divides nothing. */
train_ways train_layout_ways(const ridge_layout *l)
{
    const int64_t data = l->fsdp * l->dp * l->cp;
    const bool is_sharded = l->zero_stage > 0;
    train_ways w = {.shards = is_sharded ? l->fsdp * l->cp : 1,
                    .replicas = is_sharded ? l->dp : data};
    w.expert_width = train_expert_width(l->tp, l->ep);
    if (l->ep == 1) {
        w.expert_shards = w.shards;
        w.expert_replicas = w.replicas;
        return w;
    }
    int64_t dealt = l->ep * w.expert_width;
    int64_t expert_ranks = l->tp * data / dealt;
    int64_t shards = l->tp * w.shards / dealt;
    bool is_cut =
        l->zero_stage > 0 && shards >= 1 && shards * dealt == l->tp * w.shards;
    w.expert_shards = is_cut ? shards : 1;
    w.expert_replicas = expert_ranks / w.expert_shards;
    return w;
}

int64_t train_kv_ways(const ridge_mixer *mixer, int64_t tp)
{
    int64_t heads = mixer->kv_heads > 0 ? mixer->kv_heads : mixer->heads;
    return tp < heads || heads < 1 ? tp : heads;
}

static double split_ways(const ridge_layer *layer, const ridge_weight *w, int64_t tp)
{
    switch (w->split) {
    case RIDGE_SPLIT_NONE:
        return 1;
    case RIDGE_SPLIT_KV:
        return (double)train_kv_ways(&layer->mixer, tp);
    case RIDGE_SPLIT_HEADS:
    case RIDGE_SPLIT_OUT:
    case RIDGE_SPLIT_IN:
        break;
    }
    return (double)tp;
}

train_params train_layer_params(const train_case *tc, int kind, int64_t tp, int64_t ep)
{
    train_params p = {0};
    const int64_t width = train_expert_width(tp, ep);
    for (int i = 0; i < tc->n_weights[kind]; i++) {
        const ridge_weight *w = &tc->weights[kind][i];
        double matrix = (double)w->in * (double)w->out * (double)w->copies;
        if (w->part == RIDGE_PART_EXPERTS) {
            p.expert += (matrix + (double)w->vector_params) / (double)(ep * width);
        } else {
            p.dense +=
                matrix / split_ways(&tc->kinds[kind], w, tp) + (double)w->vector_params;
        }
    }
    return p;
}
