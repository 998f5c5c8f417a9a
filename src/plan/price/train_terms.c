#include "train_terms.h"

#include "layer_program.h"
#include "layer_shelf.h"

#include <string.h>

const layer_time *train_layer_times(train_case *tc, const layer_shape *shape)
{
    const size_t n = (size_t)tc->n_kinds + 1;
    const layer_time *found = layer_shelf_find(tc, shape);
    layer_time *times = ridge_new(ridge_ctx_arena(tc->cx), layer_time, n);
    if (times == NULL)
        return NULL;
    if (found != NULL) {
        memcpy(times, found, n * sizeof *times);
    } else {
        tc->status = train_program_times(tc, shape, times);
        if (tc->status != RIDGE_OK)
            return NULL;
        layer_shelf_keep(tc, shape, times);
    }
    train_program_accumulate(tc, shape, times);
    return times;
}

void train_layer_exchanges(const train_case *tc, const train_groups *g,
                           const layer_time *layers, layer_exchange *out)
{
    for (int k = 0; k <= tc->n_kinds; k++)
        out[k] = train_layer_exchange(tc, g, &layers[k]);
}

void train_shard_times(const train_case *tc, const train_groups *g,
                       const train_load *load, shard_time *out)
{
    for (int k = 0; k < tc->n_kinds; k++)
        out[k] = train_shard_time(tc, g, &load->layers[k]);
}

void train_step_syncs(const train_case *tc, const train_groups *g,
                      const train_load *load, const train_stages *stages,
                      const ridge_layout *layout, step_sync *out)
{
    for (int i = 0; i < stages->n; i++) {
        train_params p = train_stage_params(tc, load, &stages->stages[i], layout);
        out[i] = train_step_sync(tc, g, layout, p.dense, p.expert);
    }
}
