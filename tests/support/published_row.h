/* Rows of the files in tests/golden/published: worked examples, computed by the
 * library. */
#ifndef RIDGE_TEST_PUBLISHED_ROW_H
#define RIDGE_TEST_PUBLISHED_ROW_H

#include "train_fixture.h"

/** One row being computed. */
typedef struct row {
    ridge_ctx *cx;
    const char *id;
    ridge_node inputs, expected;
    double rel_tol;
    int checked; /* members of expected that were compared */
} row;

/** A number of the inputs; fails the test if there is none. */
double in(const row *r, const char *key);

/** Compare with a member of expected, a number or a flag. */
void want(row *r, const char *key, double got);
void want_text(row *r, const char *key, const char *got);

/** The thresholds of a model of the catalogue on a slice of the catalogue. */
ridge_thresholds thresholds_of(row *r, const char *model, const char *slice,
                               double batch_tokens);

/** What computes the rows whose id begins with the prefix. */
typedef struct published_kind {
    const char *prefix;
    void (*compute)(row *r);
} published_kind;

/** Compute every row of a file; each member of each expected must be compared.
 * @param name  of the file in tests/golden/published
 * @return how many rows */
int published_rows_check(const char *name, const published_kind *kinds, size_t n);

#endif
