/*
 * Replicas that fail: what they hold is lost, their requests begin again elsewhere with
 * what they have made as part of their prompts, and a time later they are back, empty.
 */
#include <math.h>
#include <string.h>

#include "decode_batch.h"
#include "decode_walk.h"
#include "sequence_room.h"
#include "serving_events.h"

enum { FAILURES_MOST = 100000 };

static ridge_status draw_failure(serving_play *p, int unit)
{
    play_unit *u = &p->units[unit];
    const double in = ridge_chance_exponential(&u->chance, p->deployment->failure_s);
    return ridge__event_add(p, (play_event){.kind = EVENT_FAILURE,
                                            .at_s = p->now_s + in,
                                            .subject = unit,
                                            .lasts_s = p->deployment->repair_s,
                                            .repeats = true});
}

ridge_status ridge__failures_open(serving_play *p)
{
    const ridge_serving_deployment *d = p->deployment;
    for (int i = 0; i < p->n_units && d->failure_s > 0; i++)
        RIDGE_TRY(draw_failure(p, i));
    for (int i = 0; i < d->n_outages; i++) {
        const ridge_serving_outage *o = &d->outages[i];
        RIDGE_TRY(ridge__event_add(p, (play_event){.kind = EVENT_FAILURE,
                                                   .at_s = o->at_s,
                                                   .subject = (int32_t)o->replica,
                                                   .lasts_s = o->lasts_s}));
    }
    return RIDGE_OK;
}

/* What a lane did until it stopped: whole iterations of decoding count. */
static ridge_status stop_lane(serving_play *p, play_lane *lane)
{
    const double begins = lane->start_s + lane->extra_s;
    if (lane->state == LANE_BUSY && lane->n_chunks == 0 && !lane->has_taken &&
        p->now_s > begins) {
        const double whole = ridge__walk_cut(lane, p->now_s - begins, WALK_BEFORE);
        if (lane->steps > 0) {
            lane->at_s = lane->start_s + (lane->extra_s + whole);
            RIDGE_TRY(ridge__lane_commit(p, lane));
        }
    }
    lane->n_chunks = 0;
    lane->n_fresh = lane->n_silent = 0;
    lane->extra_s = 0;
    lane->state = LANE_IDLE;
    return ridge__lane_file(p, lane);
}

static void leave_batches(serving_play *p, int32_t sequence)
{
    play_sequence *s = &p->sequences[sequence];
    play_lane *lane = &p->units[s->unit].lanes[s->lane];
    if (s->state == SEQUENCE_DECODING) {
        ridge__sequence_settle(p, lane, sequence, lane->last_end_s);
        ridge__batch_leave(p, lane, sequence);
    } else if (s->state == SEQUENCE_CHUNKED) {
        ridge__sequence_unchunk(p, lane, sequence);
    }
}

/* A sequence on the replica that failed, or that had its cache there. */
static ridge_status lose_sequence(serving_play *p, int32_t sequence, int unit)
{
    play_sequence *s = &p->sequences[sequence];
    const bool is_here = s->unit == unit;
    const bool waits = s->state == SEQUENCE_WAITING || s->state == SEQUENCE_SWAPPED;
    const bool keeps_cache = s->from_unit >= 0 && s->from_unit != unit;
    if (s->state == SEQUENCE_FREE || (!is_here && s->from_unit != unit) || s->unit < 0)
        return RIDGE_OK;
    if (waits)
        ridge__sequence_unqueue(p, sequence);
    else if (is_here)
        leave_batches(p, sequence);
    if (!waits && !is_here)
        ridge__sequence_release(p, sequence); /* room at the other end */
    if (!waits && is_here)
        s->blocks = s->pieces = s->full_blocks = 0;
    p->units[s->unit].load--;
    if (keeps_cache) {
        s->state = SEQUENCE_WAITING;
        return ridge__route_cache(p, sequence);
    }
    s->from_unit = -1;
    s->moved_blocks = s->moved_pieces = 0;
    const bool has_begun = !waits || s->first_s >= 0 || s->state == SEQUENCE_SWAPPED;
    if (has_begun)
        ridge__sequence_restart(s);
    s->state = SEQUENCE_WAITING;
    return ridge__route_prompt(p, sequence);
}

static void empty_ranks(play_unit *u)
{
    for (int r = 0; r < u->n_ranks; r++) {
        play_rank *rank = &u->ranks[r];
        rank->running = rank->committed = 0;
        rank->n_arriving = 0;
        rank->is_blocked = false;
        ridge__pages_reset(&rank->pages);
        for (int l = 0; l < u->n_lanes; l++)
            ridge__batch_clear(&u->lanes[l].batches[r], u->rules->block_tokens);
    }
}

ridge_status ridge__failure_begin(serving_play *p, const play_event *event)
{
    const int unit = event->subject;
    play_unit *u = &p->units[unit];
    if (u->is_down)
        return RIDGE_OK;
    if (++p->tally->failures > FAILURES_MOST)
        return ridge_fail(p->cx, RIDGE_E_ARG,
                          "replicas failed 100,000 times: they fail faster than they "
                          "serve");
    for (int l = 0; l < u->n_lanes; l++)
        RIDGE_TRY(stop_lane(p, &u->lanes[l]));
    u->is_down = true;
    for (int32_t i = 0; i < p->n_sequences; i++)
        RIDGE_TRY(lose_sequence(p, i, unit));
    empty_ranks(u);
    for (int l = 0; l < u->n_lanes; l++)
        u->free_s[l] = p->now_s;
    u->link_s = p->now_s;
    return ridge__event_add(p, (play_event){.kind = EVENT_REPAIR,
                                            .at_s = p->now_s + event->lasts_s,
                                            .subject = unit,
                                            .repeats = event->repeats});
}

ridge_status ridge__failure_end(serving_play *p, const play_event *event)
{
    p->units[event->subject].is_down = false;
    if (event->repeats)
        RIDGE_TRY(draw_failure(p, event->subject));
    return ridge__route_homeless(p);
}
