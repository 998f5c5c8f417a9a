/* Models compared on one slice, for people: side by side, then against the first. */
#include "ridge/report_rivals.h"

#include "guess_note.h"
#include "layout_text.h"
#include "section.h"

#include <math.h>

static bool fits(const ridge_rivals_view *v, int i)
{
    return v->answers[i].why_not == NULL;
}

/* ---- side by side ---------------------------------------------------------------- */

static void add_model(ridge_ctx *cx, const ridge_rivals_view *v, int i, ridge_table *t)
{
    const ridge_rival_answer *a = &v->answers[i];
    const ridge_params params = ridge_model_params(v->rivals[i].model);
    const double hbm = ridge_chip_memory_bytes(v->request->slice->chip);
    ridge_table_cell(t, v->rivals[i].name);
    ridge_table_cell(t, ridge_format_count((double)params.total).s);
    ridge_table_cell(t, ridge_format_count((double)params.active).s);
    ridge_table_cell(t, ridge_format_si(a->flops_per_token, "FLOP").s);
    ridge_table_cell(t, ridge_format_seconds(a->best.step_time_s).s);
    ridge_table_cell(t, ridge_format_percent(a->best.mfu).s);
    ridge_table_cell(t, ridge_format_count(a->best.tokens_per_s_per_chip).s);
    ridge_table_cell(t, ridge_format_percent(a->best.peak_memory_bytes / hbm).s);
    if (v->request->total_tokens > 0)
        ridge_table_cell(t, ridge_format_seconds(a->money.days * RIDGE_DAY_S).s);
    const double usd =
        v->request->total_tokens > 0 ? a->money.usd : a->money.usd_per_million_tokens;
    ridge_table_cell(t, usd > 0 ? ridge_format_usd(usd).s : "not known");
    ridge_table_cell(t, ridge__layout_text(cx, &a->best.layout));
}

static void add_models(ridge_ctx *cx, const ridge_rivals_view *v, ridge_sections *s)
{
    const bool has_total = v->request->total_tokens > 0;
    ridge_table *t = ridge__section_add(
        cx, s, "Architectures",
        has_total ? "model|>parameters|>active|>a token|>step|>MFU|>tokens/s/chip|"
                    ">memory|>time|>cost|layout"
                  : "model|>parameters|>active|>a token|>step|>MFU|>tokens/s/chip|"
                    ">memory|>$/M tokens|layout");
    for (int i = 0; i < v->n; i++) {
        if (fits(v, i))
            add_model(cx, v, i, t);
    }
    ridge__section_note(s, "a token: FLOPs of training it. Each with its best layout.");
}

static void add_left_out(ridge_ctx *cx, const ridge_rivals_view *v, ridge_sections *s)
{
    ridge_table *t = NULL;
    for (int i = 0; i < v->n; i++) {
        if (fits(v, i))
            continue;
        if (t == NULL)
            t = ridge__section_add(cx, s, "Left out", "model|why");
        ridge__table_pair(t, v->rivals[i].name, v->answers[i].why_not);
    }
}

/* ---- against the first ----------------------------------------------------------- */

static const char *loss_text(ridge_ctx *cx, double loss)
{
    const char *text = ridge_sprintf(ridge_ctx_arena(cx), "%.3f", loss);
    return isfinite(loss) && text != NULL ? text : "-";
}

static void add_ratios(ridge_ctx *cx, const ridge_rivals_view *v, ridge_sections *s)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    const bool has_total = v->request->total_tokens > 0;
    const char *title = ridge_sprintf(arena, "Against %s", v->rivals[0].name);
    ridge_table *t = ridge__section_add(
        cx, s, title == NULL ? "" : title,
        has_total ? "model|>work|>efficiency|>time|>tokens in its time|>loss|"
                    ">loss in its time"
                  : "model|>work|>efficiency|>time|>tokens in its time");
    for (int i = 0; i < v->n; i++) {
        const ridge_rival_answer *a = &v->answers[i];
        if (!isfinite(a->time_ratio))
            continue;
        ridge_table_cell(t, v->rivals[i].name);
        ridge_table_cellf(t, "%.3f", a->work_ratio);
        ridge_table_cellf(t, "%.3f", a->efficiency_ratio);
        ridge_table_cellf(t, "%.3f", a->time_ratio);
        ridge_table_cellf(t, "%.3f", 1 / a->time_ratio);
        if (!has_total)
            continue;
        ridge_table_cell(t, loss_text(cx, a->loss));
        ridge_table_cell(t, loss_text(cx, a->loss_at_time));
    }
    ridge__section_note(
        s,
        "work: FLOPs of a token; efficiency: FLOP/s of a chip; time of a token: work "
        "over efficiency. Tokens in its time: of the run of the first.");
}

/* What is asked of the quality of a model whose tokens cost more or less. */
static void add_verdicts(ridge_ctx *cx, const ridge_rivals_view *v, ridge_sections *s)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 1; i < v->n; i++) {
        const double x = v->answers[i].time_ratio;
        if (!isfinite(x))
            continue;
        ridge_buf_printf(&b, "%s%s takes %.3f of the time of %s for a token: ",
                         b.n > 0 ? " " : "", v->rivals[i].name, x, v->rivals[0].name);
        if (x > 1)
            ridge_buf_printf(&b, "it pays where %.3f of the tokens make it as good.",
                             1 / x);
        else
            ridge_buf_printf(&b,
                             "it pays unless it needs more than %.3f of the tokens "
                             "to be as good.",
                             1 / x);
    }
    if (v->request->total_tokens > 0 && v->law->has_loss)
        ridge_buf_printf(&b,
                         "%sLosses of dense models by the scaling law %s, in nats a "
                         "token; of experts it says nothing.",
                         b.n > 0 ? " " : "", v->law->name);
    if (b.n > 0)
        ridge__section_note(s, ridge_buf_text(&b));
}

/* ---- the whole ------------------------------------------------------------------- */

static void build(ridge_ctx *cx, const ridge_rivals_view *v, ridge_sections *s)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    const ridge_train_request *r = v->request;
    int64_t covered = 0;
    int fitting = 0;
    s->title = ridge_sprintf(arena, "%d models on %s", v->n, r->slice->text);
    s->subtitle = ridge_sprintf(
        arena, "%s chips (%s), %s tokens a step in sequences of %s%s%s",
        ridge_format_exact(r->slice->chips).s, r->slice->chip->full_name,
        ridge_format_count(r->batch_tokens).s, ridge_format_count(r->seq_tokens).s,
        r->total_tokens > 0 ? ", tokens in all: " : "",
        r->total_tokens > 0 ? ridge_format_count(r->total_tokens).s : "");
    for (int i = 0; i < v->n; i++) {
        covered += v->answers[i].covered;
        fitting += fits(v, i);
        ridge__guess_note_add(cx, v->rivals[i].model, s);
    }
    if (fitting > 0)
        add_models(cx, v, s);
    add_left_out(cx, v, s);
    if (fits(v, 0) && fitting > 1) {
        add_ratios(cx, v, s);
        add_verdicts(cx, v, s);
    }
    ridge__section_note(
        s, ridge_sprintf(arena, "%s layouts covered.", ridge_format_exact(covered).s));
}

void ridge_rivals_write_text(ridge_ctx *cx, const ridge_rivals_view *view,
                             bool with_colour, ridge_buf *out)
{
    ridge_sections s = {0};
    build(cx, view, &s);
    ridge__sections_write_text(&s, with_colour, out);
}

void ridge_rivals_write_html(ridge_ctx *cx, const ridge_rivals_view *view,
                             ridge_buf *out)
{
    ridge_sections s = {0};
    build(cx, view, &s);
    ridge__page_write(&s, out);
}

/* ---- JSON ------------------------------------------------------------------------ */

static void set_model(ridge_ctx *cx, const ridge_rivals_view *v, int i, ridge_json *o)
{
    const ridge_rival_answer *a = &v->answers[i];
    const ridge_params params = ridge_model_params(v->rivals[i].model);
    ridge_json_set_text(o, "model", v->rivals[i].name);
    ridge_json_set_i64(o, "parameters", params.total);
    ridge_json_set_i64(o, "active_parameters", params.active);
    ridge_json_set_text(o, "why_not", a->why_not);
    ridge_json_set_double(o, "work_ratio", a->work_ratio);
    ridge_json_set_double(o, "efficiency_ratio", a->efficiency_ratio);
    ridge_json_set_double(o, "time_ratio", a->time_ratio);
    ridge_json_set_double(o, "loss", a->loss);
    ridge_json_set_double(o, "loss_at_time", a->loss_at_time);
    if (a->why_not != NULL)
        return;
    ridge_json_set_double(o, "flops_per_token", a->flops_per_token);
    ridge_json *layout = ridge_train_price_to_json(cx, &a->request, &a->best);
    ridge_json_set(layout, "run", ridge_money_to_json(cx, &a->money));
    ridge_json_set(o, "layout", layout);
}

void ridge_rivals_write_json(ridge_ctx *cx, const ridge_rivals_view *v,
                             ridge_json *object)
{
    const ridge_train_request *r = v->request;
    ridge_json_set_text(object, "slice", r->slice->text);
    ridge_json_set_i64(object, "chips", r->slice->chips);
    ridge_json_set_double(object, "batch_tokens", r->batch_tokens);
    ridge_json_set_double(object, "seq_tokens", r->seq_tokens);
    ridge_json_set_positive(object, "total_tokens", r->total_tokens);
    ridge_json_set_text(object, "law", v->law->name);
    ridge_json *models = ridge_json_set_array(cx, object, "models");
    for (int i = 0; i < v->n; i++)
        set_model(cx, v, i, ridge_json_push_object(cx, models));
}
