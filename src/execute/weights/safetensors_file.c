/* Reading the header of a safetensors file; nothing in it is believed. */
#include "safetensors_file.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 8, HEADER_MOST_BYTES = 100000000 };

typedef struct header {
    ridge_ctx *cx;
    const ridge__mapped_file *file;
    const unsigned char *data;
    size_t data_bytes;
    ridge_node *root;
} header;

static ridge_status read_root(header *h)
{
    const ridge__mapped_file *f = h->file;
    uint64_t n = 0;
    for (size_t i = 0; i < LENGTH_BYTES && f->n >= LENGTH_BYTES; i++)
        n |= (uint64_t)f->p[i] << (8 * i);
    if (f->n < LENGTH_BYTES || n > f->n - LENGTH_BYTES || n > HEADER_MOST_BYTES) {
        return ridge_fail(h->cx, RIDGE_E_PARSE,
                          "%s: its header of %llu bytes does not fit into the file of "
                          "%zu: it is cut, or no safetensors file",
                          f->path, (unsigned long long)n, f->n);
    }
    h->data = f->p + LENGTH_BYTES + n;
    h->data_bytes = f->n - LENGTH_BYTES - (size_t)n;
    h->root = ridge_new(ridge_ctx_arena(h->cx), ridge_node, 1);
    if (h->root == NULL)
        return ridge_fail_nomem(h->cx);
    const ridge_str text = {(const char *)f->p + LENGTH_BYTES, (size_t)n};
    RIDGE_TRY(ridge_json_parse(h->cx, text, f->path, h->root));
    if (ridge_json_kind_of(*h->root) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(h->cx, *h->root, "the header must be an object");
    return RIDGE_OK;
}

static ridge_status read_shape(const header *h, const ridge_node *entry,
                               ridge__stored_tensor *t, int64_t *elements)
{
    const ridge_node shape = ridge_json_get(entry, "shape");
    const size_t n = ridge_json_size(shape);
    if (ridge_json_kind_of(shape) != RIDGE_JSON_ARRAY || n > RIDGE_TENSOR_DIM_MAX) {
        return ridge_json_fail(h->cx, shape, "the shape must be a list of at most %d",
                               RIDGE_TENSOR_DIM_MAX);
    }
    *elements = 1;
    t->n_dims = (int)n;
    for (size_t i = 0; i < n; i++) {
        const ridge_node dim = ridge_json_at(&shape, i);
        RIDGE_TRY(ridge_json_want_i64(h->cx, dim, 0, INT64_MAX, &t->shape[i]));
        if (!ridge_mul_i64(*elements, t->shape[i], elements))
            return ridge_json_fail(h->cx, dim, "the shape is too large");
    }
    return RIDGE_OK;
}

static ridge_status read_place(const header *h, const ridge_node *entry,
                               ridge__stored_tensor *t)
{
    const ridge_node offsets = ridge_json_get(entry, "data_offsets");
    const int64_t most = (int64_t)h->data_bytes;
    int64_t start, end;
    if (ridge_json_size(offsets) != 2)
        return ridge_json_fail(h->cx, offsets, "data_offsets must be [start, end]");
    RIDGE_TRY(ridge_json_want_i64(h->cx, ridge_json_at(&offsets, 0), 0, most, &start));
    RIDGE_TRY(
        ridge_json_want_i64(h->cx, ridge_json_at(&offsets, 1), start, most, &end));
    t->data = h->data + start;
    t->bytes = (size_t)(end - start);
    return RIDGE_OK;
}

static ridge_status read_tensor(const header *h, const ridge_node *entry,
                                ridge__stored_tensor *t)
{
    const ridge_node dtype = ridge_json_get(entry, "dtype");
    const char *text;
    int64_t elements, bytes;
    t->name = entry->key;
    t->file = h->file->path;
    RIDGE_TRY(ridge_json_want_text(h->cx, dtype, &text));
    if (!ridge__stored_find(text, &t->stored))
        return ridge_json_fail(h->cx, dtype, "unknown dtype \"%s\"", text);
    RIDGE_TRY(read_shape(h, entry, t, &elements));
    RIDGE_TRY(read_place(h, entry, t));
    if (!ridge_mul_i64(elements, (int64_t)ridge__stored_bytes(t->stored), &bytes) ||
        bytes != (int64_t)t->bytes) {
        return ridge_json_fail(h->cx, *entry,
                               "%zu bytes of data, but its shape of %lld %s needs "
                               "another size",
                               t->bytes, (long long)elements, text);
    }
    return RIDGE_OK;
}

static int by_place(const void *pa, const void *pb)
{
    const ridge__stored_tensor *a = pa, *b = pb;
    if (a->data != b->data)
        return a->data < b->data ? -1 : 1;
    return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

static ridge_status check_overlap(const header *h, const ridge__safetensors *s)
{
    const ridge__stored_tensor *last = NULL; /* that goes furthest so far */
    for (size_t i = 0; i < s->n; i++) {
        const ridge__stored_tensor *t = &s->tensors[i];
        if (t->bytes == 0)
            continue;
        if (last != NULL && last->data + last->bytes > t->data) {
            return ridge_fail(h->cx, RIDGE_E_PARSE,
                              "%s: the data of %s and %s overlap: the file is damaged",
                              h->file->path, last->name, t->name);
        }
        last = t;
    }
    return RIDGE_OK;
}

ridge_status ridge__safetensors_parse(ridge_ctx *cx, const ridge__mapped_file *file,
                                      ridge__safetensors *out)
{
    header h = {.cx = cx, .file = file};
    ridge__safetensors s = {0};
    RIDGE_TRY(read_root(&h));
    s.root = h.root;
    s.tensors =
        ridge_new(ridge_ctx_arena(cx), ridge__stored_tensor, ridge_json_size(*h.root));
    if (s.tensors == NULL)
        return ridge_fail_nomem(cx);
    for (ridge_node m = ridge_json_member(h.root, 0); m.key != NULL;
         m = ridge_json_member_after(h.root, m)) {
        if (ridge_str_is(ridge_str_of(m.key), "__metadata__"))
            s.metadata = m;
        else
            RIDGE_TRY(read_tensor(&h, &m, &s.tensors[s.n++]));
    }
    if (s.n > 0)
        qsort(s.tensors, s.n, sizeof *s.tensors, by_place);
    RIDGE_TRY(check_overlap(&h, &s));
    *out = s;
    return RIDGE_OK;
}
