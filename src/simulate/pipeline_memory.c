/*
 * What a rank holds while its list runs: the order alone says it, times do not matter.
 */
#include "ridge/simulate.h"

int ridge_pipeline_in_flight(const ridge_pipeline_schedule *schedule, int rank)
{
    const ridge_action_list *list = &schedule->ranks[rank];
    int held = 0;
    int most = 0;
    for (int i = 0; i < list->n; i++) {
        switch (list->actions[i].pass) {
        case RIDGE_PASS_FORWARD:
            held++;
            break;
        case RIDGE_PASS_BACKWARD:
        case RIDGE_PASS_BACKWARD_WEIGHT:
            held--;
            break;
        case RIDGE_PASS_BACKWARD_INPUT:
            break;
        }
        most = held > most ? held : most;
    }
    return most;
}

/* By how much a pass changes what is held once it is over; F when it starts. */
static double change_bytes(ridge_pass pass, const ridge_pipeline_held *stage)
{
    switch (pass) {
    case RIDGE_PASS_FORWARD:
        return stage->forward_bytes;
    case RIDGE_PASS_BACKWARD:
        return -stage->forward_bytes;
    case RIDGE_PASS_BACKWARD_INPUT:
        return stage->weight_bytes - stage->forward_bytes;
    case RIDGE_PASS_BACKWARD_WEIGHT:
        return -stage->weight_bytes;
    }
    return 0;
}

double ridge_pipeline_peak_bytes(const ridge_pipeline_schedule *schedule, int rank,
                                 const ridge_pipeline_held *stages)
{
    const ridge_action_list *list = &schedule->ranks[rank];
    double held_bytes = 0;
    double peak_bytes = 0;
    for (int i = 0; i < list->n; i++) {
        const ridge_action *action = &list->actions[i];
        const int stage =
            ridge_pipeline_stage_of(&schedule->pipeline, (ridge_pipeline_place){
                                                             .rank = rank,
                                                             .chunk = action->chunk,
                                                         });
        held_bytes += change_bytes(action->pass, &stages[stage]);
        peak_bytes = held_bytes > peak_bytes ? held_bytes : peak_bytes;
    }
    return peak_bytes;
}
