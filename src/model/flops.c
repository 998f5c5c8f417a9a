/*
 * FLOPs of one token, forward, by part. Every matmul is one of ridge_layer_weights();
 * scores come from scores.c.
 */
#include "ridge/model.h"

/* FLOPs per element of what is not a matmul; a rough count (an exponential as one). */
enum {
    NORM_FLOPS = 4,       /* square, sum, scale, weight */
    ACTIVATION_FLOPS = 4, /* exponential, add, divide, multiply */
    ROTARY_FLOPS = 3,     /* two products and a sum */
    SOFTMAX_FLOPS = 4,    /* scale, maximum, exponential, sum */
    RESIDUAL_FLOPS = 2    /* two additions of D a layer */
};

static void add_weights(const ridge_model *model, const ridge_layer *layer,
                        ridge_flops *f)
{
    ridge_weight weights[RIDGE_WEIGHT_MAX];
    int n = ridge_layer_weights(model, layer, weights);
    for (int i = 0; i < n; i++) {
        const ridge_weight *w = &weights[i];
        double flops = 2.0 * (double)w->in * (double)w->out * (double)w->active_copies *
                       (double)layer->count;
        switch (w->part) {
        case RIDGE_PART_ATTENTION:
            f->attention_projections += flops;
            break;
        case RIDGE_PART_MLP:
            f->mlp += flops;
            break;
        case RIDGE_PART_ROUTER:
            f->router += flops;
            break;
        case RIDGE_PART_EXPERTS:
            f->experts += flops;
            break;
        case RIDGE_PART_NORM:
            break;
        }
    }
}

static double ffn_vector_flops(const ridge_ffn *ffn)
{
    double width = (double)ffn->d_ff;
    if (ffn->kind == RIDGE_FFN_MOE) {
        width += (double)ffn->expert_d_ff * (double)ffn->experts_per_token +
                 (double)ffn->shared_d_ff;
    }
    double flops = (ACTIVATION_FLOPS + (ffn->is_gated ? 1 : 0)) * width;
    return flops + SOFTMAX_FLOPS * (double)ffn->experts;
}

static double layer_vector_flops(const ridge_model *model, const ridge_layer *layer,
                                 double seq_tokens, bool is_causal_half)
{
    const ridge_mixer *m = &layer->mixer;
    double flops = NORM_FLOPS * (double)layer->norm_params +
                   RESIDUAL_FLOPS * (double)model->d_model +
                   ffn_vector_flops(&layer->ffn);
    double context = ridge_mixer_context_tokens(m, seq_tokens, is_causal_half);
    flops += SOFTMAX_FLOPS * (double)m->heads * context;
    flops += ROTARY_FLOPS * (double)(m->heads + m->kv_heads) * (double)m->head_dim;
    /* a convolution's taps: a product and a sum each, on every channel */
    flops += 2.0 * (double)m->conv_kernel * (double)model->d_model;
    return flops;
}

ridge_flops ridge_model_flops_forward(const ridge_model *model, double seq_tokens,
                                      bool is_causal_half)
{
    ridge_flops f = {0};
    for (int i = 0; i < model->n_layers; i++) {
        const ridge_layer *layer = &model->layers[i];
        double count = (double)layer->count;
        add_weights(model, layer, &f);
        f.attention_scores +=
            count * ridge_layer_scores_flops(layer, seq_tokens, is_causal_half);
        f.vector +=
            count * layer_vector_flops(model, layer, seq_tokens, is_causal_half);
    }
    if (model->has_unembedding)
        f.unembedding = 2.0 * (double)model->d_model * (double)model->vocab;
    f.total = f.attention_projections + f.attention_scores + f.mlp + f.router +
              f.experts + f.unembedding;
    return f;
}
