/* The launcher that is to run what is found, if one is named. */
#ifndef RIDGE_PLAN_SEARCH_TARGET_H
#define RIDGE_PLAN_SEARCH_TARGET_H

#include "search_desk.h"

/** Whether the launcher can be told the layout: also without a launcher. */
bool search_is_taken(search_desk *d, const ridge_layout *l);

/** The same at any placement of the candidate. Of a layout that keeps everything, which
 *  no launcher refuses for what another computes again or offloads. */
bool search_is_any_taken(search_desk *d, const candidate *c, const ridge_layout *l);

#endif
