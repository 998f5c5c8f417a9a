/* Layouts of which none is both faster and smaller: the Pareto front of time and
 * memory. */
#ifndef RIDGE_PLAN_LAYOUT_FRONT_H
#define RIDGE_PLAN_LAYOUT_FRONT_H

#include "ridge/plan.h"

/** Layouts that take more than so many times the best are on no front. */
enum { LAYOUT_FRONT_REACH = 2 };

typedef struct layout_front {
    int most; /* 0: not wanted */
    int n;
    ridge_train_price *layouts; /* [most], fastest first, so that memory falls */
} layout_front;

/** Whether a layout of at least that time and exactly that memory is dominated. */
bool layout_front_beats(const layout_front *front, double least_s, double bytes);

/** Put a price in, and those that it dominates out. With no room left the one goes
 *  whose absence is felt least. */
void layout_front_insert(layout_front *front, const ridge_train_price *price);

/** Leave at most so many: those go whose absence is felt least, never an end. */
void layout_front_thin(layout_front *front, int most);

#endif
