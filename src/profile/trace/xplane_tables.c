/* Metadata of a plane. Events' kinds come before the names of their statistics, so the
 * packed entries are kept until both are there. */
#include "xplane_tables.h"

#include <string.h>

typedef struct kept_entry {
    const char *p;
    size_t n;
} kept_entry;

typedef struct stat_row {
    uint32_t name;
    uint32_t kind;
} stat_row;

static void *take(void *store, size_t size)
{
    const trace_store *s = store;
    return ridge_arena_new(ridge_ctx_arena(s->cx), 1, size);
}

static void give(void *store, void *p)
{
    (void)store;
    (void)p;
}

ProtobufCAllocator xplane_allocator(trace_store *store)
{
    return (ProtobufCAllocator){take, give, store};
}

static ridge_str id_bytes(const int64_t *id)
{
    return (ridge_str){(const char *)id, sizeof *id};
}

ridge_status xplane_tables_init(trace_store *store, ridge_str name, xplane_tables *out)
{
    *out = (xplane_tables){.name = trace_store_name(store, name)};
    const char *text = trace_store_text(store, out->name);
    out->is_device = strncmp(text, "/device:", 8) == 0;
    out->is_host = strncmp(text, "/host:CPU", 9) == 0;
    record_list_init(&out->events, store->arena, sizeof(kept_entry));
    record_list_init(&out->stats, store->arena, sizeof(stat_row));
    if (!name_table_init(&out->event_ids, store->arena, UINT32_MAX) ||
        !name_table_init(&out->stat_ids, store->arena, UINT32_MAX))
        return ridge_fail_nomem(store->cx);
    return RIDGE_OK;
}

/* ---- entries ----------------------------------------------------------------------
 */

static uint32_t stat_kind(ridge_str name)
{
    static const char *const texts[] = {"",
#define XPLANE_STAT_TEXT(name, text) text,
                                        XPLANE_STAT_LIST(XPLANE_STAT_TEXT)
#undef XPLANE_STAT_TEXT
    };
    for (uint32_t i = 1; i < RIDGE_COUNT_OF(texts); i++) {
        if (ridge_str_is(name, texts[i]))
            return i;
    }
    return XPLANE_STAT_OTHER;
}

static ridge_str text_of(ProtobufCBinaryData bytes)
{
    return (ridge_str){bytes.len > 0 ? (const char *)bytes.data : "", bytes.len};
}

static void stat_add(trace_store *store, xplane_tables *t, ridge_str bytes)
{
    ProtobufCAllocator allocator = xplane_allocator(store);
    const Ridge__Xplane__StatMetadataEntry *e =
        ridge__xplane__stat_metadata_entry__unpack(&allocator, bytes.n,
                                                   (const uint8_t *)bytes.p);
    if (e == NULL) {
        trace_store_lose(store, "damaged names of statistics", -1);
        return;
    }
    const int64_t id = e->key;
    const ridge_str name =
        e->value != NULL ? text_of(e->value->name) : (ridge_str){"", 0};
    const uint32_t known = t->stat_ids.n;
    const uint32_t at = name_table_put(&t->stat_ids, id_bytes(&id));
    stat_row *row = at >= known && at != NAME_NONE ? record_list_add(&t->stats) : NULL;
    if (row != NULL)
        *row = (stat_row){trace_store_name(store, name), stat_kind(name)};
}

static void entry_keep(trace_store *store, xplane_tables *t, ridge_str bytes)
{
    kept_entry *kept = record_list_add(&t->events);
    const char *copy = ridge_str_dup(store->arena, bytes);
    if (kept == NULL || copy == NULL)
        store->is_short = true;
    else
        *kept = (kept_entry){copy, bytes.n};
}

static void plane_stat_keep(trace_store *store, xplane_tables *t, ridge_str bytes);

ridge_status xplane_tables_add(trace_store *store, xplane_tables *t, uint64_t field,
                               ridge_str bytes)
{
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_arena(store->cx));
    if (field == 4)
        entry_keep(store, t, bytes);
    else if (field == 5)
        stat_add(store, t, bytes);
    else if (field == 6)
        plane_stat_keep(store, t, bytes);
    ridge_arena_rewind(ridge_ctx_arena(store->cx), mark);
    return store->is_short ? ridge_fail_nomem(store->cx) : RIDGE_OK;
}

/* ---- values -----------------------------------------------------------------------
 */

static const stat_row *stat_find(const xplane_tables *t, int64_t id)
{
    const uint32_t at = name_table_find(&t->stat_ids, id_bytes(&id));
    return at == NAME_NONE || at < 2 || at - 2 >= t->stats.n
               ? NULL
               : record_list_at(&t->stats, at - 2);
}

static void value_read(trace_store *store, const xplane_tables *t,
                       const Ridge__Xplane__Stat *stat, xplane_values *to)
{
    const stat_row *row = stat_find(t, stat->metadata_id);
    if (row == NULL || row->kind == XPLANE_STAT_OTHER)
        return;
    to->has[row->kind] = true;
    if (stat->has_str_value) {
        to->text[row->kind] = trace_store_name(store, text_of(stat->str_value));
    } else if (stat->has_ref_value) {
        const stat_row *named = stat_find(t, (int64_t)stat->ref_value);
        to->text[row->kind] = named == NULL ? 0 : named->name;
    } else if (stat->has_double_value) {
        to->number[row->kind] = stat->double_value;
    } else if (stat->has_int64_value) {
        to->number[row->kind] = (double)stat->int64_value;
    } else {
        to->number[row->kind] = (double)stat->uint64_value;
    }
}

void xplane_values_read(trace_store *store, const xplane_tables *t,
                        Ridge__Xplane__Stat *const *stats, size_t n, xplane_values *to)
{
    for (size_t i = 0; i < n; i++)
        value_read(store, t, stats[i], to);
}

/* A plane's own statistics come last, when their names are known. */
static void plane_stat_keep(trace_store *store, xplane_tables *t, ridge_str bytes)
{
    ProtobufCAllocator allocator = xplane_allocator(store);
    const Ridge__Xplane__Stat *stat =
        ridge__xplane__stat__unpack(&allocator, bytes.n, (const uint8_t *)bytes.p);
    if (stat != NULL)
        value_read(store, t, stat, &t->values);
}

static void event_read(trace_store *store, xplane_tables *t, const kept_entry *kept,
                       record_list *to)
{
    ProtobufCAllocator allocator = xplane_allocator(store);
    const Ridge__Xplane__EventMetadataEntry *e =
        ridge__xplane__event_metadata_entry__unpack(&allocator, kept->n,
                                                    (const uint8_t *)kept->p);
    if (e == NULL || e->value == NULL) {
        trace_store_lose(store, "damaged descriptions of events", -1);
        return;
    }
    const int64_t id = e->key;
    const uint32_t known = t->event_ids.n;
    const uint32_t at = name_table_put(&t->event_ids, id_bytes(&id));
    xplane_event *event = ridge_new(store->arena, xplane_event, 1);
    if (at == NAME_NONE || event == NULL) {
        store->is_short = true;
        return;
    }
    void *place = at >= known ? record_list_add(to) : NULL;
    if (place == NULL)
        return;
    memcpy(place, &event, sizeof event);
    event->long_name = trace_store_name(store, text_of(e->value->name));
    event->name = e->value->has_display_name && e->value->display_name.len > 0
                      ? trace_store_name(store, text_of(e->value->display_name))
                      : event->long_name;
    xplane_values_read(store, t, e->value->stats, e->value->n_stats, &event->values);
}

ridge_status xplane_tables_end(trace_store *store, xplane_tables *t)
{
    record_list events;
    record_list_init(&events, store->arena, sizeof(xplane_event *));
    for (size_t i = 0; i < t->events.n; i++) {
        const ridge_mark mark = ridge_arena_mark(ridge_ctx_arena(store->cx));
        event_read(store, t, record_list_at(&t->events, i), &events);
        ridge_arena_rewind(ridge_ctx_arena(store->cx), mark);
        if (store->is_short)
            return ridge_fail_nomem(store->cx);
    }
    t->events = events;
    return RIDGE_OK;
}

const xplane_event *xplane_tables_event(const xplane_tables *t, int64_t id)
{
    const uint32_t at = name_table_find(&t->event_ids, id_bytes(&id));
    if (at == NAME_NONE || at < 2 || at - 2 >= t->events.n)
        return NULL;
    const xplane_event *event;
    memcpy(&event, record_list_at(&t->events, at - 2), sizeof event);
    return event;
}
