/*
 * XSpace: planes, in them lines, in them events. A plane's lines come before what their
 * events and statistics are called, so the file is walked twice: first for the names.
 */
#include "chrome_event.h"
#include "instant.h"
#include "trace_reader.h"
#include "wire_walk.h"
#include "xplane_tables.h"

#include <string.h>

enum { PLANES_MOST = 4096 };

enum { SPACE_PLANE = 1, PLANE_NAME = 2, PLANE_LINE = 3, PLANE_STATS = 6 };

enum { LINE_ID = 1, LINE_NAME = 2, LINE_TIMESTAMP = 3, LINE_EVENT = 4 };

typedef struct space {
    ridge_ctx *cx;
    trace_store *store;
    byte_window w;
    xplane_tables **planes;
    size_t n, at;
    bool is_second; /* walk */
    bool is_damaged;
} space;

/* One line while its events are read. */
typedef struct line {
    uint64_t id;
    uint32_t name;
    int64_t timestamp_ns;
    trace_track *track;
    trace_thread *thread;
} line;

/* A short field's bytes; empty when they are cut off. */
static ridge_status text_take(space *s, int64_t length, ridge_str *out)
{
    bool got;
    *out = (ridge_str){"", 0};
    RIDGE_TRY(wire_walk_want(&s->w, length, &got));
    s->is_damaged |= !got;
    if (got)
        *out = (ridge_str){s->w.p, (size_t)length};
    return RIDGE_OK;
}

/* ---- events ---------------------------------------------------------------------- */

static uint32_t op_of(trace_store *store, const xplane_event *kind,
                      const xplane_values *v)
{
    const uint32_t text =
        kind->long_name != kind->name ? kind->long_name : v->text[XPLANE_STAT_OP];
    const trace_op_key key = {.name = kind->name,
                              .module = v->text[XPLANE_STAT_MODULE],
                              .scope = v->text[XPLANE_STAT_SCOPE],
                              .category = v->text[XPLANE_STAT_CATEGORY],
                              .source = v->text[XPLANE_STAT_SOURCE],
                              .shapes = text};
    const uint32_t op = trace_store_op(store, &key);
    if (store->is_short)
        return 0;
    trace_op *info = &store->op_info[op];
    info->is_kernel = true;
    for (int i = XPLANE_STAT_FLOPS; i >= XPLANE_STAT_MODEL_FLOPS; i--) {
        if (v->has[i]) {
            info->has_flops = true;
            info->flops = v->number[i];
        }
    }
    if (v->has[XPLANE_STAT_BYTES]) {
        info->has_bytes = true;
        info->bytes = v->number[XPLANE_STAT_BYTES];
    }
    return op;
}

static bool names_launch(const char *name)
{
    return strstr(name, "aunch") != NULL || strstr(name, "emcpy") != NULL ||
           strstr(name, "emset") != NULL;
}

static void host_event(space *s, const line *l, const xplane_event *kind,
                       const xplane_values *v, trace_span span)
{
    enum { NOTED_NS = 10000 };
    trace_store *store = s->store;
    const char *name = trace_store_text(store, kind->name);
    const double correlation = v->number[XPLANE_STAT_CORRELATION];
    if (v->has[XPLANE_STAT_CORRELATION] && names_launch(name) && correlation > 0 &&
        correlation < UINT32_MAX)
        trace_store_launch(store, l->thread, span.start_ns, (uint32_t)correlation);
    if (strstr(name, "backend_compile") != NULL || strstr(name, "XlaCompile") != NULL) {
        store->compilations++;
        store->compilation_ns += span.length_ns;
    }
    if (span.length_ns < NOTED_NS)
        return;
    const trace_host_key key = {.name = kind->name, .kind = TRACE_CALL_NOTE};
    trace_store_call(store, l->thread, span.start_ns, span.length_ns,
                     trace_store_host_op(store, &key));
}

static void event_place(space *s, const line *l, const Ridge__Xplane__Event *e)
{
    const xplane_tables *t = s->planes[s->at];
    const xplane_event *kind = xplane_tables_event(t, e->metadata_id);
    instant start;
    instant end;
    const instant base = {l->timestamp_ns, 0};
    if (kind == NULL) {
        trace_store_lose(s->store, "events that nothing describes", s->w.passed);
        return;
    }
    if (e->duration_ps < 0 || !instant_add(base, instant_of_ps(e->offset_ps), &start) ||
        !instant_add(start, instant_of_ps(e->duration_ps), &end)) {
        trace_store_lose(s->store, "events whose times are malformed", s->w.passed);
        return;
    }
    const trace_span span = {instant_ns(start), instant_ns(end) - instant_ns(start)};
    xplane_values v = kind->values;
    xplane_values_read(s->store, t, e->stats, e->n_stats, &v);
    s->store->events++;
    if (l->thread != NULL) {
        host_event(s, l, kind, &v, span);
        return;
    }
    const double link = v.number[XPLANE_STAT_CORRELATION];
    trace_store_slice(s->store, l->track, span, op_of(s->store, kind, &v),
                      link > 0 && link < UINT32_MAX ? (uint32_t)link : 0);
}

static ridge_status event_read(space *s, const line *l, int64_t length)
{
    ridge_str bytes;
    ridge_arena *arena = ridge_ctx_arena(s->cx);
    const ridge_mark mark = ridge_arena_mark(arena);
    RIDGE_TRY(text_take(s, length, &bytes));
    if (s->is_damaged)
        return RIDGE_OK;
    ProtobufCAllocator allocator = xplane_allocator(s->store);
    const Ridge__Xplane__Event *e =
        ridge__xplane__event__unpack(&allocator, bytes.n, (const uint8_t *)bytes.p);
    if (e == NULL)
        trace_store_lose(s->store, "damaged events", s->w.passed);
    else
        event_place(s, l, e);
    ridge_arena_rewind(arena, mark);
    byte_window_pass(&s->w, s->w.p + length);
    return s->store->is_short ? ridge_fail_nomem(s->cx) : RIDGE_OK;
}

/* ---- lines ----------------------------------------------------------------------- */

/* Where its events go; a line that is not wanted has neither track nor thread. */
static void line_open(space *s, line *l)
{
    const xplane_tables *t = s->planes[s->at];
    const ridge_str plane = name_table_get(&s->store->names, t->name);
    char id[24];
    snprintf(id, sizeof id, "%llu", (unsigned long long)l->id);
    if (t->is_host) {
        l->thread = trace_store_thread(s->store, plane, ridge_str_of(id));
        return;
    }
    const ridge_str name = name_table_get(&s->store->names, l->name);
    const trace_use use = chrome_track_use(plane, name);
    if (use == TRACE_USE_IGNORED || use == TRACE_USE_HOST)
        return;
    uint32_t number;
    trace_process *p = trace_store_process(s->store, plane, false, &number);
    l->track = trace_store_track(s->store, plane, ridge_str_of(id), false);
    if (p == NULL || l->track == NULL)
        return;
    p->name = t->name;
    p->hardware = t->values.text[XPLANE_STAT_DEVICE_TYPE];
    p->vendor = t->values.text[XPLANE_STAT_VENDOR];
    p->cores = t->values.number[XPLANE_STAT_CORES];
    p->memory_bytes = t->values.number[XPLANE_STAT_MEMORY];
    if (t->values.number[XPLANE_STAT_PEAK] > 0)
        s->store->peak_flops_per_s = 1e12 * t->values.number[XPLANE_STAT_PEAK];
    l->track->name = l->name;
    l->track->use = use;
}

static ridge_status line_field(space *s, const wire_field *f, line *l)
{
    ridge_str text;
    switch (f->number) {
    case LINE_ID:
        l->id = f->value;
        return RIDGE_OK;
    case LINE_TIMESTAMP:
        l->timestamp_ns = (int64_t)f->value;
        return RIDGE_OK;
    case LINE_NAME:
        RIDGE_TRY(text_take(s, f->length, &text));
        l->name = trace_store_name(s->store, text);
        return wire_walk_skip(&s->w, f->length);
    case LINE_EVENT:
        if (l->track == NULL && l->thread == NULL)
            line_open(s, l);
        if (l->track != NULL || l->thread != NULL)
            return event_read(s, l, f->length);
        return wire_walk_skip(&s->w, f->length);
    default:
        return f->is_delimited ? wire_walk_skip(&s->w, f->length) : RIDGE_OK;
    }
}

static ridge_status line_read(space *s, int64_t length)
{
    const wire_message message = {s->w.passed + length};
    line l = {.id = 0};
    bool found = true;
    while (found && !s->is_damaged) {
        wire_field f;
        RIDGE_TRY(wire_walk_next(&s->w, message, &f, &found, &s->is_damaged));
        if (found)
            RIDGE_TRY(line_field(s, &f, &l));
    }
    return RIDGE_OK;
}

/* ---- planes ---------------------------------------------------------------------- */

static ridge_status plane_open(space *s, ridge_str name)
{
    xplane_tables *t = ridge_new(s->store->arena, xplane_tables, 1);
    if (t == NULL)
        return ridge_fail_nomem(s->cx);
    s->planes[s->at] = t;
    return xplane_tables_init(s->store, name, t);
}

static ridge_status plane_field(space *s, const wire_field *f)
{
    ridge_str bytes;
    xplane_tables *t = s->planes[s->at];
    const bool is_wanted = t != NULL && (t->is_device || t->is_host);
    if (!f->is_delimited)
        return RIDGE_OK;
    if (s->is_second && is_wanted && f->number == PLANE_LINE)
        return line_read(s, f->length);
    if (!s->is_second && t == NULL && f->number == PLANE_NAME) {
        RIDGE_TRY(text_take(s, f->length, &bytes));
        RIDGE_TRY(plane_open(s, bytes));
    } else if (!s->is_second && is_wanted && f->number > PLANE_LINE &&
               f->number <= PLANE_STATS) {
        RIDGE_TRY(text_take(s, f->length, &bytes));
        if (!s->is_damaged)
            RIDGE_TRY(xplane_tables_add(s->store, t, f->number, bytes));
    }
    return wire_walk_skip(&s->w, f->length);
}

static ridge_status plane_read(space *s, int64_t length)
{
    const wire_message message = {s->w.passed + length};
    bool found = true;
    while (found && !s->is_damaged) {
        wire_field f;
        RIDGE_TRY(wire_walk_next(&s->w, message, &f, &found, &s->is_damaged));
        if (found)
            RIDGE_TRY(plane_field(s, &f));
    }
    if (!s->is_second && s->planes[s->at] != NULL)
        RIDGE_TRY(xplane_tables_end(s->store, s->planes[s->at]));
    s->at++;
    return RIDGE_OK;
}

/* ---- the file -------------------------------------------------------------------- */

static ridge_status space_walk(space *s)
{
    const wire_message message = {INT64_MAX};
    bool found = true;
    s->at = 0;
    while (found && !s->is_damaged && s->at < PLANES_MOST) {
        wire_field f;
        RIDGE_TRY(wire_walk_next(&s->w, message, &f, &found, &s->is_damaged));
        if (!found)
            break;
        if (f.number == SPACE_PLANE && f.is_delimited)
            RIDGE_TRY(plane_read(s, f.length));
        else if (f.is_delimited)
            RIDGE_TRY(wire_walk_skip(&s->w, f.length));
        if (ridge_ctx_is_cancelled(s->cx))
            return ridge_fail(s->cx, RIDGE_E_CANCELLED, "cancelled");
    }
    if (!s->is_second)
        s->n = s->at;
    return RIDGE_OK;
}

static ridge_status walk_file(space *s, const char *path)
{
    ridge_stream *stream;
    RIDGE_TRY(ridge_stream_open(s->cx, path, &stream));
    ridge_status st =
        byte_window_open(s->cx, s->store->arena, stream, WINDOW_BYTES, &s->w);
    if (st == RIDGE_OK)
        st = space_walk(s);
    if (st == RIDGE_OK && s->is_second) {
        s->store->bytes += s->w.passed;
        if (ridge_stream_fault(stream) != NULL)
            trace_store_lose(s->store, ridge_stream_fault(stream), -1);
    }
    ridge_stream_close(stream);
    return st;
}

static ridge_status walk(space *s, const char *path, ridge_str bytes)
{
    if (path != NULL)
        return walk_file(s, path);
    s->w = byte_window_of(s->cx, bytes);
    return space_walk(s);
}

/* @param path  NULL: bytes in memory */
static ridge_status space_read(ridge_ctx *cx, const char *path, ridge_str bytes,
                               trace_store *out)
{
    space s = {.cx = cx, .store = out};
    s.planes = ridge_new(out->arena, xplane_tables *, PLANES_MOST);
    if (s.planes == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(walk(&s, path, bytes));
    if (s.n == 0 || s.planes[0] == NULL)
        return ridge_fail(
            cx, RIDGE_E_PARSE,
            "%s: not an XSpace: give a .xplane.pb of XProf, a Chrome trace "
            "or an SQLite export of Nsight Systems",
            path == NULL ? "bytes" : path);
    s.is_second = true;
    s.is_damaged = false;
    RIDGE_TRY(walk(&s, path, bytes));
    if (s.is_damaged)
        trace_store_lose(out, "the end: the file is cut off or damaged", s.w.passed);
    out->has_xla = true;
    return RIDGE_OK;
}

ridge_status xplane_reader_read(ridge_ctx *cx, const char *path, trace_store *out)
{
    return space_read(cx, path, (ridge_str){"", 0}, out);
}

ridge_status xplane_reader_of(ridge_ctx *cx, ridge_str bytes, trace_store *out)
{
    return space_read(cx, NULL, bytes, out);
}
