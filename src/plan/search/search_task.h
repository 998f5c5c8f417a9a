/* One part of the search: every layout with one tp, cp, ep and SP. */
#ifndef RIDGE_PLAN_SEARCH_TASK_H
#define RIDGE_PLAN_SEARCH_TASK_H

#include "layout_front.h"
#include "layout_ranking.h"

typedef struct search_task {
    int64_t tp, cp, ep;
    bool has_sp;
    ridge_cp_exchange cp_exchange;
} search_task;

/** What a task found. */
typedef struct search_answer {
    layout_ranking ranking;
    layout_front front;       /* of time and memory, where wanted */
    ridge_train_result tally; /* its counts, and the nearest that does not fit */
    ridge_status status;
} search_answer;

/** Layer times of a task by microbatch, and which operations are worth naming in them,
 *  for a second pass over it. */
typedef struct layer_book {
    int n;
    struct memo_entry *entries;
    bool has_named;
    int n_named;
    ridge_remat_ops *named;
} layer_book;

/** What is known before a task: slower layouts are not among the best. */
typedef struct search_known {
    double bound_s;                /* INFINITY: any may be */
    const layout_ranking *ranking; /* layouts that there are; may be empty */
    const layout_front *front;     /* of those, where one is wanted; may be empty */
} search_known;

/** A worker: a case of its own, and what it has read of the present task. */
typedef struct search_desk search_desk;

/** @param cx  the worker's own. @param keeper  another of its own, where books stay.
 *  @errors as train_case_open */
RIDGE_NODISCARD ridge_status search_desk_open(ridge_ctx *cx, ridge_ctx *keeper,
                                              const ridge_train_request *request,
                                              search_desk **out);

/**
 * @param book      written by the quick pass, read by the other
 * @param is_quick  one ZeRO stage, placement and few pipelines of each mesh
 * @param out       its ranking and front have room and are empty
 */
void search_desk_run(search_desk *desk, const search_task *task, layer_book *book,
                     const search_known *known, bool is_quick, search_answer *out);

#endif
