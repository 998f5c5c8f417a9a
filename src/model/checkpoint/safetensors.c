/*
 * The safetensors format, version 0.3 and later, of which only the header is read:
 *
 *     8 bytes   little-endian length n of the header, at most 100 MB
 *     n bytes   a JSON object: "__metadata__" (texts), and for each tensor its name
 * with
 *               {"dtype": "BF16", "shape": [..], "data_offsets": [begin, end]}
 *     the rest  the tensors' data; offsets count from here
 *
 * A newer version that adds dtypes is refused by the name of the dtype.
 */
#include "safetensors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    LENGTH_BYTES = 8,
    HEADER_MOST_BYTES = 100000000,
    TENSOR_MOST = 1 << 20,
    SHAPE_MOST = 16
};

/* ---- names ----------------------------------------------------------------------- */

static bool has_any(const char *name, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strstr(name, words[i]) != NULL)
            return true;
    }
    return false;
}

static bool ends_with(const char *name, const char *tail)
{
    const size_t n = strlen(name), t = strlen(tail);
    return n >= t && strcmp(name + n - t, tail) == 0;
}

static bool ends_with_any(const char *name, const char *const *tails, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (ends_with(name, tails[i]))
            return true;
    }
    return false;
}

/* "model.layers.61.": a layer behind the last one predicts further tokens. */
static bool is_beyond(const char *name, int64_t layer_count)
{
    const char *at = strstr(name, "layers.");
    if (at == NULL || layer_count <= 0)
        return false;
    ridge_str rest = ridge_str_of(at + strlen("layers."));
    int64_t layer;
    return ridge_parse_i64(ridge_str_cut(&rest, '.'), &layer) && layer >= layer_count;
}

void ridge__tensor_mark(ridge__tensor_marks *marks, const char *name,
                        int64_t layer_count)
{
    static const char *const heads[] = {"lm_head", "embed_out", "output.weight"};
    static const char *const mtps[] = {"mtp", "nextn"};
    static const char *const visions[] = {"vision", "visual", "multi_modal_projector",
                                          "mm_projector"};
    static const char *const buffers[] = {"inv_freq", "masked_bias", "attention.bias",
                                          "attn.bias", "rotary_emb"};
    marks->has_head |=
        has_any(name, heads, RIDGE_COUNT_OF(heads)) && !ends_with(name, ".bias");
    marks->has_mtp |=
        has_any(name, mtps, RIDGE_COUNT_OF(mtps)) || is_beyond(name, layer_count);
    marks->has_vision |= has_any(name, visions, RIDGE_COUNT_OF(visions));
    marks->has_buffers |= has_any(name, buffers, RIDGE_COUNT_OF(buffers));
}

/* What quantised formats store beside their weights. */
static bool is_beside_weight(const char *name)
{
    static const char *const tails[] = {
        "scale",     "scales", "scale_inv",    "weight_scale_2", "_scale_2",
        "zeros",     "qzeros", "zero_point",   "g_idx",          "absmax",
        "quant_map", "perm",   "weight_shape", "global_scale"};
    return ends_with_any(name, tails, RIDGE_COUNT_OF(tails)) ||
           strstr(name, "quant_state") != NULL || strstr(name, "nested_") != NULL;
}

/* ---- dtypes ---------------------------------------------------------------------- */

typedef struct tensor_dtype {
    const char *name;
    int bits;
    bool is_packable; /* an integer that may hold several weights */
} tensor_dtype;

static const tensor_dtype dtypes[] = {
    {"F64", 64, false},    {"F32", 32, false},    {"F16", 16, false},
    {"BF16", 16, false},   {"F8_E4M3", 8, false}, {"F8_E5M2", 8, false},
    {"F8_E8M0", 8, false}, {"F4", 4, false},      {"F6_E2M3", 6, false},
    {"F6_E3M2", 6, false}, {"C64", 64, false},    {"I64", 64, true},
    {"I32", 32, true},     {"I16", 16, true},     {"I8", 8, false},
    {"U64", 64, true},     {"U32", 32, true},     {"U16", 16, true},
    {"U8", 8, true},       {"BOOL", 8, false}};

static const tensor_dtype *find_dtype(const char *name)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(dtypes); i++) {
        if (strcmp(dtypes[i].name, name) == 0)
            return &dtypes[i];
    }
    return NULL;
}

/* ---- tensors --------------------------------------------------------------------- */

typedef struct extent {
    int64_t begin, end;
    const char *name;
} extent;

/* Product of the shape. @errors E_PARSE for what is no shape */
static ridge_status count_elements(ridge_ctx *cx, const ridge_node *tensor,
                                   int64_t *out)
{
    const ridge_node shape = ridge_json_get(tensor, "shape");
    const size_t n = ridge_json_size(shape);
    if (ridge_json_kind_of(shape) != RIDGE_JSON_ARRAY || n > SHAPE_MOST) {
        return ridge_json_fail(cx, *tensor, "wants a \"shape\" of at most %d sizes",
                               SHAPE_MOST);
    }
    int64_t elements = 1;
    for (size_t i = 0; i < n; i++) {
        int64_t size;
        const ridge_node node = ridge_json_at(&shape, i);
        RIDGE_TRY(ridge_json_want_i64(cx, node, 0, INT64_MAX, &size));
        if (!ridge_mul_i64(elements, size, &elements))
            return ridge_json_fail(cx, node, "the shape has too many elements");
    }
    *out = elements;
    return RIDGE_OK;
}

/* A header being read. */
typedef struct reading {
    const ridge__tensor_header *header;
    const ridge_model *model; /* or NULL */
    extent *extents;          /* of the tensors so far */
    ridge__tensor_sums sums;
} reading;

/* @errors E_PARSE unless the tensor lies in the data and takes the bits of its shape */
static ridge_status read_extent(ridge_ctx *cx, const ridge_node *tensor,
                                int64_t data_bytes, int64_t bits, extent *out)
{
    const ridge_node offsets = ridge_json_get(tensor, "data_offsets");
    if (ridge_json_size(offsets) != 2)
        return ridge_json_fail(cx, *tensor, "wants \"data_offsets\": [begin, end]");
    RIDGE_TRY(ridge_json_want_i64(cx, ridge_json_at(&offsets, 0), 0, data_bytes,
                                  &out->begin));
    RIDGE_TRY(ridge_json_want_i64(cx, ridge_json_at(&offsets, 1), out->begin,
                                  data_bytes, &out->end));
    const int64_t bytes = out->end - out->begin;
    if (bits % 8 != 0 || bits / 8 != bytes) {
        return ridge_json_fail(cx, *tensor, "its shape does not take %lld bytes",
                               (long long)bytes);
    }
    out->name = tensor->key;
    return RIDGE_OK;
}

/* Weights of a tensor. Packed formats hold several in an integer: I32 and I64 those of
 * the model's width (4 bits if unknown), U8 two if the model is of 4 bits. */
static int64_t count_params(const ridge_model *model, const tensor_dtype *dtype,
                            const char *name, int64_t elements)
{
    if (is_beside_weight(name))
        return 0;
    if (!dtype->is_packable)
        return elements;
    const bool is_quantised = model != NULL && model->quant_method != NULL;
    /* weight_bits counts scales too: 4.5 for groups of 32, 8.0 for whole bytes */
    const int bits = is_quantised && model->weight_bits > 6 ? 8 : 4;
    if (dtype->bits == 8)
        return is_quantised ? elements * (8 / bits) : elements;
    return elements > INT64_MAX / 16 ? elements : elements * (dtype->bits / bits);
}

static ridge_status add_tensor(ridge_ctx *cx, const ridge_node *tensor, reading *r)
{
    if (ridge_json_kind_of(*tensor) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, *tensor, "a tensor must be an object");
    const char *text = NULL;
    const ridge_node dtype_node = ridge_json_get(tensor, "dtype");
    RIDGE_TRY(ridge_json_want_text(cx, dtype_node, &text));
    const tensor_dtype *dtype = find_dtype(text);
    if (dtype == NULL)
        return ridge_json_fail(cx, dtype_node, "unknown dtype \"%s\"", text);
    int64_t elements = 0, bits = 0;
    RIDGE_TRY(count_elements(cx, tensor, &elements));
    if (!ridge_mul_i64(elements, dtype->bits, &bits))
        return ridge_json_fail(cx, *tensor, "the shape has too many elements");
    ridge__tensor_sums *sums = &r->sums;
    extent *at = &r->extents[sums->tensors];
    RIDGE_TRY(read_extent(cx, tensor, r->header->data_bytes, bits, at));
    sums->tensors++;
    sums->bytes += at->end - at->begin;
    const int64_t params = count_params(r->model, dtype, tensor->key, elements);
    if (!ridge_add_i64(sums->params, params, &sums->params))
        return ridge_json_fail(cx, *tensor, "too many parameters in all");
    ridge__tensor_mark(&sums->marks, tensor->key,
                       r->model == NULL ? 0 : r->model->layer_count);
    return RIDGE_OK;
}

static int compare_extents(const void *a, const void *b)
{
    const extent *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static ridge_status check_overlap(ridge_ctx *cx, reading *r)
{
    const size_t n = (size_t)r->sums.tensors;
    if (n > 1)
        qsort(r->extents, n, sizeof *r->extents, compare_extents);
    for (size_t i = 1; i < n; i++) {
        const extent *a = &r->extents[i - 1], *b = &r->extents[i];
        if (b->begin < a->end) {
            return ridge_fail(cx, RIDGE_E_PARSE,
                              "%s: tensors \"%s\" and \"%s\" overlap: the file is "
                              "damaged",
                              r->header->file, a->name, b->name);
        }
    }
    return RIDGE_OK;
}

ridge_status ridge__safetensors_sum(ridge_ctx *cx, const ridge__tensor_header *header,
                                    const ridge_model *model, ridge__tensor_sums *out)
{
    ridge_node root;
    RIDGE_TRY(ridge_json_parse(cx, header->text, header->file, &root));
    const size_t n = ridge_json_size(root);
    if (ridge_json_kind_of(root) != RIDGE_JSON_OBJECT || n > TENSOR_MOST)
        return ridge_json_fail(cx, root, "a header must be an object of tensors");
    reading r = {header, model, ridge_new(ridge_ctx_arena(cx), extent, n + 1), {0}};
    if (r.extents == NULL)
        return ridge_fail_nomem(cx);
    r.sums.documents = 1;
    ridge_node tensor = ridge_json_member(&root, 0);
    for (; tensor.key != NULL; tensor = ridge_json_member_after(&root, tensor)) {
        if (strcmp(tensor.key, "__metadata__") != 0)
            RIDGE_TRY(add_tensor(cx, &tensor, &r));
    }
    RIDGE_TRY(check_overlap(cx, &r));
    *out = r.sums;
    return RIDGE_OK;
}

/* ---- the file -------------------------------------------------------------------- */

static ridge_status fail_io(ridge_ctx *cx, const char *path)
{
    /* strerror's text is copied into the message at once. */
    const char *why = strerror(errno); /* NOLINT(concurrency-mt-unsafe) */
    return ridge_fail(cx, RIDGE_E_IO, "%s: %s: check the path", path, why);
}

/* The header's text, and how many bytes follow it. */
static ridge_status read_header(ridge_ctx *cx, const char *path, FILE *f,
                                ridge__tensor_header *out)
{
    unsigned char length[LENGTH_BYTES];
    if (fseeko(f, 0, SEEK_END) != 0)
        return fail_io(cx, path);
    const int64_t size = (int64_t)ftello(f);
    if (size < 0 || fseeko(f, 0, SEEK_SET) != 0)
        return fail_io(cx, path);
    if (fread(length, 1, LENGTH_BYTES, f) != LENGTH_BYTES) {
        return ridge_fail(cx, RIDGE_E_PARSE,
                          "%s: %lld bytes are too short for a safetensors file", path,
                          (long long)size);
    }
    uint64_t n = 0;
    for (int i = LENGTH_BYTES - 1; i >= 0; i--)
        n = n << 8 | length[i];
    if (n > HEADER_MOST_BYTES || (int64_t)n > size - LENGTH_BYTES) {
        return ridge_fail(cx, RIDGE_E_PARSE,
                          "%s: a header of %llu bytes does not fit in %lld: is this a "
                          "safetensors file?",
                          path, (unsigned long long)n, (long long)size);
    }
    char *text = ridge_new(ridge_ctx_arena(cx), char, (size_t)n + 1);
    if (text == NULL)
        return ridge_fail_nomem(cx);
    if (fread(text, 1, (size_t)n, f) != (size_t)n)
        return fail_io(cx, path);
    *out = (ridge__tensor_header){.text = {text, (size_t)n},
                                  .data_bytes = size - LENGTH_BYTES - (int64_t)n,
                                  .file = path};
    return RIDGE_OK;
}

ridge_status ridge__safetensors_read(ridge_ctx *cx, const char *path,
                                     const ridge_model *model, ridge__tensor_sums *out)
{
    if (ridge_path_is_dir(path))
        return ridge_fail(cx, RIDGE_E_IO, "%s: is a folder: name a file in it", path);
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return fail_io(cx, path);
    ridge__tensor_header header = {0};
    const ridge_status st = read_header(cx, path, f, &header);
    fclose(f);
    RIDGE_TRY(st);
    return ridge__safetensors_sum(cx, &header, model, out);
}
