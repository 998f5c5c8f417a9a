/* A deployment played: opening it, the loop of what happens next, and the summary. */
#include "ridge/simulate_engine.h"

#include <math.h>

#include "decode_batch.h"
#include "iteration_plan.h"
#include "sequence_room.h"
#include "serving_events.h"

enum {
    QUEUE_MOST = 1 << 20,
    REPLICAS_MAX = 4096,
    RANKS_MAX = 1024,
    STAGES_MAX = 256,
    STREAM_UNITS = 100,
    ROWS_KEPT = 4096
};

/* ---- texts ----------------------------------------------------------------------- */

#define TEXT_SECOND(name, text, what) text,
#define TEXT_KEY(name, key)           key,

const char *ridge_queue_policy_text(ridge_queue_policy policy)
{
    static const char *const texts[] = {RIDGE_QUEUE_LIST(TEXT_SECOND)};
    return texts[policy];
}

const char *ridge_router_text(ridge_router router)
{
    static const char *const texts[] = {RIDGE_ROUTER_LIST(TEXT_SECOND)};
    return texts[router];
}

const char *ridge_latency_part_text(ridge_latency_part part)
{
    static const char *const texts[] = {RIDGE_LATENCY_PART_LIST(TEXT_KEY)};
    return texts[part];
}

/* ---- opening --------------------------------------------------------------------- */

static const char *pool_fault(const ridge_serving_pool *pool)
{
    const ridge_serving_speed *s = pool->speed;
    if (pool->replicas < 1 || pool->replicas > REPLICAS_MAX)
        return "a pool has 1 to 4,096 replicas";
    if (s->blocks < 1 || pool->rules.block_tokens < 1)
        return "the cache holds no block: weights and activations leave no memory for "
               "it";
    if (pool->rules.sequences < 1 || pool->rules.budget_tokens < 1)
        return "an iteration holds at least one sequence and one token";
    if (s->attention_ranks < 1 || s->attention_ranks > RANKS_MAX || s->stages < 1 ||
        s->stages > STAGES_MAX)
        return "a replica has 1 to 1,024 attention ranks and 1 to 256 stages";
    if (s->draft.verified > 1 && s->draft.verified > pool->rules.budget_tokens)
        return "one iteration cannot verify the drafted tokens of a sequence";
    return NULL;
}

static const char *fault_of(const ridge_serving_deployment *d)
{
    if (d->n_pools < 1 || d->n_pools > RIDGE_SERVING_POOLS_MAX)
        return "a deployment has one pool or two";
    int64_t replicas = 0;
    for (int i = 0; i < d->n_pools; i++) {
        const char *fault = pool_fault(&d->pools[i]);
        if (fault != NULL)
            return fault;
        replicas += d->pools[i].replicas;
    }
    if (d->n_pools == 2 && !(d->pools[0].speed->transfer_bytes_per_s > 0))
        return "two pools need a network between them: its bandwidth is unknown";
    if (d->n_outages < 0 || d->n_outages > RIDGE_SERVING_OUTAGES_MAX)
        return "at most 64 outages can be named";
    for (int i = 0; i < d->n_outages; i++) {
        const ridge_serving_outage *o = &d->outages[i];
        if (o->replica < 0 || o->replica >= replicas || !(o->at_s >= 0) ||
            !(o->lasts_s >= 0))
            return "an outage names one of the replicas, counted from 0, and times of "
                   "at least 0";
    }
    if (!(d->failure_s >= 0) || !(d->repair_s >= 0) || d->longest_tokens < 0 ||
        d->queue_most < 0 || d->host_blocks < 0)
        return "times, limits and sizes are not negative";
    return NULL;
}

static ridge_status open_rank(serving_play *p, const play_unit *u, play_rank *rank)
{
    ridge__pages_open(p->cx, u->speed->blocks, u->rules->block_tokens, &rank->pages);
    rank->pages.is_on = u->rules->has_prefix_cache && !u->takes_caches;
    rank->pages.keeps_order = u->rules->keeps_order;
    rank->pages.host_blocks = p->deployment->host_blocks;
    rank->reserve_from = u->rules->reserve_share;
    rank->waiting = (index_heap){.arena = ridge_ctx_scratch(p->cx),
                                 .place = &p->sequence_places,
                                 .stride = sizeof(play_sequence)};
    return RIDGE_OK;
}

static ridge_status open_batch(serving_play *p, const play_unit *u, play_batch *b)
{
    ridge_arena *arena = ridge_ctx_scratch(p->cx);
    b->decoding = (index_heap){
        .arena = arena, .place = &p->sequence_places, .stride = sizeof(play_sequence)};
    b->residue = ridge_new(arena, int64_t, (size_t)u->rules->block_tokens);
    if (b->residue == NULL)
        return ridge_fail_nomem(p->cx);
    ridge__batch_clear(b, u->rules->block_tokens);
    return RIDGE_OK;
}

static ridge_status open_lane(serving_play *p, const play_unit *u, play_lane *lane)
{
    lane->batches = ridge_new(ridge_ctx_scratch(p->cx), play_batch, (size_t)u->n_ranks);
    if (lane->batches == NULL)
        return ridge_fail_nomem(p->cx);
    for (int r = 0; r < u->n_ranks; r++)
        RIDGE_TRY(open_batch(p, u, &lane->batches[r]));
    return RIDGE_OK;
}

static ridge_status open_unit(serving_play *p, int index, int pool)
{
    ridge_arena *arena = ridge_ctx_scratch(p->cx);
    const ridge_serving_deployment *d = p->deployment;
    play_unit *u = &p->units[index];
    const ridge_serving_speed *s = d->pools[pool].speed;
    *u =
        (play_unit){.pool = pool,
                    .speed = s,
                    .rules = &d->pools[pool].rules,
                    .makes_prompts_only = d->n_pools == 2 && pool == 0,
                    .takes_caches = d->n_pools == 2 && pool == 1,
                    .n_ranks = (int)s->attention_ranks,
                    .n_lanes = (int)s->stages,
                    .n_row = ROWS_KEPT,
                    .chance = ridge_chance_of(d->seed, STREAM_UNITS + (uint64_t)index)};
    u->ranks = ridge_new(arena, play_rank, (size_t)u->n_ranks);
    u->lanes = ridge_new(arena, play_lane, (size_t)u->n_lanes);
    u->free_s = ridge_new(arena, double, (size_t)u->n_lanes);
    u->rank_s = ridge_new(arena, double, (size_t)u->n_ranks);
    u->rank_slope_s = ridge_new(arena, double, (size_t)u->n_ranks);
    u->row_s = ridge_new(arena, double, (size_t)u->n_row);
    if (!u->ranks || !u->lanes || !u->free_s || !u->rank_s || !u->rank_slope_s ||
        !u->row_s)
        return ridge_fail_nomem(p->cx);
    for (int64_t i = 0; i < u->n_row; i++)
        u->row_s[i] = -1;
    for (int r = 0; r < u->n_ranks; r++)
        RIDGE_TRY(open_rank(p, u, &u->ranks[r]));
    for (int l = 0; l < u->n_lanes; l++) {
        u->lanes[l].unit = index;
        u->lanes[l].index = l;
        RIDGE_TRY(open_lane(p, u, &u->lanes[l]));
    }
    return RIDGE_OK;
}

static ridge_status open_play(serving_play *p)
{
    const ridge_serving_deployment *d = p->deployment;
    ridge_arena *arena = ridge_ctx_scratch(p->cx);
    int64_t replicas = 0;
    int at = 0;
    p->lanes_a_unit = 1;
    for (int i = 0; i < d->n_pools; i++) {
        replicas += d->pools[i].replicas;
        if (d->pools[i].speed->stages > p->lanes_a_unit)
            p->lanes_a_unit = (int)d->pools[i].speed->stages;
    }
    p->n_units = (int)replicas;
    p->units = ridge_new(arena, play_unit, (size_t)replicas);
    p->agenda_places =
        ridge_new(arena, int32_t, (size_t)replicas * (size_t)p->lanes_a_unit);
    if (p->units == NULL || p->agenda_places == NULL)
        return ridge_fail_nomem(p->cx);
    for (int i = 0; i < p->n_units * p->lanes_a_unit; i++)
        p->agenda_places[i] = -1;
    p->agenda = (index_heap){
        .arena = arena, .place = &p->agenda_places, .stride = sizeof *p->agenda_places};
    for (int i = 0; i < d->n_pools; i++) {
        for (int64_t k = 0; k < d->pools[i].replicas; k++)
            RIDGE_TRY(open_unit(p, at++, i));
    }
    RIDGE_TRY(ridge__tally_open(p->cx, &p->tally));
    return ridge__failures_open(p);
}

/* ---- arrivals -------------------------------------------------------------------- */

static bool is_full(const serving_play *p)
{
    const int64_t most = p->deployment->queue_most;
    return p->waiting + p->n_homeless >= (most > 0 ? most : QUEUE_MOST);
}

/* Whether no replica could ever hold it. */
static bool is_too_long(const serving_play *p, const ridge_request *r)
{
    const ridge_serving_deployment *d = p->deployment;
    const int64_t all = r->prompt_tokens + r->output_tokens;
    if (d->longest_tokens > 0 && all > d->longest_tokens)
        return true;
    for (int i = 0, unit = 0; i < d->n_pools; i++) {
        const play_unit *u = &p->units[unit];
        const bool is_prompt = u->makes_prompts_only;
        const int64_t slot = u->rules->is_slotted ? d->longest_tokens : 0;
        const int64_t tokens = is_prompt ? r->prompt_tokens + 1 : all;
        if (ridge__blocks_of(u, (double)(tokens > slot ? tokens : slot)) >
            u->speed->blocks)
            return true;
        if (!u->rules->is_chunked && !u->takes_caches &&
            r->prompt_tokens > u->rules->budget_tokens)
            return true;
        unit += (int)d->pools[i].replicas;
    }
    return false;
}

static ridge_status arrive(serving_play *p)
{
    int32_t at;
    ridge_request r;
    RIDGE_TRY(p->source->take(p->source->self, &r));
    if (p->tally->first_s < 0)
        p->tally->first_s = r.arrival_s;
    const int64_t number = p->arrived++;
    const bool is_long = is_too_long(p, &r);
    if (is_long || is_full(p)) {
        p->tally->refused++;
        p->tally->too_long += is_long ? 1 : 0;
        p->tally->last_s = fmax(p->tally->last_s, p->now_s);
        if (p->source->answered != NULL)
            p->source->answered(p->source->self, r.tag, p->now_s);
        return RIDGE_OK;
    }
    RIDGE_TRY(ridge__sequence_new(p, &at));
    play_sequence *s = &p->sequences[at];
    s->what = r;
    s->number = number;
    s->wanted = r.prompt_tokens;
    s->since_s = p->now_s;
    s->parts_s[RIDGE_LATENCY_PART_HOST] = p->now_s - r.arrival_s;
    RIDGE_TRY(ridge__sequence_keep_hashes(p, at));
    return ridge__route_prompt(p, at);
}

/* ---- the loop -------------------------------------------------------------------- */

static double next_arrival(const serving_play *p)
{
    const double at = p->source->peek_s(p->source->self);
    const play_unit *u = &p->units[0];
    const double handoff_s = u->makes_prompts_only ? u->speed->handoff_s : 0;
    return fmax(at + u->speed->request_s + handoff_s, p->now_s);
}

static ridge_status end_lane(serving_play *p, play_lane *lane)
{
    play_unit *u = &p->units[lane->unit];
    RIDGE_TRY(ridge__lane_commit(p, lane));
    lane->state = LANE_READY;
    lane->at_s = u->n_lanes > 1 ? fmax(lane->at_s, u->free_s[0]) : lane->at_s;
    return ridge__lane_file(p, lane);
}

static ridge_status begin_lane(serving_play *p, play_lane *lane)
{
    const play_unit *u = &p->units[lane->unit];
    bool waits = false;
    if (u->n_lanes > 1 && u->free_s[0] > p->now_s) {
        lane->at_s = u->free_s[0];
        return ridge__lane_file(p, lane);
    }
    RIDGE_TRY(ridge__lane_plan(p, lane));
    RIDGE_TRY(ridge__lane_file(p, lane));
    for (int r = 0; r < u->n_ranks && u->n_lanes > 1 && lane->state == LANE_BUSY; r++)
        waits = waits || (u->ranks[r].waiting.n > 0 && !u->ranks[r].is_blocked);
    return waits ? ridge__unit_wake(p, lane->unit) : RIDGE_OK;
}

/* Take the next event and let it happen. */
static ridge_status let_event_happen(serving_play *p)
{
    const play_event event = ridge__event_take(p);
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

/* One thing happens: of equal times, what ends comes first, then events, then arrivals,
 * and what begins last. @param out  false when nothing is left */
static ridge_status happen(serving_play *p, bool *out)
{
    play_lane *lane =
        p->agenda.n > 0 ? ridge__play_lane(p, p->agenda.items[0].index) : NULL;
    const double lane_s = lane != NULL ? lane->at_s : (double)INFINITY;
    const double event_s = ridge__event_next_s(p);
    const double arrival_s = next_arrival(p);
    const double next_s = fmin(lane_s, fmin(event_s, arrival_s));
    const int64_t inside = p->arrived - p->tally->completed - p->tally->refused;
    *out = isfinite(next_s) && (isfinite(arrival_s) || inside > 0);
    if (!*out)
        return RIDGE_OK;
    p->now_s = next_s;
    if (lane != NULL && lane->state == LANE_BUSY && lane_s <= next_s)
        return end_lane(p, lane);
    if (event_s <= next_s)
        return let_event_happen(p);
    if (arrival_s <= next_s)
        return arrive(p);
    return begin_lane(p, lane);
}

static ridge_status loop(serving_play *p)
{
    enum { LOOK_UP = 1024 };
    bool goes_on = true;
    for (int64_t i = 0; goes_on; i++) {
        RIDGE_TRY(happen(p, &goes_on));
        if (i % LOOK_UP == 0 && ridge_ctx_is_cancelled(p->cx))
            return ridge_fail(p->cx, RIDGE_E_CANCELLED, "cancelled");
    }
    if (p->source->status != NULL)
        RIDGE_TRY(p->source->status(p->source->self));
    if (p->arrived - p->tally->completed - p->tally->refused > 0)
        return ridge_fail(
            p->cx, RIDGE_E_INTERNAL, "%lld requests stand still in the simulation",
            (long long)(p->arrived - p->tally->completed - p->tally->refused));
    return RIDGE_OK;
}

/* ---- the summary ----------------------------------------------------------------- */

static double over(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static void sum_latencies(const serving_play *p, ridge_serving_summary *s)
{
    enum { HUNDREDTH = 100 };
    const serving_tally *t = p->tally;
    s->ttft = ridge__tally_summary(p->cx, &t->ttft);
    s->tpot = ridge__tally_summary(p->cx, &t->tpot);
    s->itl = ridge__tally_summary(p->cx, &t->itl);
    s->e2e = ridge__tally_summary(p->cx, &t->e2e);
    s->ttft_mean = ridge__tally_mean(&t->ttft, 1);
    s->e2e_mean = ridge__tally_mean(&t->e2e, 1);
    s->ttft_p99 = ridge__tally_mean(&t->ttft, 1.0 / HUNDREDTH);
    s->e2e_p99 = ridge__tally_mean(&t->e2e, 1.0 / HUNDREDTH);
}

static void sum_replicas(const serving_play *p, ridge_serving_summary *s)
{
    const ridge_serving_deployment *d = p->deployment;
    bool has_price = true;
    double slots = 0, usd_per_hour = 0;
    for (int i = 0; i < d->n_pools; i++) {
        const ridge_serving_pool *pool = &d->pools[i];
        const double n = (double)pool->replicas;
        slots += n * (double)(pool->rules.sequences * pool->speed->attention_ranks);
        s->chips += n * pool->speed->chips;
        usd_per_hour += n * pool->speed->usd_per_hour;
        has_price = has_price && pool->speed->usd_per_hour > 0;
    }
    s->busy_share = over(p->tally->busy_s, s->span_s * (double)p->n_units);
    s->slots_idle = 1 - over(p->tally->running_area, slots * s->span_s);
    if (!has_price)
        return;
    s->usd = usd_per_hour * s->span_s / RIDGE_HOUR_S;
    s->usd_per_million_tokens = over(s->usd * 1e6, p->tally->output_tokens);
}

static void summarise(serving_play *p, ridge_serving_summary *out)
{
    const serving_tally *t = p->tally;
    const double span = t->first_s >= 0 ? t->last_s - t->first_s : 0;
    ridge__tally_waiting(p->tally, t->last_s, 0);
    *out = (ridge_serving_summary){
        .requests = p->arrived,
        .completed = t->completed,
        .refused = t->refused,
        .too_long = t->too_long,
        .good = t->good,
        .span_s = span,
        .requests_per_s = over((double)t->completed, span),
        .goodput_requests_per_s = over((double)t->good, span),
        .prompt_tokens_per_s = over(t->prompt_tokens, span),
        .output_tokens_per_s = over(t->output_tokens, span),
        .decoding_mean = over(t->decoding_sequences, t->decoding_steps),
        .waiting_mean = over(t->waiting_area, span),
        .waiting_most = t->waiting_most,
        .padding_share = over(t->padded_tokens, t->computed_tokens),
        .iterations = t->iterations,
        .kv_mean = over(t->kv_area, t->kv_time),
        .kv_most = t->kv_most,
        .hit_rate = over(t->hit_tokens, t->asked_tokens),
        .host_hit_rate = over(t->host_tokens, t->asked_tokens),
        .preemptions = t->preemptions,
        .failures = t->failures,
        .recomputed_tokens = t->recomputed_tokens,
        .transferred_bytes = t->transferred_bytes,
    };
    sum_latencies(p, out);
    sum_replicas(p, out);
}

static ridge_status play(serving_play *p, ridge_serving_summary *out)
{
    RIDGE_TRY(open_play(p));
    RIDGE_TRY(loop(p));
    summarise(p, out);
    return RIDGE_OK;
}

ridge_status
ridge_serving_play(ridge_ctx *cx, const ridge_serving_deployment *deployment,
                   const ridge_request_source *source, const ridge_serving_goals *goals,
                   const ridge_serving_watch *watch, ridge_serving_summary *out)
{
    const char *fault = fault_of(deployment);
    if (fault != NULL)
        return ridge_fail(cx, RIDGE_E_ARG, "%s", fault);
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    serving_play *p = ridge_new(scratch, serving_play, 1);
    if (p == NULL)
        return ridge_fail_nomem(cx);
    p->cx = cx;
    p->deployment = deployment;
    p->source = source;
    p->watch = watch;
    if (goals != NULL)
        p->goals = *goals;
    const ridge_status st = play(p, out);
    ridge_arena_rewind(scratch, mark);
    return st;
}
