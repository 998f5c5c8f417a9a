/* The plain rooflines of a deployment: a table for each topic, with formulas. */
#include "roofline_cell.h"
#include "service_sections.h"

#include <math.h>

static double at(const ridge_service_rooflines *r, ridge_service_roofline which)
{
    return r->applies[which] ? r->values[which] : (double)INFINITY;
}

/* The ways of tp at which a step and a prompt become bound by the network. */
static const char *tp_note(ridge_ctx *cx, const ridge_service_rooflines *r)
{
    const double hbm = at(r, RIDGE_SERVICE_ROOFLINE_TP_MEMORY);
    const double hops = at(r, RIDGE_SERVICE_ROOFLINE_TP_HOPS);
    if (r->axis_bytes_per_s <= 0)
        return "One chip has the whole of each matrix: nothing moves between chips.";
    const char *prompts = ridge_sprintf(
        ridge_ctx_arena(cx), "Prompts are bound by FLOPs up to %s ways of tp",
        ridge_format_double(at(r, RIDGE_SERVICE_ROOFLINE_TP_COMPUTE)).s);
    const double least = fmin(hbm, hops);
    if (prompts == NULL || !isfinite(least))
        return prompts;
    return ridge_sprintf(ridge_ctx_arena(cx),
                         "%s, a step of %s rows by HBM or FLOPs up to %s, then by %s. "
                         "This layout has %lld.",
                         prompts, ridge_format_exact((int64_t)r->batch_tokens).s,
                         ridge_format_double(least).s,
                         hops < hbm ? "hops" : "the network's bytes", (long long)r->tp);
}

static const char *legend(ridge_ctx *cx, const ridge_service_rooflines *r)
{
    return ridge_sprintf(
        ridge_ctx_arena(cx),
        "Of a server of n = %s chips with B = %s sequences of %s tokens; C and W: "
        "FLOP/s and bytes/s of HBM of a chip, P parameters that multiply (weights: "
        "all) "
        "of w bytes, kv bytes of a sequence. Peak rates, everything shared evenly, no "
        "latency but hops; what the planner expects stands above.",
        ridge_format_exact((int64_t)r->service.chips).s,
        ridge_format_count(r->sequences).s, ridge_format_exact((int64_t)r->context).s);
}

static const char *tp_legend(ridge_ctx *cx, const ridge_service_rooflines *r)
{
    const char *network =
        r->axis_bytes_per_s <= 0
            ? ""
            : ridge_sprintf(ridge_ctx_arena(cx),
                            ", on m = %d network ax%s of W_net = %s", (int)r->axes,
                            r->axes == 1 ? "is" : "es",
                            ridge_format_si(r->axis_bytes_per_s, "B/s").s);
    return ridge_sprintf(
        ridge_ctx_arena(cx),
        "D = %s, F = %s%s, a bytes of an activation, b rows of an iteration, Y = tp%s.",
        ridge_format_exact((int64_t)r->d_model).s,
        ridge_format_exact((int64_t)r->d_ff).s,
        r->is_dense ? "" : " (the experts of a token together)",
        network == NULL ? "" : network);
}

static void add_topic(ridge_ctx *cx, const ridge_service_rooflines *r,
                      ridge_roofline_topic topic, ridge_sections *s)
{
    ridge_table *t = NULL;
    for (int i = 0; i < RIDGE_SERVICE_ROOFLINE_COUNT; i++) {
        const ridge_service_roofline_row *row =
            ridge_service_roofline_find((ridge_service_roofline)i);
        if (row->topic != topic || !r->applies[i])
            continue;
        if (t == NULL)
            t = ridge__section_add(cx, s, ridge_roofline_topic_title(topic),
                                   "roofline|>value|formula|what");
        ridge_table_cell(t, ridge__roofline_name(cx, row->key));
        ridge_table_cell(t, ridge__roofline_value(row->key, r->values[i]).s);
        ridge_table_cell(t, row->formula);
        ridge_table_cell(t, row->what);
    }
}

void ridge__service_rooflines_add(ridge_ctx *cx, const ridge_service_view *v,
                                  ridge_sections *s)
{
    if (v->reasons == NULL || !v->reasons->has_rooflines)
        return;
    const ridge_service_rooflines *r = &v->reasons->rooflines;
    for (int i = 0; i < RIDGE_ROOFLINE_TOPIC_COUNT; i++) {
        const bool has_note =
            i == RIDGE_ROOFLINE_TOPIC_GENERATION || i == RIDGE_ROOFLINE_TOPIC_TP;
        add_topic(cx, r, (ridge_roofline_topic)i, s);
        if (has_note)
            ridge__section_note(s, i == RIDGE_ROOFLINE_TOPIC_TP ? tp_legend(cx, r)
                                                                : legend(cx, r));
        if (i == RIDGE_ROOFLINE_TOPIC_TP)
            ridge__section_note(s, tp_note(cx, r));
    }
}

void ridge__service_rooflines_to_json(ridge_ctx *cx, const ridge_service_rooflines *r,
                                      ridge_json *object)
{
    ridge_json *all = ridge_json_set_object(cx, object, "rooflines");
    ridge_json_set_double(all, "chips", r->service.chips);
    ridge_json_set_double(all, "sequences", r->sequences);
    ridge_json_set_double(all, "context_tokens", r->context);
    ridge_json_set_double(all, "batch_tokens", r->batch_tokens);
    ridge_json_set_i64(all, "tp_ways", r->tp);
    ridge_json_set_double(all, "network_axes", r->axes);
    ridge_json_set_double(all, "network_axis_bytes_per_s", r->axis_bytes_per_s);
    for (int t = 0; t < RIDGE_ROOFLINE_TOPIC_COUNT; t++) {
        ridge_json *topic = ridge_json_set_object(
            cx, all, ridge_roofline_topic_key((ridge_roofline_topic)t));
        for (int i = 0; i < RIDGE_SERVICE_ROOFLINE_COUNT; i++) {
            const ridge_service_roofline_row *row =
                ridge_service_roofline_find((ridge_service_roofline)i);
            if ((int)row->topic == t)
                ridge_json_set_double(topic, row->key,
                                      r->applies[i] ? r->values[i] : nan(""));
        }
    }
}
