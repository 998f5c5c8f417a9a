/* The share of a job's time that counts, and the interval of checkpoints that makes it
 * largest: closed forms of a renewal process. Knows nothing of chips. */
#include "ridge/plan_money.h"

#include <math.h>

ridge_goodput ridge_goodput_of(const ridge_reliability *job)
{
    const double m = job->mtbf_s;
    const double cycle_s = job->interval_s + job->blocked_s;
    if (isinf(m)) {
        const double useful = isinf(job->interval_s) ? 1 : job->interval_s / cycle_s;
        return (ridge_goodput){.useful = useful, .checkpoint = 1 - useful};
    }
    const double wall_s =
        m * exp((job->restart_s + job->lag_s) / m) * expm1(cycle_s / m);
    if (!isfinite(wall_s)) /* it never reaches its next checkpoint */
        return (ridge_goodput){.lost = exp(-job->restart_s / m),
                               .restart = -expm1(-job->restart_s / m)};
    ridge_goodput g = {.useful = job->interval_s / wall_s,
                       .checkpoint = job->blocked_s / wall_s,
                       .restart = -expm1(-job->restart_s / m)};
    g.lost = 1 - g.useful - g.checkpoint - g.restart;
    if (g.lost < 0) /* by rounding */
        g.lost = 0;
    return g;
}

double ridge_checkpoint_interval_young(double blocked_s, double mtbf_s)
{
    return sqrt(2 * blocked_s * mtbf_s);
}

double ridge_checkpoint_interval_daly(double blocked_s, double mtbf_s)
{
    if (blocked_s >= 2 * mtbf_s)
        return mtbf_s;
    const double ratio = blocked_s / (2 * mtbf_s);
    return sqrt(2 * blocked_s * mtbf_s) * (1 + sqrt(ratio) / 3 + ratio / 9) - blocked_s;
}

/* Root in [0, 1) of f(x) = ln(1 - x) + x + c = 0, c >= 0. f falls and bends downwards:
 * from the right of the root, Newton's steps stay there and come down to it. */
static double solve(double c)
{
    enum { ROUNDS_MOST = 200 };
    double x = 1 - exp(-1 - c); /* f(x) = x - 1 < 0 */
    for (int i = 0; i < ROUNDS_MOST; i++) {
        const double step = (log1p(-x) + x + c) * (1 - x) / x;
        if (!(fabs(step) > 1e-15 * x))
            break;
        x += step;
    }
    return x;
}

double ridge_checkpoint_interval(const ridge_reliability *job)
{
    const double least_s = job->lag_s - job->blocked_s;
    if (isinf(job->mtbf_s))
        return (double)INFINITY;
    double best_s = 0;
    if (job->blocked_s > 0)
        best_s = job->mtbf_s * solve(job->blocked_s / job->mtbf_s);
    return best_s > least_s ? best_s : least_s;
}

double ridge_spares_availability(double mtbf_s, double repair_s, int64_t spares)
{
    const double mean = repair_s / mtbf_s;
    double log_term = -mean; /* of the chance that k are down */
    double sum = 0;
    for (int64_t k = 0; k <= spares; k++) {
        sum += exp(log_term);
        log_term += log(mean) - log((double)(k + 1));
    }
    return sum < 1 ? sum : 1;
}
