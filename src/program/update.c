/*
 * The optimizer: a step for each weight that has a gradient, in a block that goes along
 * with the weight's. Adam's two moments in fp32 unless another rule is asked for, and a
 * master copy in fp32 where weights are narrower.
 * @source kingma2015 (Adam), micikevicius2018 (master weights)
 */
#include "lower.h"

int ridge_update_moments(ridge_update update)
{
    switch (update) {
    case RIDGE_UPDATE_ADAM:
    case RIDGE_UPDATE_ADAM_BF16:
        return 2;
    case RIDGE_UPDATE_MOMENTUM:
        return 1;
    case RIDGE_UPDATE_SGD:
        break;
    }
    return 0;
}

/* "layer.wq" -> "layer.m_wq" */
static const char *state_name(ridge__builder *b, const ridge_tensor *weight,
                              const char *letter)
{
    const char *base = ridge_tensor_base(weight);
    const char *name = ridge_sprintf(b->arena, "%.*s%s_%s", (int)(base - weight->name),
                                     weight->name, letter, base);
    if (name == NULL) {
        ridge__builder_fail_nomem(b);
        return "";
    }
    return ridge__builder_name(b, name);
}

static void add_state(ridge__builder *b, ridge_operation *op, const char *letter,
                      ridge_dtype dtype)
{
    ridge_tensor state = b->p.tensors[op->inputs[0]];
    state.name = state_name(b, &b->p.tensors[op->inputs[0]], letter);
    state.role = RIDGE_ROLE_STATE;
    state.dtype = dtype;
    state.gradient_of = -1;
    const int t = ridge__builder_tensor(b, &state);
    op->inputs[op->n_inputs++] = t;
    op->outputs[op->n_outputs++] = t;
}

static void add_step(ridge__builder *b, ridge_update update, int weight, int gradient,
                     ridge_part part)
{
    const int moments = ridge_update_moments(update);
    const ridge_dtype moment =
        update == RIDGE_UPDATE_ADAM_BF16 ? RIDGE_DTYPE_BF16 : RIDGE_DTYPE_FP32;
    const ridge_tensor *w = &b->p.tensors[weight];
    ridge_operation op =
        ridge__operation_new(RIDGE_OPCODE_UPDATE, ridge_tensor_base(w));
    const bool is_narrow =
        ridge_dtype_bytes(w->dtype) < ridge_dtype_bytes(RIDGE_DTYPE_FP32);
    op.part = part;
    op.n_inputs = 2;
    op.inputs[0] = weight;
    op.inputs[1] = gradient;
    op.n_outputs = 1;
    op.outputs[0] = weight;
    if (is_narrow)
        add_state(b, &op, "master", RIDGE_DTYPE_FP32);
    if (moments > 0)
        add_state(b, &op, "m", moment);
    if (moments > 1)
        add_state(b, &op, "v", moment);
    ridge__builder_op(b, &op);
}

/* By forward tensor: its whole gradient, or -1; and the part of the first operation
 * that reads it. */
typedef struct weight_facts {
    int gradient;
    bool is_met;
    ridge_part part;
} weight_facts;

static weight_facts *list_facts(ridge__builder *b)
{
    const int n = b->p.n_tensors;
    weight_facts *facts = ridge_new(b->arena, weight_facts, (size_t)n + 1);
    bool *is_share = ridge_new(b->arena, bool, (size_t)n + 1);
    if (facts == NULL || is_share == NULL) {
        ridge__builder_fail_nomem(b);
        return NULL;
    }
    for (int i = 0; i < n; i++)
        facts[i] = (weight_facts){.gradient = -1, .part = RIDGE_PART_NORM};
    for (int i = 0; i < b->p.n_ops; i++) {
        const ridge_operation *op = &b->p.ops[i];
        for (int k = 0; k < op->n_inputs; k++) {
            weight_facts *f = &facts[op->inputs[k]];
            is_share[op->inputs[k]] = is_share[op->inputs[k]] || op->is_added;
            if (!f->is_met)
                f->part = op->part;
            f->is_met = true;
        }
    }
    for (int i = 0; i < n; i++) {
        if (b->p.tensors[i].gradient_of >= 0 && !is_share[i])
            facts[b->p.tensors[i].gradient_of].gradient = i;
    }
    return facts;
}

static bool is_updated(const ridge__builder *b, const weight_facts *facts, int tensor,
                       int block)
{
    const ridge_tensor *t = &b->p.tensors[tensor];
    return t->block == block && t->role == RIDGE_ROLE_WEIGHT &&
           facts[tensor].gradient >= 0;
}

static void update_block(ridge__builder *b, ridge_update rule,
                         const weight_facts *facts, ridge__range tensors, int block)
{
    const ridge_block forward = b->p.blocks[block];
    bool is_open = false;
    for (int i = tensors.first; i < tensors.end; i++) {
        if (!is_updated(b, facts, i, block))
            continue;
        if (!is_open) {
            const ridge_block update = {
                .name = ridge__builder_block_name(b, forward.name, "_update"),
                .repeat = forward.repeat,
                .carry_in = -1,
                .carry_out = -1,
                .layer = forward.layer,
                .forward_of = block};
            ridge__builder_block(b, &update);
            is_open = true;
        }
        add_step(b, rule, i, facts[i].gradient, facts[i].part);
        if (ridge__builder_is_bad(b))
            return;
    }
}

void ridge__update(ridge__builder *b, ridge_update rule)
{
    const int n_blocks = b->p.n_blocks;
    if (ridge__builder_is_bad(b))
        return;
    const weight_facts *facts = list_facts(b);
    const ridge__range *ranges = ridge__builder_ranges(b);
    for (int i = 0; i < n_blocks && facts != NULL && ranges != NULL; i++) {
        if (!b->p.blocks[i].is_backward)
            update_block(b, rule, facts, ranges[i], i);
    }
}
