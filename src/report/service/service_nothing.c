/* Which bound forbids a goal that nothing keeps. */
#include "service_sections.h"
#include "service_text.h"

#include <math.h>

/* The bound of the iterations that a latency is made of, in words. */
static const char *bound_words(ridge_ctx *cx, const ridge_service_request *r,
                               const ridge_service_price *p,
                               ridge_service_latency latency)
{
    const bool is_prompt = latency == RIDGE_SERVICE_TTFT;
    const ridge_serving_step *step =
        is_prompt || p->decode.expected_s <= 0 ? &p->prefill : &p->decode;
    const ridge_chip *chip = r->slice->chip;
    const struct {
        double s;
        const char *text;
    } bounds[] = {
        {step->bound_weights_s,
         ridge_sprintf(ridge_ctx_arena(cx), "each chip reads %s of weights at %s",
                       ridge_format_bytes(step->weight_bytes).s,
                       ridge_format_si(chip->hbm_bytes_per_s, "B/s").s)},
        {step->bound_cache_s,
         ridge_sprintf(ridge_ctx_arena(cx), "each chip reads %s of cache at %s",
                       ridge_format_bytes(step->cache_bytes).s,
                       ridge_format_si(chip->hbm_bytes_per_s, "B/s").s)},
        {step->bound_flops_s, ridge_sprintf(ridge_ctx_arena(cx), "each chip does %s",
                                            ridge_format_si(step->flops, "FLOP").s)},
        {step->bound_network_s, "the network moves activations"}};
    size_t largest = 0;
    for (size_t i = 1; i < RIDGE_COUNT_OF(bounds); i++) {
        if (bounds[i].s > bounds[largest].s)
            largest = i;
    }
    const char *text =
        ridge_sprintf(ridge_ctx_arena(cx), "%s in an iteration: %s",
                      bounds[largest].text, ridge_format_seconds(bounds[largest].s).s);
    return text == NULL ? "" : text;
}

static double judged_s(const ridge_service_request *r, const ridge_service_price *p,
                       int latency)
{
    return r->goals.quantile > 0 ? p->quantile_s[latency] : p->latency_s[latency];
}

static void add_goals(ridge_ctx *cx, const ridge_service_view *v, ridge_sections *s)
{
    const ridge_service_request *r = v->request;
    const ridge_service_result *result = v->result;
    ridge_table *t =
        ridge__section_add(cx, s, "Goals that nothing on this slice keeps",
                           "goal|>wanted|>least|>its bound|layout|what forbids less");
    int n = 0;
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        const ridge_service_price *p = &result->least[i];
        if (!isfinite(r->goals.most_s[i]) || !result->has_least[i] ||
            judged_s(r, p, i) <= r->goals.most_s[i])
            continue;
        const bool is_physics = p->bound_s[i] > r->goals.most_s[i];
        ridge_table_cell(t, ridge_service_latency_text((ridge_service_latency)i));
        ridge_table_cell(t, ridge_format_seconds(r->goals.most_s[i]).s);
        ridge_table_cell(t, ridge_format_seconds(judged_s(r, p, i)).s);
        ridge_table_cell(t, ridge_format_seconds(p->bound_s[i]).s);
        ridge_table_cell(t, ridge__service_choice_named(cx, v->request, &p->choice));
        ridge_table_cellf(t, "%s%s", is_physics ? "physics: " : "overheads beyond: ",
                          bound_words(cx, r, p, (ridge_service_latency)i));
        n++;
    }
    if (n == 0)
        ridge__section_note(s, "Each goal can be kept by itself, but not all by one "
                               "deployment.");
}

static bool has_goals(const ridge_service_request *r)
{
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        if (isfinite(r->goals.most_s[i]))
            return true;
    }
    return false;
}

/* Whether the nearest deployment keeps all goals: then it is the rate that none takes.
 */
static bool keeps_goals(const ridge_service_request *r, const ridge_service_price *p)
{
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        if (judged_s(r, p, i) > r->goals.most_s[i])
            return false;
    }
    return true;
}

static void add_nearest(ridge_ctx *cx, const ridge_service_view *v, ridge_sections *s)
{
    const ridge_service_result *r = v->result;
    if (!r->has_nearest || !has_goals(v->request))
        return;
    const ridge_service_price *p = &r->nearest;
    ridge__section_note(
        s,
        ridge_sprintf(ridge_ctx_arena(cx),
                      "Nearest to all goals: %s at batch %s: TTFT %s, TPOT %s, E2E "
                      "%s, %s tokens/s a chip.",
                      ridge__service_choice_named(cx, v->request, &p->choice),
                      ridge__batch_text(p->choice.pools[p->choice.n_pools - 1].batch).s,
                      ridge_format_seconds(judged_s(v->request, p, 0)).s,
                      ridge_format_seconds(judged_s(v->request, p, 1)).s,
                      ridge_format_seconds(judged_s(v->request, p, 2)).s,
                      ridge_format_count(p->tokens_per_s_per_chip).s));
}

static bool has_memory_refusal(const ridge_service_result *r)
{
    bool has = false;
    for (int i = 0; i < r->n_refusals; i++)
        has = has || r->refusals[i].fit != RIDGE_SERVICE_FIT_LAYOUT;
    return has;
}

/* With a batch that was asked for, its sequences have no room; one might. */
static const char *no_room_text(ridge_ctx *cx, const ridge_service_request *r)
{
    if (r->knobs.batch <= 1)
        return "Nothing fits: no layout leaves room for the cache of one sequence.";
    return ridge_sprintf(ridge_ctx_arena(cx),
                         "Nothing fits: no layout leaves room for the caches of "
                         "batch=%lld sequences; without batch= the largest that fits "
                         "is found.",
                         (long long)r->knobs.batch);
}

/* What the whole slice takes, whatever the goals. */
static void note_most(ridge_ctx *cx, const ridge_service_view *v, ridge_sections *s)
{
    const ridge_service_price *most = &v->result->most;
    const char *named = ridge__service_choice_named(cx, v->request, &most->choice);
    const ridge_text rate = ridge_format_double(most->requests_per_s);
    const ridge_text wanted = ridge_format_double(v->request->requests_per_s);
    ridge__section_note(
        s,
        most->requests_per_s < v->request->requests_per_s
            ? ridge_sprintf(ridge_ctx_arena(cx),
                            "The whole slice serves at most %s requests/s of the %s "
                            "wanted: %s.",
                            rate.s, wanted.s, named)
            : ridge_sprintf(ridge_ctx_arena(cx),
                            "Without goals the whole slice serves up to %s requests/s: "
                            "%s.",
                            rate.s, named));
}

void ridge__service_nothing_add(ridge_ctx *cx, const ridge_service_view *v,
                                ridge_sections *s)
{
    const ridge_service_request *r = v->request;
    const ridge_service_result *result = v->result;
    if (!result->has_nearest) {
        ridge__section_note(s, has_memory_refusal(result)
                                   ? no_room_text(cx, r)
                                   : "No layout is legal: why stands below.");
        return;
    }
    const bool is_rate = r->requests_per_s > 0 && keeps_goals(r, &result->nearest);
    if (has_goals(r) && is_rate)
        ridge__section_note(s, "The goals can be kept, but not at so many requests.");
    else if (has_goals(r))
        add_goals(cx, v, s);
    if (r->requests_per_s > 0 && result->has_most)
        note_most(cx, v, s);
    if (!is_rate)
        add_nearest(cx, v, s);
}
