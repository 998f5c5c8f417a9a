/*
 * A partitioned program in time: prices, tasks, the play, and what it says of each
 * block.
 */
#include "operation_time.h"
#include "timeline_schedule.h"

double ridge_collective_sm_share(const ridge_chip *chip)
{
    return chip->kind == RIDGE_CHIP_GPU ? 20.0 / 132.0 : 0;
}

/* ---- blocks --------------------------------------------------------------------- */

static void window_add(ridge__window *sum, const ridge__window *w, double by)
{
    sum->wall_s += by * w->wall_s;
    sum->beside_s += by * w->beside_s;
    for (int i = 0; i < RIDGE__TASK_NETWORK; i++)
        sum->work_s[i] += by * w->work_s[i];
    sum->busy_s += by * w->busy_s;
}

/* What one repetition among many is like. Where none came twice, the mean: of all when
 * all were played, else of those behind the first two. */
static ridge__window window_typical(const ridge__block_play *b)
{
    if (b->is_steady)
        return b->windows[b->steady];
    ridge__window mean = {.wall_s = 0};
    const int first = b->repeat > b->n_windows && b->n_windows > 2 ? 2 : 0;
    for (int i = first; i < b->n_windows; i++)
        window_add(&mean, &b->windows[i], 1.0 / (double)(b->n_windows - first));
    return mean;
}

/* Each repetition has the network do each of its collectives once, at some time. */
static ridge_block_time block_time(const ridge__schedule *schedule, int block)
{
    const ridge__block_play *b = &schedule->blocks[block];
    const ridge__block_tasks *tasks = &schedule->tasks[block];
    const ridge__window w = window_typical(b);
    ridge_block_time t = {
        .block = block,
        .period_s = w.wall_s,
        .matmul_s = w.work_s[RIDGE__TASK_MATMUL],
        .attention_s = w.work_s[RIDGE__TASK_ATTENTION],
        .vector_s = w.work_s[RIDGE__TASK_VECTOR],
        .slowdown_s = schedule->slowdown * w.beside_s,
        .hidden_s = w.beside_s,
    };
    t.busy_s[0] = w.busy_s;
    for (int i = 0; i < tasks->n_tasks; i++) {
        for (int axis = 0; axis < RIDGE_AXIS_MAX; axis++) {
            const bool is_held = tasks->tasks[i].network >> axis & 1u;
            t.busy_s[1 + axis] += is_held ? tasks->tasks[i].work_s : 0;
        }
    }
    /* What trails may fall behind by one repetition; until then the chip does not feel
     * that an axis is overloaded. */
    for (int i = 1; b->repeat > b->n_windows && i < 1 + RIDGE_AXIS_MAX; i++)
        t.period_s = t.busy_s[i] > t.period_s ? t.busy_s[i] : t.period_s;
    const double exposed_s = t.period_s - w.busy_s;
    t.exposed_s = exposed_s > 0 ? exposed_s : 0;
    for (int i = 0; i < b->n_windows; i++)
        t.total_s += b->windows[i].wall_s;
    t.total_s += (double)(b->repeat - b->n_windows) * t.period_s;
    return t;
}

static ridge_status timeline_fill(ridge_ctx *cx, const ridge_program *program,
                                  const ridge__schedule *schedule, ridge_timeline *out)
{
    const int n = program->n_blocks;
    ridge_block_time *blocks =
        ridge_new(ridge_ctx_arena(cx), ridge_block_time, (size_t)n + 1);
    if (blocks == NULL)
        return ridge_fail_nomem(cx);
    double total_s = schedule->drain_s;
    for (int i = 0; i < n; i++) {
        blocks[i] = block_time(schedule, i);
        total_s += blocks[i].total_s;
    }

    *out = (ridge_timeline){
        .total_s = total_s,
        .drain_s = schedule->drain_s,
        .n_blocks = n,
        .blocks = blocks,
        .n_events = schedule->n_events,
        .events = schedule->events,
    };
    return RIDGE_OK;
}

/* ---- all ------------------------------------------------------------------------ */

/* What is asked. */
typedef struct request {
    const ridge_partition *partition;
    const ridge_laid_mesh *laid;
    ridge_dtype compute;
    const ridge_overlap *overlap;
    bool has_events;
} request;

static ridge_status source_make(ridge_ctx *cx, const request *r,
                                const ridge__op_index *index, ridge__task_source *out)
{
    ridge_arena *arena = ridge_ctx_scratch(cx);
    const size_t n = (size_t)r->partition->program->n_ops + 1;
    ridge_operation_time *times = ridge_new(arena, ridge_operation_time, n);
    *out = (ridge__task_source){
        .partition = r->partition,
        .laid = r->laid,
        .index = index,
        .times = times,
        .overlap = r->overlap,
        .is_prefetch = ridge_new(arena, bool, n),
        .is_trailing = ridge_new(arena, bool, n),
        .chunks = ridge_new(arena, ridge__chunks, n),
        .first_task = ridge_new(arena, int, n),
        .end_task = ridge_new(arena, int, n),
    };
    if (times == NULL || out->is_prefetch == NULL || out->is_trailing == NULL ||
        out->chunks == NULL || out->first_task == NULL || out->end_task == NULL)
        return ridge_fail_nomem(cx);
    const ridge__pricing x = {r->partition, r->laid, r->compute, index, NULL};
    return ridge__program_price(cx, &x, times);
}

static ridge_status timeline_make(ridge_ctx *cx, const request *r, ridge_timeline *out)
{
    const ridge_program *program = r->partition->program;
    ridge__op_index index;
    ridge__task_source source;
    ridge__schedule schedule = {.has_events = r->has_events};
    ridge__block_tasks *tasks = ridge_new(ridge_ctx_scratch(cx), ridge__block_tasks,
                                          (size_t)program->n_blocks + 1);
    if (tasks == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge__op_index_make(cx, program, &index));
    RIDGE_TRY(source_make(cx, r, &index, &source));
    RIDGE_TRY(ridge__tasks_make(cx, &source, tasks));
    const double slowdown =
        r->overlap->is_bound ? 0 : ridge_collective_sm_share(r->laid->slice->chip);
    RIDGE_TRY(ridge__schedule_play(cx, program, tasks, slowdown, &schedule));
    RIDGE_TRY(timeline_fill(cx, program, &schedule, out));
    out->compute = r->compute;
    return RIDGE_OK;
}

static ridge_status timeline_answer(ridge_ctx *cx, const request *r,
                                    ridge_timeline *out)
{
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(cx));
    const ridge_status st = timeline_make(cx, r, out);
    ridge_arena_rewind(ridge_ctx_scratch(cx), mark);
    return st;
}

ridge_status ridge_timeline_build(ridge_ctx *cx, const ridge_partition *partition,
                                  const ridge_laid_mesh *laid, ridge_dtype compute,
                                  const ridge_overlap *overlap, ridge_timeline *out)
{
    const request r = {partition, laid, compute, overlap, true};
    return timeline_answer(cx, &r, out);
}

ridge_status ridge_timeline_price(ridge_ctx *cx, const ridge_partition *partition,
                                  const ridge_laid_mesh *laid, ridge_dtype compute,
                                  const ridge_overlap *overlap, ridge_timeline *out)
{
    const request r = {partition, laid, compute, overlap, false};
    return timeline_answer(cx, &r, out);
}
