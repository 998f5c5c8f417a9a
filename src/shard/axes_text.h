/* Mesh axes in the notation. Layer-internal. */
#ifndef RIDGE_SHARD_AXES_TEXT_H
#define RIDGE_SHARD_AXES_TEXT_H

#include "ridge/shard.h"

/** "x", "xy" where each is a letter, "(tp,dp)" otherwise; outermost first. */
void ridge__axes_write(const ridge_mesh *mesh, const int *axes, int n, ridge_buf *out);

#endif
