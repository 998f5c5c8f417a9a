#include "state_room.h"

#include "stack_memory.h"

/* State of the whole model as ZeRO-3 cuts it, with no copy of anything. */
static double state_bytes(const train_case *tc)
{
    const train_stage both = {.has_embedding = true, .has_head = true, .copies = 1};
    const ridge_policy *p = tc->policy;
    double params = train_embedding_params(tc, &both, 1, 1);
    for (int i = 0; i < tc->model->n_runs; i++) {
        const ridge_run *run = &tc->model->runs[i];
        const train_params layer = train_layer_params(tc, run->layer, 1, 1);
        params += (double)run->count * (layer.dense + layer.expert);
    }
    return params * (p->gradient_bytes + p->master_bytes + p->moment_bytes +
                     stack_gradient_bytes(tc));
}

ridge_status train_state_holds(ridge_ctx *cx, const ridge_train_request *request,
                               bool *out)
{
    train_case tc;
    *out = true;
    if (request->knobs.offload != RIDGE_KNOB_FREE)
        return RIDGE_OK;
    RIDGE_TRY(train_case_open(cx, request, &tc));
    *out = state_bytes(&tc) <= tc.usable_bytes * (double)tc.slice->chips;
    return RIDGE_OK;
}
