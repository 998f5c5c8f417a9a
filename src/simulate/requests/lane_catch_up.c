/* The steps of a jump that ended by now, for those who look into a replica's cache. */

#include "decode_walk.h"
#include "iteration_plan.h"
#include "serving_events.h"

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
        if (ridge__lane_may_cut(lane) && lane->at_s > p->now_s)
            RIDGE_TRY(split_jump(p, lane));
    }
    return RIDGE_OK;
}
