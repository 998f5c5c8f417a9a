/* Arrays of a device for tests of its kernels: seeded numbers, read back as doubles. */
#ifndef RIDGE_TEST_DENSE_ARRAYS_H
#define RIDGE_TEST_DENSE_ARRAYS_H

#include "near.h"

#include "device.h"
#include "seeded.h"

/** Memory that ends where the array ends, so that an overrun is seen. */
ridge__array dense_new(ridge_ctx *cx, ridge_dtype dtype, int64_t n);
/** The same with numbers from -1 to 1. */
ridge__array dense_seeded(ridge_ctx *cx, ridge_dtype dtype, int64_t n, seeded *at);
/** A second array that holds the same. */
ridge__array dense_copy(ridge_ctx *cx, ridge__array a, int64_t n);

double dense_get(ridge__array a, int64_t i);
void dense_set(ridge__array a, int64_t i, double value);
bool dense_is_same(ridge__array a, ridge__array b, int64_t n); /* to the bit */

/** How far rounding once to this format may move a number of that size. */
double dense_rounding(ridge_dtype dtype, double size);

#endif
