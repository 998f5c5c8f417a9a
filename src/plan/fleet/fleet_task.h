/* One share of the search over a fleet's layouts, and the best that it finds. */
#ifndef RIDGE_PLAN_FLEET_TASK_H
#define RIDGE_PLAN_FLEET_TASK_H

#include "ridge/plan_fleet.h"

/** Layouts of one tp, cp, ep, SP and exchange. */
typedef struct fleet_task {
    int64_t tp, cp, ep;
    bool has_sp;
    ridge_cp_exchange cp_exchange;
} fleet_task;

typedef struct fleet_entry {
    ridge_fleet_layout layout;
    double step_s;
} fleet_entry;

/** The best layouts so far, one of each mesh and order of pools. */
typedef struct fleet_ranking {
    int top, n;
    fleet_entry entries[RIDGE_TRAIN_TOP_MAX];
} fleet_ranking;

/** Step that a layout must beat to enter; INFINITY while there are free places. */
double fleet_ranking_worst_s(const fleet_ranking *ranking);
void fleet_ranking_insert(fleet_ranking *ranking, const fleet_entry *entry);

typedef struct fleet_answer {
    fleet_ranking ranking;
    int64_t covered, priced;
} fleet_answer;

/** What a worker keeps from task to task. */
typedef struct fleet_desk fleet_desk;

/** @errors as fleet_case_open. All that it takes stays in cx */
RIDGE_NODISCARD ridge_status fleet_desk_open(ridge_ctx *cx,
                                             const ridge_train_request *request,
                                             fleet_desk **out);

/**
 * Search a task. What the desk's ctx took for the last one is given back.
 * @param bound_s   a layout that takes longer is not wanted; INFINITY
 * @param is_quick  only one placement and two remat policies, the same in every pool
 * @errors E_ARG, E_NOMEM
 */
RIDGE_NODISCARD ridge_status fleet_desk_run(fleet_desk *desk, const fleet_task *task,
                                            double bound_s, bool is_quick,
                                            fleet_answer *out);

#endif
