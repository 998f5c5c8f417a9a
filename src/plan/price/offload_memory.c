/* What a layout keeps in the memory of the hosts. */
#include "train_price.h"

#include <math.h>

double train_host_bytes(const train_case *tc, const train_terms *x,
                        const ridge_layout *l, int64_t microbatches)
{
    ridge_layout kept = *l;
    double most = 0;
    if (l->offload == RIDGE_OFFLOAD_NONE)
        return 0;
    kept.offload = RIDGE_OFFLOAD_NONE;
    for (int i = 0; i < x->stages->n; i++) {
        const train_stage *stage = &x->stages->stages[i];
        const ridge_memory_parts state =
            x->states != NULL ? x->states[i] : train_stage_state(tc, x->load, stage, l);
        ridge_memory_parts all =
            train_stage_filled(tc, x->load, stage, &kept, microbatches, &state);
        ridge_memory_parts left =
            train_stage_filled(tc, x->load, stage, l, microbatches, &state);
        most = fmax(most, all.weights_bytes + all.optimizer_bytes +
                              all.activations_bytes - left.weights_bytes -
                              left.optimizer_bytes - left.activations_bytes);
    }
    return most;
}

bool train_host_holds(const train_case *tc, double bytes)
{
    double limit =
        tc->slice->system == NULL ? 0 : tc->slice->system->host_bytes_per_chip;
    return limit <= 0 || bytes <= limit;
}
