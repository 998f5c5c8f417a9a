/* Choices that a search leaves as software has them: the stack's, where one is named.
 */
#include "usual_choice.h"

ridge_ep_dispatch train_usual_dispatch(const ridge_train_request *request)
{
    if (request->knobs.ep_dispatch != RIDGE_KNOB_FREE)
        return (ridge_ep_dispatch)request->knobs.ep_dispatch;
    return request->stack != NULL && request->stack->dispatches_once &&
                   ridge_model_has_experts(request->model)
               ? RIDGE_DISPATCH_ONCE
               : RIDGE_DISPATCH_COPIES;
}

static bool is_on(const ridge_train_request *request, ridge_overlap_kind kind,
                  bool usual)
{
    const int wanted = request->knobs.overlap[kind];
    return wanted == RIDGE_FLAG_FREE ? usual : wanted == 1;
}

bool train_usual_sends(const ridge_train_request *request, int64_t vpp)
{
    const bool is_hidden =
        request->stack != NULL && request->stack->has_send_overlap && vpp > 1;
    return is_on(request, RIDGE_OVERLAP_PP, is_hidden);
}

/* Products that overlap their collectives write into peers' memory: on GPUs those of
 * the node, and only gathers and scatters come in pieces, those of SP. */
static bool has_collective_products(const ridge_train_request *request,
                                    const ridge_slice *slice, const ridge_layout *l)
{
    return slice->chip->kind == RIDGE_CHIP_TPU ||
           (request->stack != NULL && request->stack->has_tp_overlap && l->has_sp &&
            l->tp <= slice->shape[1]);
}

void train_usual_overlaps(const ridge_train_request *request, const ridge_slice *slice,
                          ridge_layout *l)
{
    const bool is_collective = has_collective_products(request, slice, l);
    l->has_tp_overlap = l->tp > 1 && is_on(request, RIDGE_OVERLAP_TP, is_collective);
    l->is_fsdp_exposed = !is_on(request, RIDGE_OVERLAP_FSDP, true);
    l->is_dp_exposed = !is_on(request, RIDGE_OVERLAP_DP, true);
    l->has_pp_overlap = train_usual_sends(request, l->vpp);
    l->has_ep_overlap = is_on(request, RIDGE_OVERLAP_EP, false);
}
