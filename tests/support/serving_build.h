/* Deployments whose times are made up: tables in closed form, small and large. */
#ifndef SERVING_BUILD_H
#define SERVING_BUILD_H

#include "ridge/simulate_engine.h"

/** Tables and the speed that points to them. */
typedef struct built_speed {
    double rows_x[8], rows_y[8], head_x[4], head_y[4];
    double sequences[6], reads[8], decode_z[2][48];
    double chunk[5], before[5], prefill_z[2][25];
    double accept[4], draft_x[2], draft_y[2];
    ridge_serving_speed speed;
} built_speed;

/** Times like those of an 8B model on one chip: 6 ms for weights, 14 us a token. */
void built_speed_open(built_speed *out);
/** The second kind of cache: a window. */
void built_speed_window(built_speed *speed, double window_tokens);
/** Drafts of a depth, each accepted with a chance. */
void built_speed_draft(built_speed *speed, int depth, double accept);

/** Rules like those of an engine, by name: "vllm", "sglang", "trtllm", "jetstream",
 *  "static", "vllm-v0", "swap". */
ridge_engine built_rules(const char *name);

/** The rules of data/engines, by name, with pages of so many tokens and iterations of
 *  so many; fails the test when there is none of that name. */
ridge_engine data_rules(const char *name, int64_t block_tokens, int64_t budget_tokens);

/** One pool of one replica. */
ridge_serving_deployment built_deployment(const built_speed *speed, const char *rules);

#endif
