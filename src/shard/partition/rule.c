/*
 * Rules made wishes: how weights, states and inputs lie from the start, and where the
 * rules want activations and gradients. Rules are read in order; a later one takes its
 * mesh axes off the other dims of the same tensor.
 */
#include "op_rules.h"
#include "partitioner.h"

#include <string.h>

/* A rule with its names looked up. */
typedef struct compiled_rule {
    int tensor; /* -1: by role */
    ridge_role role;
    int dim;
    ridge__cut cut;
} compiled_rule;

/* What the operations tell of tensors before anything is cut. */
typedef struct survey {
    int *weight;  /* of a state or gradient: the weight that is updated with it; -1 */
    int *state;   /* of a weight, with all its dims; -1 */
    int *factor;  /* of a state of rows or columns: its update; -1 */
    int *read_in; /* block of the reader; -1: none yet */
    bool *is_far; /* read in another block than the one that makes it */
    bool *is_carried; /* every reader can work on its partial sums */
    bool *is_sum;     /* added to by operations that run many times */
    bool *is_group;   /* [n_dims] KV heads that are not the query heads */
} survey;

/* ---- reading rules -------------------------------------------------------------- */

static ridge_status rule_axes(ridge_ctx *cx, const ridge_mesh *mesh,
                              const ridge_rule *rule, compiled_rule *out)
{
    unsigned seen = 0;
    if (rule->n_axes < 0 || rule->n_axes > (int)RIDGE_COUNT_OF(rule->axes))
        return ridge_fail(cx, RIDGE_E_ARG, "rule for dim %s: %d axes: at most %zu",
                          rule->dim, rule->n_axes, RIDGE_COUNT_OF(rule->axes));
    for (int i = 0; i < rule->n_axes; i++) {
        const int axis = ridge_mesh_find(mesh, rule->axes[i]);
        if (axis < 0)
            return ridge_fail(cx, RIDGE_E_ARG,
                              "rule for dim %s: the mesh has no axis '%s'", rule->dim,
                              rule->axes[i]);
        if ((seen >> axis) & 1u)
            return ridge_fail(cx, RIDGE_E_ARG,
                              "rule for dim %s: axis %s twice: name each axis once",
                              rule->dim, rule->axes[i]);
        seen |= 1u << axis;
        if (mesh->axes[axis].size > 1)
            out->cut = ridge__cut_append(out->cut, axis);
    }
    return RIDGE_OK;
}

static ridge_status rule_compile(const ridge__partitioner *p, const ridge_rule *rule,
                                 compiled_rule *out)
{
    *out = (compiled_rule){.tensor = -1, .role = rule->role, .dim = -1};
    if (rule->dim)
        out->dim = ridge_program_dim_find(p->in, rule->dim);
    if (out->dim < 0)
        return ridge_fail(p->cx, RIDGE_E_ARG,
                          "rule for dim '%s': the program has no such dim",
                          rule->dim ? rule->dim : "");
    if (rule->tensor) {
        out->tensor = ridge_program_tensor_find(p->in, rule->tensor);
        if (out->tensor < 0)
            return ridge_fail(p->cx, RIDGE_E_ARG,
                              "rule for tensor '%s': the program has no such tensor",
                              rule->tensor);
    }
    return rule_axes(p->cx, &p->mesh, rule, out);
}

void ridge__wish_settle(ridge__wish *wish, int position, ridge__cut cut, unsigned taken)
{
    ridge__layout_drop(&wish->layout, taken);
    wish->layout.dims[position] = cut;
    wish->has |= (unsigned char)(1u << position);
}

/* ---- what operations tell ------------------------------------------------------- */

static void survey_update(const ridge_program *in, const ridge_operation *op, survey *s)
{
    int weight = -1;
    for (int i = 0; i < op->n_inputs && weight < 0; i++) {
        if (in->tensors[op->inputs[i]].role == RIDGE_ROLE_WEIGHT)
            weight = op->inputs[i];
    }
    for (int i = 0; i < op->n_inputs; i++) {
        const int t = op->inputs[i];
        if (t == weight)
            continue;
        s->weight[t] = weight;
        if (ridge_update_is_factor(in, op, i))
            s->factor[t] = (int)(op - in->ops);
        else if (weight >= 0 && in->tensors[t].role == RIDGE_ROLE_STATE &&
                 s->state[weight] < 0)
            s->state[weight] = t;
    }
    for (int i = 0; i < op->n_outputs; i++) {
        const int t = op->outputs[i];
        if (in->tensors[t].role == RIDGE_ROLE_STATE)
            s->weight[t] = weight;
    }
}

/* Heads that have to go with others. */
static void survey_heads(const ridge_program *in, const ridge_operation *op, survey *s)
{
    ridge__op_rule rule;
    ridge__op_rule_make(in, op, &rule);
    if (rule.group >= 0)
        s->is_group[rule.dim[rule.group]] = true;
}

/* Whether an input may stay a partial sum: as the operation's own rule has it. */
static unsigned carried_inputs(const ridge__partitioner *p, const ridge_operation *op)
{
    const bool may = op->code == RIDGE_OPCODE_ELEMENTWISE ||
                     op->code == RIDGE_OPCODE_DISPATCH ||
                     op->code == RIDGE_OPCODE_COMBINE;
    if (!may)
        return 0;
    ridge__op_rule rule;
    ridge__op_rule_make(p->in, op, &rule);
    return rule.carries;
}

static void survey_reads(ridge__partitioner *p, const ridge_operation *op, int block,
                         survey *s)
{
    const unsigned carried = carried_inputs(p, op);
    for (int i = 0; i < op->n_inputs; i++) {
        const int t = op->inputs[i];
        s->is_carried[t] = (s->read_in[t] < 0 || s->is_carried[t]) &&
                           ((carried >> i) & 1u) && p->in->tensors[t].block == block;
        s->is_far[t] = s->is_far[t] || p->in->tensors[t].block != block;
        s->read_in[t] = block;
        if (p->reader[t] < 0 && p->in->tensors[t].block == block)
            p->reader[t] = (int)(op - p->in->ops);
        p->wish[t].is_routed = p->wish[t].is_routed ||
                               op->code == RIDGE_OPCODE_DISPATCH ||
                               op->code == RIDGE_OPCODE_COMBINE;
    }
}

static ridge_status survey_open(const ridge__partitioner *p, survey *s)
{
    const size_t n = (size_t)p->in->n_tensors;
    ridge_arena *scratch = ridge_ctx_scratch(p->cx);
    s->weight = ridge_new(scratch, int, 4 * n);
    s->is_far = ridge_new(scratch, bool, 3 * n + (size_t)p->in->n_dims);
    if (!s->weight || !s->is_far)
        return ridge_fail_nomem(p->cx);
    s->state = s->weight + n;
    s->read_in = s->state + n;
    s->factor = s->read_in + n;
    s->is_carried = s->is_far + n;
    s->is_sum = s->is_carried + n;
    s->is_group = s->is_sum + n;
    memset(s->weight, -1, 4 * n * sizeof *s->weight);
    return RIDGE_OK;
}

static void survey_program(ridge__partitioner *p, survey *s)
{
    for (int b = 0; b < p->in->n_blocks; b++) {
        const ridge_block *block = &p->in->blocks[b];
        for (int i = 0; i < block->n_ops; i++) {
            const ridge_operation *op = &p->in->ops[block->first_op + i];
            if (op->code == RIDGE_OPCODE_UPDATE)
                survey_update(p->in, op, s);
            if (!op->is_backward &&
                (op->code == RIDGE_OPCODE_ATTENTION || op->code == RIDGE_OPCODE_SCAN))
                survey_heads(p->in, op, s);
            for (int j = 0; op->is_added && j < op->n_outputs; j++)
                s->is_sum[op->outputs[j]] = true;
            survey_reads(p, op, b, s);
        }
    }
}

/* ---- wishes --------------------------------------------------------------------- */

static int tensor_position(const ridge_tensor *t, int dim)
{
    for (int i = 0; i < t->n_dims; i++) {
        if (t->dims[i] == dim)
            return i;
    }
    return -1;
}

/* KV heads that an axis does not divide stay whole over it. */
static ridge__cut group_cut(const ridge__partitioner *p, int dim, ridge__cut cut)
{
    while (cut != 0 && p->in->dims[dim].size % ridge__cut_ways(&p->mesh, cut) != 0)
        cut = ridge__cut_head(cut, ridge__cut_count(cut) - 1);
    return cut;
}

static void apply_rules(ridge__partitioner *p, int tensor, const compiled_rule *rules,
                        int n_rules, const survey *s)
{
    const ridge_tensor *t = &p->in->tensors[tensor];
    const bool is_activation_gradient =
        t->role == RIDGE_ROLE_GRADIENT &&
        (t->gradient_of < 0 ||
         p->in->tensors[t->gradient_of].role != RIDGE_ROLE_WEIGHT);
    for (int i = 0; i < n_rules; i++) {
        const compiled_rule *rule = &rules[i];
        const bool is_meant = rule->tensor >= 0
                                  ? rule->tensor == tensor
                                  : rule->role == t->role && !is_activation_gradient;
        const int at = is_meant ? tensor_position(t, rule->dim) : -1;
        if (at < 0)
            continue;
        const ridge__cut cut =
            s->is_group[rule->dim] ? group_cut(p, rule->dim, rule->cut) : rule->cut;
        /* heads are replicated over what does not cut them: no other dim takes it */
        ridge__wish_settle(&p->wish[tensor], at, cut, ridge__cut_mask(rule->cut));
    }
}

/* A state starts as its weight, a weight's gradient as the state. */
static void start_as(ridge__partitioner *p, int tensor, int model)
{
    const ridge_tensor *t = &p->in->tensors[tensor];
    const ridge_tensor *m = &p->in->tensors[model];
    for (int i = 0; i < t->n_dims; i++) {
        const int at = tensor_position(m, t->dims[i]);
        if (at >= 0)
            p->wish[tensor].layout.dims[i] = p->wish[model].layout.dims[at];
    }
}

/* Of rows and columns all is everywhere; their batch is cut as the weight's. */
static void start_factor(ridge__partitioner *p, int tensor, const survey *s)
{
    const ridge_tensor *t = &p->in->tensors[tensor];
    const ridge_operation *op = &p->in->ops[s->factor[tensor]];
    const ridge_tensor *w = &p->in->tensors[s->weight[tensor]];
    for (int i = 0; i < t->n_dims; i++) {
        if (ridge_update_is_batch(p->in, op, t->dims[i]))
            p->wish[tensor].layout.dims[i] =
                p->wish[s->weight[tensor]].layout.dims[tensor_position(w, t->dims[i])];
    }
}

static int model_of(const ridge__partitioner *p, int tensor, const survey *s)
{
    const ridge_tensor *t = &p->in->tensors[tensor];
    if (t->role == RIDGE_ROLE_STATE)
        return s->weight[tensor];
    if (t->role != RIDGE_ROLE_GRADIENT || t->gradient_of < 0 ||
        p->in->tensors[t->gradient_of].role != RIDGE_ROLE_WEIGHT)
        return -1;
    const int state = s->state[t->gradient_of];
    return state >= 0 ? state : t->gradient_of;
}

/* Weights and inputs, then states, then gradients: each starts as one before it. */
static int wish_turn(const ridge__partitioner *p, int tensor)
{
    const ridge_role role = p->in->tensors[tensor].role;
    return role == RIDGE_ROLE_STATE ? 1 : role == RIDGE_ROLE_GRADIENT ? 2 : 0;
}

static void make_wish(ridge__partitioner *p, int tensor, const compiled_rule *rules,
                      int n_rules, const survey *s)
{
    const ridge_tensor *t = &p->in->tensors[tensor];
    ridge__wish *wish = &p->wish[tensor];
    const int model = model_of(p, tensor, s);
    if (s->factor[tensor] >= 0) {
        start_factor(p, tensor, s);
    } else {
        if (model >= 0)
            start_as(p, tensor, model);
        apply_rules(p, tensor, rules, n_rules, s);
    }
    if (model >= 0 ||
        (t->role != RIDGE_ROLE_ACTIVATION && t->role != RIDGE_ROLE_GRADIENT))
        wish->has = (unsigned char)((1u << t->n_dims) - 1u);
    wish->is_home = t->role == RIDGE_ROLE_GRADIENT && model < 0 && t->gradient_of >= 0;
    wish->is_carried = s->is_carried[tensor] && !s->is_sum[tensor];
    wish->is_strict =
        s->read_in[tensor] < 0 || s->is_far[tensor] || model >= 0 || s->is_sum[tensor];
}

/* What runs through the repetitions of a block lies alike at both its ends. */
static void join_carries(ridge__partitioner *p)
{
    for (int b = 0; b < p->in->n_blocks; b++) {
        const ridge_block *block = &p->in->blocks[b];
        if (block->repeat == 1 || block->carry_in < 0 || block->carry_out < 0)
            continue;
        ridge__wish *from = &p->wish[block->carry_in];
        ridge__wish *to = &p->wish[block->carry_out];
        for (int i = 0; i < RIDGE_TENSOR_DIM_MAX; i++) {
            if (((to->has & ~from->has) >> i) & 1)
                ridge__wish_settle(from, i, to->layout.dims[i],
                                   ridge__cut_mask(to->layout.dims[i]));
        }
        from->is_strict = to->is_strict = true;
        from->is_stream = to->is_stream = true;
        from->is_carried = to->is_carried = false;
    }
}

ridge_status ridge__rules_apply(ridge__partitioner *p, const ridge_rule *rules,
                                int n_rules)
{
    survey s = {.weight = NULL};
    compiled_rule *compiled =
        ridge_new(ridge_ctx_scratch(p->cx), compiled_rule, (size_t)n_rules);
    if (!compiled)
        return ridge_fail_nomem(p->cx);
    for (int i = 0; i < n_rules; i++)
        RIDGE_TRY(rule_compile(p, &rules[i], &compiled[i]));
    RIDGE_TRY(survey_open(p, &s));
    survey_program(p, &s);
    for (int turn = 0; turn < 3; turn++) {
        for (int t = 0; t < p->in->n_tensors; t++) {
            if (wish_turn(p, t) == turn)
                make_wish(p, t, compiled, n_rules, &s);
        }
    }
    join_carries(p);
    return RIDGE_OK;
}
