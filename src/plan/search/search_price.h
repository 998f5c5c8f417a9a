/* Layouts of one mesh and pipeline, priced at every placement. */
#ifndef RIDGE_PLAN_SEARCH_PRICE_H
#define RIDGE_PLAN_SEARCH_PRICE_H

#include "search_desk.h"
#include "search_memory.h"

/** Price one remat policy on so many layers, and one set of what is offloaded, into the
 *  desk's answer.
 *  @return the least time of any of them */
double search_price_memory(search_desk *d, const candidate *c, train_terms *terms,
                           const memory_choice *choice, ridge_layout *l);

#endif
