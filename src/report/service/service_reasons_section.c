/* Why others come after, what if, relaxations, sensitivity. */
#include "service_sections.h"
#include "service_text.h"

#include <math.h>

static ridge_text change_text(double change)
{
    ridge_text t;
    snprintf(t.s, sizeof t.s, "%+.1f %%", 100 * change);
    return t;
}

/* ---- the others -------------------------------------------------------------------
 */

/* Deployments nearer to each other than measured ones are predicted. */
static const double TELL_APART = 0.05;

static void put_difference(ridge_buf *b, const ridge_service_difference *d)
{
    if (d->part < 0)
        ridge_buf_printf(b, "%.3gx as many sequences a chip", d->change);
    else
        ridge_buf_printf(
            b, "%s %c%s", ridge_serving_part_text((ridge_serving_part)d->part),
            d->change < 0 ? '-' : '+', ridge_format_seconds(fabs(d->change)).s);
}

void ridge__service_others_add(ridge_ctx *cx, const ridge_service_view *v,
                               ridge_sections *s)
{
    const ridge_service_result *r = v->result;
    const bool is_latency = v->request->aim == RIDGE_SERVICE_AIM_LATENCY;
    bool has_tie = false;
    if (r->n_layouts < 2)
        return;
    ridge_table *t = ridge__section_add(cx, s, "Why the others come after",
                                        ">#|>tok/s/chip|>E2E||where");
    for (int i = 1; i < r->n_layouts; i++) {
        const ridge_service_price *best = &r->layouts[0];
        const ridge_service_price *p = &r->layouts[i];
        ridge_service_difference d[RIDGE_SERVICE_DIFFERENCE_MAX];
        const int n = ridge_service_differences(best, p, d);
        ridge_buf where;
        ridge_buf_init(&where, ridge_ctx_arena(cx));
        for (int k = 0; k < n; k++) {
            ridge_buf_puts(&where, k == 0 ? "" : ", ");
            put_difference(&where, &d[k]);
        }
        const double rate = p->tokens_per_s_per_chip / best->tokens_per_s_per_chip - 1;
        const double slow =
            p->latency_s[RIDGE_SERVICE_E2E] / best->latency_s[RIDGE_SERVICE_E2E] - 1;
        const bool is_tie = is_latency ? slow < TELL_APART : rate > -TELL_APART;
        has_tie = has_tie || is_tie;
        ridge_table_cellf(t, "%d", i + 1);
        ridge_table_cell(t, change_text(rate).s);
        ridge_table_cell(t, change_text(slow).s);
        ridge_table_cell(t, is_tie ? "near tie" : "");
        ridge_table_cell(t, n == 0 ? "parts alike" : ridge_buf_text(&where));
    }
    if (has_tie)
        ridge__section_note(s,
                            "Near tie: within 5 %, which is less than predictions are "
                            "off from measured services (docs/accuracy.md); measure "
                            "both. Parts are of the time between tokens.");
    else
        ridge__section_note(s, "Parts are of the time between tokens.");
}

/* ---- what was asked for -----------------------------------------------------------
 */

static void add_answer(ridge_ctx *cx, ridge_table *t, const char *name,
                       const ridge_service_price *p, const ridge_service_price *before)
{
    ridge_table_cell(t, name);
    if (p == NULL) {
        for (int i = 0; i < 5; i++)
            ridge_table_cell(t, "-");
        ridge_table_cell(t, "does not keep the goals");
        return;
    }
    ridge_table_cell(t, ridge_format_seconds(p->latency_s[RIDGE_SERVICE_TTFT]).s);
    ridge_table_cell(t, ridge_format_seconds(p->latency_s[RIDGE_SERVICE_TPOT]).s);
    ridge_table_cell(t, ridge_format_count(p->tokens_per_s_per_chip).s);
    ridge_table_cell(
        t, change_text(p->tokens_per_s_per_chip / before->tokens_per_s_per_chip - 1).s);
    ridge_table_cell(t,
                     ridge__batch_text(p->choice.pools[p->choice.n_pools - 1].batch).s);
    ridge_table_cell(t, ridge__service_choice_text(cx, &p->choice));
}

static void add_what_if(ridge_ctx *cx, const ridge_service_view *v, ridge_sections *s)
{
    const ridge_service_reasons *r = v->reasons;
    if (r->what_if_text == NULL || v->result->n_layouts == 0)
        return;
    const ridge_service_price *before = &v->result->layouts[0];
    const char *title =
        ridge_sprintf(ridge_ctx_arena(cx), "What if %s", r->what_if_text);
    ridge_table *t =
        ridge__section_add(cx, s, title == NULL ? "What if" : title,
                           "then|>TTFT|>TPOT|>tok/s/chip|>change|>batch|layout");
    add_answer(cx, t, "as it is", before, before);
    add_answer(cx, t, "the same layout", r->what_if.has_same ? &r->what_if.same : NULL,
               before);
    add_answer(cx, t, "the best layout", r->what_if.has_best ? &r->what_if.best : NULL,
               before);
}

static void add_relaxations(ridge_ctx *cx, const ridge_service_view *v,
                            ridge_sections *s)
{
    const ridge_service_reasons *r = v->reasons;
    const bool is_mended = v->result->n_layouts == 0;
    const bool is_latency = v->request->aim == RIDGE_SERVICE_AIM_LATENCY;
    if (r->n_relaxations == 0)
        return;
    ridge_table *t = ridge__section_add(
        cx, s, is_mended ? "What would do" : "If one limit were otherwise",
        is_mended ? "change|>TTFT|>TPOT|>tok/s/chip|what|>batch|layout"
                  : "change|>TTFT|>TPOT|>tok/s/chip|>gain|what|>batch|layout");
    for (int i = 0; i < r->n_relaxations; i++) {
        const ridge_service_relaxation *x = &r->relaxations[i];
        const ridge_service_price *p = &x->best;
        ridge_table_cell(t, x->name);
        ridge_table_cell(t, ridge_format_seconds(p->latency_s[RIDGE_SERVICE_TTFT]).s);
        ridge_table_cell(t, ridge_format_seconds(p->latency_s[RIDGE_SERVICE_TPOT]).s);
        ridge_table_cell(t, ridge_format_count(p->tokens_per_s_per_chip).s);
        if (!is_mended)
            ridge_table_cell(t, change_text(x->change).s);
        ridge_table_cell(t, x->what);
        ridge_table_cell(
            t, ridge__batch_text(p->choice.pools[p->choice.n_pools - 1].batch).s);
        ridge_table_cell(t, ridge__service_choice_text(cx, &p->choice));
    }
    if (is_mended)
        ridge__section_note(s, "Each change by itself; of larger slices the smallest.");
    else
        ridge__section_note(s, is_latency ? "gain: of speed to the last token."
                                          : "gain: of tokens/s a paid chip.");
}

void ridge__service_sensitivities_add(ridge_ctx *cx,
                                      const ridge_service_sensitivity *all, int n,
                                      ridge_sections *s)
{
    if (n == 0)
        return;
    ridge_table *t =
        ridge__section_add(cx, s, "Sensitivity of the deployment",
                           "if|>TTFT|>TPOT|>tok/s/chip|>at its best batch");
    for (int i = 0; i < n; i++) {
        ridge_table_cell(t, all[i].name);
        ridge_table_cell(t, change_text(all[i].ttft).s);
        ridge_table_cell(t, change_text(all[i].tpot).s);
        ridge_table_cell(t, change_text(all[i].throughput).s);
        ridge_table_cell(t, all[i].has_best ? change_text(all[i].best).s : "-");
    }
    ridge__section_note(s, "At the same batch; the last column lets the batch change.");
}

void ridge__service_reasons_add(ridge_ctx *cx, const ridge_service_view *v,
                                ridge_sections *s)
{
    if (v->reasons == NULL)
        return;
    add_what_if(cx, v, s);
    add_relaxations(cx, v, s);
    ridge__service_sensitivities_add(cx, v->reasons->sensitivity,
                                     v->reasons->n_sensitivity, s);
}
