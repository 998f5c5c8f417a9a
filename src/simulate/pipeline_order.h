/*
 * A schedule as one list in which each action stands behind what it waits for, so that
 * times are found in one walk: for schedules that are played again and again.
 */
#ifndef RIDGE_SIMULATE_PIPELINE_ORDER_H
#define RIDGE_SIMULATE_PIPELINE_ORDER_H

#include "ridge/simulate.h"

/** An action, and places in the list; -1: none. */
typedef struct ridge__ordered {
    int rank, stage;
    ridge_pass pass;
    int before, after; /* on its rank */
    int need;          /* the action whose message it waits for */
    int line;          /* the one whose message is before that on the line */
    bool is_remote;    /* the message comes from another rank */
} ridge__ordered;

typedef struct ridge__order {
    int n, ranks;
    const ridge__ordered *actions; /* [n] */
    const int *first;              /* [p] of each rank */
} ridge__order;

/** @errors E_ARG ranks that wait for each other; E_NOMEM. @owner the ctx */
RIDGE_NODISCARD ridge_status ridge__order_make(ridge_ctx *cx,
                                               const ridge_pipeline_schedule *schedule,
                                               ridge__order *out);

/** Room for one play; each thread has its own. */
typedef struct ridge__order_times {
    double *work_s;    /* [n] in: what each action takes */
    double *free_s;    /* [p] out: when a rank is through */
    double *start_s;   /* [n] out */
    double *end_s;     /* [n] out */
    double *arrival_s; /* [n] of the message that an action made; scratch */
    int *next;         /* [p] scratch */
    double *left_s;    /* [p] scratch */
    double *before_s;  /* [2 p] scratch */
} ridge__order_times;

/** @return false once the budget is spent */
bool ridge__order_times_new(ridge_arena *arena, const ridge__order *order,
                            ridge__order_times *out);

/** When each action runs, as ridge_pipeline_play has it without a limit of messages. */
void ridge__order_play(const ridge__order *order, double send_s, ridge__order_times *t);

/**
 * Step after step, each rank's next one behind its close.
 * @param close_s  [p]
 * @return seconds from one to the next, once all ranks keep one pace; the times are
 *         those of the last one
 */
double ridge__order_play_endless(const ridge__order *order, double send_s,
                                 const double *close_s, ridge__order_times *t);

/**
 * A play where ranks take turns on processors: those that wait leave theirs to the
 * others. Of p ranks, k that work are each as fast as min(p / k, 1 / share) times what
 * they are while all work.
 * @param share  of its processors, that a rank has while all work: 0 < share <= 1;
 *               work_s is of such times, messages are part of it
 */
void ridge__order_play_shared(const ridge__order *order, double share,
                              ridge__order_times *t);

/** Back from an action along those that each one waited for, until nothing is waited
 * for. @param path_s  [n] out: what the actions on the path take; others are left alone
 */
void ridge__order_mark(const ridge__order *order, const ridge__order_times *t, int last,
                       double *path_s);

/** A play as a timeline. @errors E_NOMEM. @owner the ctx */
RIDGE_NODISCARD ridge_status ridge__order_timeline(ridge_ctx *cx,
                                                   const ridge__order *order,
                                                   const ridge__order_times *t,
                                                   ridge_pipeline_timeline *out);

#endif
