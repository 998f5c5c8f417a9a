/* Dims of values joined where operations make them one: union-find. */
#include "hlo_maker.h"
#include "hlo_attribute.h"
#include "hlo_product.h"

/* ---- dims -------------------------------------------------------------------------
 */

int hlo_maker_root(hlo_maker *k, int slot)
{
    while (k->parent[slot] != slot) {
        k->parent[slot] = k->parent[k->parent[slot]];
        slot = k->parent[slot];
    }
    return slot;
}

static void join(hlo_maker *k, int a, int b)
{
    const int x = hlo_maker_root(k, a), y = hlo_maker_root(k, b);
    if (k->sizes[x] == k->sizes[y])
        k->parent[x > y ? x : y] = x < y ? x : y;
}

const ridge_hlo_shape *hlo_maker_shape(const hlo_maker *k, int node)
{
    return &k->g->nodes[node].i->shape;
}

int hlo_maker_slot(const hlo_maker *k, int node, int64_t dim)
{
    return k->first_slot[node] + (int)dim;
}

static void join_all(hlo_maker *k, int a, int b)
{
    const int n = hlo_maker_shape(k, a)->n;
    for (int d = 0; d < n && n == hlo_maker_shape(k, b)->n; d++)
        join(k, hlo_maker_slot(k, a, d), hlo_maker_slot(k, b, d));
}

/* dimensions={..}: dim d of the operand is dim list[d] of the result (a broadcast), or
 * dim list[d] of the operand is dim d of the result (a transposition). */
static void join_listed(hlo_maker *k, int node, bool is_of_operand)
{
    const hlo_node *n = &k->g->nodes[node];
    int64_t list[RIDGE_HLO_RANK_MAX];
    const int count = hlo_attribute_ints(n->i, "dimensions", list, RIDGE_HLO_RANK_MAX);
    const int in = n->inputs[0];
    for (int d = 0; d < count; d++) {
        const int64_t a = is_of_operand ? list[d] : d, b = is_of_operand ? d : list[d];
        if (a >= 0 && a < hlo_maker_shape(k, in)->n && b >= 0 && b < n->i->shape.n)
            join(k, hlo_maker_slot(k, in, a), hlo_maker_slot(k, node, b));
    }
}

/* What is left of a reduction keeps its order. */
static void join_reduced(hlo_maker *k, int node)
{
    const hlo_node *n = &k->g->nodes[node];
    int64_t gone[RIDGE_HLO_RANK_MAX];
    const int count = hlo_attribute_ints(n->i, "dimensions", gone, RIDGE_HLO_RANK_MAX);
    int to = 0;
    for (int d = 0; d < hlo_maker_shape(k, n->inputs[0])->n; d++) {
        bool is_gone = false;
        for (int j = 0; j < count; j++)
            is_gone |= gone[j] == d;
        if (!is_gone && to < n->i->shape.n)
            join(k, hlo_maker_slot(k, n->inputs[0], d), hlo_maker_slot(k, node, to++));
    }
}

ridge_status hlo_maker_fail(hlo_maker *k, const hlo_node *n, const char *what)
{
    return ridge_fail(k->cx, RIDGE_E_ARG,
                      "line %d: %.*s %s: programs have no such "
                      "operation, so it cannot be partitioned",
                      n->i->line, (int)n->i->code_text.n, n->i->code_text.p, what);
}

/* Dims of one are added and dropped; others keep their order. */
static ridge_status join_reshaped(hlo_maker *k, int node)
{
    const hlo_node *n = &k->g->nodes[node];
    const ridge_hlo_shape *in = hlo_maker_shape(k, n->inputs[0]), *out = &n->i->shape;
    int a = 0, b = 0;
    for (;;) {
        while (a < in->n && in->dims[a] == 1)
            a++;
        while (b < out->n && out->dims[b] == 1)
            b++;
        if (a == in->n || b == out->n)
            break;
        if (in->dims[a] != out->dims[b])
            return hlo_maker_fail(k, n, "splits or merges dims");
        join(k, hlo_maker_slot(k, n->inputs[0], a++), hlo_maker_slot(k, node, b++));
    }
    return RIDGE_OK;
}

static ridge_status join_dot(hlo_maker *k, int node)
{
    const hlo_node *n = &k->g->nodes[node];
    const int lhs = n->inputs[0], rhs = n->inputs[1];
    hlo_dot_dims dims;
    int to = 0;
    if (!hlo_dot_dims_find(k->cx, n->i, hlo_maker_shape(k, lhs),
                           hlo_maker_shape(k, rhs), &dims))
        return hlo_maker_fail(k, n, "has dims that do not fit");
    for (int d = 0; d < dims.n_batch; d++) {
        join(k, hlo_maker_slot(k, lhs, dims.lhs_batch[d]),
             hlo_maker_slot(k, rhs, dims.rhs_batch[d]));
        join(k, hlo_maker_slot(k, lhs, dims.lhs_batch[d]),
             hlo_maker_slot(k, node, to++));
    }
    for (int d = 0; d < dims.n_contracting; d++)
        join(k, hlo_maker_slot(k, lhs, dims.lhs_contracting[d]),
             hlo_maker_slot(k, rhs, dims.rhs_contracting[d]));
    for (int side = 0; side < 2; side++) {
        const int operand = side ? rhs : lhs;
        const int64_t *batch = side ? dims.rhs_batch : dims.lhs_batch;
        const int64_t *summed = side ? dims.rhs_contracting : dims.lhs_contracting;
        for (int d = 0; d < hlo_maker_shape(k, operand)->n; d++) {
            bool is_shared = false;
            for (int j = 0; j < dims.n_batch; j++)
                is_shared |= batch[j] == d;
            for (int j = 0; j < dims.n_contracting; j++)
                is_shared |= summed[j] == d;
            if (!is_shared && to < n->i->shape.n)
                join(k, hlo_maker_slot(k, operand, d), hlo_maker_slot(k, node, to++));
        }
    }
    return RIDGE_OK;
}

ridge_status hlo_maker_join(hlo_maker *k, int node)
{
    const hlo_node *n = &k->g->nodes[node];
    bool has_tuple = ridge_hlo_shape_is_tuple(&n->i->shape);
    for (int i = 0; i < n->n_inputs; i++)
        has_tuple |= ridge_hlo_shape_is_tuple(hlo_maker_shape(k, n->inputs[i]));
    if (n->n_inputs == 0 || has_tuple)
        return RIDGE_OK;
    if (n->i->code == RIDGE_HLO_OP_DOT && n->n_inputs == 2)
        return join_dot(k, node);
    if (n->i->code == RIDGE_HLO_OP_RESHAPE)
        return join_reshaped(k, node);
    if (n->i->code == RIDGE_HLO_OP_TRANSPOSE)
        join_listed(k, node, true);
    else if (n->i->code == RIDGE_HLO_OP_BROADCAST)
        join_listed(k, node, false);
    else if (n->i->code == RIDGE_HLO_OP_REDUCE)
        join_reduced(k, node);
    else
        for (int i = 0; i < n->n_inputs; i++)
            join_all(k, n->inputs[i], node);
    return RIDGE_OK;
}
