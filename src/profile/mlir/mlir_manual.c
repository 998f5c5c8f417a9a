/*
 * Computations whose shapes are one device's own (shard_map):
 *
 *     %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>]
 *         out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<2x8xf32>)
 *         { .. sdy.return %c : tensor<2x8xf32> } : (tensor<4x8xf32>) -> tensor<4x8xf32>
 *
 * become a call between custom calls that say where shapes change, as XLA has them.
 */
#include "mlir_attribute.h"
#include "mlir_region.h"

#include <string.h>

enum { ARRAYS_MOST = 256 };

/** The pieces of the statement. */
typedef struct manual {
    ridge_str in, out, axes; /* the lists of shardings, the axes */
    mlir_region region;
    int n; /* arguments */
    int line;
    int values[ARRAYS_MOST];
} manual;

/* A list of shardings behind a key, with its brackets. */
static ridge_str shardings_of(mlir_function *f, ridge_str text, const char *key)
{
    const char *p = mlir_key_find(text, key);
    ridge_str inner = {NULL, 0};
    if (p == NULL)
        return inner;
    text_cursor c = text_cursor_within(f->c, text);
    c.p = p;
    text_cursor_skip(&c);
    return text_cursor_peek(&c) == '[' && text_cursor_enclosed(&c, &inner)
               ? inner
               : (ridge_str){NULL, 0};
}

/* "(%b: t, ..) { .. }" behind manual_axes={..}. */
static ridge_status read_region(mlir_function *f, const mlir_statement *s, manual *m)
{
    const char *p = mlir_key_find(s->rest, "manual_axes");
    text_cursor c = text_cursor_within(f->c, s->rest);
    ridge_str *names = ridge_new(f->b->arena, ridge_str, ARRAYS_MOST);
    ridge_hlo_shape *shapes = ridge_new(f->b->arena, ridge_hlo_shape, ARRAYS_MOST);
    ridge_str inner;
    if (names == NULL || shapes == NULL)
        return ridge_fail_nomem(f->b->cx);
    c.p = p ? p : c.end;
    text_cursor_skip(&c);
    if (text_cursor_peek(&c) != '{' || !text_cursor_enclosed(&c, &m->axes))
        return text_cursor_fail(&c, "manual_axes={..} is wanted");
    text_cursor_skip(&c);
    if (text_cursor_peek(&c) != '(' || !text_cursor_enclosed(&c, &inner))
        return text_cursor_fail(&c, "the arguments of a manual computation are wanted");
    text_cursor in = text_cursor_within(&c, inner);
    while (m->n < ARRAYS_MOST && text_cursor_take(&in, "%")) {
        names[m->n] = text_cursor_word(&in);
        RIDGE_TRY(text_cursor_want(&in, ":", "behind the name of an argument"));
        RIDGE_TRY(mlir_type_read(&in, &shapes[m->n]));
        m->n++;
        text_cursor_take(&in, ",");
    }
    m->region =
        (mlir_region){.kind = MLIR_REGION_FUNCTION,
                      .arguments = names,
                      .state = {.type = RIDGE_HLO_TUPLE, .n = m->n, .parts = shapes}};
    if (!text_cursor_sees(&c, "{") || !text_cursor_enclosed(&c, &m->region.text))
        return text_cursor_fail(&c, "the body of a manual computation is wanted");
    return RIDGE_OK;
}

/* "(%a, %b)" that the computation is given. */
static ridge_status read_operands(mlir_function *f, const mlir_statement *s, manual *m)
{
    text_cursor c = text_cursor_within(f->c, s->rest);
    ridge_str inner;
    int n = 0;
    if (!text_cursor_sees(&c, "(") || !text_cursor_enclosed(&c, &inner))
        return text_cursor_fail(&c, "the operands of a manual computation are wanted");
    text_cursor in = text_cursor_within(&c, inner);
    while (n < ARRAYS_MOST && text_cursor_take(&in, "%")) {
        const char *at = in.p;
        RIDGE_TRY(mlir_value_find(f, mlir_value_name(&in), at, &m->values[n++]));
        text_cursor_take(&in, ",");
    }
    return n == m->n ? RIDGE_OK
                     : text_cursor_fail(&c, "%d values for %d arguments", n, m->n);
}

/* The k-th "<@mesh, [..]>" of a list. */
static ridge_str sharding_at(ridge_str list, int k)
{
    for (size_t at = 0; at + 1 < list.n; at++) {
        if (list.p[at] == '<' && list.p[at + 1] == '@' && k-- == 0) {
            size_t to = at;
            while (to < list.n && list.p[to] != '>')
                to++;
            return (ridge_str){list.p + at, to + (to < list.n) - at};
        }
    }
    return (ridge_str){"", 0};
}

/* A change between the whole and one device's part. */
typedef struct change {
    const char *target;
    int value; /* what is changed */
    const ridge_hlo_shape *shape;
    ridge_str sharding;
} change;

/* A custom call that makes it. */
static int add_change(mlir_function *f, const manual *m, const change *c)
{
    ridge_hlo_attribute *a = ridge_new(f->b->arena, ridge_hlo_attribute, 3);
    int *operand = ridge_new(f->b->arena, int, 1);
    if (a == NULL || operand == NULL)
        return -1;
    *operand = c->value;
    a[0] = (ridge_hlo_attribute){ridge_str_of("custom_call_target"),
                                 ridge_str_of(c->target)};
    a[1] = (ridge_hlo_attribute){ridge_str_of("manual_sharding"), c->sharding};
    a[2] = (ridge_hlo_attribute){ridge_str_of("manual_axes"), m->axes};
    const ridge_hlo_instruction i = {.code = RIDGE_HLO_OP_CUSTOM_CALL,
                                     .code_text = ridge_str_of("custom-call"),
                                     .shape = *c->shape,
                                     .n_operands = 1,
                                     .operands = operand,
                                     .n_attributes = 3,
                                     .attributes = a,
                                     .line = m->line};
    return hlo_builder_add(f->b, &i);
}

/* A result of one device, under the statement's name for the whole. */
static ridge_status name_result(mlir_function *f, const manual *m, ridge_str name,
                                const change *c)
{
    const int index = add_change(f, m, c);
    if (index < 0)
        return ridge_fail_nomem(f->b->cx);
    ridge_hlo_instruction named =
        ((const ridge_hlo_instruction *)(const void *)f->b->instructions.items)[index];
    f->b->instructions.n--; /* again, with its name */
    f->b->module.n_instructions--;
    return mlir_value_add(f, name, &named) < 0 ? ridge_fail_nomem(f->b->cx) : RIDGE_OK;
}

static ridge_status add_call(mlir_function *f, manual *m, const ridge_hlo_shape *shape,
                             int *out)
{
    int *operands = ridge_new(f->b->arena, int, (size_t)m->n + 1);
    int *called = ridge_new(f->b->arena, int, 1);
    if (operands == NULL || called == NULL)
        return ridge_fail_nomem(f->b->cx);
    for (int k = 0; k < m->n; k++) {
        const change c = {"\"xla.sdy.GlobalToLocalShape\"", m->values[k],
                          &m->region.state.parts[k], sharding_at(m->in, k)};
        operands[k] = add_change(f, m, &c);
        if (operands[k] < 0)
            return ridge_fail_nomem(f->b->cx);
    }
    RIDGE_TRY(mlir_region_queue(f, &m->region, called));
    const ridge_hlo_instruction call = {.code = RIDGE_HLO_OP_CALL,
                                        .code_text = ridge_str_of("call"),
                                        .shape = *shape,
                                        .n_operands = m->n,
                                        .operands = operands,
                                        .n_called = 1,
                                        .called = called,
                                        .line = m->line};
    *out = hlo_builder_add(f->b, &call);
    return *out < 0 ? ridge_fail_nomem(f->b->cx) : RIDGE_OK;
}

/* What the body returns: the types behind its last sdy.return. */
static ridge_status find_results(mlir_function *f, const manual *m, hlo_list *out)
{
    static const char word[] = "sdy.return";
    const ridge_str text = m->region.text;
    size_t last = text.n;
    for (size_t at = 0; at + sizeof word < text.n; at++)
        last = memcmp(text.p + at, word, sizeof word - 1) == 0 ? at : last;
    text_cursor c = text_cursor_within(f->c, text);
    c.p = text.p + last;
    while (c.p < c.end && *c.p != ':')
        c.p++;
    if (!text_cursor_take(&c, ":"))
        return RIDGE_OK;
    return mlir_signature_read(&c, out);
}

ridge_status mlir_manual_take(mlir_function *f, const mlir_statement *s)
{
    manual *m = ridge_new(f->b->scratch, manual, 1);
    hlo_list whole = {.size = sizeof(ridge_hlo_shape)};
    hlo_list own = {.size = sizeof(ridge_hlo_shape)};
    text_cursor place = *f->c;
    text_cursor types = text_cursor_within(f->c, s->types);
    int call = -1;
    if (m == NULL)
        return ridge_fail_nomem(f->b->cx);
    place.p = s->at;
    m->line = text_cursor_line(&place);
    m->in = shardings_of(f, s->rest, "in_shardings");
    m->out = shardings_of(f, s->rest, "out_shardings");
    RIDGE_TRY(read_region(f, s, m));
    RIDGE_TRY(read_operands(f, s, m));
    RIDGE_TRY(mlir_signature_read(&types, &whole));
    RIDGE_TRY(find_results(f, m, &own));
    if (own.n != whole.n || own.n == 0)
        return text_cursor_fail(&place, "a manual computation gives %d arrays for %d",
                                own.n, whole.n);
    const ridge_hlo_shape *parts = hlo_list_copy(f->b->arena, &own);
    const ridge_hlo_shape *wholes = hlo_list_copy(f->b->arena, &whole);
    if (parts == NULL || wholes == NULL)
        return ridge_fail_nomem(f->b->cx);
    const ridge_hlo_shape tuple = {.type = RIDGE_HLO_TUPLE, .n = own.n, .parts = parts};
    RIDGE_TRY(add_call(f, m, own.n == 1 ? &parts[0] : &tuple, &call));
    const ridge_str results = ridge_str_trim(s->results);
    const ridge_str named = {results.n > 0 ? results.p + 1 : results.p,
                             results.n > 0 ? results.n - 1 : 0};
    for (int k = 0; k < own.n; k++) {
        const int value =
            own.n == 1 ? call : mlir_part_add(f, ridge_str_of(""), call, &tuple, k);
        if (value < 0)
            return ridge_fail_nomem(f->b->cx);
        const change c = {"\"xla.sdy.LocalToGlobalShape\"", value, &wholes[k],
                          sharding_at(m->out, k)};
        RIDGE_TRY(name_result(f, m, mlir_part_name(f, named, k, own.n), &c));
    }
    return RIDGE_OK;
}
