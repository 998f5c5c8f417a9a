/* Tracks merged by a heap of the next operation of each. */
#include "device_walk.h"

#include "chrome_event.h"

#include <string.h>

static int compare_slices(const void *a, const void *b)
{
    const trace_slice *x = a;
    const trace_slice *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    const int64_t x_length = trace_slice_length(x);
    const int64_t y_length = trace_slice_length(y);
    if (x_length != y_length)
        return x_length > y_length ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    return x->link < y->link ? -1 : x->link > y->link;
}

/* ---- tracks of devices ----------------------------------------------------------- */

/* A track whose name came after its events, or never. */
static trace_use use_of(const trace_store *store, const trace_track *t)
{
    if (t->use != TRACE_USE_UNKNOWN)
        return t->use;
    const trace_process *p = trace_store_process_at(store, t->process);
    return chrome_track_use(name_table_get(&store->names, p->name),
                            name_table_get(&store->names, t->name));
}

/* Of a trace of XLA, processes without a name of a device are not devices; of Kineto's
 * only what it says is one; of others every process may be one. */
static bool is_of_device(const trace_store *store, const trace_track *t)
{
    const trace_use use = use_of(store, t);
    if (t->slices.n == 0)
        return false;
    if (use == TRACE_USE_UNKNOWN)
        return !store->has_kineto && !store->has_xla;
    return use == TRACE_USE_OPS || use == TRACE_USE_ASYNC || use == TRACE_USE_STEPS ||
           use == TRACE_USE_MODULES;
}

static const char *hardware_of(const trace_store *store, const trace_process *p)
{
    int64_t id;
    if (p->hardware != 0 || p->vendor != 0)
        return trace_store_text(store, p->hardware != 0 ? p->hardware : p->vendor);
    if (!p->is_device || !ridge_parse_i64(name_table_get(&store->names, p->id), &id))
        return "";
    for (int i = 0; i < store->n_hardware; i++) {
        if (store->hardware[i].id == id)
            return trace_store_text(store, store->hardware[i].name);
    }
    return store->n_hardware > 0 ? trace_store_text(store, store->hardware[0].name)
                                 : "";
}

static const char *device_name(trace_store *store, const trace_process *p)
{
    if (p->name != 0 && !p->is_device)
        return trace_store_text(store, p->name);
    const char *name =
        ridge_sprintf(store->arena, "%s %s", p->is_device ? "GPU" : "process",
                      trace_store_text(store, p->id));
    return name == NULL ? "" : name;
}

/* Streams are the operations themselves; "XLA Ops" beside them has them again. */
static bool has_streams(const trace_store *store, size_t process)
{
    for (size_t i = 0; i < store->tracks.n; i++) {
        const trace_track *t = trace_store_track_at(store, i);
        const char *name = trace_store_text(store, t->name);
        if (t->process == process && t->slices.n > 0 && strstr(name, "Stream") != NULL)
            return true;
    }
    return false;
}

static void track_place(const trace_store *store, trace_track *t, bool has_streams,
                        device_tracks *d)
{
    const char *name = trace_store_text(store, t->name);
    switch (use_of(store, t)) {
    case TRACE_USE_STEPS:
        d->steps = t;
        break;
    case TRACE_USE_MODULES:
        d->modules = t;
        break;
    case TRACE_USE_UNKNOWN:
    case TRACE_USE_OPS:
    case TRACE_USE_ASYNC:
        if (!has_streams || strncmp(name, "XLA Ops", 7) != 0)
            d->tracks[d->n++] = t;
        break;
    case TRACE_USE_NOTES:
    case TRACE_USE_HOST:
    case TRACE_USE_IGNORED:
        break;
    }
}

static ridge_status device_fill(trace_store *store, size_t process, device_tracks *d)
{
    const trace_process *p = trace_store_process_at(store, process);
    const bool streams = has_streams(store, process);
    *d = (device_tracks){.name = device_name(store, p),
                         .hardware = hardware_of(store, p),
                         .cores = p->cores,
                         .memory_bytes = p->memory_bytes,
                         .rank = p->rank >= 0 ? p->rank : store->rank};
    d->tracks = ridge_new(store->arena, trace_track *, store->tracks.n);
    if (d->tracks == NULL)
        return ridge_fail_nomem(store->cx);
    for (size_t i = 0; i < store->tracks.n; i++) {
        trace_track *t = trace_store_track_at(store, i);
        if (t->process != process || !is_of_device(store, t))
            continue;
        record_list_sort(&t->slices, compare_slices);
        track_place(store, t, streams, d);
    }
    return RIDGE_OK;
}

static int compare_devices(const device_tracks *a, const device_tracks *b)
{
    const size_t n = strlen(a->name);
    const size_t m = strlen(b->name);
    return n != m ? (n < m ? -1 : 1) : strcmp(a->name, b->name);
}

/* In order of their names, shorter ones first: GPU 2 before GPU 10. */
static void devices_sort(device_tracks *devices, int n)
{
    for (int i = 1; i < n; i++) {
        for (int k = i; k > 0 && compare_devices(&devices[k], &devices[k - 1]) < 0;
             k--) {
            const device_tracks kept = devices[k];
            devices[k] = devices[k - 1];
            devices[k - 1] = kept;
        }
    }
}

/* By process: whether any of its tracks is a device's. */
static bool *processes_mark(trace_store *store)
{
    bool *has_any = ridge_new(store->arena, bool, store->processes.n);
    for (size_t i = 0; has_any != NULL && i < store->tracks.n; i++) {
        const trace_track *t = trace_store_track_at(store, i);
        if (is_of_device(store, t))
            has_any[t->process] = true;
    }
    return has_any;
}

ridge_status device_tracks_find(trace_store *store, device_tracks **out, int *n)
{
    enum { DEVICES_MOST = 1024 };
    device_tracks *devices = ridge_new(store->arena, device_tracks, store->processes.n);
    const bool *has_any = processes_mark(store);
    if (devices == NULL || has_any == NULL)
        return ridge_fail_nomem(store->cx);
    *n = 0;
    for (size_t i = 0; i < store->processes.n && *n < DEVICES_MOST; i++) {
        if (!has_any[i])
            continue;
        RIDGE_TRY(device_fill(store, i, &devices[*n]));
        *n += devices[*n].n > 0;
    }
    devices_sort(devices, *n);
    *out = devices;
    return RIDGE_OK;
}

/* ---- the walk -------------------------------------------------------------------- */

static bool is_before(const walk_place *a, const walk_place *b)
{
    return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : a->track < b->track;
}

static void sink(device_walk *w, int i)
{
    for (;;) {
        int child = 2 * i + 1;
        if (child >= w->n)
            return;
        if (child + 1 < w->n && is_before(&w->heap[child + 1], &w->heap[child]))
            child++;
        if (!is_before(&w->heap[child], &w->heap[i]))
            return;
        const walk_place kept = w->heap[i];
        w->heap[i] = w->heap[child];
        w->heap[child] = kept;
        i = child;
    }
}

ridge_status device_walk_start(trace_store *store, const device_tracks *device,
                               device_walk *out)
{
    device_walk w = {.device = device};
    w.heap = ridge_new(store->arena, walk_place, (size_t)device->n);
    if (w.heap == NULL)
        return ridge_fail_nomem(store->cx);
    for (int i = 0; i < device->n; i++) {
        if (device->tracks[i]->slices.n == 0)
            continue;
        const trace_slice *s = record_list_at(&device->tracks[i]->slices, 0);
        w.heap[w.n++] = (walk_place){s->start_ns, i, 0};
    }
    for (int i = w.n / 2; i-- > 0;)
        sink(&w, i);
    *out = w;
    return RIDGE_OK;
}

const trace_slice *device_walk_next(device_walk *w, int *track)
{
    if (w->n == 0)
        return NULL;
    walk_place *top = &w->heap[0];
    const record_list *slices = &w->device->tracks[top->track]->slices;
    const trace_slice *s = record_list_at(slices, top->at);
    *track = top->track;
    top->at++;
    if (top->at < slices->n) {
        const trace_slice *next = record_list_at(slices, top->at);
        top->start_ns = next->start_ns;
    } else {
        *top = w->heap[--w->n];
    }
    sink(w, 0);
    return s;
}
