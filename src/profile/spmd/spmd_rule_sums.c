/* Rules of products, reductions, windows and sorts. */
#include "hlo_attribute.h"
#include "hlo_product.h"
#include "spmd.h"

/* ---- what reduces -----------------------------------------------------------------
 */

spmd_reducer spmd_reducer_find(const spmd *m, int called)
{
    if (called < 0)
        return m->whole->format == RIDGE_HLO_FORMAT_MLIR ? SPMD_REDUCER_ADD
                                                         : SPMD_REDUCER_NONE;
    const ridge_hlo_computation *c = &m->whole->computations[called];
    if (c->root < 0 || c->n != 3)
        return SPMD_REDUCER_NONE;
    switch ((int)c->instructions[c->root].code) {
    case RIDGE_HLO_OP_ADD:
        return SPMD_REDUCER_ADD;
    case RIDGE_HLO_OP_MULTIPLY:
        return SPMD_REDUCER_MULTIPLY;
    case RIDGE_HLO_OP_MAXIMUM:
        return SPMD_REDUCER_MAXIMUM;
    case RIDGE_HLO_OP_MINIMUM:
        return SPMD_REDUCER_MINIMUM;
    case RIDGE_HLO_OP_AND:
        return SPMD_REDUCER_AND;
    case RIDGE_HLO_OP_OR:
        return SPMD_REDUCER_OR;
    default:
        return SPMD_REDUCER_NONE;
    }
}

/* Dims that stay are cut in all operands and results alike; of one reduced array by a
 * known function the others may be cut too. */
static void take_reduce(spmd *m, spmd_op *op)
{
    const ridge_hlo_instruction *i = spmd_node_of(m, op)->i;
    int64_t dims[RIDGE_HLO_RANK_MAX];
    const int n = hlo_attribute_ints(i, "dimensions", dims, RIDGE_HLO_RANK_MAX);
    const int arrays = op->n_operands / 2;
    int to = 0;
    if (arrays == 1)
        op->reducer = spmd_reducer_find(m, i->n_called > 0 ? i->called[0] : -1);
    for (int d = 0; d < op->tensors[0].n; d++) {
        bool is_reduced = false;
        for (int k = 0; k < n; k++)
            is_reduced |= dims[k] == d;
        const spmd_factor_kind kind = !is_reduced                        ? SPMD_PASS
                                      : op->reducer == SPMD_REDUCER_NONE ? SPMD_WHOLE
                                                                         : SPMD_REDUCE;
        const int f = spmd_factor_add(m, op, spmd_shape_of(m, op, 0)->dims[d], kind);
        for (int t = 0; t < arrays; t++)
            spmd_dim_put(op, t, d, f);
        for (int t = op->n_operands; !is_reduced && t < op->n; t++)
            spmd_dim_put(op, t, to, f);
        to += !is_reduced;
    }
}

/* ---- products ---------------------------------------------------------------------
 */

static void mark(bool *out, const int64_t *dims, int n)
{
    for (int k = 0; k < n; k++) {
        if (dims[k] >= 0 && dims[k] < RIDGE_HLO_RANK_MAX)
            out[dims[k]] = true;
    }
}

static void take_dot(spmd *m, spmd_op *op)
{
    hlo_dot_dims dims;
    bool is_taken[2][RIDGE_HLO_RANK_MAX] = {{false}};
    int64_t at = 0;
    const ridge_hlo_instruction *i = spmd_node_of(m, op)->i;
    if (!hlo_dot_dims_find(m->cx, i, spmd_shape_of(m, op, 0), spmd_shape_of(m, op, 1),
                           &dims))
        return;
    const int out = op->n_operands;
    op->reducer = SPMD_REDUCER_ADD;
    for (int k = 0; k < dims.n_batch; k++, at++) {
        const int f = spmd_factor_add(
            m, op, spmd_shape_of(m, op, 0)->dims[dims.lhs_batch[k]], SPMD_PASS);
        spmd_dim_put(op, 0, dims.lhs_batch[k], f);
        spmd_dim_put(op, 1, dims.rhs_batch[k], f);
        spmd_dim_put(op, out, at, f);
    }
    for (int k = 0; k < dims.n_contracting; k++) {
        const int f = spmd_factor_add(
            m, op, spmd_shape_of(m, op, 0)->dims[dims.lhs_contracting[k]], SPMD_REDUCE);
        spmd_dim_put(op, 0, dims.lhs_contracting[k], f);
        spmd_dim_put(op, 1, dims.rhs_contracting[k], f);
    }
    mark(is_taken[0], dims.lhs_batch, dims.n_batch);
    mark(is_taken[0], dims.lhs_contracting, dims.n_contracting);
    mark(is_taken[1], dims.rhs_batch, dims.n_batch);
    mark(is_taken[1], dims.rhs_contracting, dims.n_contracting);
    for (int side = 0; side < 2; side++) {
        for (int d = 0; d < op->tensors[side].n; d++) {
            if (is_taken[side][d])
                continue;
            const int f =
                spmd_factor_add(m, op, spmd_shape_of(m, op, side)->dims[d], SPMD_PASS);
            spmd_dim_put(op, side, d, f);
            spmd_dim_put(op, out, at++, f);
        }
    }
}

/* Batch and features; positions meet their neighbours. */
static void take_convolution(spmd *m, spmd_op *op)
{
    hlo_conv_dims c;
    const ridge_hlo_instruction *i = spmd_node_of(m, op)->i;
    const ridge_hlo_shape *lhs = spmd_shape_of(m, op, 0),
                          *rhs = spmd_shape_of(m, op, 1);
    if (!hlo_conv_dims_parse(ridge_hlo_attribute_of(i, "dim_labels"), lhs->n, &c) ||
        op->n_operands != 2 || rhs->n != lhs->n || op->tensors[2].n != lhs->n)
        return;
    const bool has_groups = hlo_attribute_int(i, "feature_group_count", 1) > 1 ||
                            hlo_attribute_int(i, "batch_group_count", 1) > 1;
    op->reducer = SPMD_REDUCER_ADD;
    if (has_groups)
        return;
    int f = spmd_factor_add(m, op, lhs->dims[c.lhs_batch], SPMD_PASS);
    spmd_dim_put(op, 0, c.lhs_batch, f);
    spmd_dim_put(op, 2, c.out_batch, f);
    f = spmd_factor_add(m, op, rhs->dims[c.rhs_out], SPMD_PASS);
    spmd_dim_put(op, 1, c.rhs_out, f);
    spmd_dim_put(op, 2, c.out_feature, f);
    f = spmd_factor_add(m, op, lhs->dims[c.lhs_feature], SPMD_REDUCE);
    spmd_dim_put(op, 0, c.lhs_feature, f);
    spmd_dim_put(op, 1, c.rhs_in, f);
}

/* ---- along some dims --------------------------------------------------------------
 */

/* Dims that operation k of a window leaves alone: one wide, one step, no padding. */
static void take_window(spmd *m, spmd_op *op)
{
    hlo_window w;
    const ridge_hlo_instruction *i = spmd_node_of(m, op)->i;
    const ridge_str text = ridge_hlo_attribute_of(i, "window");
    const int out = op->n_operands;
    if (text.p == NULL || !hlo_window_parse(text, &w) || w.n != op->tensors[0].n)
        return;
    for (int d = 0; d < w.n; d++) {
        const hlo_window_dim *x = &w.dims[d];
        if (x->size != 1 || x->stride != 1 || x->pad_low != 0 || x->pad_high != 0 ||
            x->lhs_dilation != 1 || x->rhs_dilation != 1)
            continue;
        const int f =
            spmd_factor_add(m, op, spmd_shape_of(m, op, 0)->dims[d], SPMD_PASS);
        for (int t = 0; t < op->n; t++) {
            if (op->tensors[t].n == op->tensors[out].n)
                spmd_dim_put(op, t, d, f);
        }
    }
}

/* All dims but some, in all arrays of as many dims as the first. */
static void take_all_but(spmd *m, spmd_op *op, int64_t from, int64_t to)
{
    for (int d = 0; d < op->tensors[0].n; d++) {
        if (d >= from && d < to)
            continue;
        const int64_t size = spmd_shape_of(m, op, 0)->dims[d];
        const int f = spmd_factor_add(m, op, size, SPMD_PASS);
        for (int t = 0; t < op->n; t++) {
            if (op->tensors[t].n == op->tensors[0].n &&
                spmd_shape_of(m, op, t)->dims[d] == size)
                spmd_dim_put(op, t, d, f);
        }
    }
}

static void take_fft(spmd *m, spmd_op *op)
{
    int64_t length[RIDGE_HLO_RANK_MAX];
    const int n = hlo_attribute_ints(spmd_node_of(m, op)->i, "fft_length", length,
                                     RIDGE_HLO_RANK_MAX);
    take_all_but(m, op, op->tensors[0].n - (n > 0 ? n : 1), op->tensors[0].n);
}

/* The feature dim is each array's own; the rest is normalised over. */
static void take_batch_norm(spmd *m, spmd_op *op)
{
    const ridge_hlo_instruction *i = spmd_node_of(m, op)->i;
    const int64_t feature = hlo_attribute_int(i, "feature_index", -1);
    if (feature < 0 || feature >= op->tensors[0].n)
        return;
    const int f =
        spmd_factor_add(m, op, spmd_shape_of(m, op, 0)->dims[feature], SPMD_PASS);
    for (int t = 0; t < op->n; t++)
        spmd_dim_put(op, t, op->tensors[t].n == 1 ? 0 : feature, f);
    if (i->code != RIDGE_HLO_OP_BATCH_NORM_INFERENCE)
        return;
    for (int d = 0; d < op->tensors[0].n; d++) {
        if (d == feature)
            continue;
        const int own =
            spmd_factor_add(m, op, spmd_shape_of(m, op, 0)->dims[d], SPMD_PASS);
        spmd_dim_put(op, 0, d, own);
        spmd_dim_put(op, op->n_operands, d, own);
    }
}

bool spmd_rule_sums(spmd *m, spmd_op *op)
{
    const ridge_hlo_instruction *i = spmd_node_of(m, op)->i;
    const int rank = op->n_operands > 0 ? op->tensors[0].n : 0;
    if (op->n_operands < 1 || op->n <= op->n_operands)
        return false;
    switch ((int)i->code) {
    case RIDGE_HLO_OP_DOT:
        take_dot(m, op);
        return true;
    case RIDGE_HLO_OP_CONVOLUTION:
        take_convolution(m, op);
        return true;
    case RIDGE_HLO_OP_REDUCE:
        take_reduce(m, op);
        return true;
    case RIDGE_HLO_OP_REDUCE_WINDOW:
    case RIDGE_HLO_OP_SELECT_AND_SCATTER:
        take_window(m, op);
        return true;
    case RIDGE_HLO_OP_SORT: {
        int64_t along = rank - 1;
        if (hlo_attribute_ints(i, "dimensions", &along, 1) < 1)
            along = hlo_attribute_int(i, "dimension", rank - 1);
        take_all_but(m, op, along, along + 1);
        return true;
    }
    case RIDGE_HLO_OP_TOPK:
        take_all_but(m, op, rank - 1, rank);
        return true;
    case RIDGE_HLO_OP_CHOLESKY:
    case RIDGE_HLO_OP_TRIANGULAR_SOLVE:
        take_all_but(m, op, rank - 2, rank);
        return true;
    case RIDGE_HLO_OP_FFT:
        take_fft(m, op);
        return true;
    case RIDGE_HLO_OP_BATCH_NORM_GRAD:
    case RIDGE_HLO_OP_BATCH_NORM_INFERENCE:
    case RIDGE_HLO_OP_BATCH_NORM_TRAINING:
        take_batch_norm(m, op);
        return true;
    default:
        return false;
    }
}
