/*
 * A part of a program's weight out of a checkpoint of others: which tensor, how its
 * dims lie against the program's, and rotary pairs put side by side. A program turns
 * elements (2i, 2i+1) of a head, most checkpoints (i, i + half).
 */
#include "packed_rows.h"
#include "weight_source.h"

#include <string.h>

typedef struct weight_reader {
    ridge_ctx *cx;
    const ridge_weight_source *source;
    const ridge__weight_rule *rule;
    ridge_weight_name name;
    const ridge_region *region;
    float *out;
    int64_t to[RIDGE_TENSOR_DIM_MAX];   /* steps of out, in elements */
    int64_t from[RIDGE_TENSOR_DIM_MAX]; /* steps of the tensor */
    int64_t rotary;                     /* elements of the last dim that turn */
    ridge__packed_rows packed;          /* groups 0: the tensor is this weight's */
    bool is_short;                      /* a name could not be spelled: no memory */
} weight_reader;

/* ---- names ----------------------------------------------------------------------- */

static bool is_head(const char *pattern)
{
    return strncmp(pattern, "lm_head", 7) == 0;
}

/* A pattern with its numbers, under the checkpoint's prefix. The head stands beside it:
 * "model.layers..." but "lm_head.weight". NULL: no memory. */
static const char *spell(ridge_ctx *cx, const char *prefix, const char *pattern,
                         const ridge_weight_name *name, int64_t expert)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_scratch(cx));
    ridge_str head = ridge_str_of(prefix);
    if (is_head(pattern) && head.n > 0) {
        head.n--; /* the '.' of "model." or "transformer." */
        while (head.n > 0 && head.p[head.n - 1] != '.')
            head.n--;
    }
    ridge_buf_add(&b, head);
    for (const char *p = pattern; *p != '\0'; p++) {
        if (*p != '{') {
            ridge_buf_add(&b, (ridge_str){p, 1});
            continue;
        }
        ridge_buf_printf(&b, "%lld", (long long)(p[1] == 'l' ? name->layer : expert));
        p += 2;
    }
    return b.is_short ? NULL : ridge_buf_text(&b);
}

static const ridge__stored_tensor *tensor_named(weight_reader *r, const char *pattern,
                                                int64_t expert)
{
    const ridge_weight_source *s = r->source;
    const char *name =
        pattern == NULL ? NULL : spell(r->cx, s->prefix, pattern, &r->name, expert);
    int32_t at =
        name == NULL ? -1 : ridge__token_table_find(&s->names, ridge_str_of(name));
    r->is_short = r->is_short || (pattern != NULL && name == NULL);
    if (at < 0 && pattern != NULL && is_head(pattern)) /* outside of all parts */
        at = ridge__token_table_find(&s->names, ridge_str_of(pattern));
    if (at >= 0 && r->out != NULL)
        s->is_read[at] = true;
    return at < 0 ? NULL : &s->tensors[at];
}

/* A tensor that holds the weight among others, as the layer's mixer packs them. */
static const ridge__stored_tensor *find_packed(weight_reader *r)
{
    const ridge_model *model = r->source->model;
    const ridge_mixer *mixer = ridge__mixer_of(model, r->name.layer);
    for (int i = 0; mixer != NULL && i < RIDGE__PACKED_NAME_MAX; i++) {
        const ridge__packed_name *name = &r->rule->packed[i];
        if (name->pattern == NULL ||
            !ridge__packed_rows_of(model, mixer, name, &r->packed))
            continue;
        const ridge__stored_tensor *t = tensor_named(r, name->pattern, 0);
        if (t != NULL)
            return t;
    }
    r->packed = (ridge__packed_rows){.groups = 0};
    return NULL;
}

/* The first pattern that the checkpoint has; NULL: none. */
static const ridge__stored_tensor *find_tensor(weight_reader *r, int64_t expert,
                                               bool *is_fused)
{
    const ridge__weight_rule *rule = r->rule;
    const ridge__stored_tensor *t = NULL;
    *is_fused = false;
    t = find_packed(r);
    for (int i = 0; t == NULL && i < RIDGE__WEIGHT_NAME_MAX; i++)
        t = tensor_named(r, rule->patterns[i], expert);
    if (t != NULL)
        return t;
    t = tensor_named(r, rule->fused.pattern, expert);
    *is_fused = t != NULL;
    return t;
}

static ridge_status fail_missing(const weight_reader *r, int64_t expert)
{
    ridge_buf b;
    if (r->is_short)
        return ridge_fail_nomem(r->cx);
    ridge_buf_init(&b, ridge_ctx_scratch(r->cx));
    for (int i = 0; i < RIDGE__WEIGHT_NAME_MAX; i++) {
        const char *pattern = r->rule->patterns[i];
        if (pattern == NULL && i == 0)
            pattern = r->rule->fused.pattern ? r->rule->fused.pattern
                                             : r->rule->packed[0].pattern;
        if (pattern == NULL)
            continue;
        const char *name = spell(r->cx, r->source->prefix, pattern, &r->name, expert);
        ridge_buf_printf(&b, "%s%s", i == 0 ? "" : " or ", name == NULL ? "" : name);
    }
    if (r->name.layer < 0) {
        return ridge_fail(r->cx, RIDGE_E_NOTFOUND,
                          "%s: the checkpoint has no weight for %s: looked for %s",
                          r->source->path, r->name.base, ridge_buf_text(&b));
    }
    return ridge_fail(
        r->cx, RIDGE_E_NOTFOUND,
        "%s: the checkpoint has no weight for %s of layer %lld: looked for %s",
        r->source->path, r->name.base, (long long)r->name.layer, ridge_buf_text(&b));
}

/* ---- shapes ---------------------------------------------------------------------- */

/* What the tensor should be: rows x columns, and where this weight's rows start.
 * MATRIX: its columns, which stand for rows here. */
typedef struct wanted {
    int64_t rows, columns; /* columns 1 where the dims are the same */
    int64_t first_row;
} wanted;

static int64_t product(const int64_t *shape, int from, int to)
{
    int64_t n = 1;
    for (int i = from; i < to; i++) {
        if (!ridge_mul_i64(n, shape[i], &n))
            return -1;
    }
    return n;
}

/* Steps of the tensor along the program's dims, for one expert where there are.
 * @param all_columns  of a MATRIX */
static wanted lay_out(weight_reader *r, int64_t all_columns)
{
    const ridge_region *g = r->region;
    const int first = r->rule->order == RIDGE__WEIGHT_EXPERTS ? 1 : 0;
    if (r->rule->order == RIDGE__WEIGHT_SAME) {
        ridge__dense_strides(g->n_dims, g->shape, r->from);
        return (wanted){product(g->shape, 0, g->n_dims), 1, 0};
    }
    const int most = g->n_dims > 1 ? g->n_dims - 1 : g->n_dims; /* one dim is out */
    const int split = first + r->rule->in_dims < most ? first + r->rule->in_dims : most;
    const wanted w = {product(g->shape, split, g->n_dims),
                      product(g->shape, first, split), 0};
    const bool is_matrix = r->rule->order == RIDGE__WEIGHT_MATRIX;
    int64_t step = is_matrix ? all_columns : 1;
    for (int i = split; i-- > first; step *= g->shape[i])
        r->from[i] = step;
    step = is_matrix ? 1 : step;
    for (int i = g->n_dims; i-- > split; step *= g->shape[i])
        r->from[i] = step;
    return w;
}

static ridge_status fail_shape(const weight_reader *r, const ridge__stored_tensor *t,
                               const wanted *w)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_scratch(r->cx));
    for (int i = 0; i < t->n_dims; i++)
        ridge_buf_printf(&b, "%s%lld", i == 0 ? "" : ", ", (long long)t->shape[i]);
    if (w->columns > 1) {
        const bool is_matrix = r->rule->order == RIDGE__WEIGHT_MATRIX;
        return ridge_fail(r->cx, RIDGE_E_PARSE,
                          "%s: %s is [%s], but the model's %s needs [%lld, %lld]: take "
                          "the checkpoint of this model",
                          t->file, t->name, ridge_buf_text(&b), r->name.base,
                          (long long)(is_matrix ? w->columns : w->rows),
                          (long long)(is_matrix ? w->rows : w->columns));
    }
    return ridge_fail(r->cx, RIDGE_E_PARSE,
                      "%s: %s is [%s], but the model's %s has %lld elements: take the "
                      "checkpoint of this model",
                      t->file, t->name, ridge_buf_text(&b), r->name.base,
                      (long long)w->rows);
}

/* Rows of a fused tensor are this weight's, those behind it, and others. */
static bool find_rows(const ridge__fused_name *fused, int64_t all, wanted *w)
{
    const int64_t behind = (fused->behind + 1) * w->rows;
    if (fused->is_first)
        return w->rows < all;
    w->first_row = all - behind;
    return behind < all;
}

/* Elements that a packed row has of this weight: taps of a channel, or one. */
static int64_t packed_width(const weight_reader *r, const wanted *w)
{
    return w->rows / (r->packed.groups * r->packed.rows);
}

static bool find_packed_rows(const weight_reader *r, int64_t all, wanted *w)
{
    const ridge__packed_rows *p = &r->packed;
    const int64_t width = packed_width(r, w);
    w->first_row = p->first * width;
    return width > 0 && w->rows == p->groups * p->rows * width &&
           all == p->groups * p->group_rows * width;
}

static ridge_status check_shape(const weight_reader *r, const ridge__stored_tensor *t,
                                bool is_fused, wanted *w)
{
    const bool has_columns = r->rule->order != RIDGE__WEIGHT_SAME;
    const int other = r->rule->order == RIDGE__WEIGHT_MATRIX ? 0 : 1;
    const int64_t elements = ridge__stored_elements(t);
    bool fits = w->rows > 0 && w->columns > 0;
    if (fits && has_columns)
        fits = t->n_dims == 2 && t->shape[other] == w->columns;
    if (fits) {
        const int64_t rows = elements / w->columns;
        fits = r->packed.groups > 0 ? find_packed_rows(r, rows, w)
               : is_fused           ? find_rows(&r->rule->fused, rows, w)
                                    : rows == w->rows;
    }
    if (!fits)
        return fail_shape(r, t, w);
    if (!ridge__stored_converts(RIDGE__STORED_F32, t->stored)) {
        return ridge_fail(r->cx, RIDGE_E_PARSE,
                          "%s: %s is %s, which Ridge does not run: convert the "
                          "checkpoint to bf16",
                          t->file, t->name, ridge__stored_text(t->stored));
    }
    return RIDGE_OK;
}

/* ---- copying --------------------------------------------------------------------- */

/* A run of the last dim: count elements of the program from start, which lie in the
 * tensor at from, steps apart, or pairs of them, half apart. */
typedef struct last_run {
    int64_t start, count;
    int64_t from, step;
    int64_t half; /* > 0: pairs */
} last_run;

static void copy_run(const weight_reader *r, const ridge__stored_tensor *t,
                     const unsigned char *base, float *out, const last_run *run)
{
    const ridge_region *g = r->region;
    const int last = g->n_dims - 1;
    const int64_t bytes = (int64_t)ridge__stored_bytes(t->stored);
    ridge__stored_copy c = {.to_format = RIDGE__STORED_F32, .from_format = t->stored};
    const int first = r->rule->order == RIDGE__WEIGHT_EXPERTS ? 1 : 0;
    int64_t offset = run->from * r->from[last];
    for (int i = first; i < last; i++) {
        c.dims[c.n++] = (ridge__copy_dim){g->count[i], r->to[i], r->from[i]};
        offset += g->start[i] * r->from[i];
    }
    const int64_t to = r->to[last], step = run->step * r->from[last];
    if (run->half > 0) {
        c.dims[c.n++] = (ridge__copy_dim){run->count / 2, 2 * to, step};
        c.dims[c.n++] = (ridge__copy_dim){2, to, run->half * r->from[last]};
    } else {
        c.dims[c.n++] = (ridge__copy_dim){run->count, to, step};
    }
    c.from = base + offset * bytes;
    c.to = (unsigned char *)(out + (run->start - g->start[last]) * to);
    ridge__stored_copy_run(&c);
}

/* The next run at element @p at of the last dim: whole pairs, half of one, or what does
 * not turn. */
static last_run run_at(const weight_reader *r, int64_t at, int64_t end)
{
    const int64_t half = r->rotary / 2;
    const int64_t turned = end < r->rotary ? end : r->rotary;
    if (at >= r->rotary)
        return (last_run){at, end - at, at, 1, 0};
    if (at % 2 == 0 && turned - at >= 2)
        return (last_run){at, (turned - at) / 2 * 2, at / 2, 1, half};
    return (last_run){at, 1, at / 2 + at % 2 * half, 1, 0};
}

static void copy_tensor(const weight_reader *r, const ridge__stored_tensor *t,
                        const wanted *w, float *out)
{
    const int64_t row = r->rule->order == RIDGE__WEIGHT_MATRIX ? 1 : w->columns;
    const ridge_region *g = r->region;
    const int last = g->n_dims - 1;
    const int64_t end = g->start[last] + g->count[last];
    const unsigned char *base =
        t->data + (w->first_row * row) * (int64_t)ridge__stored_bytes(t->stored);
    for (int64_t at = g->start[last]; at < end;) {
        const last_run run = run_at(r, at, end);
        copy_run(r, t, base, out, &run);
        at += run.count;
    }
}

/* Packed by groups of heads: those of a group lie as they do by themselves, so each
 * group that the region meets is a region whose rows begin elsewhere. The dim of heads
 * is the first of those behind in_dims. */
static void copy_groups(const weight_reader *r, const ridge__stored_tensor *t,
                        const wanted *w, float *out)
{
    const ridge_region *all = r->region;
    const ridge__packed_rows *p = &r->packed;
    const int dim = r->rule->in_dims;
    const int64_t each = all->shape[dim] / p->groups; /* heads of a group */
    const int64_t end = all->start[dim] + all->count[dim];
    ridge_region part = *all;
    weight_reader own = *r;
    own.region = &part;
    for (int64_t at = all->start[dim]; at < end; at += part.count[dim]) {
        const int64_t group = at / each, behind = (group + 1) * each;
        wanted rows = *w;
        part.start[dim] = at;
        part.count[dim] = (behind < end ? behind : end) - at;
        rows.first_row = group * (p->group_rows - p->rows) + p->first;
        copy_tensor(&own, t, &rows, out + (at - all->start[dim]) * r->to[dim]);
    }
}

/* Whole numbers by their groups' scales, into scratch. */
static ridge_status unpack(const weight_reader *r, ridge__stored_tensor *t)
{
    if (t->scales == NULL)
        return RIDGE_OK;
    const size_t n = (size_t)ridge__stored_elements(t);
    float *all = ridge_new(ridge_ctx_scratch(r->cx), float, n);
    if (all == NULL)
        return ridge_fail_nomem(r->cx);
    for (size_t i = 0; i < n; i++) {
        float scale;
        memcpy(&scale, t->scales + i / (size_t)t->group * sizeof scale, sizeof scale);
        all[i] = (float)(signed char)t->data[i] * scale;
    }
    t->stored = RIDGE__STORED_F32;
    t->data = (const unsigned char *)all;
    t->bytes = n * sizeof *all;
    return RIDGE_OK;
}

static ridge_status read_one(weight_reader *r, int64_t expert, float *out)
{
    bool is_fused;
    const ridge__stored_tensor *found = find_tensor(r, expert, &is_fused);
    if (found == NULL)
        return fail_missing(r, expert);
    ridge__stored_tensor t = *found;
    RIDGE_TRY(unpack(r, &t));
    wanted w = lay_out(r, t.n_dims == 2 ? t.shape[1] : 1);
    RIDGE_TRY(check_shape(r, &t, is_fused, &w));
    if (r->packed.groups > 1)
        copy_groups(r, &t, &w, out);
    else
        copy_tensor(r, &t, &w, out);
    return RIDGE_OK;
}

/* ---- all ------------------------------------------------------------------------- */

/* Dims that turn: all of a head, or the part that the model turns; none of a recurrent
 * layer. */
static int64_t rotary_dims(const weight_reader *r)
{
    const ridge_numerics *n = &r->source->numerics;
    const ridge_mixer *mixer = ridge__mixer_of(r->source->model, r->name.layer);
    if (mixer != NULL && mixer->kind != RIDGE_MIXER_ATTENTION)
        return 0;
    const int64_t h = r->region->shape[r->region->n_dims - 1];
    if (!r->rule->is_rotary || n->has_paired_rope)
        return 0;
    return (int64_t)((double)h * n->rope_fraction + 0.5) / 2 * 2;
}

static ridge_status read_region(weight_reader *r)
{
    const ridge_region *g = r->region;
    if (r->rule->order != RIDGE__WEIGHT_EXPERTS)
        return read_one(r, 0, r->out);
    for (int64_t i = 0; i < g->count[0]; i++)
        RIDGE_TRY(read_one(r, g->start[0] + i, r->out + i * r->to[0]));
    return RIDGE_OK;
}

static ridge_status find_rule(weight_reader *r)
{
    r->rule = ridge__weight_rule_find(r->source->family, r->name.base);
    if (r->rule == NULL) {
        return ridge_fail(r->cx, RIDGE_E_NOTFOUND,
                          "%s: Ridge knows no name for the weight %s in checkpoints of "
                          "others: it reads those of LLaMA, Qwen, Mistral, GPT-2 "
                          "and their like",
                          r->source->path, r->name.base);
    }
    bool is_fused;
    const bool is_tied = ridge_str_is(ridge_str_of(r->name.base), "unembedding") &&
                         find_tensor(r, 0, &is_fused) == NULL;
    if (is_tied)
        r->rule = ridge__weight_rule_find(r->source->family, "embedding");
    return r->is_short ? ridge_fail_nomem(r->cx) : RIDGE_OK;
}

static ridge_status check_region(const weight_reader *r)
{
    const char *fault = r->region->n_dims == 0 ? "it has no dims"
                                               : ridge__region_fault(r->cx, r->region);
    if (fault == NULL)
        return RIDGE_OK;
    return ridge_fail(r->cx, RIDGE_E_ARG, "no region of the weight %s: %s",
                      r->name.base, fault);
}

ridge_status ridge_weight_source_read(ridge_ctx *cx, const ridge_weight_source *source,
                                      ridge_weight_name name,
                                      const ridge_region *region,
                                      const int64_t *strides, float *out)
{
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    weight_reader r = {
        .cx = cx, .source = source, .name = name, .region = region, .out = out};
    ridge_status st = check_region(&r);
    if (st == RIDGE_OK)
        st = find_rule(&r);
    if (st == RIDGE_OK) {
        ridge__dense_strides(region->n_dims, region->count, r.to);
        if (strides != NULL)
            memcpy(r.to, strides, (size_t)region->n_dims * sizeof *strides);
        r.rotary = rotary_dims(&r);
        st = read_region(&r);
    }
    ridge_arena_rewind(scratch, mark);
    return st;
}

bool ridge_weight_source_has(ridge_ctx *cx, const ridge_weight_source *source,
                             ridge_weight_name name)
{
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    weight_reader r = {.cx = cx, .source = source, .name = name};
    bool is_fused;
    r.rule = ridge__weight_rule_find(source->family, name.base);
    const bool has = r.rule != NULL && find_tensor(&r, 0, &is_fused) != NULL;
    ridge_arena_rewind(scratch, mark);
    return has;
}
