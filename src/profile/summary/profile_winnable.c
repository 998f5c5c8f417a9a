/* Operations by what they lose to the roofline, alike ones together. */
#include "ridge/profile.h"

#include <stdlib.h>
#include <string.h>

static int compare_alike(const void *a, const void *b)
{
    const ridge_profile_op *x = a;
    const ridge_profile_op *y = b;
    const int names = strcmp(x->name, y->name);
    const int calls = names != 0 ? names : strcmp(x->call, y->call);
    return calls != 0 ? calls : strcmp(x->shapes, y->shapes);
}

static int compare_gaps(const void *a, const void *b)
{
    const ridge_profile_op *x = a;
    const ridge_profile_op *y = b;
    if (x->gap_s != y->gap_s)
        return x->gap_s > y->gap_s ? -1 : 1;
    return compare_alike(a, b);
}

static void op_merge(ridge_profile_op *to, const ridge_profile_op *from)
{
    to->count += from->count;
    to->time_ns += from->time_ns;
    to->flops += from->flops;
    to->bytes += from->bytes;
    to->roofline_s += from->roofline_s;
    to->gap_s += from->gap_s;
    if (from->least_ns < to->least_ns)
        to->least_ns = from->least_ns;
    if (from->most_ns > to->most_ns)
        to->most_ns = from->most_ns;
}

ridge_status ridge_profile_winnable(ridge_ctx *cx, const ridge_profile *profile,
                                    ridge_profile_op **ops, int *n)
{
    ridge_profile_op *rows =
        ridge_new(ridge_ctx_arena(cx), ridge_profile_op, (size_t)profile->n_ops);
    size_t found = 0;
    size_t made = 0;
    if (rows == NULL)
        return ridge_fail_nomem(cx);
    for (int i = 0; i < profile->n_ops; i++) {
        if (profile->ops[i].has_roofline)
            rows[found++] = profile->ops[i];
    }
    qsort(rows, found, sizeof *rows, compare_alike);
    for (size_t i = 0; i < found; i++) {
        if (made > 0 && compare_alike(&rows[made - 1], &rows[i]) == 0) {
            op_merge(&rows[made - 1], &rows[i]);
            continue;
        }
        rows[made] = rows[i];
        rows[made].layer = -1;
        rows[made].module = rows[made].source = "";
        made++;
    }
    qsort(rows, made, sizeof *rows, compare_gaps);
    *ops = rows;
    *n = (int)made;
    return RIDGE_OK;
}
