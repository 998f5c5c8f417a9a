/* The plain rooflines of a deployment: a table for each topic, with formulas. */
#include "service_sections.h"

#include <math.h>
#include <string.h>

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text);
    const size_t m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* A value in the unit that its key ends in. */
static ridge_text value_text(const char *key, double v)
{
    const ridge_text never = {"never"};
    if (!isfinite(v))
        return never;
    if (ends_with(key, "_per_s_per_chip"))
        return ridge_format_count(v);
    if (ends_with(key, "_s"))
        return ridge_format_seconds(v);
    if (ends_with(key, "_share"))
        return ridge_format_percent(v);
    if (strstr(key, "_flops") != NULL && strncmp(key, "tp_", 3) != 0 &&
        strncmp(key, "attention_", 10) != 0)
        return ridge_format_si(v, "FLOP");
    return v >= 1000 ? ridge_format_exact((int64_t)round(v)) : ridge_format_double(v);
}

/* "tokens_over_critical" is read as words; the unit of seconds is in the value. */
static const char *name_of(ridge_ctx *cx, const char *key)
{
    ridge_str name = ridge_str_of(key);
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    if (ends_with(key, "_s") && !ends_with(key, "per_s"))
        name.n -= 2;
    for (size_t i = 0; i < name.n; i++)
        ridge_buf_printf(&b, "%c", name.p[i] == '_' ? ' ' : name.p[i]);
    return ridge_buf_text(&b);
}

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
        ridge_table_cell(t, name_of(cx, row->key));
        ridge_table_cell(t, value_text(row->key, r->values[i]).s);
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
    ridge_json_set_i64(all, "tp", r->tp);
    ridge_json_set_double(all, "network_axes", r->axes);
    ridge_json_set_double(all, "network_axis_bytes_per_s", r->axis_bytes_per_s);
    for (int t = 0; t < RIDGE_ROOFLINE_TOPIC_COUNT; t++) {
        ridge_json *topic = ridge_json_set_object(
            cx, all, ridge_roofline_topic_key((ridge_roofline_topic)t));
        for (int i = 0; i < RIDGE_SERVICE_ROOFLINE_COUNT; i++) {
            const ridge_service_roofline_row *row =
                ridge_service_roofline_find((ridge_service_roofline)i);
            if ((int)row->topic == t && r->applies[i] && isfinite(r->values[i]))
                ridge_json_set_double(topic, row->key, r->values[i]);
            else if ((int)row->topic == t)
                ridge_json_set_null(topic, row->key);
        }
    }
}
