/*
 * Strategies on real ranks: fill the operands, run the program, compare, take times.
 * All ranks come to the same result, so that it can be told by any.
 */
#include "strategy_run.h"

#include "held_check.h"
#include "ring_product.h"

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
    const ridge__strategy_program *programs;   /* [n] */
    const ridge__strategy_program *overlapped; /* [n]; NULL: not wanted */
    ridge_strategy_result *results;            /* [n]: the leading rank writes */
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

/* ---- operands and result ------------------------------------------------------------
 */

static ridge__checker checker_of(const rank_run *r)
{
    return (ridge__checker){.cx = r->cx, .world = r->world, .m = r->m};
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

typedef struct operand_piece {
    const ridge__expr_truth *truth;
    int operand;
    int64_t piece;
} operand_piece;

static double number_at(void *payload, int64_t place)
{
    const operand_piece *p = payload;
    return ridge__expr_value(p->truth, p->operand, place, p->piece);
}

static ridge_status fill_operand(rank_run *r, int operand)
{
    const int tensor = r->program->inputs[operand];
    const ridge__checker k = checker_of(r);
    operand_piece p = {.truth = &r->work->truth,
                       .operand = operand,
                       .piece =
                           piece_of(r->m, r->m->partition->shardings[tensor].partial)};
    return ridge__held_fill(&k, tensor,
                            &r->m->fixed[r->m->unrolled.first_value[tensor]], false,
                            number_at, &p);
}

static ridge_status agree(rank_run *r, float *numbers, int n)
{
    const ridge__checker k = checker_of(r);
    return ridge__ranks_agree(&k, numbers, n);
}

/* The worse of what stands in the result and what this run shows. */
static ridge_status compare(rank_run *r, ridge_strategy_result *out)
{
    const ridge__expr_truth *truth = &r->work->truth;
    const ridge__checker k = checker_of(r);
    const int tensor = r->program->output;
    ridge__held_check h;
    RIDGE_TRY(ridge__held_compare(&k, tensor,
                                  &r->flight.values[r->m->unrolled.first_value[tensor]],
                                  truth->product, &h));
    float seen[] = {(float)h.error, h.has_dirt ? 1.0F : 0.0F,
                    h.is_unlike ? 1.0F : 0.0F};
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

/* Instructions first .. first + n of the forward list: from when all ranks start to
 * when all are done. */
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
    if (st == RIDGE_OK)
        st = ridge_barrier(r->cx, r->world);
    *seconds = ridge_clock_s() - start_s;
    return st;
}

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double median(float *seconds, int n)
{
    qsort(seconds, (size_t)n, sizeof *seconds, by_size);
    const double low = (double)seconds[(n - 1) / 2], high = (double)seconds[n / 2];
    return (low + high) / 2.0;
}

/* Rows of repeats: each operation, then all in one go, then nothing. */
enum { ROWS_MOST = RIDGE__STRATEGY_OP_MAX + 2 };

typedef struct timing {
    int n_ops, repeats;
    float seconds[ROWS_MOST][RIDGE_REPEAT_MAX];
} timing;

static ridge_status take_time(rank_run *r, timing *t, int row, int repeat)
{
    double seconds;
    RIDGE_TRY(run_timed(r, row < t->n_ops ? row : 0,
                        row < t->n_ops    ? 1
                        : row == t->n_ops ? t->n_ops
                                          : 0,
                        &seconds));
    t->seconds[row][repeat] = (float)seconds;
    return RIDGE_OK;
}

static ridge_status take_times(rank_run *r, timing *t)
{
    for (int i = 0; i < t->repeats; i++) {
        ridge__flight_close(r->m, &r->flight);
        RIDGE_TRY(take_time(r, t, t->n_ops, i));
        RIDGE_TRY(take_time(r, t, t->n_ops + 1, i));
        ridge__flight_close(r->m, &r->flight);
        for (int k = 0; k < t->n_ops; k++)
            RIDGE_TRY(take_time(r, t, k, i));
    }
    for (int k = 0; k < t->n_ops + 2; k++)
        RIDGE_TRY(agree(r, t->seconds[k], t->repeats));
    return RIDGE_OK;
}

/* Medians, less what starting and ending together takes. */
static void sum_up(const rank_run *r, timing *t, ridge_strategy_times *out)
{
    const ridge__list *list = &r->m->unrolled.lists[RIDGE__LIST_FORWARD];
    const double nothing_s = median(t->seconds[t->n_ops + 1], t->repeats);
    *out = (ridge_strategy_times){.total_s = 0.0};
    for (int k = 0; k <= t->n_ops; k++) {
        const double s = fmax(0.0, median(t->seconds[k], t->repeats) - nothing_s);
        const int step = k < t->n_ops ? r->program->step_of[list->at[k].op] : -1;
        double *sum = k == t->n_ops ? &out->total_s
                      : step < 0    ? &out->product_s
                                    : &out->steps_s[step];
        *sum += s;
    }
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
    sum_up(r, t, times);
    return RIDGE_OK;
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

/* The steps that the product has taken over have no operands any more. */
static bool mark_beside(const ridge__strategy_program *program, bool *is_beside)
{
    const ridge_program *p = program->partition->program;
    bool any = false;
    for (int i = 0; i < p->n_ops; i++) {
        if (p->ops[i].n_outputs > 0 || program->step_of[i] < 0)
            continue;
        is_beside[program->step_of[i]] = true;
        any = true;
    }
    return any;
}

static ridge_status run_overlapped(rank_run *r, int i, ridge_strategy_result *result)
{
    if (!r->work->overlapped)
        return RIDGE_OK;
    r->program = &r->work->overlapped[i];
    result->has_overlap = mark_beside(r->program, result->is_beside);
    return result->has_overlap ? run_program(r, result, &result->overlapped) : RIDGE_OK;
}

static ridge_status run_strategies(rank_run *r)
{
    for (int i = 0; i < r->work->run->n; i++) {
        ridge_strategy_result result = {.is_padding_zero = true,
                                        .has_equal_replicas = true};
        r->program = &r->work->programs[i];
        RIDGE_TRY(run_program(r, &result, &result.plain));
        RIDGE_TRY(run_overlapped(r, i, &result));
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
    if (ridge_comm_engine(world) == RIDGE_ENGINE_CUDA) {
        RIDGE_TRY(ridge__device_open_cuda(cx, ridge_comm_rank(world), &r.device));
    } else {
        RIDGE_TRY(ridge__device_open_cpu(cx,
                                         run->threads > 0 ? run->threads
                                         : threads > 0    ? threads
                                                          : 1,
                                         &r.device));
    }
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
    if (ranks != run->ranks.ranks) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "a mesh of %lld runs on as many ranks, not %d",
                          (long long)ranks, run->ranks.ranks);
    }
    return RIDGE_OK;
}

/* The strategies as programs, and with the collectives taken over by products. */
static ridge_status make_programs(ridge_ctx *cx, const ridge_strategy_run *run, work *w)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    const size_t n = (size_t)run->n;
    ridge__strategy_program *programs = ridge_new(arena, ridge__strategy_program, n);
    ridge__strategy_program *overlapped = ridge_new(arena, ridge__strategy_program, n);
    if (!programs || !overlapped)
        return ridge_fail_nomem(cx);
    for (int i = 0; i < run->n; i++) {
        RIDGE_TRY(
            ridge__strategy_program_make(cx, run, run->strategies[i], &programs[i]));
        overlapped[i] = programs[i];
        RIDGE_TRY(
            ridge__ring_products(cx, programs[i].partition, &overlapped[i].partition));
    }
    w->programs = programs;
    w->overlapped = run->has_overlap ? overlapped : NULL;
    return RIDGE_OK;
}

ridge_status ridge_strategies_run(ridge_ctx *cx, const ridge_strategy_run *run,
                                  ridge_strategy_result *results)
{
    work w = {.run = run, .results = results};
    RIDGE_TRY(check_run(cx, run));
    RIDGE_TRY(make_programs(cx, run, &w));
    RIDGE_TRY(ridge__expr_truth_make(cx, run, &w.truth));
    return ridge_ranks_run(cx, &run->ranks, run_rank, &w);
}
