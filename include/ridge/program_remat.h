/*
 * What a layer's backward pass needs again: by a policy, or of operations that are
 * named one by one.
 */
#ifndef RIDGE_PROGRAM_REMAT_H
#define RIDGE_PROGRAM_REMAT_H

#include "ridge/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Whether a policy keeps what an operation of a layer makes. */
bool ridge_operation_is_kept(const ridge_operation *op, ridge_remat remat);

/* ---- operations by name ---------------------------------------------------------- */

/** What stands beside the policies: some operations are done again, all else is kept.
 */
enum { RIDGE_REMAT_OPERATIONS = RIDGE_REMAT_COUNT };

/* The operations of a layer that can be named, by what they make in the program that
 * `ridge model --program` prints: of attention, of latent attention, of recurrent
 * mixers, of feed-forwards, of experts. At most 64. */
/* clang-format off */
#define RIDGE_REMAT_OP_LIST(X)                                                             \
    X("h") X("q") X("k") X("v") X("q_raw") X("k_raw") X("v_raw") X("q_norm") X("k_norm")    \
    X("q_rotary") X("k_rotary") X("o") X("o_gate") X("o_gated") X("o_low") X("attention")   \
    X("x_mixed") X("q_low") X("q_a_norm") X("q_rope_raw") X("q_rope") X("c_raw")            \
    X("kv_a_norm") X("k_rope_raw") X("k_rope") X("kv_raw") X("kv_norm") X("kv")             \
    X("z") X("x_in") X("x_taps") X("x_smooth") X("b") X("b_taps") X("b_smooth") X("c")      \
    X("c_taps") X("c_smooth") X("q_smooth") X("k_smooth") X("v_smooth") X("o_sum")          \
    X("o_norm") X("mixed") X("h_ffn") X("gate") X("up") X("act") X("ffn")                   \
    X("router_logits") X("gates") X("rows") X("rows_gate") X("rows_up") X("rows_act")       \
    X("rows_out") X("latent") X("combined") X("shared_g") X("shared_u") X("shared_act")     \
    X("shared_out")
/* clang-format on */

#define RIDGE_REMAT_OP_ONE(name) +1
enum { RIDGE_REMAT_OP_COUNT = 0 RIDGE_REMAT_OP_LIST(RIDGE_REMAT_OP_ONE) };
#undef RIDGE_REMAT_OP_ONE

/** A set of them, a bit each in the order of the list. */
typedef uint64_t ridge_remat_ops;

const char *ridge_remat_op_text(int op);
/** "h+up+act" in the ctx's arena, "" of none; NULL when memory ran out. */
const char *ridge_remat_ops_text(ridge_ctx *cx, ridge_remat_ops ops);
/** Names joined by '+' or ','. @errors E_ARG with the nearest name */
RIDGE_NODISCARD ridge_status ridge_remat_ops_parse(ridge_ctx *cx, const char *text,
                                                   ridge_remat_ops *out);

/** The bit of an operation of a layer; 0: it has no name in the list. */
ridge_remat_ops ridge_operation_remat_op(const ridge_program *program, int op);
/** All that a program's layers have, forward. */
ridge_remat_ops ridge_program_remat_ops(const ridge_program *program);

/* ---- marks ----------------------------------------------------------------------- */

/**
 * What a layer's backward pass needs and a policy has not kept, and what that needs in
 * turn.
 * @param backward  index of a block; nothing is marked for one that is not of a layer
 * @param is_again  [n_ops]; operations of the forward block are set to true
 * @source chen2016-sublinear; korthikanti2022 section 5
 */
void ridge_program_mark_again(const ridge_program *program, int backward,
                              ridge_remat remat, bool *is_again);
/** The same of operations that are named. */
void ridge_program_mark_named(const ridge_program *program, int backward,
                              ridge_remat_ops ops, bool *is_again);

#ifdef __cplusplus
}
#endif

#endif
