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

/**
 * The practice behind a row: that of the bench that its publisher took it from, told by
 * the lengths of the requests. Recipes hold in order, later ones over earlier ones.
 * @param model, chip  names of the catalogue
 * @return RIDGE_OK with out->is_known false where no bench is known
 */
RIDGE_NODISCARD ridge_status served_practice_find(ridge_ctx *cx, const served_run *run,
                                                  const char *model, const char *chip,
                                                  served_practice *out);

#endif
