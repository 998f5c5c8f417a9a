/* Operations of StableHLO as instructions of HLO. */
#include "hlo_attribute.h"
#include "hlo_type.h"
#include "mlir_text.h"

#include <string.h>

enum { WORD_MOST = 64, OPERANDS_MOST = 4096 };

/* ---- values -----------------------------------------------------------------------
 */

int mlir_value_add(mlir_function *f, ridge_str name, const ridge_hlo_instruction *i)
{
    ridge_hlo_instruction new = *i;
    new.name = name;
    const int index = hlo_builder_add(f->b, &new);
    ridge_hlo_instruction *value = hlo_list_push(f->b->scratch, &f->values);
    if (index < 0 || value == NULL)
        return -1;
    *value = new;
    return hlo_names_put(f->b->scratch, &f->value_names, f->scope, name,
                         f->values.n - 1)
               ? index
               : -1;
}

/* What a region takes from outside. */
static int capture(mlir_function *f, ridge_str name)
{
    const int at = hlo_names_find(&f->value_names, f->scope, name);
    if (at < 0)
        return -1;
    ridge_hlo_instruction new =
        ((const ridge_hlo_instruction *)(const void *)f->values.items)[at];
    if (new.code != RIDGE_HLO_OP_CONSTANT) {
        new.code = RIDGE_HLO_OP_PARAMETER;
        new.code_text = ridge_str_of("parameter");
        new.literal = ridge_str_of("1"); /* the state is parameter 0 */
    }
    new.n_operands = new.n_called = 0;
    return hlo_builder_add(f->b, &new);
}

ridge_status mlir_value_find(mlir_function *f, ridge_str name, const char *at, int *out)
{
    *out = hlo_builder_find(f->b, name);
    if (*out < 0)
        *out = capture(f, name);
    if (*out >= 0)
        return RIDGE_OK;
    text_cursor c = *f->c;
    c.p = at;
    return text_cursor_fail(&c, "value '%%%.*s' is not defined before it is used",
                            (int)name.n, name.p);
}

/* A name behind '%': with '#k' of a result with several parts. */
static ridge_str value_name(text_cursor *c)
{
    const char *from = c->p;
    text_cursor_word(c);
    if (text_cursor_peek(c) == '#') {
        c->p++;
        text_cursor_word(c);
    }
    return (ridge_str){from, (size_t)(c->p - from)};
}

/* All values that are named outside of regions and attributes. */
static ridge_status read_operands(mlir_function *f, const mlir_statement *s,
                                  hlo_list *operands)
{
    text_cursor c = text_cursor_within(f->c, s->rest);
    ridge_str ignored;
    while (c.p < c.end) {
        if (*c.p == '{' || *c.p == '"') {
            const bool is_whole = *c.p == '{' ? text_cursor_enclosed(&c, &ignored)
                                              : text_cursor_quoted(&c, &ignored);
            if (!is_whole)
                break;
        } else if (*c.p == '%') {
            const char *at = c.p++;
            const ridge_str name = value_name(&c);
            text_cursor ahead = c;
            text_cursor_skip(&ahead);
            if (text_cursor_peek(&ahead) == '=') /* an argument of a loop */
                continue;
            int *operand = hlo_list_push(f->b->scratch, operands);
            if (operand == NULL || operands->n > OPERANDS_MOST)
                return ridge_fail_nomem(f->b->cx);
            RIDGE_TRY(mlir_value_find(f, name, at, operand));
        } else {
            c.p++;
        }
    }
    return RIDGE_OK;
}

/* ---- names of operations ----------------------------------------------------------
 */

static const struct {
    const char *mlir;
    const char *hlo;
} renamed[] = {
    {"broadcast_in_dim", "broadcast"},
    {"broadcast", "broadcast"},
    {"dot_general", "dot"},
    {"optimization_barrier", "opt-barrier"},
    {"exponential_minus_one", "exponential-minus-one"},
    {"log_plus_one", "log-plus-one"},
    {"round_nearest_afz", "round-nearest-afz"},
    {"shift_right_logical", "shift-right-logical"},
    {"top_k", "topk"},
    {"cosine", "cosine"},
};

/* "stablehlo.dynamic_slice" -> "dynamic-slice"; what is of no known dialect is kept. */
static ridge_str hlo_name(mlir_function *f, ridge_str op)
{
    ridge_str rest = op;
    const ridge_str dialect = ridge_str_cut(&rest, '.');
    char *name;
    if (rest.p == NULL)
        return op;
    if (ridge_str_is(dialect, "sdy")) /* what lies where: nothing is computed */
        return ridge_str_of("bitcast");
    for (size_t k = 0; k < RIDGE_COUNT_OF(renamed); k++) {
        if (ridge_str_is(rest, renamed[k].mlir))
            return ridge_str_of(renamed[k].hlo);
    }
    name = ridge_new(f->b->arena, char, rest.n + 1);
    for (size_t k = 0; name && k < rest.n; k++)
        name[k] = (char)(rest.p[k] == '_' ? '-' : rest.p[k]);
    return (ridge_str){name ? name : "", name ? rest.n : 0};
}

/* ---- attributes -------------------------------------------------------------------
 */

static ridge_status put(mlir_function *f, hlo_list *list, const char *key,
                        const char *text)
{
    ridge_hlo_attribute *a = hlo_list_push(f->b->scratch, list);
    if (a == NULL || text == NULL)
        return ridge_fail_nomem(f->b->cx);
    *a = (ridge_hlo_attribute){ridge_str_of(key), ridge_str_of(text)};
    return RIDGE_OK;
}

/* Where a word stands in a text, with '=' behind it; NULL: nowhere. */
static const char *behind_key(ridge_str text, const char *key)
{
    const size_t n = strlen(key);
    for (size_t at = 0; at + n < text.n; at++) {
        if (memcmp(text.p + at, key, n) != 0)
            continue;
        size_t q = at + n;
        while (q < text.n && text.p[q] == ' ')
            q++;
        if (q < text.n && text.p[q] == '=')
            return text.p + q + 1;
    }
    return NULL;
}

/* "[0, 1]" or "array<i64: 0, 1>" at @p p as "{0, 1}"; NULL: no list. @param end  out */
static const char *list_at(mlir_function *f, ridge_str text, const char *p,
                           const char **end)
{
    const char *stop = text.p + text.n;
    while (p < stop && *p == ' ')
        p++;
    if (stop - p > 5 && memcmp(p, "array", 5) == 0) {
        while (p < stop && *p != ':' && *p != '>')
            p++;
    }
    if (p >= stop || (*p != '[' && *p != ':' && *p != '>'))
        return NULL;
    const char *from = *p == '>' ? p : p + 1, *q = from;
    while (q < stop && *q != ']' && *q != '>')
        q++;
    *end = q + 1;
    return ridge_sprintf(f->b->arena, "{%.*s}", (int)(q - from), from);
}

/* key = [..] x [..] */
static ridge_status put_pair(mlir_function *f, ridge_str text, const char *key,
                             const char *lhs, const char *rhs, hlo_list *list)
{
    const char *p = behind_key(text, key), *end;
    const char *first = p ? list_at(f, text, p, &end) : NULL;
    if (first == NULL)
        return RIDGE_OK;
    RIDGE_TRY(put(f, list, lhs, first));
    while (end < text.p + text.n && (*end == ' ' || *end == 'x'))
        end++;
    const char *second = list_at(f, text, end, &end);
    return put(f, list, rhs, second ? second : "{}");
}

static ridge_status put_list(mlir_function *f, ridge_str text, const char *key,
                             const char *name, hlo_list *list)
{
    const char *end, *p = behind_key(text, key);
    const char *value = p ? list_at(f, text, p, &end) : NULL;
    return value ? put(f, list, name, value) : RIDGE_OK;
}

static ridge_status put_dot(mlir_function *f, const mlir_statement *s, hlo_list *list,
                            const ridge_hlo_shape *lhs)
{
    static const char *const generic[][2] = {
        {"lhs_batching_dimensions", "lhs_batch_dims"},
        {"rhs_batching_dimensions", "rhs_batch_dims"},
        {"lhs_contracting_dimensions", "lhs_contracting_dims"},
        {"rhs_contracting_dimensions", "rhs_contracting_dims"}};
    if (hlo_text_has(s->op, "dot_general")) {
        RIDGE_TRY(put_pair(f, s->rest, "batching_dims", "lhs_batch_dims",
                           "rhs_batch_dims", list));
        RIDGE_TRY(put_pair(f, s->rest, "contracting_dims", "lhs_contracting_dims",
                           "rhs_contracting_dims", list));
        for (size_t k = 0; k < RIDGE_COUNT_OF(generic); k++)
            RIDGE_TRY(put_list(f, s->rest, generic[k][0], generic[k][1], list));
        return RIDGE_OK;
    }
    /* stablehlo.dot: the last dim of the left with the first of the right */
    RIDGE_TRY(put(f, list, "lhs_contracting_dims",
                  ridge_sprintf(f->b->arena, "{%d}", lhs->n > 0 ? lhs->n - 1 : 0)));
    return put(f, list, "rhs_contracting_dims", "{0}");
}

/* sdy.sharding = #sdy.sharding<..>, mhlo.sharding = "{..}" */
static ridge_status put_shardings(mlir_function *f, ridge_str text, hlo_list *list)
{
    static const char *const keys[][2] = {{"sdy.sharding", "sdy.sharding"},
                                          {"mhlo.sharding", "sharding"}};
    for (size_t k = 0; k < RIDGE_COUNT_OF(keys); k++) {
        const char *p = behind_key(text, keys[k][0]);
        if (p == NULL)
            continue;
        text_cursor c = text_cursor_within(f->c, text);
        c.p = p;
        const ridge_str value = mlir_attribute_read(&c);
        RIDGE_TRY(put(f, list, keys[k][1], ridge_str_dup(f->b->arena, value)));
    }
    return RIDGE_OK;
}

static ridge_status put_attributes(mlir_function *f, const mlir_statement *s,
                                   const ridge_hlo_instruction *i, hlo_list *list)
{
    const ridge_hlo_instruction *all =
        (const ridge_hlo_instruction *)(const void *)f->b->instructions.items;
    if (i->code == RIDGE_HLO_OP_DOT && i->n_operands >= 2)
        RIDGE_TRY(put_dot(f, s, list, &all[i->operands[0]].shape));
    if (i->code == RIDGE_HLO_OP_BROADCAST || i->code == RIDGE_HLO_OP_TRANSPOSE ||
        i->code == RIDGE_HLO_OP_REDUCE) {
        RIDGE_TRY(put_list(f, s->rest, "dims", "dimensions", list));
        RIDGE_TRY(put_list(f, s->rest, "dimensions", "dimensions", list));
        RIDGE_TRY(put_list(f, s->rest, "permutation", "dimensions", list));
    }
    if (i->code == RIDGE_HLO_OP_COMPARE) {
        const ridge_str text = ridge_str_trim(s->rest);
        RIDGE_TRY(put(f, list, "direction",
                      ridge_sprintf(f->b->arena, "%.*s", text.n < 2 ? 0 : 2, text.p)));
    }
    if (i->code == RIDGE_HLO_OP_CUSTOM_CALL) {
        text_cursor c = text_cursor_within(f->c, s->rest);
        text_cursor_take(&c, "@");
        const ridge_str target = text_cursor_word(&c);
        RIDGE_TRY(put(f, list, "custom_call_target",
                      ridge_sprintf(f->b->arena, "\"%.*s\"", (int)target.n, target.p)));
    }
    return put_shardings(f, s->rest, list);
}

/* ---- statements -------------------------------------------------------------------
 */

/* The name of a part: "name#k" of "%name:3", the k-th of "%a, %b". */
static ridge_str part_name(mlir_function *f, ridge_str results, int k, int n)
{
    ridge_str rest = results, name = ridge_str_cut(&rest, ',');
    if (rest.p == NULL) {
        rest = name;
        name = ridge_str_trim(ridge_str_cut(&rest, ':'));
        if (n == 1 || name.n == 0)
            return name;
        return ridge_str_of(
            ridge_sprintf(f->b->arena, "%.*s#%d", (int)name.n, name.p, k));
    }
    for (int at = 0; at < k && rest.p; at++)
        name = ridge_str_cut(&rest, ',');
    name = ridge_str_trim(name);
    return name.n > 0 && name.p[0] == '%' ? (ridge_str){name.p + 1, name.n - 1} : name;
}

/* Several results are parts of one. */
static ridge_status name_parts(mlir_function *f, ridge_str results, int tuple,
                               const ridge_hlo_shape *shape)
{
    for (int k = 0; k < shape->n; k++) {
        int *operand = ridge_new(f->b->arena, int, 1);
        ridge_hlo_attribute *index = ridge_new(f->b->arena, ridge_hlo_attribute, 1);
        const char *number = ridge_sprintf(f->b->arena, "%d", k);
        const ridge_str part = part_name(f, results, k, shape->n);
        if (!operand || !index || !number || !part.p)
            return ridge_fail_nomem(f->b->cx);
        *operand = tuple;
        *index = (ridge_hlo_attribute){ridge_str_of("index"), ridge_str_of(number)};
        const ridge_hlo_instruction i = {.code = RIDGE_HLO_OP_GET_TUPLE_ELEMENT,
                                         .code_text = ridge_str_of("get-tuple-element"),
                                         .shape = shape->parts[k],
                                         .n_operands = 1,
                                         .operands = operand,
                                         .n_attributes = 1,
                                         .attributes = index};
        if (mlir_value_add(f, part, &i) < 0)
            return ridge_fail_nomem(f->b->cx);
    }
    return RIDGE_OK;
}

static ridge_status take_shape(mlir_function *f, const mlir_statement *s,
                               ridge_hlo_shape *out)
{
    hlo_list shapes = {.size = sizeof(ridge_hlo_shape)};
    text_cursor c = text_cursor_within(f->c, s->types);
    if (s->types.n > 0)
        RIDGE_TRY(mlir_signature_read(&c, &shapes));
    const ridge_hlo_shape *all = hlo_list_copy(f->b->arena, &shapes);
    const bool is_many = hlo_text_has(s->results, ":") || hlo_text_has(s->results, ",");
    if (all == NULL)
        return ridge_fail_nomem(f->b->cx);
    if (shapes.n == 0)
        *out = (ridge_hlo_shape){.type = RIDGE_HLO_TUPLE};
    else if (is_many)
        *out = (ridge_hlo_shape){.type = RIDGE_HLO_TUPLE, .n = shapes.n, .parts = all};
    else /* "t, t" of a select: the last is the result's */
        *out = all[shapes.n - 1];
    return RIDGE_OK;
}

/* Without the first '%'. */
static ridge_str result_name(const mlir_statement *s)
{
    ridge_str text = ridge_str_trim(s->results);
    if (text.n == 0)
        return text;
    return (ridge_str){text.p + 1, text.n - 1};
}

static ridge_status take_operands(mlir_function *f, const mlir_statement *s,
                                  ridge_hlo_instruction *out)
{
    hlo_list operands = {.size = sizeof(int)};
    RIDGE_TRY(read_operands(f, s, &operands));
    out->n_operands = operands.n;
    out->operands = hlo_list_copy(f->b->arena, &operands);
    return out->operands ? RIDGE_OK : ridge_fail_nomem(f->b->cx);
}

/* call @f(..): the function stands as a computation. */
static ridge_status take_callee(mlir_function *f, const mlir_statement *s,
                                ridge_hlo_instruction *out)
{
    text_cursor c = text_cursor_within(f->c, s->rest);
    int *called = ridge_new(f->b->arena, int, 1);
    text_cursor_take(&c, "@");
    const ridge_str name = text_cursor_word(&c);
    if (called == NULL || !hlo_builder_call(f->b, called, name))
        return ridge_fail_nomem(f->b->cx);
    out->called = called;
    out->n_called = 1;
    return RIDGE_OK;
}

ridge_status mlir_op_take(mlir_function *f, const mlir_statement *s)
{
    ridge_hlo_instruction new = {.code_text = hlo_name(f, s->op)};
    hlo_list attributes = {.size = sizeof(ridge_hlo_attribute)};
    text_cursor place = *f->c;
    place.p = s->at;
    new.line = text_cursor_line(&place);
    if (ridge_str_is(s->op, "call") || ridge_str_is(s->op, "func.call"))
        new.code_text = ridge_str_of("call");
    hlo_opcode_find(new.code_text, &new.code, &new.phase);
    RIDGE_TRY(take_shape(f, s, &new.shape));
    if (new.code == RIDGE_HLO_OP_CONSTANT) {
        ridge_str text = ridge_str_trim(s->rest); /* dense<32> */
        const bool is_dense = text.n > 7 && memcmp(text.p, "dense<", 6) == 0;
        new.literal = is_dense ? (ridge_str){text.p + 6, text.n - 7} : text;
    } else {
        RIDGE_TRY(take_operands(f, s, &new));
    }
    if (new.code == RIDGE_HLO_OP_CALL)
        RIDGE_TRY(take_callee(f, s, &new));
    if (new.code == RIDGE_HLO_OP_WHILE)
        RIDGE_TRY(mlir_loop_take(f, s, &new));
    RIDGE_TRY(put_attributes(f, s, &new, &attributes));
    new.attributes = hlo_list_copy(f->b->arena, &attributes);
    new.n_attributes = attributes.n;
    if (new.attributes == NULL)
        return ridge_fail_nomem(f->b->cx);
    const ridge_str results = result_name(s);
    ridge_str rest = results;
    const ridge_str name = ridge_str_trim(ridge_str_cut(&rest, ':'));
    const int index = mlir_value_add(f, name, &new);
    if (index < 0)
        return ridge_fail_nomem(f->b->cx);
    return ridge_hlo_shape_is_tuple(&new.shape)
               ? name_parts(f, results, index, &new.shape)
               : RIDGE_OK;
}
