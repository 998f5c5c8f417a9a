/* Parameters of a model, by part, and the bytes of its weights: sums over the weights
 * of its layers and what stands outside them. */
#include "config.h"

#include <string.h>

/* A sum that remembers an overflow. */
typedef struct sum {
    int64_t v;
    bool is_over;
} sum;

static void add_times(sum *s, int64_t count, int64_t v)
{
    int64_t product;
    if (!ridge_mul_i64(count, v, &product) || !ridge_add_i64(s->v, product, &s->v))
        s->is_over = true;
}

/* Elements of copies of a matrix. */
static int64_t matrix_params(const ridge_weight *w, int64_t copies, bool *is_over)
{
    int64_t one = 0, all = 0;
    if (!ridge_mul_i64(w->in, w->out, &one) || !ridge_mul_i64(one, copies, &all))
        *is_over = true;
    return all;
}

bool ridge__layer_params(const ridge_model *model, const ridge_layer *layer,
                         int64_t *out)
{
    ridge_weight weights[RIDGE_WEIGHT_MAX];
    const int n = ridge_layer_weights(model, layer, weights);
    sum total = {0};
    for (int i = 0; i < n; i++) {
        const ridge_weight *w = &weights[i];
        add_times(&total, 1, matrix_params(w, w->copies, &total.is_over));
        add_times(&total, 1, w->vector_params);
    }
    *out = total.v;
    return !total.is_over;
}

/* Counts of all layers, before they are named. */
typedef struct tally {
    sum part[RIDGE_PART_COUNT];
    sum experts_active, matmul_active;
} tally;

static void tally_weight(tally *t, const ridge_weight *w, int64_t layers, int64_t sets)
{
    sum *part = &t->part[w->part];
    int64_t all = matrix_params(w, w->copies, &part->is_over);
    int64_t active = matrix_params(w, w->active_copies, &part->is_over);
    add_times(part, sets, all);
    add_times(part, sets, w->vector_params);
    add_times(&t->matmul_active, layers, active);
    if (w->part == RIDGE_PART_EXPERTS) {
        add_times(&t->experts_active, sets, active);
        add_times(&t->experts_active, sets, w->active_vector_params);
    }
}

static void tally_layers(tally *t, const ridge_model *model)
{
    for (int k = 0; k < model->n_layers; k++) {
        const ridge_layer *layer = &model->layers[k];
        ridge_weight weights[RIDGE_WEIGHT_MAX];
        const int n = ridge_layer_weights(model, layer, weights);
        for (int i = 0; i < n; i++)
            tally_weight(t, &weights[i], layer->count, layer->weight_sets);
    }
}

/* Width of the head's matmul: that of its table, the model's if tied. */
static void tally_unembedding(tally *t, const ridge_model *model)
{
    if (!model->has_unembedding)
        return;
    if (model->is_tied) {
        add_times(&t->matmul_active, model->vocab, model->d_model);
    } else {
        add_times(&t->matmul_active, 1, model->unembedding_params);
    }
}

bool ridge__model_count(const ridge_model *model, ridge_params *out)
{
    tally t = {0};
    tally_layers(&t, model);
    tally_unembedding(&t, model);
    sum norm = t.part[RIDGE_PART_NORM], unembedding = {0}, total = {0};
    add_times(&norm, 1, model->final_norm_params);
    add_times(&unembedding, 1, model->unembedding_params);
    add_times(&unembedding, 1, model->head_params);
    *out = (ridge_params){.embedding = model->embedding_params,
                          .unembedding = unembedding.v,
                          .attention = t.part[RIDGE_PART_ATTENTION].v,
                          .mlp = t.part[RIDGE_PART_MLP].v,
                          .router = t.part[RIDGE_PART_ROUTER].v,
                          .experts = t.part[RIDGE_PART_EXPERTS].v,
                          .norm = norm.v,
                          .experts_active = t.experts_active.v,
                          .matmul_active = t.matmul_active.v,
                          .mtp = model->mtp_params,
                          .vision = model->vision_params};
    const int64_t parts[] = {out->embedding, out->unembedding, out->attention, out->mlp,
                             out->router,    out->norm,        out->experts};
    bool is_over = norm.is_over || unembedding.is_over || t.experts_active.is_over ||
                   t.matmul_active.is_over;
    for (int i = 0; i < RIDGE_PART_COUNT; i++)
        is_over = is_over || t.part[i].is_over;
    for (size_t i = 0; i < RIDGE_COUNT_OF(parts); i++)
        add_times(&total, 1, parts[i]);
    out->total = total.v;
    if (!total.is_over && !is_over)
        out->active = total.v - (out->experts - out->experts_active);
    return !is_over && !total.is_over;
}

ridge_params ridge_model_params(const ridge_model *model)
{
    ridge_params params;
    /* The reader has refused sizes that overflow. */
    if (!ridge__model_count(model, &params))
        memset(&params, 0, sizeof params);
    return params;
}

bool ridge__weight_quant_part(const ridge_weight *weight, ridge_quant_part *out)
{
    switch (weight->part) {
    case RIDGE_PART_ATTENTION:
        *out = RIDGE_QUANT_ATTENTION;
        return true;
    case RIDGE_PART_MLP:
        *out = strncmp(weight->name, "shared", strlen("shared")) == 0
                   ? RIDGE_QUANT_SHARED
                   : RIDGE_QUANT_DENSE;
        return true;
    case RIDGE_PART_EXPERTS:
        *out = RIDGE_QUANT_EXPERTS;
        return true;
    case RIDGE_PART_ROUTER:
    case RIDGE_PART_NORM:
        break;
    }
    return false;
}

static double weight_bytes(const ridge_model *model, const ridge_weight *w)
{
    const double rest = ridge_dtype_bytes(model->rest_dtype);
    ridge_quant_part part;
    double bytes = rest;
    if (ridge__weight_quant_part(w, &part) && model->quant_bits[part] > 0)
        bytes = model->quant_bits[part] / 8;
    return (double)w->in * (double)w->out * (double)w->copies * bytes +
           (double)w->vector_params * rest;
}

double ridge_model_weight_bytes(const ridge_model *model)
{
    const double rest = ridge_dtype_bytes(model->rest_dtype);
    const double head_bits = model->quant_bits[RIDGE_QUANT_HEAD];
    double bytes =
        (double)(model->embedding_params + model->head_params +
                 model->final_norm_params) *
            rest +
        (double)model->unembedding_params * (head_bits > 0 ? head_bits / 8 : rest);
    for (int k = 0; k < model->n_layers; k++) {
        const ridge_layer *layer = &model->layers[k];
        ridge_weight weights[RIDGE_WEIGHT_MAX];
        const int n = ridge_layer_weights(model, layer, weights);
        for (int i = 0; i < n; i++)
            bytes += (double)layer->weight_sets * weight_bytes(model, &weights[i]);
    }
    return bytes;
}

double ridge_model_weight_bytes_as(const ridge_model *model, ridge_dtype dtype)
{
    return (double)ridge_model_params(model).total * ridge_dtype_bytes(dtype);
}
