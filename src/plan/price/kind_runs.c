/* Where kinds of layers alternate, a program has a block for each layer: put together,
 * one for each kind. */
#include "kind_runs.h"

/* Whether a layer's block is what it is wherever it stands. */
static bool is_movable(const ridge_layer *layer)
{
    const bool is_shared = layer->weight_sets >= 1 && layer->weight_sets < layer->count;
    return !is_shared && !layer->is_encoder && !layer->mixer.has_shared_kv;
}

const ridge_model *kind_runs_gather(ridge_ctx *cx, const ridge_model *model)
{
    bool is_movable_all = model->n_runs > model->n_layers;
    for (int k = 0; k < model->n_layers; k++)
        is_movable_all = is_movable_all && is_movable(&model->layers[k]);
    if (!is_movable_all)
        return model;
    ridge_model *gathered = ridge_new(ridge_ctx_arena(cx), ridge_model, 1);
    ridge_run *runs =
        ridge_new(ridge_ctx_arena(cx), ridge_run, (size_t)model->n_layers);
    if (gathered == NULL || runs == NULL)
        return NULL;
    *gathered = *model;
    gathered->runs = runs;
    gathered->n_runs = 0;
    for (int r = 0; r < model->n_runs; r++) {
        int at = 0;
        while (at < gathered->n_runs && runs[at].layer != model->runs[r].layer)
            at++;
        runs[at].layer = model->runs[r].layer;
        runs[at].count += model->runs[r].count;
        gathered->n_runs = at == gathered->n_runs ? at + 1 : gathered->n_runs;
    }
    return gathered;
}
