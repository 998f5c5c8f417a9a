/* Times of layers that several searches share: what one has worked out, the next finds.
 */
#ifndef RIDGE_PLAN_LAYER_SHELF_H
#define RIDGE_PLAN_LAYER_SHELF_H

#include "layer_time.h"
#include "train_case.h"

/**
 * Times of every kind of layer and the head, if the case's request has a shelf and they
 * stand there.
 * @return [kinds + 1], valid until the shelf's ctx closes; NULL: not there
 */
const layer_time *layer_shelf_find(const train_case *tc, const layer_shape *shape);

/** Put them there, where there is a shelf with room for them. */
void layer_shelf_keep(const train_case *tc, const layer_shape *shape,
                      const layer_time *times);

#endif
