/* Tables of a layout's prices. */
#ifndef RIDGE_PLAN_SERVING_SPEED_H
#define RIDGE_PLAN_SERVING_SPEED_H

#include "serving_weights.h"

enum { SERVING_KNOT_MOST = 384 };

#endif
