/* What is asked of a service: checked, then searched or priced with programs. */
#include "service_conflicts.h"
#include "service_finish.h"
#include "service_search.h"

#include <math.h>

static bool is_positive(double v)
{
    return v > 0 && isfinite(v);
}

static ridge_status check_work(ridge_ctx *cx, const ridge_service_work *w)
{
    if (!(w->prompt_tokens >= 1 && w->prompt_tokens <= 1e9))
        return ridge_fail(cx, RIDGE_E_ARG,
                          "prompts need 1 to 1e9 tokens: --prompt 8192");
    if (!(w->output_tokens >= 1 && w->output_tokens <= 1e9))
        return ridge_fail(cx, RIDGE_E_ARG,
                          "answers need 1 to 1e9 tokens: --output 512");
    if (!(w->cached_tokens >= 0 && w->cached_tokens < w->prompt_tokens))
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "%.0f tokens of the prefix cache in a prompt of %.0f: expected "
            "fewer than the prompt has",
            w->cached_tokens, w->prompt_tokens);
    if (!(w->context_tokens >= 0 && w->context_tokens <= 1e9))
        return ridge_fail(cx, RIDGE_E_ARG, "a context needs 1 to 1e9 tokens");
    return RIDGE_OK;
}

/* What holds of one deployment too. */
static ridge_status check_subject(ridge_ctx *cx, const ridge_service_request *r)
{
    RIDGE_TRY(check_work(cx, &r->work));
    if (r->slice->next != NULL)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s is a fleet of several kinds: serve on one of them, or "
                          "compare them with a comma: --on A,B",
                          r->slice->text);
    if (r->requests_per_s != 0 && !is_positive(r->requests_per_s))
        return ridge_fail(cx, RIDGE_E_ARG, "a request rate above 0: --rate 20");
    return RIDGE_OK;
}

ridge_status ridge_service_check(ridge_ctx *cx, const ridge_service_request *r)
{
    RIDGE_TRY(check_subject(cx, r));
    if (r->requests_per_s > 0 && r->knobs.batch > 0)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "batch= and a request rate: the rate makes the batch; leave "
                          "one of them out");
    if (r->aim == RIDGE_SERVICE_AIM_CHIPS && r->requests_per_s <= 0)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "the fewest chips are those of a request rate: --rate 20");
    if (r->aim == RIDGE_SERVICE_AIM_COST && r->usd_per_chip_hour <= 0)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "no price of %s is known: tell one, as in --price 2.5",
                          r->slice->chip->name);
    if (r->aim == RIDGE_SERVICE_AIM_ENERGY && !(r->slice->chip->power_watts > 0) &&
        !(r->slice->system->training_watts_per_chip > 0) && !(r->watts_per_chip > 0))
        return ridge_fail(cx, RIDGE_E_ARG,
                          "no power of %s is published: tell one, as in --watts 300",
                          r->slice->chip->name);
    if (r->work.output_tokens <= 1 && r->knobs.mode == RIDGE_SERVICE_MODE_DISAGGREGATED)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "answers of one token end with the prefill: leave "
                          "mode=disaggregated out");
    return service_conflicts_check(cx, r);
}

ridge_status ridge_service_search(ridge_ctx *cx, const ridge_service_request *request,
                                  ridge_service_result *out)
{
    RIDGE_TRY(ridge_service_check(cx, request));
    return service_search_run(cx, request, service_source_desk, out);
}

ridge_status ridge_service_price_one(ridge_ctx *cx,
                                     const ridge_service_request *request,
                                     const ridge_service_choice *choice,
                                     ridge_service_price *out)
{
    service_source source;
    RIDGE_TRY(check_subject(cx, request));
    RIDGE_TRY(service_source_desk(cx, request, &source));
    return service_finish_price(cx, &source, request, choice, out);
}

ridge_status ridge_service_check_layouts(ridge_ctx *cx,
                                         const ridge_service_request *request,
                                         const ridge_service_choice *choice)
{
    service_source source;
    RIDGE_TRY(check_subject(cx, request));
    RIDGE_TRY(service_source_desk(cx, request, &source));
    for (int i = 0; i < choice->n_pools; i++) {
        const char *why = source.fault(source.payload, &choice->pools[i].layout);
        if (why != NULL)
            return ridge_fail(cx, RIDGE_E_ARG, "this layout cannot serve: %s", why);
    }
    return RIDGE_OK;
}
