/*
 * Strategies on real ranks: fill the operands, run the program, compare, take times.
 * All ranks come to the same result, so that it can be told by any.
 */
#include "strategy_run.h"

#include "kernel_bf16.h"
#include "machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Timed runs go on for this long, if their number is left open. */
static const double TIMED_S = 0.3;

enum { REPEATS_LEAST = 3 };

ridge_status ridge_draw_parse(ridge_ctx *cx, const char *text, ridge_draw *out)
{
    static const char *const texts[] = {
#define DRAW_TEXT(name, text, what) text,
        RIDGE_DRAW_LIST(DRAW_TEXT)
#undef DRAW_TEXT
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(texts); i++) {
        if (strcmp(text, texts[i]) == 0) {
            *out = (ridge_draw)i;
            return RIDGE_OK;
        }
    }
    return ridge_fail(cx, RIDGE_E_NOTFOUND, "no numbers are called '%s': whole or real",
                      text);
}

/* What all ranks share. */
typedef struct work {
    const ridge_strategy_run *run;
    ridge__expr_truth truth;
    const ridge__strategy_program *programs; /* [n] */
    ridge_strategy_result *results;          /* [n]: the leading rank writes */
} work;

/* One rank with one strategy. */
typedef struct rank_run {
    ridge_ctx *cx;
    const work *work;
    ridge_comm *world;
    ridge__device *device;
    const ridge__strategy_program *program;
    ridge__machine *m;
    ridge__flight flight;
} rank_run;

/* ---- arrays in and out --------------------------------------------------------------
 */

static void put_number(void *array, ridge_dtype dtype, int64_t i, double x)
{
    if (dtype == RIDGE_DTYPE_BF16)
        ((uint16_t *)array)[i] = ridge__bf16_of_float((float)x);
    else
        ((float *)array)[i] = (float)x;
}

static double get_number(const void *array, ridge_dtype dtype, int64_t i)
{
    return dtype == RIDGE_DTYPE_BF16
               ? (double)ridge__float_of_bf16(((const uint16_t *)array)[i])
               : (double)((const float *)array)[i];
}

/* Place in the whole array of local element i; -1: padding. */
static int64_t whole_place(const ridge__machine *m, int tensor, int64_t i)
{
    const ridge__tensor_part *part = &m->parts[tensor];
    const ridge_tensor *t = &m->program->tensors[tensor];
    int64_t place = 0, stride = 1;
    bool is_padding = false;
    for (int d = part->n_dims - 1; d >= 0; d--) {
        const int64_t at = i % part->spans[d].length;
        i /= part->spans[d].length;
        is_padding = is_padding || at >= part->spans[d].valid;
        place += (part->spans[d].start + at) * stride;
        stride *= m->program->dims[t->dims[d]].size;
    }
    return is_padding ? -1 : place;
}

/* Which of the pieces of partial sums this rank holds. */
static int64_t piece_of(const ridge__machine *m, unsigned partial)
{
    int64_t piece = 0;
    for (int a = 0; a < m->partition->mesh.n; a++) {
        if (partial >> a & 1u)
            piece = piece * m->partition->mesh.axes[a].size + m->coords[a];
    }
    return piece;
}

static size_t bytes_of(const ridge__value *v)
{
    return (size_t)v->elements * (size_t)ridge_dtype_bytes(v->dtype);
}

static ridge_status fill_operand(rank_run *r, int operand)
{
    const int tensor = r->program->inputs[operand];
    ridge__value *v = &r->m->fixed[r->m->unrolled.first_value[tensor]];
    ridge_arena *scratch = ridge_ctx_scratch(r->cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    const int64_t piece = piece_of(r->m, r->m->partition->shardings[tensor].partial);
    char *host = ridge_new(scratch, char, bytes_of(v));
    if (host == NULL)
        return ridge_fail_nomem(r->cx);
    for (int64_t i = 0; i < v->elements; i++) {
        const int64_t place = whole_place(r->m, tensor, i);
        put_number(host, v->dtype, i,
                   place < 0
                       ? 0.0
                       : ridge__expr_value(&r->work->truth, operand, place, piece));
    }
    const ridge_status st = r->device->ops->upload(r->device, v->p, host, bytes_of(v));
    ridge_arena_rewind(scratch, mark);
    return st;
}

/* ---- what ranks agree on ------------------------------------------------------------
 */

/* Each number becomes the largest of all ranks'. */
static ridge_status agree(rank_run *r, float *numbers, int n)
{
    const ridge__device_ops *ops = r->device->ops;
    const size_t bytes = (size_t)n * sizeof *numbers;
    ridge_pending pending;
    void *p;
    RIDGE_TRY(ops->alloc(r->device, bytes, &p));
    RIDGE_TRY(ops->upload(r->device, p, numbers, bytes));
    RIDGE_TRY(ops->finish(r->device));
    RIDGE_TRY(ridge_all_reduce_start(r->cx, r->world, RIDGE_ELEMENT_F32,
                                     RIDGE_REDUCE_MAX, n, p, p, &pending));
    RIDGE_TRY(ridge_comm_wait(r->cx, &pending));
    RIDGE_TRY(ops->download(r->device, numbers, p, bytes));
    ops->release(r->device, p);
    return RIDGE_OK;
}

/* The ranks that differ in these axes alone. */
static ridge_status group_of(rank_run *r, unsigned axes, ridge_comm **out)
{
    int list[RIDGE_MESH_AXIS_MAX], n = 0;
    for (int a = 0; a < r->m->partition->mesh.n; a++) {
        if (axes >> a & 1u)
            list[n++] = a;
    }
    return ridge_comm_axes(r->cx, r->world, &r->m->partition->mesh, list, n, out);
}

/* ---- comparing ----------------------------------------------------------------------
 */

/* The result as this rank holds it. */
typedef struct held {
    const ridge__value *value;
    int tensor;
    unsigned partial;
    char *host;   /* its bytes */
    float errors; /* the largest */
    bool has_dirt, differs;
} held;

/* Partial sums are wanted: what they come to, in place of the rank's own. */
static ridge_status add_up(rank_run *r, held *h)
{
    const ridge__device_ops *ops = r->device->ops;
    const ridge__value *v = h->value;
    ridge_comm *group;
    ridge_pending pending;
    void *p;
    if (h->partial == 0)
        return RIDGE_OK;
    RIDGE_TRY(group_of(r, h->partial, &group));
    RIDGE_TRY(ops->alloc(r->device, bytes_of(v), &p));
    RIDGE_TRY(ridge_all_reduce_start(r->cx, group, ridge__element_of(v->dtype),
                                     RIDGE_REDUCE_SUM, v->elements, v->p, p, &pending));
    RIDGE_TRY(ridge_comm_wait(r->cx, &pending));
    RIDGE_TRY(ops->download(r->device, h->host, p, bytes_of(v)));
    ops->release(r->device, p);
    return RIDGE_OK;
}

/* The neighbour among those that should hold the same has the same bits; all around the
 * ring, so all do. */
static ridge_status compare_replicas(rank_run *r, held *h)
{
    const ridge__device_ops *ops = r->device->ops;
    const ridge__value *v = h->value;
    const unsigned used = ridge_sharding_axes(&r->m->partition->shardings[h->tensor]);
    ridge_arena *scratch = ridge_ctx_scratch(r->cx);
    ridge_comm *group;
    ridge_pending pending;
    void *p;
    RIDGE_TRY(group_of(r, ~used, &group));
    char *other = ridge_new(scratch, char, bytes_of(v));
    if (other == NULL)
        return ridge_fail_nomem(r->cx);
    RIDGE_TRY(ops->alloc(r->device, bytes_of(v), &p));
    RIDGE_TRY(ridge_permute_start(r->cx, group, ridge__element_of(v->dtype),
                                  v->elements, 1, v->p, p, &pending));
    RIDGE_TRY(ridge_comm_wait(r->cx, &pending));
    RIDGE_TRY(ops->download(r->device, other, p, bytes_of(v)));
    ops->release(r->device, p);
    h->differs = memcmp(other, h->host, bytes_of(v)) != 0;
    return RIDGE_OK;
}

static void compare_padding(const rank_run *r, held *h)
{
    for (int64_t i = 0; i < h->value->elements; i++) {
        if (whole_place(r->m, h->tensor, i) < 0 &&
            !(get_number(h->host, h->value->dtype, i) == 0.0))
            h->has_dirt = true;
    }
}

static void compare_numbers(const rank_run *r, held *h)
{
    double most = 0.0;
    for (int64_t i = 0; i < h->value->elements; i++) {
        const int64_t place = whole_place(r->m, h->tensor, i);
        const double got = get_number(h->host, h->value->dtype, i);
        const double error =
            place < 0 ? 0.0 : fabs(got - r->work->truth.product[place]);
        most = isfinite(error) ? fmax(most, error) : HUGE_VAL;
    }
    h->errors = (float)most;
}

static ridge_status compare_held(rank_run *r, held *h)
{
    h->host = ridge_new(ridge_ctx_scratch(r->cx), char, bytes_of(h->value));
    if (h->host == NULL)
        return ridge_fail_nomem(r->cx);
    RIDGE_TRY(
        r->device->ops->download(r->device, h->host, h->value->p, bytes_of(h->value)));
    compare_padding(r, h);
    RIDGE_TRY(compare_replicas(r, h));
    RIDGE_TRY(add_up(r, h));
    compare_numbers(r, h);
    return RIDGE_OK;
}

/* The worse of what stands in the result and what this run shows. */
static ridge_status compare(rank_run *r, ridge_strategy_result *out)
{
    const ridge__expr_truth *truth = &r->work->truth;
    ridge_arena *scratch = ridge_ctx_scratch(r->cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    const int tensor = r->program->output;
    held h = {.tensor = tensor,
              .partial = r->m->partition->shardings[tensor].partial,
              .value = &r->flight.values[r->m->unrolled.first_value[tensor]]};
    const ridge_status st = compare_held(r, &h);
    ridge_arena_rewind(scratch, mark);
    RIDGE_TRY(st);
    float seen[] = {h.errors, h.has_dirt ? 1.0F : 0.0F, h.differs ? 1.0F : 0.0F};
    RIDGE_TRY(agree(r, seen, 3));
    out->max_abs_error = fmax(out->max_abs_error, (double)seen[0]);
    out->max_rel_error = out->max_abs_error / truth->largest;
    out->is_padding_zero = out->is_padding_zero && !(seen[1] > 0.0F);
    out->has_equal_replicas = out->has_equal_replicas && !(seen[2] > 0.0F);
    out->is_exact = truth->is_exact;
    out->is_right = out->is_padding_zero && out->has_equal_replicas &&
                    out->max_rel_error <= truth->tolerance;
    return RIDGE_OK;
}

/* ---- times --------------------------------------------------------------------------
 */

/* Instructions first .. first + n of the forward list, all ranks starting together. */
static ridge_status run_timed(rank_run *r, int first, int n, double *seconds)
{
    ridge__list *list = &r->m->unrolled.lists[RIDGE__LIST_FORWARD];
    const ridge__list whole = *list;
    RIDGE_TRY(ridge_barrier(r->cx, r->world));
    const double start_s = ridge_clock_s();
    list->at = whole.at + first;
    list->n = n;
    ridge_status st = ridge__machine_run(r->m, &r->flight, RIDGE__LIST_FORWARD);
    *list = whole;
    if (st == RIDGE_OK)
        st = r->device->ops->finish(r->device);
    *seconds = ridge_clock_s() - start_s;
    return st;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of repeats on this rank. */
static double median(double *seconds, int n)
{
    qsort(seconds, (size_t)n, sizeof *seconds, by_size);
    return n % 2 ? seconds[n / 2] : (seconds[n / 2 - 1] + seconds[n / 2]) / 2.0;
}

typedef struct timing {
    int n_ops, repeats;
    double seconds[RIDGE__STRATEGY_OP_MAX + 1]
                  [RIDGE_REPEAT_MAX]; /* last: all at once */
} timing;

static ridge_status take_times(rank_run *r, timing *t)
{
    for (int i = 0; i < t->repeats; i++) {
        ridge__flight_close(r->m, &r->flight);
        RIDGE_TRY(run_timed(r, 0, t->n_ops, &t->seconds[t->n_ops][i]));
        ridge__flight_close(r->m, &r->flight);
        for (int k = 0; k < t->n_ops; k++)
            RIDGE_TRY(run_timed(r, k, 1, &t->seconds[k][i]));
    }
    return RIDGE_OK;
}

static ridge_status agree_on_times(rank_run *r, timing *t, ridge_strategy_times *out)
{
    float medians[RIDGE__STRATEGY_OP_MAX + 1];
    for (int k = 0; k <= t->n_ops; k++)
        medians[k] = (float)median(t->seconds[k], t->repeats);
    RIDGE_TRY(agree(r, medians, t->n_ops + 1));
    *out = (ridge_strategy_times){.total_s = (double)medians[t->n_ops]};
    const ridge__list *list = &r->m->unrolled.lists[RIDGE__LIST_FORWARD];
    for (int k = 0; k < t->n_ops; k++) {
        const int step = r->program->step_of[list->at[k].op];
        double *sum = step < 0 ? &out->product_s : &out->steps_s[step];
        *sum += (double)medians[k];
    }
    return RIDGE_OK;
}

/* As many repeats as fit the time, the same on all ranks. */
static ridge_status choose_repeats(rank_run *r, double once_s, int *out)
{
    float slowest = (float)once_s;
    RIDGE_TRY(agree(r, &slowest, 1));
    const double fit = TIMED_S / fmax((double)slowest, 1e-6);
    const int asked = r->work->run->repeats;
    *out = asked > 0                ? asked
           : fit < REPEATS_LEAST    ? REPEATS_LEAST
           : fit > RIDGE_REPEAT_MAX ? RIDGE_REPEAT_MAX
                                    : (int)fit;
    *out = *out > RIDGE_REPEAT_MAX ? RIDGE_REPEAT_MAX : *out;
    return RIDGE_OK;
}

/* ---- one strategy -------------------------------------------------------------------
 */

static ridge_status run_open(rank_run *r, ridge_strategy_result *result,
                             ridge_strategy_times *times)
{
    timing *t = ridge_new(ridge_ctx_scratch(r->cx), timing, 1);
    double once_s;
    if (t == NULL)
        return ridge_fail_nomem(r->cx);
    t->n_ops = r->m->unrolled.lists[RIDGE__LIST_FORWARD].n;
    for (int i = 0; i < r->work->run->expr->n_inputs; i++)
        RIDGE_TRY(fill_operand(r, i));
    RIDGE_TRY(run_timed(r, 0, t->n_ops, &once_s));
    RIDGE_TRY(compare(r, result));
    RIDGE_TRY(choose_repeats(r, once_s, &t->repeats));
    RIDGE_TRY(take_times(r, t));
    return agree_on_times(r, t, times);
}

/* Its own machine, closed behind it. */
static ridge_status run_program(rank_run *r, ridge_strategy_result *result,
                                ridge_strategy_times *times)
{
    const ridge__machine_options options = {.gradient = RIDGE_DTYPE_FP32};
    ridge_arena *scratch = ridge_ctx_scratch(r->cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    RIDGE_TRY(ridge__machine_open(r->cx, r->device, r->world, r->program->partition,
                                  &options, &r->m));
    RIDGE_TRY(ridge__flight_open(r->m, &r->flight));
    const ridge_status st = run_open(r, result, times);
    if (st != RIDGE_OK)
        ridge_comm_abandon(r->world);
    ridge__flight_close(r->m, &r->flight);
    ridge__machine_close(r->m);
    ridge_arena_rewind(scratch, mark);
    return st;
}

static ridge_status run_strategies(rank_run *r)
{
    for (int i = 0; i < r->work->run->n; i++) {
        ridge_strategy_result result = {.is_padding_zero = true,
                                        .has_equal_replicas = true};
        r->program = &r->work->programs[i];
        RIDGE_TRY(run_program(r, &result, &result.plain));
        if (ridge_comm_rank(r->world) == 0 ||
            ridge_comm_engine(r->world) == RIDGE_ENGINE_MPI)
            r->work->results[i] = result;
    }
    return RIDGE_OK;
}

static ridge_status run_rank(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    rank_run r = {.cx = cx, .work = payload, .world = world};
    const ridge_strategy_run *run = r.work->run;
    const int threads = ridge_processor_count() / run->ranks.ranks;
    if (ridge_comm_engine(world) == RIDGE_ENGINE_CUDA)
        RIDGE_TRY(ridge__device_open_cuda(cx, ridge_comm_rank(world), &r.device));
    else
        RIDGE_TRY(ridge__device_open_cpu(cx,
                                         run->threads > 0 ? run->threads
                                         : threads > 0    ? threads
                                                          : 1,
                                         &r.device));
    const ridge_status st = run_strategies(&r);
    ridge__device_close(r.device);
    return st;
}

/* ---- the run ------------------------------------------------------------------------
 */

static ridge_status check_format(ridge_ctx *cx, ridge_dtype dtype)
{
    if (dtype == RIDGE_DTYPE_FP32 || dtype == RIDGE_DTYPE_BF16)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_ARG,
                      "%s cannot be run: the kernels take fp32 and bf16",
                      ridge_dtype_text(dtype));
}

static ridge_status check_run(ridge_ctx *cx, const ridge_strategy_run *run)
{
    const int64_t ranks = ridge_mesh_size(&run->expr->mesh);
    RIDGE_TRY(check_format(cx, run->formats.activation));
    RIDGE_TRY(check_format(cx, run->formats.weight));
    RIDGE_TRY(check_format(cx, run->formats.output));
    if (ranks != run->ranks.ranks)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "a mesh of %lld runs on as many ranks, not %d",
                          (long long)ranks, run->ranks.ranks);
    return RIDGE_OK;
}

ridge_status ridge_strategies_run(ridge_ctx *cx, const ridge_strategy_run *run,
                                  ridge_strategy_result *results)
{
    work w = {.run = run, .results = results};
    RIDGE_TRY(check_run(cx, run));
    ridge__strategy_program *programs =
        ridge_new(ridge_ctx_arena(cx), ridge__strategy_program, (size_t)run->n);
    if (programs == NULL)
        return ridge_fail_nomem(cx);
    for (int i = 0; i < run->n; i++)
        RIDGE_TRY(
            ridge__strategy_program_make(cx, run, run->strategies[i], &programs[i]));
    w.programs = programs;
    RIDGE_TRY(ridge__expr_truth_make(cx, run, &w.truth));
    return ridge_ranks_run(cx, &run->ranks, run_rank, &w);
}
