/*
 * A checkpoint becomes whole: the files of all ranks are read back and must make whole
 * tensors, checkpoint.json lists them, and the folder gets its name.
 *
 *     checkpoint.json
 *         ridge_checkpoint   version: 1
 *         step, model, mesh  for people and the reader
 *         has_state          state.json is the caller's
 *         files[]            name, bytes: of each rank, in order
 *         tensors[]          name, layer (none: of no layer), dtype, shape, and
 *         tensors[].parts[]  file (index), key, start[], count[]
 */
#include "checkpoint_file.h"
#include "checkpoint_folder.h"

#include <string.h>

typedef struct committer {
    ridge_ctx *cx; /* of this commit alone */
    const ridge_checkpoint_plan *plan;
    const char *partial;
    ridge__rank_file *files; /* [ranks] */
    ridge__part_list list;
    char path[4096]; /* out: of the folder */
} committer;

/* ---- reading back ---------------------------------------------------------------- */

static ridge_status open_files(committer *c)
{
    const int ranks = c->plan->ranks;
    c->files = ridge_new(ridge_ctx_arena(c->cx), ridge__rank_file, (size_t)ranks);
    if (c->files == NULL)
        return ridge_fail_nomem(c->cx);
    for (int i = 0; i < ranks; i++) {
        const char *path = ridge__checkpoint_rank_path(c->cx, c->partial, i);
        if (path == NULL)
            return ridge_fail_nomem(c->cx);
        RIDGE_TRY(ridge__rank_file_open(c->cx, path, &c->files[i]));
        c->list.n += c->files[i].tensors.n;
    }
    return RIDGE_OK;
}

static ridge_status collect_parts(committer *c)
{
    size_t at = 0;
    c->list.parts = ridge_new(ridge_ctx_arena(c->cx), ridge__part, c->list.n);
    if (c->list.parts == NULL)
        return ridge_fail_nomem(c->cx);
    for (int i = 0; i < c->plan->ranks; i++) {
        RIDGE_TRY(ridge__rank_file_parts(c->cx, &c->files[i], i, c->list.parts + at));
        at += c->files[i].tensors.n;
    }
    RIDGE_TRY(ridge__part_list_sort(c->cx, &c->list));
    return ridge__part_list_check(c->cx, &c->list, c->partial);
}

/* ---- checkpoint.json ------------------------------------------------------------- */

static const char *mesh_text(ridge_ctx *cx, const ridge_mesh *mesh)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; mesh != NULL && i < mesh->n; i++) {
        ridge_buf_printf(&b, "%s%s=%lld", i == 0 ? "" : ",", mesh->axes[i].name,
                         (long long)mesh->axes[i].size);
    }
    return ridge_buf_text(&b);
}

static void set_list(ridge_ctx *cx, ridge_json *object, const char *key,
                     const int64_t *values, int n)
{
    ridge_json *list = ridge_json_set_array(cx, object, key);
    for (int i = 0; i < n; i++)
        ridge_json_push_i64(list, values[i]);
}

static void add_tensor(const committer *c, ridge_json *tensors,
                       const ridge__part_group *group)
{
    const ridge__part *first = &c->list.parts[group->first];
    ridge_json *t = ridge_json_push_object(c->cx, tensors);
    ridge_json_set_text(t, "name", first->name);
    if (first->layer >= 0)
        ridge_json_set_i64(t, "layer", first->layer);
    ridge_json_set_text(t, "dtype", ridge__stored_text(first->stored.stored));
    set_list(c->cx, t, "shape", first->region.shape, first->region.n_dims);
    ridge_json *parts = ridge_json_set_array(c->cx, t, "parts");
    for (size_t i = 0; i < group->n; i++) {
        const ridge__part *p = first + i;
        ridge_json *part = ridge_json_push_object(c->cx, parts);
        ridge_json_set_i64(part, "file", p->file);
        ridge_json_set_text(part, "key", p->stored.name);
        set_list(c->cx, part, "start", p->region.start, p->region.n_dims);
        set_list(c->cx, part, "count", p->region.count, p->region.n_dims);
    }
}

static void add_file(const committer *c, ridge_json *files,
                     const ridge__rank_file *file)
{
    ridge_json *f = ridge_json_push_object(c->cx, files);
    ridge_json_set_text(f, "name", strrchr(file->map.path, '/') + 1);
    ridge_json_set_i64(f, "bytes", (int64_t)file->map.n);
}

static ridge_json *build_json(const committer *c)
{
    const ridge_checkpoint_plan *plan = c->plan;
    ridge_json *root = ridge_json_object(c->cx);
    ridge_json_set_i64(root, "ridge_checkpoint", RIDGE__CHECKPOINT_VERSION);
    ridge_json_set_i64(root, "step", plan->step);
    ridge_json_set_text(root, "model", plan->model == NULL ? "" : plan->model);
    ridge_json_set_text(root, "mesh", mesh_text(c->cx, plan->mesh));
    ridge_json_set_bool(root, "has_state", plan->state != NULL);
    ridge_json *files = ridge_json_set_array(c->cx, root, "files");
    for (int i = 0; i < plan->ranks; i++)
        add_file(c, files, &c->files[i]);
    ridge_json *tensors = ridge_json_set_array(c->cx, root, "tensors");
    for (size_t i = 0; i < c->list.n_groups; i++)
        add_tensor(c, tensors, &c->list.groups[i]);
    return root;
}

static ridge_status put_json(const committer *c, const char *name,
                             const ridge_json *value)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(c->cx));
    RIDGE_TRY(ridge_json_write(c->cx, value, &text));
    const char *path = ridge__checkpoint_join(c->cx, c->partial, name);
    if (path == NULL)
        return ridge_fail_nomem(c->cx);
    return ridge__checkpoint_put(c->cx, path,
                                 (ridge_str){ridge_buf_text(&text), text.n});
}

/* ---- all ------------------------------------------------------------------------- */

/* Older steps beyond those that stay; later ones are another future's. */
static ridge_status prune(committer *c)
{
    const ridge_checkpoint_plan *plan = c->plan;
    ridge__checkpoint_steps s;
    int kept = 1;
    if (plan->keep <= 0)
        return RIDGE_OK;
    RIDGE_TRY(ridge__checkpoint_list(c->cx, plan->dir, &s));
    for (size_t i = 0; i < s.n; i++) {
        if (s.steps[i] >= plan->step || kept++ < plan->keep)
            continue;
        const char *path = ridge__checkpoint_step_path(c->cx, plan->dir, s.steps[i]);
        if (path != NULL)
            ridge__checkpoint_remove(c->cx, path);
    }
    return RIDGE_OK;
}

static ridge_status commit(ridge_ctx *cx, void *payload)
{
    committer *c = payload;
    const ridge_checkpoint_plan *plan = c->plan;
    c->cx = cx;
    c->partial = ridge__checkpoint_partial_path(cx, plan->dir, plan->step);
    const char *path = ridge__checkpoint_step_path(cx, plan->dir, plan->step);
    if (c->partial == NULL || path == NULL)
        return ridge_fail_nomem(cx);
    if (strlen(path) >= sizeof c->path)
        return ridge_fail(cx, RIDGE_E_ARG, "%s: the path is too long", plan->dir);
    RIDGE_TRY(open_files(c));
    RIDGE_TRY(collect_parts(c));
    if (plan->state != NULL)
        RIDGE_TRY(put_json(c, RIDGE__CHECKPOINT_STATE, plan->state));
    RIDGE_TRY(put_json(c, RIDGE__CHECKPOINT_FILE, build_json(c)));
    RIDGE_TRY(ridge__checkpoint_rename(cx, plan->dir, plan->step));
    memcpy(c->path, path, strlen(path) + 1);
    return prune(c);
}

ridge_status ridge_checkpoint_commit(ridge_ctx *cx, const ridge_checkpoint_plan *plan,
                                     const char **path)
{
    committer c = {.plan = plan};
    const ridge_status st = ridge__checkpoint_within(cx, commit, &c);
    if (st != RIDGE_OK) {
        ridge_checkpoint_abandon(cx, plan);
        return st;
    }
    if (path == NULL)
        return RIDGE_OK;
    *path = ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(c.path));
    return *path == NULL ? ridge_fail_nomem(cx) : RIDGE_OK;
}

/* ---- before and instead ---------------------------------------------------------- */

static ridge_status begin(ridge_ctx *cx, void *payload)
{
    const ridge_checkpoint_plan *plan = payload;
    const char *partial = ridge__checkpoint_partial_path(cx, plan->dir, plan->step);
    ridge__checkpoint_steps ignored;
    if (partial == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge__checkpoint_make(cx, plan->dir));
    RIDGE_TRY(ridge__checkpoint_list(cx, plan->dir, &ignored)); /* takes back .old */
    ridge__checkpoint_sweep(cx, plan->dir);
    return ridge__checkpoint_make(cx, partial);
}

ridge_status ridge_checkpoint_begin(ridge_ctx *cx, const ridge_checkpoint_plan *plan)
{
    ridge_checkpoint_plan copy = *plan;
    if (plan->step < 0 || plan->ranks < 1 || plan->ranks > RIDGE_RANK_MAX)
        return ridge_fail(cx, RIDGE_E_ARG, "step %lld of %d ranks: no checkpoint",
                          (long long)plan->step, plan->ranks);
    return ridge__checkpoint_within(cx, begin, &copy);
}

void ridge_checkpoint_abandon(ridge_ctx *cx, const ridge_checkpoint_plan *plan)
{
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    const char *partial = ridge__checkpoint_partial_path(cx, plan->dir, plan->step);
    if (partial != NULL)
        ridge__checkpoint_remove(cx, partial);
    ridge_arena_rewind(scratch, mark);
}
