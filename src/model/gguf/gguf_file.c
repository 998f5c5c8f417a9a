/*
 * GGUF, versions 2 and 3, little endian:
 *
 *     "GGUF", uint32 version, uint64 tensors, uint64 values
 *     for each value: its key (uint64 length, characters), uint32 kind, and the value:
 * a number, a text (uint64 length, characters), or an array (uint32 kind of its items,
 * uint64 count, items) for each tensor: its name, uint32 dims, uint64 of each, uint32
 * type, uint64 offset into the data, which begin at the next multiple of
 * general.alignment
 *
 * A newer version is refused, and so is a file that went through a conversion of text.
 * @source gguf-spec
 */
#include "gguf_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    HEADER_MOST_BYTES = 128 << 20,
    HEADER_LEAST_BYTES = 24,
    VALUES_MOST = 65536,
    TENSORS_MOST = 1 << 20
};

/* clang-format off */
/* @source ggml-types */
static const gguf_type types[] = {
    {0, "F32", 1, 4},       {1, "F16", 1, 2},       {2, "Q4_0", 32, 18},
    {3, "Q4_1", 32, 20},    {6, "Q5_0", 32, 22},    {7, "Q5_1", 32, 24},
    {8, "Q8_0", 32, 34},    {9, "Q8_1", 32, 36},    {10, "Q2_K", 256, 84},
    {11, "Q3_K", 256, 110}, {12, "Q4_K", 256, 144}, {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210}, {15, "Q8_K", 256, 292}, {16, "IQ2_XXS", 256, 66},
    {17, "IQ2_XS", 256, 74}, {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},
    {20, "IQ4_NL", 32, 18}, {21, "IQ3_S", 256, 110}, {22, "IQ2_S", 256, 82},
    {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},     {25, "I16", 1, 2},
    {26, "I32", 1, 4},      {27, "I64", 1, 8},      {28, "F64", 1, 8},
    {29, "IQ1_M", 256, 56}, {30, "BF16", 1, 2},     {34, "TQ1_0", 256, 54},
    {35, "TQ2_0", 256, 66}, {39, "MXFP4", 32, 17},
};
/* clang-format on */

static const int kind_bytes[GGUF_KIND_COUNT] = {
    [GGUF_U8] = 1,  [GGUF_I8] = 1,  [GGUF_U16] = 2, [GGUF_I16] = 2,
    [GGUF_U32] = 4, [GGUF_I32] = 4, [GGUF_F32] = 4, [GGUF_BOOL] = 1,
    [GGUF_U64] = 8, [GGUF_I64] = 8, [GGUF_F64] = 8};

typedef struct gguf_reader {
    ridge_ctx *cx;
    const char *path;
    ridge_str bytes;
    size_t at;
} gguf_reader;

/* ---- pieces ---------------------------------------------------------------------- */

/* EF BF BD stands for what was no UTF-8 when a file was saved as text. */
static bool was_text(ridge_str bytes)
{
    for (size_t i = 0; i + 3 <= bytes.n; i++) {
        if (memcmp(bytes.p + i, "\xEF\xBF\xBD", 3) == 0)
            return true;
    }
    return false;
}

static ridge_status fail_at(const gguf_reader *r, const char *what)
{
    if (was_text(r->bytes)) {
        return ridge_fail(r->cx, RIDGE_E_PARSE,
                          "%s: byte %zu: %s: the file was saved as text on its way, "
                          "which destroyed bytes: fetch it anew as binary",
                          r->path, r->at, what);
    }
    return ridge_fail(r->cx, RIDGE_E_PARSE,
                      "%s: byte %zu: %s: the file is cut off or damaged", r->path,
                      r->at, what);
}

static uint64_t unsigned_at(const char *p, int n)
{
    uint64_t v = 0;
    for (int i = n - 1; i >= 0; i--)
        v = v << 8 | (unsigned char)p[i];
    return v;
}

static ridge_status take(gguf_reader *r, int n, uint64_t *out)
{
    if (r->bytes.n - r->at < (size_t)n)
        return fail_at(r, "the header ends");
    *out = unsigned_at(r->bytes.p + r->at, n);
    r->at += (size_t)n;
    return RIDGE_OK;
}

static ridge_status take_text(gguf_reader *r, ridge_str *out)
{
    uint64_t n = 0;
    RIDGE_TRY(take(r, 8, &n));
    if (n > r->bytes.n - r->at)
        return fail_at(r, "a text longer than the header");
    *out = (ridge_str){r->bytes.p + r->at, (size_t)n};
    r->at += (size_t)n;
    return RIDGE_OK;
}

static ridge_status take_kind(gguf_reader *r, gguf_kind *out)
{
    uint64_t kind = 0;
    RIDGE_TRY(take(r, 4, &kind));
    if (kind >= GGUF_KIND_COUNT)
        return fail_at(r, "a kind of value that there is not");
    *out = (gguf_kind)kind;
    return RIDGE_OK;
}

static ridge_status take_array(gguf_reader *r, gguf_value *v)
{
    RIDGE_TRY(take_kind(r, &v->item));
    RIDGE_TRY(take(r, 8, &v->count));
    const size_t from = r->at, left = r->bytes.n - r->at;
    if (v->item == GGUF_ARRAY)
        return fail_at(r, "an array of arrays");
    if (v->count > left)
        return fail_at(r, "an array longer than the header");
    if (v->item != GGUF_TEXT) {
        const uint64_t bytes = v->count * (uint64_t)kind_bytes[v->item];
        if (bytes > left)
            return fail_at(r, "an array longer than the header");
        r->at += (size_t)bytes;
    }
    ridge_str text;
    for (uint64_t i = 0; v->item == GGUF_TEXT && i < v->count; i++)
        RIDGE_TRY(take_text(r, &text));
    v->data = (ridge_str){r->bytes.p + from, r->at - from};
    return RIDGE_OK;
}

static ridge_status take_value(gguf_reader *r, gguf_value *v)
{
    uint64_t number = 0;
    RIDGE_TRY(take_text(r, &v->key));
    RIDGE_TRY(take_kind(r, &v->kind));
    if (v->kind == GGUF_TEXT)
        return take_text(r, &v->data);
    if (v->kind == GGUF_ARRAY)
        return take_array(r, v);
    v->data = (ridge_str){r->bytes.p + r->at, (size_t)kind_bytes[v->kind]};
    return take(r, kind_bytes[v->kind], &number);
}

static const gguf_type *type_of(uint64_t id)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(types); i++) {
        if ((uint64_t)types[i].id == id)
            return &types[i];
    }
    return NULL;
}

static ridge_status take_dims(gguf_reader *r, gguf_tensor *t)
{
    uint64_t n = 0;
    RIDGE_TRY(take(r, 4, &n));
    if (n < 1 || n > GGUF_DIM_MAX)
        return fail_at(r, "a tensor of more than four dims, or of none");
    t->n_dims = (int)n;
    t->elements = 1;
    for (int i = 0; i < t->n_dims; i++) {
        uint64_t dim = 0;
        RIDGE_TRY(take(r, 8, &dim));
        if (dim < 1 || dim > INT64_MAX ||
            !ridge_mul_i64(t->elements, (int64_t)dim, &t->elements))
            return fail_at(r, "a dim that cannot be");
        t->dims[i] = (int64_t)dim;
    }
    return RIDGE_OK;
}

static ridge_status take_tensor(gguf_reader *r, int64_t whole_bytes, gguf_tensor *t)
{
    uint64_t type = 0, offset = 0;
    RIDGE_TRY(take_text(r, &t->name));
    RIDGE_TRY(take_dims(r, t));
    RIDGE_TRY(take(r, 4, &type));
    RIDGE_TRY(take(r, 8, &offset));
    t->type = type_of(type);
    if (t->type == NULL) {
        return ridge_fail(r->cx, RIDGE_E_PARSE,
                          "%s: the tensor %.*s has type %llu, which is not known",
                          r->path, (int)(t->name.n < 80 ? t->name.n : 80), t->name.p,
                          (unsigned long long)type);
    }
    if (t->dims[0] % t->type->elements != 0 ||
        !ridge_mul_i64(t->elements / t->type->elements, t->type->bytes, &t->bytes))
        return fail_at(r, "a tensor whose rows are no whole blocks");
    if (t->bytes > whole_bytes || offset > (uint64_t)(whole_bytes - t->bytes))
        return fail_at(r, "a tensor beyond the end of the file");
    return RIDGE_OK;
}

/* ---- the header ------------------------------------------------------------------ */

static ridge_status take_head(gguf_reader *r, gguf_file *f)
{
    uint64_t version = 0, tensors = 0, values = 0;
    if (r->bytes.n < HEADER_LEAST_BYTES || memcmp(r->bytes.p, "GGUF", 4) != 0)
        return ridge_fail(r->cx, RIDGE_E_PARSE,
                          "%s: no GGUF file: it does not begin "
                          "with GGUF",
                          r->path);
    r->at = 4;
    RIDGE_TRY(take(r, 4, &version));
    if (version < 2 || version > 3)
        return ridge_fail(r->cx, RIDGE_E_PARSE,
                          "%s: GGUF of version %llu: 2 and 3 are read", r->path,
                          (unsigned long long)version);
    RIDGE_TRY(take(r, 8, &tensors));
    RIDGE_TRY(take(r, 8, &values));
    if (tensors > TENSORS_MOST || values > VALUES_MOST)
        return fail_at(r, "more tensors or values than can be");
    f->n_tensors = (size_t)tensors;
    f->n_values = (size_t)values;
    return RIDGE_OK;
}

ridge_status ridge__gguf_parse(ridge_ctx *cx, ridge_str bytes, int64_t whole_bytes,
                               const char *path, gguf_file *out)
{
    gguf_reader r = {.cx = cx, .path = path, .bytes = bytes};
    gguf_file f = {.path = path};
    RIDGE_TRY(take_head(&r, &f));
    f.values = ridge_new(ridge_ctx_arena(cx), gguf_value, f.n_values + 1);
    f.tensors = ridge_new(ridge_ctx_arena(cx), gguf_tensor, f.n_tensors + 1);
    if (f.values == NULL || f.tensors == NULL)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < f.n_values; i++)
        RIDGE_TRY(take_value(&r, &f.values[i]));
    for (size_t i = 0; i < f.n_tensors; i++)
        RIDGE_TRY(take_tensor(&r, whole_bytes, &f.tensors[i]));
    *out = f;
    return RIDGE_OK;
}

static ridge_status fail_io(ridge_ctx *cx, const char *path)
{
    const char *why = errno != 0 ? strerror(errno) : "cannot be read";
    return ridge_fail(cx, RIDGE_E_IO, "%s: %s: check the path", path, why);
}

/* As much of a file as a header may take. */
static ridge_status read_start(ridge_ctx *cx, const char *path, FILE *f, ridge_str *out,
                               int64_t *whole_bytes)
{
    errno = 0;
    if (fseeko(f, 0, SEEK_END) != 0)
        return fail_io(cx, path);
    *whole_bytes = (int64_t)ftello(f);
    if (*whole_bytes < 0 || fseeko(f, 0, SEEK_SET) != 0)
        return fail_io(cx, path);
    const size_t n =
        (size_t)(*whole_bytes < HEADER_MOST_BYTES ? *whole_bytes : HEADER_MOST_BYTES);
    char *bytes = ridge_new(ridge_ctx_arena(cx), char, n + 1);
    if (bytes == NULL)
        return ridge_fail_nomem(cx);
    if (fread(bytes, 1, n, f) != n)
        return fail_io(cx, path);
    *out = (ridge_str){bytes, n};
    return RIDGE_OK;
}

ridge_status ridge__gguf_open(ridge_ctx *cx, const char *path, gguf_file *out)
{
    ridge_str bytes;
    int64_t whole_bytes = 0;
    errno = 0;
    FILE *f = ridge_path_is_dir(path) ? NULL : fopen(path, "rb");
    if (f == NULL)
        return fail_io(cx, path);
    const ridge_status st = read_start(cx, path, f, &bytes, &whole_bytes);
    fclose(f);
    RIDGE_TRY(st);
    return ridge__gguf_parse(cx, bytes, whole_bytes, path, out);
}

/* ---- asking ---------------------------------------------------------------------- */

const gguf_value *ridge__gguf_find(const gguf_file *file, const char *key)
{
    for (size_t i = 0; i < file->n_values; i++) {
        if (ridge_str_is(file->values[i].key, key))
            return &file->values[i];
    }
    return NULL;
}

const gguf_tensor *ridge__gguf_tensor(const gguf_file *file, const char *name)
{
    for (size_t i = 0; i < file->n_tensors; i++) {
        if (ridge_str_is(file->tensors[i].name, name))
            return &file->tensors[i];
    }
    return NULL;
}

static double real_at(const char *p, gguf_kind kind)
{
    const uint64_t bits = unsigned_at(p, kind_bytes[kind]);
    const uint32_t low = (uint32_t)bits;
    float single;
    double real;
    switch ((int)kind) {
    case GGUF_F32:
        memcpy(&single, &low, sizeof single);
        return (double)single;
    case GGUF_F64:
        memcpy(&real, &bits, sizeof real);
        return real;
    case GGUF_I8:
        return (double)(int8_t)bits;
    case GGUF_I16:
        return (double)(int16_t)bits;
    case GGUF_I32:
        return (double)(int32_t)bits;
    case GGUF_I64:
        return (double)(int64_t)bits;
    default:
        return (double)bits;
    }
}

bool ridge__gguf_number(const gguf_value *value, double *out)
{
    if (value == NULL)
        return false;
    const gguf_kind kind = value->kind == GGUF_ARRAY ? value->item : value->kind;
    if (kind == GGUF_TEXT || kind == GGUF_ARRAY ||
        (value->kind == GGUF_ARRAY && value->count == 0))
        return false;
    *out = real_at(value->data.p, kind);
    return true;
}

bool ridge__gguf_is_even(const gguf_value *value)
{
    if (value == NULL || value->kind != GGUF_ARRAY || value->item == GGUF_TEXT)
        return true;
    const size_t n = (size_t)kind_bytes[value->item];
    for (uint64_t i = 1; i < value->count; i++) {
        if (memcmp(value->data.p, value->data.p + i * n, n) != 0)
            return false;
    }
    return true;
}
