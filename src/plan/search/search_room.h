/* How many of a mesh's microbatches there is memory for, before any is looked at. */
#ifndef RIDGE_PLAN_SEARCH_ROOM_H
#define RIDGE_PLAN_SEARCH_ROOM_H

#include "pipeline_choice.h"
#include "search_desk.h"

/** What a stage holds at least, by tp, ep and SP alone. */
typedef struct stage_floor {
    double dense, expert;  /* parameters, before ZeRO */
    double gathered_bytes; /* under ZeRO-3 */
    double kept, working;  /* bytes for each token of a microbatch */
} stage_floor;

/** Pipelines of so many stages, found once for a task. */
typedef struct pipelines {
    pipeline_choices choices;
    const train_stages **stages; /* [choices.n]; NULL until wanted */
    stage_floor **floors;        /* [choices.n][stages]; NULL until wanted */
} pipelines;

/** @return false when memory ran out. @owner the desk's arena, until the next task */
bool search_find_pipelines(search_desk *desk, int64_t pp, pipelines *out);

/** The stages of a pipeline. @return NULL when memory ran out */
const train_stages *search_stages_of(search_desk *desk, const pipelines *all,
                                     int pipeline, const ridge_layout *layout);

/** ZeRO stages that have something to shard over; none where first > last. */
typedef struct zero_range {
    int first, last;
} zero_range;

/** Microbatches, from the smallest on, that may fit. */
typedef struct mesh_room {
    int n_pipelines;
    const int *fitting; /* [ZERO_STAGES][n_pipelines] how many; the others do not.
                           NULL: not looked at yet */
} mesh_room;

int mesh_room_of(const mesh_room *room, int zero_stage, int pipeline);

/**
 * Of a mesh whose degrees are set. With nothing known to fit all microbatches may: what
 * is nearest is wanted then.
 * @param microbatches  rising
 * @return false when memory ran out. @owner the desk's scratch
 */
bool search_find_room(search_desk *desk, const pipelines *all, zero_range zeros,
                      const divisors *microbatches, const ridge_layout *mesh,
                      mesh_room *out);

#endif
