/* Decoding sequences of a lane on a rank. */
#include "decode_batch.h"

#include <math.h>

enum { GHOSTS_FIRST = 16 };

double ridge__sequence_tokens(const play_sequence *s, int64_t step)
{
    return s->cached + s->rate * (double)(step - s->joined);
}

int64_t ridge__blocks_of(const play_unit *unit, double tokens)
{
    const int64_t n = (int64_t)ceil(tokens - 1e-9) + unit->speed->draft.lookahead;
    return ridge_ceil_div(n, unit->rules->block_tokens) + unit->speed->sequence_blocks;
}

int64_t ridge__decode_steps(play_unit *unit, int64_t tokens)
{
    const ridge_serving_draft *d = &unit->speed->draft;
    int64_t steps = 0;
    if (d->verified <= 1 || d->n_accept == 0)
        return tokens;
    for (int64_t left = tokens; left > 0; steps++) {
        int i = 0;
        while (i < d->n_accept && ridge_chance_uniform(&unit->chance) < d->accept[i])
            i++;
        left -= i + 1;
    }
    return steps;
}

/* ---- what is read ---------------------------------------------------------------- */

static double window_of(const ridge_serving_cache *c)
{
    return c->window_tokens > 0 ? c->window_tokens + c->sink_tokens : (double)INFINITY;
}

static void add_read(const play_unit *u, play_batch *b, double tokens, double rate,
                     double sign)
{
    for (int i = 0; i < u->speed->n_caches; i++) {
        const double window = window_of(&u->speed->caches[i]);
        batch_cache *c = &b->caches[i];
        const bool is_rising = tokens < window;
        c->read += sign * fmin(tokens, window);
        c->rising += is_rising ? sign * rate : 0;
        if (sign > 0 && is_rising && isfinite(window)) {
            const double steps = ceil((window - tokens) / rate);
            const int64_t at = b->step + (int64_t)fmin(steps, 1e15);
            c->full_step = at < c->full_step ? at : c->full_step;
        }
    }
}

/* Some filled their windows: sum all again. */
static void sum_reads(const serving_play *p, const play_unit *u, play_batch *b)
{
    for (int i = 0; i < u->speed->n_caches; i++)
        b->caches[i] = (batch_cache){0, 0, INT64_MAX};
    for (int i = 0; i < b->decoding.n; i++) {
        const play_sequence *s = &p->sequences[b->decoding.items[i].index];
        add_read(u, b, ridge__sequence_tokens(s, b->step), s->rate, 1);
    }
    for (int i = 0; i < b->n_ghosts; i++) {
        const batch_ghost *g = &b->ghost_of[i];
        const double since = (double)(b->step - g->joined);
        add_read(u, b, g->tokens + g->rate * since, g->rate, 1);
    }
}

static bool has_filled(const play_unit *u, const play_batch *b)
{
    for (int i = 0; i < u->speed->n_caches; i++) {
        if (b->caches[i].full_step <= b->step)
            return true;
    }
    return false;
}

/* ---- blocks ---------------------------------------------------------------------- */

static bool has_draft(const play_unit *u)
{
    return u->speed->draft.verified > 1;
}

/* Where, among the tokens of a block, the last one of a sequence stands at step 0. */
static int64_t residue_of(const play_unit *u, const play_sequence *s)
{
    const int64_t bs = u->rules->block_tokens;
    const int64_t at =
        ((int64_t)s->cached + u->speed->draft.lookahead - s->joined) % bs;
    return at < 0 ? at + bs : at;
}

/* Sequences that need another block for the j-th step from now. */
static int64_t need_at(const play_batch *b, int64_t bs, int64_t j)
{
    const int64_t at = (1 - b->step - j) % bs;
    return b->residue[at < 0 ? at + bs : at];
}

static int64_t need_drafted(const serving_play *p, const play_unit *u,
                            const play_batch *b, int64_t steps)
{
    int64_t need = 0;
    for (int i = 0; i < b->decoding.n; i++) {
        const play_sequence *s = &p->sequences[b->decoding.items[i].index];
        need += ridge__blocks_of(u, ridge__sequence_tokens(s, b->step + steps)) -
                ridge__blocks_of(u, ridge__sequence_tokens(s, b->step));
    }
    return need;
}

int64_t ridge__batch_need(const serving_play *p, const play_unit *unit,
                          const play_batch *b, int64_t steps)
{
    const int64_t bs = unit->rules->block_tokens;
    if (unit->rules->is_slotted || b->decoding.n == 0)
        return 0;
    if (has_draft(unit))
        return need_drafted(p, unit, b, steps);
    int64_t need = (int64_t)b->decoding.n * (steps / bs);
    for (int64_t j = 1; j <= steps % bs; j++)
        need += need_at(b, bs, j);
    return need;
}

static int64_t fit_drafted(const serving_play *p, const play_unit *u,
                           const play_batch *b, int64_t free, int64_t most)
{
    int64_t low = 0, high = most;
    while (low < high) {
        const int64_t mid = low + (high - low + 1) / 2;
        if (need_drafted(p, u, b, mid) <= free)
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

int64_t ridge__batch_fit(const serving_play *p, const play_unit *unit,
                         const play_batch *b, int64_t free, int64_t most)
{
    const int64_t bs = unit->rules->block_tokens;
    if (!has_draft(unit) && b->decoding.n * (most / bs + 1) <= free)
        return most; /* whatever they need */
    if (ridge__batch_need(p, unit, b, most) <= free)
        return most;
    if (has_draft(unit))
        return fit_drafted(p, unit, b, free, most);
    const int64_t rounds = free / b->decoding.n;
    int64_t steps = rounds * bs, left = free - rounds * b->decoding.n;
    while (steps < most && need_at(b, bs, steps % bs + 1) <= left)
        left -= need_at(b, bs, steps++ % bs + 1);
    return steps < most ? steps : most;
}

/* ---- who is in ------------------------------------------------------------------- */

static void count_in(const play_unit *u, play_batch *b, const play_sequence *s,
                     int sign)
{
    if (!has_draft(u) && !u->rules->is_slotted)
        b->residue[residue_of(u, s)] += sign;
    b->ends += sign * (double)s->ends;
}

ridge_status ridge__batch_join(serving_play *p, play_lane *lane, int32_t sequence)
{
    play_unit *u = &p->units[lane->unit];
    play_sequence *s = &p->sequences[sequence];
    play_batch *b = &lane->batches[s->rank];
    const int64_t left = s->what.output_tokens - (int64_t)s->made;
    const int64_t steps = ridge__decode_steps(u, left);
    s->state = SEQUENCE_DECODING;
    s->lane = lane->index;
    s->joined = b->step;
    s->ends = b->step + steps;
    s->rate = (double)left / (double)steps;
    s->at_others_s = lane->others_s;
    s->at_host_s = lane->host_s;
    b->context += s->cached;
    b->rates += s->rate;
    b->most_left = left > b->most_left ? left : b->most_left;
    add_read(u, b, s->cached, s->rate, 1);
    count_in(u, b, s, 1);
    if (!ridge__heap_push(&b->decoding, (heap_key){(double)s->ends, s->number},
                          sequence))
        return ridge_fail_nomem(p->cx);
    return RIDGE_OK;
}

/* Its place in the batch, before its numbers are brought up to date. */
static void take_out(serving_play *p, const play_unit *u, play_batch *b,
                     int32_t sequence, bool is_read)
{
    play_sequence *s = &p->sequences[sequence];
    ridge__heap_remove(&b->decoding, s->heap_at);
    count_in(u, b, s, -1);
    if (is_read) {
        const double tokens = ridge__sequence_tokens(s, b->step);
        add_read(u, b, tokens, s->rate, -1);
        b->context -= tokens;
        b->rates -= s->rate;
    }
    s->made += s->rate * (double)(b->step - s->joined);
    s->cached = ridge__sequence_tokens(s, b->step);
    s->joined = b->step;
}

void ridge__batch_clear(play_batch *b, int64_t block_tokens)
{
    b->n_ghosts = 0;
    b->context = b->rates = b->ends = 0;
    b->most_left = 0;
    for (int i = 0; i < RIDGE_SERVING_CACHE_MAX; i++)
        b->caches[i] = (batch_cache){0, 0, INT64_MAX};
    for (int64_t i = 0; i < block_tokens; i++)
        b->residue[i] = 0;
}

void ridge__batch_leave(serving_play *p, play_lane *lane, int32_t sequence)
{
    const play_unit *u = &p->units[lane->unit];
    play_batch *b = &lane->batches[p->sequences[sequence].rank];
    take_out(p, u, b, sequence, true);
    if (b->decoding.n == 0 && b->n_ghosts == 0)
        ridge__batch_clear(b, u->rules->block_tokens);
}

ridge_status ridge__batch_haunt(serving_play *p, play_lane *lane, int32_t sequence)
{
    const play_unit *u = &p->units[lane->unit];
    const play_sequence *s = &p->sequences[sequence];
    play_batch *b = &lane->batches[s->rank];
    take_out(p, u, b, sequence, false);
    if (b->n_ghosts == b->room_ghosts) {
        const int room = b->room_ghosts > 0 ? 2 * b->room_ghosts : GHOSTS_FIRST;
        batch_ghost *more =
            ridge_new(ridge_ctx_scratch(p->cx), batch_ghost, (size_t)room);
        if (more == NULL)
            return ridge_fail_nomem(p->cx);
        for (int i = 0; i < b->n_ghosts; i++)
            more[i] = b->ghost_of[i];
        b->ghost_of = more;
        b->room_ghosts = room;
    }
    b->ghost_of[b->n_ghosts++] = (batch_ghost){s->cached, s->rate, s->joined};
    if (b->decoding.n == 0)
        ridge__batch_clear(b, u->rules->block_tokens);
    return RIDGE_OK;
}

/* ---- steps ----------------------------------------------------------------------- */

void ridge__batch_advance(const serving_play *p, const play_unit *unit, play_batch *b,
                          int64_t steps)
{
    if (ridge__batch_decoding(b) == 0)
        return;
    b->step += steps;
    b->context += b->rates * (double)steps;
    for (int i = 0; i < unit->speed->n_caches; i++)
        b->caches[i].read += b->caches[i].rising * (double)steps;
    if (has_filled(unit, b))
        sum_reads(p, unit, b);
}

int64_t ridge__batch_quiet(const play_batch *b, int n_caches)
{
    int64_t steps = INT64_MAX;
    if (b->decoding.n == 0)
        return steps;
    steps = (int64_t)b->decoding.items[0].key.first - b->step;
    for (int i = 0; i < n_caches; i++) {
        const int64_t left = b->caches[i].full_step - b->step;
        steps = left < steps ? left : steps;
    }
    return steps;
}
