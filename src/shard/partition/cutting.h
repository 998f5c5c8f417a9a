/*
 * How one operation of a program is cut, and the collectives around it. Internal to
 * src/shard.
 */
#ifndef RIDGE_SHARD_CUTTING_H
#define RIDGE_SHARD_CUTTING_H

#include "op_rules.h"
#include "partitioner.h"

/** The indices that the operands propose for each axis. */
typedef struct ridge__proposals {
    int n[RIDGE_MESH_AXIS_MAX];
    int index[RIDGE_MESH_AXIS_MAX][RIDGE_OP_INPUT_MAX];
    int input[RIDGE_MESH_AXIS_MAX][RIDGE_OP_INPUT_MAX]; /* who proposes */
    unsigned partial[RIDGE_MESH_AXIS_MAX]; /* inputs, as bits: partial sums over it */
} ridge__proposals;

/* ---- propagate.c ---- */

/** How one operation is cut: the index that each axis cuts, and what follows. */
typedef struct ridge__cutting {
    int index[RIDGE_MESH_AXIS_MAX]; /* -1: none */
    unsigned carried;               /* axes whose partial sums pass through */
    unsigned softmax; /* axes over which an output is the state of a softmax */
    ridge__cut cuts[RIDGE__INDEX_MAX];
    ridge__layout operands[RIDGE__OPERAND_MAX]; /* as computed with */
} ridge__cutting;

/** A gradient that no operation makes comes from outside, as its tensor lies. Others
 * stay as they are. */
void ridge__receive(ridge__partitioner *p, int tensor);

/** Choose how the operation is cut. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__propagate(ridge__partitioner *p,
                                              const ridge__op_rule *rule,
                                              ridge__cutting *out);

/* ---- cutting.c ---- */

/** What is known of the rows of experts that the operation moves; NULL: none. */
ridge__rows *ridge__rows_of(const ridge__partitioner *p, const ridge__op_rule *rule);
/** The index that an axis cuts when it cuts a position of @p index; -1: it may not. */
int ridge__cut_index(const ridge__partitioner *p, const ridge__op_rule *rule, int index,
                     int axis);
/** The token index that the rows laid out already bind an axis to; -1: free. */
int ridge__bound_index(const ridge__partitioner *p, const ridge__op_rule *rule,
                       int axis);
/** Tokens whose rows are laid out already stay on their axes: no other may cut them. */
bool ridge__is_barred(const ridge__partitioner *p, const ridge__op_rule *rule,
                      int index, int axis);
/** The index that the wishes of the outputs have an axis cut; -1: none. */
int ridge__wanted_index(const ridge__partitioner *p, const ridge__op_rule *rule,
                        int axis);
/** Fill in what follows from the index that each axis cuts. */
void ridge__cutting_make(const ridge__partitioner *p, const ridge__op_rule *rule,
                         ridge__cutting *c);
/** Cost of the collectives that a choice needs, before and after. */
double ridge__cutting_cost(const ridge__partitioner *p, const ridge__op_rule *rule,
                           ridge__cutting *c);
/** Where an output ends: what its wish says, for the rest as it came out. */
ridge__layout ridge__output_layout(const ridge__partitioner *p, int tensor,
                                   const ridge__layout *natural);

/* ---- conflict.c ---- */

/** Record that the cost decided what an axis cuts. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__conflict_report(ridge__partitioner *p,
                                                    const ridge__op_rule *rule,
                                                    const ridge__proposals *all,
                                                    int axis,
                                                    const ridge__cutting *best);

/* ---- insert.c ---- */

/** The copy of a tensor from which a layout is reached at least cost.
 * @param steps  room for RIDGE__STEP_MAX, or NULL. @return its cost */
double ridge__copy_find(const ridge__partitioner *p, int tensor,
                        const ridge__layout *want, int *copy, ridge__step *steps,
                        int *n_steps);
double ridge__steps_cost(const ridge__partitioner *p, const ridge__step *steps, int n,
                         int operand);
/** Put out the operation with the collectives around it. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__insert(ridge__partitioner *p,
                                           const ridge__op_rule *rule,
                                           const ridge__cutting *cutting);
/** Forget the copies of a tensor that was written anew. */
void ridge__copies_drop(ridge__partitioner *p, int tensor);

#endif
