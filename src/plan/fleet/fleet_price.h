/* The price of a fleet's layout: stages of unlike chips in one pipeline. */
#ifndef RIDGE_PLAN_FLEET_PRICE_H
#define RIDGE_PLAN_FLEET_PRICE_H

#include "fleet_case.h"
#include "train_price.h"

/** A pool's part with all that its stages' times depend on but their place. */
typedef struct fleet_part {
    ridge_fleet_part part;
    train_case *tc;
    ridge_layout layout; /* as its stages see it: pp of all pools */
    train_terms terms;   /* stages, syncs and send are those of a sheet */
    train_groups groups;
    double *layer_s; /* [kinds] a layer, a microbatch, both passes */
    double head_s;
    ridge_time send; /* to a stage of the same pool */
} fleet_part;

/** What a pool runs of a layout: its own stages alone, on its own chip's software. */
ridge_layout fleet_layout_local(const fleet_case *fc, const ridge_layout *common,
                                const ridge_fleet_part *part);

/** Whether a pool can take its part of a layout. */
ridge_fit fleet_layout_check(const fleet_case *fc, const ridge_layout *common,
                             const ridge_fleet_part *part);

/** What a part is made of; borrowed by it. */
typedef struct fleet_terms {
    const layer_time *layers; /* of the part's pool and the layout's shape */
    const train_load *load;
    const train_groups *groups;
    const layer_exchange *exchanges;
    const shard_time *shards;
} fleet_terms;

/** @param layer_s  out: [kinds], kept by the part */
void fleet_part_fill(fleet_case *fc, const ridge_layout *common,
                     const ridge_fleet_part *part, const fleet_terms *terms,
                     double *layer_s, fleet_part *out);

/** Room for the stages of a layout. */
typedef struct fleet_sheet fleet_sheet;

/** @return NULL when memory ran out. @owner the case's ctx */
fleet_sheet *fleet_sheet_open(fleet_case *fc);

/**
 * Deal out layers and price. Rates and money are left to fleet_price_finish.
 * @param parts   in the order of the pipeline
 * @param limit_s a deal whose slowest stage alone makes a step longer is not wanted
 * @param is_roomy out: the quickest deal of all fits, or none is within the limit:
 *                 nothing need be computed again
 * @return whether there is a deal that fits, within the limit
 */
bool fleet_sheet_price(fleet_sheet *sheet, fleet_part *const *parts, int n,
                       double limit_s, bool *is_roomy, ridge_fleet_price *out);

/** Whether some deal fits, however long it takes. It depends on no placement. */
bool fleet_sheet_holds(fleet_sheet *sheet, fleet_part *const *parts, int n);

/**
 * The most layers of each kind that a stage of the part holds, of that kind alone.
 * @param last   the part's last stage, which keeps the fewest microbatches
 * @param layers out: [kinds]
 */
void fleet_part_room(fleet_case *fc, const fleet_part *part, int64_t last,
                     int64_t *layers);

/** As ridge_fleet_price_one. @param on  out: the sheet that it was priced on, which has
 *  its stages where it fits. @owner the case's ctx */
RIDGE_NODISCARD ridge_status fleet_layout_price(fleet_case *fc,
                                                const ridge_fleet_layout *layout,
                                                fleet_sheet **on,
                                                ridge_fleet_price *out);

/** Rates, utilisation, days from the step time. */
void fleet_price_finish(const fleet_case *fc, ridge_fleet_price *price);

#endif
