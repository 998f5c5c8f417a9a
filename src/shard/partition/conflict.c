/* Conflicts in words: which operands disagreed, what was kept, what else would cost. */
#include "cutting.h"

#include <string.h>

static const char *dim_name(const ridge__partitioner *p, const ridge__op_rule *rule,
                            int index)
{
    return p->in->dims[rule->dim[index]].name;
}

static ridge_status add(ridge__partitioner *p, const char *text)
{
    if (p->n_conflicts == p->cap_conflicts) {
        const int cap = p->cap_conflicts == 0 ? 16 : 2 * p->cap_conflicts;
        ridge_conflict *grown = ridge_new(p->arena, ridge_conflict, (size_t)cap);
        if (!grown)
            return ridge_fail_nomem(p->cx);
        if (p->n_conflicts > 0)
            memcpy(grown, p->conflicts, (size_t)p->n_conflicts * sizeof *grown);
        p->conflicts = grown;
        p->cap_conflicts = cap;
    }
    p->conflicts[p->n_conflicts++] =
        (ridge_conflict){.op = (int)(p->about - p->in->ops), .text = text};
    return RIDGE_OK;
}

ridge_status ridge__conflict_report(ridge__partitioner *p, const ridge__op_rule *rule,
                                    const ridge__proposals *all, int axis,
                                    const ridge__cutting *best)
{
    ridge__cutting other = *best;
    ridge_buf text;
    ridge_buf_init(&text, p->arena);
    ridge_buf_printf(&text, "%s cuts ", p->mesh.axes[axis].name);
    for (int i = 0; i < all->n[axis]; i++) {
        const int tensor = rule->tensor[all->input[axis][i]];
        ridge_buf_printf(&text, "%s%s of %s", i > 0 ? " and " : "",
                         dim_name(p, rule, all->index[axis][i]),
                         p->in->tensors[tensor].name);
    }
    ridge_buf_printf(&text, ": %s kept, cost %.4g",
                     dim_name(p, rule, best->index[axis]),
                     ridge__cutting_cost(p, rule, &other));
    for (int i = 0; i < all->n[axis]; i++) {
        if (all->index[axis][i] == best->index[axis])
            continue;
        other.index[axis] = all->index[axis][i];
        ridge_buf_printf(&text, "; with %s %.4g",
                         dim_name(p, rule, all->index[axis][i]),
                         ridge__cutting_cost(p, rule, &other));
    }
    if (text.is_short)
        return ridge_fail_nomem(p->cx);
    return add(p, ridge_buf_text(&text));
}
