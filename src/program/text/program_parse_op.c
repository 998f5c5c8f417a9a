/* Lines inside of a block: declarations and operations with their attributes. */
#include "program_reader.h"

#include <string.h>

/* A line's results: new tensors, or ones that are there. */
typedef struct results {
    int n;
    int tensors[RIDGE_OP_OUTPUT_MAX];
    size_t at[RIDGE_OP_OUTPUT_MAX];
    bool is_new[RIDGE_OP_OUTPUT_MAX];
} results;

/* ---- tensors --------------------------------------------------------------------- */

static bool find_role(ridge_str word, ridge_role *out)
{
    static const ridge_role ROLES[] = {RIDGE_ROLE_INPUT,      RIDGE_ROLE_WEIGHT,
                                       RIDGE_ROLE_ACTIVATION, RIDGE_ROLE_GRADIENT,
                                       RIDGE_ROLE_STATE,      RIDGE_ROLE_CACHE};
    for (size_t i = 0; i < RIDGE_COUNT_OF(ROLES); i++) {
        if (ridge_str_is(word, ridge_role_text(ROLES[i]))) {
            *out = ROLES[i];
            return true;
        }
    }
    return false;
}

/* A role counts as one when another word follows it. */
static bool take_role(ridge__reader *r, ridge_role *out)
{
    const ridge_str word = ridge__reader_word(r);
    const size_t at = r->at;
    if (!find_role(word, out))
        return false;
    r->at += word.n;
    if (ridge__reader_word(r).n > 0)
        return true;
    r->at = at;
    return false;
}

static ridge_status read_tensor_dims(ridge__reader *r, ridge_tensor *t)
{
    if (ridge__reader_take(r, ']'))
        return RIDGE_OK;
    do {
        const ridge_str word = ridge__reader_word(r);
        const size_t at = r->at;
        int dim;
        RIDGE_TRY(ridge__reader_dim(r, word, &dim));
        for (int i = 0; i < t->n_dims; i++) {
            if (t->dims[i] == dim)
                return ridge__reader_fail(r, at, "a dim stands twice in one tensor");
        }
        if (t->n_dims == RIDGE_TENSOR_DIM_MAX) {
            return ridge__reader_fail(r, at, "a tensor has at most %d dims",
                                      RIDGE_TENSOR_DIM_MAX);
        }
        t->dims[t->n_dims++] = dim;
        r->at += word.n;
    } while (ridge__reader_take(r, ','));
    if (!ridge__reader_take(r, ']'))
        return ridge__reader_fail(r, r->at, "a comma or ] is wanted here");
    return RIDGE_OK;
}

static ridge_status read_dtype(ridge__reader *r, ridge_dtype *out)
{
    const char *name;
    ridge__reader_skip(r);
    const size_t at = r->at;
    RIDGE_TRY(ridge__reader_name(r, "a number format, as bf16,", false, &name));
    for (int i = 0; i < RIDGE_DTYPE_COUNT; i++) {
        if (strcmp(name, ridge_dtype_text((ridge_dtype)i)) == 0) {
            *out = (ridge_dtype)i;
            return RIDGE_OK;
        }
    }
    return ridge__reader_fail(r, at,
                              "no number format '%.20s': one of fp32, bf16, fp16, fp8, "
                              "int8, fp4, int4, …",
                              name);
}

static ridge_status find_tensor(ridge__reader *r, const char *name, size_t at, int *out)
{
    *out = ridge__builder_tensor_find(&r->b, name);
    if (*out >= 0)
        return RIDGE_OK;
    return ridge__reader_fail(r, at,
                              "no tensor '%.60s' before this line: declare it, as in "
                              "weight w[D,F] bf16",
                              name);
}

static ridge_status read_gradient_of(ridge__reader *r, ridge_tensor *t)
{
    const char *of;
    if (!ridge_str_is(ridge__reader_word(r), "of"))
        return RIDGE_OK;
    r->at += strlen("of");
    ridge__reader_skip(r);
    const size_t at = r->at;
    RIDGE_TRY(ridge__reader_name(r, "a tensor", true, &of));
    return find_tensor(r, of, at, &t->gradient_of);
}

/* What stands behind the name of a new tensor: [dims] dtype, and whose gradient it is.
 */
static ridge_status read_new_tensor(ridge__reader *r, ridge_tensor *t, bool has_role,
                                    size_t at, int *out)
{
    if (ridge__builder_tensor_find(&r->b, t->name) >= 0)
        return ridge__reader_fail(r, at, "two tensors are called '%.60s'", t->name);
    RIDGE_TRY(read_tensor_dims(r, t));
    RIDGE_TRY(read_dtype(r, &t->dtype));
    RIDGE_TRY(read_gradient_of(r, t));
    if (!has_role && t->gradient_of >= 0)
        t->role = RIDGE_ROLE_GRADIENT;
    *out = ridge__builder_tensor(&r->b, t);
    return ridge__reader_check(r, at);
}

static ridge_status read_result(ridge__reader *r, results *out, ridge_role *role)
{
    ridge_tensor t = {.role = RIDGE_ROLE_ACTIVATION, .gradient_of = -1};
    const bool has_role = take_role(r, &t.role);
    ridge__reader_skip(r);
    const size_t at = r->at;
    if (out->n == RIDGE_OP_OUTPUT_MAX) {
        return ridge__reader_fail(r, at, "an operation has at most %d results",
                                  RIDGE_OP_OUTPUT_MAX);
    }
    RIDGE_TRY(ridge__reader_name(r, "the name of a tensor", true, &t.name));
    int *tensor = &out->tensors[out->n];
    out->at[out->n] = at;
    out->is_new[out->n] = ridge__reader_take(r, '[');
    if (out->is_new[out->n]) {
        RIDGE_TRY(read_new_tensor(r, &t, has_role, at, tensor));
    } else if (has_role) {
        return ridge__reader_fail(r, r->at,
                                  "[DIM,…] and a number format are wanted "
                                  "here");
    } else {
        RIDGE_TRY(find_tensor(r, t.name, at, tensor));
    }
    *role = t.role;
    out->n++;
    return RIDGE_OK;
}

/* ---- attributes ------------------------------------------------------------------ */

typedef enum attribute_kind {
    ATTRIBUTE_FLAG,
    ATTRIBUTE_EXTRA, /* of attention */
    ATTRIBUTE_COUNT,
    ATTRIBUTE_REAL,
    ATTRIBUTE_DIM,
    ATTRIBUTE_KIND,
    ATTRIBUTE_PART,
    ATTRIBUTE_RULE,
    ATTRIBUTE_OF,
    ATTRIBUTE_AXES,
    ATTRIBUTE_COLLECTIVE,
    ATTRIBUTE_FORWARD
} attribute_kind;

typedef struct attribute {
    const char *word;
    attribute_kind kind;
    size_t offset;  /* of the field, for flags, counts, numbers and dims */
    unsigned extra; /* bit */
} attribute;

#define FIELD(name) offsetof(ridge_operation, name)

static const attribute ATTRIBUTES[] = {
    {"causal", ATTRIBUTE_FLAG, FIELD(is_causal), 0},
    {"chunked", ATTRIBUTE_FLAG, FIELD(is_window_chunked), 0},
    {"head", ATTRIBUTE_FLAG, FIELD(is_head), 0},
    {"backward", ATTRIBUTE_FLAG, FIELD(is_backward), 0},
    {"forward", ATTRIBUTE_FORWARD, 0, 0},
    {"rope", ATTRIBUTE_EXTRA, 0, RIDGE_ATTENTION_ROPE},
    {"sinks", ATTRIBUTE_EXTRA, 0, RIDGE_ATTENTION_SINKS},
    {"far", ATTRIBUTE_EXTRA, 0, RIDGE_ATTENTION_FAR},
    {"chosen", ATTRIBUTE_EXTRA, 0, RIDGE_ATTENTION_CHOSEN},
    {"window", ATTRIBUTE_COUNT, FIELD(window), 0},
    {"k", ATTRIBUTE_COUNT, FIELD(experts_per_token), 0},
    {"groups", ATTRIBUTE_COUNT, FIELD(norm_groups), 0},
    {"context", ATTRIBUTE_REAL, FIELD(context_tokens), 0},
    {"scale", ATTRIBUTE_REAL, FIELD(scale), 0},
    {"flops", ATTRIBUTE_REAL, FIELD(scan_flops_per_token), 0},
    {"over", ATTRIBUTE_DIM, FIELD(position_dim), 0},
    {"from", ATTRIBUTE_DIM, FIELD(dim_from), 0},
    {"to", ATTRIBUTE_DIM, FIELD(dim_to), 0},
    {"kind", ATTRIBUTE_KIND, 0, 0},
    {"part", ATTRIBUTE_PART, 0, 0},
    {"rule", ATTRIBUTE_RULE, 0, 0},
    {"of", ATTRIBUTE_OF, 0, 0},
    {"axes", ATTRIBUTE_AXES, 0, 0},
    {"collective", ATTRIBUTE_COLLECTIVE, 0, 0},
};

/* "layer.q_proj": a block and its operation. */
static ridge_status read_forward_of(ridge__reader *r, ridge_str value,
                                    ridge_operation *op)
{
    ridge_str rest = value;
    const ridge_str name = ridge_str_cut(&rest, '.');
    for (int b = 0; b < r->b.p.n_blocks; b++) {
        const ridge_block *block = &r->b.p.blocks[b];
        if (!ridge_str_is(name, block->name))
            continue;
        for (int i = 0; i < block->n_ops && rest.p != NULL; i++) {
            if (ridge_str_is(rest, r->b.p.ops[block->first_op + i].name)) {
                op->forward_of = block->first_op + i;
                return RIDGE_OK;
            }
        }
    }
    return ridge__reader_fail(r, (size_t)(value.p - r->text.p),
                              "of=BLOCK.OPERATION names an operation before this line");
}

static ridge_status read_axes(ridge__reader *r, ridge_str value, ridge_operation *op)
{
    enum { AXIS_MOST = 31 };
    op->n_axes = 0;
    while (value.p != NULL) {
        int64_t axis;
        const ridge_str item = ridge_str_cut(&value, ',');
        RIDGE_TRY(ridge__reader_count(r, item, 0, AXIS_MOST, &axis));
        if (op->n_axes == RIDGE_OP_AXIS_MAX) {
            return ridge__reader_fail(r, (size_t)(item.p - r->text.p),
                                      "at most %d axes", RIDGE_OP_AXIS_MAX);
        }
        op->axes[op->n_axes++] = (int)axis;
    }
    return RIDGE_OK;
}

static ridge_status read_collective(ridge__reader *r, ridge_str value,
                                    ridge_operation *op)
{
    enum { COLLECTIVE_MOST = 255 };
    int64_t number;
    RIDGE_TRY(ridge__reader_count(r, value, 0, COLLECTIVE_MOST, &number));
    op->collective = (int)number;
    return RIDGE_OK;
}

static ridge_status set_value(ridge__reader *r, const attribute *a, ridge_str value,
                              ridge_operation *op)
{
    enum { COUNT_MOST = INT32_MAX };
    char *field = (char *)op + a->offset;
    switch (a->kind) {
    case ATTRIBUTE_COUNT:
        return ridge__reader_count(r, value, 1, COUNT_MOST, (int64_t *)(void *)field);
    case ATTRIBUTE_REAL:
        return ridge__reader_real(r, value, (double *)(void *)field);
    case ATTRIBUTE_DIM:
        return ridge__reader_dim(r, value, (int *)(void *)field);
    case ATTRIBUTE_KIND:
        return ridge__reader_kind(r, value, op);
    case ATTRIBUTE_PART:
        return ridge__reader_part(r, value, op);
    case ATTRIBUTE_RULE:
        return ridge__reader_rule(r, value, op);
    case ATTRIBUTE_OF:
        return read_forward_of(r, value, op);
    case ATTRIBUTE_AXES:
        return read_axes(r, value, op);
    case ATTRIBUTE_COLLECTIVE:
        return read_collective(r, value, op);
    case ATTRIBUTE_FLAG:
    case ATTRIBUTE_EXTRA:
    case ATTRIBUTE_FORWARD:
        break;
    }
    return RIDGE_OK;
}

/* A word that takes no value. @return false if it takes one */
static bool set_flag(const attribute *a, ridge_operation *op)
{
    if (a->kind == ATTRIBUTE_FLAG) {
        *((bool *)(void *)((char *)op + a->offset)) = true;
    } else if (a->kind == ATTRIBUTE_EXTRA) {
        op->extras |= a->extra;
    } else if (a->kind == ATTRIBUTE_FORWARD) {
        op->is_backward = false;
    } else {
        return false;
    }
    return true;
}

static ridge_status read_attribute(ridge__reader *r, ridge_operation *op)
{
    const ridge_str word = ridge__reader_word(r);
    const size_t at = r->at;
    const char *names[RIDGE_COUNT_OF(ATTRIBUTES)];
    for (size_t i = 0; i < RIDGE_COUNT_OF(ATTRIBUTES); i++) {
        const attribute *a = &ATTRIBUTES[i];
        ridge_str value;
        names[i] = a->word;
        if (!ridge_str_is(word, a->word))
            continue;
        r->at += word.n;
        if (set_flag(a, op))
            return RIDGE_OK;
        if (!ridge__reader_take(r, '='))
            return ridge__reader_fail(r, r->at, "=VALUE is wanted here");
        RIDGE_TRY(ridge__reader_value(r, "a value", &value));
        return set_value(r, a, value, op);
    }
    const char *text = ridge_str_dup(ridge_ctx_scratch(r->cx), word);
    const char *near = text == NULL ? NULL
                                    : ridge_suggestion(ridge_ctx_scratch(r->cx), text,
                                                       names, RIDGE_COUNT_OF(names));
    return ridge__reader_fail(
        r, at, "no attribute '%.*s'%s%s", (int)(word.n < 40 ? word.n : 40), word.p,
        near != NULL && near[0] != '\0' ? ", " : "", near != NULL ? near : "");
}

/* ---- operations ------------------------------------------------------------------ */

static bool find_code(ridge_str word, ridge_operation *op)
{
    for (int i = 0; i < RIDGE_OPCODE_COUNT; i++) {
        if (i != RIDGE_OPCODE_ELEMENTWISE &&
            ridge_str_is(word, ridge_opcode_text((ridge_opcode)i))) {
            op->code = (ridge_opcode)i;
            return true;
        }
    }
    for (int i = 0; i < RIDGE_FUNCTION_COUNT; i++) {
        if (ridge_str_is(word, ridge_function_text((ridge_function)i))) {
            op->code = RIDGE_OPCODE_ELEMENTWISE;
            op->function = (ridge_function)i;
            return true;
        }
    }
    return false;
}

static ridge_status read_inputs(ridge__reader *r, ridge_operation *op)
{
    do {
        const char *name;
        ridge__reader_skip(r);
        const size_t at = r->at;
        if (op->n_inputs == RIDGE_OP_INPUT_MAX) {
            return ridge__reader_fail(r, at, "an operation has at most %d inputs",
                                      RIDGE_OP_INPUT_MAX);
        }
        RIDGE_TRY(ridge__reader_name(r, "an input tensor", true, &name));
        RIDGE_TRY(find_tensor(r, name, at, &op->inputs[op->n_inputs]));
        op->n_inputs++;
    } while (ridge__reader_take(r, ','));
    return RIDGE_OK;
}

static ridge_status check_results(ridge__reader *r, const results *made,
                                  const ridge_operation *op)
{
    for (int i = 0; i < made->n; i++) {
        const ridge_role role = r->b.p.tensors[made->tensors[i]].role;
        const bool is_value =
            role == RIDGE_ROLE_ACTIVATION || role == RIDGE_ROLE_GRADIENT;
        if (made->is_new[i] && !is_value) {
            return ridge__reader_fail(r, made->at[i],
                                      "inputs, weights, states and caches are declared "
                                      "on a line of their own");
        }
        if (made->is_new[i] && op->is_added) {
            return ridge__reader_fail(r, made->at[i],
                                      "what += adds to is declared on a line of its "
                                      "own before");
        }
        for (int k = 0; k < op->n_inputs && made->is_new[i]; k++) {
            if (op->inputs[k] == made->tensors[i])
                return ridge__reader_fail(r, made->at[i],
                                          "an operation cannot read what it makes");
        }
    }
    return RIDGE_OK;
}

static ridge_status add_operation(ridge__reader *r, ridge_operation *op,
                                  const results *made, size_t at)
{
    op->n_outputs = made->n;
    memcpy(op->outputs, made->tensors, sizeof op->outputs);
    RIDGE_TRY(check_results(r, made, op));
    if (op->name == NULL)
        op->name = ridge_tensor_base(&r->b.p.tensors[made->tensors[0]]);
    if (ridge__builder_has_op(&r->b, op->name)) {
        return ridge__reader_fail(r, at,
                                  "two operations of the block are called '%.60s': put "
                                  "NAME: before one",
                                  op->name);
    }
    const char *fault = ridge__operation_fault(&r->b.p, op);
    if (fault != NULL)
        return ridge__reader_fail(r, at, "%s", fault);
    ridge__builder_op(&r->b, op);
    return ridge__reader_check(r, at);
}

static ridge_status read_operation(ridge__reader *r, const char *name, bool is_added,
                                   const results *made)
{
    ridge_operation op = ridge__operation_new(RIDGE_OPCODE_EINSUM, name);
    const ridge_block *block = &r->b.p.blocks[r->b.p.n_blocks - 1];
    const ridge_str word = ridge__reader_word(r);
    const size_t at = r->at;
    op.is_added = is_added;
    op.is_backward = block->is_backward;
    if (!find_code(word, &op)) {
        return ridge__reader_fail(r, at,
                                  "an operation is wanted here: einsum, attention, "
                                  "norm, add, …");
    }
    r->at += word.n;
    RIDGE_TRY(read_inputs(r, &op));
    while (!ridge__reader_is_end(r))
        RIDGE_TRY(read_attribute(r, &op));
    return add_operation(r, &op, made, at);
}

/* "name:" before an operation. */
static ridge_status read_label(ridge__reader *r, const char **out)
{
    const ridge_str word = ridge__reader_word(r);
    const size_t after = r->at + word.n;
    *out = NULL;
    if (word.n == 0 || after >= r->text.n || r->text.p[after] != ':')
        return RIDGE_OK;
    RIDGE_TRY(ridge__reader_name(r, "the operation's name", false, out));
    r->at++;
    return RIDGE_OK;
}

ridge_status ridge__reader_statement(ridge__reader *r)
{
    results made = {.n = 0};
    const char *name;
    ridge_role role = RIDGE_ROLE_INPUT;
    RIDGE_TRY(read_label(r, &name));
    do {
        RIDGE_TRY(read_result(r, &made, &role));
    } while (ridge__reader_take(r, ','));
    if (ridge__reader_is_end(r) && made.n == 1 && made.is_new[0] && name == NULL) {
        if (role != RIDGE_ROLE_ACTIVATION)
            return RIDGE_OK;
        return ridge__reader_fail(r, made.at[0],
                                  "a declaration begins with input, weight, gradient, "
                                  "state or cache; a value needs = OPERATION");
    }
    const bool is_added = ridge__reader_take(r, '+');
    if (!ridge__reader_take(r, '='))
        return ridge__reader_fail(r, r->at, "= and an operation are wanted here");
    ridge__reader_skip(r);
    return read_operation(r, name, is_added, &made);
}
