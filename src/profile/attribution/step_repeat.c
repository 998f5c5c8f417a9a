/* Operations counted; each rare one tried as the mark of a step. */
#include "step_repeat.h"

enum { LEAST_STEPS = 3, LEAST_OPERATIONS = 8, TRIED_MOST = 32 };

/* A device's operations in a row. */
typedef struct op_row {
    uint32_t *ops;
    size_t n;
    uint32_t *counts; /* by operation */
    uint32_t n_ops;
    uint32_t *first; /* by operation: position of the first */
} op_row;

static ridge_status row_read(trace_store *store, const device_tracks *device,
                             op_row *row)
{
    size_t n = 0;
    device_walk walk;
    const trace_slice *s;
    int track;
    for (int i = 0; i < device->n; i++)
        n += device->tracks[i]->slices.n;
    *row = (op_row){.n_ops = store->ops.n};
    row->ops = ridge_new(store->arena, uint32_t, n);
    row->counts = ridge_new(store->arena, uint32_t, row->n_ops);
    row->first = ridge_new(store->arena, uint32_t, row->n_ops);
    if (row->ops == NULL || row->counts == NULL || row->first == NULL)
        return ridge_fail_nomem(store->cx);
    RIDGE_TRY(device_walk_start(store, device, &walk));
    while ((s = device_walk_next(&walk, &track)) != NULL) {
        if (row->counts[s->op]++ == 0)
            row->first[s->op] = (uint32_t)row->n;
        row->ops[row->n++] = s->op;
    }
    return RIDGE_OK;
}

/* Whether the occurrences of an operation lie evenly: no run between two of them
 * differs from the mean by more than a tenth, and what is before and behind is less
 * than one and a half. */
static bool divides_evenly(const op_row *row, uint32_t op)
{
    const size_t runs = row->counts[op] - 1;
    size_t at = row->first[op];
    size_t last = at;
    for (size_t i = at; i < row->n; i++)
        last = row->ops[i] == op ? i : last;
    const double mean = (double)(last - at) / (double)runs;
    if (mean < LEAST_OPERATIONS || (double)at > 1.5 * mean ||
        (double)(row->n - last) > 1.5 * mean)
        return false;
    for (size_t i = at + 1; i <= last; i++) {
        if (row->ops[i] != op)
            continue;
        const double run = (double)(i - at);
        if (run < 0.9 * mean || run > 1.1 * mean)
            return false;
        at = i;
    }
    return true;
}

/* Whether nearly all kinds of operations occur at least that often. */
static bool holds_nearly_all(const op_row *row, uint32_t count)
{
    uint32_t kinds = 0;
    uint32_t rarer = 0;
    for (uint32_t i = 0; i < row->n_ops; i++) {
        kinds += row->counts[i] > 0;
        rarer += row->counts[i] > 0 && row->counts[i] < count;
    }
    return 5 * rarer <= kinds;
}

/* The next candidate: of those that occur at least as often as the last one, the
 * rarest, then the earliest. @return NAME_NONE at the end */
static uint32_t next_candidate(const op_row *row, uint32_t last)
{
    uint32_t best = NAME_NONE;
    for (uint32_t i = 0; i < row->n_ops; i++) {
        const uint32_t n = row->counts[i];
        if (n < LEAST_STEPS)
            continue;
        if (last != NAME_NONE &&
            (n < row->counts[last] ||
             (n == row->counts[last] && row->first[i] <= row->first[last])))
            continue;
        if (best == NAME_NONE || n < row->counts[best] ||
            (n == row->counts[best] && row->first[i] < row->first[best]))
            best = i;
    }
    return best;
}

static ridge_status steps_at(trace_store *store, const device_tracks *device,
                             const op_row *row, uint32_t op, found_steps *out)
{
    device_walk walk;
    const trace_slice *s;
    int track;
    out->steps = ridge_new(store->arena, found_step, row->counts[op]);
    if (out->steps == NULL)
        return ridge_fail_nomem(store->cx);
    RIDGE_TRY(device_walk_start(store, device, &walk));
    int64_t end_ns = INT64_MIN;
    while ((s = device_walk_next(&walk, &track)) != NULL) {
        if (trace_slice_end(s) > end_ns)
            end_ns = trace_slice_end(s);
        if (s->op != op)
            continue;
        if (out->n > 0)
            out->steps[out->n - 1].end_ns = s->start_ns;
        const char *name = ridge_sprintf(store->arena, "%d", out->n + 1);
        out->steps[out->n++] = (found_step){name == NULL ? "" : name, s->start_ns, 0};
    }
    out->steps[out->n - 1].end_ns = end_ns;
    out->by = RIDGE_STEPS_REPEATED;
    return RIDGE_OK;
}

ridge_status step_repeat_find(trace_store *store, const device_tracks *device,
                              found_steps *out)
{
    op_row row;
    const ridge_mark mark = ridge_arena_mark(store->arena);
    RIDGE_TRY(row_read(store, device, &row));
    uint32_t op = next_candidate(&row, NAME_NONE);
    for (int i = 0; op != NAME_NONE && i < TRIED_MOST; i++) {
        if (!holds_nearly_all(&row, row.counts[op]))
            break;
        if (divides_evenly(&row, op))
            return steps_at(store, device, &row, op, out);
        op = next_candidate(&row, op);
    }
    ridge_arena_rewind(store->arena, mark);
    return RIDGE_OK;
}
