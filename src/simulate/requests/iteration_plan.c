/*
 * What a lane does next. Mixed: sequences that decode, then chunks of prompts that are
 * under way, then new ones, within a budget of tokens. Prefill: prompts as long as any
 * can enter, else decoding. Static: a batch of prompts, then decoding to the last
 * token.
 */
#include "iteration_plan.h"

#include <math.h>
#include <string.h>

#include "decode_batch.h"
#include "decode_walk.h"
#include "iteration_price.h"
#include "sequence_room.h"
#include "serving_events.h"

enum { CHUNKS_FIRST = 16, PAD_LEAST = 16 };

/* ---- chunks ---------------------------------------------------------------------- */

static int64_t padded(const play_unit *u, int64_t tokens)
{
    int64_t bucket = PAD_LEAST;
    if (!u->rules->pads_prompts)
        return tokens;
    while (bucket < tokens)
        bucket *= 2;
    return bucket;
}

static ridge_status add_chunk(serving_play *p, play_lane *lane, int32_t sequence,
                              int64_t tokens)
{
    const play_unit *u = &p->units[lane->unit];
    const play_sequence *s = &p->sequences[sequence];
    if (lane->n_chunks == lane->room_chunks) {
        const int room = lane->room_chunks > 0 ? 2 * lane->room_chunks : CHUNKS_FIRST;
        play_chunk *more =
            ridge_new(ridge_ctx_scratch(p->cx), play_chunk, (size_t)room);
        if (more == NULL)
            return ridge_fail_nomem(p->cx);
        if (lane->n_chunks > 0)
            memcpy(more, lane->chunks, (size_t)lane->n_chunks * sizeof *more);
        lane->chunks = more;
        lane->room_chunks = room;
    }
    lane->chunks[lane->n_chunks++] =
        (play_chunk){.sequence = sequence,
                     .rank = s->rank,
                     .tokens = tokens,
                     .priced = padded(u, tokens),
                     .before = s->cached,
                     .is_last = s->cached + (double)tokens >= (double)s->wanted};
    if (u->rules->keeps_order)
        ridge__sequence_name(p, sequence, s->cached + (double)tokens);
    return RIDGE_OK;
}

/* ---- giving way ------------------------------------------------------------------ */

/* Blocks that the next step of decoding takes. */
static int64_t held_by_decoding(const serving_play *p, const play_lane *lane, int rank)
{
    return ridge__batch_need(p, &p->units[lane->unit], &lane->batches[rank], 1);
}

/* SGLang's share of outputs that admission keeps room for, after some gave way. */
static void raise_reserve(const serving_play *p, const play_unit *u,
                          const play_batch *b, play_rank *rank)
{
    double made = 0, all = 0;
    if (u->rules->reserve_share == 0)
        return;
    for (int i = 0; i < b->decoding.n; i++) {
        const play_sequence *s = &p->sequences[b->decoding.items[i].index];
        made += s->made + s->rate * (double)(b->step - s->joined) +
                (double)u->rules->retract_steps;
        all += (double)s->what.output_tokens;
    }
    rank->reserve_from = all > 0 ? fmin(made / all, 1) : u->rules->reserve_share;
    rank->reserve_steps = 0;
}

/* Until every decoding sequence can make its next step. @return whether any gave way */
static ridge_status make_room(serving_play *p, play_lane *lane, int rank, bool *gave)
{
    const play_unit *u = &p->units[lane->unit];
    const play_batch *b = &lane->batches[rank];
    const page_cache *pages = &u->ranks[rank].pages;
    *gave = false;
    if (u->speed->draft.verified <= 1 && b->decoding.n <= pages->free)
        return RIDGE_OK; /* a block each, at most */
    while (b->decoding.n > 0 && held_by_decoding(p, lane, rank) > pages->free) {
        RIDGE_TRY(
            ridge__sequence_give_way(p, lane, ridge__sequence_victim(p, lane, rank)));
        *gave = true;
    }
    if (!*gave || u->rules->retract_steps <= 1)
        return RIDGE_OK;
    while (b->decoding.n > 1 &&
           ridge__batch_need(p, u, b, u->rules->retract_steps) > pages->free)
        RIDGE_TRY(
            ridge__sequence_give_way(p, lane, ridge__sequence_victim(p, lane, rank)));
    raise_reserve(p, u, b, &u->ranks[rank]);
    return RIDGE_OK;
}

/* ---- prompts --------------------------------------------------------------------- */

/* A prompt under way goes on; when the cache is full, later ones give way to it. */
static ridge_status continue_prompt(serving_play *p, play_lane *lane, int32_t sequence,
                                    room_ask *ask, bool *gave)
{
    const play_unit *u = &p->units[lane->unit];
    const play_sequence *s = &p->sequences[sequence];
    const int rank = s->rank;
    int64_t tokens = s->wanted - (int64_t)s->cached;
    if (tokens > ask->tokens)
        tokens = ask->tokens;
    if (u->rules->chunk_tokens > 0 && tokens > u->rules->chunk_tokens)
        tokens = u->rules->chunk_tokens;
    if (tokens <= 0)
        return RIDGE_OK;
    while (!ridge__sequence_grow(p, lane, sequence, tokens, ask->held)) {
        const int32_t victim = ridge__sequence_victim(p, lane, rank);
        RIDGE_TRY(ridge__sequence_give_way(p, lane, victim));
        *gave = true;
        if (victim == sequence)
            return RIDGE_OK;
        if (u->rules->batching == RIDGE_BATCHING_MIXED)
            ask->held = held_by_decoding(p, lane, rank);
    }
    RIDGE_TRY(add_chunk(p, lane, sequence, tokens));
    ask->tokens -= tokens;
    ask->is_fresh = false;
    return RIDGE_OK;
}

static ridge_status continue_prompts(serving_play *p, play_lane *lane, int rank,
                                     room_ask *ask, bool *gave)
{
    const play_batch *b = &lane->batches[rank];
    int at = 0;
    while (at < b->n_chunked) {
        const int before = b->n_chunked;
        const int32_t sequence = b->chunked[at];
        RIDGE_TRY(continue_prompt(p, lane, sequence, ask, gave));
        if (b->n_chunked == before || b->chunked[at] == sequence)
            at++;
    }
    return RIDGE_OK;
}

/* A cache that is here, or on its way. */
static ridge_status take_cache(serving_play *p, play_lane *lane, int32_t sequence)
{
    if (p->sequences[sequence].from_unit >= 0)
        return ridge__move_begin(p, sequence);
    return ridge__lane_join(p, lane, sequence);
}

/* New ones, while there is room for the first that waits. */
static ridge_status admit(serving_play *p, play_lane *lane, int rank, room_ask *ask,
                          int64_t most)
{
    const play_unit *u = &p->units[lane->unit];
    play_rank *r = &u->ranks[rank];
    int64_t entered = 0;
    while (r->waiting.n > 0 && entered < most) {
        int32_t sequence;
        int64_t chunk;
        RIDGE_TRY(ridge__sequence_enter(p, lane, rank, ask, &sequence, &chunk));
        if (sequence < 0)
            break;
        entered++;
        if (chunk == 0) {
            RIDGE_TRY(take_cache(p, lane, sequence));
            if (u->rules->batching == RIDGE_BATCHING_MIXED)
                ask->held = held_by_decoding(p, lane, rank);
            ask->tokens -= u->speed->draft.verified;
            continue;
        }
        RIDGE_TRY(add_chunk(p, lane, sequence, chunk));
        ask->tokens -= chunk;
        ask->is_fresh = false;
        if (ask->tokens <= 0)
            break;
    }
    return RIDGE_OK;
}

static int64_t most_prompts(const play_unit *u)
{
    return u->rules->prompts > 0 ? u->rules->prompts : INT64_MAX;
}

static bool is_open(const serving_play *p, const play_batch *b)
{
    return p->deployment->queue != RIDGE_QUEUE_DECODE_FIRST ||
           ridge__batch_decoding(b) == 0;
}

/* ---- engines --------------------------------------------------------------------- */

static ridge_status plan_mixed(serving_play *p, play_lane *lane, int rank, bool enters)
{
    const play_unit *u = &p->units[lane->unit];
    const play_batch *b = &lane->batches[rank];
    bool gave;
    RIDGE_TRY(make_room(p, lane, rank, &gave));
    const int64_t n = ridge__batch_decoding(b);
    if (!enters || (b->n_chunked == 0 && u->ranks[rank].waiting.n == 0))
        return RIDGE_OK;
    room_ask ask = {.tokens = u->rules->budget_tokens - n * u->speed->draft.verified,
                    .held = held_by_decoding(p, lane, rank),
                    .is_fresh = n == 0};
    RIDGE_TRY(continue_prompts(p, lane, rank, &ask, &gave));
    if (gave || !is_open(p, b))
        return RIDGE_OK;
    return admit(p, lane, rank, &ask, most_prompts(u));
}

static ridge_status plan_prompts(serving_play *p, play_lane *lane, int rank)
{
    const play_unit *u = &p->units[lane->unit];
    const play_batch *b = &lane->batches[rank];
    room_ask ask = {.tokens = u->rules->budget_tokens, .is_fresh = true};
    bool gave = false;
    RIDGE_TRY(continue_prompts(p, lane, rank, &ask, &gave));
    if (gave || !is_open(p, b) || (b->n_chunked > 0 && ask.tokens <= 0))
        return RIDGE_OK;
    const int64_t under_way = lane->n_chunks < most_prompts(u) ? lane->n_chunks : 0;
    return admit(p, lane, rank, &ask, most_prompts(u) - under_way);
}

static ridge_status plan_static(serving_play *p, play_lane *lane, int rank)
{
    const play_unit *u = &p->units[lane->unit];
    room_ask ask = {.tokens = INT64_MAX / 2, .is_fresh = true};
    int64_t longest = 0;
    if (ridge__batch_decoding(&lane->batches[rank]) > 0)
        return RIDGE_OK;
    const int first = lane->n_chunks;
    RIDGE_TRY(admit(p, lane, rank, &ask, u->rules->sequences));
    for (int i = first; i < lane->n_chunks; i++)
        longest = lane->chunks[i].tokens > longest ? lane->chunks[i].tokens : longest;
    for (int i = first; i < lane->n_chunks; i++)
        lane->chunks[i].priced = longest;
    return RIDGE_OK;
}

static bool has_decoding(const play_unit *u, const play_lane *lane)
{
    for (int r = 0; r < u->n_ranks; r++) {
        if (ridge__batch_decoding(&lane->batches[r]) > 0)
            return true;
    }
    return false;
}

/* Whether prompts enter now. TensorRT-LLM's _balance_adp_requests, order for order.
 * @source tensorrt-llm-docs-2025 */
static bool lets_in(const play_unit *u, play_lane *lane)
{
    const ridge_engine *e = u->rules;
    bool has_prompts = true, has_room = true, decodes = true;
    if (e->balance_iterations <= 0 || u->n_ranks == 1)
        return true;
    for (int r = 0; r < u->n_ranks; r++) {
        const play_batch *b = &lane->batches[r];
        const int64_t n = ridge__batch_decoding(b);
        has_prompts = has_prompts && (u->ranks[r].waiting.n > 0 || b->n_chunked > 0);
        has_room = has_room && n < e->sequences;
        decodes = decodes && n > 0;
    }
    if (has_prompts && has_room) {
        const bool gathers = decodes && lane->gathered_steps < e->gather_iterations;
        lane->waited_steps = 0;
        lane->gathered_steps = gathers ? lane->gathered_steps + 1 : 0;
        return !gathers;
    }
    lane->waited_steps++;
    if (decodes && lane->waited_steps < e->balance_iterations)
        return false;
    lane->waited_steps = 0;
    return true;
}

/* Few prompts wait for more of them, though not for ever: the prefill is one iteration
 * that has not counted yet.
 * @source tgi-source-2024, batching_task */
static bool awaits_more(const play_unit *u, const play_lane *lane)
{
    const ridge_engine *e = u->rules;
    int64_t waiting = 0, decoding = 0;
    if (e->waiting_share <= 0 || lane->without_steps + 1 >= e->waiting_steps)
        return false;
    for (int r = 0; r < u->n_ranks; r++) {
        waiting += u->ranks[r].waiting.n;
        decoding += ridge__batch_decoding(&lane->batches[r]);
    }
    return (double)waiting < floor(e->waiting_share * (double)decoding);
}

/* Iterations of decoding are planned together, and prompts wait for the last of them.
 * @source vllm-source-2024 */
static bool holds_prompts(const play_unit *u, play_lane *lane)
{
    if (!has_decoding(u, lane))
        lane->planned_left = 0;
    return lane->planned_left > 0 || awaits_more(u, lane);
}

static ridge_status plan_rank(serving_play *p, play_lane *lane, int rank, bool enters)
{
    switch (p->units[lane->unit].rules->batching) {
    case RIDGE_BATCHING_MIXED:
        return plan_mixed(p, lane, rank, enters);
    case RIDGE_BATCHING_PREFILL:
        return enters ? plan_prompts(p, lane, rank) : RIDGE_OK;
    case RIDGE_BATCHING_STATIC:
        break;
    }
    return plan_static(p, lane, rank);
}

static ridge_status choose(serving_play *p, play_lane *lane)
{
    const play_unit *u = &p->units[lane->unit];
    const ridge_engine_batching batching = u->rules->batching;
    const bool enters =
        batching == RIDGE_BATCHING_MIXED ? lets_in(u, lane) : !holds_prompts(u, lane);
    bool gave;
    for (int r = 0; r < u->n_ranks; r++) {
        u->ranks[r].is_blocked = false;
        RIDGE_TRY(plan_rank(p, lane, r, enters));
    }
    if (batching == RIDGE_BATCHING_PREFILL && lane->n_chunks == 0) {
        for (int r = 0; r < u->n_ranks; r++) {
            RIDGE_TRY(make_room(p, lane, r, &gave));
            if (gave) /* what it freed may let the next one in */
                u->ranks[r].is_blocked = false;
        }
    }
    lane->is_decoding = has_decoding(u, lane) &&
                        (batching == RIDGE_BATCHING_MIXED || lane->n_chunks == 0);
    if (batching == RIDGE_BATCHING_PREFILL && lane->is_decoding && !u->takes_caches &&
        lane->planned_left == 0)
        lane->planned_left = u->rules->planned_steps;
    return RIDGE_OK;
}

/* ---- steps ----------------------------------------------------------------------- */

/* Whether what enters may change with the next step, though no sequence ends. */
static bool is_restless(const serving_play *p, const play_unit *u,
                        const play_lane *lane, int rank)
{
    const play_rank *r = &u->ranks[rank];
    if (lane->planned_left > 1)
        return false;
    if (lane->batches[rank].n_chunked > 0)
        return true;
    if (r->waiting.n == 0 || !is_open(p, &lane->batches[rank]) ||
        u->rules->batching == RIDGE_BATCHING_STATIC)
        return false;
    return !r->is_blocked || u->rules->reserve_share > 0 ||
           (u->rules->balance_iterations > 0 && u->n_ranks > 1);
}

static int64_t most_steps(const serving_play *p, const play_lane *lane)
{
    const play_unit *u = &p->units[lane->unit];
    int64_t most = lane->planned_left > 0 ? lane->planned_left : INT64_MAX;
    if (p->deployment->is_stepped || u->n_lanes > 1)
        return 1;
    for (int r = 0; r < u->n_ranks; r++) {
        const play_batch *b = &lane->batches[r];
        if (is_restless(p, u, lane, r))
            return 1;
        const int64_t quiet = ridge__batch_quiet(b, u->speed->n_caches);
        most = quiet < most ? quiet : most;
    }
    for (int r = 0; r < u->n_ranks; r++) {
        const play_batch *b = &lane->batches[r];
        if (b->decoding.n > 0)
            most = ridge__batch_fit(p, u, b, u->ranks[r].pages.free, most);
    }
    return most < 1 ? 1 : most;
}

static void take_blocks(serving_play *p, play_lane *lane)
{
    const play_unit *u = &p->units[lane->unit];
    for (int r = 0; r < u->n_ranks; r++)
        ridge__pages_take(&u->ranks[r].pages,
                          ridge__batch_need(p, u, &lane->batches[r], 1));
    lane->has_taken = true;
}

/* A batch goes through the stages behind the one before it, in each for an equal part
 * of its time. @return when it leaves the last */
static double through_stages(play_unit *u, play_lane *lane, double takes)
{
    const double each = (lane->extra_s + takes) / u->n_lanes;
    double at = lane->start_s;
    for (int i = 0; i < u->n_lanes; i++) {
        at = fmax(at, u->free_s[i]) + each;
        u->free_s[i] = at;
    }
    lane->stall_s = fmax(0, at - lane->start_s - (lane->extra_s + takes));
    return at;
}

static void begin(serving_play *p, play_lane *lane)
{
    play_unit *u = &p->units[lane->unit];
    double takes;
    lane->start_s = p->now_s;
    lane->steps = 1;
    lane->used_at_start = 0;
    for (int r = 0; r < u->n_ranks; r++) {
        const double share = ridge__rank_used(&u->ranks[r]);
        lane->used_at_start += share;
        p->tally->kv_most = fmax(p->tally->kv_most, share);
    }
    if (lane->n_chunks > 0) {
        lane->without_steps = 0;
        takes = ridge__iteration_price(u, lane);
        if (lane->is_decoding)
            take_blocks(p, lane);
    } else {
        takes = ridge__walk_decoding(u, lane, most_steps(p, lane));
        if (u->n_lanes > 1)
            take_blocks(p, lane);
    }
    lane->at_s = u->n_lanes > 1 ? through_stages(u, lane, takes)
                                : lane->start_s + (lane->extra_s + takes);
    lane->state = LANE_BUSY;
}

ridge_status ridge__lane_plan(serving_play *p, play_lane *lane)
{
    enum { TRIES = 3 };
    const play_unit *u = &p->units[lane->unit];
    for (int i = 0; i < TRIES; i++) {
        bool waits = false;
        lane->n_chunks = 0;
        lane->has_taken = false;
        RIDGE_TRY(choose(p, lane));
        if (lane->n_chunks > 0 || lane->is_decoding) {
            begin(p, lane);
            return RIDGE_OK;
        }
        for (int r = 0; r < u->n_ranks; r++)
            waits = waits || u->ranks[r].waiting.n > 0;
        if (!waits)
            break;
    }
    lane->state = LANE_IDLE;
    return RIDGE_OK;
}
