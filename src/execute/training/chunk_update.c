/* What happens to weights chunk by chunk: each update with its gradient, and a value
 * copied on the device. */
#include "runner.h"

ridge_status ridge__chunk_each_update(ridge__runner *r, ridge__chunk *chunk,
                                      ridge__update_visit *visit, void *payload)
{
    ridge__machine *m = chunk->m;
    const ridge__list *list = &m->unrolled.lists[RIDGE__LIST_UPDATE];
    for (int k = 0; k < list->n; k++) {
        const ridge__instruction *at = &list->at[k];
        const ridge_operation *op = &m->program->ops[at->op];
        if (op->code != RIDGE_OPCODE_UPDATE)
            continue;
        const ridge__updated u = {
            chunk, op->inputs[0], op->inputs[1],
            ridge__machine_value(m, &r->steps[chunk - r->chunks], at->in[1])};
        RIDGE_TRY(visit(r, &u, payload));
    }
    return RIDGE_OK;
}

ridge_status ridge__runner_copy_value(ridge__runner *r, const ridge__value *from,
                                      const ridge__value *to, bool is_added)
{
    const ridge__copy copy = {.n_dims = 1,
                              .sizes = {to->elements},
                              .x_strides = {1},
                              .y_strides = {1},
                              .x = {from->p, from->dtype},
                              .y = {to->p, to->dtype},
                              .is_added = is_added};
    return r->device->ops->copy(r->device, &copy);
}
