/*
 * The tasks of one repetition of a block: operations, or the chunks that they run in,
 * with what each waits for. What may overlap is settled here; when things happen is
 * timeline_schedule.c's.
 */
#ifndef RIDGE_COST_TIMELINE_TASKS_H
#define RIDGE_COST_TIMELINE_TASKS_H

#include "op_index.h"
#include "ridge/cost_program.h"

typedef enum ridge__task_kind {
    RIDGE__TASK_MATMUL,
    RIDGE__TASK_ATTENTION,
    RIDGE__TASK_VECTOR,
    RIDGE__TASK_NETWORK,
    RIDGE__TASK_END /* of the repetition, on the chip; always the last task */
} ridge__task_kind;

typedef struct ridge__task {
    int op; /* -1: the end */
    ridge__task_kind kind;
    double work_s;
    unsigned network; /* slice axes that it holds, as bits */
    int due; /* place of the chip's first task that needs it, from the repetition's
              * start; beyond the last: in a later repetition */
    int first_dep, n_deps;
    bool is_trailing; /* nothing in its repetition waits for it */
} ridge__task;

/** Which run of a task another waits for. */
typedef enum ridge__dep_where {
    RIDGE__DEP_SAME,     /* this repetition's */
    RIDGE__DEP_PREVIOUS, /* that of the repetition before; the first waits for none */
    RIDGE__DEP_EARLIER,  /* the last one of an earlier block */
    RIDGE__DEP_END       /* the end of what runs before, whatever block it is */
} ridge__dep_where;

typedef struct ridge__dep {
    ridge__dep_where where;
    int block, task; /* block: EARLIER alone */
} ridge__dep;

typedef struct ridge__block_tasks {
    int n_tasks;
    ridge__task *tasks; /* in program order */
    ridge__dep *deps;
    int n_collectives; /* tasks of the network */
} ridge__block_tasks;

/** How an operation is cut into chunks. 0: it is not. */
typedef struct ridge__chunks {
    double head;            /* share of compute that comes before the scatter begins */
    double tail;            /* share of compute that comes after the gather ends */
    int gather;             /* collective whose first chunk is enough to begin; -1 */
    int run_first, run_end; /* neighbours that are cut alike */
    double first;           /* a gather: share of its first chunk */
    double last;            /* a scatter: share of its last chunk */
} ridge__chunks;

/** What tasks are made from. */
typedef struct ridge__task_source {
    const ridge_partition *partition;
    const ridge_laid_mesh *laid;
    const ridge__op_index *index;
    const ridge_operation_time *times; /* [n_ops] */
    const ridge_overlap *overlap;
    bool *is_prefetch; /* [n_ops] a collective that only brings weights together */
    bool *is_trailing; /* [n_ops] a collective whose result its block does not read */
    ridge__chunks *chunks;      /* [n_ops] */
    int *first_task, *end_task; /* [n_ops] within their block */
} ridge__task_source;

/** Settle how the operations of a block are cut: timeline_chunks.c. */
void ridge__chunks_plan(const ridge__task_source *x, int block);

/** The tasks of every block. @owner scratch of cx. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__tasks_make(ridge_ctx *cx,
                                               const ridge__task_source *x,
                                               ridge__block_tasks *out);

#endif
