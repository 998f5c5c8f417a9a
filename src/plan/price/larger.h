/* Choices between two times. The library's fmax minds NaN and is a call. */
#ifndef RIDGE_PLAN_LARGER_H
#define RIDGE_PLAN_LARGER_H

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

/** What is left of a time once it is hidden. */
static inline double positive(double v)
{
    return v > 0 ? v : 0;
}

#endif
