/*
 * What a remat policy does not keep of a layer is computed again in front of the
 * layer's backward pass, as far as that needs it.
 * @source chen2016-sublinear; korthikanti2022 section 5 (selective)
 */
#include "unroll_work.h"

#include "ridge/program_remat.h"

/* Of named operations the dispatch of rows stays: the order in which they were dealt is
 * known only with the exchanges behind it, which are not named. */
static bool is_kept(const unroll_work *w, int op)
{
    const ridge_program *program = w->u.partition->program;
    return w->how.named != 0
               ? program->ops[op].code == RIDGE_OPCODE_DISPATCH ||
                     (ridge_operation_remat_op(program, op) & w->how.named) == 0
               : ridge_operation_is_kept(&program->ops[op], w->how.remat);
}

typedef struct again {
    unroll_work *w;
    const ridge_block *forward;
    int forward_index;
    bool *is_wanted; /* [n_ops]: of the forward block */
} again;

/* Ask for the maker of a tensor, if it is of this layer and not kept. */
static void want_tensor(again *a, int tensor)
{
    const ridge_program *program = a->w->u.partition->program;
    const ridge_tensor *t = &program->tensors[tensor];
    if (t->block != a->forward_index || tensor == a->forward->carry_out)
        return;
    const int maker = ridge__tensor_maker(program, tensor);
    if (maker >= 0 && !is_kept(a->w, maker))
        a->is_wanted[maker] = true;
}

static void want_operands(again *a, int op)
{
    const ridge_operation *o = &a->w->u.partition->program->ops[op];
    for (int i = 0; i < o->n_inputs; i++)
        want_tensor(a, o->inputs[i]);
    const int side = a->w->side_op[op];
    if (side >= 0 && side != op && !is_kept(a->w, side) &&
        ridge__op_block_of(a->w->u.partition->program, side) == a->forward_index)
        a->is_wanted[side] = true;
}

/* Layers of the program before a repetition of a forward block. */
static int64_t layers_before(const ridge_program *program, int block,
                             int64_t repetition)
{
    int64_t n = repetition;
    for (int b = 0; b < block; b++) {
        const ridge_block *x = &program->blocks[b];
        n += x->layer >= 0 && x->forward_of < 0 ? x->repeat : 0;
    }
    return n;
}

/* Whether the layer that a repetition of a backward block goes back through keeps all.
 */
static bool is_beyond(const unroll_work *w, const ridge_block *back, int64_t repetition)
{
    const ridge_program *program = w->u.partition->program;
    const int64_t forward = program->blocks[back->forward_of].repeat - 1 - repetition;
    return w->how.again_layers > 0 &&
           layers_before(program, back->forward_of, forward) >= w->how.again_layers;
}

ridge_status ridge__unroll_again(unroll_work *w, int block, int64_t repetition)
{
    const ridge_program *program = w->u.partition->program;
    const ridge_block *back = &program->blocks[block];
    if (back->forward_of < 0 || program->blocks[back->forward_of].layer < 0 ||
        is_beyond(w, back, repetition))
        return RIDGE_OK;
    again a = {.w = w,
               .forward = &program->blocks[back->forward_of],
               .forward_index = back->forward_of};
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(w->cx));
    a.is_wanted = ridge_new(ridge_ctx_scratch(w->cx), bool, (size_t)program->n_ops);
    if (a.is_wanted == NULL)
        return ridge_fail_nomem(w->cx);
    for (int i = back->first_op; i < back->first_op + back->n_ops; i++)
        want_operands(&a, i);
    const int first = a.forward->first_op, end = first + a.forward->n_ops;
    for (int i = end - 1; i >= first; i--) {
        if (a.is_wanted[i])
            want_operands(&a, i);
    }
    for (int i = first; i < end; i++) {
        if (a.is_wanted[i])
            ridge__unroll_emit(w, RIDGE__LIST_INPUTS, i,
                               a.forward->repeat - 1 - repetition, true);
    }
    ridge_arena_rewind(ridge_ctx_scratch(w->cx), mark);
    return RIDGE_OK;
}
