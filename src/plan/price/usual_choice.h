/* What software does unless a knob says otherwise. */
#ifndef RIDGE_PLAN_USUAL_CHOICE_H
#define RIDGE_PLAN_USUAL_CHOICE_H

#include "ridge/plan.h"

/** How tokens are dispatched to experts: the knob, else as the stack does. */
ridge_ep_dispatch train_usual_dispatch(const ridge_train_request *request);

/** Overlap by the knobs, else as the stack and the chip's software have it.
 *  @param layout  its tp and SP are set */
void train_usual_overlaps(const ridge_train_request *request, const ridge_slice *slice,
                          ridge_layout *layout);

/** Whether sends between stages hide behind compute. */
bool train_usual_sends(const ridge_train_request *request, int64_t vpp);

#endif
