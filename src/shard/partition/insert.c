/*
 * Collectives put in: before an operation, what brings its operands to where it needs
 * them, each gathered copy made once in a block; behind it, what brings results to
 * where the rules want them.
 */
#include "cutting.h"

#include <string.h>

/* ---- room ----------------------------------------------------------------------- */

static void *grown(ridge_arena *arena, const void *old, int n, int cap, size_t size)
{
    char *p = ridge_arena_new(arena, (size_t)cap, size);
    if (p && n > 0)
        memcpy(p, old, (size_t)n * size);
    return p;
}

static ridge_status room_for_op(ridge__partitioner *p)
{
    if (p->n_ops < p->cap_ops)
        return RIDGE_OK;
    p->cap_ops = p->cap_ops < 32 ? 64 : 2 * p->cap_ops;
    p->ops = grown(p->arena, p->ops, p->n_ops, p->cap_ops, sizeof *p->ops);
    return p->ops ? RIDGE_OK : ridge_fail_nomem(p->cx);
}

static ridge_status room_for_tensor(ridge__partitioner *p)
{
    if (p->n_tensors < p->cap_tensors)
        return RIDGE_OK;
    const int n = p->n_tensors, cap = n < 32 ? 64 : 2 * n;
    ridge_arena *scratch = ridge_ctx_scratch(p->cx);
    p->cap_tensors = cap;
    p->tensors = grown(p->arena, p->tensors, n, cap, sizeof *p->tensors);
    p->copy_of = grown(p->arena, p->copy_of, n, cap, sizeof *p->copy_of);
    p->layouts = grown(scratch, p->layouts, n, cap, sizeof *p->layouts);
    p->next_copy = grown(scratch, p->next_copy, n, cap, sizeof *p->next_copy);
    p->copy_block = grown(scratch, p->copy_block, n, cap, sizeof *p->copy_block);
    if (!p->tensors || !p->copy_of || !p->layouts || !p->next_copy || !p->copy_block)
        return ridge_fail_nomem(p->cx);
    return RIDGE_OK;
}

/* "copy_12.h", so that the tensor's base name stays "h". */
static const char *copy_name(ridge_arena *arena, const char *name, int number)
{
    static const char HEAD[] = "copy_";
    char digits[12];
    size_t n = 0, at = sizeof HEAD - 1;
    for (int rest = number; rest > 0; rest /= 10)
        digits[n++] = (char)('0' + rest % 10);
    const size_t length = strlen(name);
    char *text = ridge_new(arena, char, at + n + 1 + length + 1);
    if (!text)
        return NULL;
    memcpy(text, HEAD, at);
    while (n > 0)
        text[at++] = digits[--n];
    text[at++] = '.';
    memcpy(text + at, name, length);
    return text;
}

static const char *joined_name(ridge_arena *arena, const char *head, const char *name)
{
    const size_t a = strlen(head), b = strlen(name);
    char *text = ridge_new(arena, char, a + b + 1);
    if (!text)
        return NULL;
    memcpy(text, head, a);
    for (size_t i = 0; i < b; i++)
        text[a + i] = name[i] == '.' ? '_' : name[i];
    return text;
}

/* ---- copies --------------------------------------------------------------------- */

void ridge__copies_drop(ridge__partitioner *p, int tensor)
{
    p->copy_block[tensor] = -1;
}

/* A further tensor with the values of one of the program given. */
static ridge_status copy_add(ridge__partitioner *p, int tensor,
                             const ridge__layout *layout, int *out)
{
    RIDGE_TRY(room_for_tensor(p));
    const int c = p->n_tensors++;
    p->tensors[c] = p->in->tensors[tensor];
    p->tensors[c].name =
        copy_name(p->arena, p->tensors[tensor].name, ++p->copies[tensor]);
    if (!p->tensors[c].name)
        return ridge_fail_nomem(p->cx);
    p->tensors[c].block = p->block;
    p->layouts[c] = *layout;
    p->copy_of[c] = tensor;
    p->copy_block[c] = -1;
    *out = c;
    return RIDGE_OK;
}

/* Make a copy known to later readers in this block. */
static void copy_publish(ridge__partitioner *p, int tensor, int copy)
{
    p->next_copy[copy] = p->copy_block[tensor] == p->block ? p->next_copy[tensor] : -1;
    p->next_copy[tensor] = copy;
    p->copy_block[tensor] = p->block;
}

/* ---- collectives ---------------------------------------------------------------- */

static const char *const STEP_HEADS[] = {
    [RIDGE_STEP_ALL_GATHER] = "all_gather_",
    [RIDGE_STEP_REDUCE_SCATTER] = "reduce_scatter_",
    [RIDGE_STEP_ALL_REDUCE] = "all_reduce_",
    [RIDGE_STEP_ALL_TO_ALL] = "all_to_all_",
    [RIDGE_STEP_SLICE] = "slice_",
};

static int dim_at(const ridge__partitioner *p, int tensor, int position)
{
    return position < 0 ? -1 : p->tensors[tensor].dims[position];
}

/* A slice moves nothing: it is a copy of which each rank keeps its part. */
static ridge_status emit_step(ridge__partitioner *p, const ridge__step *step, int from,
                              int to)
{
    RIDGE_TRY(room_for_op(p));
    ridge_operation *op = &p->ops[p->n_ops++];
    *op = (ridge_operation){.code = RIDGE_OPCODE_COLLECTIVE,
                            .part = p->about->part,
                            .is_backward = p->about->is_backward,
                            .forward_of = -1,
                            .n_inputs = 1,
                            .n_outputs = 1,
                            .inputs = {from},
                            .outputs = {to},
                            .collective = (int)step->kind,
                            .dim_from = dim_at(p, from, step->from),
                            .dim_to = dim_at(p, from, step->to)};
    for (ridge__cut cut = step->axes; cut != 0; cut >>= 4)
        op->axes[op->n_axes++] = (int)(cut & 15u) - 1;
    if (step->kind == RIDGE_STEP_SLICE) {
        op->code = RIDGE_OPCODE_ELEMENTWISE;
        op->function = RIDGE_FUNCTION_COPY;
        op->collective = 0;
    }
    op->name = joined_name(p->arena, STEP_HEADS[step->kind], p->tensors[to].name);
    return op->name ? RIDGE_OK : ridge_fail_nomem(p->cx);
}

/* The input in the layout needed: a copy that is there, or steps to a new one. */
static ridge_status fetch(ridge__partitioner *p, int tensor, const ridge__layout *want,
                          int *out)
{
    ridge__step steps[RIDGE__STEP_MAX];
    int n = 0, at = 0;
    ridge__copy_find(p, tensor, want, &at, steps, &n);
    for (int i = 0; i < n; i++) {
        int copy = 0;
        RIDGE_TRY(copy_add(p, tensor, &steps[i].after, &copy));
        RIDGE_TRY(emit_step(p, &steps[i], at, copy));
        copy_publish(p, tensor, copy);
        at = copy;
    }
    *out = at;
    return RIDGE_OK;
}

/* ---- results -------------------------------------------------------------------- */

/* How a tensor was made, but for sums that were scattered: its gradient goes there. */
static ridge__layout home_layout(const ridge__layout *natural,
                                 const ridge__layout *final)
{
    ridge__layout home = *natural;
    const unsigned cut = ridge__layout_cut_mask(natural);
    home.partial = 0;
    for (int i = 0; i < RIDGE_TENSOR_DIM_MAX; i++) {
        for (ridge__cut c = ridge__cut_without(final->dims[i], cut); c != 0; c >>= 4)
            home.dims[i] = ridge__cut_append(home.dims[i], (int)(c & 15u) - 1);
    }
    return home;
}

/* The two all-reduces that finish a softmax along a cut dim: of the largest logits,
 * then of the sums relative to them. Both are of the size of the result. */
static ridge_status finish_softmax(ridge__partitioner *p, unsigned axes, int tensor,
                                   bool is_last, int *at)
{
    ridge__step step = {.kind = RIDGE_STEP_ALL_REDUCE, .from = -1, .to = -1};
    for (int a = 0; a < p->mesh.n; a++) {
        if ((axes >> a) & 1u)
            step.axes = ridge__cut_append(step.axes, a);
    }
    for (int i = 0; i < 2; i++) {
        ridge__layout layout = p->layouts[*at];
        int copy = tensor;
        if (i == 1)
            layout.partial &= ~axes;
        if (i == 0 || !is_last)
            RIDGE_TRY(copy_add(p, tensor, &layout, &copy));
        RIDGE_TRY(emit_step(p, &step, *at, copy));
        *at = copy;
    }
    return RIDGE_OK;
}

/* The last step writes the tensor itself, and adds to it where the operation did; what
 * comes before are copies. */
static ridge_status finish_output(ridge__partitioner *p, int tensor, int at,
                                  const ridge__layout *final, ridge__step *steps, int n)
{
    for (int i = 0; i < n; i++) {
        int next = tensor;
        if (i + 1 < n)
            RIDGE_TRY(copy_add(p, tensor, &steps[i].after, &next));
        RIDGE_TRY(emit_step(p, &steps[i], at, next));
        at = next;
    }
    p->ops[p->n_ops - 1].is_added = p->about->is_added;
    p->layouts[tensor] = *final;
    return RIDGE_OK;
}

/* Whether an output of the operation has to be brought elsewhere. */
static bool is_moved(const ridge__partitioner *p, const ridge__op_rule *rule,
                     const ridge__cutting *cutting)
{
    for (int o = rule->n_inputs; o < rule->n_inputs + rule->n_outputs; o++) {
        const ridge__layout final =
            ridge__output_layout(p, rule->tensor[o], &cutting->operands[o]);
        if (!ridge__layout_equal(&final, &cutting->operands[o]))
            return true;
    }
    return false;
}

/* An output of the operation at @p op, and the collectives behind it. */
static ridge_status put_output(ridge__partitioner *p, int op, int output,
                               const ridge__layout *natural, unsigned softmax)
{
    ridge__step steps[RIDGE__STEP_MAX];
    const int tensor = p->about->outputs[output];
    const ridge__layout final = ridge__output_layout(p, tensor, natural);
    const ridge__box box = ridge__partitioner_box(p, tensor);
    int n = ridge__layout_steps(&box, natural, &final, steps);
    int at = tensor;
    ridge__copies_drop(p, tensor);
    p->home[tensor] = p->wish[tensor].is_stream ? final : home_layout(natural, &final);
    if (n == 0 && p->about->is_added && !p->ops[op].is_added)
        steps[n++] = (ridge__step){
            .kind = RIDGE_STEP_SLICE, .from = -1, .to = -1, .after = final};
    if (n == 0 && softmax == 0) {
        p->layouts[tensor] = final;
        p->ops[op].outputs[output] = tensor;
        return RIDGE_OK;
    }
    ridge__layout first = *natural;
    first.partial |= softmax;
    RIDGE_TRY(copy_add(p, tensor, &first, &at));
    p->ops[op].outputs[output] = at;
    if (softmax != 0)
        RIDGE_TRY(finish_softmax(p, softmax, tensor, n == 0, &at));
    else
        copy_publish(p, tensor, at);
    return finish_output(p, tensor, at, &final, steps, n);
}

ridge_status ridge__insert(ridge__partitioner *p, const ridge__op_rule *rule,
                           const ridge__cutting *cutting)
{
    int inputs[RIDGE_OP_INPUT_MAX];
    for (int i = 0; i < rule->n_inputs; i++)
        RIDGE_TRY(fetch(p, rule->tensor[i], &cutting->operands[i], &inputs[i]));
    RIDGE_TRY(room_for_op(p));
    const int op = p->n_ops++;
    const int old = (int)(p->about - p->in->ops);
    p->ops[op] = *p->about;
    memcpy(p->ops[op].inputs, inputs, (size_t)rule->n_inputs * sizeof inputs[0]);
    if (p->about->forward_of >= 0)
        p->ops[op].forward_of = p->op_now[p->about->forward_of];
    p->ops[op].is_added = p->about->is_added && !is_moved(p, rule, cutting);
    p->op_now[old] = op;
    for (int a = 0; a < RIDGE_MESH_AXIS_MAX; a++) {
        const int index = a < p->mesh.n ? cutting->index[a] : -1;
        p->op_cut[old][a] = (short)(index < 0 ? -1 : rule->dim[index]);
    }
    for (int i = 0; i < rule->n_outputs; i++)
        RIDGE_TRY(put_output(p, op, i, &cutting->operands[rule->n_inputs + i],
                             cutting->softmax));
    return RIDGE_OK;
}
