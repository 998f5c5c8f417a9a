/*
 * The steady state in closed form: see docs/design/serving-search.md.
 */
#include "steady_state.h"

#include "pipeline_wait.h"

#include <math.h>

/* Counts that come out of divisions are whole within it. */
static const double EDGE = 1e-9;

enum { PAD_LEAST = 16 };

/* ---- iterations ------------------------------------------------------------------ */

/* Prompt tokens that one iteration takes beside decoding sequences. */
static double room_tokens(const steady_case *c, double batch)
{
    const ridge_engine *e = c->engine;
    const double prompt = c->work->prompt_tokens - c->work->cached_tokens;
    const bool has_decoding = e->batching == RIDGE_BATCHING_MIXED;
    const double room = c->budget_tokens - (has_decoding ? batch * c->verified : 0);
    return e->is_chunked ? room : fmax(prompt, room);
}

static double chunk_limit(const steady_case *c, double room)
{
    const double most = (double)c->engine->chunk_tokens;
    return c->engine->is_chunked && most > 0 ? fmin(room, most) : room;
}

static double decode_context(const ridge_service_work *w)
{
    return w->context_tokens > 0 ? w->context_tokens
                                 : w->prompt_tokens + w->output_tokens / 2;
}

/* Some engines run prompts in buckets: powers of two from PAD_LEAST on. */
static double padded(const steady_case *c, double tokens)
{
    if (!c->engine->pads_prompts)
        return tokens;
    double bucket = PAD_LEAST;
    while (bucket < tokens)
        bucket *= 2;
    return bucket;
}

/* Attention ranks are in step, and their prompts come each by itself: most iterations
 * carry some of them, and wait for the rank that has most. Engines that let prompts of
 * all ranks in together aside, and stages, whose batches are not told apart. */
static bool deals_unevenly(const steady_case *c, double each)
{
    return c->attention_ranks > 1 && c->stages <= 1 && each > 0 &&
           c->engine->balance_iterations <= 0;
}

/* Chance that more than n come of a Poisson number around a large mean. */
static double chance_above(double n, double mean)
{
    return erfc((n + 0.5 - mean) / sqrt(2 * mean)) / 2;
}

double steady_fullest(double mean, double ranks)
{
    enum { MANY = 64 };
    double most = 0;
    if (mean > MANY) {
        for (double j = 0; j * ranks < mean + 8 * sqrt(mean); j++)
            most += chance_above(j * ranks, mean);
        return most;
    }
    double at = exp(-mean), above = 1 - at, next = ranks;
    for (double n = 1; above > 1e-9 && n < 8 * MANY; n++) {
        most += next >= ranks ? above : 0; /* above: n and more of them */
        next = next >= ranks ? 1 : next + 1;
        at *= mean / n;
        above -= at;
    }
    return most;
}

/* Chunks of a rank in an iteration that carries any, in the mean. @return those of the
 * fullest */
static double deal(const steady_case *c, double each, steady_shape *out)
{
    const double all = each * c->attention_ranks;
    const double any = -expm1(-all);
    out->prompts = fmin(each / any, out->most);
    return fmin(out->most, fmax(1, steady_fullest(all, c->attention_ranks) / any));
}

/* Chunks of equal length, at the mean of what lies before them. */
static void set_chunks(const steady_case *c, double room, double arrivals,
                       steady_shape *out)
{
    const double prompt = c->work->prompt_tokens - c->work->cached_tokens;
    out->chunks = ceil(prompt / chunk_limit(c, room) - EDGE);
    const double chunk = padded(c, prompt / out->chunks);
    const double most = (double)c->engine->prompts;
    out->most = fmax(1, floor(room / chunk + EDGE));
    if (most > 0)
        out->most = fmin(out->most, most);
    const double each = arrivals * out->chunks;
    out->prompts = fmin(fmax(1, each), out->most);
    const double fullest = deals_unevenly(c, each) ? deal(c, each, out) : 0;
    out->prefill_weight = each / out->prompts;
    out->prefill = (ridge_serving_load){
        .fullest = fullest,
        .chunk_tokens = chunk * out->prompts,
        .chunks = out->prompts,
        .chunk_context = c->work->cached_tokens + (prompt - prompt / out->chunks) / 2,
        .finishing = out->prompts / out->chunks};
    out->fuller = out->prefill;
    out->fuller.chunk_tokens += chunk;
    out->fuller.chunks += 1;
}

static bool is_mixed(const steady_case *c)
{
    return c->role == RIDGE_SERVICE_ROLE_BOTH &&
           c->engine->batching == RIDGE_BATCHING_MIXED;
}

/* Iterations of prompts alone: nothing decodes beside them. */
static void shape_prefill(const steady_case *c, double batch, steady_shape *out)
{
    set_chunks(c, room_tokens(c, 0), batch, out);
    out->prompts = fmin(fmax(1, batch), out->most);
    out->prefill.fullest = 0;
    out->prefill.chunk_tokens *= out->prompts / out->prefill.chunks;
    out->prefill.finishing = out->prompts / out->chunks;
    out->prefill.chunks = out->prompts;
    out->decode_weight = 0;
    out->prefill_weight = 1;
    out->is_saturated = batch > out->most * (1 + EDGE);
}

/* Less than one decodes in the mean where a request begins when another ends: one is
 * there at a time. Stages would hold several. */
static bool is_alone(const steady_case *c, double batch)
{
    return !c->is_open && c->role == RIDGE_SERVICE_ROLE_BOTH && c->stages <= 1 &&
           batch < 1;
}

/* Its prompt by itself, then its tokens. */
static void shape_alone(const steady_case *c, steady_shape *out)
{
    set_chunks(c, room_tokens(c, 0), 0, out);
    out->is_alone = true;
    out->prefill_weight = 0;
}

/* Sequences of a rank that one which decodes meets, itself among them. At random
 * arrivals it finds as many as there are in the mean, and comes on top of them; in a
 * closed loop it is one of those. */
static double met_sequences(const steady_case *c, double batch)
{
    const double own = c->is_open ? 1 / c->attention_ranks : 0;
    return fmax(1, batch + own);
}

void steady_shape_of(const steady_case *c, double batch, steady_shape *out)
{
    const ridge_engine_batching batching = c->engine->batching;
    *out = (steady_shape){.decode_weight = 1};
    if (c->role != RIDGE_SERVICE_ROLE_PREFILL)
        out->iterations = (c->work->output_tokens - 1) / c->yield;
    if (out->iterations <= 0) {
        shape_prefill(c, batch, out);
        return;
    }
    out->decode = (ridge_serving_load){.decode_sequences = met_sequences(c, batch),
                                       .decode_context = decode_context(c->work)};
    if (c->role == RIDGE_SERVICE_ROLE_DECODE)
        return;
    if (is_alone(c, batch)) {
        shape_alone(c, out);
        return;
    }
    const double room = room_tokens(c, batch);
    const double arrivals = batch / out->iterations;
    out->is_saturated = room < 1;
    if (out->is_saturated)
        return;
    set_chunks(c, room, batching == RIDGE_BATCHING_STATIC ? batch : arrivals, out);
    out->prefill_weight = arrivals * out->chunks / out->prompts;
    if (!is_mixed(c))
        return;
    out->prefill.decode_sequences = out->decode.decode_sequences;
    out->prefill.decode_context = out->decode.decode_context;
    out->fuller.decode_sequences = out->decode.decode_sequences;
    out->fuller.decode_context = out->decode.decode_context;
    out->is_saturated = out->prefill_weight > 1 + EDGE;
    out->prefill_weight = fmin(1, out->prefill_weight);
    out->decode_weight = 1 - out->prefill_weight;
}

double steady_yield(const double *accept, int64_t n)
{
    double yield = 1;
    double all = 1;
    for (int64_t i = 0; i < n; i++) {
        all *= accept[i];
        yield += all;
    }
    return yield;
}

/* ---- waiting --------------------------------------------------------------------- */

double steady_normal_quantile(double p)
{
    const double t = sqrt(-2 * log(1 - p));
    return t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                   (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

double steady_queue_s(bool is_open, double use, double service_s, double servers,
                      double quantile)
{
    if (!is_open) /* the server is found busy with half of its work before it */
        return fmin(1, use) * service_s / 2 / servers;
    if (use >= 1)
        return (double)INFINITY;
    const double scale = service_s / (2 * (1 - use) * servers);
    if (quantile <= 0)
        return use * scale;
    return fmax(0, scale * log(use / (1 - quantile)));
}

double steady_batch_quantile(const steady_case *c, double batch)
{
    if (!c->is_open || c->quantile <= 0)
        return batch;
    return batch + steady_normal_quantile(c->quantile) * sqrt(batch * 2 / 3);
}

double steady_slots(const steady_case *c, double batch)
{
    if (!c->is_open)
        return batch;
    const double seldom = fmax(0.99, c->quantile);
    return batch + steady_normal_quantile(seldom) * sqrt(batch);
}

double steady_cache_bytes(const steady_case *c, const ridge_serving_memory *memory,
                          double slots, double prefilling, bool is_reserved)
{
    const ridge_service_work *w = c->work;
    const double block = (double)memory->block_tokens;
    const double ahead = c->verified - 1; /* drafted tokens have slots too */
    const double longest =
        ahead + (w->context_tokens > 0 ? w->context_tokens
                                       : w->prompt_tokens + w->output_tokens);
    const double whole = block * ceil(longest / block);
    const double spread =
        w->context_tokens > 0
            ? 0
            : 3 * sqrt(slots * w->output_tokens * w->output_tokens / 12);
    const double paged =
        slots * (decode_context(w) + ahead + (w->context_tokens > 0 ? 0 : block / 2)) +
        spread;
    const double decoding = is_reserved ? slots * whole : fmin(slots * whole, paged);
    const double tokens = decoding + prefilling * w->prompt_tokens;
    return c->stages * (tokens * memory->cache_bytes_per_token +
                        (slots + prefilling) * memory->state_bytes);
}

/* ---- times ----------------------------------------------------------------------- */

/* Until the iteration under way ends: half of it, of long ones more often; of several
 * that are planned at once, or passed while prompts gather, until the last one does. */
static double residual_s(const steady_case *c, const steady_shape *s, double decode_s,
                         double prefill_s)
{
    const double mean = s->decode_weight * decode_s + s->prefill_weight * prefill_s;
    const ridge_engine *e = c->engine;
    const double gathered =
        floor(e->waiting_share * s->decode.decode_sequences) > 1
            ? fmin((double)e->waiting_steps, e->waiting_share * c->work->output_tokens)
            : 1;
    const double planned = e->batching == RIDGE_BATCHING_PREFILL
                               ? fmax(gathered, fmax(1, (double)e->planned_steps))
                               : 1;
    const double square = s->decode_weight * decode_s * decode_s * planned +
                          s->prefill_weight * prefill_s * prefill_s;
    return mean > 0 ? square / (2 * mean) / c->stages : 0;
}

/* How prompts fall on iterations: several whole ones in one, or each filling several.
 */
typedef struct prompt_load {
    double room;    /* of them, or of their parts, that an iteration takes; >= 1 */
    double rounds;  /* iterations of one; >= 1 */
    double mean;    /* that begin with an iteration that decodes */
    double first_s; /* by which one makes an iteration longer, or takes of its own */
    double more_s;  /* each beside it */
} prompt_load;

/* @param base_s  of an iteration without prompts, where they go beside it */
static prompt_load prompt_load_of(const steady_case *c, const steady_shape *s,
                                  double batch, double base_s, const steady_seconds *t)
{
    const double prompt = c->work->prompt_tokens - c->work->cached_tokens;
    const double room = chunk_limit(c, room_tokens(c, batch));
    const double unit = fmin(prompt, room);
    const double chunk = s->prefill.chunk_tokens / s->prompts;
    const double more_s = fmax(0, t->fuller_s - t->prefill_s);
    const double one_s = t->prefill_s - base_s - (s->prompts - 1) * more_s;
    const double longer = unit / chunk - 1; /* than the mean part of one */
    return (prompt_load){.room = room / unit,
                         .rounds = prompt / unit,
                         .mean = batch / s->iterations * prompt / unit,
                         .first_s = fmax(0, one_s + longer * more_s),
                         .more_s = unit / chunk * more_s};
}

/* Iterations that decode beside prompts. @return by how much longer they seem */
static double mixed_longer_s(const steady_case *c, const prompt_load *l)
{
    const pipeline_jobs jobs = {.stages = c->stages,
                                .mean = l->mean,
                                .most = l->room,
                                .first_s = l->first_s,
                                .more_s = l->more_s};
    return l->rounds > 1 ? l->first_s * pipeline_wait_share(c->stages, fmin(1, l->mean),
                                                            l->rounds)
                         : pipeline_wait_longer_s(&jobs);
}

/* Iterations of prompts alone between those that decode, which are waited for too.
 * @return by how much longer one of each that decodes seems */
static double alternate_longer_s(const steady_case *c, const prompt_load *l,
                                 double decode_s)
{
    const double turns =
        l->rounds > 1 ? l->mean : 1 - exp(-l->mean); /* of prompts, for each */
    const pipeline_jobs jobs = {.stages = c->stages,
                                .mean = l->mean,
                                .most = l->room,
                                .first_s = l->first_s,
                                .more_s = l->more_s,
                                .spare_s = decode_s,
                                .others = turns};
    const double share = turns / (1 + turns);
    const double longer_s =
        l->rounds > 1
            ? pipeline_wait_share(c->stages, share, l->rounds) * (l->first_s - decode_s)
            : pipeline_wait_longer_s(&jobs);
    return (1 + turns) * (decode_s + fmax(0, longer_s)) - decode_s;
}

/* What one that decodes waits for longer ones, beyond the mean of both kinds. */
static double wait_s(const steady_case *c, const steady_shape *s, double batch,
                     const steady_seconds *t, double mean_s)
{
    if (c->stages <= 1 || s->prefill_weight <= 0 ||
        c->role != RIDGE_SERVICE_ROLE_BOTH ||
        c->engine->batching == RIDGE_BATCHING_STATIC)
        return 0;
    const double base_s = is_mixed(c) ? t->decode_s : 0;
    const prompt_load load = prompt_load_of(c, s, batch, base_s, t);
    const double longer_s = is_mixed(c) ? mixed_longer_s(c, &load)
                                        : alternate_longer_s(c, &load, t->decode_s);
    return fmax(0, t->decode_s + longer_s - mean_s);
}

/* Prompts wait for prompts: for the room of iterations that also decode, for
 * iterations of their own otherwise. */
static void set_use(const steady_case *c, const steady_shape *s, double batch,
                    double prefill_s, steady_times *out)
{
    const double capacity = s->most / s->chunks; /* prompts an iteration */
    out->service_s = prefill_s / capacity / c->stages;
    if (s->iterations <= 0) {
        out->use = fmin(1, batch / s->most);
    } else if (is_mixed(c)) {
        out->use = batch / s->iterations / capacity;
    } else {
        out->use = s->prefill_weight * prefill_s / out->iteration_s;
    }
}

static void set_waits(const steady_case *c, const steady_shape *s, double decode_s,
                      double prefill_s, steady_times *out)
{
    out->queue_s = steady_queue_s(c->is_open, out->use, out->service_s, 1, 0);
    out->residual_s = residual_s(c, s, decode_s, prefill_s);
    if (c->quantile <= 0)
        return;
    out->queue_quantile_s =
        steady_queue_s(c->is_open, out->use, out->service_s, 1, c->quantile);
    out->residual_quantile_s = fmax(decode_s, prefill_s) / c->stages;
}

void steady_times_of(const steady_case *c, const steady_shape *s, double batch,
                     const steady_seconds *seconds, steady_times *out)
{
    const double decode_s = seconds->decode_s;
    const double prefill_s = seconds->prefill_s;
    const double ranks = c->attention_ranks * c->stages;
    *out = (steady_times){.iteration_s = s->decode_weight * decode_s +
                                         s->prefill_weight * prefill_s,
                          .prefill_s = s->chunks * prefill_s};
    if (s->is_alone) {
        out->tpot_s = decode_s / c->yield;
        out->decode_s = s->iterations * decode_s;
        out->requests_per_s = ranks / (c->request_s + out->prefill_s + out->decode_s);
        return;
    }
    if (s->iterations > 0) {
        out->wait_s = wait_s(c, s, batch, seconds, out->iteration_s);
        out->iteration_s += out->wait_s;
        const bool is_static = c->engine->batching == RIDGE_BATCHING_STATIC;
        out->requests_per_s = ranks * batch / (s->iterations * out->iteration_s);
        out->tpot_s = (is_static ? decode_s : out->iteration_s) / c->yield;
        out->decode_s = s->iterations * c->yield * out->tpot_s;
    } else {
        out->requests_per_s = ranks * batch / (s->chunks * prefill_s);
    }
    if (c->role == RIDGE_SERVICE_ROLE_DECODE)
        return;
    set_use(c, s, batch, prefill_s, out);
    set_waits(c, s, decode_s, prefill_s, out);
}
