/* Operations of one instruction, as XLA's cost analysis counts them. Layer-internal. */
#ifndef RIDGE_HLO_WORK_H
#define RIDGE_HLO_WORK_H

#include "ridge/profile_hlo.h"

typedef struct hlo_work {
    double flops;           /* additions, multiplications, comparisons, conversions */
    double transcendentals; /* exp, tanh, sqrt and their like */
} hlo_work;

/**
 * Of anything but a product.
 * @param operands  shapes of its operands
 * @source xla-cost-analysis-2025
 */
hlo_work hlo_work_of(const ridge_hlo_module *module, const ridge_hlo_instruction *i,
                     const ridge_hlo_shape *const *operands);

/** Vector FLOPs that a transcendental function takes on a unit without one of its own:
 *  those of a sigmoid, which holds one. */
double hlo_work_vector_flops(const hlo_work *work);

#endif
