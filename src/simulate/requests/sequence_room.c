/* Room in the cache for sequences. */
#include "sequence_room.h"

#include <math.h>
#include <string.h>

#include "decode_batch.h"

/* ---- admission ------------------------------------------------------------------- */

/* A sequence that asks for room, and where. */
typedef struct candidate {
    const serving_play *p;
    const play_unit *u;
    int rank;
    const play_sequence *s;
    const room_ask *ask;
} candidate;

/* What a sequence would take. */
typedef struct room_need {
    page_match match;
    int64_t cached; /* tokens that need no pass */
    int64_t chunk;  /* tokens of its first one */
    int64_t blocks; /* in all */
    int64_t free;   /* of these, out of free ones */
    int64_t full;   /* that it may come to take */
} room_need;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t full_blocks(const serving_play *p, const play_unit *u,
                           const play_sequence *s)
{
    const int64_t longest = p->deployment->longest_tokens;
    const int64_t own = s->what.prompt_tokens + s->what.output_tokens;
    const bool is_own = !u->rules->is_slotted || longest == 0;
    return ridge__blocks_of(u, (double)(is_own ? own : longest));
}

/* Its first chunk. @return false: no tokens are left in the iteration */
static bool find_chunk(const play_unit *u, const play_sequence *s, const room_ask *ask,
                       room_need *need)
{
    const ridge_engine *rules = u->rules;
    const int64_t rest = s->wanted - need->cached;
    if (!rules->is_chunked) {
        need->chunk = rest;
        return rest <= ask->tokens || ask->is_fresh;
    }
    need->chunk = least(rest, ask->tokens);
    if (rules->chunk_tokens > 0)
        need->chunk = least(need->chunk, rules->chunk_tokens);
    return need->chunk > 0;
}

static bool find_need(const candidate *c, room_need *need)
{
    const play_unit *u = c->u;
    const play_sequence *s = c->s;
    const page_cache *pages = &u->ranks[c->rank].pages;
    *need = (room_need){.full = full_blocks(c->p, u, s)};
    if (s->state == SEQUENCE_SWAPPED || s->from_unit >= 0) {
        need->blocks = need->free = ridge__blocks_of(u, s->cached);
    } else {
        if (pages->is_on && pages->piece_tokens > 0)
            need->match = ridge__pages_match(pages, &s->what,
                                             (s->wanted - 1) / pages->piece_tokens);
        need->cached =
            (need->match.pieces + need->match.host_pieces) * pages->piece_tokens;
        if (!find_chunk(u, s, c->ask, need))
            return false;
        need->blocks = ridge__blocks_of(u, (double)(need->cached + need->chunk));
        need->free = need->blocks - (need->match.pieces - need->match.idle_pieces) *
                                        pages->piece_blocks;
    }
    if (u->rules->is_slotted)
        need->blocks = need->free = need->full;
    return true;
}

/* Tokens that running sequences may still make, as SGLang bounds them. */
static double outputs_left(const serving_play *p, const play_unit *u, int rank)
{
    const double most = u->rules->reserve_tokens;
    double left = 0;
    for (int l = 0; l < u->n_lanes; l++) {
        const play_batch *b = &u->lanes[l].batches[rank];
        if ((double)b->most_left <= most) {
            left += b->ends - (double)b->decoding.n * (double)b->step;
            continue;
        }
        for (int i = 0; i < b->decoding.n; i++) {
            const play_sequence *s = &p->sequences[b->decoding.items[i].index];
            left += fmin((double)(s->ends - b->step), most);
        }
    }
    return left;
}

static bool has_estimate(const candidate *c, const room_need *need)
{
    const play_unit *u = c->u;
    const ridge_engine *rules = u->rules;
    const double bs = (double)rules->block_tokens;
    const double reserved =
        ridge__rank_reserve(u, &u->ranks[c->rank]) * outputs_left(c->p, u, c->rank) +
        c->ask->promised;
    const double output =
        fmin((double)c->s->what.output_tokens - c->s->made, rules->reserve_tokens);
    const double free = (double)(u->ranks[c->rank].pages.free - c->ask->held) * bs;
    return (double)need->free * bs + output < free - reserved;
}

static bool has_room(const candidate *c, const room_need *need)
{
    const play_unit *u = c->u;
    const play_rank *rank = &u->ranks[c->rank];
    const bool is_alone = rank->running == 0;
    const double kept =
        is_alone ? 0 : ceil(u->rules->watermark * (double)rank->pages.blocks);
    /* one that comes back from the host takes a block more at its next step */
    const int64_t next = c->s->state == SEQUENCE_SWAPPED ? 1 : 0;
    if ((double)(rank->pages.free - c->ask->held - need->free - next) < kept)
        return false;
    if (u->rules->preemption == RIDGE_PREEMPTION_RESERVE &&
        rank->committed + need->full > rank->pages.blocks)
        return false;
    return is_alone || u->rules->reserve_share == 0 || has_estimate(c, need);
}

/* Pieces that are cached become its own, the rest of its blocks are taken. */
static void take_room(play_unit *u, play_lane *lane, play_rank *rank, play_sequence *s,
                      const room_need *need)
{
    page_cache *pages = &rank->pages;
    const int64_t wanted = need->match.pieces + need->match.host_pieces;
    int64_t held = 0;
    while (held < wanted &&
           ridge__pages_hold(pages, ridge__pages_hash(pages, &s->what, held)))
        held++;
    s->pieces = held;
    s->blocks = need->blocks;
    if (held < wanted)
        s->blocks =
            ridge__blocks_of(u, (double)(held * pages->piece_tokens + need->chunk));
    ridge__pages_take(pages, s->blocks - held * pages->piece_blocks);
    if (held > need->match.pieces && u->speed->swap_bytes_per_s > 0)
        lane->extra_s += (double)((held - need->match.pieces) * pages->piece_blocks) *
                         u->speed->block_bytes / u->speed->swap_bytes_per_s;
}

static void count_hits(serving_play *p, const page_cache *pages, play_sequence *s,
                       const room_need *need)
{
    const double hits = (double)(s->pieces * pages->piece_tokens);
    if (s->preemptions > 0) {
        p->tally->recomputed_tokens += (double)s->wanted - hits;
        return;
    }
    s->hit_tokens = (int64_t)hits;
    p->tally->asked_tokens += (double)s->wanted;
    p->tally->hit_tokens += hits;
    if (s->pieces > need->match.pieces)
        p->tally->host_tokens +=
            (double)((s->pieces - need->match.pieces) * pages->piece_tokens);
}

static void account_entry(serving_play *p, play_sequence *s)
{
    if (s->start_s < 0)
        s->start_s = p->now_s;
    if (s->gave_way_s < 0)
        s->parts_s[RIDGE_LATENCY_PART_QUEUE] += p->now_s - s->since_s;
    s->since_s = p->now_s;
}

static ridge_status append_chunked(serving_play *p, play_batch *b, int32_t sequence)
{
    if (b->n_chunked == b->room_chunked) {
        const int room = b->room_chunked > 0 ? 2 * b->room_chunked : 8;
        int32_t *more = ridge_new(ridge_ctx_scratch(p->cx), int32_t, (size_t)room);
        if (more == NULL)
            return ridge_fail_nomem(p->cx);
        if (b->n_chunked > 0)
            memcpy(more, b->chunked, (size_t)b->n_chunked * sizeof *more);
        b->chunked = more;
        b->room_chunked = room;
    }
    b->chunked[b->n_chunked++] = sequence;
    return RIDGE_OK;
}

/* From the queue into the lane. */
static ridge_status enter(serving_play *p, play_lane *lane, int32_t sequence,
                          const room_need *need)
{
    play_unit *u = &p->units[lane->unit];
    play_sequence *s = &p->sequences[sequence];
    play_rank *rank = &u->ranks[s->rank];
    const bool was_swapped = s->state == SEQUENCE_SWAPPED;
    ridge__sequence_unqueue(p, sequence);
    take_room(u, lane, rank, s, need);
    s->full_blocks = need->full;
    s->lane = lane->index;
    s->admitted = p->admitted++;
    rank->running++;
    rank->committed += need->full;
    account_entry(p, s);
    if (was_swapped) {
        if (u->speed->swap_bytes_per_s > 0)
            lane->extra_s +=
                (double)s->blocks * u->speed->block_bytes / u->speed->swap_bytes_per_s;
        s->state = SEQUENCE_MOVING;
        return RIDGE_OK;
    }
    if (s->from_unit >= 0) {
        s->state = SEQUENCE_MOVING;
        return RIDGE_OK;
    }
    s->cached = (double)(s->pieces * rank->pages.piece_tokens);
    count_hits(p, &rank->pages, s, need);
    s->state = SEQUENCE_CHUNKED;
    return append_chunked(p, &lane->batches[s->rank], sequence);
}

ridge_status ridge__sequence_enter(serving_play *p, play_lane *lane, int rank,
                                   room_ask *ask, int32_t *entered, int64_t *chunk)
{
    play_unit *u = &p->units[lane->unit];
    play_rank *r = &u->ranks[rank];
    room_need need;
    *entered = -1;
    *chunk = 0;
    if (r->running >= u->rules->sequences) {
        r->is_blocked = true;
        return RIDGE_OK;
    }
    const int32_t first = r->waiting.items[0].index;
    const play_sequence *s = &p->sequences[first];
    const candidate c = {p, u, rank, s, ask};
    if (!find_need(&c, &need))
        return RIDGE_OK;
    if (!has_room(&c, &need)) {
        r->is_blocked = true;
        return RIDGE_OK;
    }
    RIDGE_TRY(enter(p, lane, first, &need));
    s = &p->sequences[first];
    if (s->state == SEQUENCE_CHUNKED) {
        *chunk = need.chunk;
        ask->promised +=
            fmin((double)s->what.output_tokens - s->made, u->rules->reserve_tokens);
    }
    *entered = first;
    return RIDGE_OK;
}

/* ---- growth ---------------------------------------------------------------------- */

bool ridge__sequence_grow(serving_play *p, play_lane *lane, int32_t sequence,
                          int64_t tokens, int64_t held)
{
    const play_unit *u = &p->units[lane->unit];
    play_sequence *s = &p->sequences[sequence];
    page_cache *pages = &u->ranks[s->rank].pages;
    const int64_t blocks = ridge__blocks_of(u, s->cached + (double)tokens);
    if (u->rules->is_slotted || blocks <= s->blocks)
        return true;
    if (blocks - s->blocks > pages->free - held)
        return false;
    ridge__pages_take(pages, blocks - s->blocks);
    s->blocks = blocks;
    return true;
}

void ridge__sequence_name(serving_play *p, int32_t sequence, double tokens)
{
    play_sequence *s = &p->sequences[sequence];
    page_cache *pages = &p->units[s->unit].ranks[s->rank].pages;
    if (!pages->is_on || pages->piece_tokens == 0)
        return;
    while ((double)((s->pieces + 1) * pages->piece_tokens) <= tokens) {
        const uint64_t hash = ridge__pages_hash(pages, &s->what, s->pieces);
        if (hash == 0 || !ridge__pages_name(pages, hash))
            return;
        s->pieces++;
    }
}

static void give_pages(page_cache *pages, const ridge_request *what, int64_t blocks,
                       int64_t pieces)
{
    ridge__pages_give(pages, blocks - pieces * pages->piece_blocks);
    while (pieces-- > 0)
        ridge__pages_release(pages, ridge__pages_hash(pages, what, pieces));
}

void ridge__sequence_release(serving_play *p, int32_t sequence)
{
    play_sequence *s = &p->sequences[sequence];
    play_rank *rank = &p->units[s->unit].ranks[s->rank];
    give_pages(&rank->pages, &s->what, s->blocks, s->pieces);
    rank->running--;
    rank->committed -= s->full_blocks;
    s->blocks = s->pieces = s->full_blocks = 0;
}

void ridge__sequence_release_source(serving_play *p, int32_t sequence)
{
    play_sequence *s = &p->sequences[sequence];
    play_rank *rank = &p->units[s->from_unit].ranks[s->from_rank];
    give_pages(&rank->pages, &s->what, s->moved_blocks, s->moved_pieces);
    s->from_unit = -1;
    s->moved_blocks = s->moved_pieces = 0;
}
