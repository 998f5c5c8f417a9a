/*
 * How published benchmarks drive engines, from data/benches: what their clients send,
 * and the settings of their recipes that rows of their results leave out.
 */
#ifndef RIDGE_PLAN_SERVED_BENCH_H
#define RIDGE_PLAN_SERVED_BENCH_H

#include "served_run.h"

/**
 * One file of data/benches, already parsed; unknown members are an error.
 * @errors E_PARSE with file:line
 */
RIDGE_NODISCARD ridge_status served_bench_check(ridge_ctx *cx, ridge_node root);

/** All benches. @owner cx. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status served_benches_read(ridge_ctx *cx, const ridge_node **out);

/** What the catalogue calls a row's model and chip. */
typedef struct served_names {
    const char *model, *chip;
} served_names;

/**
 * The practice behind a row: that of the bench that its publisher took it from, told by
 * the lengths of the requests. Recipes hold in order, later ones over earlier ones.
 * @param benches  of served_benches_read
 * @return RIDGE_OK with out->is_known false where no bench is known
 */
RIDGE_NODISCARD ridge_status served_practice_find(ridge_ctx *cx,
                                                  const ridge_node *benches,
                                                  const served_run *run,
                                                  const served_names *names,
                                                  served_practice *out);

#endif
