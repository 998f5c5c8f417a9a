/* What a search need not price: bounds below the times of many layouts at once. */
#ifndef RIDGE_PLAN_SEARCH_BOUND_H
#define RIDGE_PLAN_SEARCH_BOUND_H

#include "search_desk.h"
#include "train_price.h"

/** Whether something is known to fit: what does not is of no interest then. */
bool search_is_any_known(const search_desk *d);

/** Whether no layout of these layers, microbatches and stages is among the best: all
 *  compute, spread evenly, without a bubble. */
bool search_is_mesh_slow(const search_desk *d, const memo_entry *e,
                         const ridge_layout *l);

/** Seconds that a pipeline's step takes at least, wherever it lies: its layers with
 * what the layout computes again. @param l  its ZeRO stage does not matter */
double search_least_s(const search_desk *d, const candidate *c, const ridge_layout *l);

/** Whether a layout of that time at least is not among the best. @param bytes  that it
 *  holds at least, for the front of time and memory */
bool search_is_beaten(const search_desk *d, const ridge_layout *l, double least_s,
                      double bytes);

/** Whether a pipeline is not among the best wherever it lies, with everything kept: by
 * its layers alone, with the least of each exchange over its mesh's placements.
 * @param c  its sharded_s is found where it was not
 * @return also true when memory ran out */
bool search_is_pipeline_slow(search_desk *d, candidate *c, const ridge_layout *l);

/** Whether a layout is not among the best wherever it lies: with the least of each
 *  exchange over its mesh's placements, which are found and not none.
 *  @param bytes  as of search_is_beaten
 *  @return also true when memory ran out */
bool search_is_placed_slow(search_desk *d, const candidate *c, const train_terms *terms,
                           const ridge_layout *l, double bytes);

/** Whether a layout with all its terms is ruled out before its schedule is played. */
bool search_is_step_slow(const search_desk *desk, const train_terms *terms,
                         const ridge_layout *layout, const candidate *candidate,
                         double bytes);

#endif
