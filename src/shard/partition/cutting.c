/* What a choice of cuts leads to: how operands have to lie, what comes out, its cost.
 */
#include "cutting.h"

#include <string.h>

ridge__rows *ridge__rows_of(const ridge__partitioner *p, const ridge__op_rule *rule)
{
    return rule->rows < 0 ? NULL : &p->rows[rule->dim[rule->rows]];
}

/* The index that an axis cuts when it cuts a position of that index; -1: it may not. */
int ridge__cut_index(const ridge__partitioner *p, const ridge__op_rule *rule, int index,
                     int axis)
{
    switch ((ridge__index_kind)rule->kind[index]) {
    case RIDGE__INDEX_FREE:
    case RIDGE__INDEX_SOFTMAX:
    case RIDGE__INDEX_TOKEN:
        return index;
    case RIDGE__INDEX_GROUP:
        return rule->kind[rule->heads] == RIDGE__INDEX_FREE ? rule->heads : -1;
    case RIDGE__INDEX_ROWS: {
        const ridge__rows *rows = ridge__rows_of(p, rule);
        const int dim = rows->is_set ? rows->token_dim[axis] : -1;
        return dim < 0 ? -1 : ridge__op_rule_find(rule, dim);
    }
    case RIDGE__INDEX_WHOLE:
        break;
    }
    return -1;
}

/* ---- what a choice leads to ----------------------------------------------------- */

bool ridge__is_barred(const ridge__partitioner *p, const ridge__op_rule *rule,
                      int index, int axis)
{
    const ridge__rows *rows = ridge__rows_of(p, rule);
    return rows && rows->is_set && rule->kind[index] == RIDGE__INDEX_TOKEN &&
           rows->token_dim[axis] != rule->dim[index];
}

int ridge__bound_index(const ridge__partitioner *p, const ridge__op_rule *rule,
                       int axis)
{
    const ridge__rows *rows = ridge__rows_of(p, rule);
    if (!rows || !rows->is_set || rows->token_dim[axis] < 0)
        return -1;
    return ridge__op_rule_find(rule, rows->token_dim[axis]);
}

int ridge__wanted_index(const ridge__partitioner *p, const ridge__op_rule *rule,
                        int axis)
{
    for (int o = rule->n_inputs; o < rule->n_inputs + rule->n_outputs; o++) {
        const ridge__wish *wish = &p->wish[rule->tensor[o]];
        const int at = ridge__layout_find(&wish->layout, axis);
        if (at < 0 || !((wish->has >> at) & 1))
            continue;
        const int index = ridge__cut_index(p, rule, rule->at[o][at], axis);
        if (index >= 0 && !ridge__is_barred(p, rule, index, axis))
            return index;
    }
    return -1;
}

static void place_cuts(const ridge__partitioner *p, const ridge__op_rule *rule,
                       int operand, const ridge__layout *layout, ridge__cutting *c,
                       unsigned *placed)
{
    for (int d = 0; d < rule->rank[operand]; d++) {
        for (ridge__cut cut = layout->dims[d]; cut != 0; cut >>= 4) {
            const int axis = (int)(cut & 15u) - 1;
            const int index = c->index[axis];
            if (index < 0 || ((*placed >> axis) & 1u) ||
                ridge__cut_index(p, rule, rule->at[operand][d], axis) != index)
                continue;
            c->cuts[index] = ridge__cut_append(c->cuts[index], axis);
            *placed |= 1u << axis;
        }
    }
}

/* Axes that the wishes of the rows put elsewhere than along the rows. */
static unsigned experts_mask(const ridge__partitioner *p, const ridge__op_rule *rule)
{
    unsigned mask = 0;
    for (int o = rule->n_inputs; o < rule->n_inputs + rule->n_outputs; o++) {
        for (int d = 0; d < rule->rank[o]; d++) {
            if (rule->at[o][d] != rule->rows)
                mask |= ridge__cut_mask(p->wish[rule->tensor[o]].layout.dims[d]);
        }
    }
    return mask;
}

/* Rows are cut as their tokens; what the experts will take over comes innermost, so
 * that one all-to-all moves it. */
static ridge__cut rows_cut(const ridge__partitioner *p, const ridge__op_rule *rule,
                           const ridge__cutting *c)
{
    const ridge__rows *rows = ridge__rows_of(p, rule);
    if (rows->is_set) {
        unsigned uncut = 0;
        for (int a = 0; a < p->mesh.n; a++) {
            const int index = c->index[a];
            if (index < 0 || rule->kind[index] != RIDGE__INDEX_TOKEN)
                uncut |= 1u << a;
        }
        return ridge__cut_without(rows->cut, uncut);
    }
    const unsigned wanted = experts_mask(p, rule);
    ridge__cut outer = 0, inner = 0;
    for (int i = 0; i < rule->n_index; i++) {
        if (rule->kind[i] != RIDGE__INDEX_TOKEN)
            continue;
        for (ridge__cut cut = c->cuts[i]; cut != 0; cut >>= 4) {
            const int axis = (int)(cut & 15u) - 1;
            if ((wanted >> axis) & 1u)
                inner = ridge__cut_append(inner, axis);
            else
                outer = ridge__cut_append(outer, axis);
        }
    }
    return ridge__cut_join(outer, inner);
}

/* KV heads follow the query heads over the outermost axes that divide them. Those
 * divide the query heads too, so each rank has the keys of its queries, padded or not.
 */
static ridge__cut group_cut(const ridge__partitioner *p, const ridge__op_rule *rule,
                            ridge__cut heads_cut)
{
    const int64_t groups = p->in->dims[rule->dim[rule->group]].size;
    while (groups % ridge__cut_ways(&p->mesh, heads_cut) != 0)
        heads_cut = ridge__cut_head(heads_cut, ridge__cut_count(heads_cut) - 1);
    return heads_cut;
}

/* Tokens lie as they did when their rows were handed out. */
static void place_tokens(const ridge__partitioner *p, const ridge__op_rule *rule,
                         ridge__cutting *c, unsigned *placed)
{
    const ridge__rows *rows = ridge__rows_of(p, rule);
    if (!rows || !rows->is_set)
        return;
    for (ridge__cut cut = rows->order; cut != 0; cut >>= 4) {
        const int axis = (int)(cut & 15u) - 1, index = c->index[axis];
        if (index < 0)
            continue; /* other tokens than those of the first dispatch */
        c->cuts[index] = ridge__cut_append(c->cuts[index], axis);
        *placed |= 1u << axis;
    }
}

static void make_cuts(const ridge__partitioner *p, const ridge__op_rule *rule,
                      ridge__cutting *c)
{
    unsigned placed = 0;
    memset(c->cuts, 0, (size_t)rule->n_index * sizeof c->cuts[0]);
    place_tokens(p, rule, c, &placed);
    for (int o = 0; o < rule->n_inputs; o++)
        place_cuts(p, rule, o, &p->layouts[rule->tensor[o]], c, &placed);
    for (int o = rule->n_inputs; o < rule->n_inputs + rule->n_outputs; o++)
        place_cuts(p, rule, o, &p->wish[rule->tensor[o]].layout, c, &placed);
    for (int a = 0; a < p->mesh.n; a++) {
        if (c->index[a] >= 0 && !((placed >> a) & 1u))
            c->cuts[c->index[a]] = ridge__cut_append(c->cuts[c->index[a]], a);
    }
    if (rule->rows >= 0)
        c->cuts[rule->rows] = rows_cut(p, rule, c);
    if (rule->group >= 0)
        c->cuts[rule->group] = group_cut(p, rule, c->cuts[rule->heads]);
}

/* How each operand has to lie; an output without a cut index is a partial sum. */
static void make_operands(const ridge__partitioner *p, const ridge__op_rule *rule,
                          ridge__cutting *c)
{
    unsigned cut = 0, softmax = 0;
    for (int a = 0; a < p->mesh.n; a++) {
        if (c->index[a] < 0)
            continue;
        cut |= 1u << a;
        if (rule->kind[c->index[a]] == RIDGE__INDEX_SOFTMAX)
            softmax |= 1u << a;
    }
    c->softmax = softmax;
    for (int o = 0; o < rule->n_inputs + rule->n_outputs; o++) {
        ridge__layout *layout = &c->operands[o];
        *layout = (ridge__layout){.partial = 0};
        for (int d = 0; d < rule->rank[o]; d++)
            layout->dims[d] = c->cuts[rule->at[o][d]];
        if (o >= rule->n_inputs && rule->has_sums)
            continue;
        if (o < rule->n_inputs)
            layout->partial = p->layouts[rule->tensor[o]].partial & c->carried;
        else
            layout->partial =
                (c->carried | cut) & ~ridge__layout_cut_mask(layout) & ~softmax;
    }
}

void ridge__cutting_make(const ridge__partitioner *p, const ridge__op_rule *rule,
                         ridge__cutting *c)
{
    make_cuts(p, rule, c);
    make_operands(p, rule, c);
}

/* Partial sums may stay where every reader works on them, but not in rows whose tokens
 * the axis cuts. */
static bool may_stay_partial(const ridge__partitioner *p, int tensor, unsigned partial)
{
    const ridge__wish *wish = &p->wish[tensor];
    const ridge_tensor *t = &p->in->tensors[tensor];
    if (!wish->is_carried || partial == 0)
        return false;
    for (int i = 0; wish->is_routed && i < t->n_dims; i++) {
        const ridge__rows *rows = &p->rows[t->dims[i]];
        if (rows->is_set && (ridge__cut_mask(rows->cut) & partial) != 0)
            return false;
    }
    return true;
}

/* The position along which the first reader will want an axis to cut; -1: none. */
static int scatter_position(const ridge__partitioner *p, int tensor, int axis)
{
    ridge__op_rule rule;
    if (p->reader[tensor] < 0)
        return -1;
    ridge__op_rule_make(p->in, &p->in->ops[p->reader[tensor]], &rule);
    int index = ridge__bound_index(p, &rule, axis);
    if (index < 0)
        index = ridge__wanted_index(p, &rule, axis);
    for (int i = 0; index >= 0 && i < rule.n_inputs; i++) {
        for (int d = 0; rule.tensor[i] == tensor && d < rule.rank[i]; d++) {
            if (ridge__cut_index(p, &rule, rule.at[i][d], axis) == index)
                return d;
        }
    }
    return -1;
}

/* Sums that must not be left: scattered if that is what the first reader needs. */
static void reduce_all(const ridge__partitioner *p, int tensor, ridge__layout *out)
{
    for (unsigned rest = out->partial; rest != 0; rest &= rest - 1u) {
        const int axis = __builtin_ctz(rest);
        const int at = scatter_position(p, tensor, axis);
        if (at >= 0 && !((p->wish[tensor].has >> at) & 1))
            out->dims[at] = ridge__cut_append(out->dims[at], axis);
    }
    out->partial = 0;
}

ridge__layout ridge__output_layout(const ridge__partitioner *p, int tensor,
                                   const ridge__layout *natural)
{
    const ridge__wish *wish = &p->wish[tensor];
    ridge__layout out = *natural;
    unsigned taken = 0;
    if (may_stay_partial(p, tensor, natural->partial))
        return out;
    for (int i = 0; i < RIDGE_TENSOR_DIM_MAX; i++) {
        if ((wish->has >> i) & 1)
            taken |= ridge__cut_mask(wish->layout.dims[i]);
    }
    ridge__layout_drop(&out, taken);
    out.partial &= ~taken;
    for (int i = 0; i < RIDGE_TENSOR_DIM_MAX; i++) {
        if ((wish->has >> i) & 1)
            out.dims[i] = wish->layout.dims[i];
    }
    if (wish->is_strict && out.partial != 0)
        reduce_all(p, tensor, &out);
    return out;
}

double ridge__cutting_cost(const ridge__partitioner *p, const ridge__op_rule *rule,
                           ridge__cutting *c)
{
    ridge__step steps[RIDGE__STEP_MAX];
    double cost = 0.0;
    int n = 0, copy = 0;
    ridge__cutting_make(p, rule, c);
    for (int o = 0; o < rule->n_inputs; o++)
        cost += ridge__copy_find(p, rule->tensor[o], &c->operands[o], &copy, steps, &n);
    for (int o = rule->n_inputs; o < rule->n_inputs + rule->n_outputs; o++) {
        const ridge__box box = ridge__partitioner_box(p, rule->tensor[o]);
        ridge__layout end = ridge__output_layout(p, rule->tensor[o], &c->operands[o]);
        end.partial = 0; /* sooner or later */
        n = ridge__layout_steps(&box, &c->operands[o], &end, steps);
        cost += ridge__steps_cost(p, steps, n, rule->n_inputs);
    }
    return cost;
}
