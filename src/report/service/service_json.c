/* Services as JSON: see section 9 of the design for the keys. */
#include "service_notes.h"
#include "service_sections.h"

static void set_request(ridge_ctx *cx, const ridge_service_request *r,
                        ridge_json *object)
{
    ridge_json_set_text(object, "slice", r->slice->text);
    ridge_json_set_i64(object, "chips", r->slice->chips);
    ridge_json_set_text(object, "engine", r->engine->name);
    ridge_json_set_double(object, "prompt_tokens", r->work.prompt_tokens);
    ridge_json_set_double(object, "output_tokens", r->work.output_tokens);
    ridge_json_set_double(object, "cached_tokens", r->work.cached_tokens);
    ridge_json *goals = ridge_json_set_object(cx, object, "goals");
    ridge_json_set_double(goals, "ttft_s", r->goals.most_s[RIDGE_SERVICE_TTFT]);
    ridge_json_set_double(goals, "tpot_s", r->goals.most_s[RIDGE_SERVICE_TPOT]);
    ridge_json_set_double(goals, "e2e_s", r->goals.most_s[RIDGE_SERVICE_E2E]);
    ridge_json_set_double(goals, "quantile", r->goals.quantile);
    ridge_json_set_text(object, "aim", ridge_service_aim_text(r->aim));
    ridge_json_set_positive(object, "requests_per_s", r->requests_per_s);
    ridge_json_set_double(object, "usd_per_chip_hour", r->usd_per_chip_hour);
}

static void set_prices(ridge_ctx *cx, const ridge_service_request *r,
                       const ridge_service_price *prices, int n, const char *key,
                       ridge_json *object)
{
    ridge_json *all = ridge_json_set_array(cx, object, key);
    for (int i = 0; i < n; i++)
        ridge_json_push(all, ridge_service_price_to_json(cx, r, &prices[i]));
}

/* Where nothing keeps the goals. */
static void set_nearest(ridge_ctx *cx, const ridge_service_view *v, ridge_json *object)
{
    const ridge_service_result *r = v->result;
    if (r->n_layouts > 0)
        return;
    if (r->has_nearest)
        ridge_json_set(object, "nearest",
                       ridge_service_price_to_json(cx, v->request, &r->nearest));
    if (r->has_most)
        ridge_json_set(object, "most",
                       ridge_service_price_to_json(cx, v->request, &r->most));
    ridge_json *least = ridge_json_set_object(cx, object, "least");
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        if (r->has_least[i])
            ridge_json_set(least, ridge_service_latency_text((ridge_service_latency)i),
                           ridge_service_price_to_json(cx, v->request, &r->least[i]));
    }
}

static void set_refusals(ridge_ctx *cx, const ridge_service_result *r,
                         ridge_json *object)
{
    ridge_json *all = ridge_json_set_array(cx, object, "refused");
    for (int i = 0; i < r->n_refusals; i++) {
        const ridge_service_refusal *f = &r->refusals[i];
        ridge_json *o = ridge_json_push_object(cx, all);
        ridge_json_set_i64(o, "layouts", f->n);
        ridge_json_set_text(o, "why", f->why);
        ridge_json_set_i64(o, "tp", f->example.tp);
        ridge_json_set_i64(o, "pp", f->example.pp);
        ridge_json_set_i64(o, "ep", f->example.ep);
        ridge_json_set_i64(o, "attention_dp", f->example.attention_dp);
    }
}

static void set_notes(ridge_ctx *cx, const ridge_service_view *v, ridge_json *object)
{
    const char *notes[RIDGE_SERVICE_NOTES_MAX];
    const int n = ridge__service_notes(cx, v, notes);
    ridge_json *words = ridge_json_set_array(cx, object, "notes");
    for (int i = 0; i < n; i++)
        ridge_json_push_text(words, notes[i]);
}

void ridge_service_write_json(ridge_ctx *cx, const ridge_service_view *v,
                              ridge_json *object)
{
    const ridge_service_result *r = v->result;
    ridge_json_set_text(object, "model", v->model_name);
    set_request(cx, v->request, object);
    set_prices(cx, v->request, r->layouts, r->n_layouts, "layouts", object);
    if (r->has_other)
        ridge_json_set(object, "other_mode",
                       ridge_service_price_to_json(cx, v->request, &r->other));
    set_nearest(cx, v, object);
    set_prices(cx, v->request, r->speed_front, r->n_speed_front, "pareto", object);
    set_prices(cx, v->request, r->cost_front, r->n_cost_front, "pareto_cost", object);
    set_refusals(cx, r, object);
    ridge__service_reasons_to_json(cx, v, object);
    set_notes(cx, v, object);
    ridge_json *search = ridge_json_set_object(cx, object, "search");
    ridge_json_set_i64(search, "covered", r->covered);
    ridge_json_set_i64(search, "priced", r->priced);
    ridge_json_set_i64(search, "tables", r->tables);
    ridge_json_set_double(search, "seconds", r->seconds);
}
