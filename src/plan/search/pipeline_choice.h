/* The pipelines that a search tries for a number of stages: schedules, virtual stages
 * and layers of the end stages. */
#ifndef RIDGE_PLAN_PIPELINE_CHOICE_H
#define RIDGE_PLAN_PIPELINE_CHOICE_H

#include "train_case.h"

typedef struct pipeline_choice {
    ridge_schedule schedule;
    int64_t vpp;
    int64_t first_layers, last_layers; /* or RIDGE_STAGE_* */
} pipeline_choice;

typedef struct pipeline_choices {
    int n;
    pipeline_choice *choices;
} pipeline_choices;

/**
 * Every pipeline of pp stages that the knobs allow. GPipe is left out unless asked for:
 * 1F1B takes as long and holds less. An end stage may have fewer layers than the even
 * deal, as many as make up for the head, or one for the embedding.
 * @owner arena
 * @return false when memory ran out
 */
bool pipeline_choices_find(const train_case *tc, int64_t pp, ridge_arena *arena,
                           pipeline_choices *out);

void pipeline_choice_take(const pipeline_choice *choice, ridge_layout *layout);

/** Whether a schedule takes that many microbatches and stages; the formulas of bubble
 *  and memory hold from there on. */
bool pipeline_is_legal(const ridge_layout *layout, int64_t layers,
                       int64_t microbatches);

#endif
