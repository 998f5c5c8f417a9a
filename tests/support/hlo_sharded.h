/* Modules with shardings drawn at random, on meshes that need not divide anything. */
#ifndef RIDGE_TEST_HLO_SHARDED_H
#define RIDGE_TEST_HLO_SHARDED_H

#include "ridge/base.h"
#include "seeded.h"

enum { HLO_SHARDED_COUNT = 11 };

/** Module @p index as HLO or StableHLO text. Axes x, y and z make up to 12 devices. */
ridge_str hlo_sharded_text(ridge_ctx *cx, int index, seeded *at);

#endif
