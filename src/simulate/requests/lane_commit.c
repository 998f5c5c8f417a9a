/*
 * What a lane planned comes to pass: time is accounted for, chunks are in the cache,
 * tokens are made, sequences end.
 */
#include <math.h>
#include <string.h>

#include "decode_batch.h"
#include "decode_walk.h"
#include "sequence_room.h"
#include "serving_events.h"

/* ---- tokens ---------------------------------------------------------------------- */

/* Gaps between tokens: those of sequences whose first token came since the last
 * iteration of decoding begin with it. */
static void tally_gaps(serving_play *p, play_lane *lane, int64_t n, double first_end_s)
{
    ridge_latency_sketch *itl = &p->tally->itl.sketch;
    for (int i = 0; i < lane->n_fresh; i++)
        ridge_latency_add(itl, first_end_s - lane->fresh[i], 1);
    const int64_t old = n - lane->n_fresh - lane->n_silent;
    if (old > 0)
        ridge_latency_add(itl, first_end_s - lane->last_token_s, (double)old);
    for (int i = 0; i < lane->n_silent; i++)
        ridge__sequence_answer(p, &p->sequences[lane->silent[i]], first_end_s,
                               RIDGE_LATENCY_PART_DECODE);
    lane->n_fresh = lane->n_silent = 0;
    lane->last_token_s = lane->at_s;
    if (lane->n_chunks > 0)
        return;
    for (int i = 0; i < lane->n_pieces; i++) {
        const walk_piece *w = &lane->pieces[i];
        const int64_t skipped = i == 0 ? 1 : 0;
        ridge_latency_add_series(itl, w->first_s + w->slope_s * (double)skipped,
                                 w->slope_s, w->steps - skipped, (double)n);
    }
}

/* ---- prompts --------------------------------------------------------------------- */

/* Its cache goes to another pool, from where its tokens come. Where that one makes the
 * first token too, it computes the prompt's last one again. */
static ridge_status end_moving(serving_play *p, const play_unit *u, int32_t sequence)
{
    play_sequence *s = &p->sequences[sequence];
    if (u->rules->decodes_first && s->first_s < 0) {
        s->made = 0;
        s->cached -= 1;
    }
    return ridge__route_cache(p, sequence);
}

/* Its prompt is in the cache, and its next token made. */
static ridge_status end_prompt(serving_play *p, play_lane *lane, int32_t sequence)
{
    const play_unit *u = &p->units[lane->unit];
    play_sequence *s = &p->sequences[sequence];
    ridge__sequence_unchunk(p, lane, sequence);
    if (s->gave_way_s >= 0) {
        s->parts_s[RIDGE_LATENCY_PART_PREEMPTION] += p->now_s - s->gave_way_s;
        if (s->first_s >= 0)
            ridge_latency_add(&p->tally->itl.sketch, p->now_s - s->gave_way_s, 1);
        s->gave_way_s = -1;
        s->since_s = p->now_s;
    }
    s->made += 1;
    const bool ends = s->made >= (double)s->what.output_tokens;
    if (s->first_s < 0 && (ends || !u->makes_prompts_only))
        ridge__sequence_answer(p, s, p->now_s, RIDGE_LATENCY_PART_PREFILL);
    if (ends) {
        ridge__sequence_release(p, sequence);
        ridge__sequence_complete(p, sequence);
        return RIDGE_OK;
    }
    if (u->makes_prompts_only)
        return end_moving(p, u, sequence);
    return ridge__lane_take(p, lane, sequence, p->now_s);
}

/* Time of prompts that are under way: their own, the host's, and that of others. */
static void account_prompts(serving_play *p, play_lane *lane, double host_s)
{
    const play_unit *u = &p->units[lane->unit];
    for (int r = 0; r < u->n_ranks; r++) {
        const play_batch *b = &lane->batches[r];
        for (int i = 0; i < b->n_chunked; i++) {
            play_sequence *s = &p->sequences[b->chunked[i]];
            if (s->gave_way_s >= 0)
                continue;
            const double took = lane->at_s - s->since_s;
            const double host = fmin(host_s, took);
            s->parts_s[RIDGE_LATENCY_PART_HOST] += host;
            s->parts_s[RIDGE_LATENCY_PART_OTHERS] += took - host;
            s->since_s = lane->at_s;
        }
    }
    for (int i = 0; i < lane->n_chunks; i++) {
        const play_chunk *c = &lane->chunks[i];
        play_sequence *s = &p->sequences[c->sequence];
        if (s->gave_way_s >= 0)
            continue;
        double *others = &s->parts_s[RIDGE_LATENCY_PART_OTHERS];
        s->parts_s[RIDGE_LATENCY_PART_PREFILL] += c->own_s;
        *others -= c->own_s;
        if (*others < 0) { /* by rounding */
            s->parts_s[RIDGE_LATENCY_PART_PREFILL] += *others;
            *others = 0;
        }
    }
}

static ridge_status commit_chunks(serving_play *p, play_lane *lane)
{
    const play_unit *u = &p->units[lane->unit];
    const bool is_static = u->rules->batching == RIDGE_BATCHING_STATIC;
    /* those that end leave the list */
    while (lane->n_chunks > 0) {
        const play_chunk c = lane->chunks[0];
        play_sequence *s = &p->sequences[c.sequence];
        memmove(lane->chunks, lane->chunks + 1,
                (size_t)(lane->n_chunks - 1) * sizeof *lane->chunks);
        lane->n_chunks--;
        s->cached += (double)(is_static ? c.priced : c.tokens);
        p->tally->computed_tokens += (double)c.priced;
        p->tally->padded_tokens += (double)(c.priced - c.tokens);
        if (!u->rules->keeps_order)
            ridge__sequence_name(p, c.sequence, s->cached);
        if (c.is_last)
            RIDGE_TRY(end_prompt(p, lane, c.sequence));
    }
    return RIDGE_OK;
}

/* ---- decoding -------------------------------------------------------------------- */

static ridge_status end_sequence(serving_play *p, play_lane *lane, int32_t sequence)
{
    const play_unit *u = &p->units[lane->unit];
    play_sequence *s = &p->sequences[sequence];
    ridge__sequence_settle(p, lane, sequence, p->now_s);
    if (u->rules->batching == RIDGE_BATCHING_STATIC)
        RIDGE_TRY(ridge__batch_haunt(p, lane, sequence));
    else
        ridge__batch_leave(p, lane, sequence);
    if (!u->rules->is_slotted)
        s->blocks = ridge__blocks_of(u, s->cached);
    if (s->what.session != 0 && !s->has_own_names)
        ridge__sequence_name(p, sequence, s->cached);
    ridge__sequence_release(p, sequence);
    ridge__sequence_complete(p, sequence);
    return RIDGE_OK;
}

static ridge_status end_sequences(serving_play *p, play_lane *lane, play_batch *b)
{
    while (b->decoding.n > 0 && b->decoding.items[0].key.first <= (double)b->step)
        RIDGE_TRY(end_sequence(p, lane, b->decoding.items[0].index));
    return RIDGE_OK;
}

/* Iterations of decoding in which no prompt waited count for those that come. */
static void count_steps(const play_unit *u, play_lane *lane)
{
    const int64_t most = u->rules->balance_iterations;
    bool decodes = true;
    if (most <= 0 || u->n_ranks == 1 || lane->steps <= 1)
        return;
    for (int r = 0; r < u->n_ranks; r++)
        decodes = decodes && ridge__batch_decoding(&lane->batches[r]) > 0;
    lane->waited_steps = decodes ? (lane->waited_steps + lane->steps - 1) % most : 0;
}

static void advance(serving_play *p, play_lane *lane)
{
    const play_unit *u = &p->units[lane->unit];
    int64_t n = 0;
    count_steps(u, lane);
    lane->without_steps += lane->steps;
    if (lane->planned_left > 0)
        lane->planned_left -= lane->steps;
    for (int r = 0; r < u->n_ranks; r++) {
        play_batch *b = &lane->batches[r];
        n += b->decoding.n;
        if (!lane->has_taken)
            ridge__pages_take(&u->ranks[r].pages,
                              ridge__batch_need(p, u, b, lane->steps));
        ridge__batch_advance(p, u, b, lane->steps);
        u->ranks[r].reserve_steps += lane->steps;
    }
    p->tally->decoding_steps += (double)lane->steps;
    p->tally->decoding_sequences += (double)(n * lane->steps);
    const double first_end_s =
        lane->n_chunks > 0
            ? lane->at_s
            : lane->start_s + lane->stall_s + (lane->extra_s + lane->pieces[0].first_s);
    tally_gaps(p, lane, n, first_end_s);
}

/* ---- time ------------------------------------------------------------------------ */

/* What decoding sequences of the lane spent, decoding apart.
 * @return the host's share of the iteration */
static double account_lane(play_lane *lane)
{
    const double apart = lane->extra_s + lane->stall_s;
    const double took = lane->at_s - lane->start_s - apart;
    const double before = lane->start_s - lane->last_end_s + apart;
    double host;
    if (lane->n_chunks > 0) {
        host = took > lane->device_s ? took - lane->device_s : 0;
        const double chunks = lane->device_s - (lane->is_decoding ? lane->decode_s : 0);
        lane->others_s += before + (chunks > 0 ? chunks : 0);
    } else {
        host = ridge__walk_host(lane);
        lane->device_s = took - host;
        lane->others_s += before;
    }
    lane->host_s += host;
    return host;
}

static void tally_lane(serving_play *p, play_lane *lane)
{
    play_unit *u = &p->units[lane->unit];
    serving_tally *t = p->tally;
    const double took = lane->at_s - lane->start_s;
    double used = 0;
    for (int r = 0; r < u->n_ranks; r++) {
        const play_batch *b = &lane->batches[r];
        const double share = ridge__rank_used(&u->ranks[r]);
        used += share;
        t->kv_time += took;
        t->kv_most = fmax(t->kv_most, share);
        t->running_area += took * (double)(b->decoding.n + b->n_chunked);
    }
    t->kv_area += took * (lane->used_at_start + used) / 2;
    t->busy_s += lane->at_s - fmax(lane->start_s, u->busy_until_s);
    u->busy_until_s = fmax(u->busy_until_s, lane->at_s);
    t->iterations += lane->steps;
}

static void tell_span(const serving_play *p, const play_lane *lane, int64_t decoding)
{
    const play_unit *u = &p->units[lane->unit];
    ridge_serving_span span = {.replica = lane->unit,
                               .lane = lane->index,
                               .start_s = lane->start_s,
                               .end_s = lane->at_s,
                               .iterations = lane->steps,
                               .decoding = lane->is_decoding ? decoding : 0,
                               .prompts = lane->n_chunks,
                               .device_s = lane->device_s};
    for (int i = 0; i < lane->n_chunks; i++)
        span.chunk_tokens += lane->chunks[i].tokens;
    for (int r = 0; r < u->n_ranks; r++) {
        span.waiting += u->ranks[r].waiting.n;
        span.kv_share = fmax(span.kv_share, ridge__rank_used(&u->ranks[r]));
    }
    p->watch->span(p->watch->self, &span);
}

ridge_status ridge__lane_commit(serving_play *p, play_lane *lane)
{
    const play_unit *u = &p->units[lane->unit];
    int64_t decoding = 0;
    for (int r = 0; r < u->n_ranks; r++)
        decoding += lane->batches[r].decoding.n;
    const double host = account_lane(lane);
    account_prompts(p, lane, host);
    if (lane->is_decoding)
        advance(p, lane);
    tally_lane(p, lane);
    if (p->watch != NULL && p->watch->span != NULL)
        tell_span(p, lane, decoding);
    lane->last_end_s = lane->at_s;
    lane->extra_s = 0;
    if (lane->is_decoding) {
        for (int r = 0; r < u->n_ranks; r++)
            RIDGE_TRY(end_sequences(p, lane, &lane->batches[r]));
    }
    RIDGE_TRY(commit_chunks(p, lane));
    return ridge__move_join(p, lane);
}
