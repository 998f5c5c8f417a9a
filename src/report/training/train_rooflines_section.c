/* The plain rooflines of a training layout: a table for each topic, with formulas. */
#include "reasons_section.h"
#include "roofline_cell.h"

#include <math.h>

static const char *work_legend(ridge_ctx *cx, const ridge_train_rooflines *r)
{
    return ridge_sprintf(
        ridge_ctx_arena(cx),
        "N = %s chips of C = %s in %s, B = %s tokens, MFU = %s of --mfu.",
        ridge_format_exact((int64_t)r->chips).s,
        ridge_format_si(r->peak_flops_per_s, "FLOP/s").s, ridge_dtype_text(r->compute),
        ridge_format_count(r->tokens).s, ridge_format_percent(r->mfu).s);
}

/* What F' is: of a mixture, the experts that move. */
static const char *experts_text(ridge_ctx *cx, const ridge_train_rooflines *r)
{
    if (r->weights_d_ff == r->d_ff && r->ep <= 1)
        return " = F'";
    if (r->ep <= 1)
        return ridge_sprintf(ridge_ctx_arena(cx),
                             " (the experts of a token together; F' = %s, all)",
                             ridge_format_exact((int64_t)r->weights_d_ff).s);
    return ridge_sprintf(ridge_ctx_arena(cx),
                         " (the experts of a token together; F' = %s: with ep %.0f a "
                         "chip gathers its own experts alone; rows sent to the others "
                         "are left out)",
                         ridge_format_exact((int64_t)r->weights_d_ff).s, r->ep);
}

static const char *layer_legend(ridge_ctx *cx, const ridge_train_rooflines *r)
{
    const char *experts = experts_text(cx, r);
    return ridge_sprintf(
        ridge_ctx_arena(cx),
        "D = %s, F = %s%s; X = %s ways (dp, fsdp, cp) and Y = %s (tp); W_X = %s and "
        "W_Y = %s of the network. In[B, D] x W_in[D, F] x W_out[F, D], bf16, without "
        "attention; the step above has it all.",
        ridge_format_exact((int64_t)r->d_model).s,
        ridge_format_exact((int64_t)r->d_ff).s, experts == NULL ? "" : experts,
        ridge_format_exact((int64_t)r->x).s, ridge_format_exact((int64_t)r->y).s,
        ridge_format_si(r->x_bytes_per_s, "B/s").s,
        ridge_format_si(r->y_bytes_per_s, "B/s").s);
}

/* Nothing to say without a pipeline. */
static const char *limits_legend(ridge_ctx *cx, const ridge_train_rooflines *r)
{
    if (r->z_bytes_per_s <= 0)
        return NULL;
    return ridge_sprintf(
        ridge_ctx_arena(cx),
        "Stages pass on rows of D, 2 bytes each, over W_Z = %s one way to the next; "
        "Y' = %.0f chips of a stage share a message%s.",
        ridge_format_si(r->z_bytes_per_s, "B/s").s, r->send_ways,
        r->y > r->send_ways ? " (without sp each sends all of it)" : "");
}

static void add_topic(ridge_ctx *cx, const ridge_train_rooflines *r,
                      ridge_train_roofline_topic topic, ridge_sections *s)
{
    ridge_table *t = NULL;
    for (int i = 0; i < RIDGE_TRAIN_ROOFLINE_COUNT; i++) {
        const ridge_train_roofline_row *row =
            ridge_train_roofline_find((ridge_train_roofline)i);
        if (row->topic != topic || !r->applies[i])
            continue;
        if (t == NULL)
            t = ridge__section_add(cx, s, ridge_train_roofline_topic_title(topic),
                                   "roofline|>value|formula|what");
        ridge_table_cell(t, ridge__roofline_name(cx, row->key));
        ridge_table_cell(t, ridge__roofline_value(row->key, r->values[i]).s);
        ridge_table_cell(t, row->formula);
        ridge_table_cell(t, row->what);
    }
    if (t == NULL)
        return;
    if (topic == RIDGE_TRAIN_ROOFLINE_TOPIC_WORK)
        ridge__section_note(s, work_legend(cx, r));
    if (topic == RIDGE_TRAIN_ROOFLINE_TOPIC_LAYER)
        ridge__section_note(s, layer_legend(cx, r));
    if (topic == RIDGE_TRAIN_ROOFLINE_TOPIC_LIMITS) {
        const char *note = limits_legend(cx, r);
        if (note != NULL)
            ridge__section_note(s, note);
    }
}

void ridge__train_rooflines_add(ridge_ctx *cx, const ridge_train_view *v,
                                ridge_sections *s)
{
    if (v->rooflines == NULL)
        return;
    for (int i = 0; i < RIDGE_TRAIN_ROOFLINE_TOPIC_COUNT; i++)
        add_topic(cx, v->rooflines, (ridge_train_roofline_topic)i, s);
}

void ridge__train_rooflines_to_json(ridge_ctx *cx, const ridge_train_rooflines *r,
                                    ridge_json *object)
{
    ridge_json *all = ridge_json_set_object(cx, object, "rooflines");
    ridge_json_set_double(all, "mfu", r->mfu);
    ridge_json_set_double(all, "x", r->x);
    ridge_json_set_double(all, "y", r->y);
    ridge_json_set_double(all, "d_ff", r->d_ff);
    ridge_json_set_double(all, "weights_d_ff", r->weights_d_ff);
    ridge_json_set_double(all, "peak_flops_per_s", r->peak_flops_per_s);
    ridge_json_set_double(all, "x_bytes_per_s", r->x_bytes_per_s);
    ridge_json_set_double(all, "y_bytes_per_s", r->y_bytes_per_s);
    ridge_json_set_double(all, "z_bytes_per_s", r->z_bytes_per_s);
    ridge_json_set_double(all, "send_ways", r->send_ways);
    for (int t = 0; t < RIDGE_TRAIN_ROOFLINE_TOPIC_COUNT; t++) {
        ridge_json *topic = ridge_json_set_object(
            cx, all, ridge_train_roofline_topic_key((ridge_train_roofline_topic)t));
        for (int i = 0; i < RIDGE_TRAIN_ROOFLINE_COUNT; i++) {
            const ridge_train_roofline_row *row =
                ridge_train_roofline_find((ridge_train_roofline)i);
            if ((int)row->topic == t)
                ridge_json_set_double(topic, row->key,
                                      r->applies[i] ? r->values[i] : nan(""));
        }
    }
}
