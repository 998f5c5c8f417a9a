/* The body of a function or of a region: its statements, up to what it returns. */
#include "hlo_attribute.h"
#include "hlo_type.h"
#include "mlir_region.h"
#include "mlir_text.h"

/* What a body hands on without a word of it. */
static ridge_status add_carried(mlir_function *f, const mlir_region *region,
                                hlo_list *operands)
{
    for (int k = region->n_carried; k < region->state.n; k++) {
        int *operand = hlo_list_push(f->b->scratch, operands);
        if (operand == NULL)
            return ridge_fail_nomem(f->b->cx);
        *operand = hlo_builder_find(f->b, region->arguments[k]);
    }
    return RIDGE_OK;
}

static ridge_status read_returned(mlir_function *f, ridge_str text, hlo_list *operands)
{
    text_cursor c = text_cursor_within(f->c, text);
    while (c.p < c.end) {
        if (*c.p++ != '%')
            continue;
        const char *from = c.p;
        const ridge_str name = mlir_value_name(&c);
        int *operand = hlo_list_push(f->b->scratch, operands);
        if (operand == NULL)
            return ridge_fail_nomem(f->b->cx);
        RIDGE_TRY(mlir_value_find(f, name, from, operand));
    }
    return RIDGE_OK;
}

/* return %a, %b: one value is the root, several are a tuple of them. */
static ridge_status take_return(mlir_function *f, const mlir_statement *s,
                                const mlir_region *region, int *root)
{
    hlo_list operands = {.size = sizeof(int)},
             shapes = {.size = sizeof(ridge_hlo_shape)};
    const bool is_body = region && region->kind == MLIR_REGION_BODY;
    RIDGE_TRY(read_returned(f, s->rest, &operands));
    if (is_body)
        RIDGE_TRY(add_carried(f, region, &operands));
    if (operands.n == 1 && !is_body) {
        *root = *(const int *)(const void *)operands.items;
        return RIDGE_OK;
    }
    for (int k = 0; k < operands.n; k++) {
        ridge_hlo_shape *shape = hlo_list_push(f->b->scratch, &shapes);
        if (shape == NULL)
            return ridge_fail_nomem(f->b->cx);
        *shape = ((const ridge_hlo_instruction *)(const void *)f->b->instructions
                      .items)[((const int *)(const void *)operands.items)[k]]
                     .shape;
    }
    const ridge_hlo_instruction tuple = {
        .code = RIDGE_HLO_OP_TUPLE,
        .code_text = ridge_str_of("tuple"),
        .shape = {.type = RIDGE_HLO_TUPLE,
                  .n = shapes.n,
                  .parts = hlo_list_copy(f->b->arena, &shapes)},
        .n_operands = operands.n,
        .operands = hlo_list_copy(f->b->arena, &operands)};
    *root = tuple.shape.parts && tuple.operands ? hlo_builder_add(f->b, &tuple) : -1;
    return *root < 0 ? ridge_fail_nomem(f->b->cx) : RIDGE_OK;
}

static bool is_return(ridge_str op)
{
    return ridge_str_is(op, "return") || ridge_str_is(op, "func.return") ||
           ridge_str_is(op, "stablehlo.return") || ridge_str_is(op, "sdy.return");
}

ridge_status mlir_body_read(mlir_function *f, text_cursor *c, const mlir_region *region)
{
    int root = -1;
    for (;;) {
        mlir_statement s;
        bool is_end;
        RIDGE_TRY(mlir_statement_read(c, &s, &is_end));
        if (is_end)
            break;
        if (s.op.p[0] == '#' || ridge_str_is(s.op, "loc"))
            continue;
        if (is_return(s.op))
            RIDGE_TRY(take_return(f, &s, region, &root));
        else
            RIDGE_TRY(mlir_op_take(f, &s));
    }
    if (f->b->instructions.n == 0)
        return text_cursor_fail(c, "a function computes nothing");
    return hlo_builder_close(f->b, root) ? RIDGE_OK : ridge_fail_nomem(f->b->cx);
}

static int add_parameter(mlir_function *f, int number, const ridge_hlo_shape *shape,
                         ridge_str name)
{
    const char *literal = ridge_sprintf(f->b->arena, "%d", number);
    const ridge_hlo_instruction i = {.code = RIDGE_HLO_OP_PARAMETER,
                                     .code_text = ridge_str_of("parameter"),
                                     .literal = ridge_str_of(literal ? literal : "0"),
                                     .shape = *shape};
    return literal ? mlir_value_add(f, name, &i) : -1;
}

/* "stablehlo.add" of two scalars. */
static ridge_status close_applied(mlir_function *f, const mlir_region *region)
{
    int *operands = ridge_new(f->b->arena, int, 2);
    ridge_hlo_instruction i = {.code_text = region->applied,
                               .n_operands = 2,
                               .operands = operands,
                               .shape = region->state.parts[0]};
    if (operands == NULL)
        return ridge_fail_nomem(f->b->cx);
    operands[0] = 0;
    operands[1] = 1;
    hlo_opcode_find(i.code_text, &i.code, &i.phase);
    const int root = hlo_builder_add(f->b, &i);
    return root >= 0 && hlo_builder_close(f->b, root) ? RIDGE_OK
                                                      : ridge_fail_nomem(f->b->cx);
}

ridge_status mlir_region_read(mlir_function *f, const mlir_region *region)
{
    text_cursor c = text_cursor_within(f->c, region->text);
    const bool is_function = region->kind == MLIR_REGION_FUNCTION;
    if (hlo_builder_open(f->b, region->name, false, text_cursor_line(&c)) < 0)
        return ridge_fail_nomem(f->b->cx);
    const ridge_str none = ridge_str_of("");
    const int state = is_function ? 0 : add_parameter(f, 0, &region->state, none);
    for (int k = 0; state >= 0 && k < region->state.n; k++) {
        const int part =
            is_function
                ? add_parameter(f, k, &region->state.parts[k], region->arguments[k])
                : mlir_part_add(f, region->arguments[k], state, &region->state, k);
        if (part < 0)
            return ridge_fail_nomem(f->b->cx);
    }
    if (state < 0)
        return ridge_fail_nomem(f->b->cx);
    return region->applied.n > 0 ? close_applied(f, region)
                                 : mlir_body_read(f, &c, region);
}
