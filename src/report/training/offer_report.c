/* Slices compared, for people: the ranking, the best of each goal and kind, what was
 * left out and why, and what the numbers rest on. */
#include "guess_note.h"
#include "offer_chart.h"

#include "layout_text.h"
#include "section.h"

#include <math.h>
#include <string.h>

enum { CHART_WIDTH = 76, CHART_HEIGHT = 18 };

static const char *const columns[] = {
    "slice|>chips|>step|>MFU|>memory|>goodput|>$/M tokens|>J/token|layout",
    "slice|>chips|>step|>MFU|>memory|>goodput|>time|>cost|>energy|layout"};

static const char *kind_name(const ridge_offer_kind *kind)
{
    return kind->is_open ? kind->slice->chip->name : kind->slice->text;
}

static const char *kwh_text(ridge_ctx *cx, double kwh)
{
    const bool is_large = kwh >= 1e6;
    const char *text =
        ridge_sprintf(ridge_ctx_arena(cx), "%.3g %s", kwh / (is_large ? 1e6 : 1e3),
                      is_large ? "GWh" : "MWh");
    return text == NULL || kwh <= 0 ? "-" : text;
}

static void add_sums(ridge_ctx *cx, ridge_table *t, const ridge_offer *o)
{
    const ridge_money *m = &o->money;
    ridge_table_cell(t, m->has_goodput ? ridge_format_percent(m->goodput).s : "-");
    if (o->best.has_total) {
        ridge_table_cell(t, ridge_format_seconds(m->days * RIDGE_DAY_S).s);
        ridge_table_cell(t, m->usd > 0 ? ridge_format_usd(m->usd).s : "not known");
        ridge_table_cell(t, kwh_text(cx, m->kwh));
        return;
    }
    if (m->usd_per_million_tokens > 0) {
        ridge_table_cell(t, ridge_format_usd(m->usd_per_million_tokens).s);
    } else {
        ridge_table_cell(t, "not known");
    }
    ridge_table_cellf(t, m->joules_per_token > 0 ? "%.3g" : "-", m->joules_per_token);
}

static void add_offer(ridge_ctx *cx, ridge_table *t, const ridge_offer *o)
{
    const ridge_slice *slice = o->request.slice;
    ridge_table_cell(t, slice->text);
    ridge_table_cell(t, ridge_format_exact(slice->chips).s);
    ridge_table_cell(t, ridge_format_seconds(o->best.step_time_s).s);
    ridge_table_cell(t, ridge_format_percent(o->best.mfu).s);
    ridge_table_cell(t, ridge_format_percent(o->best.peak_memory_bytes /
                                             ridge_chip_memory_bytes(slice->chip))
                            .s);
    add_sums(cx, t, o);
    ridge_table_cell(t, ridge__layout_text(cx, &o->best.layout));
}

/* ---- the ranking ------------------------------------------------------------------
 */

static ridge_table *section(ridge_ctx *cx, const ridge_offer_view *v, const char *title,
                            ridge_sections *s)
{
    const bool has_total = v->request->request->total_tokens > 0;
    return ridge__section_add(cx, s, title, columns[has_total]);
}

static void add_ranking(ridge_ctx *cx, const ridge_offer_view *v, ridge_sections *s)
{
    const ridge_offer_study *study = v->study;
    int rows = 0;
    if (study->offers[0].fit > RIDGE_OFFER_UNKNOWN) {
        ridge__section_note(s, v->request->deadline_s > 0 ? "No slice does it in time."
                                                          : "No slice does it.");
        return;
    }
    const char *title = ridge_sprintf(ridge_ctx_arena(cx), "Slices, %s first",
                                      ridge_offer_goal_what(v->request->goal));
    ridge_table *t = section(cx, v, title == NULL ? "" : title, s);
    while (rows < v->top && rows < study->n &&
           study->offers[rows].fit <= RIDGE_OFFER_UNKNOWN)
        add_offer(cx, t, &study->offers[rows++]);
}

/* The best slice by each goal; by memory only where layouts were chosen for it. */
static void add_best(ridge_ctx *cx, const ridge_offer_view *v, ridge_sections *s)
{
    const ridge_offer_study *study = v->study;
    if (study->n < 2 || study->offers[0].fit > RIDGE_OFFER_UNKNOWN)
        return;
    const bool has_total = v->request->request->total_tokens > 0;
    const char *rest = columns[has_total];
    const char *heads = ridge_sprintf(ridge_ctx_arena(cx), "by|%s", rest);
    ridge_table *t =
        ridge__section_add(cx, s, "The best", heads == NULL ? rest : heads);
    for (int goal = 0; goal < RIDGE_OFFER_GOAL_COUNT; goal++) {
        const bool is_shown = goal != RIDGE_OFFER_GOAL_MEMORY ||
                              v->request->goal == RIDGE_OFFER_GOAL_MEMORY;
        if (study->best_of[goal] < 0 || !is_shown)
            continue;
        ridge_table_cell(t, ridge_offer_goal_what((ridge_offer_goal)goal));
        add_offer(cx, t, &study->offers[study->best_of[goal]]);
    }
}

static void add_kinds(ridge_ctx *cx, const ridge_offer_view *v, ridge_sections *s)
{
    const ridge_offer_study *study = v->study;
    bool is_open = false;
    for (int k = 0; k < v->request->n_kinds; k++)
        is_open = is_open || v->request->kinds[k].is_open;
    if (!is_open || v->request->n_kinds < 2 ||
        study->offers[0].fit > RIDGE_OFFER_UNKNOWN)
        return;
    ridge_table *t = section(cx, v, "The best of each kind", s);
    bool is_seen[RIDGE_OFFER_KIND_MAX] = {false};
    for (int i = 0; i < study->n; i++) {
        const ridge_offer *o = &study->offers[i];
        if (o->fit > RIDGE_OFFER_UNKNOWN || is_seen[o->kind])
            continue;
        is_seen[o->kind] = true;
        add_offer(cx, t, o);
    }
}

/* ---- what was left out ------------------------------------------------------------
 */

static const char *why_text(const ridge_offer *o)
{
    return o->why_not != NULL ? o->why_not : ridge_offer_fit_text(o->fit);
}

static bool is_alike(const ridge_offer *a, const ridge_offer *b)
{
    return a->kind == b->kind && a->fit == b->fit &&
           (a->fit != RIDGE_OFFER_REFUSED || strcmp(a->why_not, b->why_not) == 0);
}

/* Neighbours that fail alike share a row. */
static void add_left_out(ridge_ctx *cx, const ridge_offer_view *v, ridge_sections *s)
{
    const ridge_offer_study *study = v->study;
    ridge_table *t = NULL;
    int i = 0;
    while (i < study->n && study->offers[i].fit <= RIDGE_OFFER_UNKNOWN)
        i++;
    if (i < study->n)
        t = ridge__section_add(cx, s, "Left out", "slices|>of them|why|>time");
    while (i < study->n) {
        const ridge_offer *first = &study->offers[i];
        int n = 1;
        while (i + n < study->n && is_alike(first, &study->offers[i + n]))
            n++;
        const ridge_offer *last = &study->offers[i + n - 1];
        if (n == 1) {
            ridge_table_cell(t, first->request.slice->text);
        } else {
            ridge_table_cellf(t, "%s to %s", first->request.slice->text,
                              last->request.slice->text);
        }
        ridge_table_cellf(t, "%d", n);
        ridge_table_cell(t, why_text(first));
        if (first->fit == RIDGE_OFFER_LATE) {
            ridge_table_cellf(t, n > 1 ? "%s to %s" : "%s",
                              ridge_format_seconds(first->money.days * RIDGE_DAY_S).s,
                              ridge_format_seconds(last->money.days * RIDGE_DAY_S).s);
        } else {
            ridge_table_cell(t, "-");
        }
        i += n;
    }
}

/* ---- what it rests on -------------------------------------------------------------
 */

static void add_terms(ridge_ctx *cx, const ridge_offer_view *v, ridge_sections *s)
{
    ridge_table *t = ridge__section_add(
        cx, s, "Terms", "kind|>$/chip-hour|price|>one chip fails every|failures");
    for (int k = 0; k < v->request->n_kinds; k++) {
        const ridge_offer_kind *kind = &v->request->kinds[k];
        const ridge_money_request *m = &kind->money;
        const double mtbf_s = ridge_money_mtbf_s(kind->slice, m);
        const double chip_s = mtbf_s * (double)kind->slice->chips;
        ridge_table_cell(t, kind_name(kind));
        if (m->has_price) {
            ridge_table_cell(t, ridge_format_usd(m->price.usd_per_chip_hour).s);
            ridge_table_cellf(
                t, "%s %s %s %s", m->price.provider ? m->price.provider : "",
                m->price.region ? m->price.region : "",
                m->price.kind ? m->price.kind : "", m->price.date ? m->price.date : "");
        } else {
            ridge_table_cell(t, "not known");
            ridge_table_cell(t, "no price is listed; tell one: --price USD");
        }
        ridge_table_cell(
            t, mtbf_s > 0 && isfinite(mtbf_s) ? ridge_format_seconds(chip_s).s : "-");
        ridge_table_cell(t, m->is_reliable        ? "left out as asked"
                            : m->has_mtbf         ? "as told"
                            : m->failures != NULL ? m->failures->name
                                                  : "not known: time leaves them out");
    }
}

/* Kinds with failures counted beside kinds without are not compared evenly. */
static void add_evenness(const ridge_offer_view *v, ridge_sections *s)
{
    bool is_counted[2] = {false, false};
    for (int k = 0; k < v->request->n_kinds; k++) {
        const ridge_offer_kind *kind = &v->request->kinds[k];
        is_counted[ridge_money_mtbf_s(kind->slice, &kind->money) > 0] = true;
    }
    if (is_counted[0] && is_counted[1])
        ridge__section_note(s, "Failures are counted for some kinds alone. `--mtbf "
                               "chip:5y` or `--failures none` treats all alike.");
}

/* How sure the choice is: others whose number lies within the range of the first. */
static void add_doubt(ridge_ctx *cx, const ridge_offer_view *v, ridge_sections *s)
{
    const ridge_offer_study *study = v->study;
    if (study->n_ranked == 0)
        return;
    const ridge_offer *first = &study->offers[0];
    const ridge_range range = ridge_train_range(&first->request, &first->best);
    const double slow = range.high_s / first->best.step_time_s;
    const double slow_s = first->money.days * RIDGE_DAY_S * slow;
    const bool is_timed = v->request->goal != RIDGE_OFFER_GOAL_CHIPS &&
                          v->request->goal != RIDGE_OFFER_GOAL_MEMORY;
    int within = 0;
    for (int i = 1; is_timed && i < study->n_ranked; i++)
        within += study->offers[i].score <= first->score * slow;
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_printf(&b,
                     "The step of %s is between %s and %s, as steps like it were "
                     "measured.",
                     first->request.slice->text, ridge_format_seconds(range.low_s).s,
                     ridge_format_seconds(range.high_s).s);
    if (v->request->goal == RIDGE_OFFER_GOAL_MEMORY)
        ridge_buf_printf(
            &b, " Its fastest layout takes %s and %s of the memory.",
            ridge_format_seconds(first->fastest_step_s).s,
            ridge_format_percent(first->fastest_peak_bytes /
                                 ridge_chip_memory_bytes(first->request.slice->chip))
                .s);
    if (within > 0)
        ridge_buf_printf(&b,
                         " %d of the others would be no worse than it at its slow "
                         "end.",
                         within);
    if (v->request->deadline_s > 0 && slow_s > v->request->deadline_s)
        ridge_buf_printf(&b, " At the slow end it takes %s and misses the deadline.",
                         ridge_format_seconds(slow_s).s);
    ridge__section_note(s, ridge_buf_text(&b));
}

static void build(ridge_ctx *cx, const ridge_offer_view *v, ridge_sections *s)
{
    const ridge_offer_request *q = v->request;
    const ridge_train_request *r = q->request;
    ridge_arena *arena = ridge_ctx_arena(cx);
    s->title = q->deadline_s > 0
                   ? ridge_sprintf(arena, "%s: %s, done within %s", v->model_name,
                                   ridge_offer_goal_what(q->goal),
                                   ridge_format_seconds(q->deadline_s).s)
                   : ridge_sprintf(arena, "%s: %s", v->model_name,
                                   ridge_offer_goal_what(q->goal));
    s->subtitle = ridge_sprintf(
        arena, "%s tokens a step in sequences of %s%s%s",
        ridge_format_count(r->batch_tokens).s, ridge_format_count(r->seq_tokens).s,
        r->total_tokens > 0 ? ", tokens in all: " : "",
        r->total_tokens > 0 ? ridge_format_count(r->total_tokens).s : "");
    ridge__guess_note_add(cx, r->model, s);
    add_ranking(cx, v, s);
    add_doubt(cx, v, s);
    add_best(cx, v, s);
    add_kinds(cx, v, s);
    add_left_out(cx, v, s);
    add_terms(cx, v, s);
    add_evenness(v, s);
    ridge__section_note(s, ridge_sprintf(arena, "%d slice%s. %s layouts covered in %s.",
                                         v->study->n, v->study->n == 1 ? "" : "s",
                                         ridge_format_exact(v->study->covered).s,
                                         ridge_format_seconds(v->study->seconds).s));
}

void ridge_offer_write_text(ridge_ctx *cx, const ridge_offer_view *view,
                            bool with_colour, ridge_buf *out)
{
    ridge_sections s = {0};
    ridge_chart chart;
    build(cx, view, &s);
    ridge__sections_write_text(&s, with_colour, out);
    if (!ridge__offer_chart(cx, view, &chart))
        return;
    ridge_buf_puts(out, "\n");
    ridge_chart_write_text(&chart, CHART_WIDTH, CHART_HEIGHT, with_colour, out);
}

void ridge_offer_write_html(ridge_ctx *cx, const ridge_offer_view *view, ridge_buf *out)
{
    ridge_sections s = {0};
    ridge_chart chart;
    build(cx, view, &s);
    ridge__page_begin(&s, out);
    if (ridge__offer_chart(cx, view, &chart))
        ridge_html_chart(out, &chart);
    ridge__page_end(&s, out);
}
