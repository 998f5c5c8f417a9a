/*
 * Reading expressions: the mesh and the sizes first, then arrays from left to right.
 * Input is hostile: every complaint names its column.
 *
 *     expression  array { ["*"] array } [ "->" array ]
 *     array       name "[" [ dim { "," dim } ] "]" [ "{" "U" over "}" ]
 *     dim         name [ over ]
 *
 * What stands for over is in subscript.c.
 */
#include "subscript.h"

#include <string.h>

typedef struct reader {
    ridge_cursor s;
    ridge_expr e;
    int n_sizes;
    ridge_program_dim sizes[RIDGE_PROGRAM_DIM_MAX];
    bool is_used[RIDGE_PROGRAM_DIM_MAX]; /* sizes of dims that were met */
} reader;

/* ---- sizes -------------------------------------------------------------------- */

static int size_of(const reader *r, ridge_str name)
{
    for (int i = 0; i < r->n_sizes; i++) {
        if (ridge_str_is(name, r->sizes[i].name))
            return i;
    }
    return -1;
}

/* "I=1024" */
static ridge_status read_size(reader *r, ridge_cursor *s)
{
    ridge__cursor_peek(s);
    const size_t at = s->at;
    const ridge_str word = ridge__cursor_word(s);
    if (word.n == 0 || !ridge__cursor_take(s, '='))
        return ridge__cursor_fail(s, RIDGE_E_PARSE, s->at,
                                  "write sizes as I=1024,J=4096");
    if (size_of(r, word) >= 0)
        return ridge__cursor_fail(s, RIDGE_E_PARSE, at, "this dim has a size already");
    if (r->n_sizes == RIDGE_PROGRAM_DIM_MAX) {
        return ridge__cursor_fail(s, RIDGE_E_PARSE, at, "more than %d dims",
                                  RIDGE_PROGRAM_DIM_MAX);
    }
    ridge__cursor_peek(s);
    const size_t value_at = s->at;
    double size = 0;
    if (!ridge_parse_count(ridge__cursor_value(s), &size) || size < 1 ||
        size > 0x1p53 || size != (double)(int64_t)size) {
        return ridge__cursor_fail(s, RIDGE_E_PARSE, value_at,
                                  "a size is a whole number from 1 to 2^53");
    }
    const char *name = ridge_str_dup(ridge_ctx_arena(s->cx), word);
    if (!name)
        return ridge_fail_nomem(s->cx);
    r->sizes[r->n_sizes++] = (ridge_program_dim){.name = name, .size = (int64_t)size};
    return RIDGE_OK;
}

static ridge_status read_sizes(reader *r, ridge_cursor *s)
{
    if (ridge__cursor_at_end(s))
        return RIDGE_OK;
    do {
        RIDGE_TRY(read_size(r, s));
    } while (ridge__cursor_take(s, ','));
    if (ridge__cursor_at_end(s))
        return RIDGE_OK;
    return ridge__cursor_fail(s, RIDGE_E_PARSE, s->at,
                              "expected a comma: write I=1024,J=4096");
}

/* ---- arrays ------------------------------------------------------------------- */

static int dim_of(const ridge_expr *e, ridge_str name)
{
    for (int i = 0; i < e->n_dims; i++) {
        if (ridge_str_is(name, e->dims[i].name))
            return i;
    }
    return -1;
}

static bool has_dim(const ridge_expr_tensor *t, int dim)
{
    for (int i = 0; i < t->n_dims; i++) {
        if (t->dims[i] == dim)
            return true;
    }
    return false;
}

/* The dim of that name, new ones with their size. @param is_output  adds none */
static ridge_status find_dim(reader *r, size_t at, ridge_str name, bool is_output,
                             int *out)
{
    const int n = (int)(name.n < 40 ? name.n : 40);
    *out = dim_of(&r->e, name);
    if (*out >= 0)
        return RIDGE_OK;
    if (is_output) {
        return ridge__cursor_fail(&r->s, RIDGE_E_PARSE, at,
                                  "output dim '%.*s' is in no input", n, name.p);
    }
    const int size = size_of(r, name);
    if (size < 0) {
        return ridge__cursor_fail(&r->s, RIDGE_E_ARG, at,
                                  "dim '%.*s' has no size: add %.*s=N to the sizes", n,
                                  name.p, n, name.p);
    }
    r->is_used[size] = true;
    *out = r->e.n_dims;
    r->e.dims[r->e.n_dims++] = r->sizes[size];
    return RIDGE_OK;
}

static ridge_status read_dim(reader *r, bool is_output, ridge_subscripts *use,
                             ridge_expr_tensor *t)
{
    ridge__cursor_peek(&r->s);
    const size_t at = r->s.at;
    ridge_str name = ridge__cursor_word(&r->s);
    int dim = -1;
    if (name.n == 0) {
        return ridge__cursor_fail(&r->s, RIDGE_E_PARSE, at,
                                  "expected a dim, as in A[I@x,J]");
    }
    if (t->n_dims == RIDGE_TENSOR_DIM_MAX) {
        return ridge__cursor_fail(&r->s, RIDGE_E_PARSE, at,
                                  "an array has at most %d dims", RIDGE_TENSOR_DIM_MAX);
    }
    RIDGE_TRY(ridge__subscript_read(use, at, &name, size_of(r, name) >= 0,
                                    &t->sharding.dims[t->n_dims]));
    RIDGE_TRY(find_dim(r, at, name, is_output, &dim));
    if (has_dim(t, dim)) {
        return ridge__cursor_fail(&r->s, RIDGE_E_PARSE, at,
                                  "a dim twice in one array: diagonals are not taken");
    }
    t->dims[t->n_dims++] = dim;
    t->sharding.n_dims = t->n_dims;
    return RIDGE_OK;
}

/* "{U@y}" behind an array. */
static ridge_status read_partial(reader *r, ridge_subscripts *use, ridge_expr_tensor *t)
{
    ridge_dim_axes axes = {0};
    if (!ridge__cursor_take(&r->s, '{'))
        return RIDGE_OK;
    ridge__cursor_peek(&r->s);
    const size_t at = r->s.at;
    ridge_str name = ridge__cursor_word(&r->s);
    use->is_partial = true;
    RIDGE_TRY(ridge__subscript_read(use, at, &name, false, &axes));
    if (!ridge_str_is(name, "U") || axes.n == 0) {
        return ridge__cursor_fail(&r->s, RIDGE_E_PARSE, at,
                                  "write partial sums over axis y as {U@y}");
    }
    if (!ridge__cursor_take(&r->s, '}')) {
        return ridge__cursor_fail(&r->s, RIDGE_E_PARSE, r->s.at,
                                  "expected '}' behind the partial sums");
    }
    t->sharding.partial = use->partial;
    return RIDGE_OK;
}

static ridge_status read_dims(reader *r, bool is_output, ridge_subscripts *use,
                              ridge_expr_tensor *t)
{
    if (!ridge__cursor_take(&r->s, '[')) {
        return ridge__cursor_fail(&r->s, RIDGE_E_PARSE, r->s.at,
                                  "expected '[' and dims, as in A[I@x,J]");
    }
    if (ridge__cursor_take(&r->s, ']'))
        return RIDGE_OK;
    do {
        RIDGE_TRY(read_dim(r, is_output, use, t));
    } while (ridge__cursor_take(&r->s, ','));
    if (ridge__cursor_take(&r->s, ']'))
        return RIDGE_OK;
    return ridge__cursor_fail(&r->s, RIDGE_E_PARSE, r->s.at,
                              "expected ',' and another dim, or ']'");
}

static bool is_name_taken(const ridge_expr *e, ridge_str name)
{
    for (int i = 0; i < e->n_inputs; i++) {
        if (ridge_str_is(name, e->inputs[i].name))
            return true;
    }
    return false;
}

static ridge_status read_array(reader *r, bool is_output, ridge_expr_tensor *out)
{
    ridge_expr_tensor t = {.element_bytes = 2};
    ridge_subscripts use = {.s = &r->s, .mesh = &r->e.mesh};
    ridge__cursor_peek(&r->s);
    const size_t at = r->s.at;
    const ridge_str name = ridge__cursor_word(&r->s);
    if (name.n == 0) {
        return ridge__cursor_fail(&r->s, RIDGE_E_PARSE, at,
                                  "expected an array, as in A[I@x,J]");
    }
    if (is_name_taken(&r->e, name)) {
        return ridge__cursor_fail(&r->s, RIDGE_E_PARSE, at,
                                  "another array has this name: give each its own");
    }
    t.name = ridge_str_dup(ridge_ctx_arena(r->s.cx), name);
    if (!t.name)
        return ridge_fail_nomem(r->s.cx);
    use.array = t.name;
    RIDGE_TRY(read_dims(r, is_output, &use, &t));
    RIDGE_TRY(read_partial(r, &use, &t));
    *out = t;
    return RIDGE_OK;
}

/* ---- expressions -------------------------------------------------------------- */

static int inputs_with(const ridge_expr *e, int dim)
{
    int n = 0;
    for (int i = 0; i < e->n_inputs; i++)
        n += has_dim(&e->inputs[i], dim);
    return n;
}

/* One dim of an input as the next one of the implied output. */
static void imply_dim(const ridge_expr_tensor *in, int at, unsigned *used,
                      ridge_expr_tensor *out)
{
    const ridge_dim_axes *from = &in->sharding.dims[at];
    ridge_dim_axes *to = &out->sharding.dims[out->n_dims];
    bool is_free = true;
    for (int i = 0; i < from->n; i++)
        is_free = is_free && !(*used & (1u << from->axes[i]));
    for (int i = 0; is_free && i < from->n; i++) {
        to->axes[to->n++] = from->axes[i];
        *used |= 1u << from->axes[i];
    }
    out->dims[out->n_dims++] = in->dims[at];
    out->sharding.n_dims = out->n_dims;
}

/* As numpy's einsum does without an arrow: dims that occur once are kept; here in the
 * order of appearance. */
static ridge_status imply_output(reader *r)
{
    ridge_expr *e = &r->e;
    ridge_expr_tensor out = {.name = "out", .element_bytes = 2};
    unsigned used = 0;
    for (int i = 0; i < e->n_inputs; i++) {
        for (int d = 0; d < e->inputs[i].n_dims; d++) {
            if (inputs_with(e, e->inputs[i].dims[d]) != 1)
                continue;
            if (out.n_dims == RIDGE_TENSOR_DIM_MAX) {
                return ridge__cursor_fail(&r->s, RIDGE_E_PARSE, r->s.at,
                                          "the implied output has more than %d dims",
                                          RIDGE_TENSOR_DIM_MAX);
            }
            imply_dim(&e->inputs[i], d, &used, &out);
        }
    }
    e->output = out;
    return RIDGE_OK;
}

static bool take_arrow(ridge_cursor *s)
{
    if (ridge__cursor_peek(s) != '-' || s->text[s->at + 1] != '>')
        return false;
    s->at += 2;
    return true;
}

static ridge_status read_inputs(reader *r)
{
    for (;;) {
        ridge_expr *e = &r->e;
        ridge__cursor_peek(&r->s);
        if (e->n_inputs == RIDGE_EXPR_INPUT_MAX) {
            return ridge__cursor_fail(&r->s, RIDGE_E_PARSE, r->s.at,
                                      "at most %d inputs: split the expression",
                                      RIDGE_EXPR_INPUT_MAX);
        }
        ridge_expr_tensor t;
        RIDGE_TRY(read_array(r, false, &t));
        e->inputs[e->n_inputs++] = t;
        const bool has_star = ridge__cursor_take(&r->s, '*');
        const char next = ridge__cursor_peek(&r->s);
        if (!has_star && (next == '\0' || next == '-'))
            return RIDGE_OK;
    }
}

static ridge_status read_output(reader *r)
{
    if (ridge__cursor_at_end(&r->s))
        return imply_output(r);
    if (!take_arrow(&r->s)) {
        return ridge__cursor_fail(&r->s, RIDGE_E_PARSE, r->s.at,
                                  "expected '->' and the output");
    }
    RIDGE_TRY(read_array(r, true, &r->e.output));
    if (ridge__cursor_at_end(&r->s))
        return RIDGE_OK;
    return ridge__cursor_fail(&r->s, RIDGE_E_PARSE, r->s.at,
                              "nothing may stand behind the output");
}

/* Sizes that are of no dim, and a product of all dims that no count can hold. */
static ridge_status check_sizes(reader *r, const ridge_cursor *sizes)
{
    int64_t points = 1;
    for (int i = 0; i < r->n_sizes; i++) {
        if (!r->is_used[i]) {
            return ridge__cursor_fail(sizes, RIDGE_E_ARG, 0,
                                      "'%.40s' is no dim of the expression",
                                      r->sizes[i].name);
        }
        if (!ridge_mul_i64(points, r->sizes[i].size, &points)) {
            return ridge__cursor_fail(sizes, RIDGE_E_ARG, 0,
                                      "the product of the dims is beyond 2^63");
        }
    }
    return RIDGE_OK;
}

ridge_status ridge_expr_parse_at(ridge_ctx *cx, const ridge_expr_texts *texts,
                                 ridge_expr_fault *fault, ridge_expr *out)
{
    reader *r = ridge_new(ridge_ctx_arena(cx), reader, 1);
    ridge_cursor mesh = {cx, "mesh", texts->mesh ? texts->mesh : "", 0, fault};
    ridge_cursor sizes = {cx, "sizes", texts->dims ? texts->dims : "", 0, fault};
    if (!r)
        return ridge_fail_nomem(cx);
    *fault = (ridge_expr_fault){0};
    r->s = (ridge_cursor){cx, "expression", texts->expr, 0, fault};
    RIDGE_TRY(ridge__mesh_read(&mesh, &r->e.mesh));
    RIDGE_TRY(read_sizes(r, &sizes));
    RIDGE_TRY(read_inputs(r));
    RIDGE_TRY(read_output(r));
    RIDGE_TRY(check_sizes(r, &sizes));
    *out = r->e;
    return RIDGE_OK;
}

ridge_status ridge_expr_parse(ridge_ctx *cx, const char *text, const char *mesh,
                              const char *dims, ridge_expr *out)
{
    const ridge_expr_texts texts = {text, mesh, dims};
    ridge_expr_fault fault;
    return ridge_expr_parse_at(cx, &texts, &fault, out);
}
