/*
 * Spread of compute times: each chip's factor is lognormal of mean 1, so that no chip
 * is slower on average, and all loss is of waiting for the slowest.
 */
#include "ridge/simulate_chance.h"

#include <math.h>

ridge_jitter ridge_jitter_of(double spread)
{
    const double variance = log1p(spread * spread); /* of the logarithm */
    return (ridge_jitter){
        .spread = spread, .mu = -variance / 2, .sigma = sqrt(variance)};
}

/* ---- draws --------------------------------------------------------------------- */

/* The largest of n: that with probability u all lie below. The small probability of
 * lying above keeps its digits where n is large. */
static double draw_most(const ridge_jitter *j, double n, ridge_chance *chance)
{
    const double above = -expm1(log(ridge_chance_uniform(chance)) / n);
    return exp(j->mu - j->sigma * ridge_normal_quantile(above));
}

double ridge_jitter_draw_most(const ridge_jitter *j, const ridge_chip_group *g,
                              ridge_chance *chance)
{
    if (j->spread <= 0)
        return g->slow > 0 ? fmax(g->even > 0 ? 1 : 0, g->slowdown) : 1;
    double most = g->even > 0 ? draw_most(j, g->even, chance) : 0;
    if (g->slow > 0)
        most = fmax(most, g->slowdown * draw_most(j, g->slow, chance));
    return most;
}

/* ---- means --------------------------------------------------------------------- */

/* Logarithm of the probability that a normal variable lies below z. */
static double log_below(double z)
{
    return log1p(-0.5 * erfc(z / sqrt(2.0)));
}

/*
 * E[max] = integral of 1 - F_max(x) dx. With x = exp(mu + sigma z) that is smooth in z
 * and ends at both ends, so that equal steps do (the trapezoid rule); below the first
 * step F_max is 0 to all digits, which leaves x itself.
 */
double ridge_jitter_mean_most(const ridge_jitter *j, const ridge_chip_group *g)
{
    enum { STEPS = 4000 };
    if (j->spread <= 0)
        return ridge_jitter_draw_most(j, g, NULL);
    const double shift = g->slow > 0 ? log(g->slowdown) / j->sigma : 0;
    const double low = -9;
    const double high = 9 + 2 * j->sigma + fmax(shift, 0);
    const double step = (high - low) / STEPS;
    double sum = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double z = low + i * step;
        double log_all = g->even > 0 ? g->even * log_below(z) : 0;
        if (g->slow > 0)
            log_all += g->slow * log_below(z - shift);
        sum += -expm1(log_all) * exp(j->mu + j->sigma * z) *
               (i == 0 || i == STEPS ? 0.5 : 1);
    }
    return exp(j->mu + j->sigma * low) + sum * step * j->sigma;
}
