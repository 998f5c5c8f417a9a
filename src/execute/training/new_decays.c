/*
 * Where recurrent layers begin: rates of decay from 1 to 16 a unit of time, time steps
 * from 1/1000 to 1/10 on a logarithmic scale (so that a layer forgets over tens to
 * thousands of tokens), what passes by a state space at 1, taps as deep as their
 * number.
 */
#include "new_decays.h"

#include <math.h>
#include <string.h>

static const double RATE_MOST = 16.0;
static const double STEP_LEAST = 1e-3, STEP_MOST = 0.1;

static float log_rate(float u)
{
    return (float)log(1.0 + (RATE_MOST - 1.0) * (double)u);
}

/* What softplus makes the time step of. */
static float step_bias(float u)
{
    const double step =
        exp(log(STEP_LEAST) + (double)u * (log(STEP_MOST) - log(STEP_LEAST)));
    return (float)(step + log(-expm1(-step)));
}

static float one(float u)
{
    (void)u;
    return 1.0F;
}

static bool is_taps(const char *base)
{
    const size_t n = strlen(base);
    return strncmp(base, "conv_", 5) == 0 && strcmp(base + n - 5, "_bias") != 0;
}

/* Taps have the spread that their number asks for. */
static void fill_taps(ridge__team *team, const ridge__new_weight *weight, float *out)
{
    ridge__new_weight taps = *weight;
    const int64_t n = weight->region->shape[weight->region->n_dims - 1];
    taps.scale = (float)(1.0 / sqrt(3.0 * (double)n));
    ridge__new_weight_fill(team, &taps, out);
}

bool ridge__new_decay_fill(ridge__team *team, const char *base,
                           const ridge__new_weight *weight, float *out)
{
    static const struct {
        const char *base;
        float (*of)(float u);
    } ROWS[] = {{"a_log", log_rate}, {"dt_bias", step_bias}, {"skip", one}};
    if (is_taps(base)) {
        fill_taps(team, weight, out);
        return true;
    }
    for (size_t i = 0; i < RIDGE_COUNT_OF(ROWS); i++) {
        if (strcmp(base, ROWS[i].base) != 0)
            continue;
        const int64_t n = ridge_region_elements(weight->region);
        ridge__new_weight_uniform(weight, out);
        for (int64_t k = 0; k < n; k++)
            out[k] = ROWS[i].of(out[k]);
        return true;
    }
    return false;
}
