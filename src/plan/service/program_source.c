/* Priced programs as a source of prices. */
#include "service_source.h"

#include <math.h>

static const char *desk_fault(void *payload, const ridge_serving_layout *layout)
{
    return ridge_serving_layout_fault(payload, layout);
}

static ridge_status desk_memory(void *payload, const ridge_serving_layout *layout,
                                ridge_serving_memory *out)
{
    return ridge_serving_memory_find(payload, layout, out);
}

static ridge_status desk_step(void *payload, const ridge_serving_layout *layout,
                              const ridge_serving_load *load, ridge_serving_step *out)
{
    return ridge_serving_step_price(payload, layout, load, out);
}

static ridge_status desk_speed(void *payload, const ridge_serving_layout *layout,
                               ridge_serving_speed *out)
{
    return ridge_serving_speed_build(payload, layout, out);
}

ridge_status service_source_desk(ridge_ctx *cx, const ridge_service_request *request,
                                 service_source *out)
{
    ridge_serving_desk *desk;
    ridge_serving_case *about = ridge_new(ridge_ctx_arena(cx), ridge_serving_case, 1);
    if (about == NULL)
        return ridge_fail_nomem(cx);
    const ridge_service_work *w = &request->work;
    *about = (ridge_serving_case){
        .model = request->model,
        .slice = request->slice,
        .engine = request->engine,
        .expert_skew = request->expert_skew,
        .longest_tokens = fmax(w->prompt_tokens + w->output_tokens, w->context_tokens)};
    RIDGE_TRY(ridge_serving_desk_open(cx, about, &desk));
    *out = (service_source){desk, desk_fault, desk_memory, desk_step, desk_speed};
    return RIDGE_OK;
}
