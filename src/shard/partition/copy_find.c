/* The copy of a tensor from which another layout of it is cheapest to make. */
#include "cutting.h"

#include <string.h>

double ridge__steps_cost(const ridge__partitioner *p, const ridge__step *steps, int n,
                         int operand)
{
    double cost = 0.0;
    for (int i = 0; i < n; i++) {
        if (!p->cost) {
            cost += ridge__step_moved(&p->mesh, &steps[i]);
            continue;
        }
        const ridge_reshard step = ridge__step_public(&steps[i], operand);
        cost += p->cost(p->payload, &p->mesh, &step);
    }
    return cost;
}

/* The copies that hold in this block: the tensor itself, then the latest first. */
static int next_copy(const ridge__partitioner *p, int tensor, int copy)
{
    if (copy == tensor && p->copy_block[tensor] != p->block)
        return -1;
    return p->next_copy[copy];
}

double ridge__copy_find(const ridge__partitioner *p, int tensor,
                        const ridge__layout *want, int *copy, ridge__step *steps,
                        int *n_steps)
{
    const ridge__box box = ridge__partitioner_box(p, tensor);
    ridge__step trial[RIDGE__STEP_MAX];
    double best = 0.0;
    *copy = -1;
    *n_steps = 0;
    for (int c = tensor; c >= 0; c = next_copy(p, tensor, c)) {
        if (ridge__layout_equal(&p->layouts[c], want)) {
            *copy = c;
            *n_steps = 0;
            return 0.0;
        }
    }
    for (int c = tensor; c >= 0; c = next_copy(p, tensor, c)) {
        if ((want->partial & ~p->layouts[c].partial) != 0)
            continue;
        const int n = ridge__layout_steps(&box, &p->layouts[c], want, trial);
        const double cost = ridge__steps_cost(p, trial, n, 0);
        if (*copy >= 0 && cost >= best)
            continue;
        best = cost;
        *copy = c;
        *n_steps = n;
        memcpy(steps, trial, (size_t)n * sizeof *steps);
    }
    return best;
}
