/* The four cases of a sharded matmul. @source scaling-book-2025 chapter 3 */
#include "product.h"

static bool is_same(const ridge_dim_axes *a, const ridge_dim_axes *b)
{
    if (a->n != b->n)
        return false;
    for (int i = 0; i < a->n; i++) {
        if (a->axes[i] != b->axes[i])
            return false;
    }
    return true;
}

/* What a walk over the dims of two operands finds. */
typedef struct findings {
    bool has_contraction, has_split_batch;
    bool is_cut_alike, is_cut_unlike; /* some contracted dim */
    unsigned free_axes[2];
} findings;

static void look_at_shared(const ridge_expr *e, int dim, const ridge_dim_axes *a,
                           const ridge_dim_axes *b, findings *f)
{
    if (ridge__dim_place(&e->output, dim) >= 0) {
        f->has_split_batch = f->has_split_batch || !is_same(a, b);
        return;
    }
    f->has_contraction = true;
    f->is_cut_unlike = f->is_cut_unlike || !is_same(a, b);
    f->is_cut_alike = f->is_cut_alike || (a->n > 0 && is_same(a, b));
}

static void look_at_dim(const ridge_expr *e, int dim, findings *f)
{
    int at[2];
    for (int i = 0; i < 2; i++)
        at[i] = ridge__dim_place(&e->inputs[i], dim);
    if (at[0] >= 0 && at[1] >= 0) {
        look_at_shared(e, dim, &e->inputs[0].sharding.dims[at[0]],
                       &e->inputs[1].sharding.dims[at[1]], f);
        return;
    }
    const int i = at[0] >= 0 ? 0 : 1;
    const ridge_dim_axes *axes = &e->inputs[i].sharding.dims[at[i]];
    for (int a = 0; a < axes->n; a++)
        f->free_axes[i] |= 1u << axes->axes[a];
}

int ridge_expr_case(const ridge_expr *expr)
{
    findings f = {0};
    if (expr->n_inputs != 2 || expr->inputs[0].sharding.partial ||
        expr->inputs[1].sharding.partial)
        return 0;
    for (int dim = 0; dim < expr->n_dims; dim++)
        look_at_dim(expr, dim, &f);
    if (!f.has_contraction || f.has_split_batch)
        return 0;
    if (f.free_axes[0] & f.free_axes[1])
        return 4;
    if (f.is_cut_unlike)
        return 2;
    return f.is_cut_alike ? 3 : 1;
}
