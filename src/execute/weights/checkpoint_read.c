/*
 * Reading a checkpoint of Ridge's own. checkpoint.json is compared with the files that
 * it lists: sizes, formats, shapes, and that the parts of each tensor cover it once. So
 * nothing can be wrong when a region is read.
 */
#include "checkpoint_folder.h"
#include "checkpoint_reader.h"

#include <string.h>

typedef struct opener {
    ridge_ctx *cx;
    ridge_checkpoint_reader *r;
} opener;

static const char *join(ridge_ctx *cx, const char *folder, const char *name)
{
    return ridge_sprintf(ridge_ctx_arena(cx), "%s/%s", folder, name);
}

/* ---- files ----------------------------------------------------------------------- */

static ridge_status index_keys(opener *o, size_t at)
{
    const ridge__safetensors *s = &o->r->files[at].tensors;
    RIDGE_TRY(ridge__token_table_open(o->cx, s->n, &o->r->keys[at]));
    for (size_t i = 0; i < s->n; i++) {
        ridge__token_table_add(&o->r->keys[at], ridge_str_of(s->tensors[i].name),
                               (int32_t)i);
    }
    return RIDGE_OK;
}

/* A file lies in the folder of its checkpoint: no path may lead out of it. */
static ridge_status open_file(opener *o, const ridge_node *entry, size_t at)
{
    const ridge_node place = ridge_json_get(entry, "name");
    const ridge_node size = ridge_json_get(entry, "bytes");
    const char *name;
    int64_t bytes;
    RIDGE_TRY(ridge_json_want_text(o->cx, place, &name));
    RIDGE_TRY(ridge_json_want_i64(o->cx, size, 0, INT64_MAX, &bytes));
    if (name[0] == '\0' || strchr(name, '/') != NULL)
        return ridge_json_fail(o->cx, place, "\"%s\" is no file of the folder", name);
    const char *path = join(o->cx, o->r->path, name);
    if (path == NULL)
        return ridge_fail_nomem(o->cx);
    if (!ridge_path_exists(path))
        return ridge_json_fail(o->cx, place, "the file %s is missing", path);
    ridge__rank_file *f = &o->r->files[at];
    RIDGE_TRY(ridge__mapped_file_open(o->cx, path, &f->map));
    if ((int64_t)f->map.n != bytes) {
        return ridge_json_fail(o->cx, size,
                               "%s has %zu bytes, not %lld: it is cut or of another "
                               "checkpoint",
                               path, f->map.n, (long long)bytes);
    }
    RIDGE_TRY(ridge__safetensors_parse(o->cx, &f->map, &f->tensors));
    return index_keys(o, at);
}

static ridge_status open_files(opener *o)
{
    const ridge_node files = ridge_json_get(&o->r->root, "files");
    ridge_arena *arena = ridge_ctx_arena(o->cx);
    const size_t n = ridge_json_size(files);
    if (n < 1 || n > RIDGE_RANK_MAX)
        return ridge_json_fail(o->cx, files, "1 to %d files", RIDGE_RANK_MAX);
    o->r->n_files = n;
    o->r->files = ridge_new(arena, ridge__rank_file, n);
    o->r->keys = ridge_new(arena, ridge__token_table, n);
    if (o->r->files == NULL || o->r->keys == NULL)
        return ridge_fail_nomem(o->cx);
    for (size_t i = 0; i < n; i++) {
        const ridge_node entry = ridge_json_at(&files, i);
        RIDGE_TRY(open_file(o, &entry, i));
    }
    return RIDGE_OK;
}

/* ---- tensors --------------------------------------------------------------------- */

static ridge_status read_list(const opener *o, const ridge_node *object,
                              const char *key, int64_t *out, int *n)
{
    const ridge_node list = ridge_json_get(object, key);
    const size_t size = ridge_json_size(list);
    if (ridge_json_kind_of(list) != RIDGE_JSON_ARRAY || size > RIDGE_TENSOR_DIM_MAX)
        return ridge_json_fail(o->cx, list, "a list of at most %d",
                               RIDGE_TENSOR_DIM_MAX);
    for (size_t i = 0; i < size; i++) {
        RIDGE_TRY(
            ridge_json_want_i64(o->cx, ridge_json_at(&list, i), 0, INT64_MAX, &out[i]));
    }
    *n = (int)size;
    return RIDGE_OK;
}

/* What the file has under this key must be what checkpoint.json says. */
static ridge_status find_stored(const opener *o, const ridge_node *entry,
                                ridge__part *p, ridge__stored format)
{
    const ridge_node place = ridge_json_get(entry, "key");
    const ridge_region *g = &p->region;
    const char *key;
    RIDGE_TRY(ridge_json_want_text(o->cx, place, &key));
    const int32_t at = ridge__token_table_find(&o->r->keys[p->file], ridge_str_of(key));
    if (at < 0) {
        return ridge_json_fail(o->cx, place, "%s has no \"%s\"",
                               o->r->files[p->file].map.path, key);
    }
    p->stored = o->r->files[p->file].tensors.tensors[at];
    if (p->stored.stored != format || p->stored.n_dims != g->n_dims ||
        memcmp(p->stored.shape, g->count, (size_t)g->n_dims * sizeof g->count[0]) !=
            0) {
        return ridge_json_fail(o->cx, place,
                               "%s has another \"%s\": of another shape or "
                               "format",
                               p->stored.file, key);
    }
    return RIDGE_OK;
}

static ridge_status read_part(const opener *o, const ridge_node *entry, ridge__part *p,
                              ridge__stored format)
{
    const ridge_node file = ridge_json_get(entry, "file");
    int64_t index;
    int n_start, n_count;
    RIDGE_TRY(ridge_json_want_i64(o->cx, file, 0, (int64_t)o->r->n_files - 1, &index));
    p->file = (int)index;
    RIDGE_TRY(read_list(o, entry, "start", p->region.start, &n_start));
    RIDGE_TRY(read_list(o, entry, "count", p->region.count, &n_count));
    const bool has_dims = n_start == p->region.n_dims && n_count == p->region.n_dims;
    const char *fault =
        has_dims ? ridge__region_fault(o->cx, &p->region) : "another number of dims";
    if (fault != NULL)
        return ridge_json_fail(o->cx, *entry, "no part of the tensor: %s", fault);
    return find_stored(o, entry, p, format);
}

static ridge_status read_format(const opener *o, const ridge_node *entry,
                                ridge__stored *out)
{
    const ridge_node place = ridge_json_get(entry, "dtype");
    const char *text;
    RIDGE_TRY(ridge_json_want_text(o->cx, place, &text));
    const bool is_known = ridge__stored_find(text, out);
    if (is_known && (*out == RIDGE__STORED_F32 || *out == RIDGE__STORED_BF16 ||
                     *out == RIDGE__STORED_I32))
        return RIDGE_OK;
    return ridge_json_fail(o->cx, place, "dtype \"%s\": F32, BF16 or I32", text);
}

static bool fits(const int64_t *shape, int n)
{
    int64_t all = 4;
    for (int i = 0; i < n; i++) {
        if (!ridge_mul_i64(all, shape[i], &all))
            return false;
    }
    return true;
}

static ridge_status read_tensor(opener *o, const ridge_node *entry)
{
    const ridge_node layer = ridge_json_get(entry, "layer");
    const ridge_node parts = ridge_json_get(entry, "parts");
    ridge__part p = {.layer = -1};
    ridge__stored format = RIDGE__STORED_F32;
    RIDGE_TRY(ridge_json_want_text(o->cx, ridge_json_get(entry, "name"), &p.name));
    if (!ridge_json_is_absent(layer))
        RIDGE_TRY(ridge_json_want_i64(o->cx, layer, 0, INT32_MAX, &p.layer));
    RIDGE_TRY(read_format(o, entry, &format));
    RIDGE_TRY(read_list(o, entry, "shape", p.region.shape, &p.region.n_dims));
    if (!fits(p.region.shape, p.region.n_dims))
        return ridge_json_fail(o->cx, *entry, "the shape is too large");
    if (ridge_json_size(parts) == 0)
        return ridge_json_fail(o->cx, parts, "%s has no parts", p.name);
    for (size_t i = 0; i < ridge_json_size(parts); i++) {
        const ridge_node part = ridge_json_at(&parts, i);
        ridge__part *out = &o->r->list.parts[o->r->list.n++];
        *out = p;
        RIDGE_TRY(read_part(o, &part, out, format));
    }
    return RIDGE_OK;
}

static ridge_status read_tensors(opener *o)
{
    const ridge_node tensors = ridge_json_get(&o->r->root, "tensors");
    size_t n = 0;
    for (size_t i = 0; i < ridge_json_size(tensors); i++) {
        const ridge_node entry = ridge_json_at(&tensors, i);
        n += ridge_json_size(ridge_json_get(&entry, "parts"));
    }
    o->r->list.parts = ridge_new(ridge_ctx_arena(o->cx), ridge__part, n);
    if (o->r->list.parts == NULL)
        return ridge_fail_nomem(o->cx);
    for (size_t i = 0; i < ridge_json_size(tensors); i++) {
        const ridge_node entry = ridge_json_at(&tensors, i);
        RIDGE_TRY(read_tensor(o, &entry));
    }
    RIDGE_TRY(ridge__part_list_sort(o->cx, &o->r->list));
    return ridge__part_list_check(o->cx, &o->r->list, o->r->path);
}

/* ---- opening --------------------------------------------------------------------- */

static ridge_status read_head(opener *o)
{
    ridge_checkpoint_reader *r = o->r;
    const ridge_node version = ridge_json_get(&r->root, "ridge_checkpoint");
    int64_t v;
    RIDGE_TRY(ridge_json_want_i64(o->cx, version, 1, INT64_MAX, &v));
    if (v > RIDGE__CHECKPOINT_VERSION) {
        return ridge_json_fail(o->cx, version,
                               "version %lld: this Ridge reads up to %d: "
                               "use a newer one",
                               (long long)v, RIDGE__CHECKPOINT_VERSION);
    }
    r->model = r->mesh = "";
    ridge_json_text(ridge_json_get(&r->root, "model"), &r->model);
    ridge_json_text(ridge_json_get(&r->root, "mesh"), &r->mesh);
    return ridge_json_want_i64(o->cx, ridge_json_get(&r->root, "step"), 0, INT64_MAX,
                               &r->step);
}

static ridge_status read_state(opener *o)
{
    bool has_state = false;
    ridge_json_bool(ridge_json_get(&o->r->root, "has_state"), &has_state);
    if (!has_state)
        return RIDGE_OK;
    const char *path = join(o->cx, o->r->path, RIDGE__CHECKPOINT_STATE);
    if (path == NULL)
        return ridge_fail_nomem(o->cx);
    return ridge_json_read(o->cx, path, &o->r->state);
}

static ridge_status open_folder(ridge_ctx *cx, const char *folder,
                                ridge_checkpoint_reader **out)
{
    opener o = {cx, ridge_new(ridge_ctx_arena(cx), ridge_checkpoint_reader, 1)};
    const char *file = join(cx, folder, RIDGE__CHECKPOINT_FILE);
    if (o.r == NULL || file == NULL)
        return ridge_fail_nomem(cx);
    o.r->path = ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(folder));
    if (o.r->path == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge_json_read(cx, file, &o.r->root));
    RIDGE_TRY(read_head(&o));
    RIDGE_TRY(open_files(&o));
    RIDGE_TRY(read_tensors(&o));
    RIDGE_TRY(read_state(&o));
    *out = o.r;
    return RIDGE_OK;
}

/* ---- the newest ------------------------------------------------------------------ */

typedef struct search {
    const char *dir;
    int64_t step;    /* -1: none */
    char fault[512]; /* of the newest that is not whole */
} search;

static ridge_status find_newest(ridge_ctx *cx, void *payload)
{
    search *s = payload;
    ridge__checkpoint_steps steps;
    RIDGE_TRY(ridge__checkpoint_list(cx, s->dir, &steps));
    for (size_t i = 0; i < steps.n; i++) {
        const char *path = ridge__checkpoint_step_path(cx, s->dir, steps.steps[i]);
        ridge_checkpoint_reader *r;
        if (path == NULL)
            return ridge_fail_nomem(cx);
        const ridge_status st = open_folder(cx, path, &r);
        if (st == RIDGE_OK) {
            s->step = steps.steps[i];
            return RIDGE_OK;
        }
        if (s->fault[0] == '\0')
            snprintf(s->fault, sizeof s->fault, "%s", ridge_ctx_message(cx));
    }
    return RIDGE_OK;
}

int64_t ridge_checkpoint_latest(ridge_ctx *cx, const char *dir)
{
    search s = {.dir = dir, .step = -1};
    return ridge__checkpoint_within(cx, find_newest, &s) == RIDGE_OK ? s.step : -1;
}

const char *ridge_checkpoint_latest_fault(ridge_ctx *cx, const char *dir)
{
    search s = {.dir = dir, .step = -1};
    if (ridge__checkpoint_within(cx, find_newest, &s) != RIDGE_OK || s.fault[0] == 0)
        return NULL;
    return ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(s.fault));
}

static ridge_status open_newest(ridge_ctx *cx, const char *dir,
                                ridge_checkpoint_reader **out)
{
    search s = {.dir = dir, .step = -1};
    RIDGE_TRY(ridge__checkpoint_within(cx, find_newest, &s));
    if (s.step < 0 && s.fault[0] != '\0') {
        return ridge_fail(cx, RIDGE_E_NOTFOUND, "%s: no checkpoint there is whole: %s",
                          dir, s.fault);
    }
    if (s.step < 0) {
        return ridge_fail(cx, RIDGE_E_NOTFOUND,
                          "%s: no checkpoint there: name the folder of a run, or a "
                          "step-… folder in it",
                          dir);
    }
    const char *path = ridge__checkpoint_step_path(cx, dir, s.step);
    return path == NULL ? ridge_fail_nomem(cx) : open_folder(cx, path, out);
}

ridge_status ridge_checkpoint_reader_open(ridge_ctx *cx, const char *path,
                                          const ridge_checkpoint_reader **out)
{
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    const char *file = ridge__checkpoint_join(cx, path, RIDGE__CHECKPOINT_FILE);
    ridge_checkpoint_reader *r = NULL;
    if (file == NULL)
        return ridge_fail_nomem(cx);
    const ridge_status st =
        ridge_path_exists(file) ? open_folder(cx, path, &r) : open_newest(cx, path, &r);
    ridge_arena_rewind(scratch, mark);
    if (st == RIDGE_OK)
        *out = r;
    return st;
}
