/* A derivation being told: lines of name, formula, numbers and result. */
#ifndef RIDGE_PLAN_EXPLAIN_STORY_H
#define RIDGE_PLAN_EXPLAIN_STORY_H

#include "group_placement.h"
#include "layer_time.h"
#include "train_memory.h"

typedef struct story {
    ridge_ctx *cx;
    const train_case *tc;
    const ridge_train_request *request;
    const ridge_train_price *price;
    train_groups groups;
    const layer_time *layers; /* [kinds + 1] */
    const train_load *load;
    const train_stages *stages;
    ridge_explanation *out;
} story;

/** Append a line. Texts are copied; values and result are made by the printf arguments.
 */
void story_add(story *s, int depth, const char *name, const char *formula,
               const char *result, const char *values_fmt, ...) RIDGE_PRINTF(6, 7);

/** The value of a chip's fact, with its source and date. */
void story_fact(story *s, int depth, const char *key, const char *shown);

/* One function a quantity; they add its lines from depth on. */
void explain_step_time(story *s, int depth);
void explain_matmul(story *s, int depth);
void explain_attention(story *s, int depth);
void explain_vector(story *s, int depth);
void explain_recompute(story *s, int depth);
void explain_slowdown(story *s, int depth);
void explain_host(story *s, int depth);
void explain_tp(story *s, int depth);
void explain_cp(story *s, int depth);
void explain_ep(story *s, int depth);
void explain_imbalance(story *s, int depth);
void explain_offload(story *s, int depth);
void explain_fsdp(story *s, int depth);
void explain_dp(story *s, int depth);
void explain_pp(story *s, int depth);
void explain_bubble(story *s, int depth);
void explain_optimizer(story *s, int depth);
void explain_memory(story *s, int depth);
void explain_mfu(story *s, int depth);
void explain_bound(story *s, int depth);
void explain_days(story *s, int depth);
void explain_usd(story *s, int depth);

#endif
