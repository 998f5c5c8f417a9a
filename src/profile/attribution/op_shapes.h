/*
 * What a call did, from the shapes and types of its inputs as PyTorch's profiler writes
 * them. Layer-internal.
 */
#ifndef RIDGE_PROFILE_OP_SHAPES_H
#define RIDGE_PROFILE_OP_SHAPES_H

#include "ridge/profile.h"

/** Work of one call. */
typedef struct call_work {
    bool has_flops, has_bytes, has_dtype;
    double flops; /* two for each multiply-add */
    double bytes; /* each input read and the output written, once */
    ridge_dtype dtype;
    ridge_profile_class class; /* of the kernel that does it */
} call_work;

/** A call as the trace tells it; "" for what it does not. */
typedef struct call_text {
    const char *call, *dims, *types, *values;
} call_text;

/**
 *     call "aten::addmm", dims "[[512], [141, 2048], [2048, 512], [], []]",
 *     types "[\"c10::BFloat16\", ...]"
 *
 * Known: mm, addmm, bmm, baddbmm, linear, _scaled_mm, convolution, scaled dot product
 * attention (forward and backward; half of it where a causal mask is told among the
 * values), and what streams its inputs. Anything else has nothing that is told.
 */
call_work op_shapes_work(const call_text *text);

/** "c10::BFloat16", "bf16", "f32", "float", "Half", ... @return false: unknown */
bool op_shapes_dtype(ridge_str text, ridge_dtype *out);
/** Bytes of an element by its name, integers too; 0: unknown. */
double op_shapes_element_bytes(ridge_str text);

#endif
