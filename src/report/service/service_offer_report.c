/* Slices compared, for people: the ranking, the best by each aim, what was left out,
 * and a user's speed against what tokens cost on each. */
#include "guess_note.h"
#include "service_sections.h"
#include "service_text.h"

#include <string.h>

enum { CHART_WIDTH = 76, CHART_HEIGHT = 18 };

static const char *const columns = "slice|layout|>batch|>TTFT|>TPOT|>E2E|>tok/s/"
                                   "chip|>req/s|>chips|>$/M tok|>$/h|>kWh/M tok|engine";

static void add_usd(ridge_table *t, double usd)
{
    ridge_table_cell(t, usd > 0 ? ridge_format_usd(usd).s : "not known");
}

static void add_offer(ridge_ctx *cx, ridge_table *t, const ridge_service_offer *o)
{
    const ridge_service_price *p = &o->best;
    const ridge_service_pool *last = &p->choice.pools[p->choice.n_pools - 1];
    ridge_table_cell(t, o->request.slice->text);
    ridge_table_cell(t, ridge__service_choice_text(cx, &p->choice));
    ridge_table_cell(t, ridge__batch_text(last->batch).s);
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++)
        ridge_table_cell(t, ridge_format_seconds(o->request.goals.quantile > 0
                                                     ? p->quantile_s[i]
                                                     : p->latency_s[i])
                                .s);
    ridge_table_cell(t, ridge_format_count(p->tokens_per_s_per_chip).s);
    ridge_table_cell(t, ridge_format_double(p->requests_per_s).s);
    ridge_table_cell(t, ridge_format_exact((int64_t)p->paid_chips).s);
    add_usd(t, p->usd_per_million_tokens);
    add_usd(t, o->request.usd_per_chip_hour * p->paid_chips);
    ridge_table_cell(t, ridge__kwh_text(p).s);
    ridge_table_cell(t, o->request.engine->name);
}

/* ---- sections ---------------------------------------------------------------------
 */

static void add_ranking(ridge_ctx *cx, const ridge_service_offer_view *v,
                        ridge_sections *s)
{
    const ridge_service_offer_study *study = v->study;
    if (study->n_ranked == 0) {
        ridge__section_note(s, "No slice does it.");
        return;
    }
    const char *title = ridge_sprintf(ridge_ctx_arena(cx), "Slices: %s",
                                      ridge_service_aim_what(v->kinds[0].request.aim));
    ridge_table *t =
        ridge__section_add(cx, s, title == NULL ? "Slices" : title, columns);
    for (int i = 0; i < study->n_ranked && i < v->top; i++)
        add_offer(cx, t, &study->offers[i]);
    if (v->kinds[0].request.goals.quantile > 0)
        ridge__section_note(s, ridge_sprintf(ridge_ctx_arena(cx), "Latencies at p%g.",
                                             100 * v->kinds[0].request.goals.quantile));
}

/* The order is theirs. */
static void add_plays(ridge_ctx *cx, const ridge_service_offer_view *v,
                      ridge_sections *s)
{
    ridge_table *t = NULL;
    int left = 0;
    for (int i = 0; i < v->study->n_ranked && i < v->top; i++) {
        const ridge_service_offer *o = &v->study->offers[i];
        if (!o->best.played.is_played) {
            left++;
            continue;
        }
        if (t == NULL)
            t = ridge__section_add(cx, s, "Played request by request",
                                   "slice|" RIDGE_SERVICE_PLAYED_HEADS);
        ridge_table_cell(t, o->request.slice->text);
        ridge__service_played_cells(cx, t, &o->best);
    }
    if (t == NULL)
        return;
    ridge__section_note(
        s, ridge_sprintf(ridge_ctx_arena(cx),
                         "Requests %s. The order above is that of these plays%s.",
                         ridge__service_arrivals_text(&v->kinds[0].request),
                         left > 0 ? "; slices that would take long were not played and "
                                    "keep their closed form (--play)"
                                  : ""));
}

static void add_best(ridge_ctx *cx, const ridge_service_offer_view *v,
                     ridge_sections *s)
{
    const ridge_service_offer_study *study = v->study;
    if (study->n_ranked < 2)
        return;
    const char *heads = ridge_sprintf(ridge_ctx_arena(cx), "by|%s", columns);
    ridge_table *t =
        ridge__section_add(cx, s, "The best", heads == NULL ? columns : heads);
    for (int aim = 0; aim < RIDGE_SERVICE_AIM_COUNT; aim++) {
        if (study->best_of[aim] < 0)
            continue;
        ridge_table_cell(t, ridge_service_aim_text((ridge_service_aim)aim));
        add_offer(cx, t, &study->offers[study->best_of[aim]]);
    }
}

/* The best slice of each kind. */
static const ridge_service_offer *offer_of(const ridge_service_offer_study *study,
                                           int kind)
{
    for (int i = 0; i < study->n_ranked; i++) {
        if (study->offers[i].kind == kind)
            return &study->offers[i];
    }
    return NULL;
}

static void add_kinds(ridge_ctx *cx, const ridge_service_offer_view *v,
                      ridge_sections *s)
{
    if (v->n_kinds < 2 || v->study->n_ranked < 2)
        return;
    ridge_table *t = ridge__section_add(cx, s, "The best of each kind", columns);
    for (int k = 0; k < v->n_kinds; k++) {
        const ridge_service_offer *o = offer_of(v->study, k);
        if (o != NULL)
            add_offer(cx, t, o);
    }
}

/* Across slices; the latencies are those that goals judge. */
static void add_front(ridge_ctx *cx, const ridge_service_offer_view *v,
                      ridge_sections *s)
{
    const ridge_service_offer_study *study = v->study;
    if (study->n_front == 0 || study->n_ranked < 2)
        return;
    ridge_table *t = ridge__section_add(
        cx, s, "Speed, cost and energy together",
        ">tok/s of a user|>TTFT|>E2E|>$/M tok|>kWh/M tok|>tok/s/chip|slice|layout");
    for (int i = 0; i < study->n_front; i++) {
        const ridge_service_offer *o = &study->offers[study->front[i].offer];
        const ridge_service_price *p = &o->front[study->front[i].point];
        ridge_table_cell(t, ridge_format_double(p->user_tokens_per_s).s);
        ridge_table_cell(t, ridge_format_seconds(p->latency_s[RIDGE_SERVICE_TTFT]).s);
        ridge_table_cell(t, ridge_format_seconds(p->latency_s[RIDGE_SERVICE_E2E]).s);
        add_usd(t, p->usd_per_million_tokens);
        ridge_table_cell(t, ridge__kwh_text(p).s);
        ridge_table_cell(t, ridge_format_count(p->tokens_per_s_per_chip).s);
        ridge_table_cell(t, o->request.slice->text);
        ridge_table_cell(t, ridge__service_choice_text(cx, &p->choice));
    }
    ridge__section_note(
        s, "Of the deployments of all slices that keep the goals, none is faster for a "
           "user, cheaper and thriftier than one of these. A chip whose power is not "
           "published counts by speed and cost.");
}

static void add_left_out(ridge_ctx *cx, const ridge_service_offer_view *v,
                         ridge_sections *s)
{
    const ridge_service_offer_study *study = v->study;
    if (study->n_ranked == study->n)
        return;
    ridge_table *t = ridge__section_add(cx, s, "Left out", "slice|>chips|why");
    for (int i = study->n_ranked; i < study->n; i++) {
        const ridge_service_offer *o = &study->offers[i];
        ridge_table_cell(t, o->request.slice->text);
        ridge_table_cell(t, ridge_format_exact(o->request.slice->chips).s);
        ridge_table_cell(t, o->why_not);
    }
}

static void build(ridge_ctx *cx, const ridge_service_offer_view *v, ridge_sections *s)
{
    const ridge_service_request *r = &v->kinds[0].request;
    ridge_arena *arena = ridge_ctx_arena(cx);
    s->title = ridge_sprintf(arena, "%s served", v->model_name);
    s->subtitle = ridge_sprintf(arena, "prompts of %s tokens, answers of %s",
                                ridge_format_exact((int64_t)r->work.prompt_tokens).s,
                                ridge_format_exact((int64_t)r->work.output_tokens).s);
    ridge__guess_note_add(cx, r->model, s);
    add_ranking(cx, v, s);
    add_plays(cx, v, s);
    add_kinds(cx, v, s);
    add_best(cx, v, s);
    add_front(cx, v, s);
    add_left_out(cx, v, s);
    ridge__section_note(s, ridge_sprintf(arena,
                                         "%d slice%s. %s deployments covered in %s.",
                                         v->study->n, v->study->n == 1 ? "" : "s",
                                         ridge_format_exact(v->study->covered).s,
                                         ridge_format_seconds(v->study->seconds).s));
}

/* ---- charts -----------------------------------------------------------------------
 */

static bool add_series(ridge_ctx *cx, const ridge_service_offer *o, bool has_usd,
                       ridge_chart *chart)
{
    double *x = ridge_new(ridge_ctx_arena(cx), double, (size_t)o->n_front + 1);
    double *y = ridge_new(ridge_ctx_arena(cx), double, (size_t)o->n_front + 1);
    if (x == NULL || y == NULL)
        return false;
    for (int i = 0; i < o->n_front; i++) {
        x[i] = o->front[i].user_tokens_per_s;
        y[i] = has_usd ? o->front[i].usd_per_million_tokens
                       : o->front[i].tokens_per_s_per_chip;
    }
    chart->series[chart->n_series++] =
        (ridge_series){o->request.slice->text, x, y, (size_t)o->n_front};
    return o->n_front > 1;
}

static bool make_chart(ridge_ctx *cx, const ridge_service_offer_view *v,
                       ridge_chart *out)
{
    bool has_usd = true;
    bool is_any = false;
    for (int k = 0; k < v->n_kinds; k++)
        has_usd = has_usd && v->kinds[k].request.usd_per_chip_hour > 0;
    *out = (ridge_chart){.title = has_usd ? "Cost of tokens over a user's speed"
                                          : "Throughput over a user's speed",
                         .x_label = "tokens/s of a user",
                         .y_label =
                             has_usd ? "$ a million output tokens" : "tokens/s a chip",
                         .is_x_log = true,
                         .is_y_log = true};
    for (int k = 0; k < v->n_kinds && out->n_series < RIDGE_SERIES_MAX; k++) {
        const ridge_service_offer *o = offer_of(v->study, k);
        if (o != NULL)
            is_any = add_series(cx, o, has_usd, out) || is_any;
    }
    return is_any;
}

void ridge_service_offer_write_text(ridge_ctx *cx, const ridge_service_offer_view *view,
                                    bool with_colour, ridge_buf *out)
{
    ridge_sections s = {0};
    ridge_chart chart;
    build(cx, view, &s);
    ridge__sections_write_text(&s, with_colour, out);
    if (!make_chart(cx, view, &chart))
        return;
    ridge_buf_puts(out, "\n");
    ridge_chart_write_text(&chart, CHART_WIDTH, CHART_HEIGHT, with_colour, out);
}

void ridge_service_offer_write_html(ridge_ctx *cx, const ridge_service_offer_view *view,
                                    ridge_buf *out)
{
    ridge_sections s = {0};
    ridge_chart chart;
    build(cx, view, &s);
    ridge__page_begin(&s, out);
    if (make_chart(cx, view, &chart))
        ridge_html_chart(out, &chart);
    ridge__page_end(&s, out);
}

/* ---- JSON -------------------------------------------------------------------------
 */

static void set_slice(ridge_ctx *cx, const ridge_service_offer *o, ridge_json *row)
{
    ridge_json_set_text(row, "slice", o->request.slice->text);
    ridge_json_set_i64(row, "chips", o->request.slice->chips);
    ridge_json_set_text(row, "engine", o->request.engine->name);
    ridge_json_set_double(row, "usd_per_chip_hour", o->request.usd_per_chip_hour);
    ridge_json_set_bool(row, "does", o->why_not == NULL);
    if (o->why_not != NULL)
        ridge_json_set_text(row, "why_not", o->why_not);
    else
        ridge_json_set(row, "best",
                       ridge_service_price_to_json(cx, &o->request, &o->best));
}

static void set_best(ridge_ctx *cx, const ridge_service_offer_study *study,
                     ridge_json *object)
{
    ridge_json *best = ridge_json_set_object(cx, object, "best");
    for (int aim = 0; aim < RIDGE_SERVICE_AIM_COUNT; aim++) {
        const int i = study->best_of[aim];
        ridge_json_set_text(best, ridge_service_aim_text((ridge_service_aim)aim),
                            i < 0 ? NULL : study->offers[i].request.slice->text);
    }
}

static void set_front(ridge_ctx *cx, const ridge_service_offer_study *study,
                      ridge_json *object)
{
    ridge_json *front = ridge_json_set_array(cx, object, "front");
    for (int i = 0; i < study->n_front; i++) {
        const ridge_service_offer *o = &study->offers[study->front[i].offer];
        const ridge_service_price *price = &o->front[study->front[i].point];
        ridge_json *row = ridge_json_push_object(cx, front);
        ridge_json_set_text(row, "slice", o->request.slice->text);
        ridge_json_set(row, "deployment",
                       ridge_service_price_to_json(cx, &o->request, price));
    }
}

void ridge_service_offer_write_json(ridge_ctx *cx, const ridge_service_offer_view *v,
                                    ridge_json *object)
{
    const ridge_service_offer_study *study = v->study;
    const ridge_service_request *r = &v->kinds[0].request;
    ridge_json_set_text(object, "model", v->model_name);
    ridge_json_set_double(object, "prompt_tokens", r->work.prompt_tokens);
    ridge_json_set_double(object, "output_tokens", r->work.output_tokens);
    ridge_json_set_text(object, "aim", ridge_service_aim_text(r->aim));
    ridge_json *slices = ridge_json_set_array(cx, object, "slices");
    for (int i = 0; i < study->n; i++)
        set_slice(cx, &study->offers[i], ridge_json_push_object(cx, slices));
    set_best(cx, study, object);
    set_front(cx, study, object);
    ridge_json *search = ridge_json_set_object(cx, object, "search");
    ridge_json_set_i64(search, "covered", study->covered);
    ridge_json_set_double(search, "seconds", study->seconds);
}
