/* Which torus slices exist, which of their axes wrap around, and what to say of others.
 */
#ifndef RIDGE_TORUS_RULES_H
#define RIDGE_TORUS_RULES_H

#include "ridge/hardware.h"

/** Lengths along x, y, z; 1 beyond the system's dims. */
typedef struct torus_shape {
    int64_t length[3];
} torus_shape;

int64_t ridge__shape_chips(const torus_shape *shape);

/** Whether the system can be cut to this shape, its axes in any order. */
bool ridge__shape_is_legal(const ridge_system *system, const torus_shape *shape);

/** Whether it is no slice by itself but a part of one, of whole hosts: 4x2x1. */
bool ridge__shape_is_part(const ridge_system *system, const torus_shape *shape);

/** Whether axis @p i of a legal shape closes into a ring. */
bool ridge__shape_wraps(const ridge_system *system, const torus_shape *shape, int i);

/** Whether Google also offers this slice as a twisted torus. */
bool ridge__shape_can_twist(const ridge_system *system, const torus_shape *shape);

/** The rule as a sentence part: "every axis a multiple of 4 ...". In the ctx's arena.
 */
const char *ridge__shape_rule(ridge_ctx *cx, const ridge_system *system);

/**
 * Legal shapes nearest in chips to @p chips (then more chips, then more compact),
 * each once, with ascending axes.
 * @param is_exact  only shapes of exactly that many chips
 * @return how many were written, at most @p most
 */
int ridge__shape_nearest(const ridge_system *system, int64_t chips, bool is_exact,
                         int most, torus_shape *out);

/** "4x4x8, 4x8x8", with the system's dims; "" for none. In the ctx's arena. */
const char *ridge__shape_list_text(ridge_ctx *cx, const ridge_system *system,
                                   const torus_shape *shapes, int n);

/**
 * The most compact torus of that many TensorCores, those of all its chips.
 * @param text  what asks for it, for messages
 * @param shape  out: room for each of the system's dims
 * @param rank  out: numbers of the shape; 0: one chip, which has none
 * @errors E_ARG: there is none, with those nearest
 */
RIDGE_NODISCARD ridge_status ridge__torus_of_cores(ridge_ctx *cx,
                                                   const ridge_system *system,
                                                   const char *text, int64_t cores,
                                                   int64_t *shape, int *rank);

#endif
