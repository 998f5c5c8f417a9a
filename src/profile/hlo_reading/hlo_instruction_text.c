/*
 * Instructions as HLO text writes them:
 *
 *     [ROOT] [%]name = [shape] opcode(operands), key=value, ...
 *
 * An operand is a name, with its shape before it in older text, or a whole instruction
 * of its own. A parameter may be named in the head of its computation alone.
 */
#include "hlo_shape_text.h"
#include "hlo_text.h"
#include "hlo_type.h"

#include <string.h>

enum { INLINE_DEPTH_MOST = 16 };

/** The computation being read. */
typedef struct body {
    text_cursor *c;
    hlo_builder *b;
    ridge_str signature;
    hlo_list operands, attributes, called; /* room, used again and again */
} body;

ridge_status hlo_text_attributes(text_cursor *c, hlo_list *list)
{
    for (;;) {
        text_cursor_skip_blank(c);
        if (text_cursor_peek(c) != ',')
            return RIDGE_OK;
        c->p++;
        text_cursor_skip(c);
        ridge_hlo_attribute *a = hlo_list_push(ridge_ctx_scratch(c->cx), list);
        if (a == NULL)
            return ridge_fail_nomem(c->cx);
        a->key = text_cursor_word(c);
        if (a->key.n == 0)
            return text_cursor_fail(c, "an attribute is wanted behind the comma");
        text_cursor_skip_blank(c);
        if (text_cursor_peek(c) != '=')
            return text_cursor_fail(c, "'=' is wanted behind the attribute '%.*s'",
                                    (int)a->key.n, a->key.p);
        c->p++;
        text_cursor_skip_blank(c);
        a->text = text_cursor_value(c);
    }
}

/* ---- called computations --------------------------------------------------------- */

/* In this order they stand in instruction.called. */
static const char *const call_keys[] = {"condition",
                                        "body",
                                        "calls",
                                        "to_apply",
                                        "true_computation",
                                        "false_computation",
                                        "select",
                                        "scatter",
                                        "branch_computations",
                                        "called_computations"};

static ridge_status add_names(body *y, ridge_str text)
{
    text_cursor c = text_cursor_within(y->c, text);
    const bool is_list = text_cursor_take(&c, "{");
    do {
        text_cursor_skip(&c);
        text_cursor_take(&c, "%");
        const ridge_str name = text_cursor_word(&c);
        if (name.n == 0)
            break;
        ridge_str *kept = hlo_list_push(y->b->scratch, &y->called);
        if (kept == NULL)
            return ridge_fail_nomem(c.cx);
        *kept = name;
    } while (is_list && text_cursor_take(&c, ","));
    return RIDGE_OK;
}

static ridge_status resolve_called(body *y, ridge_hlo_instruction *out)
{
    const ridge_hlo_attribute *a = out->attributes;
    y->called.n = 0;
    for (size_t k = 0; k < RIDGE_COUNT_OF(call_keys); k++) {
        for (int i = 0; i < out->n_attributes; i++) {
            if (ridge_str_is(a[i].key, call_keys[k]))
                RIDGE_TRY(add_names(y, a[i].text));
        }
    }
    int *called = ridge_new(y->b->arena, int, (size_t)y->called.n);
    if (called == NULL)
        return ridge_fail_nomem(y->c->cx);
    const ridge_str *names = (const ridge_str *)(const void *)y->called.items;
    for (int i = 0; i < y->called.n; i++) {
        if (!hlo_builder_call(y->b, &called[i], names[i]))
            return ridge_fail_nomem(y->c->cx);
    }
    out->called = called;
    out->n_called = y->called.n;
    return RIDGE_OK;
}

/* ---- operands -------------------------------------------------------------------- */

static ridge_status read_call(body *y, int depth, ridge_hlo_instruction *out);

/* A parameter that only the head of the computation names: "(param: (s32[], f32[8]))".
 * @param out  -1: it is not there either */
static ridge_status find_in_head(body *y, ridge_str name, int *out)
{
    text_cursor c = text_cursor_within(y->c, y->signature);
    *out = -1;
    for (int number = 0; y->signature.p && !text_cursor_is_end(&c); number++) {
        ridge_hlo_instruction new = {.code = RIDGE_HLO_OP_PARAMETER,
                                     .code_text = ridge_str_of("parameter"),
                                     .line = text_cursor_line(y->c)};
        text_cursor_skip(&c);
        text_cursor_take(&c, "%");
        new.name = text_cursor_word(&c);
        if (new.name.n == 0 || !text_cursor_take(&c, ":") || !hlo_shape_sees(&c))
            return RIDGE_OK;
        RIDGE_TRY(hlo_shape_read(&c, &new.shape));
        if (ridge_str_equal(new.name, name)) {
            const char *text = ridge_sprintf(y->b->arena, "%d", number);
            new.literal = ridge_str_of(text);
            *out = text ? hlo_builder_add(y->b, &new) : -1;
            return *out < 0 ? ridge_fail_nomem(y->c->cx) : RIDGE_OK;
        }
        if (!text_cursor_take(&c, ","))
            return RIDGE_OK;
    }
    return RIDGE_OK;
}

/* An instruction in the place of an operand: "s32[] constant(1)". */
static ridge_status read_inline(body *y, int depth, ridge_str code,
                                const ridge_hlo_shape *shape, int *out)
{
    hlo_list outer = y->operands;
    ridge_hlo_instruction new = {
        .code_text = code, .shape = *shape, .line = text_cursor_line(y->c)};
    if (depth == INLINE_DEPTH_MOST)
        return text_cursor_fail(y->c, "instructions lie deeper than %d in each other",
                                INLINE_DEPTH_MOST);
    y->operands = (hlo_list){.size = sizeof(int)};
    RIDGE_TRY(read_call(y, depth + 1, &new));
    y->operands = outer;
    *out = hlo_builder_add(y->b, &new);
    return *out < 0 ? ridge_fail_nomem(y->c->cx) : RIDGE_OK;
}

static ridge_status read_operand(body *y, int depth, int *out)
{
    text_cursor *c = y->c;
    ridge_hlo_shape shape = {.is_unknown = true};
    if (hlo_shape_sees(c))
        RIDGE_TRY(hlo_shape_read(c, &shape));
    text_cursor_skip(c);
    const bool is_marked = text_cursor_take(c, "%");
    const char *at = c->p;
    const ridge_str name = text_cursor_word(c);
    if (name.n == 0)
        return text_cursor_fail(c, "the name of an operand is wanted");
    if (!is_marked && text_cursor_peek(c) == '(')
        return read_inline(y, depth, name, &shape, out);
    *out = hlo_builder_find(y->b, name);
    if (*out < 0)
        RIDGE_TRY(find_in_head(y, name, out));
    if (*out >= 0)
        return RIDGE_OK;
    c->p = at;
    return text_cursor_fail(c, "operand '%.*s' is not defined before it is used",
                            (int)name.n, name.p);
}

static ridge_status read_operands(body *y, int depth, ridge_hlo_instruction *out)
{
    text_cursor *c = y->c;
    y->operands.n = 0;
    RIDGE_TRY(text_cursor_want(c, "(", "before the operands"));
    while (!text_cursor_take(c, ")")) {
        int operand = -1;
        if (y->operands.n > 0)
            RIDGE_TRY(text_cursor_want(c, ",", "between operands"));
        RIDGE_TRY(read_operand(y, depth, &operand));
        int *kept = hlo_list_push(y->b->scratch, &y->operands);
        if (kept == NULL)
            return ridge_fail_nomem(c->cx);
        *kept = operand;
    }
    out->operands = hlo_list_copy(y->b->arena, &y->operands);
    out->n_operands = y->operands.n;
    return out->operands ? RIDGE_OK : ridge_fail_nomem(c->cx);
}

/* ---- instructions ---------------------------------------------------------------- */

/* What follows the opcode: operands or a literal, attributes, what is called. */
static ridge_status read_call(body *y, int depth, ridge_hlo_instruction *out)
{
    text_cursor *c = y->c;
    hlo_opcode_find(out->code_text, &out->code, &out->phase);
    if (out->code == RIDGE_HLO_OP_CONSTANT || out->code == RIDGE_HLO_OP_PARAMETER) {
        text_cursor_skip(c);
        if (text_cursor_peek(c) != '(' || !text_cursor_enclosed(c, &out->literal))
            return text_cursor_fail(c, "a value in parentheses is wanted");
        out->literal = ridge_str_trim(out->literal);
    } else {
        RIDGE_TRY(read_operands(y, depth, out));
    }
    if (depth > 0)
        return RIDGE_OK; /* what follows an operand is the next operand */
    y->attributes.n = 0;
    RIDGE_TRY(hlo_text_attributes(c, &y->attributes));
    out->attributes = hlo_list_copy(y->b->arena, &y->attributes);
    out->n_attributes = y->attributes.n;
    if (out->attributes == NULL)
        return ridge_fail_nomem(c->cx);
    return resolve_called(y, out);
}

/* A shape that the text does not give is that of the first operand. */
static void guess_shape(body *y, ridge_hlo_instruction *out)
{
    if (!out->shape.is_unknown)
        return;
    const ridge_hlo_instruction *all =
        (const ridge_hlo_instruction *)(const void *)y->b->instructions.items;
    hlo_builder_miss(y->b, "the shape of", out->name);
    if (out->n_operands > 0)
        out->shape = all[out->operands[0]].shape;
}

static ridge_status read_instruction(body *y, int *root)
{
    text_cursor *c = y->c;
    ridge_hlo_instruction new = {.shape = {.is_unknown = true}};
    const bool is_root = text_cursor_take(c, "ROOT ");
    new.line = text_cursor_line(c);
    text_cursor_skip(c);
    text_cursor_take(c, "%");
    new.name = text_cursor_word(c);
    if (new.name.n == 0)
        return text_cursor_fail(c, "the name of an instruction or } is wanted");
    RIDGE_TRY(text_cursor_want(c, "=", "behind the name of an instruction"));
    if (hlo_shape_sees(c))
        RIDGE_TRY(hlo_shape_read(c, &new.shape));
    text_cursor_skip(c);
    new.code_text = text_cursor_word(c);
    if (new.code_text.n == 0)
        return text_cursor_fail(c, "an opcode is wanted");
    RIDGE_TRY(read_call(y, 0, &new));
    guess_shape(y, &new);
    const int index = hlo_builder_add(y->b, &new);
    if (index < 0)
        return ridge_fail_nomem(c->cx);
    if (is_root)
        *root = index;
    return RIDGE_OK;
}

bool hlo_text_is_last_line(const char *from, const char *end)
{
    const char *nl = memchr(from, '\n', (size_t)(end - from));
    return nl == NULL || ridge_str_trim((ridge_str){nl, (size_t)(end - nl)}).n == 0;
}

/* A file that was cut in the middle of a line: what stands before it is kept. */
static void cut_here(body *y, int n, const char *from)
{
    const ridge_hlo_computation *last =
        (const ridge_hlo_computation *)(const void *)y->b->computations.items +
        y->b->computations.n - 1;
    ridge_ctx_clear(y->c->cx);
    y->b->instructions.n = n;
    y->c->p = from;
    y->b->module.cut = ridge_sprintf(
        y->b->arena, "the text ends at line %d, within computation '%.*s'",
        text_cursor_line(y->c), (int)last->name.n, last->name.p);
    y->c->p = y->c->end;
}

ridge_status hlo_text_instructions(text_cursor *c, hlo_builder *b, ridge_str signature)
{
    body y = {.c = c,
              .b = b,
              .signature = signature,
              .operands = {.size = sizeof(int)},
              .attributes = {.size = sizeof(ridge_hlo_attribute)},
              .called = {.size = sizeof(ridge_str)}};
    int root = -1;
    while (!text_cursor_take(c, "}")) {
        const char *from = c->p;
        const int n = b->instructions.n;
        const ridge_status st = read_instruction(&y, &root);
        if (st == RIDGE_E_PARSE && hlo_text_is_last_line(from, c->end)) {
            cut_here(&y, n, from);
            break;
        }
        RIDGE_TRY(st);
    }
    return hlo_builder_close(b, root) ? RIDGE_OK : ridge_fail_nomem(c->cx);
}
