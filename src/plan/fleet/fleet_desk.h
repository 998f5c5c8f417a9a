/* One worker's desk while it searches a fleet's layouts of one task. */
#ifndef RIDGE_PLAN_FLEET_DESK_H
#define RIDGE_PLAN_FLEET_DESK_H

#include "exchange_memo.h"
#include "fleet_price.h"
#include "fleet_task.h"
#include "layout_placements.h"
#include "network_time.h"
#include "train_memory.h"

enum {
    ZERO_STAGES = 4,
    SHAPES_MOST = 64,
    OPTIONS_MOST = LAYOUT_PLACEMENT_MOST * RIDGE_REMAT_COUNT
};

/* What a pool may do for the present mesh, ZeRO stage and microbatch. */
typedef struct pool_options {
    train_load load;
    int n_shapes; /* memo of layer times by microbatch */
    int64_t shape_seqs[SHAPES_MOST];
    const layer_time *shapes[SHAPES_MOST];
    /* Placements of the mesh by ZeRO stage, and whether they are found. */
    layout_placements laid[ZERO_STAGES];
    bool is_laid[ZERO_STAGES];
    int64_t stages;       /* of the mesh */
    double kept;          /* fleet_pace_kept of them */
    int placements;       /* of the mesh, of which those that differ are */
    layout_placements at; /* these */
    exchange_memo *exchanges;
    shard_time *shards;             /* [ZERO_STAGES][placements][kinds] of laid */
    double *layer_s;                /* [OPTIONS_MOST][kinds] */
    fleet_part parts[OPTIONS_MOST]; /* [placements][RIDGE_REMAT_COUNT] */
} pool_options;

struct fleet_desk {
    ridge_ctx *cx;
    ridge_mark mark; /* what a task takes goes from here on */
    fleet_case *fc;
    fleet_sheet *sheet;
    const ridge_knobs *knobs;
    double bound_s;
    bool is_quick;
    fleet_answer *answer;
    pool_options *pools; /* [fc->n] */
    double *of_kind;     /* [kinds] layers of each kind in the model */
    double *compute_s;   /* [pools][kinds + 1] both passes of a layer, nothing else */
    ridge_layout common;
    int n_remats;
    ridge_remat remats[RIDGE_REMAT_COUNT]; /* in question, cheapest first */
    int places[RIDGE_FLEET_POOL_MAX];      /* of the present combination */
    int mesh;  /* number of the present mesh, ZeRO stage and microbatch, from 1; it goes
                  on from task to task */
    int plain; /* the mesh whose virtual stages are left out, by a number as mesh */
    int *full_at;   /* [choice_code] the mesh in which it was found not to fit */
    int *room_at;   /* [2][pool][last stage][RIDGE_REMAT_COUNT] plain, then mesh, of: */
    int64_t *rooms; /* [of those][kinds] layers that a stage holds */
};

/** A pool's part at one of its placements with one of the policies in question. */
fleet_part *fleet_desk_part(const fleet_desk *desk, int pool, int place, int remat);

/** Count the combinations of the present mesh, ZeRO stage and microbatch as covered. */
void fleet_desk_cover(fleet_desk *desk);

/** Whether its compute alone is within the limit, whatever its stages exchange.
 *  @param layers  [pools] times of its layers */
bool fleet_desk_may_be_quick(fleet_desk *desk, const layer_time *const *layers);

/** Whether it may with what it exchanges at its best placement: parts of the first
 *  policy in question are there. */
bool fleet_desk_laid_may_be_quick(const fleet_desk *desk);

/** Every combination of placements, orders and policies of the present mesh, ZeRO stage
 *  and microbatch. */
void fleet_desk_combine(fleet_desk *desk);

#endif
