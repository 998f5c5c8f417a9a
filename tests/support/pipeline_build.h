/* Pipelines for tests: orders as text, times equal and random. */
#ifndef RIDGE_TEST_PIPELINE_BUILD_H
#define RIDGE_TEST_PIPELINE_BUILD_H

#include "near.h"
#include "seeded.h"

#include "ridge/simulate.h"

/** The schedule of a pipeline; fails the test if there is none. */
ridge_pipeline_schedule pipeline_make(ridge_ctx *cx, ridge_schedule kind, int ranks,
                                      int chunks, int microbatches);

/** A rank's order: "F0 F1 I0 W0", with chunks "F0.1" (chunk 0, microbatch 1).
 * @owner the ctx */
const char *pipeline_text(ridge_ctx *cx, const ridge_pipeline_schedule *schedule,
                          int rank);

/** The same times for each stage. @owner the ctx */
ridge_pipeline_times pipeline_equal_times(ridge_ctx *cx,
                                          const ridge_pipeline_schedule *schedule,
                                          double forward_s, double backward_input_s,
                                          double backward_weight_s);

/** A random pipeline that there is: any kind, few ranks, chunks and microbatches. */
ridge_pipeline pipeline_random(seeded *at);

/** Random times of each stage, whole numbers from 0 to 20; send_s likewise. */
ridge_pipeline_times pipeline_random_times(ridge_ctx *cx,
                                           const ridge_pipeline *pipeline, seeded *at);

/** Fails unless it was refused with this very message. */
void pipeline_assert_refused(ridge_ctx *cx, ridge_status st, ridge_status want,
                             const char *message);

ridge_pipeline_timeline pipeline_play(ridge_ctx *cx,
                                      const ridge_pipeline_schedule *schedule,
                                      const ridge_pipeline_times *times);

#endif
