/* How often a while loop runs. Layer-internal. */
#ifndef RIDGE_HLO_TRIP_H
#define RIDGE_HLO_TRIP_H

#include "ridge/profile_hlo.h"

/**
 * known_trip_count of the backend_config, or derived: a counter of the loop's tuple
 * that starts at a constant, grows by a constant, and is compared with one.
 * @param computation  that holds the loop. @return false: it cannot be told
 */
bool hlo_trip_count(ridge_ctx *cx, const ridge_hlo_module *module, int computation,
                    const ridge_hlo_instruction *loop, double *out);

#endif
