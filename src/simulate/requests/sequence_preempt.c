/* Who gives way when the cache is full, and what becomes of it. */
#include "sequence_room.h"

#include "decode_batch.h"
#include "serving_events.h"

/* Whether b is to give way rather than a. */
static bool is_weaker(const serving_play *p, const play_unit *u,
                      const play_batch *batch, const play_sequence *a,
                      const play_sequence *b)
{
    if (p->deployment->queue == RIDGE_QUEUE_PRIORITY) {
        if (a->what.priority != b->what.priority)
            return b->what.priority > a->what.priority;
        return b->number > a->number;
    }
    if (u->rules->victim == RIDGE_VICTIM_LATEST)
        return b->admitted > a->admitted;
    const double of_a = a->made + a->rate * (double)(batch->step - a->joined);
    const double of_b = b->made + b->rate * (double)(batch->step - b->joined);
    if (of_a != of_b)
        return of_b < of_a;
    if (a->what.prompt_tokens != b->what.prompt_tokens)
        return b->what.prompt_tokens > a->what.prompt_tokens;
    return b->admitted > a->admitted;
}

int32_t ridge__sequence_victim(const serving_play *p, const play_lane *lane, int rank)
{
    const play_unit *u = &p->units[lane->unit];
    const play_batch *b = &lane->batches[rank];
    int32_t best = -1;
    for (int i = 0; i < b->decoding.n + b->n_chunked; i++) {
        const int32_t at = i < b->decoding.n ? b->decoding.items[i].index
                                             : b->chunked[i - b->decoding.n];
        if (best < 0 || is_weaker(p, u, b, &p->sequences[best], &p->sequences[at]))
            best = at;
    }
    return best;
}

void ridge__sequence_unchunk(serving_play *p, play_lane *lane, int32_t sequence)
{
    play_batch *b = &lane->batches[p->sequences[sequence].rank];
    int n = 0;
    for (int i = 0; i < b->n_chunked; i++) {
        if (b->chunked[i] != sequence)
            b->chunked[n++] = b->chunked[i];
    }
    b->n_chunked = n;
    n = 0;
    for (int i = 0; i < lane->n_chunks; i++) {
        if (lane->chunks[i].sequence != sequence)
            lane->chunks[n++] = lane->chunks[i];
    }
    lane->n_chunks = n;
}

void ridge__sequence_settle(serving_play *p, play_lane *lane, int32_t sequence,
                            double now_s)
{
    play_sequence *s = &p->sequences[sequence];
    s->parts_s[RIDGE_LATENCY_PART_OTHERS] += lane->others_s - s->at_others_s;
    s->parts_s[RIDGE_LATENCY_PART_HOST] += lane->host_s - s->at_host_s;
    s->at_others_s = lane->others_s;
    s->at_host_s = lane->host_s;
    s->since_s = now_s;
}

static bool can_swap(const play_unit *u, const play_sequence *s)
{
    return u->rules->preemption == RIDGE_PREEMPTION_SWAP &&
           u->speed->swap_bytes_per_s > 0 && s->state == SEQUENCE_DECODING;
}

void ridge__sequence_restart(play_sequence *s)
{
    s->made = (double)(int64_t)s->made;
    if (s->first_s < 0)
        s->made = 0; /* none that was seen */
    else
        s->wanted = s->what.prompt_tokens + (int64_t)s->made;
    s->cached = 0;
    if (s->gave_way_s < 0)
        s->gave_way_s = s->since_s;
    s->preemptions++;
}

/* vLLM hashes every full block: a sequence that gives way finds its own again, unless
 * others took them meanwhile. Only then are they given names here. */
static ridge_status name_own(serving_play *p, int32_t sequence)
{
    play_sequence *s = &p->sequences[sequence];
    page_cache *pages = &p->units[s->unit].ranks[s->rank].pages;
    if (!pages->is_on || !pages->keeps_order)
        return RIDGE_OK;
    if (s->what.session == 0) {
        s->what.session = (UINT64_C(1) << 63) | (uint64_t)s->number;
        s->has_own_names = true;
    }
    RIDGE_TRY(ridge__pages_prepare(pages, ridge_request_piece(&s->what)));
    ridge__sequence_name(p, sequence, s->cached);
    return RIDGE_OK;
}

ridge_status ridge__sequence_give_way(serving_play *p, play_lane *lane,
                                      int32_t sequence)
{
    const play_unit *u = &p->units[lane->unit];
    play_sequence *s = &p->sequences[sequence];
    const bool swaps = can_swap(u, s);
    if (s->state == SEQUENCE_DECODING) {
        ridge__lane_drop(p, lane, sequence);
        ridge__sequence_settle(p, lane, sequence, lane->last_end_s);
        ridge__batch_leave(p, lane, sequence);
        s->blocks = ridge__blocks_of(u, s->cached);
    } else {
        ridge__sequence_unchunk(p, lane, sequence);
    }
    const double cached = s->cached, made = s->made;
    if (swaps)
        lane->extra_s +=
            (double)s->blocks * u->speed->block_bytes / u->speed->swap_bytes_per_s;
    else
        RIDGE_TRY(name_own(p, sequence));
    ridge__sequence_release(p, sequence);
    ridge__sequence_restart(s);
    if (swaps) {
        s->state = SEQUENCE_SWAPPED;
        s->cached = cached;
        s->made = made;
    }
    p->tally->preemptions++;
    return ridge__sequence_queue(p, sequence);
}
