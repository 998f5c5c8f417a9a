/*
 * Chance: numbers drawn from a seed, and the spread of compute times, of which a group
 * that works in step meets the largest.
 */
#ifndef RIDGE_SIMULATE_CHANCE_H
#define RIDGE_SIMULATE_CHANCE_H

#include "ridge/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- draws --------------------------------------------------------------------- */

/** Where a sequence of draws stands; the same seed gives the same draws everywhere. */
typedef struct ridge_chance {
    uint64_t state;
} ridge_chance;

/** The stream-th sequence of a seed. @source steele2014 */
ridge_chance ridge_chance_of(uint64_t seed, uint64_t stream);
/** 64 bits. */
uint64_t ridge_chance_bits(ridge_chance *chance);
/** A number above 0 and below 1. */
double ridge_chance_uniform(ridge_chance *chance);
/** A whole number from 0 to n - 1. @param n  >= 1 */
int64_t ridge_chance_pick(ridge_chance *chance, int64_t n);
/** A time until something happens that has happened for no while. @param mean  > 0 */
double ridge_chance_exponential(ridge_chance *chance, double mean);

/** Below which value a normal variable lies with probability p; exact to 1e-15.
 * @param p  0 < p < 1. @source wichura1988, PPND16 */
double ridge_normal_quantile(double p);

/** The mean of the largest of n normal variables, within a twentieth at 2 and a
 * hundredth from 8 on. @param n  >= 1; 0 of one. @source blom1958 */
double ridge_normal_largest(double n);

/* ---- jitter -------------------------------------------------------------------- */

/** Factors of compute times: lognormal, of mean 1. spread 0: all are 1. */
typedef struct ridge_jitter {
    double spread; /* standard deviation over mean */
    double mu, sigma;
} ridge_jitter;

/** @param spread  >= 0, finite */
ridge_jitter ridge_jitter_of(double spread);

/** Chips that work in step: each waits for the slowest. */
typedef struct ridge_chip_group {
    double even; /* chips like the others, >= 0 */
    double slow; /* and those that take slowdown times as long, >= 0 */
    double slowdown;
} ridge_chip_group;

/**
 * The largest factor of a group, drawn: one draw for the n-th power of a distribution,
 * F_max(x) = F(x)^n, by its inverse, and not n draws; a second one where a group has
 * slow chips.
 */
double ridge_jitter_draw_most(const ridge_jitter *jitter, const ridge_chip_group *group,
                              ridge_chance *chance);
/** Its mean, by quadrature of 1 - F_max; to 1e-6 of itself. */
double ridge_jitter_mean_most(const ridge_jitter *jitter,
                              const ridge_chip_group *group);

#ifdef __cplusplus
}
#endif

#endif
