/* Draws from a seed: splitmix64, and what is made of its bits. */
#include "ridge/simulate_chance.h"

#include <math.h>

static uint64_t mixed(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

static const uint64_t STEP = 0x9e3779b97f4a7c15U;

ridge_chance ridge_chance_of(uint64_t seed, uint64_t stream)
{
    return (ridge_chance){mixed(mixed(seed + STEP) ^ (stream * STEP))};
}

uint64_t ridge_chance_bits(ridge_chance *chance)
{
    chance->state += STEP;
    return mixed(chance->state);
}

double ridge_chance_uniform(ridge_chance *chance)
{
    /* The middle of one of 2^52 equal parts: neither 0 nor 1 once rounded. */
    return ((double)(ridge_chance_bits(chance) >> 12) + 0.5) * 0x1p-52;
}

int64_t ridge_chance_pick(ridge_chance *chance, int64_t n)
{
    return (int64_t)(ridge_chance_bits(chance) % (uint64_t)n);
}

double ridge_chance_exponential(ridge_chance *chance, double mean)
{
    return -mean * log(ridge_chance_uniform(chance));
}

/* ---- normal variables ---------------------------------------------------------- */

enum { DEGREE = 8 };

/* A polynomial from its highest power down. */
static double polynomial(const double c[DEGREE], double x)
{
    double y = c[0];
    for (int i = 1; i < DEGREE; i++)
        y = y * x + c[i];
    return y;
}

typedef struct rational {
    double above[DEGREE], below[DEGREE];
} rational;

/* clang-format off */
static const rational middle = {
    {2509.0809287301226727, 33430.575583588128105, 67265.770927008700853,
     45921.953931549871457, 13731.693765509461125, 1971.5909503065514427,
     133.14166789178437745, 3.387132872796366608},
    {5226.495278852545925, 28729.085735721942674, 39307.89580009271061,
     21213.794301586595867, 5394.1960214247511077, 687.1870074920579083,
     42.313330701600911252, 1.0}};
static const rational near_end = {
    {7.7454501427834140764e-4, .0227238449892691845833, .24178072517745061177,
     1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055,
     4.6303378461565452959, 1.42343711074968357734},
    {1.05075007164441684324e-9, 5.475938084995344946e-4, .0151986665636164571966,
     .14810397642748007459, .68976733498510000455, 1.6763848301838038494,
     2.05319162663775882187, 1.0}};
static const rational far_end = {
    {2.01033439929228813265e-7, 2.71155556874348757815e-5, .0012426609473880784386,
     .026532189526576123093, .29656057182850489123, 1.7848265399172913358,
     5.4637849111641143699, 6.6579046435011037772},
    {2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5,
     7.868691311456132591e-4, .0148753612908506148525, .13692988092273580531,
     .59983220655588793769, 1.0}};
/* clang-format on */

static double ratio(const rational *r, double x)
{
    return polynomial(r->above, x) / polynomial(r->below, x);
}

double ridge_normal_largest(double n)
{
    return n <= 1 ? 0 : ridge_normal_quantile((n - 0.375) / (n + 0.25));
}

double ridge_normal_quantile(double p)
{
    const double q = p - 0.5;
    if (fabs(q) <= 0.425)
        return q * ratio(&middle, 0.180625 - q * q);
    const double tail = sqrt(-log(q < 0 ? p : 1 - p));
    const double z =
        tail <= 5 ? ratio(&near_end, tail - 1.6) : ratio(&far_end, tail - 5);
    return q < 0 ? -z : z;
}
