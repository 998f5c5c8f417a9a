/* Rules of operations that take, put and join parts of arrays. */
#include "hlo_attribute.h"
#include "spmd.h"

#include <string.h>

/* A dim that two arrays have entirely is cut alike; another has to be whole in both. */
static void pair(spmd *m, spmd_op *op, int a, int b, int64_t d)
{
    const ridge_hlo_shape *sa = spmd_shape_of(m, op, a), *sb = spmd_shape_of(m, op, b);
    if (d >= op->tensors[a].n || d >= op->tensors[b].n || sa->dims[d] != sb->dims[d])
        return;
    const int f = spmd_factor_add(m, op, sa->dims[d], SPMD_PASS);
    spmd_dim_put(op, a, d, f);
    spmd_dim_put(op, b, d, f);
}

/* slice={[0:4], [1:8:2]}: equal sizes are whole dims but for ones with a stride. */
static void take_slice(spmd *m, spmd_op *op)
{
    for (int d = 0; d < op->tensors[0].n; d++)
        pair(m, op, 0, 1, d);
}

static void take_update(spmd *m, spmd_op *op)
{
    const ridge_hlo_shape *whole = spmd_shape_of(m, op, 0),
                          *part = spmd_shape_of(m, op, 1);
    const int out = op->n_operands;
    for (int d = 0; d < op->tensors[0].n && d < op->tensors[1].n; d++) {
        const bool is_full = whole->dims[d] == part->dims[d];
        if (!is_full && part->dims[d] != 1)
            continue;
        /* one position is written by the device that has it */
        const int f = spmd_factor_add(m, op, whole->dims[d], SPMD_PASS);
        spmd_dim_put(op, 0, d, f);
        spmd_dim_put(op, out, d, f);
        if (is_full)
            spmd_dim_put(op, 1, d, f);
    }
}

static void take_concatenate(spmd *m, spmd_op *op)
{
    int64_t along = -1;
    const ridge_hlo_instruction *i = spmd_node_of(m, op)->i;
    if (hlo_attribute_ints(i, "dimensions", &along, 1) < 1)
        return;
    const int out = op->n_operands;
    for (int d = 0; d < op->tensors[out].n; d++) {
        const int f = spmd_factor_add(m, op, spmd_shape_of(m, op, out)->dims[d],
                                      d == along ? SPMD_WHOLE : SPMD_PASS);
        for (int t = 0; d != along && t < op->n; t++)
            spmd_dim_put(op, t, d, f);
    }
}

static void take_reverse(spmd *m, spmd_op *op)
{
    int64_t dims[RIDGE_HLO_RANK_MAX];
    const int n = hlo_attribute_ints(spmd_node_of(m, op)->i, "dimensions", dims,
                                     RIDGE_HLO_RANK_MAX);
    for (int d = 0; d < op->tensors[0].n; d++) {
        bool is_reversed = false;
        for (int k = 0; k < n; k++)
            is_reversed |= dims[k] == d;
        if (!is_reversed)
            pair(m, op, 0, 1, d);
    }
}

static bool is_in(int64_t x, const int64_t *list, int n)
{
    for (int k = 0; k < n; k++) {
        if (list[k] == x)
            return true;
    }
    return false;
}

/** Where dims of a gather or scatter stand. */
typedef struct window_dims {
    int n_window, n_collapsed, n_map, n_batch, n_index_batch;
    int64_t window[RIDGE_HLO_RANK_MAX];    /* of the result or the updates */
    int64_t collapsed[RIDGE_HLO_RANK_MAX]; /* of the operand */
    int64_t map[RIDGE_HLO_RANK_MAX];
    int64_t batch[RIDGE_HLO_RANK_MAX], index_batch[RIDGE_HLO_RANK_MAX];
    int64_t vector;
} window_dims;

static int ints(const ridge_hlo_instruction *i, const char *key, int64_t *out)
{
    const int n = hlo_attribute_ints(i, key, out, RIDGE_HLO_RANK_MAX);
    return n > 0 ? n : 0;
}

static window_dims read_dims(const ridge_hlo_instruction *i)
{
    const bool is_gather = i->code == RIDGE_HLO_OP_GATHER;
    window_dims w = {.vector = hlo_attribute_int(i, "index_vector_dim", -1)};
    w.n_window = ints(i, is_gather ? "offset_dims" : "update_window_dims", w.window);
    w.n_collapsed = ints(i, is_gather ? "collapsed_slice_dims" : "inserted_window_dims",
                         w.collapsed);
    w.n_map =
        ints(i, is_gather ? "start_index_map" : "scatter_dims_to_operand_dims", w.map);
    w.n_batch =
        ints(i, is_gather ? "operand_batching_dims" : "input_batching_dims", w.batch);
    w.n_index_batch = ints(
        i, is_gather ? "start_indices_batching_dims" : "scatter_indices_batching_dims",
        w.index_batch);
    return w;
}

/** The arrays of a gather or scatter by their part in it. */
typedef struct window_arrays {
    int operand, indices,
        moved;  /* moved: the result of a gather, a scatter's updates */
    int result; /* of a scatter; -1 */
} window_arrays;

static void put_operand(spmd_op *op, const window_arrays *a, int64_t dim, int f)
{
    spmd_dim_put(op, a->operand, dim, f);
    if (a->result >= 0)
        spmd_dim_put(op, a->result, dim, f);
}

/* Dims of the moved array: of windows they are the operand's, else the indices'.
 * @param kind  of what the indices have */
static void take_windows(spmd *m, spmd_op *op, const window_dims *w,
                         const window_arrays *a, spmd_factor_kind kind)
{
    const ridge_hlo_shape *moved = spmd_shape_of(m, op, a->moved);
    const ridge_hlo_shape *operand = spmd_shape_of(m, op, a->operand);
    int64_t of_operand = 0, of_indices = 0;
    for (int d = 0; d < op->tensors[a->moved].n; d++) {
        if (is_in(d, w->window, w->n_window)) {
            while (of_operand < operand->n &&
                   (is_in(of_operand, w->collapsed, w->n_collapsed) ||
                    is_in(of_operand, w->batch, w->n_batch)))
                of_operand++;
            if (of_operand < operand->n &&
                operand->dims[of_operand] == moved->dims[d]) {
                const int f = spmd_factor_add(m, op, moved->dims[d], SPMD_PASS);
                spmd_dim_put(op, a->moved, d, f);
                put_operand(op, a, of_operand, f);
            }
            of_operand++;
            continue;
        }
        of_indices += of_indices == w->vector;
        int at = 0;
        while (at < w->n_index_batch && w->index_batch[at] != of_indices)
            at++;
        const bool is_batch = at < w->n_index_batch && at < w->n_batch;
        const int f =
            spmd_factor_add(m, op, moved->dims[d], is_batch ? SPMD_PASS : kind);
        spmd_dim_put(op, a->moved, d, f);
        spmd_dim_put(op, a->indices, of_indices++, f);
        if (is_batch)
            put_operand(op, a, w->batch[at], f);
    }
}

/* A looked-up dim that is cut: each device looks up what it has, and the sum is all. */
static void take_gather(spmd *m, spmd_op *op)
{
    const ridge_hlo_instruction *i = spmd_node_of(m, op)->i;
    const window_dims w = read_dims(i);
    const window_arrays a = {0, 1, 2, -1};
    int64_t sizes[RIDGE_HLO_RANK_MAX];
    const int n = ints(i, "slice_sizes", sizes);
    take_windows(m, op, &w, &a, SPMD_PASS);
    for (int k = 0; k < w.n_map; k++) {
        if (w.map[k] >= 0 && w.map[k] < n && sizes[w.map[k]] == 1 &&
            is_in(w.map[k], w.collapsed, w.n_collapsed))
            spmd_dim_new(m, op, 0, w.map[k], SPMD_REDUCE);
    }
    op->reducer = SPMD_REDUCER_ADD;
}

/* Updates that are cut leave partial results; rows that are cut take those of theirs.
 */
static void take_scatter(spmd *m, spmd_op *op)
{
    const ridge_hlo_instruction *i = spmd_node_of(m, op)->i;
    const window_dims w = read_dims(i);
    const window_arrays a = {0, 1, 2, 3};
    if (op->n_operands != 3 || op->n != 4) {
        op->reason = "a scatter of several arrays";
        return;
    }
    op->reducer = spmd_reducer_find(m, i->n_called > 0 ? i->called[0] : -1);
    const bool is_sum =
        op->reducer == SPMD_REDUCER_ADD || op->reducer == SPMD_REDUCER_OR;
    take_windows(m, op, &w, &a, is_sum ? SPMD_REDUCE : SPMD_WHOLE);
    for (int k = 0; k < w.n_map; k++) {
        if (!is_in(w.map[k], w.collapsed, w.n_collapsed))
            continue;
        const ridge_hlo_shape *s = spmd_shape_of(m, op, 0);
        if (w.map[k] < 0 || w.map[k] >= s->n || op->tensors[0].dims[w.map[k]].n > 0)
            continue;
        put_operand(op, &a, w.map[k],
                    spmd_factor_add(m, op, s->dims[w.map[k]], SPMD_PASS));
    }
}

bool spmd_rule_moves(spmd *m, spmd_op *op)
{
    const ridge_hlo_opcode code = spmd_node_of(m, op)->i->code;
    if (op->n <= op->n_operands || op->n_operands < 1)
        return false;
    if (code == RIDGE_HLO_OP_SLICE) {
        take_slice(m, op);
    } else if (code == RIDGE_HLO_OP_PAD || code == RIDGE_HLO_OP_DYNAMIC_SLICE) {
        for (int d = 0; d < op->tensors[0].n; d++)
            pair(m, op, 0, op->n_operands, d);
    } else if (code == RIDGE_HLO_OP_DYNAMIC_UPDATE_SLICE) {
        take_update(m, op);
    } else if (code == RIDGE_HLO_OP_CONCATENATE) {
        take_concatenate(m, op);
    } else if (code == RIDGE_HLO_OP_REVERSE) {
        take_reverse(m, op);
    } else if (code == RIDGE_HLO_OP_GATHER && op->n == 3) {
        take_gather(m, op);
    } else if (code == RIDGE_HLO_OP_SCATTER) {
        take_scatter(m, op);
    } else {
        return false;
    }
    return true;
}
