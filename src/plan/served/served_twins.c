/*
 * Rows that are stated alike and differ in time. Where a model can draft and the row is
 * silent, one that took much less time than its slowest twin drafted: twins of models
 * that cannot draft never lie so far apart (docs/design/served.md).
 */
#include "served_run.h"

#include <stdlib.h>
#include <string.h>

/* of the time a token of a twin that drafted */
static const double QUICKER = 1.3;

typedef struct twin {
    const served_run *run;
    ridge_serving_row *row;
} twin;

static int by_number(double a, double b)
{
    return (a > b) - (a < b);
}

/* 0: the same is stated of both. */
static int compare(const served_run *a, const served_run *b)
{
    const char *const texts[][2] = {{a->source, b->source},
                                    {a->model, b->model},
                                    {a->chip, b->chip},
                                    {a->framework, b->framework},
                                    {a->dtype, b->dtype},
                                    {a->expert_dtype, b->expert_dtype},
                                    {a->cache_dtype, b->cache_dtype}};
    const double numbers[][2] = {
        {a->concurrency, b->concurrency},     {a->request_rate, b->request_rate},
        {a->requests, b->requests},           {a->input_tokens, b->input_tokens},
        {a->output_tokens, b->output_tokens}, {a->cached_tokens, b->cached_tokens},
        {a->budget_tokens, b->budget_tokens}, {(double)a->mode, (double)b->mode},
        {(double)a->chips, (double)b->chips}, {(double)a->drafted, (double)b->drafted}};
    int order = 0;
    for (size_t i = 0; i < RIDGE_COUNT_OF(texts) && order == 0; i++)
        order = strcmp(texts[i][0], texts[i][1]);
    for (size_t i = 0; i < RIDGE_COUNT_OF(numbers) && order == 0; i++)
        order = by_number(numbers[i][0], numbers[i][1]);
    /* a pool is of int64_t alone: no gaps */
    return order != 0 ? order : memcmp(a->pools, b->pools, sizeof a->pools);
}

static int by_statement(const void *a, const void *b)
{
    return compare(((const twin *)a)->run, ((const twin *)b)->run);
}

static double tpot_of(const twin *t)
{
    return t->row->figures[RIDGE_SERVING_METRIC_TPOT].measured;
}

/* The rows from first to before end are stated alike. */
static void mark(const twin *first, const twin *end)
{
    double slowest = 0;
    for (const twin *t = first; t < end; t++)
        slowest = tpot_of(t) > slowest ? tpot_of(t) : slowest;
    for (const twin *t = first; t < end; t++) {
        if (t->row->drafting == RIDGE_DRAFTING_UNSTATED && tpot_of(t) > 0 &&
            tpot_of(t) * QUICKER < slowest)
            t->row->drafting = RIDGE_DRAFTING_TWIN;
    }
}

ridge_status served_twins_mark(ridge_ctx *cx, const served_run *runs,
                               ridge_serving_validation *v)
{
    twin *all = ridge_new(ridge_ctx_arena(cx), twin, (size_t)v->n_rows + 1);
    if (all == NULL)
        return ridge_fail_nomem(cx);
    int n = 0;
    for (int i = 0; i < v->n_rows; i++) {
        if (v->rows[i].is_predicted)
            all[n++] = (twin){&runs[i], &v->rows[i]};
    }
    qsort(all, (size_t)n, sizeof *all, by_statement);
    for (int i = 0, end; i < n; i = end) {
        end = i + 1;
        while (end < n && compare(all[i].run, all[end].run) == 0)
            end++;
        mark(&all[i], &all[end]);
    }
    return RIDGE_OK;
}
