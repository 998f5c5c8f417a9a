/* Products of matrices as instructions ask for them: dots, convolutions, and calls of
 * libraries that do either. Layer-internal. */
#ifndef RIDGE_HLO_PRODUCT_H
#define RIDGE_HLO_PRODUCT_H

#include "ridge/profile_hlo.h"

/** batch products [m, k] x [k, n]. */
typedef struct hlo_product {
    double batch, m, k, n;
    double flops; /* 2 for each multiplication that counts */
    ridge_hlo_type lhs, rhs, output;
    int precision;       /* passes: 1 default, 2 high, 3 highest */
    bool is_custom_call; /* a library's */
    bool is_pointwise;   /* a convolution that meets one position: a product */
    const char *einsum;  /* "bik,bkj->bij"; NULL: no dot */
} hlo_product;

/** How a product's dims stand in its operands: for an instruction that is a dot or
 * calls one. */
typedef struct hlo_dot_dims {
    int n_batch, n_contracting;
    int64_t lhs_batch[RIDGE_HLO_RANK_MAX], rhs_batch[RIDGE_HLO_RANK_MAX];
    int64_t lhs_contracting[RIDGE_HLO_RANK_MAX], rhs_contracting[RIDGE_HLO_RANK_MAX];
} hlo_dot_dims;

/** @return false: no dot, or its dims do not fit its operands */
bool hlo_dot_dims_find(ridge_ctx *cx, const ridge_hlo_instruction *i,
                       const ridge_hlo_shape *lhs, const ridge_hlo_shape *rhs,
                       hlo_dot_dims *out);

/**
 * @param operands  shapes of its operands, as many as it has
 * @param has_text  write the einsum too
 * @return false: it is no product, or one whose size cannot be told
 */
bool hlo_product_find(ridge_ctx *cx, const ridge_hlo_instruction *i,
                      const ridge_hlo_shape *const *operands, bool has_text,
                      hlo_product *out);

/** Whether an instruction is a product, by opcode or by what it calls, told or not. */
bool hlo_product_is(const ridge_hlo_instruction *i);
/** A dot that contracts nothing is a multiplication of elements. */
bool hlo_dot_is_map(const ridge_hlo_instruction *i);

/** Format that a product of these operands computes in on a chip.
 *  @param passes  out: times that the matrix unit runs over it */
ridge_dtype hlo_compute_dtype(const ridge_chip *chip, ridge_hlo_type lhs,
                              ridge_hlo_type rhs, int precision, double *passes);

#endif
