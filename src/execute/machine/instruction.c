/* Unrolling: which values there are, and the lists of instructions. */
#include "tensor_part.h"
#include "unroll_work.h"

#include <string.h>

/* ---- the program's own relations --------------------------------------------------
 */

/* ---- side values ------------------------------------------------------------------
 */

/* The loss whose state of a softmax a collective finishes; -1: none. */
static int loss_of(const ridge_partition *partition, const ridge_operation *op)
{
    int tensor = op->inputs[0];
    if (op->n_inputs == 0 || partition->shardings[tensor].partial == 0)
        return -1;
    for (;;) {
        const int maker = ridge__tensor_maker(partition->program, tensor);
        if (maker < 0)
            return -1;
        const ridge_operation *m = &partition->program->ops[maker];
        if (m->code == RIDGE_OPCODE_LOSS && !m->is_backward)
            return maker;
        if (m->code != RIDGE_OPCODE_COLLECTIVE)
            return -1;
        tensor = m->inputs[0];
    }
}

static bool has_side(const ridge_operation *op)
{
    return !op->is_backward &&
           (op->code == RIDGE_OPCODE_ATTENTION || op->code == RIDGE_OPCODE_LOSS ||
            op->code == RIDGE_OPCODE_DISPATCH || op->code == RIDGE_OPCODE_ROUTE);
}

static int rows_dispatch(const ridge_program *program, const ridge_operation *op)
{
    int dispatch = -1;
    for (int i = 0; i < op->n_inputs && dispatch < 0; i++)
        dispatch = ridge__tensor_dispatch(program, op->inputs[i]);
    for (int i = 0; i < op->n_outputs && dispatch < 0; i++)
        dispatch = ridge__tensor_dispatch(program, op->outputs[i]);
    return dispatch;
}

/* The operation whose side value this one makes or reads; -1: none. */
int ridge__side_op(const ridge_partition *partition, int index)
{
    const ridge_program *program = partition->program;
    const ridge_operation *op = &program->ops[index];
    if (has_side(op))
        return index;
    if (op->is_backward && op->forward_of >= 0 &&
        (op->code == RIDGE_OPCODE_ATTENTION || op->code == RIDGE_OPCODE_LOSS ||
         op->code == RIDGE_OPCODE_ROUTE))
        return op->forward_of;
    if (op->code == RIDGE_OPCODE_COLLECTIVE) {
        const int loss = loss_of(partition, op);
        if (loss >= 0)
            return loss;
    }
    return rows_dispatch(program, op);
}

/* ---- the value table --------------------------------------------------------------
 */

static ridge__value_kind kind_of(const ridge_partition *partition, int tensor)
{
    const ridge_tensor *t = &partition->program->tensors[tensor];
    const bool is_kept = t->role == RIDGE_ROLE_WEIGHT || t->role == RIDGE_ROLE_STATE ||
                         t->role == RIDGE_ROLE_CACHE;
    return is_kept && partition->copy_of[tensor] == tensor ? RIDGE__VALUE_FIXED
                                                           : RIDGE__VALUE_FLIGHT;
}

static int64_t count_values(const ridge_program *program, int index)
{
    if (index < program->n_tensors)
        return ridge__tensor_repeats(program, index);
    const int op = index - program->n_tensors;
    if (!has_side(&program->ops[op]))
        return 0;
    return program->blocks[ridge__op_block_of(program, op)].repeat;
}

static ridge_status number_values(unroll_work *w)
{
    enum { VALUES_MOST = 1 << 24 };
    const ridge_program *program = w->u.partition->program;
    ridge_arena *arena = ridge_ctx_arena(w->cx);
    const int n = program->n_tensors + program->n_ops;
    int64_t total = 0;
    w->u.first_value = ridge_new(arena, int, (size_t)n);
    if (w->u.first_value == NULL)
        return ridge_fail_nomem(w->cx);
    for (int i = 0; i < n; i++) {
        w->u.first_value[i] = (int)total;
        total += count_values(program, i);
        if (total > VALUES_MOST)
            return ridge_fail(w->cx, RIDGE_E_ARG,
                              "%s has more than %d values: too many layers to run",
                              program->name, VALUES_MOST);
    }
    w->u.n_values = (int)total;
    w->u.tensor_of = ridge_new(arena, int, (size_t)total);
    w->u.repetition_of = ridge_new(arena, int, (size_t)total);
    w->u.kind = ridge_new(arena, ridge__value_kind, (size_t)total);
    if (!w->u.tensor_of || !w->u.repetition_of || !w->u.kind)
        return ridge_fail_nomem(w->cx);
    for (int i = 0; i < n; i++) {
        const int64_t count = count_values(program, i);
        for (int64_t r = 0; r < count; r++) {
            const int v = w->u.first_value[i] + (int)r;
            w->u.tensor_of[v] = i < program->n_tensors ? i : program->n_tensors - 1 - i;
            w->u.repetition_of[v] = (int)r;
            w->u.kind[v] = i < program->n_tensors ? kind_of(w->u.partition, i)
                                                  : RIDGE__VALUE_FLIGHT;
        }
    }
    return RIDGE_OK;
}

/* ---- which list an operation goes into ------------------------------------------- */

/* A gradient's collectives, back to what a microbatch makes: that is summed. */
static void follow_gradient(unroll_work *w, int tensor)
{
    const ridge_program *program = w->u.partition->program;
    while (w->how.is_reduced_once) {
        const int maker = ridge__tensor_maker(program, tensor);
        const ridge_operation *op = maker >= 0 ? &program->ops[maker] : NULL;
        const bool is_move = op && (op->code == RIDGE_OPCODE_COLLECTIVE ||
                                    (op->code == RIDGE_OPCODE_ELEMENTWISE &&
                                     op->function == RIDGE_FUNCTION_COPY));
        if (!is_move)
            break;
        w->list_of[maker] = RIDGE__LIST_REDUCE;
        tensor = op->inputs[0];
    }
    const int64_t n = ridge__tensor_repeats(program, tensor);
    for (int64_t r = 0; r < n; r++)
        w->u.kind[w->u.first_value[tensor] + (int)r] = RIDGE__VALUE_GRADIENT;
}

static bool is_read(const ridge_program *program, int tensor)
{
    for (int i = 0; i < program->n_ops; i++) {
        for (int k = 0; k < program->ops[i].n_inputs; k++) {
            if (program->ops[i].inputs[k] == tensor)
                return true;
        }
    }
    return false;
}

/* A weight's gradient that this program makes for another one to use: that of an
 * embedding which the first stage of a pipeline updates. */
static bool is_handed_on(const ridge_partition *partition, int tensor)
{
    const ridge_program *program = partition->program;
    const ridge_tensor *t = &program->tensors[tensor];
    return t->role == RIDGE_ROLE_GRADIENT && t->gradient_of >= 0 &&
           program->tensors[t->gradient_of].role == RIDGE_ROLE_WEIGHT &&
           partition->copy_of[tensor] == tensor &&
           ridge__tensor_maker(program, tensor) >= 0 && !is_read(program, tensor);
}

static bool is_backward_op(const ridge_program *program, int op)
{
    return program->blocks[ridge__op_block_of(program, op)].is_backward;
}

/* Everything that the stream's gradient hangs on stays in the list of inputs. */
static void mark_stream(unroll_work *w, bool *is_wanted)
{
    const ridge_program *program = w->u.partition->program;
    for (int i = program->n_ops - 1; i >= 0; i--) {
        const ridge_operation *op = &program->ops[i];
        if (!is_backward_op(program, i))
            continue;
        const ridge_block *block = &program->blocks[ridge__op_block_of(program, i)];
        bool is_needed = op->code == RIDGE_OPCODE_SEND;
        for (int o = 0; o < op->n_outputs; o++)
            is_needed = is_needed || op->outputs[o] == block->carry_out ||
                        is_wanted[op->outputs[o]];
        for (int k = 0; is_needed && k < op->n_inputs; k++)
            is_wanted[op->inputs[k]] = true;
        if (!is_needed && w->list_of[i] == RIDGE__LIST_INPUTS)
            w->list_of[i] = RIDGE__LIST_WEIGHTS;
    }
}

static ridge_status choose_lists(unroll_work *w)
{
    const ridge_program *program = w->u.partition->program;
    ridge_arena *scratch = ridge_ctx_scratch(w->cx);
    bool *is_wanted = ridge_new(scratch, bool, (size_t)program->n_tensors);
    w->list_of = ridge_new(scratch, ridge__list_kind, (size_t)program->n_ops);
    w->is_update_block = ridge_new(scratch, bool, (size_t)program->n_blocks);
    if (!is_wanted || !w->list_of || !w->is_update_block)
        return ridge_fail_nomem(w->cx);
    for (int i = 0; i < program->n_ops; i++) {
        if (program->ops[i].code == RIDGE_OPCODE_UPDATE)
            w->is_update_block[ridge__op_block_of(program, i)] = true;
    }
    for (int i = 0; i < program->n_ops; i++) {
        const int b = ridge__op_block_of(program, i);
        w->list_of[i] = w->is_update_block[b]            ? RIDGE__LIST_UPDATE
                        : program->blocks[b].is_backward ? RIDGE__LIST_INPUTS
                                                         : RIDGE__LIST_FORWARD;
    }
    for (int i = 0; i < program->n_ops; i++) {
        if (program->ops[i].code == RIDGE_OPCODE_UPDATE)
            follow_gradient(w, program->ops[i].inputs[1]);
    }
    for (int t = 0; t < program->n_tensors; t++) {
        if (is_handed_on(w->u.partition, t))
            follow_gradient(w, t);
    }
    if (w->how.has_weight_list)
        mark_stream(w, is_wanted);
    return RIDGE_OK;
}

/* ---- instructions -----------------------------------------------------------------
 */

static ridge_status emit_block(unroll_work *w, int index, int64_t repetition)
{
    const ridge_program *program = w->u.partition->program;
    const ridge_block *block = &program->blocks[index];
    if (block->is_backward)
        RIDGE_TRY(ridge__unroll_again(w, index, repetition));
    for (int i = block->first_op; i < block->first_op + block->n_ops; i++) {
        if (program->ops[i].n_outputs > 0 || program->ops[i].n_inputs > 0)
            ridge__unroll_emit(w, w->list_of[i], i, repetition, false);
    }
    return RIDGE_OK;
}

/* All instructions; once to count them, once to write them. */
static ridge_status emit_all(unroll_work *w)
{
    const ridge_program *program = w->u.partition->program;
    for (int b = 0; b < program->n_blocks; b++) {
        for (int64_t r = 0; r < program->blocks[b].repeat; r++)
            RIDGE_TRY(emit_block(w, b, r));
    }
    return RIDGE_OK;
}

static ridge_status make_lists(unroll_work *w)
{
    RIDGE_TRY(emit_all(w));
    for (int i = 0; i < RIDGE__LIST_COUNT; i++) {
        ridge__list *list = &w->u.lists[i];
        const size_t n = (size_t)list->n;
        const size_t operands = RIDGE_OP_INPUT_MAX + RIDGE_OP_OUTPUT_MAX + 1;
        list->at = ridge_new(ridge_ctx_arena(w->cx), ridge__instruction, n + 1);
        list->frees = ridge_new(ridge_ctx_arena(w->cx), int, n *operands + 1);
        if (!list->at || !list->frees)
            return ridge_fail_nomem(w->cx);
        list->n = 0;
    }
    return emit_all(w);
}

static ridge_status find_sides(unroll_work *w)
{
    const ridge_program *program = w->u.partition->program;
    w->side_op = ridge_new(ridge_ctx_scratch(w->cx), int, (size_t)program->n_ops + 1);
    if (w->side_op == NULL)
        return ridge_fail_nomem(w->cx);
    for (int i = 0; i < program->n_ops; i++)
        w->side_op[i] = ridge__side_op(w->u.partition, i);
    return RIDGE_OK;
}

ridge_status ridge__unroll(ridge_ctx *cx, const ridge_partition *partition,
                           const ridge__unrolling *how, ridge__unrolled *out)
{
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(cx));
    unroll_work w = {.cx = cx, .how = *how, .u = {.partition = partition}};
    ridge_status st = number_values(&w);
    st = st == RIDGE_OK ? find_sides(&w) : st;
    st = st == RIDGE_OK ? choose_lists(&w) : st;
    st = st == RIDGE_OK ? make_lists(&w) : st;
    st = st == RIDGE_OK ? ridge__unroll_frees(&w) : st;
    ridge_arena_rewind(ridge_ctx_scratch(cx), mark);
    if (st == RIDGE_OK)
        *out = w.u;
    return st;
}
