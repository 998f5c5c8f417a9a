/* Loops of StableHLO: the values that go around become a tuple, the regions
 * computations. */
#include "mlir_region.h"

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

/* What the regions take from outside goes around with the rest. */
static ridge_status add_captures(mlir_function *f, const ridge_str *texts,
                                 hlo_list *names, ridge_hlo_instruction *loop)
{
    hlo_list more = {.size = sizeof(ridge_str)};
    for (int k = 0; k < 2; k++)
        RIDGE_TRY(mlir_captures_find(f, texts[k], &more));
    const int n = loop->shape.n, all = n + more.n;
    ridge_hlo_shape *parts = ridge_new(f->b->arena, ridge_hlo_shape, (size_t)all + 1);
    int *operands = ridge_new(f->b->arena, int, (size_t)all + 1);
    if (parts == NULL || operands == NULL)
        return ridge_fail_nomem(f->b->cx);
    for (int k = 0; k < all; k++) {
        const ridge_str name =
            k < n ? ridge_str_of("")
                  : ((const ridge_str *)(const void *)more.items)[k - n];
        operands[k] = k < n ? loop->operands[k] : hlo_builder_find(f->b, name);
        parts[k] = k < n ? loop->shape.parts[k]
                         : ((const ridge_hlo_instruction *)(const void *)
                                f->b->instructions.items)[operands[k]]
                               .shape;
        ridge_str *kept = k < n ? NULL : hlo_list_push(f->b->scratch, names);
        if (k >= n && kept == NULL)
            return ridge_fail_nomem(f->b->cx);
        if (kept)
            *kept = name;
    }
    loop->operands = operands;
    loop->n_operands = all;
    loop->shape = (ridge_hlo_shape){.type = RIDGE_HLO_TUPLE, .n = all, .parts = parts};
    return RIDGE_OK;
}

/* "cond {..} do {..}" behind the types. */
static ridge_status find_texts(mlir_function *f, const mlir_statement *s,
                               ridge_str *out)
{
    static const char *const words[] = {"cond", "do"};
    text_cursor c = text_cursor_within(f->c, s->types);
    for (int k = 0; k < 2; k++) {
        ridge_str ignored; /* attributes */
        while (c.p < c.end && !text_cursor_sees(&c, words[k])) {
            if (text_cursor_peek(&c) != '{' || !text_cursor_enclosed(&c, &ignored))
                c.p += c.p < c.end; /* blanks were skipped, maybe to the end */
        }
        if (!text_cursor_take(&c, words[k]) || !text_cursor_sees(&c, "{") ||
            !text_cursor_enclosed(&c, &out[k]))
            return text_cursor_fail(&c, "'%s {' is wanted in a while", words[k]);
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
    ridge_str texts[2];
    int *called = ridge_new(f->b->arena, int, 2);
    RIDGE_TRY(read_arguments(f, s->rest, &names));
    if (!ridge_hlo_shape_is_tuple(&loop->shape)) { /* of one value */
        ridge_hlo_shape *part = ridge_new(f->b->arena, ridge_hlo_shape, 1);
        if (part == NULL)
            return ridge_fail_nomem(f->b->cx);
        *part = loop->shape;
        loop->shape = (ridge_hlo_shape){.type = RIDGE_HLO_TUPLE, .n = 1, .parts = part};
    }
    const int n_carried = names.n;
    if (names.n != loop->shape.n || loop->n_operands != names.n) {
        text_cursor c = *f->c;
        c.p = s->at;
        return text_cursor_fail(&c, "a while has %d types for %d values", loop->shape.n,
                                names.n);
    }
    RIDGE_TRY(find_texts(f, s, texts));
    RIDGE_TRY(add_captures(f, texts, &names, loop));
    const ridge_str *arguments = hlo_list_copy(f->b->arena, &names);
    if (called == NULL || arguments == NULL)
        return ridge_fail_nomem(f->b->cx);
    for (int k = 0; k < 2; k++) {
        const mlir_region region = {.kind = k == 0 ? MLIR_REGION_CONDITION
                                                   : MLIR_REGION_BODY,
                                    .text = texts[k],
                                    .state = loop->shape,
                                    .arguments = arguments,
                                    .n_carried = n_carried};
        RIDGE_TRY(mlir_region_queue(f, &region, &called[k]));
    }
    loop->called = called;
    loop->n_called = 2;
    return pack(f, loop);
}
