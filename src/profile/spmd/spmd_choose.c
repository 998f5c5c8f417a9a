/*
 * Which axis cuts what while an operation runs: what its arrays agree on; of several
 * ways that exclude each other the one whose collectives send the fewest bytes.
 */
#include "spmd.h"

#include <string.h>

/** An operation being decided. */
typedef struct choice {
    spmd *m;
    const spmd_op *op;
    ridge_dim_axes *axes; /* [factors] */
} choice;

/* ---- what a way costs -------------------------------------------------------------
 */

static double route_bytes(const spmd *m, const ridge_hlo_shape *shape,
                          const ridge_sharding *from, const ridge_sharding *to)
{
    ridge_reshard steps[RIDGE_RESHARD_MAX];
    int n = 0;
    double all = 0;
    if (ridge_sharding_equal(from, to))
        return 0;
    if (ridge_reshard_plan(m->cx, &m->mesh, shape->dims,
                           ridge_hlo_type_bits(shape->type) / 8.0, from, to, steps,
                           &n) != RIDGE_OK)
        return 1e30;
    for (int k = 0; k < n; k++)
        all += ridge_reshard_sent_bytes(&m->mesh, &steps[k]);
    return all;
}

static double cost_of(const choice *c)
{
    double all = 0;
    for (int t = 0; t < c->op->n; t++) {
        const spmd_value *v = spmd_value_at(c->m, c->op->tensors[t].value);
        ridge_sharding s = spmd_sharding_of(c->m, c->op, t, c->axes);
        if (v->is_deep || ridge_hlo_shape_is_tuple(v->shape))
            continue;
        if (t < c->op->n_operands) {
            all += route_bytes(c->m, v->shape, &v->sharding, &s);
            continue;
        }
        for (int f = 0; f < c->op->factors.n; f++) {
            for (int a = 0;
                 spmd_factor_at(c->op, f)->kind == SPMD_REDUCE && a < c->axes[f].n; a++)
                s.partial |= 1U << c->axes[f].axes[a];
        }
        all += route_bytes(c->m, v->shape, &s, &v->sharding);
    }
    return all;
}

/* ---- what the arrays say ----------------------------------------------------------
 */

/* The axes of each factor that the largest array with the most of them has. */
static ridge_status collect(const choice *c)
{
    const int n = c->op->factors.n;
    ridge_dim_axes *own = ridge_new(c->m->scratch, ridge_dim_axes, (size_t)n + 1);
    double *weight = ridge_new(c->m->scratch, double, (size_t)n + 1);
    if (own == NULL || weight == NULL)
        return ridge_fail_nomem(c->m->cx);
    for (int t = 0; t < c->op->n; t++) {
        const spmd_tensor *x = &c->op->tensors[t];
        if (x->n == 0)
            continue;
        const double bytes = spmd_value_bytes(c->m, x->value);
        memset(own, 0, (size_t)n * sizeof *own);
        spmd_factors_of(c->m, c->op, t, own, NULL);
        for (int f = 0; f < n; f++) {
            ridge_dim_axes *all = &c->axes[f];
            int same = 0;
            while (same < all->n && same < own[f].n &&
                   all->axes[same] == own[f].axes[same])
                same++;
            const bool is_longer = same == all->n && own[f].n > all->n;
            const bool is_other = same < all->n && same < own[f].n;
            if (is_longer || (is_other && bytes > weight[f])) {
                *all = own[f];
                weight[f] = bytes;
            } else if (own[f].n > 0 && bytes > weight[f] && !is_other) {
                weight[f] = bytes;
            }
        }
    }
    return RIDGE_OK;
}

static void drop(ridge_dim_axes *list, int axis)
{
    int n = 0;
    for (int k = 0; k < list->n; k++) {
        if (list->axes[k] != axis)
            list->axes[n++] = list->axes[k];
    }
    list->n = n;
}

static bool has(const ridge_dim_axes *list, int axis)
{
    for (int k = 0; k < list->n; k++) {
        if (list->axes[k] == axis)
            return true;
    }
    return false;
}

/* An axis that cuts several factors: one of them keeps it. */
static ridge_status settle(const choice *c, int axis)
{
    const int n = c->op->factors.n;
    ridge_dim_axes *kept = ridge_new(c->m->scratch, ridge_dim_axes, (size_t)n + 1);
    int claims = 0, best = -1;
    double best_cost = 0;
    if (kept == NULL)
        return ridge_fail_nomem(c->m->cx);
    for (int f = 0; f < n; f++)
        claims += has(&c->axes[f], axis);
    if (claims < 2)
        return RIDGE_OK;
    memcpy(kept, c->axes, (size_t)n * sizeof *kept);
    for (int f = 0; f < n; f++) {
        if (!has(&kept[f], axis))
            continue;
        for (int g = 0; g < n; g++) {
            c->axes[g] = kept[g];
            if (g != f)
                drop(&c->axes[g], axis);
        }
        const double cost = cost_of(c);
        if (best < 0 || cost < best_cost) {
            best = f;
            best_cost = cost;
        }
    }
    for (int g = 0; g < n; g++) {
        c->axes[g] = kept[g];
        if (g != best)
            drop(&c->axes[g], axis);
    }
    return RIDGE_OK;
}

/* Factors that are parts of a dim have to divide, and the outer ones to be cut entirely
 * before inner ones are. */
static bool fits(const choice *c, int tensor, int *bad)
{
    const spmd_tensor *t = &c->op->tensors[tensor];
    for (int d = 0; d < t->n; d++) {
        bool is_open = true;
        for (int k = 0; t->dims[d].n > 1 && k < t->dims[d].n; k++) {
            const int f = t->dims[d].factors[k];
            const int64_t size = spmd_factor_at(c->op, f)->size;
            const int64_t ways = ridge_dim_ways(&c->m->mesh, &c->axes[f]);
            if (ways > 1 && (!is_open || size % ways != 0)) {
                *bad = f;
                return false;
            }
            is_open = is_open && ways == size;
        }
    }
    return true;
}

ridge_status spmd_choose(spmd *m, const spmd_op *op, ridge_dim_axes *out)
{
    const choice c = {m, op, out};
    memset(out, 0, (size_t)op->factors.n * sizeof *out);
    if (m->mesh.n == 0)
        return RIDGE_OK;
    RIDGE_TRY(collect(&c));
    for (int f = 0; f < op->factors.n; f++) {
        if (spmd_factor_at(op, f)->kind == SPMD_WHOLE)
            out[f].n = 0;
    }
    for (int a = 0; a < m->mesh.n; a++)
        RIDGE_TRY(settle(&c, a));
    for (int t = 0; t < op->n; t++) {
        int bad;
        while (!fits(&c, t, &bad)) {
            out[bad].n--;
            t = 0; /* what was right before may not be any more */
        }
    }
    return RIDGE_OK;
}
