/* The keys of `size --json`. */
#include "ridge/report_sizing.h"

#include <math.h>

static void set_sizing(const ridge_sizing *z, ridge_json *o)
{
    ridge_json_set_double(o, "parameters", z->params);
    ridge_json_set_double(o, "tokens", z->tokens);
    ridge_json_set_double(o, "tokens_per_parameter", z->tokens / z->params);
    ridge_json_set_double(o, "flops", z->flops);
    ridge_json_set_double(o, "loss", z->has_loss ? z->loss : nan(""));
}

static void set_sized(const ridge_sizing_view *v, const ridge_sized *s, ridge_json *o)
{
    const bool has_speed = v->study->has_speed;
    set_sizing(&s->size, o);
    ridge_json_set_double(o, "excess_flops", s->size.has_loss ? s->waste : nan(""));
    ridge_json_set_double(o, "days", has_speed ? s->days : nan(""));
    ridge_json_set_double(o, "chip_hours", has_speed ? s->chip_hours : nan(""));
    ridge_json_set_positive(o, "usd", s->usd);
}

static void set_law(ridge_ctx *cx, const ridge_scaling_law *law, ridge_json *o)
{
    ridge_json *l = ridge_json_set_object(cx, o, "law");
    ridge_json_set_text(l, "name", law->name);
    ridge_json_set_text(l, "source", law->source);
    ridge_json_set_text(l, "date", law->date);
}

static void set_speed(ridge_ctx *cx, const ridge_sizing_view *v, ridge_json *o)
{
    const ridge_size_speed *s = &v->study->speed;
    if (!v->study->has_speed) {
        ridge_json_set_null(o, "speed");
        return;
    }
    ridge_json *speed = ridge_json_set_object(cx, o, "speed");
    ridge_json_set_text(speed, "slice", v->request->slice->text);
    ridge_json_set_text(speed, "model", s->model_name);
    ridge_json_set_double(speed, "mfu", s->mfu);
    ridge_json_set_double(speed, "goodput", s->goodput);
    ridge_json_set_double(speed, "flops_per_s", s->flops_per_s);
    ridge_json_set(o, "terms",
                   ridge_money_terms_to_json(cx, v->request->slice, v->request->money));
}

static void set_served(ridge_ctx *cx, const ridge_sizing_view *v, ridge_json *o)
{
    if (!v->study->has_served) {
        ridge_json_set_null(o, "served");
        return;
    }
    ridge_json *served = ridge_json_set_object(cx, o, "served");
    set_sized(v, &v->study->served, served);
    ridge_json_set_double(served, "served_tokens", v->request->served_tokens);
    ridge_json_set_double(served, "total_flops", v->study->served_total_flops);
    ridge_json_set_double(served, "best_total_flops", v->study->best_total_flops);
}

void ridge_sizing_write_json(ridge_ctx *cx, const ridge_sizing_view *v,
                             ridge_json *object)
{
    const ridge_sizing_study *study = v->study;
    set_law(cx, v->request->law, object);
    set_sized(v, &study->best, ridge_json_set_object(cx, object, "best"));
    set_served(cx, v, object);
    ridge_json *ratios = ridge_json_set_array(cx, object, "ratios");
    for (int i = 0; i < study->n_ratios; i++)
        set_sized(v, &study->ratios[i], ridge_json_push_object(cx, ratios));
    ridge_json *laws = ridge_json_set_array(cx, object, "laws");
    for (int i = 0; i < study->n_laws; i++) {
        ridge_json *row = ridge_json_push_object(cx, laws);
        set_law(cx, &study->laws[i], row);
        set_sizing(&study->by_law[i], row);
    }
    set_speed(cx, v, object);
}
