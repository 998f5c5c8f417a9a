/* Playing the tasks of the blocks, one repetition after the other. */
#ifndef RIDGE_COST_TIMELINE_SCHEDULE_H
#define RIDGE_COST_TIMELINE_SCHEDULE_H

#include "timeline_tasks.h"

enum {
    RIDGE__PLAYED_MAX = 12, /* repetitions of a block that are played */
    RIDGE__SHOWN_MAX = 3    /* of which events are kept */
};

/** From the end of one repetition to the end of the next. */
typedef struct ridge__window {
    double wall_s;
    double work_s[RIDGE__TASK_NETWORK]; /* by kind, on the chip by itself */
    double busy_s;                      /* the chip at work */
    double beside_s;                    /* the network at the same time */
} ridge__window;

/** What is played of a block. */
typedef struct ridge__block_play {
    int64_t repeat;
    int n_windows; /* repetitions played */
    bool is_steady;
    int steady; /* the window that stands for what is not played */
    ridge__window windows[RIDGE__PLAYED_MAX];
} ridge__block_play;

typedef struct ridge__schedule {
    const ridge__block_tasks *tasks; /* [n_blocks] */
    double slowdown;
    ridge__block_play *blocks;
    double end_s;   /* all is done */
    double drain_s; /* of it, behind the last end of a repetition */
    int n_events;
    ridge_event *events; /* in cx's arena */
    bool has_events;     /* in: whether to keep them */
} ridge__schedule;

/**
 * @param out  in: has_events
 * @param slowdown  share of its rate that the chip loses beside a collective, in [0, 1)
 * @owner scratch of cx, but for events. @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__schedule_play(ridge_ctx *cx,
                                                  const ridge_program *program,
                                                  const ridge__block_tasks *tasks,
                                                  double slowdown,
                                                  ridge__schedule *out);

#endif
