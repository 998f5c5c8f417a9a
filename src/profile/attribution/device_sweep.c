/* Starts come in order from the walk, ends from a heap; between two of them nothing
 * changes, and that time is given to one part. */
#include "device_sweep.h"

#include <string.h>

enum { DEPTH_MOST = 64 };

/* An operation at work. */
typedef struct at_work {
    int64_t end_ns;
    uint32_t number; /* in the tally */
    bool is_kernel;
} at_work;

/* One track: what is at work on it, outermost first. */
typedef struct lane {
    at_work work[DEPTH_MOST];
    int n;
} lane;

typedef struct lane_end {
    int64_t end_ns;
    int lane;
} lane_end;

typedef struct sweep {
    trace_store *store;
    const found_steps *steps;
    const launch_index *launches;
    op_tally *tally;
    device_sweep *out;
    lane *lanes;
    int n_lanes;
    record_list ends; /* lane_end, a heap: earliest first */
    int64_t now_ns;
    int step;                           /* the first one that does not end before now */
    int at_work, kernels, computing;    /* operations; kernels; kernels that compute */
    int tops[RIDGE_PROFILE_PART_COUNT]; /* lanes by what is innermost on them */
    uint32_t current[RIDGE_PROFILE_PART_COUNT]; /* last started, by part */
    bool is_host_late; /* the next operation was launched after the device ran out */
    int64_t window_start_ns, window_end_ns;
    int64_t latest_end_ns; /* of all that started so far */
} sweep;

/* ---- the heap of ends --------------------------------------------------------------
 */

static lane_end *end_at(const sweep *s, size_t i)
{
    return record_list_at(&s->ends, i);
}

static void ends_swap(const sweep *s, size_t i, size_t j)
{
    const lane_end kept = *end_at(s, i);
    *end_at(s, i) = *end_at(s, j);
    *end_at(s, j) = kept;
}

static void end_push(sweep *s, int64_t end_ns, int at)
{
    lane_end *e = record_list_add(&s->ends);
    if (e == NULL) {
        s->store->is_short = true;
        return;
    }
    *e = (lane_end){end_ns, at};
    for (size_t i = s->ends.n - 1; i > 0; i = (i - 1) / 2) {
        if (end_at(s, (i - 1) / 2)->end_ns <= end_at(s, i)->end_ns)
            return;
        ends_swap(s, i, (i - 1) / 2);
    }
}

static lane_end end_pop(sweep *s)
{
    const lane_end first = *end_at(s, 0);
    const size_t n = --s->ends.n;
    if (n > 0)
        *end_at(s, 0) = *end_at(s, n);
    for (size_t i = 0;;) {
        size_t child = 2 * i + 1;
        if (child >= n)
            return first;
        if (child + 1 < n && end_at(s, child + 1)->end_ns < end_at(s, child)->end_ns)
            child++;
        if (end_at(s, i)->end_ns <= end_at(s, child)->end_ns)
            return first;
        ends_swap(s, i, child);
        i = child;
    }
}

/* ---- time given to parts -----------------------------------------------------------
 */

static ridge_profile_part part_now(const sweep *s)
{
    for (int i = 0; i < RIDGE_PROFILE_PART_HOST; i++) {
        if (s->tops[i] > 0)
            return (ridge_profile_part)i;
    }
    return s->is_host_late ? RIDGE_PROFILE_PART_HOST : RIDGE_PROFILE_PART_IDLE;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* What the time from now to `to` counts as within a step. */
static void step_give(sweep *s, ridge_profile_times *times, int64_t length_ns,
                      ridge_profile_part part)
{
    times->total_ns += length_ns;
    times->part_ns[part] += length_ns;
    if (ridge_profile_part_is_network(part))
        s->tally->ops[s->current[part]].exposed_ns += length_ns;
    for (int i = RIDGE_PROFILE_PART_ALL_GATHER; i <= RIDGE_PROFILE_PART_COPY; i++) {
        if (s->tops[i] > 0 && i != (int)part && ridge_profile_part_is_compute(part)) {
            times->hidden_ns[i] += length_ns;
            return;
        }
    }
}

static void whole_give(sweep *s, int64_t length_ns)
{
    s->out->busy_ns += s->at_work > 0 ? length_ns : 0;
    s->out->kernel_union_ns += s->kernels > 0 ? length_ns : 0;
    s->out->exposed_ns += s->kernels > 0 && s->computing == 0 ? length_ns : 0;
}

static void advance(sweep *s, int64_t to_ns)
{
    const ridge_profile_part part = part_now(s);
    if (to_ns <= s->now_ns)
        return;
    if (s->now_ns >= s->out->first_ns)
        whole_give(s, to_ns - s->now_ns);
    for (; s->step < s->steps->n; s->step++) {
        const found_step *f = &s->steps->steps[s->step];
        const int64_t start_ns = most(s->now_ns, f->start_ns);
        const int64_t end_ns = least(to_ns, f->end_ns);
        if (end_ns > start_ns)
            step_give(s, &s->out->times[s->step], end_ns - start_ns, part);
        if (f->end_ns > to_ns)
            break;
    }
    s->now_ns = to_ns;
}

/* ---- operations that start and end
 * --------------------------------------------------- */

static void top_count(sweep *s, const lane *l, int by)
{
    if (l->n > 0)
        s->tops[s->tally->ops[l->work[l->n - 1].number].part] += by;
}

static void work_count(sweep *s, const at_work *w, int by)
{
    const ridge_profile_part part = s->tally->ops[w->number].part;
    s->at_work += by;
    if (!w->is_kernel)
        return;
    s->kernels += by;
    if (!ridge_profile_part_is_network(part))
        s->computing += by;
}

/* Take away what has ended on a lane, wherever it stands. */
static void lane_clear(sweep *s, lane *l)
{
    int kept = 0;
    top_count(s, l, -1);
    for (int i = 0; i < l->n; i++) {
        if (l->work[i].end_ns > s->now_ns)
            l->work[kept++] = l->work[i];
        else
            work_count(s, &l->work[i], -1);
    }
    l->n = kept;
    top_count(s, l, 1);
}

/* Up to a time, ending what ends before. */
static void sweep_to(sweep *s, int64_t to_ns)
{
    while (s->ends.n > 0 && end_at(s, 0)->end_ns <= to_ns) {
        const lane_end e = end_pop(s);
        advance(s, e.end_ns);
        lane_clear(s, &s->lanes[e.lane]);
    }
    advance(s, to_ns);
}

/* The part of an operation within the steps. */
static int64_t clipped(const sweep *s, int64_t start_ns, int64_t end_ns)
{
    return most(0,
                least(end_ns, s->window_end_ns) - most(start_ns, s->window_start_ns));
}

static void op_count(sweep *s, const trace_slice *slice, uint32_t number)
{
    tally_op *op = &s->tally->ops[number];
    const int64_t length_ns = trace_slice_length(slice);
    op->time_ns += clipped(s, slice->start_ns, trace_slice_end(slice));
    if (slice->start_ns < s->window_start_ns || slice->start_ns >= s->window_end_ns)
        return;
    op->count++;
    op->least_ns = least(op->least_ns, length_ns);
    op->most_ns = most(op->most_ns, length_ns);
    if (!ridge_profile_part_is_network(op->part))
        return;
    tally_run *run = record_list_add(&s->tally->runs);
    if (run == NULL)
        s->store->is_short = true;
    else
        *run = (tally_run){slice->start_ns, length_ns, number, s->tally->device};
}

static void lane_push(sweep *s, int at, const trace_slice *slice, uint32_t number)
{
    lane *l = &s->lanes[at];
    const int64_t end_ns = trace_slice_end(slice);
    if (l->n == DEPTH_MOST) {
        trace_store_lose(s->store, "operations nested more than 64 deep", -1);
        return;
    }
    /* Within another on its track: that one's own time is the rest. */
    if (l->n > 0 && l->work[l->n - 1].end_ns >= end_ns)
        s->tally->ops[l->work[l->n - 1].number].time_ns -=
            clipped(s, slice->start_ns, end_ns);
    const bool is_kernel = s->store->op_info[slice->op].is_kernel;
    top_count(s, l, -1);
    l->work[l->n++] = (at_work){end_ns, number, is_kernel};
    top_count(s, l, 1);
    work_count(s, &l->work[l->n - 1], 1);
    s->current[s->tally->ops[number].part] = number;
    s->out->kernels += is_kernel;
    if (is_kernel)
        s->out->kernel_ns += trace_slice_length(slice);
    end_push(s, end_ns, at);
}

/* ---- idle time ------------------------------------------------------------------- */

/* What was idle until a slice starts: whether its launch came too late. */
static void wait_judge(sweep *s, const trace_slice *slice, const trace_launch *launch,
                       uint32_t thread)
{
    enum { GAP_NOTED_NS = 1000 };
    /* The last end is when the device ran out. */
    const int64_t idle_ns = most(s->now_ns, s->latest_end_ns);
    s->is_host_late = false;
    if (launch == NULL)
        return;
    s->out->launched++;
    s->out->lead_ns += most(0, slice->start_ns - launch->start_ns);
    if (idle_ns >= slice->start_ns || launch->start_ns <= idle_ns)
        return;
    s->out->starved++;
    s->is_host_late = true;
    const int64_t start_ns = most(idle_ns, s->window_start_ns);
    const int64_t end_ns = least(slice->start_ns, s->window_end_ns);
    if (end_ns - start_ns >= GAP_NOTED_NS)
        op_tally_gap(s->tally, thread, start_ns, end_ns);
}

/* ---- the run --------------------------------------------------------------------- */

static ridge_status sweep_prepare(sweep *s, const device_tracks *device)
{
    const found_steps *f = s->steps;
    ridge_arena *arena = s->store->arena;
    s->n_lanes = device->n;
    s->lanes = ridge_new(arena, lane, (size_t)device->n);
    *s->out = (device_sweep){.first_ns = INT64_MAX, .last_ns = INT64_MIN};
    s->out->times = ridge_new(arena, ridge_profile_times, (size_t)f->n + 1);
    record_list_init(&s->ends, arena, sizeof(lane_end));
    if (s->lanes == NULL || s->out->times == NULL)
        return ridge_fail_nomem(s->store->cx);
    s->latest_end_ns = INT64_MIN;
    s->window_start_ns = f->n > 0 ? f->steps[0].start_ns : 0;
    s->window_end_ns = f->n > 0 ? f->steps[f->n - 1].end_ns : 0;
    s->now_ns = s->window_start_ns;
    return RIDGE_OK;
}

static void slice_sweep(sweep *s, const trace_slice *slice, int at)
{
    uint32_t thread = 0;
    const trace_launch *launch = launch_index_find(s->launches, slice->link, &thread);
    const uint32_t number =
        op_tally_number(s->tally, slice->op, launch == NULL ? 0 : launch->context);
    if (number == NAME_NONE)
        return;
    if (s->out->operations++ == 0) {
        s->out->first_ns = slice->start_ns;
        s->now_ns = least(s->now_ns, slice->start_ns);
    }
    wait_judge(s, slice, launch, thread);
    sweep_to(s, slice->start_ns);
    op_count(s, slice, number);
    lane_push(s, at, slice, number);
    s->out->last_ns = most(s->out->last_ns, trace_slice_end(slice));
    s->latest_end_ns = s->out->last_ns;
}

ridge_status device_sweep_run(const device_tracks *device, const found_steps *steps,
                              const launch_index *launches, op_tally *tally,
                              device_sweep *out)
{
    trace_store *store = tally->store;
    sweep s = {.store = store,
               .steps = steps,
               .launches = launches,
               .tally = tally,
               .out = out};
    device_walk walk;
    const trace_slice *slice;
    int at;
    RIDGE_TRY(sweep_prepare(&s, device));
    RIDGE_TRY(device_walk_start(store, device, &walk));
    while ((slice = device_walk_next(&walk, &at)) != NULL) {
        slice_sweep(&s, slice, at);
        if (store->is_short)
            return ridge_fail_nomem(store->cx);
    }
    while (s.ends.n > 0)
        sweep_to(&s, end_at(&s, 0)->end_ns);
    /* Behind the last operation nothing was launched. */
    s.is_host_late = out->launched > 0;
    sweep_to(&s, most(s.now_ns, s.window_end_ns));
    return RIDGE_OK;
}
