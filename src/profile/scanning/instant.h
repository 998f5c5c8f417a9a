/*
 * Times of traces: decimals of microseconds turned into whole nanoseconds, without a
 * double between (17 digits do not fit one). Layer-internal.
 */
#ifndef RIDGE_PROFILE_INSTANT_H
#define RIDGE_PROFILE_INSTANT_H

#include "ridge/base.h"

/** ns + ps / 1000, 0 <= ps < 1000. */
typedef struct instant {
    int64_t ns;
    int32_t ps;
} instant;

/**
 * Microseconds as JSON writes them: "1712191112345678.125", "-3", "1.5e3". Digits
 * below a picosecond are dropped.
 * @return false if malformed or beyond what nanoseconds of 63 bits can hold; *out is
 *         then untouched
 */
bool instant_of_us(ridge_str text, instant *out);
instant instant_of_ps(int64_t ps);
/** @return false when the sum does not fit */
bool instant_add(instant a, instant b, instant *out);
/** The nearest nanosecond. Rounding start and end alike keeps lengths from going below
 *  zero, and their sum unbiased. */
int64_t instant_ns(instant t);

#endif
