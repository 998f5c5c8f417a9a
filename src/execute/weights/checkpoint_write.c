/*
 * The file of one rank: a safetensors file of its parts. A part's key is the tensor's
 * name, "/" and its layer, "@" and where it starts; and the metadata has, by the same
 * key, "shape start" of the part in the whole tensor, so that the file tells by itself
 * what it holds.
 */
#include "checkpoint_folder.h"
#include "checkpoint_part.h"
#include "token_table.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { SLICE_BYTES = 1 << 22, ALIGN = 64 };

typedef struct rank_writer {
    ridge_ctx *cx;     /* of this file alone */
    ridge_ctx *caller; /* for fetch */
    const ridge_checkpoint_plan *plan;
    const ridge_checkpoint_share *share;
    const char *path;
    int fd;
    double bytes; /* to be written in all */
} rank_writer;

/* ---- bytes ----------------------------------------------------------------------- */

static ridge_status put(rank_writer *w, const void *data, size_t n)
{
    const char *p = data;
    while (n > 0) {
        const ssize_t done = write(w->fd, p, n < SLICE_BYTES ? n : SLICE_BYTES);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            const char *mend = ridge_sprintf(ridge_ctx_scratch(w->cx),
                                             "it needs %s: is the disk full?",
                                             ridge_format_bytes(w->bytes).s);
            return ridge__checkpoint_fail(w->cx, w->path,
                                          mend == NULL ? "is the disk full?" : mend);
        }
        p += done;
        n -= (size_t)done;
    }
    return RIDGE_OK;
}

static bool is_dense(const ridge_checkpoint_part *p)
{
    int64_t dense[RIDGE_TENSOR_DIM_MAX];
    const ridge_region *g = &p->region;
    if (p->strides == NULL)
        return true;
    ridge__dense_strides(g->n_dims, g->count, dense);
    for (int i = 0; i < g->n_dims; i++) {
        if (g->count[i] > 1 && p->strides[i] != dense[i])
            return false;
    }
    return true;
}

/* Rows [from, from + rows) of the first dim, made dense. */
static void gather_rows(const ridge_checkpoint_part *p, int64_t from, int64_t rows,
                        void *out)
{
    const ridge_region *g = &p->region;
    const ridge__stored format = ridge__stored_of(p->element);
    int64_t dense[RIDGE_TENSOR_DIM_MAX];
    ridge__dense_strides(g->n_dims, g->count, dense);
    ridge__stored_copy c = {.n = g->n_dims,
                            .to_format = format,
                            .from_format = format,
                            .to = out,
                            .from = (const unsigned char *)p->data +
                                    from * p->strides[0] *
                                        (int64_t)ridge__stored_bytes(format)};
    for (int i = 0; i < g->n_dims; i++)
        c.dims[i] =
            (ridge__copy_dim){i == 0 ? rows : g->count[i], dense[i], p->strides[i]};
    ridge__stored_copy_run(&c);
}

static size_t part_bytes(const ridge_checkpoint_part *p)
{
    return (size_t)ridge_region_elements(&p->region) * ridge_element_bytes(p->element);
}

/* A slice of rows at a time. */
static ridge_status put_strided(rank_writer *w, const ridge_checkpoint_part *p)
{
    const int64_t rows = p->region.count[0];
    const size_t row = part_bytes(p) / (size_t)rows;
    int64_t slice = (int64_t)(SLICE_BYTES / row);
    slice = slice < 1 ? 1 : slice > rows ? rows : slice;
    char *buffer = ridge_new(ridge_ctx_scratch(w->cx), char, (size_t)slice *row);
    if (buffer == NULL)
        return ridge_fail_nomem(w->cx);
    for (int64_t at = 0; at < rows; at += slice) {
        const int64_t n = rows - at < slice ? rows - at : slice;
        gather_rows(p, at, n, buffer);
        RIDGE_TRY(put(w, buffer, (size_t)n * row));
    }
    return RIDGE_OK;
}

static ridge_status put_fetched(rank_writer *w, size_t index)
{
    const size_t bytes = part_bytes(&w->share->parts[index]);
    char *buffer = ridge_new(ridge_ctx_scratch(w->cx), char, bytes);
    if (buffer == NULL)
        return ridge_fail_nomem(w->cx);
    const ridge_status st =
        w->share->fetch(w->caller, w->share->payload, index, buffer);
    if (st != RIDGE_OK)
        return ridge_fail(w->cx, st, "%s", ridge_ctx_message(w->caller));
    return put(w, buffer, bytes);
}

static ridge_status put_part(rank_writer *w, size_t index)
{
    const ridge_checkpoint_part *p = &w->share->parts[index];
    if (part_bytes(p) == 0)
        return RIDGE_OK;
    if (p->data == NULL)
        return put_fetched(w, index);
    return is_dense(p) ? put(w, p->data, part_bytes(p)) : put_strided(w, p);
}

static ridge_status put_parts(rank_writer *w)
{
    ridge_arena *scratch = ridge_ctx_scratch(w->cx);
    for (size_t i = 0; i < w->share->n; i++) {
        const ridge_mark mark = ridge_arena_mark(scratch);
        const ridge_status st = put_part(w, i);
        ridge_arena_rewind(scratch, mark);
        RIDGE_TRY(st);
    }
    return RIDGE_OK;
}

/* ---- header ---------------------------------------------------------------------- */

static void add_list(ridge_buf *b, const int64_t *values, int n)
{
    for (int i = 0; i < n; i++)
        ridge_buf_printf(b, "%s%lld", i == 0 ? "" : ",", (long long)values[i]);
}

static const char *key_of(ridge_ctx *cx, const ridge_checkpoint_part *p)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_puts(&b, p->name);
    if (p->layer >= 0)
        ridge_buf_printf(&b, "/%lld", (long long)p->layer);
    ridge_buf_puts(&b, "@");
    add_list(&b, p->region.start, p->region.n_dims);
    return b.is_short ? NULL : ridge_buf_text(&b);
}

/* "64,8,8 0,4,0" */
static const char *place_of(ridge_ctx *cx, const ridge_region *g)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    add_list(&b, g->shape, g->n_dims);
    ridge_buf_puts(&b, " ");
    add_list(&b, g->start, g->n_dims);
    return b.is_short ? NULL : ridge_buf_text(&b);
}

/* Names are parts of keys: their marks would make them ambiguous. */
static ridge_status check_part(const rank_writer *w, const ridge_checkpoint_part *p)
{
    const char *fault = ridge__region_fault(w->cx, &p->region);
    if (fault == NULL && (p->name[0] == '\0' || strpbrk(p->name, "/@") != NULL))
        fault = "its name must have letters, and neither / nor @";
    if (fault == NULL && p->data == NULL && w->share->fetch == NULL)
        fault = "it has no data";
    if (fault == NULL)
        return RIDGE_OK;
    return ridge_fail(w->cx, RIDGE_E_ARG, "%s cannot be saved: %s",
                      ridge__checkpoint_part_text(w->cx, p->name, p->layer), fault);
}

typedef struct header {
    rank_writer *w;
    ridge__token_table keys;
    ridge_json *root, *metadata;
    int64_t at; /* of the next part, in the data */
} header;

static ridge_status add_part(header *h, const ridge_checkpoint_part *p, size_t index)
{
    ridge_ctx *cx = h->w->cx;
    RIDGE_TRY(check_part(h->w, p));
    const char *key = key_of(cx, p), *place = place_of(cx, &p->region);
    if (key == NULL || place == NULL)
        return ridge_fail_nomem(cx);
    if (part_bytes(p) == 0)
        return RIDGE_OK;
    if (ridge__token_table_add(&h->keys, ridge_str_of(key), (int32_t)index) !=
        (int32_t)index) {
        return ridge_fail(cx, RIDGE_E_ARG, "%s is saved twice by rank %d",
                          ridge__checkpoint_part_text(cx, p->name, p->layer),
                          h->w->share->rank);
    }
    ridge_json *entry = ridge_json_set_object(cx, h->root, key);
    ridge_json_set_text(entry, "dtype",
                        ridge__stored_text(ridge__stored_of(p->element)));
    ridge_json *shape = ridge_json_set_array(cx, entry, "shape");
    for (int i = 0; i < p->region.n_dims; i++)
        ridge_json_push_i64(shape, p->region.count[i]);
    ridge_json *offsets = ridge_json_set_array(cx, entry, "data_offsets");
    ridge_json_push_i64(offsets, h->at);
    h->at += (int64_t)part_bytes(p);
    ridge_json_push_i64(offsets, h->at);
    ridge_json_set_text(h->metadata, key, place);
    return RIDGE_OK;
}

/* Its length, 8 bytes, little endian; then the text, with spaces up to a whole line of
 * the cache. */
static ridge_status put_header(rank_writer *w, ridge_buf *text)
{
    ridge_buf_pad(text, ' ', ALIGN - (text->n + 8) % ALIGN);
    unsigned char length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)((uint64_t)text->n >> (8 * i));
    if (text->is_short)
        return ridge_fail_nomem(w->cx);
    w->bytes += (double)text->n + 8.0;
    RIDGE_TRY(put(w, length, sizeof length));
    return put(w, text->p, text->n);
}

static ridge_status put_all(rank_writer *w)
{
    ridge_buf text;
    header h = {.w = w, .root = ridge_json_object(w->cx)};
    ridge_buf_init(&text, ridge_ctx_arena(w->cx));
    h.metadata = ridge_json_set_object(w->cx, h.root, "__metadata__");
    ridge_json_set_text(h.metadata, "format", "ridge-checkpoint 1");
    RIDGE_TRY(ridge__token_table_open(w->cx, w->share->n, &h.keys));
    for (size_t i = 0; i < w->share->n; i++)
        RIDGE_TRY(add_part(&h, &w->share->parts[i], i));
    RIDGE_TRY(ridge_json_write(w->cx, h.root, &text));
    w->bytes = (double)h.at;
    RIDGE_TRY(put_header(w, &text));
    RIDGE_TRY(put_parts(w));
    if (fsync(w->fd) != 0)
        return ridge__checkpoint_fail(w->cx, w->path, "is the disk full?");
    return RIDGE_OK;
}

static ridge_status write_rank(ridge_ctx *cx, void *payload)
{
    rank_writer *w = payload;
    const ridge_checkpoint_plan *plan = w->plan;
    const char *folder = ridge__checkpoint_partial_path(cx, plan->dir, plan->step);
    w->cx = cx;
    w->path =
        folder == NULL ? NULL : ridge__checkpoint_rank_path(cx, folder, w->share->rank);
    if (w->path == NULL)
        return ridge_fail_nomem(cx);
    w->fd = open(w->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (w->fd < 0)
        return ridge__checkpoint_fail(cx, w->path, "check that it can be written");
    ridge_status st = put_all(w);
    if (close(w->fd) != 0 && st == RIDGE_OK)
        st = ridge__checkpoint_fail(cx, w->path, "is the disk full?");
    return st;
}

ridge_status ridge_checkpoint_write_rank(ridge_ctx *cx,
                                         const ridge_checkpoint_plan *plan,
                                         const ridge_checkpoint_share *share)
{
    if (share->rank < 0 || share->rank >= plan->ranks)
        return ridge_fail(cx, RIDGE_E_ARG, "rank %d of %d", share->rank, plan->ranks);
    rank_writer w = {.caller = cx, .plan = plan, .share = share};
    return ridge__checkpoint_within(cx, write_rank, &w);
}
