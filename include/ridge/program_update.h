/*
 * Optimizers in programs: what each keeps, which rule an update follows, and which
 * weights are matrices to it. The operations themselves are in program.h.
 */
#ifndef RIDGE_PROGRAM_UPDATE_H
#define RIDGE_PROGRAM_UPDATE_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_program ridge_program;
typedef struct ridge_operation ridge_operation;

/* What an update is beside an average of moments; name, text */
/* clang-format off */
#define RIDGE_UPDATE_RULE_LIST(X)       \
    X(MOMENTS, "moments")               \
    X(MUON, "muon")                     \
    X(ADAFACTOR, "adafactor")
/* clang-format on */

typedef enum ridge_update_rule {
#define RIDGE_UPDATE_RULE_ENUM(name, text) RIDGE_UPDATE_RULE_##name,
    RIDGE_UPDATE_RULE_LIST(RIDGE_UPDATE_RULE_ENUM)
#undef RIDGE_UPDATE_RULE_ENUM
} ridge_update_rule;

#define RIDGE_UPDATE_RULE_ONE(name, text) +1
enum { RIDGE_UPDATE_RULE_COUNT = 0 RIDGE_UPDATE_RULE_LIST(RIDGE_UPDATE_RULE_ONE) };
#undef RIDGE_UPDATE_RULE_ONE

const char *ridge_update_rule_text(ridge_update_rule rule);

/** How the optimizer steps, by what it keeps. @source loshchilov2019, deepseek-v3-2024
 */
typedef enum ridge_update {
    RIDGE_UPDATE_ADAM,      /* both moments, m and v, in fp32 */
    RIDGE_UPDATE_ADAM_BF16, /* both in bf16 */
    RIDGE_UPDATE_MOMENTUM,  /* m alone, in fp32 */
    RIDGE_UPDATE_SGD,       /* nothing */
    RIDGE_UPDATE_ADAM_8BIT, /* both in 8 bits; of small weights in fp32 */
    RIDGE_UPDATE_MUON,      /* m of the layers' matrices; both of the rest, in fp32 */
    RIDGE_UPDATE_ADAFACTOR  /* mean squares of rows and columns; v of what is no matrix
                             */
} ridge_update;

/** A weight as matrices: its first n_batch dims number them, then come n_rows dims of
 * rows, the rest are of columns. */
typedef struct ridge_weight_matrix {
    int n_batch, n_rows;
} ridge_weight_matrix;

/**
 * What an einsum makes of one of its inputs as a weight: dims of both operands and the
 * result are a batch (experts), those that are summed are rows, those that the result
 * has of it are columns.
 * @return false unless its dims stand in that order, with one row and column at least
 */
bool ridge_einsum_weight_matrix(const ridge_program *program, const ridge_operation *op,
                                int input, ridge_weight_matrix *out);
/** Whether a state of an update is of rows or columns alone. @param input of op */
bool ridge_update_is_factor(const ridge_program *program, const ridge_operation *op,
                            int input);
/** Whether a dim numbers the matrices of an update with factors: both have it. */
bool ridge_update_is_batch(const ridge_program *program, const ridge_operation *op,
                           int dim);

#ifdef __cplusplus
}
#endif

#endif
