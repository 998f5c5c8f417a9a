/* Values of a function by name, and the parts of those that are tuples. */
#include "hlo_attribute.h"
#include "hlo_type.h"
#include "mlir_attribute.h"
#include "mlir_region.h"

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
ridge_str mlir_value_name(text_cursor *c)
{
    const char *from = c->p;
    text_cursor_word(c);
    if (text_cursor_peek(c) == '#') {
        c->p++;
        text_cursor_word(c);
    }
    return (ridge_str){from, (size_t)(c->p - from)};
}

/* The name of a part: "name#k" of "%name:3", the k-th of "%a, %b". */
ridge_str mlir_part_name(mlir_function *f, ridge_str results, int k, int n)
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

/* Several results are parts of one; those behind the named ones have no name. */
ridge_status mlir_parts_name(mlir_function *f, ridge_str results, int tuple,
                             int n_named)
{
    const ridge_hlo_shape shape =
        ((const ridge_hlo_instruction *)(const void *)f->b->instructions.items)[tuple]
            .shape;
    for (int k = 0; k < n_named && k < shape.n; k++) {
        const ridge_str part = mlir_part_name(f, results, k, n_named);
        if (mlir_part_add(f, part, tuple, &shape, k) < 0)
            return ridge_fail_nomem(f->b->cx);
    }
    return RIDGE_OK;
}

int mlir_part_add(mlir_function *f, ridge_str name, int tuple,
                  const ridge_hlo_shape *shape, int k)
{
    int *operand = ridge_new(f->b->arena, int, 1);
    ridge_hlo_attribute *index = ridge_new(f->b->arena, ridge_hlo_attribute, 1);
    const char *number = ridge_sprintf(f->b->arena, "%d", k);
    if (!operand || !index || !number)
        return -1;
    *operand = tuple;
    *index = (ridge_hlo_attribute){ridge_str_of("index"), ridge_str_of(number)};
    const ridge_hlo_instruction i = {.code = RIDGE_HLO_OP_GET_TUPLE_ELEMENT,
                                     .code_text = ridge_str_of("get-tuple-element"),
                                     .shape = shape->parts[k],
                                     .n_operands = 1,
                                     .operands = operand,
                                     .n_attributes = 1,
                                     .attributes = index};
    return mlir_value_add(f, name, &i);
}
