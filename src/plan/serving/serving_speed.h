/* Tables of a layout's prices: which layers lie in one table. */
#ifndef RIDGE_PLAN_SERVING_SPEED_H
#define RIDGE_PLAN_SERVING_SPEED_H

#include "serving_weights.h"

enum { SERVING_KNOT_MOST = 384 };

/** Whether layers work on a state of one size: scans, and attention to a source. */
bool serving_class_is_state(const serving_mixer *m);
/** The window of a class of caches; 0: tables are over the whole context. */
double serving_class_window(const serving_mixer *m);

#endif
