/*
 * Iteration k of a pipeline of p stages takes T_k from end to end, and T_k / p in each
 * stage. It begins when the first stage is free, and when its own batch is back:
 *
 *     S_k+1 = max(S_k + T_k / p, S_k+1-p + T_k+1-p)
 *
 * So S is the longest path that goes on by one iteration for T / p, or by p of them for
 * T: each visit of a T_k weighs T_k / p and goes one on. What all have in common counts
 * once, so only what is longer matters.
 *
 * Of two kinds of iterations a path that does not look ahead takes short ones one by
 * one and stays p on each long one that it meets; where those of a batch follow each
 * other for many rounds it loses nothing by going from one to the next. Of Poisson
 * numbers it goes from one of the larger to the next: where they are rare it finds the
 * largest of all p, where they are not it lands between two and has half of them before
 * it.
 */
#include "pipeline_wait.h"

#include <math.h>

enum { NUMBERS_MOST = 4096 };

/* exp() of more is 0: so many are all alike */
static const double MANY = 600;

typedef struct longer {
    double mean_s;    /* in the mean */
    double largest_s; /* expected largest of q */
    double share;     /* of the iterations that are longer at all */
} longer;

static double excess_s(const pipeline_jobs *j, double prompts)
{
    const double n = fmin(prompts, j->most);
    const double s = fmin(n, 1) * j->first_s + fmax(0, n - 1) * j->more_s;
    return n > 0 ? fmax(0, s - j->spare_s) : 0;
}

/* Sums over the numbers that are reached, each step by the chance that one, or one of
 * q, goes beyond it. */
static longer sum_up(const pipeline_jobs *j, double q)
{
    longer sum = {0};
    double term = exp(-j->mean);
    double below = 0;
    for (int i = 0; i < NUMBERS_MOST && i < j->most; i++) {
        below += term;
        const double beyond = fmax(0, 1 - below) / (1 + j->others);
        const double step_s = excess_s(j, i + 1) - excess_s(j, i);
        if (step_s > 0 && sum.share <= 0)
            sum.share = beyond;
        sum.mean_s += beyond * step_s;
        sum.largest_s += (1 - pow(1 - beyond, q)) * step_s;
        term *= j->mean / (i + 1);
        if (i > j->mean && beyond * q < 1e-9)
            break;
    }
    return sum;
}

double pipeline_wait_longer_s(const pipeline_jobs *j)
{
    const double p = j->stages;
    const double rate = j->mean / (1 + j->others);
    const double q = p <= 1 ? 1 : 1 + p / 2 + (p / 2 - 1) / (1 + p * rate);
    if (j->mean > MANY || j->mean >= j->most)
        return excess_s(j, j->mean) / (1 + j->others);
    const longer sum = sum_up(j, q);
    if (p <= 1)
        return sum.mean_s;
    const double any = p * sum.mean_s / (1 - sum.share + p * sum.share);
    return fmax(any, sum.largest_s);
}

double pipeline_wait_share(double stages, double share, double rounds)
{
    if (stages <= 1 || share <= 0 || share >= 1)
        return share;
    const double single = stages * share / (1 - share + stages * share);
    const double any = 1 - pow(1 - share, stages);
    return any - (any - single) / rounds;
}
