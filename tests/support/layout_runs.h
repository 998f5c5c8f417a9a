/*
 * Training on many layouts: runs of few steps from one seed, and what each must have in
 * common with that of one rank.
 */
#ifndef RIDGE_TESTS_LAYOUT_RUNS_H
#define RIDGE_TESTS_LAYOUT_RUNS_H

#include "model_fixture.h"

#include "ridge/execute.h"

enum { STEPS = 3, SEQUENCES = 16, TOKENS = 16 };

/* A layout in few words; what is 0 counts as 1, or off. */
typedef struct way {
    const char *name;
    int dp, fsdp, ep, cp, tp, pp, vpp, zero;
    bool is_sp, is_exchange, is_expert_whole;
    ridge_schedule schedule;
    int microbatch;
    ridge_remat remat;
    const char *remat_ops;
    int remat_layers;
    const int64_t *stage_layers;
    ridge_update update;
    int32_t document_end; /* 0: no documents */
    bool is_gate_whole;
    double room; /* of differences, against those of fp32 */
} way;

/** Ways of a model with eight experts, in every way that experts are cut. */
enum { EXPERT_WAYS_COUNT = 14 };
extern const way EXPERT_WAYS[EXPERT_WAYS_COUNT];

/** What the watcher saw, and the checkpoint. */
typedef struct trail {
    int n;
    double loss[STEPS], norm[STEPS];
    const ridge_checkpoint_reader *weights;
} trail;

/** Three steps; fails the test if they fail. */
void layout_train(ridge_ctx *cx, const ridge_model *model, const way *w, trail *out);
/** Fail unless losses, norms, weights and states are alike to float tolerance. */
void layout_compare(ridge_ctx *cx, const way *w, const trail *want, const trail *got);
/** All ways, with an optimizer, against one rank. */
void layouts_check(const char *config, ridge_update update, const way *ways, size_t n);

#endif
