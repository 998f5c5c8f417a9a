/* Caches on their way from a pool that makes prompts to one that decodes. */
#include <math.h>
#include <string.h>

#include "iteration_plan.h"
#include "sequence_room.h"
#include "serving_events.h"

ridge_status ridge__move_begin(serving_play *p, int32_t sequence)
{
    const play_sequence *s = &p->sequences[sequence];
    play_unit *from = &p->units[s->from_unit];
    const ridge_serving_speed *speed = from->speed;
    const double bytes = (double)s->moved_blocks * speed->block_bytes;
    const double takes = bytes / speed->transfer_bytes_per_s;
    const double begins = fmax(p->now_s, from->link_s);
    from->link_s = begins + takes;
    p->tally->transferred_bytes += bytes;
    return ridge__event_add(p, (play_event){.kind = EVENT_MOVED,
                                            .at_s = begins + speed->transfer_s + takes,
                                            .subject = sequence,
                                            .number = s->admitted});
}

static ridge_status add_arriving(serving_play *p, play_rank *r, int32_t sequence)
{
    if (r->n_arriving == r->room_arriving) {
        const int room = r->room_arriving > 0 ? 2 * r->room_arriving : 8;
        int32_t *more = ridge_new(ridge_ctx_scratch(p->cx), int32_t, (size_t)room);
        if (more == NULL)
            return ridge_fail_nomem(p->cx);
        if (r->n_arriving > 0)
            memcpy(more, r->arriving, (size_t)r->n_arriving * sizeof *more);
        r->arriving = more;
        r->room_arriving = room;
    }
    r->arriving[r->n_arriving++] = sequence;
    return RIDGE_OK;
}

/* The lane that is not under way; NULL: all are. */
static play_lane *free_lane(play_unit *u)
{
    for (int l = 0; l < u->n_lanes; l++) {
        if (u->lanes[l].state != LANE_BUSY)
            return &u->lanes[l];
    }
    return NULL;
}

ridge_status ridge__move_join(serving_play *p, play_lane *lane)
{
    play_unit *u = &p->units[lane->unit];
    for (int r = 0; r < u->n_ranks; r++) {
        play_rank *rank = &u->ranks[r];
        for (int i = 0; i < rank->n_arriving; i++)
            RIDGE_TRY(ridge__lane_join(p, lane, rank->arriving[i]));
        rank->n_arriving = 0;
    }
    return RIDGE_OK;
}

ridge_status ridge__move_end(serving_play *p, const play_event *event)
{
    const int32_t sequence = event->subject;
    const play_sequence *s = &p->sequences[sequence];
    if (s->state != SEQUENCE_MOVING || s->admitted != event->number)
        return RIDGE_OK; /* a failure came between */
    const int from = s->from_unit, to = s->unit;
    play_unit *u = &p->units[to];
    ridge__sequence_release_source(p, sequence);
    RIDGE_TRY(ridge__unit_wake(p, from));
    RIDGE_TRY(add_arriving(p, &u->ranks[s->rank], sequence));
    play_lane *lane = free_lane(u);
    if (lane == NULL)
        return ridge__unit_wake(p, to);
    if (lane->state == LANE_IDLE)
        lane->last_end_s = p->now_s;
    RIDGE_TRY(ridge__move_join(p, lane));
    return ridge__unit_wake(p, to);
}
