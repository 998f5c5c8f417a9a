/* The least longest stage by halving. A deal within a time exists if the greedy one
 * does: a stage never does better with fewer of the last layers, as long as each of
 * those before it can take one. Where one cannot, all numbers of layers that may be
 * left are gone through. */
#include "fleet_deal.h"

#include <math.h>

static const double CLOSE = 1e-12; /* relative; beyond it sums differ by rounding */

/* A stage while it is filled. */
typedef struct deal_stage {
    const fleet_deal *deal;
    int index;
    double *layers; /* [kinds] */
    double time_s;
} deal_stage;

/* Most layers of a kind, up to @p most, that keep a stage within its memory. */
static int fit_layers(const deal_stage *s, int kind, int most)
{
    const fleet_deal *d = s->deal;
    const double before = s->layers[kind];
    int low = 0;
    int high = most;
    if (d->fits == NULL)
        return most;
    while (low < high) {
        const int middle = high == most ? most : (low + high + 1) / 2;
        s->layers[kind] = before + middle;
        if (d->fits(d->payload, s->index, s->layers)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    s->layers[kind] = before;
    return low;
}

/* Most layers of a kind, up to @p most, that keep a stage within a time. */
static int time_layers(const deal_stage *s, int kind, int most, double most_s)
{
    const double one_s = s->deal->layer_s[s->index][kind];
    const double room = floor((most_s - s->time_s) / one_s);
    int n = room >= most ? most : room > 0 ? (int)room : 0;
    while (n < most && s->time_s + (n + 1) * one_s <= most_s)
        n++;
    while (n > 0 && s->time_s + n * one_s > most_s)
        n--;
    return n;
}

/* @param left  layers that are not dealt yet. @return layers taken */
static int fill_stage(deal_stage *s, int left, double most_s)
{
    const fleet_deal *d = s->deal;
    int taken = 0;
    while (left - taken > s->index) {
        const int last = left - taken - 1;
        const int kind = d->kinds[last];
        const int run = last + 1 - d->starts[last];
        const int spare = left - taken - s->index;
        const int most = run < spare ? run : spare;
        const int n = fit_layers(s, kind, time_layers(s, kind, most, most_s));
        s->layers[kind] += n;
        s->time_s += n * d->layer_s[s->index][kind];
        taken += n;
        if (n < most)
            break;
    }
    return taken;
}

size_t fleet_deal_scratch(int n_layers, int pp)
{
    return ((size_t)pp + 1) * ((size_t)n_layers + 1);
}

/* A stage with none of its layers yet. */
static deal_stage start_stage(const fleet_deal *d, int index, double *layers)
{
    for (int k = 0; k < d->n_kinds; k++)
        layers[index * d->n_kinds + k] = 0;
    return (deal_stage){d, index, &layers[index * d->n_kinds], d->fixed_s[index]};
}

/* Number of layers that may be left before stage s, with what was left behind it: 0 for
 * none. */
static int *from_of(const fleet_deal *d, int s)
{
    return &d->from[(size_t)s * ((size_t)d->n_layers + 1)];
}

static void reach(const fleet_deal *d, double most_s, double *layers)
{
    for (int s = 0; s <= d->pp; s++) {
        for (int left = 0; left <= d->n_layers; left++)
            from_of(d, s)[left] = 0;
    }
    from_of(d, d->pp)[d->n_layers] = d->n_layers + 1;
    for (int s = d->pp - 1; s >= 0; s--) {
        int *from = from_of(d, s);
        for (int left = 1; left <= d->n_layers; left++) {
            if (from_of(d, s + 1)[left] == 0)
                continue;
            deal_stage stage = start_stage(d, s, layers);
            const int taken = fill_stage(&stage, left, most_s);
            for (int n = 1; n <= taken; n++)
                from[left - n] = from[left - n] == 0 ? left : from[left - n];
        }
    }
}

/* @return as deal_out */
static double deal_reached(const fleet_deal *d, double most_s, double *layers)
{
    double slowest_s = 0;
    int left = 0;
    reach(d, most_s, layers);
    if (from_of(d, 0)[0] == 0)
        return (double)INFINITY;
    for (int s = 0; s < d->pp; s++) {
        deal_stage stage = start_stage(d, s, layers);
        const int end = from_of(d, s)[left];
        for (int i = left; i < end; i++) {
            stage.layers[d->kinds[i]]++;
            stage.time_s += d->layer_s[s][d->kinds[i]];
        }
        slowest_s = fmax(slowest_s, stage.time_s);
        left = end;
    }
    return slowest_s;
}

/* @return seconds of the slowest stage; INFINITY: no deal keeps within most_s */
static double deal_out(const fleet_deal *d, double most_s, double *layers)
{
    int left = d->n_layers;
    double slowest_s = 0;
    for (int s = d->pp - 1; s >= 0; s--) {
        deal_stage stage = start_stage(d, s, layers);
        const int taken = fill_stage(&stage, left, most_s);
        if (taken == 0)
            return d->n_kinds > 1 ? deal_reached(d, most_s, layers) : (double)INFINITY;
        left -= taken;
        slowest_s = fmax(slowest_s, stage.time_s);
    }
    return left == 0 ? slowest_s : (double)INFINITY;
}

bool fleet_deal_within(const fleet_deal *d, double most_s, double *layers)
{
    return !isinf(deal_out(d, most_s, layers));
}

/* No stage is quicker than a layer of its own; together they have all of them. */
static double least_s(const fleet_deal *d)
{
    double rate = 0;
    for (int s = 0; s < d->pp; s++) {
        double quickest_s = (double)INFINITY;
        for (int k = 0; k < d->n_kinds; k++)
            quickest_s = fmin(quickest_s, d->layer_s[s][k]);
        rate += 1 / quickest_s;
    }
    return d->n_layers / rate * (1 - CLOSE);
}

bool fleet_deal_best(const fleet_deal *d, double *layers, double *most_s)
{
    double low_s = least_s(d);
    double high_s = deal_out(d, (double)INFINITY, layers);
    if (isinf(high_s))
        return false;
    while (high_s - low_s > CLOSE * high_s) {
        /* Sums of layers are few: often nothing lies below what was found. */
        const double below_s = deal_out(d, high_s * (1 - CLOSE), layers);
        if (isinf(below_s))
            break;
        high_s = below_s;
        const double middle_s = low_s + (high_s - low_s) / 2;
        const double slowest_s = deal_out(d, middle_s, layers);
        if (isinf(slowest_s)) {
            low_s = middle_s;
        } else {
            high_s = slowest_s;
        }
    }
    *most_s = high_s;
    return !isinf(deal_out(d, high_s * (1 + CLOSE), layers));
}
