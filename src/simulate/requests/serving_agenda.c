/* The order of what happens: lanes by the time at which they end or may begin, and
 * events. */
#include <math.h>
#include <string.h>

#include "decode_walk.h"
#include "iteration_plan.h"
#include "serving_events.h"

static int32_t number_of(const serving_play *p, const play_lane *lane)
{
    return (int32_t)(lane->unit * p->lanes_a_unit + lane->index);
}

/* Of equal times, lanes that end come before lanes that begin. */
ridge_status ridge__lane_file(serving_play *p, play_lane *lane)
{
    const int32_t number = number_of(p, lane);
    const int place = ridge__heap_place(&p->agenda, number);
    const int64_t lanes = (int64_t)p->n_units * p->lanes_a_unit;
    const heap_key key = {lane->at_s, number + (lane->state == LANE_READY ? lanes : 0)};
    if (lane->state == LANE_IDLE) {
        if (place >= 0)
            ridge__heap_remove(&p->agenda, place);
        return RIDGE_OK;
    }
    if (place >= 0)
        ridge__heap_move(&p->agenda, place, key);
    else if (!ridge__heap_push(&p->agenda, key, number))
        return ridge_fail_nomem(p->cx);
    return RIDGE_OK;
}

static bool may_cut(const play_lane *lane)
{
    return lane->state == LANE_BUSY && lane->n_chunks == 0 && lane->steps > 1 &&
           !lane->has_taken;
}

ridge_status ridge__unit_wake(serving_play *p, int unit)
{
    play_unit *u = &p->units[unit];
    for (int l = 0; l < u->n_lanes && !u->is_down; l++) {
        play_lane *lane = &u->lanes[l];
        if (lane->state == LANE_IDLE) {
            lane->state = LANE_READY;
            lane->at_s = u->n_lanes > 1 ? fmax(p->now_s, u->free_s[0]) : p->now_s;
            lane->last_end_s = lane->at_s;
            RIDGE_TRY(ridge__lane_file(p, lane));
            break;
        }
        if (may_cut(lane) && lane->planned_left == 0) { /* a plan is not cut */
            const double begins = lane->start_s + lane->extra_s;
            lane->at_s =
                lane->start_s +
                (lane->extra_s + ridge__walk_cut(lane, p->now_s - begins, WALK_BEYOND));
            RIDGE_TRY(ridge__lane_file(p, lane));
        }
    }
    return RIDGE_OK;
}

/* The steps that ended by now are committed, the rest is planned again from there. */
static ridge_status split_jump(serving_play *p, play_lane *lane)
{
    const double now = p->now_s, begins = lane->start_s + lane->extra_s;
    if (now < begins + lane->pieces[0].first_s)
        return RIDGE_OK; /* the first step is under way */
    const double whole = ridge__walk_cut(lane, now - begins, WALK_BEFORE);
    lane->at_s = lane->start_s + (lane->extra_s + whole);
    p->now_s = lane->at_s;
    RIDGE_TRY(ridge__lane_commit(p, lane));
    RIDGE_TRY(ridge__lane_plan(p, lane));
    p->now_s = now;
    return ridge__lane_file(p, lane);
}

ridge_status ridge__unit_catch_up(serving_play *p, int unit)
{
    play_unit *u = &p->units[unit];
    for (int l = 0; l < u->n_lanes; l++) {
        play_lane *lane = &u->lanes[l];
        if (may_cut(lane) && lane->at_s > p->now_s)
            RIDGE_TRY(split_jump(p, lane));
    }
    return RIDGE_OK;
}

/* ---- events ---------------------------------------------------------------------- */

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

static play_event take_event(serving_play *p)
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

ridge_status ridge__event_happen(serving_play *p)
{
    const play_event event = take_event(p);
    switch (event.kind) {
    case EVENT_MOVED:
        return ridge__move_end(p, &event);
    case EVENT_FAILURE:
        return ridge__failure_begin(p, &event);
    case EVENT_REPAIR:
        return ridge__failure_end(p, &event);
    }
    return RIDGE_OK;
}
