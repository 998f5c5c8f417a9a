/*
 * Measured rows predicted: those of one deployment one after another, on what they
 * share; those that state all the same once.
 */
#include "served_answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

RIDGE_PRINTF(2, 3)
static void set_words(char *out, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(out, SERVED_WORDS_MOST, fmt, args);
    va_end(args);
}

static void describe(const served_deployment *d, char *out)
{
    const served_run *run = &d->run;
    const ridge_serving_layout *l = &d->parts[d->n - 1].layout;
    char at[64] = "";
    if (run->request_rate > 0)
        snprintf(at, sizeof at, ", %g requests/s", run->request_rate);
    else if (run->concurrency > 0)
        snprintf(at, sizeof at, ", %g at once", run->concurrency);
    char degrees[96];
    snprintf(degrees, sizeof degrees, "tp %d", (int)l->tp);
    const struct {
        const char *name;
        int64_t n;
    } more[] = {{"pp", l->pp}, {"ep", l->ep}, {"attention dp", l->attention_dp}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(more); i++) {
        const size_t n = strlen(degrees);
        if (more[i].n > 1)
            snprintf(degrees + n, sizeof degrees - n, " %s %d", more[i].name,
                     (int)more[i].n);
    }
    set_words(out, "%s%s, %s, %g + %g tokens%s", degrees,
              d->n > 1 ? " of generation" : "",
              run->dtype[0] == '\0' ? "own format" : run->dtype, run->input_tokens,
              run->output_tokens, at);
}

static bool has_measure(const served_run *run)
{
    if (run->mode == SERVED_FIT)
        return true;
    for (int i = 0; i < RIDGE_SERVING_METRIC_COUNT; i++) {
        if (run->measured[i] > 0)
            return true;
    }
    return false;
}

static ridge_status predict(ridge_ctx *own, served_shared *shared,
                            const served_run *run, served_gaps *gaps,
                            served_answer *out)
{
    served_deployment d;
    if (run->mode == SERVED_OTHER) {
        return ridge_fail(own, RIDGE_E_ARG, "runs of '%s' are not simulated",
                          run->mode_words);
    }
    if (!has_measure(run))
        return ridge_fail(own, RIDGE_E_ARG, "no time and no rate was measured");
    RIDGE_TRY(served_deployment_find(own, shared, run, gaps, &d));
    out->row.drafting = d.drafting;
    snprintf(out->chip, sizeof out->chip, "%s", d.parts[0].about.slice->chip->name);
    snprintf(out->engine, sizeof out->engine, "%s", d.engine_name);
    describe(&d, out->what);
    return served_predict(own, shared, &d, &out->row);
}

static void set_errors(ridge_serving_row *row)
{
    for (int i = 0; i < RIDGE_SERVING_METRIC_COUNT; i++) {
        ridge_serving_figure *f = &row->figures[i];
        if (f->measured > 0 && f->predicted > 0)
            f->relative_error = f->predicted / f->measured - 1;
    }
}

/* A token in less time than reading the weights once takes: several came of one read.
 */
static bool beats_bound(const ridge_serving_row *row)
{
    const ridge_serving_figure *tpot = &row->figures[RIDGE_SERVING_METRIC_TPOT];
    return tpot->measured > 0 && tpot->measured < row->decode.bound_s;
}

/* A prediction beside what was measured. */
static void compare(const served_run *run, served_answer *out)
{
    ridge_serving_row *row = &out->row;
    row->is_predicted = out->status == RIDGE_OK;
    if (!row->is_predicted)
        return;
    for (int i = 0; i < RIDGE_SERVING_METRIC_COUNT; i++)
        row->figures[i].measured = run->measured[i];
    row->contradiction = served_contradiction(run);
    row->has_fit = run->mode == SERVED_FIT;
    row->fits_measured = run->fits;
    set_errors(row);
    if (row->drafting != RIDGE_DRAFTING_STATED && beats_bound(row))
        row->drafting = RIDGE_DRAFTING_PROVEN;
    row->is_complete =
        out->assumed[0] == '\0' && (row->drafting == RIDGE_DRAFTING_NONE ||
                                    row->drafting == RIDGE_DRAFTING_STATED);
}

static void answer(ridge_ctx *own, served_shared *shared, const served_run *run,
                   served_answer *out)
{
    served_gaps gaps;
    ridge_buf_init(&gaps.text, ridge_ctx_arena(own));
    snprintf(out->chip, sizeof out->chip, "%s", run->chip);
    snprintf(out->engine, sizeof out->engine, "%s", run->framework);
    out->status = predict(own, shared, run, &gaps, out);
    if (out->status != RIDGE_OK)
        set_words(out->why, "%s", ridge_ctx_message(own));
    if (gaps.text.n > 0)
        set_words(out->assumed, "%s", ridge_buf_text(&gaps.text));
}

/* ---- rows of one deployment -------------------------------------------------------
 */

static void fail_all(served_answer *const *out, int n)
{
    for (int i = 0; i < n; i++)
        out[i]->status = RIDGE_E_NOMEM;
}

/* What is only said of a row that has a measure does not stand for one that has none.
 */
static bool stands_for(const served_run *a, const served_run *b)
{
    return has_measure(a) == has_measure(b) && served_run_by_statement(a, b) == 0;
}

void served_group_answer(const served_group *g)
{
    ridge_ctx *own = ridge_ctx_open();
    served_shared *shared =
        own == NULL ? NULL : ridge_new(ridge_ctx_arena(own), served_shared, 1);
    if (shared == NULL) {
        fail_all(g->answers, g->n);
        ridge_ctx_close(own);
        return;
    }
    *shared = (served_shared){
        .catalog = g->catalog, .library = g->library, .model = g->model};
    for (int i = 0, first = 0; i < g->n; i++) {
        if (i > 0 && stands_for(g->runs[first], g->runs[i])) {
            *g->answers[i] = *g->answers[first];
        } else {
            first = i;
            answer(own, shared, g->runs[i], g->answers[i]);
        }
    }
    for (int i = 0; i < g->n; i++)
        compare(g->runs[i], g->answers[i]);
    ridge_ctx_close(own);
}
