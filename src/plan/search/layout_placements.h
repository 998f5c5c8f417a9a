/* The distinct ways to lay the groups of a layout on a slice. */
#ifndef RIDGE_PLAN_LAYOUT_PLACEMENTS_H
#define RIDGE_PLAN_LAYOUT_PLACEMENTS_H

#include "group_placement.h"

enum { LAYOUT_PLACEMENT_MOST = PLACEMENT_USUAL_MOST };

typedef struct layout_placements {
    int n;
    int index[LAYOUT_PLACEMENT_MOST]; /* as ridge_layout.placement */
    train_groups groups[LAYOUT_PLACEMENT_MOST];
} layout_placements;

/** Usual placements that give other groups than those before them, at most so many;
 * none if the degrees do not factor over the axes. Depends on the degrees and whether
 * ZeRO shards. */
void layout_placements_find(const ridge_slice *slice, const ridge_layout *layout,
                            int most, layout_placements *out);

/** The same of the placements that a knob allows: RIDGE_KNOB_FREE the usual ones,
 *  RIDGE_KNOB_ANY all, or one by its number.
 *  @param index, groups  out: room for @p most  @return how many */
int layout_placements_list(const ridge_slice *slice, const ridge_layout *layout,
                           int knob, int most, int *index, train_groups *groups);

#endif
