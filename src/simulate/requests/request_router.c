/*
 * Which replica takes a request, and which of its ranks. By prefix: the replica that
 * has cached most of the prompt, if that is more than half of it; else, or when the
 * most loaded has 32 requests more and 1.1 times as many as the least loaded, the least
 * loaded one, as SGLang's cache-aware router does.
 *
 * @source sglang-source-2025
 */
#include <string.h>

#include "sequence_room.h"
#include "serving_events.h"

enum { UNEVEN_REQUESTS = 32 };
static const double uneven_ratio = 1.1;
static const double match_least = 0.5;

static bool can_take(const play_unit *u, int pool)
{
    return u->pool == pool && !u->is_down;
}

static int least_loaded(const serving_play *p, int pool)
{
    int best = -1;
    for (int i = 0; i < p->n_units; i++) {
        const play_unit *u = &p->units[i];
        if (can_take(u, pool) && (best < 0 || u->load < p->units[best].load))
            best = i;
    }
    return best;
}

static int next_in_turn(serving_play *p, int pool)
{
    for (int i = 0; i < p->n_units; i++) {
        const int at = (p->next_unit[pool] + i) % p->n_units;
        if (can_take(&p->units[at], pool)) {
            p->next_unit[pool] = at + 1;
            return at;
        }
    }
    return -1;
}

static int64_t matched(const play_unit *u, const ridge_request *what, int *rank)
{
    int64_t most = 0;
    for (int r = 0; r < u->n_ranks; r++) {
        const page_cache *pages = &u->ranks[r].pages;
        if (!pages->is_on || pages->piece_tokens == 0)
            continue;
        const page_match m = ridge__pages_match(
            pages, what, (what->prompt_tokens - 1) / pages->piece_tokens);
        const int64_t tokens = (m.pieces + m.host_pieces) * pages->piece_tokens;
        if (tokens > most) {
            most = tokens;
            *rank = r;
        }
    }
    return most;
}

static bool is_uneven(const serving_play *p, int pool)
{
    int64_t least = INT64_MAX, most = 0;
    for (int i = 0; i < p->n_units; i++) {
        if (!can_take(&p->units[i], pool))
            continue;
        least = p->units[i].load < least ? p->units[i].load : least;
        most = p->units[i].load > most ? p->units[i].load : most;
    }
    return most - least > UNEVEN_REQUESTS &&
           (double)most > uneven_ratio * (double)least;
}

static int best_matched(const serving_play *p, int pool, const ridge_request *what,
                        int *rank)
{
    int64_t most = 0;
    int best = -1;
    *rank = -1;
    for (int i = 0; i < p->n_units && !is_uneven(p, pool); i++) {
        int at = -1;
        const int64_t tokens =
            can_take(&p->units[i], pool) ? matched(&p->units[i], what, &at) : 0;
        if (tokens > most) {
            most = tokens;
            best = i;
            *rank = at;
        }
    }
    if ((double)most > match_least * (double)what->prompt_tokens)
        return best;
    *rank = -1;
    return least_loaded(p, pool);
}

/* Whether any of its ranks keeps pieces. */
static bool has_pieces(const play_unit *u)
{
    for (int r = 0; r < u->n_ranks; r++) {
        if (u->ranks[r].pages.n_table > 0)
            return true;
    }
    return false;
}

static ridge_status choose_unit(serving_play *p, int pool, const ridge_request *what,
                                int *unit, int *rank)
{
    *rank = -1;
    if (p->deployment->router == RIDGE_ROUTER_PREFIX && pool == 0) {
        for (int i = 0; i < p->n_units; i++) {
            if (can_take(&p->units[i], pool) && has_pieces(&p->units[i]))
                RIDGE_TRY(ridge__unit_catch_up(p, i));
        }
        *unit = best_matched(p, pool, what, rank);
    } else if (p->deployment->router == RIDGE_ROUTER_ROUND_ROBIN) {
        *unit = next_in_turn(p, pool);
    } else {
        *unit = least_loaded(p, pool);
    }
    return RIDGE_OK;
}

static int choose_rank(const play_unit *u)
{
    int best = 0;
    for (int r = 1; r < u->n_ranks; r++) {
        const play_rank *a = &u->ranks[best], *b = &u->ranks[r];
        if (b->waiting.n + b->running < a->waiting.n + a->running)
            best = r;
    }
    return best;
}

/* ---- places ---------------------------------------------------------------------- */

static ridge_status add_homeless(serving_play *p, int32_t sequence)
{
    if (p->n_homeless == p->room_homeless) {
        const int room = p->room_homeless > 0 ? 2 * p->room_homeless : 16;
        int32_t *more = ridge_new(ridge_ctx_scratch(p->cx), int32_t, (size_t)room);
        if (more == NULL)
            return ridge_fail_nomem(p->cx);
        if (p->n_homeless > 0)
            memcpy(more, p->homeless, (size_t)p->n_homeless * sizeof *more);
        p->homeless = more;
        p->room_homeless = room;
    }
    p->sequences[sequence].unit = -1;
    p->sequences[sequence].state = SEQUENCE_WAITING;
    p->homeless[p->n_homeless++] = sequence;
    return RIDGE_OK;
}

/* In order of arrival one that comes behind a blocked one changes nothing. */
static bool changes_nothing(const serving_play *p, const play_rank *rank)
{
    return rank->waiting.n > 0 && rank->is_blocked &&
           p->deployment->queue == RIDGE_QUEUE_FCFS;
}

static ridge_status settle(serving_play *p, int32_t sequence, int unit, int rank)
{
    play_unit *u = &p->units[unit];
    play_sequence *s = &p->sequences[sequence];
    s->unit = unit;
    s->rank = rank >= 0 ? rank : choose_rank(u);
    u->load++;
    play_rank *r = &u->ranks[s->rank];
    const ridge_request *what = &s->what;
    if (r->pages.is_on &&
        (what->n_hashes > 0 || what->group != 0 || what->session != 0))
        RIDGE_TRY(ridge__pages_prepare(&r->pages, ridge_request_piece(what)));
    const bool is_idle = changes_nothing(p, r) && s->preemptions == 0;
    RIDGE_TRY(ridge__sequence_queue(p, sequence));
    return is_idle ? RIDGE_OK : ridge__unit_wake(p, unit);
}

ridge_status ridge__route_prompt(serving_play *p, int32_t sequence)
{
    int rank, unit;
    RIDGE_TRY(choose_unit(p, 0, &p->sequences[sequence].what, &unit, &rank));
    return unit < 0 ? add_homeless(p, sequence) : settle(p, sequence, unit, rank);
}

ridge_status ridge__route_cache(serving_play *p, int32_t sequence)
{
    int rank, unit;
    play_sequence *s = &p->sequences[sequence];
    if (s->from_unit < 0) {
        play_unit *from = &p->units[s->unit];
        s->from_unit = s->unit;
        s->from_rank = s->rank;
        s->moved_blocks = s->blocks;
        s->moved_pieces = s->pieces;
        from->ranks[s->rank].running--;
        from->ranks[s->rank].committed -= s->full_blocks;
        from->load--;
        s->blocks = s->pieces = s->full_blocks = 0;
    }
    RIDGE_TRY(choose_unit(p, 1, &s->what, &unit, &rank));
    return unit < 0 ? add_homeless(p, sequence) : settle(p, sequence, unit, rank);
}

ridge_status ridge__route_homeless(serving_play *p)
{
    const int n = p->n_homeless;
    p->n_homeless = 0;
    for (int i = 0; i < n; i++) {
        const int32_t at = p->homeless[i];
        if (p->sequences[at].from_unit >= 0)
            RIDGE_TRY(ridge__route_cache(p, at));
        else
            RIDGE_TRY(ridge__route_prompt(p, at));
    }
    return RIDGE_OK;
}
