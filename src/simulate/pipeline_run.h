/* A schedule under way: what has run, what has arrived. */
#ifndef RIDGE_SIMULATE_PIPELINE_RUN_H
#define RIDGE_SIMULATE_PIPELINE_RUN_H

#include "ridge/simulate.h"

/* Activations go down the stages, gradients up. */
enum { RIDGE__DOWN, RIDGE__UP, RIDGE__WAYS };

/** The way of what a pass makes and of what it needs. */
int ridge__way_of(ridge_pass pass);

/** The messages that stages receive. A time is INFINITY until it is known. */
typedef struct ridge__mail {
    double *arrival_s;   /* [p v, m], by microbatch */
    double *received_s;  /* [p v, m], the n-th; NULL: nobody waits for it */
    double *line_free_s; /* [p v], the message before has arrived */
    int *n_sent;         /* [p v] */
    int *n_received;     /* [p v] */
} ridge__mail;

typedef struct ridge__rank_run {
    int next;             /* action */
    double free_s;        /* the one before it is over */
    const double *sent_s; /* and so is a sending; NULL: none is waited for */
} ridge__rank_run;

typedef struct ridge__pipeline_run {
    const ridge_pipeline_schedule *schedule;
    const ridge_pipeline_times *times;
    int stages;
    ridge__mail mail[RIDGE__WAYS];
    ridge__rank_run *ranks;      /* [p] */
    ridge_rank_time *out;        /* [p] */
    ridge_action_time **actions; /* [p] each [n] */
} ridge__pipeline_run;

/**
 * @param arena  for out and its actions; all else is in scratch of cx
 * @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__run_open(ridge_ctx *cx, ridge_arena *arena,
                                             const ridge_pipeline_schedule *schedule,
                                             const ridge_pipeline_times *times,
                                             ridge__pipeline_run *out);

/** Run all that can run. @return the first rank that waits for ever; -1: all is done */
int ridge__run_all(ridge__pipeline_run *run);

/**
 * Run a schedule without regard to time.
 * @param is_through  out: false if ranks wait for each other for want of messages that
 *                    may be under way
 * @errors E_ARG they do without a limit; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__run_try(ridge_ctx *cx,
                                            const ridge_pipeline_schedule *schedule,
                                            bool has_pending_limit, int pending_most,
                                            bool *is_through);

#endif
