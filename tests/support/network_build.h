/*
 * Slices made by hand for the tests of networks: a chip, a few axes, and groups on
 * them.
 */
#ifndef RIDGE_TEST_NETWORK_BUILD_H
#define RIDGE_TEST_NETWORK_BUILD_H

#include "ridge/hardware.h"

/** A slice without axes, of one chip that computes 1e15 bf16 FLOP/s. */
ridge_slice test_slice(void);

/** Append an axis at rate @p bytes_per_s without any latency; the caller sets the rest.
 * @return the axis, for further facts */
ridge_axis *test_axis(ridge_slice *slice, ridge_axis_kind kind, int64_t size,
                      double bytes_per_s);

/** Append a torus axis with 1 us a hop. */
ridge_axis *test_torus(ridge_slice *slice, int64_t size, bool has_wraparound,
                       double link_bytes_per_s);

/** The group of all chips. */
ridge_group test_group_all(const ridge_slice *slice);

/** Part of one axis. */
ridge_group test_group_part(int axis, int64_t size, int64_t stride);

#endif
