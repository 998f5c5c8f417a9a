/* How many of a mesh's microbatches there is memory for, before any is looked at. */
#ifndef RIDGE_PLAN_SEARCH_ROOM_H
#define RIDGE_PLAN_SEARCH_ROOM_H

#include "divisors.h"
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

/** Microbatches of a mesh, from the smallest on, that may fit; the others do not. */
typedef struct mesh_room {
    const pipelines *all;
    const divisors *microbatches; /* rising */
    int *fitting; /* [ZERO_STAGES][pipelines] how many; below 0: not looked at yet */
} mesh_room;

/** @return false when memory ran out. @owner the desk's scratch */
bool search_open_room(search_desk *desk, const pipelines *all,
                      const divisors *microbatches, mesh_room *out);

/**
 * How many fit a pipeline. With nothing known to fit all may: what is nearest is wanted
 * then.
 * @param of  its degrees and ZeRO stage are set
 * @return below 0: memory ran out
 */
int search_room_of(search_desk *desk, const mesh_room *room, int pipeline,
                   const ridge_layout *of);

/** What a pipeline's fullest stage holds at least, whatever is computed again or lies
 * on the host. @return 0: memory ran out, which the desk says too */
double search_floor_bytes(search_desk *desk, const pipelines *all, int pipeline,
                          const ridge_layout *layout);

/** Whether activations alone are too many for any pipeline, ZeRO stage and remat
 * policy: layer inputs of a mean stage for one microbatch, and half of a layer at work.
 */
bool search_is_too_wide(const search_desk *desk, const ridge_layout *layout);

#endif
