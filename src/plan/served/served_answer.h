/*
 * Predictions of measured rows, by threads that have no arena in common.
 */
#ifndef RIDGE_PLAN_SERVED_ANSWER_H
#define RIDGE_PLAN_SERVED_ANSWER_H

#include "served_run.h"

enum { SERVED_WORDS_MOST = 240 };

/** A row's answer, with its texts: they point into no arena. */
typedef struct served_answer {
    ridge_serving_row row;
    ridge_status status;
    char why[SERVED_WORDS_MOST], assumed[SERVED_WORDS_MOST], what[SERVED_WORDS_MOST];
    char chip[48], engine[48];
} served_answer;

/** Rows of one deployment (served_run_by_deployment), in the order of what they state,
 *  and where models and chips come from. */
typedef struct served_group {
    const ridge_catalog *catalog;
    const ridge_library *library;
    const ridge_model *model;      /* of all of them; NULL: it cannot be found */
    int n;                         /* >= 1 */
    const served_run *const *runs; /* [n] */
    served_answer *const *answers; /* [n], filled in */
} served_group;

/** Predict them. @threads any, on rows of their own */
void served_group_answer(const served_group *group);

#endif
