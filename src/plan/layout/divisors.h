/* Divisors of a whole number, ascending. */
#ifndef RIDGE_PLAN_DIVISORS_H
#define RIDGE_PLAN_DIVISORS_H

#include "ridge/base.h"

typedef struct divisors {
    int64_t *values;
    int n;
} divisors;

/** @return false when memory ran out. @owner arena */
bool divisors_of(ridge_arena *arena, int64_t value, divisors *out);

#endif
