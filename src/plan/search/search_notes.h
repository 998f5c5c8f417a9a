/* What one mesh taught of pipelines and microbatches, for those that only divide
 * replicas from shards otherwise: those compute the same, and with fewer shards have
 * less room. */
#ifndef RIDGE_PLAN_SEARCH_NOTES_H
#define RIDGE_PLAN_SEARCH_NOTES_H

#include "search_desk.h"

/** Of one ZeRO stage. */
typedef struct room_note {
    int64_t shards, expert_shards; /* of the last mesh; 0: there was none */
    double least_s; /* nothing with as few shards takes less; INFINITY: nor fits */
} room_note;

typedef struct pipeline_note {
    double least_s; /* search_least_s of what keeps everything; below 0: not known */
    bool has_exchanges; /* among it */
    room_note rooms[ZERO_STAGES];
} pipeline_note;

/** Of a microbatch: what is slower than the best so far stays so, however replicas are
 * divided from shards, and whatever else is found. */
typedef struct microbatch_note {
    bool is_slow;          /* all its pipelines are: search_is_mesh_slow */
    int n;                 /* pipelines that may be among the best: */
    int *pipelines;        /* [n] rising */
    int64_t slow, illegal; /* how many others there are */
} microbatch_note;

/** Of all meshes with so many stages. */
typedef struct search_notes {
    int n_pipelines;
    pipeline_note *notes;          /* [microbatches][n_pipelines] */
    microbatch_note *microbatches; /* [microbatches] */
} search_notes;

/** All pipelines may be among the best; a quick pass tries the first two.
 *  @return false when memory ran out. @owner the desk's scratch */
bool search_notes_open(search_desk *desk, int microbatches, int pipelines,
                       search_notes *out);

pipeline_note *search_note_of(const search_notes *notes, int microbatch, int pipeline);

/** Least time of a layout that keeps all and waits for no shard, found once. */
double search_noted_least_s(search_desk *desk, const candidate *candidate,
                            const ridge_layout *layout, pipeline_note *note);

/** Least time of a layout with what it must compute again to fit, as far as another
 *  with as many shards or more told it. @param ways  of a mesh under a ZeRO stage
 *  @return 0: none did */
double search_noted_room_s(const pipeline_note *note, const train_ways *ways,
                           int zero_stage);

/** @param least_s  of all choices that fit; INFINITY: none does */
void search_note_room(pipeline_note *note, const train_ways *ways, int zero_stage,
                      double least_s);

#endif
