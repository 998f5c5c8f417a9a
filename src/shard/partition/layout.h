/*
 * How a tensor lies, packed: what propagation works on. A sharding of the public header
 * takes 300 bytes, a layout 36, and two compare in a few instructions.
 */
#ifndef RIDGE_SHARD_LAYOUT_H
#define RIDGE_SHARD_LAYOUT_H

#include "ridge/shard.h"

/** Mesh axes of one dim, outermost in the lowest four bits, each as axis + 1; 0: the
 * dim is whole. */
typedef uint32_t ridge__cut;

typedef struct ridge__layout {
    ridge__cut dims[RIDGE_TENSOR_DIM_MAX];
    unsigned partial; /* bit a: partial sums over mesh axis a */
} ridge__layout;

/** What a step needs to know of the tensor. */
typedef struct ridge__box {
    const ridge_mesh *mesh;
    int n_dims;
    int64_t sizes[RIDGE_TENSOR_DIM_MAX];
    double element_bytes;
} ridge__box;

/** One collective, or a slice. */
typedef struct ridge__step {
    ridge_step_kind kind;
    int from, to; /* positions; -1: does not apply */
    ridge__cut axes;
    double bytes; /* V: bytes of one group's global array */
    ridge__layout after;
} ridge__step;

enum { RIDGE__STEP_MAX = 3 * RIDGE_MESH_AXIS_MAX };

static inline int ridge__cut_count(ridge__cut cut)
{
    return cut == 0 ? 0 : (35 - __builtin_clz(cut)) / 4;
}

/** Axis at a place, from the outermost. */
static inline int ridge__cut_axis(ridge__cut cut, int place)
{
    return (int)((cut >> (4 * place)) & 15u) - 1;
}

static inline ridge__cut ridge__cut_append(ridge__cut cut, int axis)
{
    return cut | ((ridge__cut)(axis + 1) << (4 * ridge__cut_count(cut)));
}

/** The outermost @p n axes. */
static inline ridge__cut ridge__cut_head(ridge__cut cut, int n)
{
    return n >= 8 ? cut : cut & ((1u << (4 * n)) - 1u);
}

/** The axes of b inside those of a. */
static inline ridge__cut ridge__cut_join(ridge__cut a, ridge__cut b)
{
    return b == 0 ? a : a | (b << (4 * ridge__cut_count(a)));
}

/** Axes in use, as bits. */
unsigned ridge__cut_mask(ridge__cut cut);
/** Without the axes of @p mask; the order of the others stays. */
ridge__cut ridge__cut_without(ridge__cut cut, unsigned mask);
/** How many of the outermost axes two cuts share. */
int ridge__cut_common(ridge__cut a, ridge__cut b);
/** Ways in which the dim is cut. */
int64_t ridge__cut_ways(const ridge_mesh *mesh, ridge__cut cut);
int64_t ridge__cut_local(const ridge_mesh *mesh, ridge__cut cut, int64_t size);

bool ridge__layout_equal(const ridge__layout *a, const ridge__layout *b);
/** Axes that cut dims, as bits. */
unsigned ridge__layout_cut_mask(const ridge__layout *layout);
/** Position of the dim that an axis cuts; -1: none. */
int ridge__layout_find(const ridge__layout *layout, int axis);
/** Take the axes of @p mask off all dims. */
void ridge__layout_drop(ridge__layout *layout, unsigned mask);
double ridge__layout_bytes(const ridge__box *box, const ridge__layout *layout);

ridge_sharding ridge__layout_public(const ridge__layout *layout, int n_dims);

/**
 * The steps from one layout to another: dims grow by slices, reduce-scatters and
 * all-to-alls as long as one applies, what is still partial is all-reduced, and an axis
 * in the way is gathered. Never fails: gathering everything and slicing is always
 * right.
 *
 * Blocks of a dim cut by several axes nest (ceil of ceil), so that the innermost axis
 * comes off or goes on without moving anything between outer blocks.
 *
 * @param to   its partial sums are a part of those of @p from
 * @param out  room for RIDGE__STEP_MAX
 * @return how many
 */
int ridge__layout_steps(const ridge__box *box, const ridge__layout *from,
                        const ridge__layout *to, ridge__step *out);

/**
 * Bytes that a rank sends for a step: V (p-1)/p for a gather or a scatter, twice that
 * for an all-reduce, V (p-1)/p^2 for an all-to-all, nothing for a slice.
 * @source scaling-book-2025 chapter 3
 */
double ridge__step_moved(const ridge_mesh *mesh, const ridge__step *step);
ridge_reshard ridge__step_public(const ridge__step *step, int operand);

#endif
