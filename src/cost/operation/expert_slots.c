/*
 * Copies of hot experts and their places, as engines choose them from the loads that
 * they have seen: each copy goes to the expert whose copies have most to do, then slots
 * are dealt, the most loaded first, each to the chip with the least load that has one
 * free. Loads that change faster than places do are left out.
 *
 * @source deepseek-eplb-2025, replicate_experts, balanced_packing
 */
#include "expert_slots.h"

#include <math.h>
#include <stdlib.h>

typedef struct hot_expert {
    double load; /* share of all rows */
    int copies;
} hot_expert;

static int experts_of(const ridge_experts *op)
{
    return (int)fmin(op->experts, RIDGE_EXPERT_SLOTS_MAX);
}

/* Shares fall as rank^-skew. */
static void set_loads(const ridge_experts *op, hot_expert *experts, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        experts[i] = (hot_expert){pow(i + 1, -op->skew), 1};
        sum += experts[i].load;
    }
    for (int i = 0; i < n; i++)
        experts[i].load /= sum;
}

/* No chip has two copies of one. */
static void replicate(const ridge_experts *op, hot_expert *experts, int n)
{
    for (int copies = 0; copies < (int)op->redundant; copies++) {
        int best = -1;
        for (int i = 0; i < n; i++) {
            const hot_expert *e = &experts[i];
            if (e->copies < (int)op->ways &&
                (best < 0 ||
                 e->load / e->copies > experts[best].load / experts[best].copies))
                best = i;
        }
        if (best < 0)
            return;
        experts[best].copies++;
    }
}

static int by_load(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x > y ? -1 : x < y;
}

/* Load of the fullest chip, over the mean. */
static double pack(const double *slots, int n, int chips)
{
    double loads[RIDGE_EXPERT_SLOTS_MAX] = {0};
    int held[RIDGE_EXPERT_SLOTS_MAX] = {0};
    const int each = n / chips;
    double most = 0, sum = 0;
    for (int s = 0; s < n; s++) {
        int least = -1;
        for (int c = 0; c < chips; c++) {
            if (held[c] < each && (least < 0 || loads[c] < loads[least]))
                least = c;
        }
        loads[least] += slots[s];
        held[least]++;
        most = fmax(most, loads[least]);
        sum += slots[s];
    }
    return most * chips / sum;
}

void ridge_expert_places_find(const ridge_experts *op, ridge_expert_places *out)
{
    hot_expert experts[RIDGE_EXPERT_SLOTS_MAX];
    double slots[RIDGE_EXPERT_SLOTS_MAX];
    const int n = experts_of(op);
    const int chips = (int)op->ways;
    int filled = 0;
    out->n = 0;
    set_loads(op, experts, n);
    replicate(op, experts, n);
    for (int i = 0; i < n; i++) {
        const double copies = experts[i].copies;
        const double share = fmin(1, op->experts_per_token * experts[i].load) / copies;
        if (out->n == 0 || out->kinds[out->n - 1].share != share) {
            out->kinds[out->n].share = share;
            out->kinds[out->n++].slots = 0;
        }
        out->kinds[out->n - 1].slots += copies;
        for (int c = 0; c < experts[i].copies; c++)
            slots[filled++] = experts[i].load / copies;
    }
    qsort(slots, (size_t)filled, sizeof slots[0], by_load);
    out->most = pack(slots, filled / chips * chips, chips);
}

expert_slots ridge__expert_slots_find(const ridge_experts *op)
{
    ridge_expert_places own;
    const ridge_expert_places *places = op->places;
    expert_slots out = {0};
    if (places == NULL) {
        ridge_expert_places_find(op, &own);
        places = &own;
    }
    for (int i = 0; i < places->n; i++)
        out.hit +=
            places->kinds[i].slots * (1 - pow(1 - places->kinds[i].share, op->tokens));
    out.most = places->most;
    return out;
}
