/* Reasons of a service as JSON. */
#include "service_sections.h"
#include "service_text.h"

#include <math.h>

static void set_limits(ridge_ctx *cx, const ridge_service_reasons *r,
                       ridge_json *object)
{
    const ridge_service_limits *l = &r->limits;
    if (!r->has_limits)
        return;
    ridge_json *o = ridge_json_set_object(cx, object, "limits");
    ridge_json_set_double(o, "critical_tokens", l->critical_tokens);
    ridge_json_set_double(o, "critical_expert_tokens", l->critical_experts);
    ridge_json_set_double(o, "critical_batch", l->critical_batch);
    ridge_json_set_double(o, "crossover_batch", l->crossover_batch);
    ridge_json_set_double(o, "largest_batch", l->batch_most);
    ridge_json_set_double(o, "largest_sequences", l->sequences_most);
    ridge_json_set_double(o, "longest_context_tokens", l->context_most);
    ridge_json_set_double(o, "batch_context_tokens", l->batch_context_most);
    ridge_json_set_double(o, "prefill_servers_per_decode_server", l->prefill_ratio);
    ridge_json_set_double(o, "requests_per_s_per_chip", l->requests_per_s_per_chip);
    ridge_json_set_double(o, "full_step_s", l->full_step_s);
    ridge_json_set_text(o, "held_back_by", ridge_service_fit_text(r->binding));
}

static void set_points(ridge_ctx *cx, const ridge_service_view *v, ridge_json *object)
{
    const ridge_service_reasons *r = v->reasons;
    ridge_json *all =
        ridge_json_set_array(cx, object, r->is_context ? "contexts" : "batches");
    for (int i = 0; i < r->n_points; i++) {
        const ridge_service_point *p = &r->points[i];
        ridge_json *o = ridge_json_push_object(cx, all);
        ridge_json_set_double(o, "batch", p->batch);
        ridge_json_set_double(o, "sequences", p->sequences);
        ridge_json_set_double(o, "context_tokens", p->context);
        ridge_json_set_double(o, "cache_bytes", p->cache_bytes);
        ridge_json_set_double(o, "memory_bytes", p->memory_bytes);
        ridge_json_set_bool(o, "fits", p->fits);
        ridge_json_set_double(o, "step_s", p->step_s);
        ridge_json_set_double(o, "bound_step_s", p->bound_step_s);
        ridge_json_set_text(o, "bound_by", ridge_bound_text(p->bound_by));
        ridge_json_set_double(o, "step_tokens_per_s_per_chip",
                              p->step_tokens_per_s_per_chip);
        if (p->price.tokens_per_s > 0)
            ridge_json_set(o, "steady",
                           ridge_service_price_to_json(cx, v->request, &p->price));
        else
            ridge_json_set_null(o, "steady");
    }
}

static void set_sizes(ridge_ctx *cx, const ridge_service_reasons *r, ridge_json *object)
{
    ridge_json *all = ridge_json_set_array(cx, object, "smallest_slices");
    for (int i = 0; i < r->n_sizes; i++) {
        const ridge_service_size *z = &r->sizes[i];
        ridge_json *o = ridge_json_push_object(cx, all);
        ridge_json_set_text(o, "weights", ridge_dtype_text(z->formats.weight));
        ridge_json_set_text(o, "cache", ridge_dtype_text(z->formats.cache));
        ridge_json_set_double(o, "weight_bytes", z->weight_bytes);
        ridge_json_set_double(o, "cache_bytes_per_token", z->cache_bytes_per_token);
        ridge_json_set_double(o, "chips_least", z->chips_least);
        ridge_json_set_text(o, "slice", z->slice == NULL ? NULL : z->slice->text);
        ridge_json_set_double(o, "cache_bytes", z->cache_bytes);
        ridge_json_set_double(o, "sequences", z->sequences);
    }
}

static void set_others(ridge_ctx *cx, const ridge_service_result *r, ridge_json *object)
{
    ridge_json *all = ridge_json_set_array(cx, object, "others");
    for (int i = 1; i < r->n_layouts; i++) {
        ridge_service_difference d[RIDGE_SERVICE_DIFFERENCE_MAX];
        const int n = ridge_service_differences(&r->layouts[0], &r->layouts[i], d);
        ridge_json *o = ridge_json_push_object(cx, all);
        ridge_json_set_double(o, "throughput_change",
                              r->layouts[i].tokens_per_s_per_chip /
                                      r->layouts[0].tokens_per_s_per_chip -
                                  1);
        ridge_json *where = ridge_json_set_array(cx, o, "differences");
        for (int k = 0; k < n; k++) {
            ridge_json *w = ridge_json_push_object(cx, where);
            const bool is_part = d[k].part >= 0;
            ridge_json_set_text(
                w, "part",
                is_part ? ridge_serving_part_text((ridge_serving_part)d[k].part)
                        : "sequences");
            ridge_json_set_double(w, is_part ? "change_s" : "factor", d[k].change);
        }
    }
}

void ridge__service_sensitivities_to_json(ridge_ctx *cx,
                                          const ridge_service_sensitivity *all, int n,
                                          ridge_json *object)
{
    ridge_json *list = ridge_json_set_array(cx, object, "sensitivity");
    for (int i = 0; i < n; i++) {
        ridge_json *o = ridge_json_push_object(cx, list);
        ridge_json_set_text(o, "change", all[i].name);
        ridge_json_set_double(o, "ttft_change", all[i].ttft);
        ridge_json_set_double(o, "tpot_change", all[i].tpot);
        ridge_json_set_double(o, "throughput_change", all[i].throughput);
        ridge_json_set_double(o, "best_batch_throughput_change",
                              all[i].has_best ? all[i].best : nan(""));
    }
}

static void set_asked(ridge_ctx *cx, const ridge_service_view *v, ridge_json *object)
{
    const ridge_service_reasons *r = v->reasons;
    if (r->what_if_text != NULL && v->result->n_layouts > 0) {
        ridge_json *w = ridge_json_set_object(cx, object, "what_if");
        ridge_json_set_text(w, "change", r->what_if_text);
        if (r->what_if.has_same)
            ridge_json_set(
                w, "same_layout",
                ridge_service_price_to_json(cx, v->request, &r->what_if.same));
        if (r->what_if.has_best)
            ridge_json_set(
                w, "best_layout",
                ridge_service_price_to_json(cx, v->request, &r->what_if.best));
    }
    ridge_json *limits = ridge_json_set_array(cx, object, "relaxations");
    for (int i = 0; i < r->n_relaxations; i++) {
        const ridge_service_relaxation *x = &r->relaxations[i];
        ridge_json *o = ridge_json_push_object(cx, limits);
        ridge_json_set_text(o, "change", x->name);
        ridge_json_set_text(o, "what", x->what);
        if (v->result->n_layouts > 0)
            ridge_json_set_double(o, "gain", x->change);
        ridge_json_set_double(o, "ttft_s", x->best.latency_s[RIDGE_SERVICE_TTFT]);
        ridge_json_set_double(o, "tpot_s", x->best.latency_s[RIDGE_SERVICE_TPOT]);
        ridge_json_set_double(o, "tokens_per_s_per_chip",
                              x->best.tokens_per_s_per_chip);
        ridge_json_set_text(o, "layout",
                            ridge__service_choice_words(cx, &x->best.choice));
    }
    ridge__service_sensitivities_to_json(cx, r->sensitivity, r->n_sensitivity, object);
}

void ridge__service_reasons_to_json(ridge_ctx *cx, const ridge_service_view *v,
                                    ridge_json *object)
{
    set_others(cx, v->result, object);
    if (v->reasons == NULL)
        return;
    set_limits(cx, v->reasons, object);
    set_points(cx, v, object);
    if (v->reasons->has_rooflines)
        ridge__service_rooflines_to_json(cx, &v->reasons->rooflines, object);
    set_sizes(cx, v->reasons, object);
    set_asked(cx, v, object);
}
