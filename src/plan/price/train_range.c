/* The range of a step: where eight of ten measured steps of the same software lie. */
#include "ridge/plan.h"

#include <math.h>

static bool has_own(const ridge_train_request *r)
{
    return r->stack != NULL && r->stack->range_rows > 0;
}

/* A machine that was measured by itself is priced by that, whatever software others
 * run. */
static ridge_measured without_stack(const ridge_train_request *r)
{
    return r->slice->chip->measured != NULL ? RIDGE_MEASURED_CALIBRATED_STEP
                                            : RIDGE_MEASURED_TRAINING_STEP;
}

ridge_range ridge_train_range(const ridge_train_request *request,
                              const ridge_train_price *price)
{
    const ridge_time time = {price->bound_step_time_s, price->step_time_s};
    if (!has_own(request))
        return ridge_range_of(without_stack(request), time);
    const ridge_stack *s = request->stack;
    return (ridge_range){fmax(time.bound_s, s->range_low * time.expected_s),
                         fmax(time.bound_s, s->range_high * time.expected_s)};
}

const char *ridge_train_range_text(ridge_ctx *cx, const ridge_train_request *request,
                                   const ridge_train_price *price)
{
    const ridge_range range = ridge_train_range(request, price);
    if (!has_own(request))
        return ridge_range_text(cx, without_stack(request), range);
    const ridge_stack *s = request->stack;
    return ridge_sprintf(ridge_ctx_arena(cx),
                         "Range %s to %s: of %d measured steps on %s, 80 %% took %.2f "
                         "to %.2f of the expected time.",
                         ridge_format_seconds(range.low_s).s,
                         ridge_format_seconds(range.high_s).s, s->range_rows, s->name,
                         s->range_low, s->range_high);
}
