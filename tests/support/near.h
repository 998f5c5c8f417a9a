/* Comparing doubles in cmocka tests: relative tolerance, said in the failure. */
#ifndef RIDGE_TEST_NEAR_H
#define RIDGE_TEST_NEAR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/** Fail unless |got - want| <= rel * |want|; two equal values always pass. */
#define assert_near(got, want, rel)                                                    \
    ridge_assert_near((got), (want), (rel), #got, __FILE__, __LINE__)

void ridge_assert_near(double got, double want, double rel, const char *what,
                       const char *file, int line);

#endif
