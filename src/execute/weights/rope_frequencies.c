/* Rotary frequencies, as they are and stretched for longer texts. */
#include "ridge/execute_weights.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

/* The blend between what is stretched and what is not, by how often a pair turns in the
 * context that the model was trained on. @source llama-models-2024 */
static double llama3(const ridge_numerics *n, double frequency)
{
    const double turns = n->original_positions * frequency / (2.0 * PI);
    const double low = n->low_freq_factor, high = n->high_freq_factor;
    if (turns < low)
        return frequency / n->rope_factor;
    if (turns > high || high <= low)
        return frequency;
    const double smooth = (turns - low) / (high - low);
    return (1.0 - smooth) * frequency / n->rope_factor + smooth * frequency;
}

/* The pair, as a real number, that turns this often in the original context.
 * @source peng2023-yarn, section 3.2 */
static double yarn_pair(const ridge_numerics *n, double dims, double turns)
{
    return dims * log(n->original_positions / (turns * 2.0 * PI)) /
           (2.0 * log(n->rope_theta));
}

typedef struct yarn_range {
    double low, high; /* pairs: below low as they are, beyond high stretched */
} yarn_range;

static yarn_range yarn_range_of(const ridge_numerics *n, double dims)
{
    double low = yarn_pair(n, dims, n->beta_fast);
    double high = yarn_pair(n, dims, n->beta_slow);
    if (n->is_range_truncated) {
        low = floor(low);
        high = ceil(high);
    }
    low = low < 0.0 ? 0.0 : low;
    high = high > dims - 1.0 ? dims - 1.0 : high;
    return (yarn_range){low, high == low ? high + 0.001 : high};
}

static double yarn(const ridge_numerics *n, double dims, int64_t pair, double frequency)
{
    const yarn_range range = yarn_range_of(n, dims);
    double ramp = ((double)pair - range.low) / (range.high - range.low);
    ramp = ramp < 0.0 ? 0.0 : ramp > 1.0 ? 1.0 : ramp;
    return frequency / n->rope_factor * ramp + frequency * (1.0 - ramp);
}

/* 0.1 m ln s + 1. @source peng2023-yarn, section 3.4 */
static double yarn_scale(double factor, double m)
{
    return factor <= 1.0 ? 1.0 : 0.1 * m * log(factor) + 1.0;
}

/* Each pair has a divisor of its own. @source ding2024-longrope */
static double divided(const ridge_numerics *n, int64_t pair, double frequency)
{
    const bool is_long = n->context_tokens > n->original_positions;
    const double *factors = is_long ? n->long_factors : n->short_factors;
    return (size_t)pair < n->n_factors ? frequency / factors[pair] : frequency;
}

/* sqrt(1 + ln s / ln L) of a context L that was stretched s times. */
static double long_scale(const ridge_numerics *n)
{
    const double factor = n->longest_positions / n->original_positions;
    if (n->attention_factor > 0.0)
        return n->attention_factor;
    return factor <= 1.0 ? 1.0 : sqrt(1.0 + log(factor) / log(n->original_positions));
}

static double magnitude(const ridge_numerics *n)
{
    if (n->rope == RIDGE_ROPE_LONG)
        return long_scale(n);
    if (n->rope != RIDGE_ROPE_YARN)
        return 1.0;
    if (n->attention_factor > 0.0)
        return n->attention_factor;
    if (n->mscale > 0.0 && n->mscale_all_dim > 0.0) {
        return yarn_scale(n->rope_factor, n->mscale) /
               yarn_scale(n->rope_factor, n->mscale_all_dim);
    }
    return yarn_scale(n->rope_factor, 1.0);
}

static double frequency_of(const ridge_numerics *n, double dims, int64_t pair)
{
    const double frequency = pow(n->rope_theta, -2.0 * (double)pair / dims);
    switch (n->rope) {
    case RIDGE_ROPE_NONE:
        return frequency;
    case RIDGE_ROPE_LINEAR:
        return frequency / n->rope_factor;
    case RIDGE_ROPE_LLAMA3:
        return llama3(n, frequency);
    case RIDGE_ROPE_YARN:
        return yarn(n, dims, pair, frequency);
    case RIDGE_ROPE_LONG:
        return divided(n, pair, frequency);
    }
    return frequency;
}

float ridge_numerics_frequencies(const ridge_numerics *numerics, int64_t head_dim,
                                 float *out)
{
    const double whole = (double)head_dim * numerics->rope_fraction;
    const int64_t turned = (int64_t)(whole + 0.5) / 2; /* pairs */
    for (int64_t i = 0; i < head_dim / 2; i++) {
        const double dims = 2.0 * (double)turned;
        out[i] = i < turned ? (float)frequency_of(numerics, dims, i) : 0.0F;
    }
    return (float)magnitude(numerics);
}
