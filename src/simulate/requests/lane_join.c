/* Sequences that join a lane's decoding ones, and the tokens since which they wait. */
#include "decode_batch.h"
#include "iteration_plan.h"
#include "serving_events.h"

#include <string.h>

enum { FRESH_FIRST = 64 };

static ridge_status add_fresh(serving_play *p, play_lane *lane, double last_token_s)
{
    if (lane->n_fresh == lane->room_fresh) {
        const int room = lane->room_fresh > 0 ? 2 * lane->room_fresh : FRESH_FIRST;
        double *more = ridge_new(ridge_ctx_scratch(p->cx), double, (size_t)room);
        if (more == NULL)
            return ridge_fail_nomem(p->cx);
        if (lane->n_fresh > 0)
            memcpy(more, lane->fresh, (size_t)lane->n_fresh * sizeof *more);
        lane->fresh = more;
        lane->room_fresh = room;
    }
    lane->fresh[lane->n_fresh++] = last_token_s;
    return RIDGE_OK;
}

static ridge_status add_silent(serving_play *p, play_lane *lane, int32_t sequence)
{
    if (lane->n_silent == lane->room_silent) {
        const int room = lane->room_silent > 0 ? 2 * lane->room_silent : FRESH_FIRST;
        int32_t *more = ridge_new(ridge_ctx_scratch(p->cx), int32_t, (size_t)room);
        if (more == NULL)
            return ridge_fail_nomem(p->cx);
        if (lane->n_silent > 0)
            memcpy(more, lane->silent, (size_t)lane->n_silent * sizeof *more);
        lane->silent = more;
        lane->room_silent = room;
    }
    lane->silent[lane->n_silent++] = sequence;
    return RIDGE_OK;
}

ridge_status ridge__lane_take(serving_play *p, play_lane *lane, int32_t sequence,
                              double last_token_s)
{
    RIDGE_TRY(add_fresh(p, lane, last_token_s));
    p->sequences[sequence].last_token_s = last_token_s;
    return ridge__batch_join(p, lane, sequence);
}

void ridge__lane_drop(serving_play *p, play_lane *lane, int32_t sequence)
{
    const play_sequence *s = &p->sequences[sequence];
    if (s->joined != lane->batches[s->rank].step)
        return;
    for (int i = 0; i < lane->n_silent; i++) {
        if (lane->silent[i] == sequence) {
            lane->silent[i] = lane->silent[--lane->n_silent];
            return;
        }
    }
    for (int i = 0; i < lane->n_fresh; i++) {
        if (lane->fresh[i] == s->last_token_s) {
            lane->fresh[i] = lane->fresh[--lane->n_fresh];
            return;
        }
    }
}

ridge_status ridge__lane_join(serving_play *p, play_lane *lane, int32_t sequence)
{
    play_sequence *s = &p->sequences[sequence];
    const bool gave_way = s->gave_way_s >= 0;
    const int part =
        gave_way ? RIDGE_LATENCY_PART_PREEMPTION : RIDGE_LATENCY_PART_TRANSFER;
    const double since = gave_way ? s->gave_way_s : s->since_s;
    s->parts_s[part] += p->now_s - since;
    s->since_s = p->now_s;
    s->gave_way_s = -1;
    if (s->first_s < 0 && s->made < 1) {
        RIDGE_TRY(add_silent(p, lane, sequence));
        return ridge__batch_join(p, lane, sequence);
    }
    if (s->first_s < 0) {
        ridge__sequence_answer(p, s, p->now_s, RIDGE_LATENCY_PART_TRANSFER);
        return ridge__lane_take(p, lane, sequence, s->first_s);
    }
    return ridge__lane_take(p, lane, sequence, since);
}
