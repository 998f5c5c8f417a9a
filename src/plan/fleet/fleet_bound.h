/* What no deal of a fleet's layers can beat. */
#ifndef RIDGE_PLAN_FLEET_BOUND_H
#define RIDGE_PLAN_FLEET_BOUND_H

#include <stdbool.h>
#include <stdint.h>

/** Consecutive stages that are equally fast. */
typedef struct fleet_pace {
    int64_t stages;
    double kept;   /* fleet_pace_kept of them; 0 where no fill counts */
    double speed;  /* work a second; > 0 */
    double head_s; /* of the model's head on one of them */
    double room;   /* work of layers that all of them hold; INFINITY: any */
} fleet_pace;

/** Of each kind of layer the time of a microbatch on a chosen stage. */
typedef struct fleet_work {
    int n_kinds;
    const double *layers; /* [n_kinds] of the model */
    const double *base_s; /* [n_kinds] a layer in the unit of work */
} fleet_work;

/** Work of all layers. */
double fleet_work_total(const fleet_work *work);

/** Work of the most layers that stages hold. @param room  [n_kinds] of a stage */
double fleet_work_room(const fleet_work *work, const int64_t *room, int64_t stages);

/** Speed of a stage on the kind of layer that suits it best. */
double fleet_pace_speed(const fleet_work *work, const double *layer_s);

/** Share of a speed that stands against those behind: (1 - 1/m)^stages. */
double fleet_pace_kept(int64_t stages, double microbatches);

/**
 * Seconds that a step takes at least, layers dealt out to the last crumb.
 *
 * A stage's passes come behind one of each stage before it: of times t with m t_r + the
 * sum of those before r at most T, the work sum(s_r t_r) is at most T sum(y_r) for any
 * y with m y_r + the sum of those behind r at least s_r (duality). The least such y is
 * found from behind. Of any of the paces as little as nothing may be had in time and no
 * more than their room: what is beyond that is the others'.
 *
 * @param n          paces in the order of the pipeline, >= 1
 * @param has_bubble without it the fill is left out: of split schedules
 */
double fleet_bound_s(const fleet_pace *paces, int n, double work, double microbatches,
                     bool has_bubble);

#endif
