/* Steps to play for tests: random pipelines with replicas and what closes them. */
#ifndef RIDGE_TEST_STEP_BUILD_H
#define RIDGE_TEST_STEP_BUILD_H

#include "pipeline_build.h"

#include "ridge/simulate_step.h"

typedef struct step_case {
    ridge_pipeline_schedule schedule;
    ridge_step_script script;
} step_case;

/** A random step: whole numbers of seconds. @param out  do not copy */
void step_case_random(ridge_ctx *cx, seeded *at, step_case *out);

/** Play it; fails the test if it is refused. */
ridge_step_outcome step_case_play(ridge_ctx *cx, const step_case *c,
                                  const ridge_step_trouble *trouble);

#endif
