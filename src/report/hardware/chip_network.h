/*
 * The default system of a chip, its network levels in one list, innermost first, and
 * the ridge point of each. Layer-internal.
 */
#ifndef RIDGE_REPORT_CHIP_NETWORK_H
#define RIDGE_REPORT_CHIP_NETWORK_H

#include "ridge/hardware.h"

/** @return the chip's default system, or NULL if it has none */
const ridge_system *ridge__chip_system(ridge_ctx *cx, const ridge_catalog *catalog,
                                       const ridge_chip *chip);

/** Levels of a system's network: a torus axis counts once, DCN comes last. */
int ridge__system_axis_count(const ridge_system *system);
/** @param index  0 .. count - 1 */
ridge_axis ridge__system_axis(const ridge_system *system, int index);

/** FLOPs per byte over one level (ridge_group_ridge_point). */
double ridge__axis_ridge_point(const ridge_system *system, int index,
                               ridge_dtype dtype);

#endif
