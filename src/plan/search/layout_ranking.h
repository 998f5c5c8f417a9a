/* The best layouts so far, one of each mesh. */
#ifndef RIDGE_PLAN_LAYOUT_RANKING_H
#define RIDGE_PLAN_LAYOUT_RANKING_H

#include "ridge/plan.h"

typedef struct layout_ranking {
    int top; /* places */
    int n;
    ridge_train_price *layouts; /* [top], best first */
} layout_ranking;

/** Step time that a layout must beat to enter; INFINITY while there are free places. */
double layout_ranking_worst_s(const layout_ranking *ranking);

/** Step time that a layout of this mesh must beat to enter: that of its mesh's best
 *  variant where there is one. INFINITY: any. */
double layout_ranking_limit_s(const layout_ranking *ranking, const ridge_layout *of);

/** Put a price in its place; of each mesh only the best variant stays. */
void layout_ranking_insert(layout_ranking *ranking, const ridge_train_price *price);

/** Keep of the layouts that do not fit the one that is least over. */
void layout_ranking_nearest(ridge_train_result *result, const ridge_train_price *price);

#endif
