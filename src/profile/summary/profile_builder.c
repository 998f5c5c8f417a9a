/* Devices, steps, gaps and losses of each file, and the order of all in the end. */
#include "profile_builder.h"
#include "device_sweep.h"

#include <string.h>

enum { TEXTS_MOST = 1 << 22 };

ridge_status profile_builder_init(ridge_ctx *cx, const ridge_profile_request *request,
                                  ridge_profile *out, profile_builder *b)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    *b = (profile_builder){.cx = cx, .request = request, .out = out};
    name_table *const tables[] = {&b->texts, &b->op_keys, &b->collective_keys,
                                  &b->gap_keys};
    for (size_t i = 0; i < RIDGE_COUNT_OF(tables); i++) {
        if (!name_table_init(tables[i], arena, TEXTS_MOST))
            return ridge_fail_nomem(cx);
    }
    record_list_init(&b->ops, arena, sizeof(ridge_profile_op *));
    record_list_init(&b->collectives, arena, sizeof(ridge_profile_collective *));
    record_list_init(&b->runs, arena, sizeof(built_run));
    record_list_init(&b->devices, arena, sizeof(ridge_profile_device *));
    record_list_init(&b->gaps, arena, sizeof(ridge_profile_gap *));
    record_list_init(&b->losses, arena, sizeof(ridge_profile_loss *));
    record_list_init(&b->ranks, arena, sizeof(ridge_profile_rank *));
    return RIDGE_OK;
}

/* A new item of a list of pointers; NULL: memory. */
static void *item_add(profile_builder *b, record_list *list, size_t bytes)
{
    void *item = ridge_arena_new(ridge_ctx_arena(b->cx), 1, bytes);
    void *place = item == NULL ? NULL : record_list_add(list);
    if (place != NULL)
        memcpy(place, &item, sizeof item);
    return place == NULL ? NULL : item;
}

/* Their items in one row. */
static void *items_join(profile_builder *b, const record_list *list, size_t bytes,
                        int *n)
{
    char *row = ridge_arena_new(ridge_ctx_arena(b->cx), list->n, bytes);
    for (size_t i = 0; row != NULL && i < list->n; i++) {
        const void *item;
        memcpy(&item, record_list_at(list, i), sizeof item);
        memcpy(row + i * bytes, item, bytes);
    }
    *n = (int)list->n;
    return row;
}

/* ---- one file -------------------------------------------------------------------- */

static void times_add(ridge_profile_times *to, const ridge_profile_times *from)
{
    to->total_ns += from->total_ns;
    for (int i = 0; i < RIDGE_PROFILE_PART_COUNT; i++) {
        to->part_ns[i] += from->part_ns[i];
        to->hidden_ns[i] += from->hidden_ns[i];
    }
}

static ridge_status device_add(profile_builder *b, const device_tracks *tracks,
                               const found_steps *found, const device_sweep *sweep)
{
    ridge_profile_device *d = item_add(b, &b->devices, sizeof *d);
    ridge_profile_step *steps =
        ridge_new(ridge_ctx_arena(b->cx), ridge_profile_step, (size_t)found->n);
    if (d == NULL || steps == NULL)
        return ridge_fail_nomem(b->cx);
    *d = (ridge_profile_device){.name = builder_text(b, tracks->name),
                                .hardware = builder_text(b, tracks->hardware),
                                .cores = tracks->cores,
                                .memory_bytes = tracks->memory_bytes,
                                .rank = tracks->rank,
                                .operations = sweep->operations,
                                .steps_by = found->by,
                                .n_steps = found->n,
                                .steps = steps,
                                .busy_ns = sweep->busy_ns,
                                .kernels = sweep->kernels,
                                .kernel_ns = sweep->kernel_ns,
                                .kernel_union_ns = sweep->kernel_union_ns,
                                .exposed_ns = sweep->exposed_ns,
                                .launched = sweep->launched,
                                .starved = sweep->starved,
                                .lead_ns = sweep->lead_ns};
    if (sweep->operations > 0)
        d->span_ns = sweep->last_ns - sweep->first_ns;
    for (int i = 0; i < found->n; i++) {
        const found_step *f = &found->steps[i];
        steps[i] = (ridge_profile_step){builder_text(b, f->name), f->start_ns,
                                        f->end_ns, sweep->times[i]};
        times_add(&d->times, &sweep->times[i]);
    }
    return RIDGE_OK;
}

static ridge_status devices_add(profile_builder *b, trace_store *store, op_tally *tally)
{
    launch_index launches;
    device_tracks *devices;
    int n;
    RIDGE_TRY(call_nest_build(store));
    RIDGE_TRY(launch_index_build(store, &launches));
    RIDGE_TRY(device_tracks_find(store, &devices, &n));
    for (int i = 0; i < n; i++) {
        found_steps found;
        device_sweep sweep;
        tally->device = (uint32_t)i;
        RIDGE_TRY(step_find(store, &devices[i], &launches, &found));
        RIDGE_TRY(device_sweep_run(&devices[i], &found, &launches, tally, &sweep));
        RIDGE_TRY(device_add(b, &devices[i], &found, &sweep));
        if (b->request->keeps_step && b->devices.n == 1 && found.n > 0)
            RIDGE_TRY(builder_step_keep(b, tally, &devices[i], &found, &launches));
    }
    return RIDGE_OK;
}

static bool is_input_name(const char *name)
{
    return strstr(name, "DataLoader") != NULL || strstr(name, "dataloader") != NULL ||
           strstr(name, "data_loader") != NULL || strstr(name, "__next__") != NULL ||
           strstr(name, "next_batch") != NULL || strstr(name, "get_batch") != NULL;
}

static ridge_status gap_add(profile_builder *b, const char *cause, const tally_gap *g)
{
    const uint32_t known = b->gap_keys.n;
    const uint32_t key = name_table_put(&b->gap_keys, ridge_str_of(cause));
    ridge_profile_gap *gap;
    if (key == NAME_NONE)
        return ridge_fail_nomem(b->cx);
    if (key >= known || b->gaps.n <= key - 2) {
        gap = item_add(b, &b->gaps, sizeof *gap);
        if (gap == NULL)
            return ridge_fail_nomem(b->cx);
        *gap = (ridge_profile_gap){.cause = builder_text(b, cause),
                                   .is_input = is_input_name(cause),
                                   .is_sync = g->is_sync};
    } else {
        memcpy(&gap, record_list_at(&b->gaps, key - 2), sizeof gap);
    }
    gap->count += g->count;
    gap->time_ns += g->time_ns;
    return RIDGE_OK;
}

static ridge_status gaps_add(profile_builder *b, const op_tally *tally)
{
    for (uint32_t i = 0; i < tally->n_gaps; i++) {
        if (tally->gaps[i].count == 0)
            continue;
        const char *name =
            trace_store_text(tally->store, trace_store_host_key(tally->store, i)->name);
        RIDGE_TRY(gap_add(b, *name != 0 ? name : "between calls that are traced",
                          &tally->gaps[i]));
    }
    return RIDGE_OK;
}

static ridge_status losses_add(profile_builder *b, const char *path,
                               const trace_store *store)
{
    for (int i = 0; i < store->n_losses; i++) {
        const trace_loss *l = &store->losses[i];
        ridge_profile_loss *loss = item_add(b, &b->losses, sizeof *loss);
        if (loss == NULL)
            return ridge_fail_nomem(b->cx);
        *loss =
            (ridge_profile_loss){builder_text(b, path), l->what, l->offset, l->count};
    }
    return RIDGE_OK;
}

ridge_status profile_builder_add(profile_builder *b, const char *path,
                                 trace_store *store)
{
    op_tally tally;
    const uint32_t first = (uint32_t)b->devices.n;
    RIDGE_TRY(op_tally_init(store, &tally));
    RIDGE_TRY(devices_add(b, store, &tally));
    RIDGE_TRY(builder_ops_add(b, &tally));
    RIDGE_TRY(builder_runs_add(b, &tally, first));
    RIDGE_TRY(gaps_add(b, &tally));
    RIDGE_TRY(losses_add(b, path, store));
    for (size_t i = first; i < b->devices.n; i++) {
        ridge_profile_device *d;
        memcpy(&d, record_list_at(&b->devices, i), sizeof d);
        ridge_profile_rank *rank = item_add(b, &b->ranks, sizeof *rank);
        if (rank == NULL)
            return ridge_fail_nomem(b->cx);
        rank->rank = d->rank;
        rank->file = builder_text(b, path);
    }
    b->out->n_files++;
    b->out->bytes += store->bytes;
    b->out->events += store->events;
    b->out->compilations += store->compilations;
    b->out->compilation_ns += store->compilation_ns;
    if (store->world > b->out->world)
        b->out->world = store->world;
    if (store->peak_flops_per_s > 0)
        b->out->device_flops_per_s = store->peak_flops_per_s;
    return RIDGE_OK;
}

/* ---- all of them -------------------------------------------------------------------
 */

static int compare_ops(const void *a, const void *b)
{
    const ridge_profile_op *const *x = a;
    const ridge_profile_op *const *y = b;
    if ((*x)->time_ns != (*y)->time_ns)
        return (*x)->time_ns > (*y)->time_ns ? -1 : 1;
    return strcmp((*x)->name, (*y)->name);
}

static int compare_collectives(const void *a, const void *b)
{
    const ridge_profile_collective *const *x = a;
    const ridge_profile_collective *const *y = b;
    if ((*x)->exposed_ns != (*y)->exposed_ns)
        return (*x)->exposed_ns > (*y)->exposed_ns ? -1 : 1;
    if ((*x)->time_ns != (*y)->time_ns)
        return (*x)->time_ns > (*y)->time_ns ? -1 : 1;
    return strcmp((*x)->name, (*y)->name);
}

static int compare_gaps(const void *a, const void *b)
{
    const ridge_profile_gap *const *x = a;
    const ridge_profile_gap *const *y = b;
    if ((*x)->time_ns != (*y)->time_ns)
        return (*x)->time_ns > (*y)->time_ns ? -1 : 1;
    return strcmp((*x)->cause, (*y)->cause);
}

static void ranks_fill(const profile_builder *b)
{
    ridge_profile *p = b->out;
    for (int i = 0; i < p->n_devices; i++) {
        const ridge_profile_device *d = &p->devices[i];
        const double steps = d->n_steps > 0 ? d->n_steps : 1;
        if (p->ranks[i].rank < 0)
            p->ranks[i].rank = i; /* devices of one process, in order */
        p->ranks[i].step_s = 1e-9 * (double)d->times.total_ns / steps;
        p->ranks[i].compute_s =
            1e-9 * (double)ridge_profile_compute_ns(&d->times) / steps;
    }
    /* The waits were summed over all steps. */
    for (int i = 0; i < p->n_ranks; i++) {
        const int n = p->devices[i].n_steps;
        p->ranks[i].wait_s /= n > 0 ? n : 1;
    }
}

static void totals_set(ridge_profile *p)
{
    for (int i = 0; i < p->n_devices; i++) {
        times_add(&p->times, &p->devices[i].times);
        p->steps += p->devices[i].n_steps;
    }
    p->work_s = 1e-9 * (double)p->times.total_ns;
    p->step_s = p->steps > 0 ? p->work_s / (double)p->steps : 0;
}

ridge_status profile_builder_end(profile_builder *b)
{
    ridge_profile *p = b->out;
    p->devices = items_join(b, &b->devices, sizeof *p->devices, &p->n_devices);
    p->ranks = items_join(b, &b->ranks, sizeof *p->ranks, &p->n_ranks);
    if (p->devices == NULL || p->ranks == NULL)
        return ridge_fail_nomem(b->cx);
    RIDGE_TRY(builder_runs_end(b));
    record_list_sort(&b->ops, compare_ops);
    record_list_sort(&b->collectives, compare_collectives);
    record_list_sort(&b->gaps, compare_gaps);
    p->ops = items_join(b, &b->ops, sizeof *p->ops, &p->n_ops);
    p->collectives =
        items_join(b, &b->collectives, sizeof *p->collectives, &p->n_collectives);
    p->gaps = items_join(b, &b->gaps, sizeof *p->gaps, &p->n_gaps);
    p->losses = items_join(b, &b->losses, sizeof *p->losses, &p->n_losses);
    if (p->ops == NULL || p->collectives == NULL || p->gaps == NULL ||
        p->losses == NULL)
        return ridge_fail_nomem(b->cx);
    ranks_fill(b);
    totals_set(p);
    return RIDGE_OK;
}
