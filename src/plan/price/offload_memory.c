/* What a layout keeps in the memory of the hosts. */
#include "train_price.h"

#include <math.h>

static double offloaded_bytes(const train_case *tc, const train_load *load,
                              const train_stage *stage, const ridge_layout *l,
                              int64_t microbatches, const ridge_memory_parts *state)
{
    ridge_layout kept = *l;
    kept.offload = RIDGE_OFFLOAD_NONE;
    const ridge_memory_parts all =
        train_stage_filled(tc, load, stage, &kept, microbatches, state);
    const ridge_memory_parts left =
        train_stage_filled(tc, load, stage, l, microbatches, state);
    return all.weights_bytes + all.optimizer_bytes + all.activations_bytes -
           left.weights_bytes - left.optimizer_bytes - left.activations_bytes;
}

double train_stage_host_bytes(const train_case *tc, const train_load *load,
                              const train_stage *stage, const ridge_layout *l,
                              int64_t microbatches)
{
    if (l->offload == RIDGE_OFFLOAD_NONE)
        return 0;
    const ridge_memory_parts state = train_stage_state(tc, load, stage, l);
    return offloaded_bytes(tc, load, stage, l, microbatches, &state);
}

double train_host_bytes(const train_case *tc, const train_terms *x,
                        const ridge_layout *l, int64_t microbatches)
{
    double most = 0;
    if (l->offload == RIDGE_OFFLOAD_NONE)
        return 0;
    for (int i = 0; i < x->stages->n; i++) {
        const train_stage *stage = &x->stages->stages[i];
        const ridge_memory_parts state =
            x->states != NULL ? x->states[i] : train_stage_state(tc, x->load, stage, l);
        most = fmax(most, offloaded_bytes(tc, x->load, stage, l, microbatches, &state));
    }
    return most;
}

bool train_host_holds(const train_case *tc, double bytes)
{
    double limit =
        tc->slice->system == NULL ? 0 : tc->slice->system->host_bytes_per_chip;
    return limit <= 0 || bytes <= limit;
}
