/*
 * Fronts of deployments. A front is kept by rising latency: none of it is beaten by
 * another, so its rates rise too, and what could beat a point or be beaten by it lies
 * together.
 */
#include "service_choice.h"

#include <stdlib.h>
#include <string.h>

ridge_service_choice service_point_choice(const service_point *point)
{
    const bool is_two = point->n_pools == 2;
    ridge_service_choice out = {.mode = is_two ? RIDGE_SERVICE_MODE_DISAGGREGATED
                                               : RIDGE_SERVICE_MODE_AGGREGATED,
                                .n_pools = point->n_pools};
    for (int i = 0; i < point->n_pools; i++) {
        const service_seat *seat = &point->pools[i];
        const ridge_service_role role = !is_two  ? RIDGE_SERVICE_ROLE_BOTH
                                        : i == 0 ? RIDGE_SERVICE_ROLE_PREFILL
                                                 : RIDGE_SERVICE_ROLE_DECODE;
        out.pools[i] =
            (ridge_service_pool){role, *seat->layout, seat->servers, seat->batch};
        out.pools[i].layout.budget_tokens = seat->budget_tokens;
        out.pools[i].layout.sequences = seat->sequences;
    }
    return out;
}

static double slow_s(const service_point *p, bool is_cost)
{
    return is_cost ? p->e2e_s : p->tpot_s;
}

/* Nobody can tell points apart that differ by less, and roots are found to this. */
static const double POINT_NEAR = 1e-6;

static bool is_as_quick(const service_point *a, const service_point *b, bool is_cost)
{
    return slow_s(a, is_cost) <= slow_s(b, is_cost) * (1 + POINT_NEAR);
}

static bool gives_as_much(const service_point *a, const service_point *b)
{
    return a->tokens_per_s_per_chip >= b->tokens_per_s_per_chip * (1 - POINT_NEAR);
}

static bool point_is_no_worse(const service_point *a, const service_point *b,
                              bool is_cost)
{
    return is_as_quick(a, b, is_cost) && gives_as_much(a, b);
}

/* Of equal points the one whose other latency is shorter, and the first of those. */
static bool point_beats(const service_point *a, const service_point *b, bool is_cost)
{
    return point_is_no_worse(a, b, is_cost) &&
           (!point_is_no_worse(b, a, is_cost) || is_as_quick(a, b, !is_cost));
}

/* Points of a front that are as quick as another: so many of its first. */
static int count_as_quick(const service_points *set, const service_point *point,
                          bool is_cost)
{
    int low = 0;
    int high = set->n;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (is_as_quick(&set->of[middle], point, is_cost))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first point of a front than which another is as quick. */
static int find_as_slow(const service_points *set, const service_point *point,
                        bool is_cost)
{
    int low = 0;
    int high = set->n;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (is_as_quick(point, &set->of[middle], is_cost))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool is_beaten(const service_points *set, const service_point *point,
                      bool is_cost)
{
    for (int i = count_as_quick(set, point, is_cost) - 1;
         i >= 0 && gives_as_much(&set->of[i], point); i--) {
        if (point_beats(&set->of[i], point, is_cost))
            return true;
    }
    return false;
}

bool service_points_have(const service_points *set, double tpot_s, double e2e_s,
                         double tokens_per_s_per_chip, bool is_cost)
{
    const service_point point = {.tpot_s = tpot_s,
                                 .e2e_s = e2e_s,
                                 .tokens_per_s_per_chip = tokens_per_s_per_chip};
    return is_beaten(set, &point, is_cost);
}

static bool grow(ridge_arena *arena, service_points *set)
{
    if (set->n < set->cap)
        return true;
    const int cap = set->cap == 0 ? 32 : 2 * set->cap;
    service_point *grown = ridge_new(arena, service_point, (size_t)cap);
    if (grown == NULL)
        return false;
    if (set->n > 0)
        memcpy(grown, set->of, (size_t)set->n * sizeof *grown);
    set->of = grown;
    set->cap = cap;
    return true;
}

bool service_points_add(ridge_arena *arena, service_points *set,
                        const service_point *point, bool is_cost)
{
    if (is_beaten(set, point, is_cost))
        return true;
    if (!grow(arena, set))
        return false;
    const int at = find_as_slow(set, point, is_cost);
    int behind = at;
    while (behind < set->n && gives_as_much(point, &set->of[behind]))
        behind++;
    memmove(&set->of[at + 1], &set->of[behind],
            (size_t)(set->n - behind) * sizeof *set->of);
    set->of[at] = *point;
    set->n += 1 - (behind - at);
    return true;
}

bool service_points_copy(ridge_arena *arena, const service_points *from,
                         service_points *out)
{
    service_points copy = {.n = from->n, .cap = from->n};
    if (from->n > 0) {
        copy.of = ridge_new(arena, service_point, (size_t)from->n);
        if (copy.of == NULL)
            return false;
        memcpy(copy.of, from->of, (size_t)from->n * sizeof *copy.of);
    }
    *out = copy;
    return true;
}

/* On a front more tokens a chip are slower: one order for both. */
static int by_rate(const void *left, const void *right)
{
    const service_point *a = left;
    const service_point *b = right;
    if (a->tokens_per_s_per_chip != b->tokens_per_s_per_chip)
        return a->tokens_per_s_per_chip > b->tokens_per_s_per_chip ? -1 : 1;
    return a->order - b->order;
}

void service_points_thin(service_points *set, int most)
{
    if (set->n > 0)
        qsort(set->of, (size_t)set->n, sizeof *set->of, by_rate);
    if (set->n <= most)
        return;
    for (int i = 0; i < most; i++)
        set->of[i] = set->of[(int64_t)i * (set->n - 1) / (most - 1)];
    set->n = most;
}
