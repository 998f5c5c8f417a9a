/* Regions: what they take, and their bodies as computations. */
#include "mlir_region.h"
#include "hlo_type.h"

#include <string.h>

enum { ARGUMENTS_MOST = 256 };

/* ---- what they take ---------------------------------------------------------------
 */

static bool is_known(const hlo_list *names, ridge_str name)
{
    const ridge_str *all = (const ridge_str *)(const void *)names->items;
    for (int k = 0; k < names->n; k++) {
        if (ridge_str_equal(all[k], name))
            return true;
    }
    return false;
}

ridge_status mlir_captures_find(mlir_function *f, ridge_str text, hlo_list *out)
{
    text_cursor c = text_cursor_within(f->c, text);
    while (c.p < c.end) {
        if (*c.p++ != '%')
            continue;
        const ridge_str name = mlir_value_name(&c);
        const int at = hlo_builder_find(f->b, name);
        const ridge_hlo_instruction *all =
            (const ridge_hlo_instruction *)(const void *)f->b->instructions.items;
        if (at < 0 || all[at].code == RIDGE_HLO_OP_CONSTANT || is_known(out, name))
            continue;
        ridge_str *kept = hlo_list_push(f->b->scratch, out);
        if (kept == NULL)
            return ridge_fail_nomem(f->b->cx);
        *kept = name;
    }
    return RIDGE_OK;
}

ridge_status mlir_region_queue(mlir_function *f, const mlir_region *region, int *slot)
{
    static const char *const words[] = {[MLIR_REGION_CONDITION] = "condition",
                                        [MLIR_REGION_BODY] = "body",
                                        [MLIR_REGION_BRANCH] = "branch",
                                        [MLIR_REGION_FUNCTION] = "function"};
    mlir_region *kept = hlo_list_push(f->b->scratch, &f->regions);
    const char *name = ridge_sprintf(f->b->arena, "%s.%d.%d", words[region->kind],
                                     f->scope, f->regions.n);
    if (kept == NULL || name == NULL ||
        !hlo_builder_call(f->b, slot, ridge_str_of(name)))
        return ridge_fail_nomem(f->b->cx);
    *kept = *region;
    kept->name = ridge_str_of(name);
    return RIDGE_OK;
}

/* ---- reading ----------------------------------------------------------------------
 */

/* ---- functions of scalars ---------------------------------------------------------
 */

/** Arguments of a region while they are read. */
typedef struct arguments {
    int n;
    ridge_str names[ARGUMENTS_MOST];
    ridge_hlo_shape shapes[ARGUMENTS_MOST];
} arguments;

/* "(%a: tensor<f32>, %b: tensor<f32>)", the cursor at the bracket. */
static ridge_status read_arguments(text_cursor *c, arguments *out)
{
    ridge_str text, ignored;
    if (!text_cursor_enclosed(c, &text))
        return text_cursor_fail(c, "the arguments of a region are wanted");
    text_cursor in = text_cursor_within(c, text);
    while (text_cursor_take(&in, "%")) {
        if (out->n == ARGUMENTS_MOST)
            return text_cursor_fail(&in, "a region has too many arguments");
        out->names[out->n] = text_cursor_word(&in);
        RIDGE_TRY(text_cursor_want(&in, ":", "behind the name of an argument"));
        RIDGE_TRY(mlir_type_read(&in, &out->shapes[out->n]));
        out->n++;
        if (text_cursor_take(&in, "loc") && !text_cursor_enclosed(&in, &ignored))
            return text_cursor_fail(&in, "')' is wanted behind a location");
        text_cursor_take(&in, ",");
    }
    return RIDGE_OK;
}

static ridge_status keep_arguments(mlir_function *f, const arguments *a,
                                   const int *order, mlir_region *out)
{
    ridge_str *names = ridge_new(f->b->arena, ridge_str, (size_t)a->n + 1);
    ridge_hlo_shape *shapes = ridge_new(f->b->arena, ridge_hlo_shape, (size_t)a->n + 1);
    if (names == NULL || shapes == NULL)
        return ridge_fail_nomem(f->b->cx);
    for (int k = 0; k < a->n; k++) {
        names[k] = a->names[order ? order[k] : k];
        shapes[k] = a->shapes[order ? order[k] : k];
    }
    out->arguments = names;
    out->state = (ridge_hlo_shape){.type = RIDGE_HLO_TUPLE, .n = a->n, .parts = shapes};
    return RIDGE_OK;
}

/* "^bb0(%a: t, %b: t):" before the statements of a region. */
static ridge_status take_block(mlir_function *f, ridge_str text, mlir_region *out)
{
    arguments *a = ridge_new(f->b->scratch, arguments, 1);
    text_cursor c = text_cursor_within(f->c, text);
    if (a == NULL)
        return ridge_fail_nomem(f->b->cx);
    if (text_cursor_take(&c, "^")) {
        text_cursor_word(&c);
        text_cursor_skip(&c);
        if (text_cursor_peek(&c) == '(')
            RIDGE_TRY(read_arguments(&c, a));
        text_cursor_take(&c, ":");
    }
    out->text = (ridge_str){c.p, (size_t)(c.end - c.p)};
    return keep_arguments(f, a, NULL, out);
}

/* "({ .. }, { .. })" in a statement: its regions. @return how many */
static int find_regions(mlir_function *f, ridge_str text, ridge_str *out, int most)
{
    text_cursor c = text_cursor_within(f->c, text);
    ridge_str ignored;
    int n = 0;
    while (c.p < c.end) {
        if (*c.p == '"') {
            if (!text_cursor_quoted(&c, &ignored))
                return n;
            continue;
        }
        if (*c.p != '(') {
            c.p++;
            continue;
        }
        text_cursor in = c;
        in.p++;
        while (n < most && text_cursor_sees(&in, "{") &&
               text_cursor_enclosed(&in, &out[n])) {
            n++;
            text_cursor_take(&in, ",");
        }
        if (n > 0)
            return n;
        if (!text_cursor_enclosed(&c, &ignored))
            return n;
    }
    return n;
}

/* "applies stablehlo.add across": a computation of that one operation. */
static bool take_applied(mlir_function *f, const mlir_statement *s,
                         const ridge_hlo_shape *element, mlir_region *out)
{
    static const char word[] = "applies ";
    ridge_hlo_shape *shapes = ridge_new(f->b->arena, ridge_hlo_shape, 2);
    ridge_str *names = ridge_new(f->b->arena, ridge_str, 2);
    for (size_t at = 0; shapes && names && at + sizeof word < s->rest.n; at++) {
        if (memcmp(s->rest.p + at, word, sizeof word - 1) != 0)
            continue;
        text_cursor c = text_cursor_within(f->c, s->rest);
        c.p = s->rest.p + at + sizeof word - 1;
        ridge_str op = text_cursor_word(&c);
        ridge_str_cut(&op, '.');
        shapes[0] = shapes[1] = (ridge_hlo_shape){.type = element->type};
        names[0] = ridge_str_of("applied.a");
        names[1] = ridge_str_of("applied.b");
        out->applied = op;
        out->arguments = names;
        out->state =
            (ridge_hlo_shape){.type = RIDGE_HLO_TUPLE, .n = 2, .parts = shapes};
        return op.p != NULL && op.n > 0;
    }
    return false;
}

/* "reducer(%a: t, %b: t) (%c: t, %d: t) { .. }" behind the types: the first of all
 * pairs come first. */
static ridge_status take_reducer(mlir_function *f, const mlir_statement *s,
                                 mlir_region *out, bool *is_there)
{
    arguments *a = ridge_new(f->b->scratch, arguments, 1);
    text_cursor c = text_cursor_within(f->c, s->types);
    int order[ARGUMENTS_MOST];
    *is_there = false;
    while (c.p + 8 < c.end && memcmp(c.p, "reducer(", 8) != 0)
        c.p++;
    if (c.p + 8 >= c.end)
        return RIDGE_OK;
    if (a == NULL)
        return ridge_fail_nomem(f->b->cx);
    c.p += 7;
    while (text_cursor_sees(&c, "("))
        RIDGE_TRY(read_arguments(&c, a));
    if (!text_cursor_sees(&c, "{") || !text_cursor_enclosed(&c, &out->text))
        return text_cursor_fail(&c, "the body of a reducer is wanted");
    for (int k = 0; k < a->n; k++)
        order[k] = k < a->n / 2 ? 2 * k : k < a->n / 2 * 2 ? 2 * (k - a->n / 2) + 1 : k;
    *is_there = true;
    return keep_arguments(f, a, order, out);
}

static ridge_status queue_all(mlir_function *f, mlir_region *regions, int n,
                              ridge_hlo_instruction *out)
{
    int *called = ridge_new(f->b->arena, int, (size_t)n + 1);
    if (called == NULL)
        return ridge_fail_nomem(f->b->cx);
    for (int k = 0; k < n; k++)
        RIDGE_TRY(mlir_region_queue(f, &regions[k], &called[k]));
    out->called = called;
    out->n_called = n;
    return RIDGE_OK;
}

ridge_status mlir_functions_take(mlir_function *f, const mlir_statement *s,
                                 ridge_hlo_instruction *out)
{
    mlir_region regions[2] = {{.kind = MLIR_REGION_FUNCTION},
                              {.kind = MLIR_REGION_FUNCTION}};
    ridge_str texts[2];
    bool is_reducer = false;
    const ridge_hlo_instruction *all =
        (const ridge_hlo_instruction *)(const void *)f->b->instructions.items;
    if (out->code == RIDGE_HLO_OP_REDUCE && out->n_operands > 0) {
        if (take_applied(f, s, &all[out->operands[0]].shape, &regions[0]))
            return queue_all(f, regions, 1, out);
        RIDGE_TRY(take_reducer(f, s, &regions[0], &is_reducer));
        if (is_reducer)
            return queue_all(f, regions, 1, out);
    }
    const int n = find_regions(f, s->rest, texts, 2);
    for (int k = 0; k < n; k++)
        RIDGE_TRY(take_block(f, texts[k], &regions[k]));
    return n > 0 ? queue_all(f, regions, n, out) : RIDGE_OK;
}

/* ---- branches ---------------------------------------------------------------------
 */

enum { BRANCHES_MOST = 64 };

/* What the branches take as one tuple; the first part is what chooses, so that there is
 * one. */
static ridge_status pack(mlir_function *f, const hlo_list *names, int chooser,
                         ridge_hlo_shape *shape, int *index)
{
    const ridge_str *all = (const ridge_str *)(const void *)names->items;
    int *operands = ridge_new(f->b->arena, int, (size_t)names->n + 1);
    ridge_hlo_shape *parts =
        ridge_new(f->b->arena, ridge_hlo_shape, (size_t)names->n + 1);
    if (operands == NULL || parts == NULL)
        return ridge_fail_nomem(f->b->cx);
    for (int k = 0; k <= names->n; k++) {
        operands[k] = k == 0 ? chooser : hlo_builder_find(f->b, all[k - 1]);
        parts[k] = ((const ridge_hlo_instruction *)(const void *)
                        f->b->instructions.items)[operands[k]]
                       .shape;
    }
    *shape =
        (ridge_hlo_shape){.type = RIDGE_HLO_TUPLE, .n = names->n + 1, .parts = parts};
    const ridge_hlo_instruction tuple = {.code = RIDGE_HLO_OP_TUPLE,
                                         .code_text = ridge_str_of("tuple"),
                                         .shape = *shape,
                                         .n_operands = names->n + 1,
                                         .operands = operands};
    *index = hlo_builder_add(f->b, &tuple);
    return *index < 0 ? ridge_fail_nomem(f->b->cx) : RIDGE_OK;
}

ridge_status mlir_branches_take(mlir_function *f, const mlir_statement *s,
                                ridge_hlo_instruction *out)
{
    hlo_list names = {.size = sizeof(ridge_str)};
    ridge_str texts[BRANCHES_MOST];
    mlir_region regions[BRANCHES_MOST];
    ridge_hlo_shape state;
    int tuple = -1;
    const int n = find_regions(f, s->rest, texts, BRANCHES_MOST);
    if (n == 0 || out->n_operands < 1) {
        text_cursor c = *f->c;
        c.p = s->at;
        return text_cursor_fail(&c, "the branches of a conditional are wanted");
    }
    for (int k = 0; k < n; k++)
        RIDGE_TRY(mlir_captures_find(f, texts[k], &names));
    RIDGE_TRY(pack(f, &names, out->operands[0], &state, &tuple));
    ridge_str *given = ridge_new(f->b->arena, ridge_str, (size_t)names.n + 1);
    int *operands = ridge_new(f->b->arena, int, (size_t)n + 1);
    if (given == NULL || operands == NULL)
        return ridge_fail_nomem(f->b->cx);
    given[0] = ridge_str_of("");
    if (names.n > 0)
        memcpy(given + 1, names.items, (size_t)names.n * sizeof *given);
    operands[0] = out->operands[0];
    for (int k = 0; k < n; k++) {
        operands[k + 1] = tuple;
        regions[k] = (mlir_region){.kind = MLIR_REGION_BRANCH,
                                   .text = texts[k],
                                   .state = state,
                                   .arguments = given};
    }
    out->operands = operands;
    out->n_operands = n + 1;
    return queue_all(f, regions, n, out);
}
