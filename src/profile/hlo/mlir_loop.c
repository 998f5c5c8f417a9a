/* Loops of StableHLO: the values that go around become a tuple, the regions
 * computations. */
#include "mlir_text.h"

#include <string.h>

/* "(%iterArg = %0, %iterArg_1 = %1)": the names on the left. */
static ridge_status read_arguments(mlir_function *f, ridge_str rest, hlo_list *names)
{
    text_cursor c = text_cursor_within(f->c, rest);
    while (c.p < c.end) {
        if (*c.p++ != '%')
            continue;
        const ridge_str name = text_cursor_word(&c);
        text_cursor_skip(&c);
        if (text_cursor_peek(&c) != '=')
            continue;
        ridge_str *kept = hlo_list_push(f->b->scratch, names);
        if (kept == NULL)
            return ridge_fail_nomem(f->b->cx);
        *kept = name;
    }
    return RIDGE_OK;
}

static ridge_status queue_region(mlir_function *f, const mlir_region *region, int *slot)
{
    mlir_region *kept = hlo_list_push(f->b->scratch, &f->regions);
    const char *name =
        ridge_sprintf(f->b->arena, "%s.%d", region->is_condition ? "condition" : "body",
                      f->regions.n);
    if (kept == NULL || name == NULL ||
        !hlo_builder_call(f->b, slot, ridge_str_of(name)))
        return ridge_fail_nomem(f->b->cx);
    *kept = *region;
    kept->name = ridge_str_of(name);
    return RIDGE_OK;
}

/* "cond {..} do {..}" behind the types. */
static ridge_status queue_regions(mlir_function *f, const mlir_statement *s,
                                  mlir_region *region, int *called)
{
    static const char *const words[] = {"cond", "do"};
    text_cursor c = text_cursor_within(f->c, s->types);
    for (int k = 0; k < 2; k++) {
        ridge_str ignored; /* attributes */
        while (c.p < c.end && !text_cursor_sees(&c, words[k])) {
            if (*c.p != '{' || !text_cursor_enclosed(&c, &ignored))
                c.p++;
        }
        if (!text_cursor_take(&c, words[k]) || !text_cursor_sees(&c, "{") ||
            !text_cursor_enclosed(&c, &region->text))
            return text_cursor_fail(&c, "'%s {' is wanted in a while", words[k]);
        region->is_condition = k == 0;
        RIDGE_TRY(queue_region(f, region, &called[k]));
    }
    return RIDGE_OK;
}

/* The values that go in as one tuple. */
static ridge_status pack(mlir_function *f, ridge_hlo_instruction *loop)
{
    const ridge_hlo_instruction tuple = {.code = RIDGE_HLO_OP_TUPLE,
                                         .code_text = ridge_str_of("tuple"),
                                         .shape = loop->shape,
                                         .n_operands = loop->n_operands,
                                         .operands = loop->operands,
                                         .line = loop->line};
    int *operand = ridge_new(f->b->arena, int, 1);
    const int index = hlo_builder_add(f->b, &tuple);
    if (operand == NULL || index < 0)
        return ridge_fail_nomem(f->b->cx);
    *operand = index;
    loop->operands = operand;
    loop->n_operands = 1;
    return RIDGE_OK;
}

ridge_status mlir_loop_take(mlir_function *f, const mlir_statement *s,
                            ridge_hlo_instruction *loop)
{
    hlo_list names = {.size = sizeof(ridge_str)};
    mlir_region region = {.is_condition = true};
    int *called = ridge_new(f->b->arena, int, 2);
    RIDGE_TRY(read_arguments(f, s->rest, &names));
    if (!ridge_hlo_shape_is_tuple(&loop->shape)) { /* of one value */
        ridge_hlo_shape *part = ridge_new(f->b->arena, ridge_hlo_shape, 1);
        if (part == NULL)
            return ridge_fail_nomem(f->b->cx);
        *part = loop->shape;
        loop->shape = (ridge_hlo_shape){.type = RIDGE_HLO_TUPLE, .n = 1, .parts = part};
    }
    region.state = loop->shape;
    region.arguments = hlo_list_copy(f->b->arena, &names);
    if (called == NULL || region.arguments == NULL)
        return ridge_fail_nomem(f->b->cx);
    if (names.n != loop->shape.n || loop->n_operands != names.n) {
        text_cursor c = *f->c;
        c.p = s->at;
        return text_cursor_fail(&c, "a while has %d types for %d values", loop->shape.n,
                                names.n);
    }
    RIDGE_TRY(queue_regions(f, s, &region, called));
    loop->called = called;
    loop->n_called = 2;
    return pack(f, loop);
}
