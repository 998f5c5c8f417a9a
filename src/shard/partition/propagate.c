/*
 * How an operation is cut. For each mesh axis the operands propose the index that the
 * axis cuts. A backward operation takes what its forward one cut; else a single
 * proposal is taken, and of several the one that the rules want of the result, else the
 * cheapest, which is a conflict and is reported. Everything goes in a fixed order.
 */
#include "cutting.h"

#include <string.h>

enum { TRIALS_MOST = 64 };

static void propose(ridge__proposals *all, int axis, int index, int input)
{
    const int n = all->n[axis];
    for (int i = 0; i < n; i++) {
        if (all->index[axis][i] == index)
            return;
    }
    all->index[axis][n] = index;
    all->input[axis][n] = input;
    all->n[axis]++;
}

/* What the cuts of one input propose. */
static void collect_input(const ridge__partitioner *p, const ridge__op_rule *rule,
                          int input, ridge__proposals *all)
{
    const ridge__layout *layout = &p->layouts[rule->tensor[input]];
    for (int d = 0; d < rule->rank[input]; d++) {
        for (ridge__cut cut = layout->dims[d]; cut != 0; cut >>= 4) {
            const int axis = (int)(cut & 15u) - 1;
            const int index = ridge__cut_index(p, rule, rule->at[input][d], axis);
            if (index >= 0 && !ridge__is_barred(p, rule, index, axis))
                propose(all, axis, index, input);
        }
    }
    for (unsigned rest = layout->partial; rest != 0; rest &= rest - 1u)
        all->partial[__builtin_ctz(rest)] |= 1u << input;
}

static void collect(const ridge__partitioner *p, const ridge__op_rule *rule,
                    ridge__proposals *all)
{
    memset(all->n, 0, sizeof all->n);
    memset(all->partial, 0, sizeof all->partial);
    for (int i = 0; i < rule->n_inputs; i++)
        collect_input(p, rule, i, all);
}

static bool is_proposed(const ridge__proposals *all, int axis, int index)
{
    for (int i = 0; i < all->n[axis]; i++) {
        if (all->index[axis][i] == index)
            return true;
    }
    return false;
}

static bool can_carry(const ridge__op_rule *rule, const ridge__proposals *all, int axis)
{
    const unsigned partial = all->partial[axis];
    if (partial == 0 || (partial & ~rule->carries) != 0)
        return false;
    if (rule->is_joint)
        return partial == rule->carries;
    return all->n[axis] == 0 && (partial & (partial - 1u)) == 0;
}

/* What is written in place stays where it is. @return whether there is such an output
 */
static bool settle_in_place(const ridge__partitioner *p, const ridge__op_rule *rule,
                            int axis, int *index)
{
    bool is_bound = false;
    *index = -1;
    for (int o = rule->n_inputs; o < rule->n_inputs + rule->n_outputs; o++) {
        if (p->in->tensors[rule->tensor[o]].role != RIDGE_ROLE_CACHE)
            continue;
        const int at = ridge__layout_find(&p->layouts[rule->tensor[o]], axis);
        if (at >= 0 && *index < 0)
            *index = ridge__cut_index(p, rule, rule->at[o][at], axis);
        is_bound = true;
    }
    return is_bound;
}

/* What an axis cuts, where there is no need to compare costs.
 * @return false when there is */
static bool settle_axis(const ridge__partitioner *p, const ridge__op_rule *rule,
                        const ridge__proposals *all, int axis, ridge__cutting *out)
{
    out->index[axis] = ridge__bound_index(p, rule, axis);
    if (out->index[axis] >= 0)
        return true;
    if (settle_in_place(p, rule, axis, &out->index[axis]))
        return true;
    if (can_carry(rule, all, axis)) {
        out->carried |= 1u << axis;
        return true;
    }
    const int forward = p->about->is_backward ? p->about->forward_of : -1;
    if (all->n[axis] > 0 && forward >= 0 && p->op_cut[forward][axis] >= 0) {
        const int index = ridge__op_rule_find(rule, p->op_cut[forward][axis]);
        if (index >= 0 && ridge__cut_index(p, rule, index, axis) == index) {
            out->index[axis] = index;
            return true;
        }
    }
    if (all->n[axis] == 1) {
        out->index[axis] = all->index[axis][0];
        return true;
    }
    out->index[axis] = ridge__wanted_index(p, rule, axis);
    return all->n[axis] == 0 || is_proposed(all, axis, out->index[axis]);
}

/* Every combination of what the contested axes may cut; the first of the cheapest. */
static ridge_status settle_by_cost(ridge__partitioner *p, const ridge__op_rule *rule,
                                   const ridge__proposals *all, unsigned contested,
                                   ridge__cutting *out)
{
    int64_t trials = 1;
    for (int a = 0; a < p->mesh.n; a++)
        trials *= (contested >> a) & 1u ? all->n[a] : 1;
    trials = trials < TRIALS_MOST ? trials : TRIALS_MOST;
    ridge__cutting trial = *out;
    double best = 0.0;
    for (int64_t i = 0; i < trials; i++) {
        int64_t rest = i;
        for (int a = 0; a < p->mesh.n; a++) {
            if (!((contested >> a) & 1u))
                continue;
            trial.index[a] = all->index[a][rest % all->n[a]];
            rest /= all->n[a];
        }
        const double cost = ridge__cutting_cost(p, rule, &trial);
        if (i == 0 || cost < best) {
            best = cost;
            memcpy(out->index, trial.index, sizeof out->index);
        }
    }
    for (int a = 0; a < p->mesh.n; a++) {
        if ((contested >> a) & 1u)
            RIDGE_TRY(ridge__conflict_report(p, rule, all, a, out));
    }
    return RIDGE_OK;
}

/* ---- one operation -------------------------------------------------------------- */

/* The gradient of a tensor goes back to how that was made: the transposed collectives
 * follow from it. */
static void bring_home(ridge__partitioner *p, int tensor)
{
    ridge__wish *wish = &p->wish[tensor];
    const ridge_tensor *t = &p->in->tensors[tensor];
    if (!wish->is_home)
        return;
    wish->is_home = false;
    const ridge_tensor *primal = &p->in->tensors[t->gradient_of];
    const ridge__layout *home = &p->home[t->gradient_of];
    for (int i = 0; i < t->n_dims; i++) {
        if ((wish->has >> i) & 1)
            continue;
        ridge__cut cut = 0;
        for (int j = 0; j < primal->n_dims; j++) {
            if (primal->dims[j] == t->dims[i])
                cut = home->dims[j];
        }
        const unsigned used = ridge__layout_cut_mask(&wish->layout);
        ridge__wish_settle(wish, i, ridge__cut_without(cut, used), 0);
    }
}

void ridge__receive(ridge__partitioner *p, int tensor)
{
    if (!p->wish[tensor].is_home)
        return;
    bring_home(p, tensor);
    p->layouts[tensor] = p->wish[tensor].layout;
}

static void settle_rows(ridge__partitioner *p, const ridge__op_rule *rule,
                        const ridge__cutting *c)
{
    ridge__rows *rows = ridge__rows_of(p, rule);
    if (!rows || rows->is_set)
        return;
    rows->is_set = true;
    rows->cut = c->cuts[rule->rows];
    for (int i = 0; i < rule->n_index; i++) {
        const ridge__cut cut = rule->kind[i] == RIDGE__INDEX_TOKEN ? c->cuts[i] : 0;
        rows->order = ridge__cut_join(rows->order, cut);
    }
    const unsigned mask = ridge__cut_mask(rows->cut);
    for (int a = 0; a < p->mesh.n; a++)
        rows->token_dim[a] = (mask >> a) & 1u ? rule->dim[c->index[a]] : -1;
}

/* A cache is never moved: its layout has to be one in which it can be written. */
static ridge_status check_in_place(const ridge__partitioner *p,
                                   const ridge__op_rule *rule, const ridge__cutting *c)
{
    for (int o = rule->n_inputs; o < rule->n_inputs + rule->n_outputs; o++) {
        const int t = rule->tensor[o];
        if (p->in->tensors[t].role == RIDGE_ROLE_CACHE &&
            !ridge__layout_equal(&p->layouts[t], &c->operands[o]))
            return ridge_fail(p->cx, RIDGE_E_ARG,
                              "operation %s cannot write %s in place as the rules cut "
                              "it: leave the dims whole that it works along",
                              p->about->name, p->in->tensors[t].name);
    }
    return RIDGE_OK;
}

ridge_status ridge__propagate(ridge__partitioner *p, const ridge__op_rule *rule,
                              ridge__cutting *out)
{
    ridge__proposals all;
    unsigned contested = 0;
    for (int o = rule->n_inputs; o < rule->n_inputs + rule->n_outputs; o++)
        bring_home(p, rule->tensor[o]);
    for (int i = 0; i < rule->n_inputs; i++)
        ridge__receive(p, rule->tensor[i]);
    collect(p, rule, &all);
    out->carried = 0;
    for (int a = 0; a < p->mesh.n; a++) {
        if (!settle_axis(p, rule, &all, a, out)) {
            out->index[a] = all.index[a][0];
            contested |= 1u << a;
        }
    }
    if (contested != 0)
        RIDGE_TRY(settle_by_cost(p, rule, &all, contested, out));
    ridge__cutting_make(p, rule, out);
    settle_rows(p, rule, out);
    return check_in_place(p, rule, out);
}
