/* One worker's desk while it searches a fleet's layouts of one task. */
#ifndef RIDGE_PLAN_FLEET_DESK_H
#define RIDGE_PLAN_FLEET_DESK_H

#include "fleet_price.h"
#include "fleet_task.h"
#include "layout_placements.h"

enum { SHAPES_MOST = 64, OPTIONS_MOST = LAYOUT_PLACEMENT_MOST * RIDGE_REMAT_COUNT };

/* What a pool may do for the present mesh, ZeRO stage and microbatch. */
typedef struct pool_options {
    train_load load;
    int n_shapes; /* memo of layer times by microbatch */
    int64_t shape_seqs[SHAPES_MOST];
    const layer_time *shapes[SHAPES_MOST];
    int placements;                 /* of the mesh, of which those that differ are */
    layout_placements at;           /* these */
    layer_exchange *exchanges;      /* [placements][kinds + 1] */
    shard_time *shards;             /* [placements][kinds] */
    double *layer_s;                /* [OPTIONS_MOST][kinds] */
    fleet_part parts[OPTIONS_MOST]; /* [placements][RIDGE_REMAT_COUNT] */
} pool_options;

typedef struct fleet_desk {
    ridge_ctx *cx;
    fleet_case *fc;
    fleet_sheet *sheet;
    const ridge_knobs *knobs;
    double bound_s;
    bool is_quick;
    fleet_answer *answer;
    pool_options *pools; /* [fc->n] */
    double *of_kind;     /* [kinds] layers of each kind in the model */
    ridge_layout common;
    int n_remats;
    ridge_remat remats[RIDGE_REMAT_COUNT]; /* in question, cheapest first */
    int places[RIDGE_FLEET_POOL_MAX];      /* of the present combination */
    int mesh;       /* number of the present mesh, ZeRO stage and microbatch, from 1 */
    int *full_at;   /* [choice_code] the mesh in which it was found not to fit */
    int *room_at;   /* [pool][last stage][RIDGE_REMAT_COUNT] the mesh of: */
    int64_t *rooms; /* [of those][kinds] layers that a stage holds */
} fleet_desk;

/** A pool's part at one of its placements with one of the policies in question. */
fleet_part *fleet_desk_part(const fleet_desk *desk, int pool, int place, int remat);

/** Every combination of placements, orders and policies of the present mesh, ZeRO stage
 *  and microbatch, unless none can be quick enough. */
void fleet_desk_combine(fleet_desk *desk);

#endif
