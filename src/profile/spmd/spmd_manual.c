/*
 * Manual computations: shapes within them are one device's own. Arrays go in and out by
 * axes that are said; over all others they lie as propagation finds. Their collectives
 * stand as they are.
 */
#include "hlo_attribute.h"
#include "spmd.h"

#include <string.h>

/** Custom calls that change between the whole and a part. */
static const struct {
    const char *target;
    bool is_in;
} changes[] = {{"SPMDFullToShardShape", true},
               {"SPMDShardToFullShape", false},
               {"xla.sdy.GlobalToLocalShape", true},
               {"xla.sdy.LocalToGlobalShape", false}};

static int change_of(const ridge_hlo_instruction *i)
{
    const ridge_str target = hlo_target_of(i);
    for (size_t k = 0; k < RIDGE_COUNT_OF(changes); k++) {
        if (ridge_str_is(target, changes[k].target))
            return (int)k;
    }
    return -1;
}

bool spmd_manual_is(const ridge_hlo_instruction *i)
{
    return i->code == RIDGE_HLO_OP_CUSTOM_CALL && change_of(i) >= 0;
}

/* What is said of array k: by the call itself, or by how the whole array lies. */
static ridge_str text_of(const ridge_hlo_instruction *i, bool is_in, int k)
{
    const ridge_str own = ridge_hlo_attribute_of(i, "manual_sharding");
    const ridge_str frontend = ridge_hlo_attribute_of(i, "frontend_attributes");
    const ridge_str named = hlo_field_of(frontend, is_in ? "xla.sdy.in_shardings"
                                                         : "xla.sdy.out_shardings");
    if (own.p)
        return own;
    return named.p ? hlo_sharding_part(named, k) : (ridge_str){NULL, 0};
}

/* Axes that make the part of the whole: as many of the outer ones as its size says. */
static void keep_manual(const spmd *m, const ridge_hlo_shape *whole,
                        const ridge_hlo_shape *part, ridge_sharding *s)
{
    for (int d = 0; d < s->n_dims; d++) {
        int n = 0;
        int64_t local = whole->dims[d];
        while (n < s->dims[d].n && local > part->dims[d]) {
            const int axis = s->dims[d].axes[n++];
            local = ridge_ceil_div(local, m->mesh.axes[axis].size);
        }
        s->dims[d].n = n;
    }
}

static ridge_status read_op(spmd *m, spmd_op *op)
{
    const ridge_hlo_instruction *i = spmd_node_of(m, op)->i;
    const int change = change_of(i);
    op->manual = changes[change].is_in ? 0 : op->n_operands;
    spmd_value *v = spmd_value_at(m, op->tensors[op->manual].value);
    const spmd_value *part =
        spmd_value_at(m, op->tensors[changes[change].is_in ? op->n_operands : 0].value);
    const ridge_str text = text_of(i, changes[change].is_in, 0);
    op->fixed = v->sharding;
    if (text.p && text.n > 0)
        RIDGE_TRY(spmd_sharding_read(m, text, v->shape, &op->fixed));
    if (v->is_deep || v->shape->n != part->shape->n)
        return RIDGE_OK;
    keep_manual(m, v->shape, part->shape, &op->fixed);
    for (int d = 0; d < v->shape->n; d++) {
        if (ridge_dim_local(&m->mesh, &op->fixed.dims[d], v->shape->dims[d]) !=
            part->shape->dims[d])
            return ridge_fail(m->cx, RIDGE_E_ARG,
                              "line %d: a manual computation takes %lld of %lld along "
                              "dim %d: its shapes are made for other sizes of the mesh",
                              i->line, (long long)part->shape->dims[d],
                              (long long)v->shape->dims[d], d);
    }
    if (!v->is_told) { /* it has to lie so in any case */
        v->sharding = op->fixed;
        v->is_told = true;
        v->open = ~0U;
    }
    return RIDGE_OK;
}

ridge_status spmd_manual_read(spmd *m)
{
    for (int k = 0; k < m->ops.n && m->split_axis < 0; k++) {
        spmd_op *op = spmd_op_at(m, k);
        if (!op->is_carry && op->n == 2 && op->n_operands == 1 &&
            spmd_manual_is(spmd_node_of(m, op)->i))
            RIDGE_TRY(read_op(m, op));
    }
    return RIDGE_OK;
}

/* ---- their collectives ------------------------------------------------------------
 */

/* Over axes that propagation has, an array is cut in front of a collective as behind
 * it; along the dim that the collective works on it is whole. */
bool spmd_rule_collective(spmd *m, spmd_op *op)
{
    const ridge_hlo_instruction *i = spmd_node_of(m, op)->i;
    int64_t dim = -1;
    if (ridge_hlo_opcode_kind(i->code) != RIDGE_HLO_KIND_NETWORK)
        return false;
    if (hlo_attribute_ints(i, "dimensions", &dim, 1) < 1)
        dim = -1;
    for (int k = 0; k < op->n_operands && op->n_operands + k < op->n; k++) {
        const int out = op->n_operands + k;
        const ridge_hlo_shape *a = spmd_shape_of(m, op, k),
                              *b = spmd_shape_of(m, op, out);
        for (int d = 0; d < op->tensors[k].n && d < op->tensors[out].n; d++) {
            if (d == dim || a->dims[d] != b->dims[d])
                continue;
            const int f = spmd_factor_add(m, op, a->dims[d], SPMD_PASS);
            spmd_dim_put(op, k, d, f);
            spmd_dim_put(op, out, d, f);
        }
    }
    return true;
}
