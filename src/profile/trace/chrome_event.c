/* Members of an event found by their first letters; all else is crossed unread. */
#include "chrome_event.h"
#include "instant.h"

#include <string.h>

/* Whether the arguments of an event are wanted, by what is known of it when they come:
 * writers put them last. */
static bool wants_args(const chrome_event *e)
{
    if (e->phase != 'X' && e->phase != 'M' && e->phase != 0)
        return false;
    return e->kind == CHROME_OTHER || e->kind == CHROME_KERNEL ||
           e->kind == CHROME_COPY || e->kind == CHROME_CALL ||
           e->kind == CHROME_RUNTIME || e->kind == CHROME_OTHER_DEVICE;
}

static scan_result args_pass(json_scan *s, chrome_event *e)
{
    scan_value ignored;
    if (scan_space(s) == SCAN_OK && *s->p == '{' && wants_args(e))
        return chrome_args_scan(s, &e->args);
    return scan_any(s, &ignored);
}

/* The value of a member. */
static scan_result member_scan(json_scan *s, ridge_str key, chrome_event *e)
{
    scan_value v;
    if (SCAN_IS(key, "args"))
        return args_pass(s, e);
    const scan_result r = scan_any(s, &v);
    if (r != SCAN_OK)
        return r;
    if (SCAN_IS(key, "ph"))
        e->phase = v.kind == '"' && v.raw.n == 1 ? v.raw.p[0] : 0;
    else if (SCAN_IS(key, "ts"))
        e->ts = v.raw;
    else if (SCAN_IS(key, "dur"))
        e->duration = v.raw;
    else if (SCAN_IS(key, "pid"))
        e->pid = v.raw;
    else if (SCAN_IS(key, "tid"))
        e->tid = v.raw;
    else if (SCAN_IS(key, "name"))
        e->name = v;
    else if (SCAN_IS(key, "cat"))
        e->category = v;
    if (SCAN_IS(key, "cat"))
        e->kind = chrome_kind_of(v.raw);
    return r;
}

/* Flows, counters and the like, and what Kineto has for others: known by their first
 * members, the rest is skipped. */
static bool is_unread(const chrome_event *e)
{
    return e->kind == CHROME_IGNORED ||
           (e->phase != 0 && e->phase != 'X' && e->phase != 'M' && e->phase != 'B' &&
            e->phase != 'E');
}

scan_result chrome_event_scan(json_scan *s, chrome_event *out)
{
    scan_result r = scan_mark(s, '{');
    bool is_end = false;
    memset(out, 0, sizeof *out);
    while (r == SCAN_OK) {
        scan_value key;
        r = scan_key(s, &is_end, &key);
        if (r != SCAN_OK || is_end)
            break;
        r = member_scan(s, key.raw, out);
        if (r == SCAN_OK && is_unread(out)) {
            out->phase = out->phase == 0 ? 'X' : out->phase;
            return scan_rest(s);
        }
    }
    return r;
}

/* ---- begin and end ------------------------------------------------------------------
 */

enum { OPEN_MOST = 1024 };

static void begin_store(trace_store *store, const chrome_event *e)
{
    trace_track *track = trace_store_track(store, e->pid, e->tid, false);
    instant t;
    if (track == NULL || !instant_of_us(e->ts, &t) || track->open.n >= OPEN_MOST) {
        trace_store_lose(store, "begin events that could not be kept", e->offset);
        return;
    }
    const trace_op_key key = {.name = chrome_value_name(store, &e->name)};
    trace_slice *open = record_list_add(&track->open);
    if (open == NULL)
        store->is_short = true;
    else
        *open =
            (trace_slice){.start_ns = instant_ns(t), .op = trace_store_op(store, &key)};
}

static void end_store(trace_store *store, const chrome_event *e)
{
    trace_track *track = trace_store_track(store, e->pid, e->tid, false);
    instant t;
    if (track == NULL || track->open.n == 0 || !instant_of_us(e->ts, &t)) {
        trace_store_lose(store, "end events without a begin", e->offset);
        return;
    }
    const trace_slice *open = record_list_at(&track->open, --track->open.n);
    const int64_t length_ns = instant_ns(t) - open->start_ns;
    if (length_ns >= 0)
        trace_store_slice(store, track, (trace_span){open->start_ns, length_ns},
                          open->op, 0);
}

void chrome_event_store(trace_store *store, const chrome_event *e)
{
    trace_span span;
    store->events++;
    switch (e->phase) {
    case 'X':
        if (e->kind != CHROME_OTHER)
            chrome_kineto_store(store, e);
        else if (chrome_event_span(store, e, &span))
            chrome_track_store(store, e, &span);
        break;
    case 'M':
        chrome_metadata_store(store, e);
        break;
    case 'B':
        begin_store(store, e);
        break;
    case 'E':
        end_store(store, e);
        break;
    case 0:
        trace_store_lose(store, "objects among the events that have no phase",
                         e->offset);
        break;
    default:
        break;
    }
}
