/*
 * Runs programs on small arrays, whole or partitioned over a simulated mesh in one
 * process. Each rank has its own padded arrays; a rank computes from what it holds and
 * gets the rest by collectives alone, within the group of the collective. Whole
 * programs run on a mesh of one rank. All numbers are doubles: whole numbers stay
 * exact.
 */
#ifndef RIDGE_TEST_MESH_MACHINE_H
#define RIDGE_TEST_MESH_MACHINE_H

#include "mesh_part.h"

typedef struct mesh_machine mesh_machine;

/** One rank's turn at an operation. */
typedef struct mesh_call {
    mesh_machine *machine;
    const ridge_operation *op;
    int64_t rank;
    mesh_part *in[RIDGE_OP_INPUT_MAX];
    mesh_part *out[RIDGE_OP_OUTPUT_MAX]; /* all zero; what it holds for in-place */
} mesh_call;

/** @param arena  holds everything. A whole program: @p partition NULL. */
mesh_machine *mesh_machine_new(ridge_arena *arena, const ridge_program *program,
                               const ridge_partition *partition);
const ridge_program *mesh_machine_program(const mesh_machine *m);
/** Repetitions that a tensor has values of. */
int64_t mesh_machine_repeats(const mesh_machine *m, int tensor);
/** Give a tensor its values, whole and row-major. */
void mesh_machine_set(mesh_machine *m, int tensor, int64_t repetition,
                      const double *values);
void mesh_machine_run(mesh_machine *m);
/** Put a tensor together: partial sums added up; replicas must agree. */
void mesh_machine_get(mesh_machine *m, int tensor, int64_t repetition, double *values);

/** The tensor whose values an operand holds. */
int mesh_machine_origin(const mesh_machine *m, int tensor);
/** The output that is the gradient of that input; NULL: none. */
mesh_part *mesh_call_gradient(const mesh_call *call, int input);
/** Another rank's part of an input, where it differs in the axes that cut a dim of it.
 */
mesh_part *mesh_call_peer(const mesh_call *call, int input, int dim, int64_t turn);
/** How many ranks share a dim of an input. */
int64_t mesh_call_peers(const mesh_call *call, int input, int dim);

/** Make a result the state of a softmax over a part of its terms. */
void mesh_machine_softmax(const mesh_machine *m, mesh_part *out);

/** Operations other than collectives (mesh_kernels.c, mesh_mixers.c, mesh_experts.c).
 */
void mesh_run_operation(const mesh_call *call);
void mesh_run_attention(const mesh_call *call);
void mesh_run_scan(const mesh_call *call);
void mesh_run_route(const mesh_call *call);
void mesh_run_dispatch(const mesh_call *call);
void mesh_run_combine(const mesh_call *call);
void mesh_run_loss(const mesh_call *call);

#endif
