/*
 * The backward pass of a program: its blocks in reverse order with the same repeats,
 * operation by operation. A tensor that is read several times has several shares of its
 * gradient, added up where the tensor was made. In a repeated block the gradient of the
 * carried stream is carried back; what the block reads from outside gets its share from
 * each repetition, added up in a tensor that starts at zero.
 */
#include "backward.h"

#include "lower.h"

/* ---- what needs a gradient ------------------------------------------------------- */

static void mark_op(ridge__reverse *r, const ridge_operation *op)
{
    bool is_wanted = false;
    for (int i = 0; i < op->n_inputs; i++) {
        is_wanted = is_wanted || r->slopes[op->inputs[i]].is_wanted;
        r->slopes[op->inputs[i]].is_read = true;
    }
    const bool is_trained_apart =
        op->code == RIDGE_OPCODE_SCAN && op->scan == RIDGE_SCAN_SELECT;
    for (int i = 0; i < op->n_outputs; i++) {
        const ridge_tensor *out = &r->b->p.tensors[op->outputs[i]];
        if (is_trained_apart)
            r->slopes[op->outputs[i]].is_read = true;
        if (is_wanted && out->role == RIDGE_ROLE_ACTIVATION)
            r->slopes[op->outputs[i]].is_wanted = true;
    }
}

static void mark_block(ridge__reverse *r, const ridge_block *block)
{
    for (int i = 0; i < block->n_ops; i++)
        mark_op(r, &r->b->p.ops[block->first_op + i]);
}

static void mark(ridge__reverse *r)
{
    const ridge_program *p = &r->b->p;
    for (int i = 0; i < r->n_tensors; i++) {
        r->slopes[i].sum = -1;
        r->slopes[i].is_wanted = p->tensors[i].role == RIDGE_ROLE_WEIGHT;
    }
    for (int i = 0; i < r->n_blocks; i++) {
        const ridge_block *block = &p->blocks[i];
        mark_block(r, block);
        /* From the second repetition on, what comes in hangs on the block's weights. */
        if (block->repeat > 1 && block->carry_in >= 0 && block->carry_out >= 0 &&
            r->slopes[block->carry_out].is_wanted) {
            r->slopes[block->carry_in].is_wanted = true;
            mark_block(r, block);
        }
    }
    for (int i = 0; i < r->n_ops; i++) {
        if (p->ops[i].code == RIDGE_OPCODE_LOSS &&
            !r->slopes[p->ops[i].outputs[0]].is_read)
            r->has_loss = true;
    }
}

/* ---- walking back ---------------------------------------------------------------- */

/* What nothing reads is an output: without a loss its gradient comes from outside. */
static bool is_seed(const ridge__reverse *r, int tensor)
{
    const ridge__slope *slope = &r->slopes[tensor];
    return slope->is_wanted && !slope->is_read && !r->has_loss &&
           r->b->p.tensors[tensor].role == RIDGE_ROLE_ACTIVATION;
}

/* Sums of shares that were made outside of the blocks of their tensors stand in a block
 * of their own before a repeated one: what it carries in is one tensor. */
static int carried_gradient(ridge__reverse *r, const ridge_block *forward)
{
    const ridge__slope *slope = &r->slopes[forward->carry_out];
    if (slope->shares == NULL || slope->shares->next == NULL)
        return slope->shares != NULL ? slope->shares->gradient : -1;
    const ridge_block saved = r->block;
    r->block.name = ridge__builder_block_name(r->b, forward->name, "_join");
    r->block.repeat = 1;
    r->block.carry_in = r->block.carry_out = r->block.forward_of = -1;
    const int total = ridge__reverse_total(r, forward->carry_out);
    r->block = saved;
    r->is_open = false;
    return total;
}

/* A repeated block whose gradient does not flow through its stream. */
static void refuse_carry(ridge__reverse *r, const ridge_block *forward)
{
    if (forward->repeat == 1 || !r->is_open)
        return;
    ridge__builder_fail(r->b, ridge_fail(r->b->cx, RIDGE_E_ARG,
                                         "block '%.60s' repeats, and its output hangs "
                                         "on nothing that it carries in, or nothing on "
                                         "its output",
                                         forward->name));
}

/* The gradient of what comes in, made in this block, goes out of it. */
static void carry_back(ridge__reverse *r, const ridge_block *forward,
                       ridge__share *outer)
{
    const int x = forward->carry_in;
    int total = ridge__reverse_total(r, x);
    if (ridge__builder_is_bad(r->b))
        return;
    const int b = r->b->p.n_blocks - 1;
    if (total >= 0 && r->is_open && r->b->p.tensors[total].block != b) {
        const int copy = ridge__reverse_tensor(r, x);
        ridge_operation op = ridge__operation_new(RIDGE_OPCODE_ELEMENTWISE, NULL);
        op.is_backward = true;
        op.function = RIDGE_FUNCTION_COPY;
        op.n_inputs = op.n_outputs = 1;
        op.inputs[0] = total;
        op.outputs[0] = copy;
        if (ridge__builder_is_bad(r->b))
            return;
        op.name = ridge_tensor_base(&r->b->p.tensors[copy]);
        ridge__reverse_op(r, &op);
        total = copy;
    }
    r->slopes[x].shares = outer;
    if (total < 0 || r->block.carry_in < 0)
        refuse_carry(r, forward);
    if (total < 0)
        return;
    ridge__reverse_push(r, x, total);
    if (r->is_open && r->block.carry_in >= 0)
        r->b->p.blocks[b].carry_out = total;
}

/* Gradients of the block's own weights are whole here. */
static void total_weights(ridge__reverse *r, int block)
{
    for (int i = r->ranges[block].first; i < r->ranges[block].end; i++) {
        const ridge_tensor *t = &r->b->p.tensors[i];
        if (t->block == block && t->role == RIDGE_ROLE_WEIGHT)
            ridge__reverse_total(r, i);
    }
}

static bool is_fault(ridge__reverse *r, const ridge_block *forward)
{
    if (forward->repeat == 1 || (forward->carry_in >= 0 && forward->carry_out >= 0))
        return false;
    ridge__builder_fail(r->b,
                        ridge_fail(r->b->cx, RIDGE_E_ARG,
                                   "block '%.60s' repeats and carries nothing: it "
                                   "has no gradient",
                                   forward->name));
    return true;
}

static void reverse_block(ridge__reverse *r, int block)
{
    const ridge_block forward = r->b->p.blocks[block];
    if (is_fault(r, &forward) || ridge__builder_is_bad(r->b))
        return;
    r->forward_block = block;
    r->is_open = false;
    r->is_repeated = forward.repeat > 1;
    const bool has_carry =
        forward.carry_in >= 0 && ridge__reverse_wants(r, forward.carry_in);
    r->block = (ridge_block){
        .name = ridge__builder_block_name(r->b, forward.name, "_backward"),
        .repeat = forward.repeat,
        .carry_in = -1,
        .carry_out = -1,
        .layer = forward.layer,
        .is_backward = true,
        .forward_of = block};
    ridge__share *outer = NULL;
    if (has_carry) {
        const int dout = carried_gradient(r, &forward);
        r->block.carry_in = dout;
        outer = r->slopes[forward.carry_in].shares;
        r->slopes[forward.carry_in].shares = NULL;
    }
    for (int i = forward.n_ops - 1; i >= 0; i--)
        ridge__gradient(r, forward.first_op + i);
    total_weights(r, block);
    if (has_carry)
        carry_back(r, &forward, outer);
}

typedef bool sum_fn(ridge__reverse *r, int tensor);

static bool is_there(ridge__reverse *r, int tensor)
{
    return r->n_tensors > tensor;
}

static bool make_sum(ridge__reverse *r, int tensor)
{
    return ridge__reverse_sum(r, tensor) < 0;
}

static bool each_sum_of(ridge__reverse *r, const ridge_operation op, sum_fn *ends)
{
    for (int i = 0; i < op.n_inputs; i++) {
        if (ridge__reverse_wants(r, op.inputs[i]) &&
            ridge__reverse_is_outside(r, op.inputs[i]) && ends(r, op.inputs[i]))
            return true;
    }
    return false;
}

/* Call @p ends for what repeated blocks read from outside and needs a gradient.
 * @return whether it said true, and so ended the search */
static bool each_sum(ridge__reverse *r, sum_fn *ends)
{
    for (int i = 0; i < r->n_blocks; i++) {
        const ridge_block block = r->b->p.blocks[i];
        r->forward_block = i;
        r->is_repeated = block.repeat > 1;
        for (int k = 0; k < block.n_ops; k++) {
            if (each_sum_of(r, r->b->p.ops[block.first_op + k], ends))
                return true;
        }
    }
    return false;
}

/* Gradients from outside and sums over repetitions stand in a block before all others,
 * if there are any. */
static void open_first(ridge__reverse *r)
{
    bool is_needed = each_sum(r, is_there);
    for (int i = 0; i < r->n_tensors && !is_needed; i++)
        is_needed = is_seed(r, i);
    if (!is_needed)
        return;
    r->is_open = false;
    r->block = (ridge_block){.name = ridge__builder_block_name(r->b, "gradients", ""),
                             .repeat = 1,
                             .carry_in = -1,
                             .carry_out = -1,
                             .layer = -1,
                             .is_backward = true,
                             .forward_of = -1};
    r->shared_block = r->b->p.n_blocks;
    ridge__reverse_open(r);
    for (int i = 0; i < r->n_tensors; i++) {
        if (is_seed(r, i))
            ridge__reverse_push(r, i, ridge__reverse_tensor(r, i));
    }
    /* All at once: as they stand in the text, so that reading it numbers them alike. */
    each_sum(r, make_sum);
}

void ridge__backward(ridge__builder *b)
{
    if (ridge__builder_is_bad(b))
        return;
    ridge__reverse r = {.b = b,
                        .n_tensors = b->p.n_tensors,
                        .n_ops = b->p.n_ops,
                        .n_blocks = b->p.n_blocks,
                        .ranges = ridge__builder_ranges(b)};
    r.slopes = ridge_new(b->arena, ridge__slope, (size_t)r.n_tensors + 1);
    if (r.slopes == NULL || r.ranges == NULL) {
        ridge__builder_fail_nomem(b);
        return;
    }
    mark(&r);
    open_first(&r);
    for (int i = r.n_blocks - 1; i >= 0; i--)
        reverse_block(&r, i);
}

ridge_status ridge_program_backward(ridge_ctx *cx, const ridge_program *forward,
                                    const ridge_program **out)
{
    ridge__builder b;
    for (int i = 0; i < forward->n_blocks; i++) {
        if (forward->blocks[i].is_backward) {
            return ridge_fail(cx, RIDGE_E_ARG,
                              "the program has a backward block already: '%.60s'",
                              forward->blocks[i].name);
        }
    }
    if (forward->n_blocks == 0)
        return ridge_fail(cx, RIDGE_E_ARG, "a program without blocks has no gradient");
    ridge__builder_copy(&b, cx, forward);
    ridge__backward(&b);
    return ridge__builder_finish(&b, out);
}
