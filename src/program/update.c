/*
 * The optimizer: a step for each weight that has a gradient, in a block that goes along
 * with the weight's. Adam's two moments in fp32 unless another rule is asked for, and a
 * master copy in fp32 where weights are narrower.
 * @source kingma2015 (Adam), micikevicius2018 (master weights), dettmers2022 (8 bits),
 * jordan2024-muon (which weights are not Muon's), shazeer2018 (rows and columns)
 */
#include "lower.h"

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

/* By forward tensor: its whole gradient, or -1; the part of the first operation that
 * reads it, and as what matrices a layer's einsum does. */
typedef struct weight_facts {
    int gradient;
    bool is_met, is_matrix;
    ridge_part part;
    ridge_weight_matrix matrix;
} weight_facts;

/* A state like the weight, but for its dims first .. end being left out. */
typedef struct state_kind {
    const char *letter;
    ridge_dtype dtype;
    int first, end;
} state_kind;

static void add_state(ridge__builder *b, ridge_operation *op, const state_kind *kind)
{
    ridge_tensor state = b->p.tensors[op->inputs[0]];
    state.name = state_name(b, &b->p.tensors[op->inputs[0]], kind->letter);
    state.role = RIDGE_ROLE_STATE;
    state.dtype = kind->dtype;
    state.gradient_of = -1;
    const int left_out = kind->end - kind->first;
    for (int i = kind->first; i + left_out < state.n_dims; i++)
        state.dims[i] = state.dims[i + left_out];
    state.n_dims -= left_out;
    const int t = ridge__builder_tensor(b, &state);
    op->inputs[op->n_inputs++] = t;
    op->outputs[op->n_outputs++] = t;
}

static void add_whole(ridge__builder *b, ridge_operation *op, const char *letter,
                      ridge_dtype dtype)
{
    const state_kind kind = {letter, dtype, 0, 0};
    add_state(b, op, &kind);
}

static void add_both(ridge__builder *b, ridge_operation *op, ridge_dtype dtype)
{
    add_whole(b, op, "m", dtype);
    add_whole(b, op, "v", dtype);
}

/* Mean squares of rows and of columns; of what is no matrix, of each element. */
static void add_factors(ridge__builder *b, ridge_operation *op, const weight_facts *w)
{
    const int n_dims = b->p.tensors[op->inputs[0]].n_dims;
    const int rows_end = w->matrix.n_batch + w->matrix.n_rows;
    const state_kind rows = {"vr", RIDGE_DTYPE_FP32, rows_end, n_dims};
    const state_kind columns = {"vc", RIDGE_DTYPE_FP32, w->matrix.n_batch, rows_end};
    op->rule = RIDGE_UPDATE_RULE_ADAFACTOR;
    if (!w->is_matrix) {
        add_whole(b, op, "v", RIDGE_DTYPE_FP32);
        return;
    }
    add_state(b, op, &rows);
    add_state(b, op, &columns);
}

/* Small weights are not worth their scales. @source dettmers2022 section 2 */
static bool is_small(const ridge__builder *b, const ridge_tensor *w)
{
    enum { SMALL_ELEMENTS = 4096 };
    return ridge_tensor_elements(&b->p, w) < SMALL_ELEMENTS;
}

static void add_states(ridge__builder *b, ridge_operation *op, ridge_update update,
                       const weight_facts *w)
{
    const ridge_tensor *weight = &b->p.tensors[op->inputs[0]];
    switch (update) {
    case RIDGE_UPDATE_ADAM:
        add_both(b, op, RIDGE_DTYPE_FP32);
        return;
    case RIDGE_UPDATE_ADAM_BF16:
        add_both(b, op, RIDGE_DTYPE_BF16);
        return;
    case RIDGE_UPDATE_ADAM_8BIT:
        add_both(b, op, is_small(b, weight) ? RIDGE_DTYPE_FP32 : RIDGE_DTYPE_INT8);
        return;
    case RIDGE_UPDATE_MOMENTUM:
        add_whole(b, op, "m", RIDGE_DTYPE_FP32);
        return;
    case RIDGE_UPDATE_SGD:
        return;
    case RIDGE_UPDATE_MUON:
        if (!w->is_matrix) {
            add_both(b, op, RIDGE_DTYPE_FP32);
            return;
        }
        op->rule = RIDGE_UPDATE_RULE_MUON;
        add_whole(b, op, "m", RIDGE_DTYPE_FP32);
        return;
    case RIDGE_UPDATE_ADAFACTOR:
        add_factors(b, op, w);
        return;
    }
}

static void add_step(ridge__builder *b, ridge_update update, int weight,
                     const weight_facts *facts)
{
    const ridge_tensor *w = &b->p.tensors[weight];
    ridge_operation op =
        ridge__operation_new(RIDGE_OPCODE_UPDATE, ridge_tensor_base(w));
    const bool is_narrow =
        ridge_dtype_bytes(w->dtype) < ridge_dtype_bytes(RIDGE_DTYPE_FP32);
    op.part = facts->part;
    op.n_inputs = 2;
    op.inputs[0] = weight;
    op.inputs[1] = facts->gradient;
    op.n_outputs = 1;
    op.outputs[0] = weight;
    if (is_narrow)
        add_whole(b, &op, "master", RIDGE_DTYPE_FP32);
    add_states(b, &op, update, facts);
    ridge__builder_op(b, &op);
}

/* The embedding, the head and tables of positions are no matrices of a layer. */
static void note_reader(const ridge__builder *b, const ridge_operation *op, int input,
                        weight_facts *f)
{
    const bool is_layer = op->code == RIDGE_OPCODE_EINSUM && !op->is_head;
    if (!f->is_met) {
        f->part = op->part;
        f->is_matrix =
            is_layer && ridge_einsum_weight_matrix(&b->p, op, input, &f->matrix);
    }
    f->is_met = true;
}

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
            note_reader(b, op, k, f);
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
        add_step(b, rule, i, &facts[i]);
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
