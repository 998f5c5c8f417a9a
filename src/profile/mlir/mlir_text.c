/*
 * StableHLO as MLIR writes it: modules, functions, meshes, statements. Statements end
 * where a line ends and the next begins another; regions are read as
 * computations.
 */
#include "mlir_text.h"
#include "hlo_attribute.h"
#include "mlir_region.h"

#include <string.h>

/** One piece of text between "// -----" lines: its functions and meshes. */
typedef struct mlir_reader {
    text_cursor c;
    hlo_builder b;
    hlo_list functions;  /* mlir_head */
    hlo_list attributes; /* of the module: meshes */
    int scopes;
} mlir_reader;

/** A function that was read. */
typedef struct mlir_head {
    ridge_str name;
    int computation;
    ridge_str results; /* types of results with their attributes */
} mlir_head;

bool mlir_text_is(ridge_str text)
{
    enum { LOOKED_AT = 1 << 16 };
    const ridge_str start = {text.p, text.n < LOOKED_AT ? text.n : LOOKED_AT};
    return !hlo_text_has(start, "HloModule ") &&
           (hlo_text_has(start, "func.func") || hlo_text_has(start, "stablehlo.") ||
            hlo_text_has(start, "sdy.mesh"));
}

/* ---- bodies -----------------------------------------------------------------------
 */

/* ---- functions --------------------------------------------------------------------
 */

static ridge_status put_sharding(mlir_function *f, ridge_str text, hlo_list *list)
{
    static const char *const keys[][2] = {{"sdy.sharding = ", "sdy.sharding"},
                                          {"sdy.sharding=", "sdy.sharding"},
                                          {"mhlo.sharding = ", "sharding"}};
    for (size_t k = 0; k < RIDGE_COUNT_OF(keys); k++) {
        const size_t n = strlen(keys[k][0]);
        for (size_t at = 0; at + n < text.n; at++) {
            if (memcmp(text.p + at, keys[k][0], n) != 0)
                continue;
            text_cursor c = text_cursor_within(f->c, text);
            c.p = text.p + at + n;
            ridge_hlo_attribute *a = hlo_list_push(f->b->scratch, list);
            if (a == NULL)
                return ridge_fail_nomem(f->b->cx);
            a->key = ridge_str_of(keys[k][1]);
            a->text = mlir_attribute_read(&c);
            break;
        }
    }
    return RIDGE_OK;
}

/* "%arg0: tensor<8x8xf32> {attributes} loc(..)" */
static ridge_status read_argument(mlir_function *f, text_cursor *c, int number)
{
    ridge_hlo_instruction new = {.code = RIDGE_HLO_OP_PARAMETER,
                                 .code_text = ridge_str_of("parameter"),
                                 .line = text_cursor_line(f->c)};
    hlo_list attributes = {.size = sizeof(ridge_hlo_attribute)};
    ridge_str text;
    RIDGE_TRY(text_cursor_want(c, "%", "before an argument"));
    const ridge_str name = text_cursor_word(c);
    RIDGE_TRY(text_cursor_want(c, ":", "behind the name of an argument"));
    RIDGE_TRY(mlir_type_read(c, &new.shape));
    if (text_cursor_sees(c, "{") && text_cursor_enclosed(c, &text))
        RIDGE_TRY(put_sharding(f, text, &attributes));
    if (text_cursor_take(c, "loc") && !text_cursor_enclosed(c, &text))
        return text_cursor_fail(c, "')' is wanted behind a location");
    const char *literal = ridge_sprintf(f->b->arena, "%d", number);
    new.literal = ridge_str_of(literal);
    new.attributes = hlo_list_copy(f->b->arena, &attributes);
    new.n_attributes = attributes.n;
    return literal && new.attributes &&mlir_value_add(f, name, &new) >= 0
               ? RIDGE_OK
               : ridge_fail_nomem(f->b->cx);
}

/* What stands between the arguments and the body. */
static ridge_status read_results(text_cursor *c, ridge_str *results)
{
    ridge_str ignored;
    *results = (ridge_str){c->p, 0};
    if (text_cursor_take(c, "->")) {
        text_cursor_skip(c);
        if (text_cursor_peek(c) == '(') {
            if (!text_cursor_enclosed(c, results))
                return text_cursor_fail(c, "')' is wanted behind the results");
        } else {
            ridge_hlo_shape shape;
            const char *from = c->p;
            RIDGE_TRY(mlir_type_read(c, &shape));
            *results = (ridge_str){from, (size_t)(c->p - from)};
        }
    }
    if (text_cursor_take(c, "attributes")) {
        text_cursor_skip(c);
        if (text_cursor_peek(c) != '{' || !text_cursor_enclosed(c, &ignored))
            return text_cursor_fail(c, "'{' is wanted behind 'attributes'");
    }
    return RIDGE_OK;
}

static ridge_status read_regions(mlir_function *f)
{
    for (int k = 0; k < f->regions.n; k++) {
        const mlir_region region =
            ((const mlir_region *)(const void *)f->regions.items)[k];
        RIDGE_TRY(mlir_region_read(f, &region));
    }
    return RIDGE_OK;
}

static ridge_status read_function(mlir_reader *r)
{
    static const char *const words[] = {"private", "public", "nested"};
    mlir_function f = {.c = &r->c,
                       .b = &r->b,
                       .regions = {.size = sizeof(mlir_region)},
                       .values = {.size = sizeof(ridge_hlo_instruction)},
                       .scope = r->scopes++,
                       .meshes = &r->attributes};
    mlir_head head;
    ridge_str arguments;
    for (size_t k = 0; k < RIDGE_COUNT_OF(words); k++)
        text_cursor_take(&r->c, words[k]);
    RIDGE_TRY(text_cursor_want(&r->c, "@", "before the name of a function"));
    const int line = text_cursor_line(&r->c);
    head.name = text_cursor_word(&r->c);
    text_cursor_skip(&r->c);
    if (text_cursor_peek(&r->c) != '(' || !text_cursor_enclosed(&r->c, &arguments))
        return text_cursor_fail(&r->c, "the arguments of a function are wanted");
    RIDGE_TRY(read_results(&r->c, &head.results));
    if (!text_cursor_sees(&r->c, "{"))
        return RIDGE_OK; /* declared alone */
    r->c.p++;
    head.computation =
        hlo_builder_open(&r->b, head.name, ridge_str_is(head.name, "main"), line);
    mlir_head *kept = hlo_list_push(r->b.scratch, &r->functions);
    if (head.computation < 0 || kept == NULL)
        return ridge_fail_nomem(r->b.cx);
    *kept = head;
    text_cursor c = text_cursor_within(&r->c, arguments);
    for (int k = 0; text_cursor_sees(&c, "%"); k++) {
        RIDGE_TRY(read_argument(&f, &c, k));
        text_cursor_take(&c, ",");
    }
    RIDGE_TRY(mlir_body_read(&f, &r->c, NULL));
    RIDGE_TRY(text_cursor_want(&r->c, "}", "behind a function"));
    return read_regions(&f);
}

/* ---- modules ----------------------------------------------------------------------
 */

/* sdy.mesh @name = <["a"=2, "b"=4]> */
static ridge_status read_mesh(mlir_reader *r)
{
    ridge_hlo_attribute *a = hlo_list_push(r->b.scratch, &r->attributes);
    RIDGE_TRY(text_cursor_want(&r->c, "@", "before the name of a mesh"));
    const ridge_str name = text_cursor_word(&r->c);
    RIDGE_TRY(text_cursor_want(&r->c, "=", "behind the name of a mesh"));
    RIDGE_TRY(text_cursor_want(&r->c, "<", "before the axes of a mesh"));
    const char *from = r->c.p;
    while (r->c.p < r->c.end && *r->c.p != '>')
        r->c.p++;
    const char *key = ridge_sprintf(r->b.arena, "mesh.%.*s", (int)name.n, name.p);
    if (a == NULL || key == NULL)
        return ridge_fail_nomem(r->b.cx);
    *a = (ridge_hlo_attribute){ridge_str_of(key), {from, (size_t)(r->c.p - from)}};
    return text_cursor_want(&r->c, ">", "behind the axes of a mesh");
}

static ridge_status read_module_head(mlir_reader *r)
{
    ridge_str text;
    int64_t n;
    if (text_cursor_take(&r->c, "@"))
        r->b.module.name = text_cursor_word(&r->c);
    if (text_cursor_take(&r->c, "attributes")) {
        text_cursor_skip(&r->c);
        if (text_cursor_peek(&r->c) != '{' || !text_cursor_enclosed(&r->c, &text))
            return text_cursor_fail(&r->c, "'{' is wanted behind 'attributes'");
        if (hlo_typed_int(text, "mhlo.num_partitions", &n) && n > 0)
            r->b.module.partitions = n;
        if (hlo_typed_int(text, "mhlo.num_replicas", &n) && n > 0)
            r->b.module.replicas = n;
    }
    return text_cursor_want(&r->c, "{", "to begin a module");
}

static void skip_line(text_cursor *c)
{
    while (c->p < c->end && *c->p != '\n')
        c->p++;
}

/* Whether a line "// -----" lies between two places. */
static bool is_split(const char *from, const char *to)
{
    return hlo_text_has((ridge_str){from, (size_t)(to - from)}, "// -----");
}

static ridge_status read_piece(mlir_reader *r)
{
    for (;;) {
        const char *from = r->c.p;
        text_cursor_skip(&r->c);
        if (text_cursor_is_end(&r->c) || (r->functions.n > 0 && is_split(from, r->c.p)))
            return RIDGE_OK;
        if (text_cursor_take(&r->c, "module"))
            RIDGE_TRY(read_module_head(r));
        else if (text_cursor_take(&r->c, "func.func"))
            RIDGE_TRY(read_function(r));
        else if (text_cursor_take(&r->c, "sdy.mesh"))
            RIDGE_TRY(read_mesh(r));
        else if (text_cursor_peek(&r->c) == '#' || text_cursor_peek(&r->c) == '}')
            r->c.p++, text_cursor_peek(&r->c) == '\n' ? (void)0 : skip_line(&r->c);
        else
            return text_cursor_fail(&r->c, "func.func, module or sdy.mesh is wanted");
    }
}

/* The sharding of each result, as "result.0". */
static ridge_status put_results(mlir_reader *r, const mlir_head *head, hlo_list *list)
{
    mlir_function f = {.c = &r->c, .b = &r->b};
    text_cursor c = text_cursor_within(&r->c, head->results);
    for (int k = 0; text_cursor_sees(&c, "tensor"); k++) {
        ridge_hlo_shape shape;
        ridge_str text;
        hlo_list found = {.size = sizeof(ridge_hlo_attribute)};
        RIDGE_TRY(mlir_type_read(&c, &shape));
        if (text_cursor_sees(&c, "{") && text_cursor_enclosed(&c, &text))
            RIDGE_TRY(put_sharding(&f, text, &found));
        if (found.n > 0) {
            ridge_hlo_attribute *a = hlo_list_push(r->b.scratch, list);
            const char *key = ridge_sprintf(r->b.arena, "result.%d", k);
            if (a == NULL || key == NULL)
                return ridge_fail_nomem(r->b.cx);
            *a = ((const ridge_hlo_attribute *)(const void *)found.items)[0];
            a->key = ridge_str_of(key);
        }
        text_cursor_take(&c, ",");
    }
    return RIDGE_OK;
}

/* The module of a function, with all computations in it. */
static ridge_status add_module(mlir_reader *r, const ridge_hlo_module *whole,
                               const mlir_head *head, hlo_list *modules)
{
    const ridge_hlo_attribute *meshes =
        (const ridge_hlo_attribute *)(const void *)r->attributes.items;
    hlo_list own = {.size = sizeof(ridge_hlo_attribute)};
    ridge_hlo_module *m = hlo_list_push(ridge_ctx_arena(r->b.cx), modules);
    if (m == NULL)
        return ridge_fail_nomem(r->b.cx);
    *m = *whole;
    m->name = head->name;
    m->entry = head->computation;
    m->n_instructions = whole->computations[m->entry].n;
    for (int a = 0; a < r->attributes.n; a++) {
        ridge_hlo_attribute *mesh = hlo_list_push(r->b.scratch, &own);
        if (mesh == NULL)
            return ridge_fail_nomem(r->b.cx);
        *mesh = meshes[a];
    }
    RIDGE_TRY(put_results(r, head, &own));
    m->attributes = hlo_list_copy(r->b.arena, &own);
    m->n_attributes = own.n;
    return m->attributes == NULL ? ridge_fail_nomem(r->b.cx) : RIDGE_OK;
}

/* One for each function, main first. */
static ridge_status add_modules(mlir_reader *r, const ridge_hlo_module *whole,
                                hlo_list *modules)
{
    const mlir_head *heads = (const mlir_head *)(const void *)r->functions.items;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < r->functions.n; k++) {
            if (ridge_str_is(heads[k].name, "main") == (pass == 0))
                RIDGE_TRY(add_module(r, whole, &heads[k], modules));
        }
    }
    return RIDGE_OK;
}

static ridge_status read_modules(mlir_reader *r, hlo_list *modules)
{
    ridge_hlo_module whole;
    RIDGE_TRY(read_piece(r));
    if (r->functions.n == 0)
        return text_cursor_is_end(&r->c) && modules->n > 0
                   ? RIDGE_OK
                   : text_cursor_fail(&r->c, "a function is wanted");
    r->b.module.format = RIDGE_HLO_FORMAT_MLIR;
    RIDGE_TRY(hlo_builder_end(&r->b, r->c.path, &whole));
    return add_modules(r, &whole, modules);
}

ridge_status mlir_text_read(ridge_ctx *cx, ridge_str text, const char *path,
                            ridge_hlo_file *out)
{
    hlo_list modules = {.size = sizeof(ridge_hlo_module)};
    text_cursor c = text_cursor_of(cx, text, path);
    do {
        mlir_reader r = {.c = c,
                         .b = hlo_builder_start(cx),
                         .functions = {.size = sizeof(mlir_head)},
                         .attributes = {.size = sizeof(ridge_hlo_attribute)}};
        const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(cx));
        const ridge_status st = read_modules(&r, &modules);
        ridge_arena_rewind(ridge_ctx_scratch(cx), mark);
        RIDGE_TRY(st);
        c = r.c;
        text_cursor_skip(&c);
    } while (!text_cursor_is_end(&c));
    out->modules = (const ridge_hlo_module *)(const void *)modules.items;
    out->n_modules = modules.n;
    return RIDGE_OK;
}
