/* How values lie over devices, as annotations say. Layer-internal. */
#ifndef RIDGE_HLO_SHARDING_H
#define RIDGE_HLO_SHARDING_H

#include "ridge/profile_hlo.h"
#include "ridge/shard.h"

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
/**
 * A sharding over the mesh: axes by their number in it, those of size 1 too.
 * @param rank  of the array
 * @errors E_PARSE malformed; E_ARG something that has no words here: parts of an axis
 */
RIDGE_NODISCARD ridge_status hlo_sharding_read(ridge_ctx *cx, ridge_str text,
                                               const hlo_mesh *mesh, int rank,
                                               ridge_sharding *out);

#endif
