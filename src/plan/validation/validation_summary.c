/*
 * Distributions of errors over the rows of a file and over those of a chip, a source or
 * a stack; and whether layouts of one model stand in the right order. A plan that its
 * source ran twice, much slower once, was disturbed that time (other users of the
 * network, a bad node), and so was one that differs from a much faster one in the batch
 * alone: the slower row is told apart and not counted.
 */
#include "validation_summary.h"

#include "error_summary.h"

#include <math.h>
#include <string.h>

/* Slower than the same plan by this, or than a like one by more: disturbed. */
static const double REPEAT_FACTOR = 1.25;
static const double SIBLING_FACTOR = 1.5;
/* Predicted no slower than a like plan by more than this. */
static const double SIBLING_SHARE = 1.1;

/* Layouts that were measured this close stand in no order. */
static const double TIE_SHARE = 0.02;

enum { RANKED_LEAST = 5, REPEATS_MOST = 4096 };

/* ---- disturbed runs -------------------------------------------------------------- */

/* The same mesh: what is left to differ is format, software and batch. */
static bool is_same_mesh(const ridge_validation_row *a, const ridge_validation_row *b)
{
    const ridge_layout *x = &a->price.layout;
    const ridge_layout *y = &b->price.layout;
    return a->is_predicted && b->is_predicted && strcmp(a->source, b->source) == 0 &&
           strcmp(a->model, b->model) == 0 && strcmp(a->chip, b->chip) == 0 &&
           x->dp == y->dp && x->fsdp == y->fsdp && x->tp == y->tp && x->cp == y->cp &&
           x->pp == y->pp && x->ep == y->ep && x->vpp == y->vpp;
}

/* The same plan of the same software but for the batch. */
static bool is_sibling(const ridge_validation_row *a, const ridge_validation_row *b)
{
    return is_same_mesh(a, b) && strcmp(a->stack, b->stack) == 0 &&
           strcmp(a->assumed, b->assumed) == 0 &&
           strcmp(a->plan_words, b->plan_words) == 0;
}

static double predicted_rank(const ridge_validation_row *r)
{
    return r->chip_s_per_token * (1 + r->relative_error);
}

/* A plan that is predicted to take as long as its sibling, and took much longer. */
static bool is_slowed(const ridge_validation_row *r, const ridge_validation_row *other)
{
    const double predicted = predicted_rank(r) / predicted_rank(other);
    const double measured = r->chip_s_per_token / other->chip_s_per_token;
    const bool is_repeat = r->predicted_step_s == other->predicted_step_s;
    return is_sibling(r, other) && predicted < SIBLING_SHARE &&
           measured > (is_repeat ? REPEAT_FACTOR : SIBLING_FACTOR);
}

static void mark_disturbed(ridge_validation *v)
{
    for (int i = 0; i < v->n_rows; i++) {
        ridge_validation_row *r = &v->rows[i];
        for (int j = 0; j < v->n_rows && r->is_predicted && !r->is_disturbed; j++)
            r->is_disturbed = j != i && is_slowed(r, &v->rows[j]);
        v->n_disturbed += r->is_disturbed ? 1 : 0;
    }
}

/* ---- distributions --------------------------------------------------------------- */

typedef enum row_set { SET_ALL, SET_COMPLETE, SET_ASSUMED, SET_MEMORY } row_set;

static bool is_in(const ridge_validation_row *r, row_set set)
{
    if (!r->is_predicted || r->is_disturbed)
        return false;
    switch (set) {
    case SET_ALL:
        return true;
    case SET_COMPLETE:
        return r->is_complete;
    case SET_ASSUMED:
        return !r->is_complete;
    case SET_MEMORY:
        return r->has_memory;
    }
    return false;
}

static double error_of(const ridge_validation_row *r, row_set set)
{
    return set == SET_MEMORY ? r->predicted_memory_bytes / r->measured_memory_bytes - 1
                             : r->relative_error;
}

static ridge_error_summary summarise_set(const ridge_validation *v, row_set set,
                                         const char *name, double *scratch)
{
    int n = 0;
    for (int i = 0; i < v->n_rows; i++) {
        if (is_in(&v->rows[i], set))
            scratch[n++] = error_of(&v->rows[i], set);
    }
    return error_summarise(name, scratch, n);
}

typedef const char *name_of(const ridge_validation_row *r);

static const char *chip_of(const ridge_validation_row *r)
{
    return r->chip;
}

static const char *source_of(const ridge_validation_row *r)
{
    return r->source;
}

static const char *stack_of(const ridge_validation_row *r)
{
    return r->stack == NULL || r->stack[0] == '\0' ? "well-tuned" : r->stack;
}

/* One summary for each name, in the order of the file; names without a row of the set
 * are left out. */
static int summarise_by(const ridge_validation *v, name_of *name, row_set set,
                        double *scratch, ridge_error_summary *out)
{
    int groups = 0;
    for (int i = 0; i < v->n_rows && groups < RIDGE_SUMMARY_MAX; i++) {
        if (!is_in(&v->rows[i], set))
            continue;
        const char *own = name(&v->rows[i]);
        int g = 0;
        while (g < groups && strcmp(out[g].name, own) != 0)
            g++;
        if (g < groups)
            continue;
        int n = 0;
        for (int j = i; j < v->n_rows; j++) {
            if (is_in(&v->rows[j], set) && strcmp(name(&v->rows[j]), own) == 0)
                scratch[n++] = error_of(&v->rows[j], set);
        }
        out[groups++] = error_summarise(own, scratch, n);
    }
    return groups;
}

/* ---- order ----------------------------------------------------------------------- */

static bool is_ranked_with(const ridge_validation_row *a, const ridge_validation_row *b)
{
    return is_in(b, SET_ALL) && strcmp(a->source, b->source) == 0 &&
           strcmp(a->model, b->model) == 0;
}

/* One plan, as far as the source tells and Ridge prices it: run twice, or on releases
 * of software that do not differ for it. There is no order of two such. */
static bool is_told_alike(const ridge_validation_row *a, const ridge_validation_row *b)
{
    return is_same_mesh(a, b) && strcmp(a->format, b->format) == 0 &&
           a->predicted_step_s == b->predicted_step_s;
}

static int repeats_of(const ridge_validation *v, const char *source, double *out)
{
    int n = 0;
    for (int i = 0; i < v->n_rows; i++) {
        const ridge_validation_row *a = &v->rows[i];
        for (int j = 0; j < i && is_in(a, SET_ALL); j++) {
            const ridge_validation_row *b = &v->rows[j];
            if (n == REPEATS_MOST || !is_in(b, SET_ALL) || !is_told_alike(a, b) ||
                strcmp(a->source, source) != 0)
                continue;
            out[n++] = log(a->chip_s_per_token / b->chip_s_per_token);
        }
    }
    return n;
}

/* Nine of ten pairs of runs of one plan differ by no more; 0: the source ran none
 * twice. */
static double repeats_differ(const ridge_validation *v, const char *source,
                             double *scratch)
{
    const int n = repeats_of(v, source, scratch);
    return exp(error_summarise(source, scratch, n).p90_abs) - 1;
}

/* Kendall's tau of chip-seconds a token over the rows that go with row first; pairs
 * of one plan, and those that were measured within tie of each other, do not count. */
static double tau_of(const ridge_validation *v, int first, double tie, int *pairs)
{
    const ridge_validation_row *a = &v->rows[first];
    int agreeing = 0;
    *pairs = 0;
    for (int i = first; i < v->n_rows; i++) {
        for (int j = first; j < i && is_ranked_with(a, &v->rows[i]); j++) {
            if (!is_ranked_with(a, &v->rows[j]) ||
                is_told_alike(&v->rows[i], &v->rows[j]))
                continue;
            const double x = v->rows[i].chip_s_per_token;
            const double y = v->rows[j].chip_s_per_token;
            const double order =
                predicted_rank(&v->rows[i]) - predicted_rank(&v->rows[j]);
            if (fabs(x - y) <= tie * fmin(x, y))
                continue;
            ++*pairs;
            agreeing += order == 0 ? 0 : (x > y) == (order > 0) ? 1 : -1;
        }
    }
    return *pairs > 0 ? (double)agreeing / (double)*pairs : 0;
}

static ridge_ranking rank_rows(const ridge_validation *v, int first, double *scratch)
{
    const ridge_validation_row *a = &v->rows[first];
    ridge_ranking ranking = {.source = a->source, .model = a->model};
    for (int i = first; i < v->n_rows; i++)
        ranking.rows += is_ranked_with(a, &v->rows[i]) ? 1 : 0;
    ranking.tau = tau_of(v, first, TIE_SHARE, &ranking.pairs);
    ranking.repeats_differ = repeats_differ(v, a->source, scratch);
    ranking.tau_beyond = tau_of(v, first, fmax(TIE_SHARE, ranking.repeats_differ),
                                &ranking.pairs_beyond);
    return ranking;
}

static bool is_first_of_its_kind(const ridge_validation *v, int row)
{
    for (int i = 0; i < row; i++) {
        if (is_in(&v->rows[i], SET_ALL) && is_ranked_with(&v->rows[i], &v->rows[row]))
            return false;
    }
    return is_in(&v->rows[row], SET_ALL);
}

static void rank_all(ridge_validation *v, double *scratch)
{
    for (int i = 0; i < v->n_rows && v->n_rankings < RIDGE_SUMMARY_MAX; i++) {
        if (!is_first_of_its_kind(v, i))
            continue;
        const ridge_ranking r = rank_rows(v, i, scratch);
        if (r.rows >= RANKED_LEAST && r.pairs > 0)
            v->rankings[v->n_rankings++] = r;
    }
}

ridge_status validation_summarise(ridge_ctx *cx, ridge_validation *v)
{
    double *scratch =
        ridge_new(ridge_ctx_arena(cx), double, (size_t)v->n_rows + REPEATS_MOST);
    if (scratch == NULL)
        return ridge_fail_nomem(cx);
    mark_disturbed(v);
    for (int i = 0; i < v->n_rows; i++) {
        v->n_predicted += v->rows[i].is_predicted ? 1 : 0;
        v->n_complete += v->rows[i].is_complete ? 1 : 0;
    }
    v->all = summarise_set(v, SET_ALL, "all rows", scratch);
    v->complete = summarise_set(v, SET_COMPLETE, "plan stated whole", scratch);
    v->assumed = summarise_set(v, SET_ASSUMED, "something assumed", scratch);
    v->memory = summarise_set(v, SET_MEMORY, "peak memory", scratch);
    v->n_by_chip = summarise_by(v, chip_of, SET_ALL, scratch, v->by_chip);
    v->n_complete_by_chip =
        summarise_by(v, chip_of, SET_COMPLETE, scratch, v->complete_by_chip);
    v->n_by_source = summarise_by(v, source_of, SET_ALL, scratch, v->by_source);
    v->n_by_stack = summarise_by(v, stack_of, SET_ALL, scratch, v->by_stack);
    v->n_memory_by_source =
        summarise_by(v, source_of, SET_MEMORY, scratch, v->memory_by_source);
    rank_all(v, scratch);
    return RIDGE_OK;
}
