/* The reverse of a program while it is made: its operations, its tensors, and the sum
 * of what each tensor's readers give to its gradient. */
#include "backward.h"

#include "lower.h"

void ridge__reverse_open(ridge__reverse *r)
{
    if (r->is_open)
        return;
    r->is_open = true;
    ridge__builder_block(r->b, &r->block);
}

int ridge__reverse_op(ridge__reverse *r, ridge_operation *op)
{
    if (ridge__builder_is_bad(r->b))
        return -1;
    ridge__reverse_open(r);
    return ridge__builder_op(r->b, op);
}

bool ridge__reverse_wants(const ridge__reverse *r, int tensor)
{
    return tensor < r->n_tensors && r->slopes[tensor].is_wanted;
}

/* "layer.q" -> "layer.d_q" */
static const char *gradient_name(ridge__reverse *r, int of)
{
    const ridge_tensor *t = &r->b->p.tensors[of];
    const char *base = ridge_tensor_base(t);
    const char *name =
        ridge_sprintf(r->b->arena, "%.*sd_%s", (int)(base - t->name), t->name, base);
    if (name == NULL) {
        ridge__builder_fail_nomem(r->b);
        return "";
    }
    return ridge__builder_name(r->b, name);
}

int ridge__reverse_tensor(ridge__reverse *r, int of)
{
    if (ridge__builder_is_bad(r->b))
        return -1;
    ridge__reverse_open(r);
    ridge_tensor t = r->b->p.tensors[of];
    t.name = gradient_name(r, of);
    t.role = RIDGE_ROLE_GRADIENT;
    t.gradient_of = of;
    return ridge__builder_tensor(r->b, &t);
}

void ridge__reverse_push(ridge__reverse *r, int of, int gradient)
{
    ridge__share *share = ridge_new(r->b->arena, ridge__share, 1);
    if (share == NULL) {
        ridge__builder_fail_nomem(r->b);
        return;
    }
    *share = (ridge__share){gradient, r->slopes[of].shares};
    r->slopes[of].shares = share;
}

/* Whether a repeated block reads a tensor that is the same in each repetition. */
bool ridge__reverse_is_outside(const ridge__reverse *r, int tensor)
{
    return r->is_repeated && r->b->p.tensors[tensor].block != r->forward_block &&
           tensor != r->b->p.blocks[r->forward_block].carry_in;
}

int ridge__reverse_sum(ridge__reverse *r, int of)
{
    ridge__slope *slope = &r->slopes[of];
    if (slope->sum >= 0)
        return slope->sum;
    slope->sum = ridge__reverse_tensor(r, of);
    if (slope->sum >= 0) {
        r->b->p.tensors[slope->sum].block = r->shared_block;
        ridge__reverse_push(r, of, slope->sum);
    }
    return slope->sum;
}

/* Add a share of one repetition to the sum. */
static void add_to_sum(ridge__reverse *r, int of, int gradient)
{
    const int sum = ridge__reverse_sum(r, of);
    if (ridge__builder_is_bad(r->b))
        return;
    ridge_operation *last = r->b->p.n_ops > 0 ? &r->b->p.ops[r->b->p.n_ops - 1] : NULL;
    ridge_operation op = ridge__operation_new(
        RIDGE_OPCODE_ELEMENTWISE,
        ridge_sprintf(r->b->arena, "%s_sum",
                      ridge_tensor_base(&r->b->p.tensors[gradient])));
    if (op.name == NULL) {
        ridge__builder_fail_nomem(r->b);
        return;
    }
    if (last != NULL)
        op.forward_of = last->forward_of;
    op.function = RIDGE_FUNCTION_COPY;
    op.is_backward = op.is_added = true;
    op.n_inputs = op.n_outputs = 1;
    op.inputs[0] = gradient;
    op.outputs[0] = sum;
    ridge__reverse_op(r, &op);
}

void ridge__reverse_share(ridge__reverse *r, int of, int gradient)
{
    if (ridge__builder_is_bad(r->b) || gradient < 0)
        return;
    const ridge_tensor *t = &r->b->p.tensors[of];
    const ridge_block *home = &r->b->p.blocks[t->block];
    if (t->block != r->forward_block && home->repeat > 1 && of != home->carry_out) {
        ridge__builder_fail(r->b, ridge_fail(r->b->cx, RIDGE_E_ARG,
                                             "'%.60s' is read from outside of the "
                                             "repeated block that makes it: it has no "
                                             "gradient",
                                             t->name));
    } else if (ridge__reverse_is_outside(r, of)) {
        add_to_sum(r, of, gradient);
    } else {
        ridge__reverse_push(r, of, gradient);
    }
}

/* a + b, as a gradient of @p of. */
static int add(ridge__reverse *r, int of, int a, int b)
{
    ridge_operation op = ridge__operation_new(RIDGE_OPCODE_ELEMENTWISE, NULL);
    op.function = RIDGE_FUNCTION_ADD;
    op.is_backward = true;
    op.n_inputs = 2;
    op.inputs[0] = a;
    op.inputs[1] = b;
    op.n_outputs = 1;
    op.outputs[0] = ridge__reverse_tensor(r, of);
    if (ridge__builder_is_bad(r->b))
        return -1;
    op.name = ridge_tensor_base(&r->b->p.tensors[op.outputs[0]]);
    ridge__reverse_op(r, &op);
    return op.outputs[0];
}

int ridge__reverse_total(ridge__reverse *r, int of)
{
    if (of >= r->n_tensors || r->slopes[of].shares == NULL)
        return -1;
    ridge__slope *slope = &r->slopes[of];
    /* Earliest first, so that sums stand in the order in which shares were made. */
    ridge__share *ordered = NULL;
    while (slope->shares != NULL) {
        ridge__share *next = slope->shares->next;
        slope->shares->next = ordered;
        ordered = slope->shares;
        slope->shares = next;
    }
    int total = ordered->gradient;
    for (ridge__share *s = ordered->next; s != NULL && total >= 0; s = s->next)
        total = add(r, of, total, s->gradient);
    ordered->gradient = total;
    ordered->next = NULL;
    slope->shares = ordered;
    return total;
}
