/* One more instruction of a list: its values, repetition by repetition. */
#include "unroll_work.h"

static ridge__instruction instruct(const unroll_work *w, int index, int64_t repetition)
{
    const ridge_program *program = w->u.partition->program;
    const ridge_operation *op = &program->ops[index];
    const int block = ridge__op_block_of(program, index);
    ridge__instruction at = {.op = index, .repetition = (int)repetition, .side = -1};
    for (int i = 0; i < op->n_inputs; i++)
        at.in[i] = ridge__value_of(&w->u, block, repetition, op->inputs[i]);
    for (int i = 0; i < op->n_outputs; i++)
        at.out[i] = ridge__value_of(&w->u, block, repetition, op->outputs[i]);
    const int side = w->side_op[index];
    if (side >= 0)
        at.side = ridge__side_value_of(&w->u, block, repetition, side);
    return at;
}

void ridge__unroll_emit(unroll_work *w, ridge__list_kind kind, int op,
                        int64_t repetition, bool is_again)
{
    ridge__list *list = &w->u.lists[kind];
    if (list->at) {
        list->at[list->n] = instruct(w, op, repetition);
        list->at[list->n].is_again = is_again;
    }
    list->n++;
}
