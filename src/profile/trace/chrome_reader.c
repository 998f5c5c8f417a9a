/*
 * The document around the events. An event is scanned within the window; when the
 * window ends within it, more is read and the event scanned anew.
 */
#include "chrome_event.h"
#include "trace_reader.h"

#include <string.h>

typedef struct reading {
    byte_window *w;
    trace_store *store;
    const char *path;
    bool is_cut;      /* the text ended before the document */
    bool was_damaged; /* something was skipped, so that brackets may not match */
    int64_t wasted;   /* bytes that were scanned for events that turned out damaged */
    int64_t objects, phased; /* among the events, and those of them that are events */
    bool is_table;           /* it begins as what XProf writes as tables */
} reading;

/* Damage within damage may be scanned again and again: up to so many bytes. */
enum { WASTED_LEAST = 1 << 27 };

/* How a step of the reading went. */
typedef enum progress { GO_ON, AT_END, STOPPED } progress;

/* ---- the window ------------------------------------------------------------------ */

static json_scan scan_of(const reading *r)
{
    return (json_scan){r->w->p, r->w->end};
}

static int64_t offset_of(const reading *r, const char *p)
{
    return r->w->passed + (p - r->w->p);
}

/* @param has_more  out: false when there is nothing more, which is then noted */
static ridge_status want_more(reading *r, bool *has_more)
{
    RIDGE_TRY(byte_window_more(r->w, has_more));
    if (*has_more)
        return RIDGE_OK;
    if (r->w->is_last) {
        r->is_cut = true;
        return RIDGE_OK;
    }
    /* A value that fills the largest window: it is passed over in pieces. */
    trace_store_lose(r->store, "values of more than 64 MiB", r->w->passed);
    byte_window_pass(r->w, r->w->end);
    return byte_window_more(r->w, has_more);
}

/* Pass white space. @param c  out: what stands behind it; 0 at the end */
static ridge_status peek(reading *r, char *c)
{
    bool has_more = true;
    *c = 0;
    while (has_more) {
        json_scan s = scan_of(r);
        const scan_result found = scan_space(&s);
        byte_window_pass(r->w, s.p);
        if (found == SCAN_OK) {
            *c = *s.p;
            return RIDGE_OK;
        }
        RIDGE_TRY(byte_window_more(r->w, &has_more));
    }
    return RIDGE_OK;
}

/* ---- damage ---------------------------------------------------------------------- */

/* Whether an event starts at the brace p: its first key is one of those that events
 * have. @return SCAN_MORE when the text ends too early to tell */
static scan_result is_event_start(const char *p, const char *end)
{
    static const char *const keys[] = {"ph", "cat", "name", "pid", "tid", "ts", "args"};
    json_scan s = {p, end};
    scan_value key;
    if (scan_mark(&s, '{') != SCAN_OK || scan_space(&s) != SCAN_OK)
        return SCAN_MORE;
    if (*s.p != '"')
        return SCAN_BAD;
    if (scan_any(&s, &key) != SCAN_OK || scan_space(&s) != SCAN_OK)
        return SCAN_MORE;
    for (size_t i = 0; *s.p == ':' && i < RIDGE_COUNT_OF(keys); i++) {
        if (ridge_str_is(key.raw, keys[i]))
            return SCAN_OK;
    }
    return SCAN_BAD;
}

/* To the next thing that looks like an event behind a comma. */
static ridge_status find_event(reading *r, bool *found)
{
    bool has_more = true;
    r->was_damaged = true;
    *found = false;
    const char *p = r->w->p + (r->w->p < r->w->end);
    while (has_more) {
        scan_result start = SCAN_BAD;
        for (; p < r->w->end && start == SCAN_BAD; p += start == SCAN_BAD) {
            if (*p == '{')
                start = is_event_start(p, r->w->end);
        }
        byte_window_pass(r->w, p);
        if (start == SCAN_OK) {
            *found = true;
            return RIDGE_OK;
        }
        RIDGE_TRY(byte_window_more(r->w, &has_more));
        p = r->w->p;
    }
    byte_window_pass(r->w, r->w->end);
    r->is_cut = true;
    return RIDGE_OK;
}

/* ---- events ---------------------------------------------------------------------- */

static ridge_status one_event(reading *r, progress *out)
{
    chrome_event e;
    json_scan s = scan_of(r);
    bool has_more = true;
    scan_result got = chrome_event_scan(&s, &e);
    while (got == SCAN_MORE && has_more) {
        RIDGE_TRY(want_more(r, &has_more));
        s = scan_of(r);
        if (has_more)
            got = chrome_event_scan(&s, &e);
    }
    *out = GO_ON;
    if (got == SCAN_OK) {
        e.offset = offset_of(r, r->w->p);
        r->objects++;
        r->phased += e.phase != 0;
        chrome_event_store(r->store, &e);
        byte_window_pass(r->w, s.p);
        return r->store->is_short ? ridge_fail_nomem(r->w->cx) : RIDGE_OK;
    }
    if (got == SCAN_MORE) {
        *out = STOPPED;
        return RIDGE_OK;
    }
    trace_store_lose(r->store, "damaged events", offset_of(r, r->w->p));
    bool found = false;
    r->wasted += s.p - r->w->p;
    if (r->wasted > WASTED_LEAST && r->wasted > 4 * r->w->passed) {
        trace_store_lose(r->store, "what follows: it is damaged throughout",
                         r->w->passed);
        *out = STOPPED;
        return RIDGE_OK;
    }
    RIDGE_TRY(find_event(r, &found));
    *out = found ? GO_ON : STOPPED;
    return RIDGE_OK;
}

/* Where damage left brackets unmatched, a bracket closes the events only when nothing
 * but the document's other members or its end follow. */
static ridge_status closes_events(reading *r, bool *closes)
{
    json_scan s = {r->w->p + 1, r->w->end};
    *closes = true;
    if (!r->was_damaged || scan_space(&s) != SCAN_OK)
        return RIDGE_OK;
    *closes = *s.p == ',' || *s.p == '}';
    if (*s.p == '}') {
        s.p++;
        *closes = scan_space(&s) == SCAN_MORE;
    }
    return RIDGE_OK;
}

static ridge_status between_events(reading *r, progress *out)
{
    char c;
    bool found = true;
    RIDGE_TRY(peek(r, &c));
    *out = GO_ON;
    if (c == ',') {
        byte_window_pass(r->w, r->w->p + 1);
        RIDGE_TRY(peek(r, &c));
    }
    if (c == ']') {
        bool closes;
        RIDGE_TRY(closes_events(r, &closes));
        *out = closes ? AT_END : GO_ON;
        if (closes)
            byte_window_pass(r->w, r->w->p + 1);
        else
            RIDGE_TRY(find_event(r, &found));
    } else if (c == 0) {
        r->is_cut = true;
        found = false;
    } else if (c != '{') {
        trace_store_lose(r->store, "damaged events", r->w->passed);
        RIDGE_TRY(find_event(r, &found));
    }
    if (!found)
        *out = STOPPED;
    return RIDGE_OK;
}

/* Behind the opening bracket. */
static ridge_status read_events(reading *r, progress *out)
{
    enum { EVENTS_A_LOOK = 65536 };
    *out = GO_ON;
    for (int64_t i = 0; *out == GO_ON; i++) {
        if (i % EVENTS_A_LOOK == 0 && ridge_ctx_is_cancelled(r->w->cx))
            return ridge_fail(r->w->cx, RIDGE_E_CANCELLED, "cancelled");
        RIDGE_TRY(between_events(r, out));
        if (*out == GO_ON)
            RIDGE_TRY(one_event(r, out));
    }
    return RIDGE_OK;
}

/* ---- the document ---------------------------------------------------------------- */

/* A key, and the mark behind it: the value stands at the window's start. */
static ridge_status read_key(reading *r, char *room, size_t most, progress *out)
{
    scan_value key;
    json_scan s = scan_of(r);
    bool has_more = true;
    scan_result got = scan_any(&s, &key);
    if (got == SCAN_OK)
        got = scan_mark(&s, ':');
    while (got == SCAN_MORE && has_more) {
        RIDGE_TRY(want_more(r, &has_more));
        s = scan_of(r);
        got = scan_any(&s, &key);
        if (got == SCAN_OK)
            got = scan_mark(&s, ':');
    }
    *out = got == SCAN_OK ? GO_ON : STOPPED;
    if (got != SCAN_OK)
        return RIDGE_OK;
    const size_t n = key.raw.n < most - 1 ? key.raw.n : most - 1;
    memcpy(room, key.raw.p, n);
    room[n] = 0;
    byte_window_pass(r->w, s.p);
    return RIDGE_OK;
}

static ridge_status read_other(reading *r, const char *key, progress *out)
{
    scan_value value;
    json_scan s = scan_of(r);
    bool has_more = true;
    scan_result got = scan_any(&s, &value);
    while (got == SCAN_MORE && has_more) {
        RIDGE_TRY(want_more(r, &has_more));
        s = scan_of(r);
        got = scan_any(&s, &value);
    }
    *out = got == SCAN_OK ? GO_ON : STOPPED;
    if (got == SCAN_OK) {
        chrome_document_store(r->store, ridge_str_of(key), &value);
        byte_window_pass(r->w, s.p);
    }
    return RIDGE_OK;
}

static ridge_status read_member(reading *r, bool *has_events, progress *out)
{
    char key[64];
    char c;
    RIDGE_TRY(peek(r, &c));
    if (c == ',') {
        byte_window_pass(r->w, r->w->p + 1);
        RIDGE_TRY(peek(r, &c));
    }
    if (c == '}' || c == 0) {
        r->is_cut |= c == 0;
        *out = AT_END;
        return RIDGE_OK;
    }
    RIDGE_TRY(read_key(r, key, sizeof key, out));
    if (*out != GO_ON)
        return RIDGE_OK;
    RIDGE_TRY(peek(r, &c));
    if (strcmp(key, "traceEvents") != 0 || c != '[')
        return read_other(r, key, out);
    *has_events = true;
    byte_window_pass(r->w, r->w->p + 1);
    RIDGE_TRY(read_events(r, out));
    if (*out == AT_END)
        *out = GO_ON;
    return RIDGE_OK;
}

static ridge_status read_object(reading *r, bool *has_events)
{
    progress go = GO_ON;
    byte_window_pass(r->w, r->w->p + 1);
    while (go == GO_ON)
        RIDGE_TRY(read_member(r, has_events, &go));
    if (go == STOPPED && !r->is_cut)
        trace_store_lose(r->store, "what follows damage beside the events",
                         r->w->passed);
    return RIDGE_OK;
}

/* Keys with which the documents begin that XProf computes from profiles: tables of
 * Google charts, and its viewers' trees. They hold no events. */
static bool is_table_key(ridge_str key)
{
    static const char *const keys[] = {"cols",       "rows",       "p",
                                       "byCategory", "byProgram",  "bySizeToMaxHeap",
                                       "hloModule",  "hloInfoMap", "podStatsSequence",
                                       "heapSizes",  "deviceType"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(keys); i++) {
        if (ridge_str_is(key, keys[i]))
            return true;
    }
    return false;
}

/* At the document's bracket: whether the first object's first key is a table's. */
static bool begins_as_table(const reading *r)
{
    json_scan s = scan_of(r);
    scan_value key;
    if (*s.p == '[' && (scan_mark(&s, '[') != SCAN_OK || scan_space(&s) != SCAN_OK))
        return false;
    return scan_mark(&s, '{') == SCAN_OK && scan_space(&s) == SCAN_OK && *s.p == '"' &&
           scan_any(&s, &key) == SCAN_OK && is_table_key(key.raw);
}

static ridge_status read_document(reading *r, bool *has_events)
{
    char c;
    progress go;
    RIDGE_TRY(peek(r, &c));
    r->is_table = c != 0 && begins_as_table(r);
    if (c == '{')
        return read_object(r, has_events);
    if (c != '[')
        return RIDGE_OK;
    *has_events = true;
    byte_window_pass(r->w, r->w->p + 1);
    return read_events(r, &go);
}

static ridge_status fail_without_events(const reading *r)
{
    return ridge_fail(r->w->cx, RIDGE_E_PARSE,
                      "%s: no trace events in it: give a Chrome trace "
                      "({\"traceEvents\": [...]}), an XSpace (.xplane.pb) or an "
                      "SQLite export of Nsight Systems",
                      r->path);
}

ridge_status chrome_reader_read(byte_window *window, const char *path, trace_store *out,
                                bool *is_table)
{
    reading r = {.w = window, .store = out, .path = path};
    bool has_events = false;
    RIDGE_TRY(read_document(&r, &has_events));
    const bool has_none = out->events == 0 && r.is_cut;
    const bool is_trace = has_events && !has_none && (r.objects == 0 || r.phased > 0);
    *is_table = !is_trace && r.is_table;
    if (!is_trace)
        return r.is_table ? RIDGE_OK : fail_without_events(&r);
    if (r.is_cut)
        trace_store_lose(out, "the end: the file is cut off", window->passed);
    if (window->stream != NULL && ridge_stream_fault(window->stream) != NULL)
        trace_store_lose(out, ridge_stream_fault(window->stream), -1);
    out->bytes += window->passed + (window->end - window->p);
    return RIDGE_OK;
}
