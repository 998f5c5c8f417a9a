/* Operations of StableHLO as instructions of HLO. */
#include "hlo_attribute.h"
#include "hlo_type.h"
#include "mlir_attribute.h"
#include "mlir_region.h"

#include <string.h>

enum { WORD_MOST = 64, OPERANDS_MOST = 4096 };

/* ---- values -----------------------------------------------------------------------
 */

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
            const ridge_str name = mlir_value_name(&c);
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
    {"if", "conditional"},
    {"case", "conditional"},
};

/* "stablehlo.dynamic_slice" -> "dynamic-slice"; what is of no known dialect is kept. */
static ridge_str hlo_name(mlir_function *f, ridge_str op)
{
    ridge_str rest = op;
    const ridge_str dialect = ridge_str_cut(&rest, '.');
    char *name;
    if (rest.p == NULL)
        return op;
    if (ridge_str_is(dialect, "sdy") && ridge_str_is(rest, "constant"))
        return ridge_str_of("constant");
    if (ridge_str_is(dialect, "sdy") && ridge_str_is(rest, "propagation_barrier"))
        return ridge_str_of("custom-call");
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

/* ---- statements -------------------------------------------------------------------
 */

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

/* "(%a init: %x), (%b init: %y)": arrays first, then what they begin with. */
static void part_pairs(int *operands, const int *pairs, int n)
{
    for (int k = 0; k < n / 2; k++) {
        operands[k] = pairs[2 * k];
        operands[n / 2 + k] = pairs[2 * k + 1];
    }
}

static ridge_status take_operands(mlir_function *f, const mlir_statement *s,
                                  ridge_hlo_instruction *out)
{
    hlo_list operands = {.size = sizeof(int)};
    RIDGE_TRY(read_operands(f, s, &operands));
    int *kept = hlo_list_copy(f->b->arena, &operands);
    if (kept == NULL)
        return ridge_fail_nomem(f->b->cx);
    if (out->code == RIDGE_HLO_OP_REDUCE && hlo_text_has(s->rest, " init: "))
        part_pairs(kept,
                   operands.items ? (const int *)(const void *)operands.items : kept,
                   operands.n);
    out->n_operands = operands.n;
    out->operands = kept;
    return RIDGE_OK;
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

/* dense<32>, dense<[[1, 2]]>: a number of hexadecimal digits is one of its bits. */
static ridge_str literal_of(mlir_function *f, const mlir_statement *s,
                            ridge_hlo_type type)
{
    static const struct {
        const char *bits, *text;
    } ends[] = {{"0xFF800000", "-inf"},
                {"0x7F800000", "inf"},
                {"0xFF80", "-inf"},
                {"0x7F80", "inf"},
                {"0xFC00", "-inf"},
                {"0x7C00", "inf"},
                {"0xFFF0000000000000", "-inf"},
                {"0x7FF0000000000000", "inf"}};
    const ridge_str text = ridge_str_trim(s->rest);
    size_t from = 0, to = text.n;
    for (size_t at = 0; at + 6 < text.n; at++) {
        if (memcmp(text.p + at, "dense<", 6) == 0) {
            from = at + 6;
            break;
        }
    }
    while (from > 0 && to > from && text.p[to - 1] != '>')
        to--;
    /* without its '>' it is what is left */
    const ridge_str own = {text.p + from,
                           from > 0 && to > from ? to - 1 - from : text.n - from};
    for (size_t k = 0; ridge_hlo_type_is_float(type) && k < RIDGE_COUNT_OF(ends); k++) {
        if (ridge_str_is(own, ends[k].bits))
            return ridge_str_of(ends[k].text);
    }
    char *kept =
        own.n > 0 && own.p[0] == '[' ? ridge_new(f->b->arena, char, own.n + 1) : NULL;
    for (size_t k = 0; kept && k < own.n; k++)
        kept[k] = (char)(own.p[k] == '[' ? '{' : own.p[k] == ']' ? '}' : own.p[k]);
    return kept ? (ridge_str){kept, own.n} : own;
}

/* Whether a statement is written by more than one instruction. @return false: by one */
static ridge_status take_regions(mlir_function *f, const mlir_statement *s,
                                 ridge_hlo_instruction *new)
{
    if (new->code == RIDGE_HLO_OP_CALL)
        return take_callee(f, s, new);
    if (new->code == RIDGE_HLO_OP_WHILE)
        return mlir_loop_take(f, s, new);
    if (new->code == RIDGE_HLO_OP_CONDITIONAL)
        return mlir_branches_take(f, s, new);
    return mlir_functions_take(f, s, new);
}

ridge_status mlir_op_take(mlir_function *f, const mlir_statement *s)
{
    ridge_hlo_instruction new = {.code_text = hlo_name(f, s->op)};
    hlo_list attributes = {.size = sizeof(ridge_hlo_attribute)};
    text_cursor place = *f->c;
    if (ridge_str_is(s->op, "sdy.manual_computation"))
        return mlir_manual_take(f, s);
    place.p = s->at;
    new.line = text_cursor_line(&place);
    if (ridge_str_is(s->op, "call") || ridge_str_is(s->op, "func.call"))
        new.code_text = ridge_str_of("call");
    hlo_opcode_find(new.code_text, &new.code, &new.phase);
    RIDGE_TRY(take_shape(f, s, &new.shape));
    const int n_named = ridge_hlo_shape_is_tuple(&new.shape) ? new.shape.n : 1;
    if (new.code == RIDGE_HLO_OP_CONSTANT)
        new.literal = literal_of(f, s, new.shape.type);
    else
        RIDGE_TRY(take_operands(f, s, &new));
    RIDGE_TRY(take_regions(f, s, &new));
    RIDGE_TRY(mlir_attributes_take(f, s, &new, &attributes));
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
               ? mlir_parts_name(f, results, index, n_named)
               : RIDGE_OK;
}
