/* The order of lanes by the time at which they end or may begin. */
#include <math.h>

#include "decode_walk.h"
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

bool ridge__lane_may_cut(const play_lane *lane)
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
        if (ridge__lane_may_cut(lane) &&
            lane->planned_left == 0) { /* a plan is not cut */
            const double begins = lane->start_s + lane->extra_s;
            lane->at_s =
                lane->start_s +
                (lane->extra_s + ridge__walk_cut(lane, p->now_s - begins, WALK_BEYOND));
            RIDGE_TRY(ridge__lane_file(p, lane));
        }
    }
    return RIDGE_OK;
}
