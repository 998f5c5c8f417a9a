/* Events by time: a heap. */
#include <math.h>
#include <string.h>

#include "serving_events.h"

static bool is_earlier(const play_event *a, const play_event *b)
{
    return a->at_s < b->at_s || (a->at_s == b->at_s && a->order < b->order);
}

ridge_status ridge__event_add(serving_play *p, play_event event)
{
    if (p->n_events == p->room_events) {
        const int room = p->room_events > 0 ? 2 * p->room_events : 16;
        play_event *more =
            ridge_new(ridge_ctx_scratch(p->cx), play_event, (size_t)room);
        if (more == NULL)
            return ridge_fail_nomem(p->cx);
        if (p->n_events > 0)
            memcpy(more, p->events, (size_t)p->n_events * sizeof *more);
        p->events = more;
        p->room_events = room;
    }
    event.order = p->event_order++;
    int at = p->n_events++;
    for (; at > 0 && is_earlier(&event, &p->events[(at - 1) / 2]); at = (at - 1) / 2)
        p->events[at] = p->events[(at - 1) / 2];
    p->events[at] = event;
    return RIDGE_OK;
}

double ridge__event_next_s(const serving_play *p)
{
    return p->n_events > 0 ? p->events[0].at_s : (double)INFINITY;
}

play_event ridge__event_take(serving_play *p)
{
    const play_event top = p->events[0];
    const play_event last = p->events[--p->n_events];
    int at = 0;
    for (int child = 1; child < p->n_events; child = 2 * at + 1) {
        if (child + 1 < p->n_events &&
            is_earlier(&p->events[child + 1], &p->events[child]))
            child++;
        if (!is_earlier(&p->events[child], &last))
            break;
        p->events[at] = p->events[child];
        at = child;
    }
    if (p->n_events > 0)
        p->events[at] = last;
    return top;
}
