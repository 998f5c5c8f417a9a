/* Steps by what marks them best. */
#include "step_find.h"

#include "step_repeat.h"

#include <string.h>

static int compare_marks(const void *a, const void *b)
{
    const trace_mark *x = a;
    const trace_mark *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

/* ---- annotations ------------------------------------------------------------------
 */

/* The work of one annotated step on the device. */
typedef struct marked_work {
    int64_t first_ns, last_ns; /* start of the first operation, end of the last */
    bool has_any;
} marked_work;

/* The mark that holds a time, by bisection; -1: none. */
static int64_t mark_at(const record_list *marks, int64_t at_ns)
{
    size_t low = 0;
    size_t high = marks->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const trace_mark *m = record_list_at(marks, middle);
        if (m->start_ns <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return -1;
    const trace_mark *m = record_list_at(marks, low - 1);
    return m->end_ns > at_ns ? (int64_t)low - 1 : -1;
}

/* @param is_told  out: the trace has the launches of most operations; where it has not,
 *                 what a step did is not known by them */
static ridge_status work_find(trace_store *store, const device_tracks *device,
                              const launch_index *launches, marked_work *work,
                              bool *is_told)
{
    device_walk walk;
    const trace_slice *s;
    int track;
    uint32_t thread;
    int64_t n = 0, n_told = 0;
    RIDGE_TRY(device_walk_start(store, device, &walk));
    while ((s = device_walk_next(&walk, &track)) != NULL) {
        const trace_launch *l = launch_index_find(launches, s->link, &thread);
        const int64_t i = l == NULL ? -1 : mark_at(&store->marks, l->start_ns);
        n++;
        n_told += l != NULL;
        if (i < 0)
            continue;
        marked_work *w = &work[i];
        if (!w->has_any || s->start_ns < w->first_ns)
            w->first_ns = s->start_ns;
        if (!w->has_any || trace_slice_end(s) > w->last_ns)
            w->last_ns = trace_slice_end(s);
        w->has_any = true;
    }
    *is_told = 2 * n_told >= n;
    return RIDGE_OK;
}

/* Whether the device ends each step's work within the step. */
static bool keeps_step(const record_list *marks, const marked_work *work)
{
    for (size_t i = 0; i < marks->n; i++) {
        const trace_mark *m = record_list_at(marks, i);
        const int64_t slack_ns = (m->end_ns - m->start_ns) / 100;
        if (work[i].has_any && work[i].last_ns > m->end_ns + slack_ns)
            return false;
    }
    return true;
}

static int64_t latest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Steps that have work, from its start to the start of the next one's. */
static void steps_of_work(const trace_store *store, const marked_work *work,
                          found_steps *out)
{
    int64_t last_ns = INT64_MIN;
    for (size_t i = 0; i < store->marks.n; i++) {
        const trace_mark *m = record_list_at(&store->marks, i);
        if (!work[i].has_any)
            continue;
        const int64_t start_ns = latest(work[i].first_ns, last_ns);
        if (out->n > 0)
            out->steps[out->n - 1].end_ns = start_ns;
        out->steps[out->n++] = (found_step){trace_store_text(store, m->name), start_ns,
                                            latest(work[i].last_ns, start_ns)};
        last_ns = start_ns;
    }
}

static void steps_of_marks(const trace_store *store, found_steps *out)
{
    int64_t last_ns = INT64_MIN;
    for (size_t i = 0; i < store->marks.n; i++) {
        const trace_mark *m = record_list_at(&store->marks, i);
        /* Neighbours may overlap by what rounding does; within another it is none. */
        const int64_t slack_ns = (m->end_ns - m->start_ns) / 100;
        const int64_t start_ns = latest(m->start_ns, last_ns);
        if (m->end_ns <= start_ns || start_ns - m->start_ns > slack_ns)
            continue;
        out->steps[out->n++] =
            (found_step){trace_store_text(store, m->name), start_ns, m->end_ns};
        last_ns = m->end_ns;
    }
}

static ridge_status by_marks(trace_store *store, const device_tracks *device,
                             const launch_index *launches, found_steps *out)
{
    const size_t n = store->marks.n;
    record_list_sort(&store->marks, compare_marks);
    marked_work *work = ridge_new(store->arena, marked_work, n);
    out->steps = ridge_new(store->arena, found_step, n);
    if (work == NULL || out->steps == NULL)
        return ridge_fail_nomem(store->cx);
    bool is_told, has_work = false;
    RIDGE_TRY(work_find(store, device, launches, work, &is_told));
    for (size_t i = 0; i < n; i++)
        has_work |= work[i].has_any;
    if (has_work && is_told && !keeps_step(&store->marks, work))
        steps_of_work(store, work, out);
    else
        steps_of_marks(store, out);
    out->by = RIDGE_STEPS_ANNOTATED;
    return RIDGE_OK;
}

/* ---- tracks of steps and modules ----------------------------------------------------
 */

static const char *slice_name(const trace_store *store, const trace_slice *s)
{
    return trace_store_text(store, trace_store_op_key(store, s->op)->name);
}

static ridge_status by_track(trace_store *store, const trace_track *track,
                             found_steps *out)
{
    int64_t last_ns = INT64_MIN;
    out->steps = ridge_new(store->arena, found_step, track->slices.n);
    if (out->steps == NULL)
        return ridge_fail_nomem(store->cx);
    for (size_t i = 0; i < track->slices.n; i++) {
        const trace_slice *s = record_list_at(&track->slices, i);
        if (s->start_ns < last_ns || trace_slice_length(s) <= 0)
            continue;
        last_ns = trace_slice_end(s);
        out->steps[out->n++] = (found_step){slice_name(store, s), s->start_ns, last_ns};
    }
    out->by = RIDGE_STEPS_TRACK;
    return RIDGE_OK;
}

/* The module whose launches took the longest in all. */
static ridge_status longest_module(trace_store *store, const record_list *slices,
                                   uint32_t *out)
{
    const uint32_t n_ops = store->ops.n;
    int64_t *time_ns = ridge_new(store->arena, int64_t, n_ops);
    if (time_ns == NULL)
        return ridge_fail_nomem(store->cx);
    for (size_t i = 0; i < slices->n; i++) {
        const trace_slice *s = record_list_at(slices, i);
        time_ns[s->op] += trace_slice_length(s);
    }
    *out = 0;
    for (uint32_t i = 0; i < n_ops; i++) {
        if (time_ns[i] > time_ns[*out])
            *out = i;
    }
    return RIDGE_OK;
}

/* From each launch of the module to the next one. */
static ridge_status by_modules(trace_store *store, const trace_track *track,
                               found_steps *out)
{
    uint32_t longest = 0;
    RIDGE_TRY(longest_module(store, &track->slices, &longest));
    out->steps = ridge_new(store->arena, found_step, track->slices.n);
    if (out->steps == NULL)
        return ridge_fail_nomem(store->cx);
    for (size_t i = 0; i < track->slices.n; i++) {
        const trace_slice *s = record_list_at(&track->slices, i);
        if (s->op != longest ||
            (out->n > 0 && s->start_ns <= out->steps[out->n - 1].start_ns))
            continue;
        if (out->n > 0)
            out->steps[out->n - 1].end_ns = s->start_ns;
        out->steps[out->n++] =
            (found_step){slice_name(store, s), s->start_ns, trace_slice_end(s)};
    }
    out->by = RIDGE_STEPS_MODULES;
    return RIDGE_OK;
}

/* ---- the whole ------------------------------------------------------------------- */

static ridge_status by_whole(trace_store *store, const device_tracks *device,
                             found_steps *out)
{
    found_step *whole = ridge_new(store->arena, found_step, 1);
    if (whole == NULL)
        return ridge_fail_nomem(store->cx);
    *whole = (found_step){"all", INT64_MAX, INT64_MIN};
    for (int i = 0; i < device->n; i++) {
        const record_list *slices = &device->tracks[i]->slices;
        for (size_t k = 0; k < slices->n; k++) {
            const trace_slice *s = record_list_at(slices, k);
            if (s->start_ns < whole->start_ns)
                whole->start_ns = s->start_ns;
            whole->end_ns = latest(whole->end_ns, trace_slice_end(s));
        }
    }
    *out = (found_steps){RIDGE_STEPS_WHOLE, whole->start_ns < whole->end_ns, whole};
    return RIDGE_OK;
}

ridge_status step_find(trace_store *store, const device_tracks *device,
                       const launch_index *launches, found_steps *out)
{
    *out = (found_steps){.n = 0};
    if (store->marks.n > 0)
        RIDGE_TRY(by_marks(store, device, launches, out));
    if (out->n == 0 && device->steps != NULL && device->steps->slices.n > 0)
        RIDGE_TRY(by_track(store, device->steps, out));
    if (out->n == 0 && device->modules != NULL && device->modules->slices.n > 0)
        RIDGE_TRY(by_modules(store, device->modules, out));
    if (out->n == 0)
        RIDGE_TRY(step_repeat_find(store, device, out));
    return out->n > 0 ? RIDGE_OK : by_whole(store, device, out);
}
