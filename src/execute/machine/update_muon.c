/*
 * Muon: a matrix's momentum, made orthogonal by Newton-Schulz steps over all of its
 * rows and columns. Ranks that hold parts share the work by whole matrices: as many
 * matrices of one shape as there are ranks are looked up ahead, each rank works out one
 * of them, and all take their parts of each.
 * @source jordan2024-muon; liu2025-moonlight (size of a step, so that AdamW's rate
 * fits)
 */
#include "whole_matrix.h"

#include <math.h>
#include <string.h>

enum { STEPS = 5 };

/* A polynomial that takes singular values of (0, 1] near 1. @source jordan2024-muon */
static const float FIRST = 3.4445F, THIRD = -4.7750F, FIFTH = 2.0315F;

/* The root mean square of AdamW's usual step. @source liu2025-moonlight section 2.2 */
static const double USUAL_STEP = 0.2;

static ridge_status add_scaled(ridge__call *c, ridge__array y, float by, ridge__array x,
                               int64_t n)
{
    ridge__device *d = c->m->device;
    const ridge__copy copy = {.n_dims = 1,
                              .sizes = {n},
                              .x_strides = {1},
                              .y_strides = {1},
                              .x = x,
                              .y = y,
                              .is_added = true};
    RIDGE_TRY(d->ops->multiply(d, y, n, by)); /* y = by y + x */
    return d->ops->copy(d, &copy);
}

/* m = mu m + g; g becomes g + mu m (Nesterov). */
static ridge_status average(ridge__call *c, ridge__array m, ridge__array g, int64_t n)
{
    const float mu = c->m->optimizer.momentum;
    ridge__device *d = c->m->device;
    RIDGE_TRY(add_scaled(c, m, mu, g, n));
    RIDGE_TRY(add_scaled(c, g, 1.0F / mu, m, n));
    return d->ops->multiply(d, g, n, mu);
}

/* ---- Newton and Schulz
 * -----------------------------------------------------------------
 */

/* One matrix [rows, columns] and what its steps need: g and g2 [low, low], low the
 * smaller side. */
typedef struct iterating {
    ridge__call *c;
    int64_t rows, columns, low;
    ridge__array x, next, g, g2;
} iterating;

static ridge_status multiply(const iterating *s, ridge__gemm p)
{
    p.batch = 1;
    return s->c->m->device->ops->gemm(s->c->m->device, &p);
}

/* g = x x^T, or x^T x: of the smaller side. */
static ridge_status square(const iterating *s)
{
    const bool is_wide = s->rows == s->low;
    return multiply(s, (ridge__gemm){.m = s->low,
                                     .n = s->low,
                                     .k = is_wide ? s->columns : s->rows,
                                     .a = s->x,
                                     .b = s->x,
                                     .c = s->g,
                                     .lda = s->columns,
                                     .ldb = s->columns,
                                     .ldc = s->low,
                                     .is_a_transposed = !is_wide,
                                     .is_b_transposed = is_wide});
}

/* next = p x, or x p, p [low, low]. */
static ridge_status apply(const iterating *s, ridge__array p)
{
    const bool is_wide = s->rows == s->low;
    return multiply(s, (ridge__gemm){.m = s->rows,
                                     .n = s->columns,
                                     .k = s->low,
                                     .a = is_wide ? p : s->x,
                                     .b = is_wide ? s->x : p,
                                     .c = s->next,
                                     .lda = is_wide ? s->low : s->columns,
                                     .ldb = s->columns,
                                     .ldc = s->columns});
}

/* x = FIRST x + (THIRD g + FIFTH g g) x */
static ridge_status step(const iterating *s)
{
    const int64_t n = s->low * s->low;
    RIDGE_TRY(square(s));
    RIDGE_TRY(multiply(s, (ridge__gemm){.m = s->low,
                                        .n = s->low,
                                        .k = s->low,
                                        .a = s->g,
                                        .b = s->g,
                                        .c = s->g2,
                                        .lda = s->low,
                                        .ldb = s->low,
                                        .ldc = s->low}));
    RIDGE_TRY(add_scaled(s->c, s->g2, FIFTH / THIRD, s->g, n));
    RIDGE_TRY(s->c->m->device->ops->multiply(s->c->m->device, s->g2, n, THIRD));
    RIDGE_TRY(apply(s, s->g2));
    return add_scaled(s->c, s->x, FIRST, s->next, s->rows * s->columns);
}

static ridge_status make_orthogonal(const iterating *s)
{
    static const double LEAST_NORM = 1e-7;
    ridge__device *d = s->c->m->device;
    const int64_t n = s->rows * s->columns;
    double squares;
    RIDGE_TRY(d->ops->sum_of_squares(d, s->x, n, &squares));
    RIDGE_TRY(
        d->ops->multiply(d, s->x, n, (float)(1.0 / (sqrt(squares) + LEAST_NORM))));
    for (int i = 0; i < STEPS; i++)
        RIDGE_TRY(step(s));
    return RIDGE_OK;
}

static ridge_status iterate(ridge__call *c, const ridge__local_matrix *x,
                            ridge__array whole)
{
    const int64_t rows = x->whole_rows, columns = x->whole_columns;
    iterating s = {.c = c, .rows = rows, .columns = columns};
    s.low = rows < columns ? rows : columns;
    RIDGE_TRY(ridge__scratch_take(c, rows * columns, RIDGE_DTYPE_FP32, &s.next));
    RIDGE_TRY(ridge__scratch_take(c, s.low * s.low, RIDGE_DTYPE_FP32, &s.g));
    RIDGE_TRY(ridge__scratch_take(c, s.low * s.low, RIDGE_DTYPE_FP32, &s.g2));
    for (int64_t b = 0; b < x->batch; b++) {
        s.x = (ridge__array){(float *)whole.p + b * rows * columns, RIDGE_DTYPE_FP32};
        RIDGE_TRY(make_orthogonal(&s));
    }
    ridge__scratch_give(c, &s.next);
    ridge__scratch_give(c, &s.g);
    ridge__scratch_give(c, &s.g2);
    return RIDGE_OK;
}

/* ---- matrices by ranks -------------------------------------------------------------
 */

/* An update with its matrix, and who has the rest of it. */
typedef struct muon_job {
    ridge__call call;
    ridge__local_matrix x;
    ridge__matrix_ranks ranks;
    int first; /* input of the momentum */
} muon_job;

static ridge_status fail_matrix(const ridge__call *c)
{
    return ridge_fail(c->m->cx, RIDGE_E_INTERNAL, "muon: %s is no matrix",
                      ridge__in_tensor(c, 0)->name);
}

static bool job_of(const ridge__call *c, const ridge__instruction *at, muon_job *out)
{
    ridge__call *own = &out->call;
    *own = (ridge__call){
        .m = c->m, .flight = c->flight, .at = at, .op = &c->m->program->ops[at->op]};
    if (own->op->code != RIDGE_OPCODE_UPDATE || own->op->rule != RIDGE_UPDATE_RULE_MUON)
        return false;
    for (int i = 0; i < own->op->n_inputs; i++)
        own->in[i] = ridge__machine_value(c->m, c->flight, at->in[i]);
    out->first = ridge__update_first_state(own);
    if (!ridge__local_matrix_of(own, out->first, &out->x))
        return false;
    out->ranks = ridge__matrix_ranks_of(own, out->first, &out->x);
    return own->in[1]->p != NULL && own->in[out->first]->p != NULL;
}

static int64_t elements_of(const ridge__local_matrix *x)
{
    return x->batch * x->whole_rows * x->whole_columns;
}

static bool is_alike(const muon_job *a, const muon_job *b)
{
    return a->x.batch == b->x.batch && a->x.whole_rows == b->x.whole_rows &&
           a->x.whole_columns == b->x.whole_columns && a->ranks.n == b->ranks.n &&
           memcmp(a->ranks.axes, b->ranks.axes,
                  (size_t)a->ranks.n * sizeof *a->ranks.axes) == 0;
}

/* Where what has been worked out ahead is kept: this rank's part of an instruction's
 * orthogonal matrix. */
static ridge__array *kept_part(const ridge__machine *m, const ridge__instruction *at)
{
    return &m->muon_parts[at - m->unrolled.lists[RIDGE__LIST_UPDATE].at];
}

/* This update and those behind it that are alike, one for each rank.
 * @return how many */
static int find_jobs(ridge__call *c, muon_job *jobs)
{
    const ridge__list *list = &c->m->unrolled.lists[RIDGE__LIST_UPDATE];
    int n = 0;
    for (const ridge__instruction *at = c->at; at < list->at + list->n; at++) {
        muon_job *job = &jobs[n];
        if (job_of(c, at, job) && kept_part(c->m, at)->p == NULL &&
            (n == 0 || is_alike(job, &jobs[0])))
            n++;
        if (n == jobs[0].ranks.ranks)
            break;
    }
    return n;
}

/* The momentum of a matrix, whole: on its owner alone, *out is none elsewhere. */
static ridge_status collect(muon_job *job, bool is_owner, ridge__array *out)
{
    ridge__call *c = &job->call;
    ridge__array g, whole;
    RIDGE_TRY(ridge__update_gradient(c, &g));
    RIDGE_TRY(
        average(c, ridge__in_array(c, job->first), g, c->in[job->first]->elements));
    RIDGE_TRY(ridge__matrix_gather(c, job->first, &job->x, g, &whole));
    if (is_owner)
        *out = whole;
    else
        ridge__scratch_give(c, &whole);
    return RIDGE_OK;
}

/* Part of what the owner has worked out. */
static ridge_status deal_out(muon_job *job, int owner, ridge__array own,
                             ridge__array *part)
{
    ridge__call *c = &job->call;
    const int64_t n = elements_of(&job->x);
    ridge__array whole = own;
    if (job->ranks.rank != owner)
        RIDGE_TRY(ridge__scratch_take(c, n, RIDGE_DTYPE_FP32, &whole));
    RIDGE_TRY(ridge__matrix_broadcast(c, &job->ranks, owner, whole, n));
    RIDGE_TRY(ridge__matrix_take_part(c, job->first, &job->x, whole, part));
    ridge__scratch_give(c, &whole);
    return RIDGE_OK;
}

static ridge_status work_ahead(ridge__call *c, muon_job *jobs)
{
    ridge__array own = {.p = NULL};
    const int n = find_jobs(c, jobs);
    if (n == 0)
        return fail_matrix(c);
    const int rank = jobs[0].ranks.rank;
    for (int i = 0; i < n; i++)
        RIDGE_TRY(collect(&jobs[i], rank == i, &own));
    if (own.p != NULL)
        RIDGE_TRY(iterate(c, &jobs[rank].x, own));
    for (int i = 0; i < n; i++)
        RIDGE_TRY(deal_out(&jobs[i], i, own, kept_part(c->m, jobs[i].call.at)));
    return RIDGE_OK;
}

static ridge_status prepare(ridge__call *c)
{
    ridge_arena *scratch = ridge_ctx_scratch(c->m->cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    muon_job *jobs = ridge_new(scratch, muon_job, RIDGE_RANK_MAX);
    const ridge_status st = jobs ? work_ahead(c, jobs) : ridge_fail_nomem(c->m->cx);
    ridge_arena_rewind(scratch, mark);
    return st;
}

static ridge_status open_parts(ridge__machine *m)
{
    const int n = m->unrolled.lists[RIDGE__LIST_UPDATE].n;
    if (m->muon_parts == NULL)
        m->muon_parts = ridge_new(ridge_ctx_arena(m->cx), ridge__array, (size_t)n + 1);
    return m->muon_parts ? RIDGE_OK : ridge_fail_nomem(m->cx);
}

ridge_status ridge__update_muon(ridge__call *c)
{
    ridge__local_matrix x;
    if (!ridge__local_matrix_of(c, ridge__update_first_state(c), &x))
        return fail_matrix(c);
    RIDGE_TRY(open_parts(c->m));
    ridge__array *part = kept_part(c->m, c->at);
    if (part->p == NULL)
        RIDGE_TRY(prepare(c));
    const double side = fmax((double)x.whole_rows, (double)x.whole_columns);
    RIDGE_TRY(ridge__update_step(c, *part, (float)(USUAL_STEP * sqrt(side))));
    ridge__scratch_give(c, part);
    return RIDGE_OK;
}
