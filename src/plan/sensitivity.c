/* Change of the step when one number of the hardware is a tenth larger: the layout
 * priced again on a changed copy of chip and slice. */
#include "ridge/plan.h"

static const double LARGER = 1.1;

typedef struct lever {
    const char *name;
    void (*pull)(ridge_chip *chip, ridge_slice *slice);
} lever;

static void more_flops(ridge_chip *chip, ridge_slice *slice)
{
    (void)slice;
    for (int i = 0; i < RIDGE_DTYPE_COUNT; i++)
        chip->peak_flops_per_s[i] *= LARGER;
}

static void more_hbm_bandwidth(ridge_chip *chip, ridge_slice *slice)
{
    (void)slice;
    chip->hbm_bytes_per_s *= LARGER;
}

static void more_vector(ridge_chip *chip, ridge_slice *slice)
{
    (void)slice;
    chip->vector_flops_per_s *= LARGER;
}

static void more_network(ridge_chip *chip, ridge_slice *slice)
{
    (void)chip;
    for (int i = 0; i < slice->n_axes; i++)
        slice->axes[i].bytes_per_s *= LARGER;
}

static void more_inner_network(ridge_chip *chip, ridge_slice *slice)
{
    (void)chip;
    if (slice->n_axes > 0)
        slice->axes[0].bytes_per_s *= LARGER;
}

static void more_outer_network(ridge_chip *chip, ridge_slice *slice)
{
    (void)chip;
    for (int i = 1; i < slice->n_axes; i++)
        slice->axes[i].bytes_per_s *= LARGER;
}

static void less_latency(ridge_chip *chip, ridge_slice *slice)
{
    (void)chip;
    for (int i = 0; i < slice->n_axes; i++) {
        slice->axes[i].latency_s /= LARGER;
        slice->axes[i].startup_s /= LARGER;
    }
}

static const lever levers[] = {
    {"peak FLOP/s +10 %", more_flops},
    {"HBM bandwidth +10 %", more_hbm_bandwidth},
    {"vector FLOP/s +10 %", more_vector},
    {"network bandwidth, all levels +10 %", more_network},
    {"network bandwidth, innermost level +10 %", more_inner_network},
    {"network bandwidth, outer levels +10 %", more_outer_network},
    {"network latency / 1.1", less_latency},
};
_Static_assert(RIDGE_COUNT_OF(levers) <= RIDGE_SENSITIVITY_MAX, "room for every lever");

ridge_status ridge_train_sensitivity(ridge_ctx *cx, const ridge_train_request *request,
                                     const ridge_train_price *price,
                                     ridge_sensitivity *out, int *n)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(levers); i++) {
        ridge_chip chip = *request->slice->chip;
        ridge_slice slice = *request->slice;
        levers[i].pull(&chip, &slice);
        slice.chip = &chip;
        ridge_train_request changed = *request;
        changed.slice = &slice;
        ridge_train_price p;
        RIDGE_TRY(ridge_train_price_one(cx, &changed, &price->layout, &p));
        out[i] =
            (ridge_sensitivity){levers[i].name, p.step_time_s / price->step_time_s - 1};
    }
    *n = (int)RIDGE_COUNT_OF(levers);
    return RIDGE_OK;
}
