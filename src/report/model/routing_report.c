/* Tokens dealt to experts: loads, what an exchange moves, what a capacity drops. */
#include "model_section.h"

#include "ridge/report_routing.h"

#include <math.h>

static void add_bins(ridge_table *t, const char *name, const ridge_routing_bins *b)
{
    ridge_table_cell(t, name);
    ridge_table_cell(t, ridge_format_exact((int64_t)b->bins).s);
    ridge_table_cell(t, ridge_format_double(b->mean).s);
    ridge_table_cell(t, ridge_format_double(b->most).s);
    ridge_table_cellf(t, "%.3f", b->most / b->mean);
    ridge_table_cell(t, ridge_format_double(b->hit).s);
}

static void add_loads(ridge_ctx *cx, const ridge_routing_view *v, ridge_sections *out)
{
    const ridge_routing *r = v->routing;
    ridge_table *t = ridge__section_add(
        cx, out, "Rows by chance",
        "|>how many|>mean rows|>rows of the fullest|>over the mean|>get a row");
    add_bins(t, "experts", &r->experts);
    if (v->request->ranks > 1)
        add_bins(t, "ranks of experts", &r->ranks);
    ridge__section_note(out, "Expected values where every token chooses its experts at "
                             "random. Routers that are trained to balance come near; "
                             "skew of a real one is beyond it.");
}

static void add_row(ridge_table *t, const char *name, const char *value,
                    const char *formula, const char *what)
{
    ridge_table_cell(t, name);
    ridge_table_cell(t, value);
    ridge_table_cell(t, formula);
    ridge_table_cell(t, what);
}

static void add_exchange(ridge_ctx *cx, const ridge_routing_view *v,
                         ridge_sections *out)
{
    const ridge_routing *r = v->routing;
    if (v->request->ranks <= 1)
        return;
    ridge_table *t =
        ridge__section_add(cx, out, "What a token is sent to", "|>value|formula|what");
    add_row(t, "ranks", ridge_format_double(r->sent_ranks).s,
            "Z (1 - C(E - E/Z, k) / C(E, k))", "different ranks, expected");
    add_row(t, "fill", ridge_format_percent(r->fill).s, "ranks / Z",
            "of an all-to-all that sends each token to all ranks");
    add_row(t, "fill, choices apart", ridge_format_percent(r->fill_apart).s,
            "1 - ((Z - 1) / Z)^k", "were a token's choices independent");
    add_row(t, "fill, at most", ridge_format_percent(r->fill_most).s, "min(k / Z, 1)",
            "were they all on different ranks");
}

/* A few in a million are not none. */
static const char *share_text(ridge_ctx *cx, double share)
{
    return ridge_sprintf(ridge_ctx_arena(cx), "%s %%",
                         ridge_format_double(100 * share).s);
}

static void add_capacity(ridge_ctx *cx, const ridge_routing_view *v,
                         ridge_sections *out)
{
    const ridge_routing *r = v->routing;
    ridge_table *t =
        ridge__section_add(cx, out, "Capacity of experts", "|>value|formula|what");
    if (r->capacity_rows > 0) {
        add_row(t, "rows of an expert", ridge_format_exact((int64_t)r->capacity_rows).s,
                "ceil(C T k / E)", "that it takes; what comes later is dropped");
        add_row(t, "dropped", share_text(cx, r->dropped_share),
                "E[max(rows - capacity, 0)] / mean", "of all rows");
        add_row(t, "slack", ridge_format_percent(r->slack_share).s, "",
                "of the places, that stay empty");
    }
    add_row(t, "factor for 1 in 1000", ridge_format_double(r->capacity_for_mille).s, "",
            "C that drops a row in a thousand");
}

static ridge_sections sections_of(ridge_ctx *cx, const ridge_routing_view *v)
{
    const ridge_routing_request *q = v->request;
    ridge_sections out = {.n = 0};
    ridge_arena *arena = ridge_ctx_arena(cx);
    out.title = ridge_sprintf(
        arena, "%s%s%s tokens to %lld of %lld experts each",
        v->name != NULL ? v->name : "", v->name != NULL ? ": " : "",
        ridge_format_exact(q->tokens).s, (long long)q->chosen, (long long)q->experts);
    out.subtitle = ridge_sprintf(arena, "%s rows over %lld rank%s.",
                                 ridge_format_exact((int64_t)v->routing->rows).s,
                                 (long long)q->ranks, q->ranks == 1 ? "" : "s");
    add_loads(cx, v, &out);
    add_exchange(cx, v, &out);
    add_capacity(cx, v, &out);
    return out;
}

void ridge_routing_write_text(ridge_ctx *cx, const ridge_routing_view *view,
                              bool with_colour, ridge_buf *out)
{
    const ridge_sections sections = sections_of(cx, view);
    ridge__sections_write_text(&sections, with_colour, out);
}

void ridge_routing_write_html(ridge_ctx *cx, const ridge_routing_view *view,
                              ridge_buf *out)
{
    const ridge_sections sections = sections_of(cx, view);
    ridge__page_write(&sections, out);
}

static void set_bins(ridge_ctx *cx, const char *key, const ridge_routing_bins *b,
                     ridge_json *object)
{
    ridge_json *bins = ridge_json_set_object(cx, object, key);
    ridge_json_set_double(bins, "bins", b->bins);
    ridge_json_set_double(bins, "mean_rows", b->mean);
    ridge_json_set_double(bins, "most_rows", b->most);
    ridge_json_set_double(bins, "most_over_mean", b->most / b->mean);
    ridge_json_set_double(bins, "hit", b->hit);
}

void ridge_routing_write_json(ridge_ctx *cx, const ridge_routing_view *view,
                              ridge_json *object)
{
    const ridge_routing *r = view->routing;
    const ridge_routing_request *q = view->request;
    if (view->name != NULL)
        ridge_json_set_text(object, "name", view->name);
    ridge_json *all = ridge_json_set_object(cx, object, "routing");
    ridge_json_set_i64(all, "tokens", q->tokens);
    ridge_json_set_i64(all, "experts_per_token", q->chosen);
    ridge_json_set_double(all, "rows", r->rows);
    set_bins(cx, "experts", &r->experts, all);
    set_bins(cx, "ranks", &r->ranks, all);
    ridge_json_set_double(all, "sent_ranks", r->sent_ranks);
    ridge_json_set_double(all, "fill", r->fill);
    ridge_json_set_double(all, "fill_apart", r->fill_apart);
    ridge_json_set_double(all, "fill_most", r->fill_most);
    const bool has_capacity = r->capacity_rows > 0;
    ridge_json_set_positive(all, "capacity_rows", r->capacity_rows);
    ridge_json_set_double(all, "dropped_share",
                          has_capacity ? r->dropped_share : nan(""));
    ridge_json_set_double(all, "slack_share", has_capacity ? r->slack_share : nan(""));
    ridge_json_set_double(all, "capacity_for_mille", r->capacity_for_mille);
}
