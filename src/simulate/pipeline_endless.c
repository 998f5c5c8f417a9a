/* Steps one behind the other, until all ranks keep one pace. */
#include "pipeline_endless.h"

#include <math.h>

enum { HALF = 6 }; /* of the steps that are played where ranks take turns for ever */

/* @return the most that a rank has gone on since; @param least_s  out: the least */
static double gone_on(const ridge__endless *run, const double *since_s, double *least_s)
{
    double most_s = 0;
    *least_s = (double)INFINITY;
    for (int r = 0; r < run->ranks; r++) {
        most_s = fmax(most_s, run->free_s[r] - since_s[r]);
        *least_s = fmin(*least_s, run->free_s[r] - since_s[r]);
    }
    return most_s;
}

double ridge__endless_s(const ridge__endless *run)
{
    static const double CLOSE = 1e-9;
    double *before_s = run->before_s;
    double *half_s = run->before_s + run->ranks;
    double least_s;
    for (int r = 0; r < run->ranks; r++)
        run->free_s[r] = 0;
    for (int step = 0; step < 2 * HALF; step++) {
        for (int r = 0; r < run->ranks; r++) {
            before_s[r] = run->free_s[r];
            half_s[r] = step == HALF ? run->free_s[r] : half_s[r];
        }
        run->step(run->payload);
        for (int r = 0; r < run->ranks; r++)
            run->free_s[r] += run->close_s[r];
        const double most_s = gone_on(run, before_s, &least_s);
        if (most_s - least_s <= CLOSE * most_s)
            return most_s;
    }
    return gone_on(run, half_s, &least_s) / HALF;
}
