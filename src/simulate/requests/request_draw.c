/* Gaps between arrivals and lengths, drawn. */
#include "request_draw.h"

#include <math.h>

enum { STREAM_ARRIVALS = 11 };

/* ---- variables ------------------------------------------------------------------- */

static double normal(ridge_chance *chance)
{
    return ridge_normal_quantile(ridge_chance_uniform(chance));
}

double ridge__gamma_draw(double shape, ridge_chance *chance)
{
    if (shape < 1) {
        const double power = pow(ridge_chance_uniform(chance), 1 / shape);
        return ridge__gamma_draw(shape + 1, chance) * power * (shape + 1) / shape;
    }
    const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        const double x = normal(chance);
        const double v = 1 + c * x;
        if (v <= 0)
            continue;
        const double cube = v * v * v;
        const double u = ridge_chance_uniform(chance);
        if (log(u) < x * x / 2 + d - d * cube + d * log(cube))
            return d * cube / shape;
    }
}

static int64_t clip(const ridge_length *length, double tokens)
{
    const double least = length->least > 1 ? (double)length->least : 1;
    const double most = length->most > 0 ? (double)length->most : 1e12;
    return (int64_t)fmin(fmax(tokens, least), most);
}

int64_t ridge__length_draw(const ridge_length *length, ridge_chance *chance)
{
    const double mean = length->mean, spread = length->spread;
    switch (length->kind) {
    case RIDGE_LENGTH_UNIFORM: {
        const double low = floor(mean * (1 - spread));
        const double high = ceil(mean * (1 + spread));
        return clip(length,
                    low + (double)ridge_chance_pick(chance, (int64_t)(high - low) + 1));
    }
    case RIDGE_LENGTH_LOGNORMAL: {
        const double sigma2 = log1p(spread * spread);
        const double mu = log(mean) - sigma2 / 2;
        return clip(length, floor(exp(mu + sqrt(sigma2) * normal(chance)) + 0.5));
    }
    case RIDGE_LENGTH_FIXED:
        break;
    }
    return clip(length, floor(mean + 0.5));
}

/* ---- arrivals -------------------------------------------------------------------- */

arrival_process ridge__arrivals_of(const ridge_request_draws *draws)
{
    arrival_process p = {.kind = draws->arrivals,
                         .shape = draws->shape,
                         .on_s = draws->on_s,
                         .off_s = draws->off_s,
                         .chance = ridge_chance_of(draws->seed, STREAM_ARRIVALS)};
    if (draws->rate_per_s > 0)
        p.gap_s = 1 / draws->rate_per_s;
    if (p.kind == RIDGE_ARRIVAL_BURSTS) {
        p.gap_s *= p.on_s / (p.on_s + p.off_s);
        p.on_left_s = ridge_chance_exponential(&p.chance, p.on_s);
    }
    return p;
}

/* Time on until the next arrival, and the time off that lies between. */
static double next_in_bursts(arrival_process *p)
{
    double on = ridge_chance_exponential(&p->chance, p->gap_s);
    double passed = 0;
    while (on > p->on_left_s) {
        passed += p->on_left_s + ridge_chance_exponential(&p->chance, p->off_s);
        on -= p->on_left_s;
        p->on_left_s = ridge_chance_exponential(&p->chance, p->on_s);
    }
    p->on_left_s -= on;
    return passed + on;
}

double ridge__arrivals_next(arrival_process *process)
{
    switch (process->kind) {
    case RIDGE_ARRIVAL_POISSON:
        return ridge_chance_exponential(&process->chance, process->gap_s);
    case RIDGE_ARRIVAL_GAMMA:
        return process->gap_s * ridge__gamma_draw(process->shape, &process->chance);
    case RIDGE_ARRIVAL_CONSTANT:
        return process->gap_s;
    case RIDGE_ARRIVAL_BURSTS:
        return next_in_bursts(process);
    case RIDGE_ARRIVAL_ATONCE:
    case RIDGE_ARRIVAL_CLOSED:
        break;
    }
    return 0;
}
