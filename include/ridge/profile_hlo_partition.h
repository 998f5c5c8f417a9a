/*
 * A module cut over a mesh as its shardings say: the module that one device runs, with
 * the collectives that this takes. It is HLO again: what studies modules studies it.
 */
#ifndef RIDGE_PROFILE_HLO_PARTITION_H
#define RIDGE_PROFILE_HLO_PARTITION_H

#include "ridge/profile_hlo.h"
#include "ridge/shard.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A collective that was put in, or a slice: a step that moves nothing. */
typedef struct ridge_hlo_step {
    ridge_step_kind kind;
    const char *axes; /* "x,y", outermost first */
    double bytes;     /* V, as ridge_collective_price takes it */
    double sent_bytes;
    double times;          /* that it runs in a run of the module */
    const char *array;     /* name of the value that it moves */
    const char *from, *to; /* how it lay and lies: "[x,_]", "[_,_] sums over x" */
    const char *why;       /* what wants it so: "dot", "result", "loop" */
    const char *scope;     /* of the instruction that wants it, or "" */
    int line;
} ridge_hlo_step;

/** What had to be there entirely and was cut: an operation works along that dim, or no
 *  rule is known for it. */
typedef struct ridge_hlo_gathered {
    const char *what; /* "sort works along dim 1 of %x" */
    int line;
    double bytes, times;
} ridge_hlo_gathered;

/** How an argument or a result lies. */
typedef struct ridge_hlo_laid {
    const char *name;
    const char *shape, *local_shape;
    const char *sharding; /* "[x,_]" */
    ridge_sharding lies;
    bool is_argument;
    bool is_told; /* by an annotation; else propagation found it */
} ridge_hlo_laid;

typedef struct ridge_hlo_partition {
    const ridge_hlo_module *whole;
    ridge_mesh mesh;                /* axes of one device are left out */
    const ridge_hlo_module *module; /* what one device runs */
    ridge_str text;                 /* the same as HLO text */
    int n_steps, n_gathered, n_laid;
    const ridge_hlo_step *steps; /* in the order of the text */
    const ridge_hlo_gathered *gathered;
    const ridge_hlo_laid *laid; /* arguments, then results */
} ridge_hlo_partition;

/** Whether a module says of any of its values how it lies over devices. */
bool ridge_hlo_is_sharded(const ridge_hlo_module *module);

/**
 * Shardings spread from annotations through all operations, both ways and around loops;
 * each operation then runs on parts, with the collectives before and behind it that
 * send the fewest bytes (ridge_reshard_plan). Dims that do not divide are padded, and
 * what is padded never enters a sum. What an operation needs entirely is gathered, and
 * told.
 *
 * @param module  before optimisation, and not partitioned yet
 * @param mesh    other sizes for the axes of the module's mesh; NULL: its own
 * @owner cx
 * @errors E_ARG a module without shardings, one that is compiled or partitioned, an
 * axis that its mesh has not; E_PARSE a malformed sharding; E_NOMEM
 * @source xu2021-gspmd; shardy-2025
 */
RIDGE_NODISCARD ridge_status ridge_hlo_partition_build(ridge_ctx *cx,
                                                       const ridge_hlo_module *module,
                                                       const ridge_mesh *mesh,
                                                       ridge_hlo_partition *out);

#ifdef __cplusplus
}
#endif

#endif
