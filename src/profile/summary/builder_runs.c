/*
 * Collectives run by run: those of several ranks are matched by their place in their
 * group's order, and what the earlier ones lasted longer than the shortest is waiting.
 * Clocks of ranks need not agree for that: the shortest arrived last, and did not wait.
 */
#include "collective_text.h"
#include "op_shapes.h"
#include "profile_builder.h"

#include <string.h>

/* What collectives are told apart by; numbers of the builder's texts. */
typedef struct collective_key {
    int64_t in_elements, out_elements, ranks;
    uint32_t kind, name, group, dtype;
} collective_key;

static const trace_message *message_of(const op_tally *tally, uint32_t number)
{
    const trace_store *store = tally->store;
    const tally_key *key = op_tally_key(tally, number);
    const uint32_t own = trace_store_op_key(store, key->op)->message;
    const trace_context *c = call_nest_context(store, key->context);
    return trace_store_message_at(
        store, own != 0 ? own : trace_store_host_key(store, c->host_op)->message);
}

static double bytes_of(const collective_key *key, ridge_str dtype)
{
    const double elements =
        (double)(key->in_elements > key->out_elements ? key->in_elements
                                                      : key->out_elements);
    return elements * op_shapes_element_bytes(dtype);
}

static ridge_status row_make(profile_builder *b, const collective_key *key,
                             double bytes)
{
    ridge_profile_collective *c =
        ridge_new(ridge_ctx_arena(b->cx), ridge_profile_collective, 1);
    void *place = c == NULL ? NULL : record_list_add(&b->collectives);
    if (place == NULL)
        return ridge_fail_nomem(b->cx);
    memcpy(place, &c, sizeof c);
    *c = (ridge_profile_collective){.kind = (ridge_profile_class)key->kind,
                                    .name = name_table_get(&b->texts, key->name).p,
                                    .group = name_table_get(&b->texts, key->group).p,
                                    .ranks = key->ranks,
                                    .has_bytes = bytes > 0,
                                    .bytes = bytes,
                                    .least_ns = INT64_MAX};
    return RIDGE_OK;
}

static ridge_profile_collective *row_at(const profile_builder *b, uint32_t i)
{
    ridge_profile_collective *c;
    memcpy(&c, record_list_at(&b->collectives, i), sizeof c);
    return c;
}

/* @param out  number of the row */
static ridge_status row_find(profile_builder *b, const op_tally *tally, uint32_t number,
                             uint32_t *out)
{
    const trace_store *store = tally->store;
    const trace_message *m = message_of(tally, number);
    const tally_key *op = op_tally_key(tally, number);
    const char *name = trace_store_text(store, trace_store_op_key(store, op->op)->name);
    collective_key key;
    double bytes = 0;
    memset(&key, 0, sizeof key);
    key.kind = (uint32_t)tally->ops[number].class;
    key.name = name_table_put(&b->texts, ridge_str_of(name));
    if (m != NULL) {
        const ridge_str dtype = name_table_get(&store->names, m->dtype);
        key.in_elements = m->in_elements;
        key.out_elements = m->out_elements;
        key.ranks = m->ranks;
        key.group = name_table_put(&b->texts, name_table_get(&store->names, m->group));
        key.dtype = name_table_put(&b->texts, dtype);
        bytes = bytes_of(&key, dtype);
    } else {
        const collective_told told = collective_text_read(
            trace_store_text(store, trace_store_op_key(store, op->op)->shapes));
        key.ranks = told.ranks;
        bytes = told.bytes;
    }
    const uint32_t known = b->collective_keys.n;
    const uint32_t at = name_table_put(&b->collective_keys,
                                       (ridge_str){(const char *)&key, sizeof key});
    if (at == NAME_NONE || at < 2)
        return ridge_fail_nomem(b->cx);
    *out = at - 2;
    return at < known ? RIDGE_OK : row_make(b, &key, bytes);
}

static int compare_runs(const void *a, const void *b)
{
    const tally_run *x = a;
    const tally_run *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* The rows of the tally's operations; 0 of what is no collective. */
static ridge_status rows_find(profile_builder *b, op_tally *tally, uint32_t *rows)
{
    for (uint32_t i = 2; i < tally->keys.n; i++) {
        if (!ridge_profile_part_is_network(tally->ops[i].part) ||
            tally->ops[i].count == 0)
            continue;
        RIDGE_TRY(row_find(b, tally, i, &rows[i]));
        row_at(b, rows[i])->exposed_ns += tally->ops[i].exposed_ns;
    }
    return RIDGE_OK;
}

ridge_status builder_runs_add(profile_builder *b, op_tally *tally,
                              uint32_t first_device)
{
    uint32_t *rows = ridge_new(tally->store->arena, uint32_t, (size_t)tally->keys.n);
    if (rows == NULL)
        return ridge_fail_nomem(b->cx);
    RIDGE_TRY(rows_find(b, tally, rows));
    const size_t n = b->collectives.n;
    int64_t *sequences = ridge_new(tally->store->arena, int64_t, n);
    if (sequences == NULL)
        return ridge_fail_nomem(b->cx);
    record_list_sort(&tally->runs, compare_runs);
    for (size_t i = 0; i < tally->runs.n; i++) {
        const tally_run *run = record_list_at(&tally->runs, i);
        const tally_run *before = i > 0 ? record_list_at(&tally->runs, i - 1) : run;
        if (before->device != run->device)
            memset(sequences, 0, n * sizeof *sequences);
        const uint32_t row = rows[run->number];
        built_run *built = record_list_add(&b->runs);
        if (built == NULL)
            return ridge_fail_nomem(b->cx);
        *built = (built_run){run->start_ns, run->length_ns, sequences[row]++, row,
                             first_device + run->device};
    }
    return RIDGE_OK;
}

/* ---- all ranks --------------------------------------------------------------------
 */

static int compare_built(const void *a, const void *b)
{
    const built_run *x = a;
    const built_run *y = b;
    if (x->collective != y->collective)
        return x->collective < y->collective ? -1 : 1;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return x->device < y->device ? -1 : x->device > y->device;
}

static int compare_lengths(const void *a, const void *b)
{
    const built_run *x = a;
    const built_run *y = b;
    if (x->collective != y->collective)
        return x->collective < y->collective ? -1 : 1;
    if (x->length_ns != y->length_ns)
        return x->length_ns < y->length_ns ? -1 : 1;
    return compare_built(a, b);
}

/* One collective of several ranks: runs first .. first + n - 1. */
static void waits_add(profile_builder *b, size_t first, size_t n)
{
    int64_t least_ns = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        const built_run *run = record_list_at(&b->runs, first + i);
        if (run->length_ns < least_ns)
            least_ns = run->length_ns;
    }
    for (size_t i = 0; n > 1 && i < n; i++) {
        const built_run *run = record_list_at(&b->runs, first + i);
        row_at(b, run->collective)->wait_ns += run->length_ns - least_ns;
        if ((int)run->device < b->out->n_ranks)
            b->out->ranks[run->device].wait_s +=
                1e-9 * (double)(run->length_ns - least_ns);
    }
}

static void waits_find(profile_builder *b)
{
    size_t first = 0;
    record_list_sort(&b->runs, compare_built);
    for (size_t i = 1; i <= b->runs.n; i++) {
        const built_run *head = record_list_at(&b->runs, first);
        const built_run *run = i < b->runs.n ? record_list_at(&b->runs, i) : NULL;
        if (run != NULL && run->collective == head->collective &&
            run->sequence == head->sequence)
            continue;
        waits_add(b, first, i - first);
        first = i;
    }
}

/* Bytes on the bus for each byte of the array. @source nccl-tests, performance */
static double bus_factor(const ridge_profile_collective *c)
{
    const double n = (double)c->ranks;
    if (c->kind == RIDGE_CLASS_ALL_REDUCE)
        return 2 * (n - 1) / n;
    const bool is_of_parts = c->kind == RIDGE_CLASS_ALL_GATHER ||
                             c->kind == RIDGE_CLASS_REDUCE_SCATTER ||
                             c->kind == RIDGE_CLASS_ALL_TO_ALL;
    return is_of_parts ? (n - 1) / n : 1;
}

static void row_finish(profile_builder *b, size_t first, size_t n)
{
    const built_run *head = record_list_at(&b->runs, first);
    const built_run *middle = record_list_at(&b->runs, first + n / 2);
    ridge_profile_collective *c = row_at(b, head->collective);
    c->count = (int64_t)n;
    c->least_ns = head->length_ns;
    for (size_t i = 0; i < n; i++) {
        const built_run *run = record_list_at(&b->runs, first + i);
        c->time_ns += run->length_ns;
    }
    if (!c->has_bytes || c->ranks < 2)
        return;
    const double bytes = c->bytes * bus_factor(c);
    if (middle->length_ns > 0)
        c->bus_bytes_per_s = 1e9 * bytes / (double)middle->length_ns;
    if (c->least_ns > 0)
        c->best_bus_bytes_per_s = 1e9 * bytes / (double)c->least_ns;
}

ridge_status builder_runs_end(profile_builder *b)
{
    size_t first = 0;
    if (b->runs.n == 0)
        return RIDGE_OK;
    waits_find(b);
    record_list_sort(&b->runs, compare_lengths);
    for (size_t i = 1; i <= b->runs.n; i++) {
        const built_run *head = record_list_at(&b->runs, first);
        const built_run *run = i < b->runs.n ? record_list_at(&b->runs, i) : NULL;
        if (run != NULL && run->collective == head->collective)
            continue;
        row_finish(b, first, i - first);
        first = i;
    }
    return RIDGE_OK;
}
