/* How values lie over devices, as annotations say. Layer-internal. */
#ifndef RIDGE_HLO_SHARDING_H
#define RIDGE_HLO_SHARDING_H

#include "ridge/profile_hlo.h"
#include "ridge/program.h"

/** The mesh of a module. */
typedef struct hlo_mesh {
    bool is_named; /* by sdy; else made from device arrays */
    int n;         /* axes, outermost first, with those of size 1 */
    ridge_str names[16];
    int64_t sizes[16];
    int64_t devices;
} hlo_mesh;

/** The text of an instruction's sharding; p NULL: none. */
ridge_str hlo_sharding_text(const ridge_hlo_instruction *i);
/** The mesh of all shardings; n 0: there is none. @errors E_PARSE; E_ARG meshes that do
 *  not fit each other */
RIDGE_NODISCARD ridge_status hlo_mesh_find(ridge_ctx *cx,
                                           const ridge_hlo_module *module,
                                           hlo_mesh *out);
/** An axis that cuts a dim, or a part of one: "x":(2)4 are the four ways that lie
 * within two outer ones. */
typedef struct hlo_axis_part {
    int axis;             /* of the mesh */
    int64_t before, size; /* size 0: the whole axis */
} hlo_axis_part;

/** How an array lies, as an annotation says. */
typedef struct hlo_laid {
    int n_dims;
    struct {
        int n;
        hlo_axis_part parts[RIDGE_MESH_AXIS_MAX]; /* outermost first */
    } dims[RIDGE_TENSOR_DIM_MAX];
    unsigned open; /* bit d: dim d may be cut further */
} hlo_laid;

/** The part of an annotation that is of result @p k of several; the text itself where
 * it is of one. */
ridge_str hlo_sharding_part(ridge_str text, int k);
/**
 * A sharding over the mesh: axes by their number in it.
 * @param rank  of the array, at most RIDGE_TENSOR_DIM_MAX
 * @errors E_PARSE malformed; E_ARG something that has no words here: devices in an
 * order that no mesh has
 */
RIDGE_NODISCARD ridge_status hlo_sharding_read(ridge_ctx *cx, ridge_str text,
                                               const hlo_mesh *mesh, int rank,
                                               hlo_laid *out);

#endif
