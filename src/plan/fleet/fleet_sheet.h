/* What a fleet's layout is priced on: its stages one by one. */
#ifndef RIDGE_PLAN_FLEET_SHEET_H
#define RIDGE_PLAN_FLEET_SHEET_H

#include "fleet_price.h"

struct fleet_sheet {
    fleet_case *fc;
    int n;
    fleet_part *const *parts; /* in the order of the pipeline */
    int pp;
    int64_t microbatches;
    train_stages stages;
    step_sync *syncs;       /* [stages.n] */
    double *layers;         /* [pp][kinds] */
    const double **layer_s; /* [pp][kinds] */
    double *fixed_s;        /* [pp] */
    int *part_of;           /* [pp] */
    int *from;              /* scratch of the deal */
};

/** A message of one microbatch between two stages of the pipeline; none to a stage that
 *  there is not. */
ridge_time fleet_sheet_message(const fleet_sheet *sheet, int from, int to);

#endif
