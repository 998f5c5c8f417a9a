/* The time of an event and the texts of its values, as a store has them. */
#include "chrome_event.h"
#include "instant.h"

bool chrome_event_span(trace_store *store, const chrome_event *e, trace_span *out)
{
    instant start;
    instant length = {0, 0};
    instant end;
    if (!instant_of_us(e->ts, &start) ||
        (e->duration.n > 0 && !instant_of_us(e->duration, &length)) ||
        !instant_add(start, length, &end)) {
        trace_store_lose(store, "events whose times are malformed", e->offset);
        return false;
    }
    const int64_t start_ns = instant_ns(start);
    const int64_t end_ns = instant_ns(end);
    /* Beyond a century either way the differences of times need not fit. */
    const int64_t most = (int64_t)1 << 61;
    if (end_ns < start_ns || start_ns < -most || end_ns > most) {
        trace_store_lose(store, "events that end before they start", e->offset);
        return false;
    }
    *out = (trace_span){start_ns, end_ns - start_ns};
    return true;
}

uint32_t chrome_value_name(trace_store *store, const scan_value *value)
{
    if (!value->has_escape)
        return trace_store_name(store, value->raw);
    ridge_arena *scratch = ridge_ctx_arena(store->cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    char *room = ridge_new(scratch, char, value->raw.n + 1);
    if (room == NULL) {
        store->is_short = true;
        return 0;
    }
    const size_t n = scan_unescape(value->raw, room);
    const uint32_t name = trace_store_name(store, (ridge_str){room, n});
    ridge_arena_rewind(scratch, mark);
    return name;
}
