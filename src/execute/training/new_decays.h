/* New weights of recurrent layers that are neither matrices nor norms nor zero. */
#ifndef RIDGE_EXECUTE_NEW_DECAYS_H
#define RIDGE_EXECUTE_NEW_DECAYS_H

#include "new_weights.h"

/**
 * Rates of decay, time steps, skips and taps.
 *
 * @param weight  of that name; its scale is not heeded
 * @return false: it is no such weight, and nothing was written
 * @source dao2024-mamba2
 */
bool ridge__new_decay_fill(ridge__team *team, const char *base,
                           const ridge__new_weight *weight, float *out);

#endif
