/*
 * A module as a program of Ridge's: its arrays over named dims, its operations, and the
 * mesh and rules that its shardings say. What partitioning, costs and search do with
 * programs, they then do with it.
 */
#ifndef RIDGE_PROFILE_HLO_PROGRAM_H
#define RIDGE_PROFILE_HLO_PROGRAM_H

#include "ridge/profile_hlo.h"
#include "ridge/program.h"
#include "ridge/shard.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_hlo_program {
    const ridge_program *program;
    ridge_mesh mesh;   /* axes of one device are left out */
    ridge_rules rules; /* how arguments, results and constrained values lie */
} ridge_hlo_program;

/** Whether a module says of any of its values how it lies over devices. */
bool ridge_hlo_is_sharded(const ridge_hlo_module *module);

/**
 * Dims are the same where operations say so: sides of an addition, contracted dims of a
 * product. Products become einsums, elementwise operations stand for ones of as many
 * FLOPs, sums einsums of one operand; transpositions, broadcasts and dims of one are
 * names. The mesh is that of the module's sdy or mhlo.sharding annotations.
 * @param mesh  other sizes for the axes of the module's mesh, or a mesh where it names
 *              none; NULL: its own
 * @owner cx
 * @errors E_ARG an operation that programs do not have, with its line; an axis that the
 *         module's mesh has not; E_PARSE a malformed sharding; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_hlo_program_build(ridge_ctx *cx,
                                                     const ridge_hlo_module *module,
                                                     const ridge_mesh *mesh,
                                                     ridge_hlo_program *out);

#ifdef __cplusplus
}
#endif

#endif
