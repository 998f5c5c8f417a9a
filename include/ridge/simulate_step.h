/*
 * A training step played out: replicas of a pipeline whose chips take more or less
 * time, some of them always more, and who wait for each other. Knows times alone.
 */
#ifndef RIDGE_SIMULATE_STEP_H
#define RIDGE_SIMULATE_STEP_H

#include "ridge/simulate.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a rank does once a step, behind its passes. */
typedef struct ridge_step_close {
    double reduce_s; /* gradients, once all replicas of the rank are there */
    double update_s; /* of the weights; with a barrier once all ranks are there */
    double gather_s; /* the new weights */
} ridge_step_close;

/**
 * A step to play. Each stage of each replica is a group of chips that exchange within
 * every pass, and so wait for the slowest; replicas meet at the end of the step.
 */
typedef struct ridge_step_script {
    const ridge_pipeline_schedule *schedule;
    const ridge_stage_time *compute; /* [p v] what chips take more or less of */
    const ridge_stage_time *network; /* [p v] what they wait for in a pass besides */
    double send_s;                   /* between ranks, while both may compute */
    const ridge_step_close *closes;  /* [p] */
    /* Whether all ranks wait for all before they update, as a global gradient norm
     * asks; without it each goes on to the next step by itself (qi2023-zero-bubble,
     * section 4), and steps follow each other as quickly as the slowest circle of
     * waits lets them (ridge_pacer_step_s). */
    bool has_barrier;
    int64_t group_chips, replicas; /* each >= 1 */
    /* of its processors, that a rank has while all work; 1: they are its own. Below 1
     * send_s is 0: messages are part of passes */
    double processor_share;
} ridge_step_script;

/** What goes less well than planned. */
typedef struct ridge_step_trouble {
    double jitter;      /* spread of each chip's compute time in each pass; 0: none */
    int64_t stragglers; /* chips that are always slower, */
    double slowdown;    /* by this factor >= 1 */
    int64_t steps;      /* to play, >= 1; without jitter all are the same */
    uint64_t seed;
    int workers; /* threads; results do not depend on them */
} ridge_step_trouble;

/** By how much the mean step is longer than without trouble; each cause on top of the
 * ones before it; none is below 0 on processors of its own. */
typedef struct ridge_step_loss {
    double stragglers_s; /* chips that are always slower */
    double groups_s;     /* in each pass, for the slowest chip of a group */
    double stages_s;     /* for stages that are late by chance */
    double replicas_s;   /* at the end, for the last replica */
} ridge_step_loss;

/** Where slow chips are. */
typedef struct ridge_straggler_place {
    int64_t replica;
    int rank;
    int64_t chips;
} ridge_straggler_place;

typedef struct ridge_step_outcome {
    double calm_s; /* the step without trouble */
    /* of the passes of one replica: without trouble, or of the first step the replica
     * that is through last */
    ridge_pipeline_timeline timeline;
    double reduced_s; /* until all ranks' gradients are reduced */
    double step_s;    /* of this one, with update and gather */
    int64_t steps;    /* played */
    /* the mean less what single passes took by chance, whose mean is known: for few
     * steps it may lie beside them */
    double mean_s;
    double p50_s, p90_s, p99_s, least_s, most_s;
    const double *steps_s; /* [steps] as they were played */
    ridge_step_loss loss;  /* sums to mean_s - calm_s */
    int n_places;
    const ridge_straggler_place *places; /* [n_places], ascending */
} ridge_step_outcome;

/**
 * Play a step again and again.
 *
 *     step = max over ranks (last replica's end + reduce) + max over ranks (update +
 *            gather); without a barrier, of steps that follow each other, the mean
 *
 * A group draws its slowest chip's factor at once (ridge_jitter_draw_most), so that
 * cost grows with passes, not with chips. Which chips are slow is drawn once, by seed.
 *
 * @owner the ctx: until it closes
 * @errors E_ARG a number outside the contract, more stragglers than chips, or ranks
 * that wait for each other; E_NOMEM; E_CANCELLED
 * @note  Factors of a chip's passes do not hang together; networks do not jitter.
 */
RIDGE_NODISCARD ridge_status ridge_step_play(ridge_ctx *cx,
                                             const ridge_step_script *script,
                                             const ridge_step_trouble *trouble,
                                             ridge_step_outcome *out);

#ifdef __cplusplus
}
#endif

#endif
