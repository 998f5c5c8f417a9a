/* KV heads of a model, and what ranks beyond them leave to share. */
#include "serving_bench.h"

bool serving_has_latents(const ridge_model *model)
{
    for (int i = 0; i < model->n_layers; i++) {
        if (model->layers[i].mixer.kind == RIDGE_MIXER_MLA)
            return true;
    }
    return false;
}

int64_t serving_kv_heads(const ridge_model *model)
{
    int64_t least = 0;
    if (serving_has_latents(model))
        return 1;
    for (int i = 0; i < model->n_layers; i++) {
        const ridge_mixer *m = &model->layers[i].mixer;
        if (m->kind == RIDGE_MIXER_ATTENTION && (least == 0 || m->kv_heads < least))
            least = m->kv_heads;
    }
    return least;
}

int64_t serving_shared_ways(const ridge_model *model,
                            const ridge_serving_layout *layout)
{
    const int64_t heads = serving_kv_heads(model);
    return heads > 0 && layout->tp > heads && layout->tp % heads == 0
               ? layout->tp / heads
               : 1;
}
