/*
 * Weights as matrices, for optimizers that work on rows and columns: how an einsum
 * reads a weight, and which states of an update are of rows or columns alone.
 */
#include "ridge/program.h"

static bool has_dim(const ridge_tensor *t, int dim)
{
    for (int i = 0; i < t->n_dims; i++) {
        if (t->dims[i] == dim)
            return true;
    }
    return false;
}

/* What a dim of a weight is to a product, in the order in which they stand. */
typedef enum dim_kind { KIND_BATCH, KIND_ROW, KIND_COLUMN, KIND_ALONE } dim_kind;

static dim_kind kind_of(const ridge_tensor *other, const ridge_tensor *out, int dim)
{
    const bool is_in = has_dim(other, dim), is_out = has_dim(out, dim);
    return is_in && is_out ? KIND_BATCH
           : is_in         ? KIND_ROW
           : is_out        ? KIND_COLUMN
                           : KIND_ALONE;
}

bool ridge_einsum_weight_matrix(const ridge_program *program, const ridge_operation *op,
                                int input, ridge_weight_matrix *out)
{
    int n[KIND_ALONE + 1] = {0};
    dim_kind last = KIND_BATCH;
    if (op->code != RIDGE_OPCODE_EINSUM || op->n_inputs != 2)
        return false;
    const ridge_tensor *w = &program->tensors[op->inputs[input]];
    const ridge_tensor *other = &program->tensors[op->inputs[1 - input]];
    const ridge_tensor *made = &program->tensors[op->outputs[0]];
    for (int i = 0; i < w->n_dims; i++) {
        const dim_kind kind = kind_of(other, made, w->dims[i]);
        if (kind < last)
            return false;
        last = kind;
        n[kind]++;
    }
    if (n[KIND_ALONE] > 0 || n[KIND_ROW] == 0 || n[KIND_COLUMN] == 0)
        return false;
    *out = (ridge_weight_matrix){n[KIND_BATCH], n[KIND_ROW]};
    return true;
}

bool ridge_update_is_factor(const ridge_program *program, const ridge_operation *op,
                            int input)
{
    const ridge_tensor *weight = &program->tensors[op->inputs[0]];
    const ridge_tensor *t = &program->tensors[op->inputs[input]];
    if (op->rule != RIDGE_UPDATE_RULE_ADAFACTOR || t->role != RIDGE_ROLE_STATE ||
        t->n_dims >= weight->n_dims)
        return false;
    for (int i = 0; i < t->n_dims; i++) {
        if (!has_dim(weight, t->dims[i]))
            return false;
    }
    return true;
}

bool ridge_update_is_batch(const ridge_program *program, const ridge_operation *op,
                           int dim)
{
    int n = 0;
    for (int i = 0; i < op->n_inputs; i++) {
        if (!ridge_update_is_factor(program, op, i))
            continue;
        if (!has_dim(&program->tensors[op->inputs[i]], dim))
            return false;
        n++;
    }
    return n > 0;
}
