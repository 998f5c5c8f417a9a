/* What an open checkpoint holds: its facts, its tensors, regions of them. */
#include "checkpoint_reader.h"

#include <string.h>

/* ---- facts ----------------------------------------------------------------------- */

const char *ridge_checkpoint_reader_path(const ridge_checkpoint_reader *reader)
{
    return reader->path;
}

int64_t ridge_checkpoint_reader_step(const ridge_checkpoint_reader *reader)
{
    return reader->step;
}

const char *ridge_checkpoint_reader_model(const ridge_checkpoint_reader *reader)
{
    return reader->model;
}

const char *ridge_checkpoint_reader_mesh(const ridge_checkpoint_reader *reader)
{
    return reader->mesh;
}

ridge_node ridge_checkpoint_reader_state(const ridge_checkpoint_reader *reader)
{
    return reader->state;
}

/* ---- tensors --------------------------------------------------------------------- */

size_t ridge_checkpoint_reader_count(const ridge_checkpoint_reader *reader)
{
    return reader->list.n_groups;
}

static ridge_element element_of(ridge__stored stored)
{
    if (stored == RIDGE__STORED_BF16)
        return RIDGE_ELEMENT_BF16;
    return stored == RIDGE__STORED_I32 ? RIDGE_ELEMENT_I32 : RIDGE_ELEMENT_F32;
}

ridge_checkpoint_tensor
ridge_checkpoint_reader_tensor(const ridge_checkpoint_reader *reader, size_t index)
{
    const ridge__part *p = &reader->list.parts[reader->list.groups[index].first];
    ridge_checkpoint_tensor t = {.name = p->name,
                                 .layer = p->layer,
                                 .element = element_of(p->stored.stored),
                                 .n_dims = p->region.n_dims};
    memcpy(t.shape, p->region.shape, sizeof t.shape);
    return t;
}

bool ridge_checkpoint_reader_has(const ridge_checkpoint_reader *reader,
                                 const char *name, int64_t layer)
{
    return ridge__part_list_find(&reader->list, name, layer) != NULL;
}

/* ---- regions --------------------------------------------------------------------- */

typedef struct filler {
    ridge_ctx *cx;
    const ridge_checkpoint_reader *reader;
    const ridge_checkpoint_part *want;
    int64_t strides[RIDGE_TENSOR_DIM_MAX]; /* of out */
    unsigned char *out;
} filler;

/* What a part and the region have in common. */
static void copy_common(const filler *f, const ridge__part *p)
{
    const ridge_region *want = &f->want->region, *have = &p->region;
    int64_t dense[RIDGE_TENSOR_DIM_MAX];
    int64_t to = 0, from = 0;
    ridge__stored_copy c = {.n = want->n_dims,
                            .to_format = ridge__stored_of(f->want->element),
                            .from_format = p->stored.stored};
    ridge__dense_strides(have->n_dims, have->count, dense);
    for (int i = 0; i < want->n_dims; i++) {
        const int64_t want_end = want->start[i] + want->count[i];
        const int64_t have_end = have->start[i] + have->count[i];
        const int64_t start =
            want->start[i] > have->start[i] ? want->start[i] : have->start[i];
        const int64_t end = want_end < have_end ? want_end : have_end;
        if (start >= end)
            return;
        to += (start - want->start[i]) * f->strides[i];
        from += (start - have->start[i]) * dense[i];
        c.dims[i] = (ridge__copy_dim){end - start, f->strides[i], dense[i]};
    }
    c.to = f->out + to * (int64_t)ridge__stored_bytes(c.to_format);
    c.from = p->stored.data + from * (int64_t)ridge__stored_bytes(c.from_format);
    ridge__stored_copy_run(&c);
}

static ridge_status fail_shape(const filler *f, const ridge__part *p)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_scratch(f->cx));
    for (int i = 0; i < p->region.n_dims; i++)
        ridge_buf_printf(&b, "%s%lld", i == 0 ? "" : ", ",
                         (long long)p->region.shape[i]);
    return ridge_fail(f->cx, RIDGE_E_PARSE,
                      "%s: %s is [%s] there, but has another shape in this model: take "
                      "a checkpoint of this model",
                      f->reader->path,
                      ridge__checkpoint_part_text(f->cx, p->name, p->layer),
                      ridge_buf_text(&b));
}

static ridge_status check_want(const filler *f, const ridge__part *p)
{
    const ridge_region *want = &f->want->region;
    const char *text =
        ridge__checkpoint_part_text(f->cx, f->want->name, f->want->layer);
    const char *fault = ridge__region_fault(f->cx, want);
    if (fault != NULL)
        return ridge_fail(f->cx, RIDGE_E_ARG, "no region of %s: %s", text, fault);
    if (want->n_dims != p->region.n_dims ||
        memcmp(want->shape, p->region.shape,
               (size_t)want->n_dims * sizeof want->shape[0]) != 0)
        return fail_shape(f, p);
    if (!ridge__stored_converts(ridge__stored_of(f->want->element), p->stored.stored)) {
        return ridge_fail(f->cx, RIDGE_E_ARG,
                          "%s: %s is %s there, which is not asked for", f->reader->path,
                          text, ridge__stored_text(p->stored.stored));
    }
    return RIDGE_OK;
}

static ridge_status fill(filler *f)
{
    const ridge_checkpoint_part *want = f->want;
    const ridge__part_list *list = &f->reader->list;
    const ridge__part_group *g = ridge__part_list_find(list, want->name, want->layer);
    if (g == NULL) {
        return ridge_fail(f->cx, RIDGE_E_NOTFOUND,
                          "%s: the checkpoint has no %s: it is of another model or of "
                          "other training",
                          f->reader->path,
                          ridge__checkpoint_part_text(f->cx, want->name, want->layer));
    }
    RIDGE_TRY(check_want(f, &list->parts[g->first]));
    ridge__dense_strides(want->region.n_dims, want->region.count, f->strides);
    if (want->strides != NULL)
        memcpy(f->strides, want->strides,
               (size_t)want->region.n_dims * sizeof *want->strides);
    for (size_t i = 0; i < g->n; i++)
        copy_common(f, &list->parts[g->first + i]);
    return RIDGE_OK;
}

ridge_status ridge_checkpoint_reader_read(ridge_ctx *cx,
                                          const ridge_checkpoint_reader *reader,
                                          const ridge_checkpoint_part *want, void *out)
{
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    filler f = {.cx = cx, .reader = reader, .want = want, .out = out};
    const ridge_status st = fill(&f);
    ridge_arena_rewind(scratch, mark);
    return st;
}
