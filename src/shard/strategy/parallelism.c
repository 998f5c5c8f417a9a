/*
 * Ways to parallelise as tables: which dims of which tensors lie over which mesh axes.
 * A row names a dim by its letter, so that N also stands for N2, the heads of another
 * kind of layer. Later rows win: an axis that a later row gives to a dim leaves the
 * dims of earlier rows.
 */
#include "op_rules.h"

#include "ridge/shard.h"

#include <string.h>

/* Sets of mesh axes, outermost first. */
typedef enum axis_set {
    SET_BATCH,  /* what cuts sequences */
    SET_TOKENS, /* what cuts the tokens of a sequence */
    SET_STREAM, /* of the residual stream */
    SET_ZERO,
    SET_EXPERTS,
    SET_EXPERT_WIDTH,
    SET_ROWS, /* what cuts tokens, but for the experts' axis */
    SET_TP,
    SET_WORDS,
    SET_COUNT
} axis_set;

typedef struct table_row {
    const char *dim; /* letter */
    axis_set set;
} table_row;

static const table_row INPUT_ROWS[] = {{"B", SET_BATCH}, {"T", SET_TOKENS}};

static const table_row CACHE_ROWS[] = {{"B", SET_BATCH}, {"N", SET_TP}, {"K", SET_TP}};

/* Weights that have no D are cut for ZeRO along a low rank or a latent width. */
static const table_row ZERO_ROWS[] = {
    {"Q", SET_ZERO}, {"R", SET_ZERO}, {"Z", SET_ZERO}, {"D", SET_ZERO}};

static const table_row WEIGHT_ROWS[] = {
    {"E", SET_EXPERTS},       {"N", SET_TP},  {"K", SET_TP},    {"F", SET_TP},
    {"FE", SET_EXPERT_WIDTH}, {"FS", SET_TP}, {"V", SET_WORDS},
};

/* E stands before B: gates are cut by token, rows of experts have no B. KV heads are
 * replicated over the part of tp that does not divide them. */
static const table_row ACTIVATION_ROWS[] = {
    {"E", SET_EXPERTS}, {"C", SET_ROWS},  {"B", SET_BATCH}, {"T", SET_STREAM},
    {"N", SET_TP},      {"K", SET_TP},    {"F", SET_TP},    {"FE", SET_EXPERT_WIDTH},
    {"FS", SET_TP},     {"V", SET_WORDS},
};

/* Rules under way. */
typedef struct rule_list {
    ridge_ctx *cx;
    const ridge_program *program;
    ridge_rule *rules;
    int n, cap;
    int n_axes[SET_COUNT];
    const char *axes[SET_COUNT][RIDGE_MESH_AXIS_MAX];
} rule_list;

/* ---- axes ----------------------------------------------------------------------- */

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The largest part of tp that divides the KV heads of every layer. */
static int64_t group_ways(const ridge_program *program, int64_t tp)
{
    for (int i = 0; i < program->n_ops; i++) {
        const ridge_operation *op = &program->ops[i];
        ridge__op_rule rule;
        if (op->is_backward ||
            (op->code != RIDGE_OPCODE_ATTENTION && op->code != RIDGE_OPCODE_SCAN))
            continue;
        ridge__op_rule_make(program, op, &rule);
        if (rule.group >= 0)
            tp = common_divisor(tp, program->dims[rule.dim[rule.group]].size);
    }
    return tp;
}

/* Which mesh axes a set is of, outermost first. */
typedef struct set_row {
    axis_set set;
    const char *axes[RIDGE_MESH_AXIS_MAX];
} set_row;

/* ZeRO cuts weights outside of experts over ep too. Axes of width are taken into the
 * residual stream, and so into rows of experts, by sequence parallelism alone. */
static const set_row AXES_OF_SETS[] = {
    {SET_BATCH, {"dp", "fsdp", "ep"}},
    {SET_TOKENS, {"cp"}},
    {SET_STREAM, {"cp", "tp", "tpr"}},
    {SET_ZERO, {"fsdp", "ep"}},
    {SET_EXPERTS, {"ep", "tp", "tpr"}},
    {SET_EXPERT_WIDTH, {"tp", "tpr"}},
    {SET_ROWS, {"dp", "fsdp", "cp", "tp", "tpr"}},
    {SET_TP, {"tp", "tpr"}},
    {SET_WORDS, {"tp", "tpr"}},
};

/* Where tp deals out experts and its ranks have the same tokens, each already has the
 * rows of its experts: one all-to-all over ep alone moves them, if tp is outermost. */
static const set_row EXPERTS_OF_SAME_TOKENS = {SET_EXPERTS, {"tp", "tpr", "ep"}};

static const set_row *row_of_set(const ridge_parallelism *p, size_t index)
{
    const set_row *row = &AXES_OF_SETS[index];
    return row->set == SET_EXPERTS && !p->is_sequence_parallel ? &EXPERTS_OF_SAME_TOKENS
                                                               : row;
}

static bool is_width(const char *axis)
{
    return strncmp(axis, "tp", 2) == 0;
}

static bool takes_axis(const ridge_parallelism *p, axis_set set, const char *axis)
{
    if (set == SET_WORDS)
        return p->is_vocab_parallel;
    if (set == SET_EXPERTS)
        return p->is_expert_whole || !is_width(axis);
    if (set == SET_EXPERT_WIDTH)
        return !p->is_expert_whole;
    if (set == SET_ROWS && p->is_expert_whole)
        return !is_width(axis);
    if (set == SET_STREAM || set == SET_ROWS)
        return p->is_sequence_parallel || !is_width(axis);
    return true;
}

static void make_axes(rule_list *l, const ridge_parallelism *p, ridge_mesh *mesh)
{
    const int64_t tp = group_ways(l->program, p->tp);
    const ridge_mesh_axis all[] = {{"dp", p->dp}, {"fsdp", p->fsdp},
                                   {"ep", p->ep}, {"cp", p->cp},
                                   {"tp", tp},    {"tpr", p->tp / tp}};
    *mesh = (ridge_mesh){.n = 0};
    for (size_t i = 0; i < RIDGE_COUNT_OF(all); i++) {
        if (all[i].size > 1)
            mesh->axes[mesh->n++] = all[i];
    }
    for (size_t i = 0; i < RIDGE_COUNT_OF(AXES_OF_SETS); i++) {
        const set_row *row = row_of_set(p, i);
        for (int a = 0; a < RIDGE_MESH_AXIS_MAX && row->axes[a]; a++) {
            if (ridge_mesh_find(mesh, row->axes[a]) >= 0 &&
                takes_axis(p, row->set, row->axes[a]))
                l->axes[row->set][l->n_axes[row->set]++] = row->axes[a];
        }
    }
}

/* ---- rules ---------------------------------------------------------------------- */

static ridge_status rule_add(rule_list *l, const ridge_rule *rule)
{
    if (l->n == l->cap) {
        const int cap = l->cap == 0 ? 64 : 2 * l->cap;
        ridge_rule *grown = ridge_new(ridge_ctx_arena(l->cx), ridge_rule, (size_t)cap);
        if (!grown)
            return ridge_fail_nomem(l->cx);
        if (l->n > 0)
            memcpy(grown, l->rules, (size_t)l->n * sizeof *grown);
        l->rules = grown;
        l->cap = cap;
    }
    l->rules[l->n++] = *rule;
    return RIDGE_OK;
}

static ridge_rule rule_of_set(const rule_list *l, const char *dim, axis_set set)
{
    ridge_rule rule = {.dim = dim, .n_axes = l->n_axes[set]};
    memcpy(rule.axes, l->axes[set], sizeof rule.axes);
    return rule;
}

/* "N" and "N2" are heads, "NI" is not. */
static bool has_letter(const char *name, const char *letter)
{
    const size_t n = strlen(letter);
    return strncmp(name, letter, n) == 0 &&
           name[n + strspn(name + n, "_0123456789")] == 0;
}

static ridge_status rows_add(rule_list *l, ridge_role role, const table_row *rows,
                             size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (l->n_axes[rows[i].set] == 0)
            continue;
        for (int d = 0; d < l->program->n_dims; d++) {
            if (!has_letter(l->program->dims[d].name, rows[i].dim))
                continue;
            ridge_rule rule = rule_of_set(l, l->program->dims[d].name, rows[i].set);
            rule.role = role;
            RIDGE_TRY(rule_add(l, &rule));
        }
    }
    return RIDGE_OK;
}

#define ROWS_ADD(list, role, rows) rows_add(list, role, rows, RIDGE_COUNT_OF(rows))

static ridge_status weights_add(rule_list *l, ridge_role role, bool is_cut)
{
    if (is_cut)
        RIDGE_TRY(ROWS_ADD(l, role, ZERO_ROWS));
    return ROWS_ADD(l, role, WEIGHT_ROWS);
}

/* ---- what a dim's letter does not tell ------------------------------------------ */

/* Routers score every expert: their E is whole where that of experts is not. */
static ridge_status router_add(rule_list *l, const ridge_tensor *t)
{
    for (int d = 0; d < t->n_dims; d++) {
        const char *dim = l->program->dims[t->dims[d]].name;
        const ridge_rule rule = {.tensor = t->name, .dim = dim};
        if (has_letter(dim, "E"))
            RIDGE_TRY(rule_add(l, &rule));
    }
    return RIDGE_OK;
}

static ridge_status routers_add(rule_list *l)
{
    for (int i = 0; l->n_axes[SET_EXPERTS] > 0 && i < l->program->n_ops; i++) {
        const ridge_operation *op = &l->program->ops[i];
        for (int j = 0; op->part == RIDGE_PART_ROUTER && j < op->n_inputs; j++) {
            const ridge_tensor *t = &l->program->tensors[op->inputs[j]];
            if (t->role == RIDGE_ROLE_WEIGHT || t->role == RIDGE_ROLE_STATE)
                RIDGE_TRY(router_add(l, t));
        }
    }
    return RIDGE_OK;
}

/* The residual stream of an earlier pipeline stage lies as it does elsewhere. */
static ridge_status streams_add(rule_list *l)
{
    for (int i = 0; l->n_axes[SET_STREAM] > 0 && i < l->program->n_tensors; i++) {
        const ridge_tensor *t = &l->program->tensors[i];
        const char *tokens = NULL;
        bool has_width = false;
        for (int d = 0; t->role == RIDGE_ROLE_INPUT && d < t->n_dims; d++) {
            const char *dim = l->program->dims[t->dims[d]].name;
            has_width = has_width || has_letter(dim, "D");
            tokens = has_letter(dim, "T") ? dim : tokens;
        }
        if (!has_width || !tokens)
            continue;
        ridge_rule rule = rule_of_set(l, tokens, SET_STREAM);
        rule.tensor = t->name;
        RIDGE_TRY(rule_add(l, &rule));
    }
    return RIDGE_OK;
}

/* Over cp an operand of attention has its heads cut instead of its tokens. */
static ridge_status exchange_add(rule_list *l, int tensor, int tokens, int heads)
{
    const char *name = l->program->tensors[tensor].name;
    const ridge_rule whole = {.tensor = name,
                              .role = RIDGE_ROLE_ACTIVATION,
                              .dim = l->program->dims[tokens].name};
    ridge_rule cut = rule_of_set(l, l->program->dims[heads].name, SET_TP);
    cut.tensor = name;
    if (cut.n_axes < RIDGE_MESH_AXIS_MAX)
        cut.axes[cut.n_axes++] = "cp";
    RIDGE_TRY(rule_add(l, &whole));
    return rule_add(l, &cut);
}

static ridge_status exchanges_add(rule_list *l)
{
    for (int i = 0; l->n_axes[SET_TOKENS] > 0 && i < l->program->n_ops; i++) {
        const ridge_operation *op = &l->program->ops[i];
        ridge_attention_shape shape;
        if (op->is_backward || !ridge_attention_shape_of(l->program, op, &shape))
            continue;
        RIDGE_TRY(exchange_add(l, op->inputs[0], shape.t, shape.heads));
        if (op->extras & RIDGE_ATTENTION_ROPE)
            RIDGE_TRY(exchange_add(l, op->inputs[3], shape.t, shape.heads));
        for (int j = 1; shape.kv_heads >= 0 && j < 3; j++) {
            if (l->program->tensors[op->inputs[j]].role == RIDGE_ROLE_ACTIVATION)
                RIDGE_TRY(exchange_add(l, op->inputs[j], shape.s, shape.kv_heads));
        }
    }
    return RIDGE_OK;
}

static ridge_status check(ridge_ctx *cx, const ridge_parallelism *p)
{
    const int64_t degrees[] = {p->dp, p->fsdp, p->ep, p->cp, p->tp};
    static const char *const NAMES[] = {"dp", "fsdp", "ep", "cp", "tp"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(degrees); i++) {
        if (degrees[i] < 1)
            return ridge_fail(cx, RIDGE_E_ARG, "%s=%lld: a degree is 1 or more",
                              NAMES[i], (long long)degrees[i]);
    }
    if (p->zero_stage < 0 || p->zero_stage > 3)
        return ridge_fail(cx, RIDGE_E_ARG, "ZeRO stage %d: 0, 1, 2 or 3",
                          p->zero_stage);
    return RIDGE_OK;
}

ridge_status ridge_parallelism_rules(ridge_ctx *cx, const ridge_program *program,
                                     const ridge_parallelism *degrees, ridge_mesh *mesh,
                                     const ridge_rule **rules, int *n_rules)
{
    rule_list l = {.cx = cx, .program = program};
    RIDGE_TRY(check(cx, degrees));
    make_axes(&l, degrees, mesh);
    RIDGE_TRY(ROWS_ADD(&l, RIDGE_ROLE_INPUT, INPUT_ROWS));
    RIDGE_TRY(ROWS_ADD(&l, RIDGE_ROLE_CACHE, CACHE_ROWS));
    RIDGE_TRY(weights_add(&l, RIDGE_ROLE_WEIGHT, degrees->zero_stage == 3));
    RIDGE_TRY(weights_add(&l, RIDGE_ROLE_STATE, degrees->zero_stage >= 1));
    RIDGE_TRY(ROWS_ADD(&l, RIDGE_ROLE_ACTIVATION, ACTIVATION_ROWS));
    RIDGE_TRY(routers_add(&l));
    RIDGE_TRY(streams_add(&l));
    if (degrees->context == RIDGE_CONTEXT_ALL_TO_ALL)
        RIDGE_TRY(exchanges_add(&l));
    *rules = l.rules;
    *n_rules = l.n;
    return RIDGE_OK;
}
