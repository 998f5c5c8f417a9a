/* Arrays brought from one sharding to another by the steps that ridge_reshard_plan
 * finds, each as the instructions that do it. */
#include "spmd_writer.h"

#include "ridge/profile_hlo_partition.h"

#include <string.h>

/* ---- groups -----------------------------------------------------------------------
 */

/* [groups,size]<=[mesh]T(others, the step's axes): each group in the order of its axes.
 */
static const char *groups_of(spmd_writer *w, const ridge_reshard *step)
{
    const ridge_mesh *mesh = &w->m->mesh;
    ridge_buf b;
    unsigned own = 0;
    const int64_t ranks = ridge_reshard_ranks(mesh, step);
    ridge_buf_init(&b, ridge_ctx_arena(w->m->cx));
    ridge_buf_printf(&b, "[%lld,%lld]<=[", (long long)(ridge_mesh_size(mesh) / ranks),
                     (long long)ranks);
    for (int a = 0; a < mesh->n; a++)
        ridge_buf_printf(&b, "%s%lld", a ? "," : "", (long long)mesh->axes[a].size);
    ridge_buf_puts(&b, "]T(");
    for (int k = 0; k < step->n_axes; k++)
        own |= 1U << step->axes[k];
    const char *comma = "";
    for (int a = 0; a < mesh->n; a++) {
        if (own & 1U << a)
            continue;
        ridge_buf_printf(&b, "%s%d", comma, a);
        comma = ",";
    }
    for (int k = 0; k < step->n_axes; k++) {
        ridge_buf_printf(&b, "%s%d", comma, step->axes[k]);
        comma = ",";
    }
    ridge_buf_puts(&b, ")");
    return ridge_buf_text(&b);
}

static ridge_dim_axes axes_of(const ridge_reshard *step)
{
    ridge_dim_axes axes = {.n = step->n_axes};
    for (int k = 0; k < step->n_axes; k++)
        axes.axes[k] = step->axes[k];
    return axes;
}

/* ---- pieces -----------------------------------------------------------------------
 */

static void cut_to(spmd_writer *w, spmd_array *a, int dim, int64_t length)
{
    ridge_buf b;
    if (a->dims[dim] == length)
        return;
    ridge_buf_init(&b, ridge_ctx_arena(w->m->cx));
    for (int d = 0; d < a->n; d++)
        ridge_buf_printf(&b, "%s[0:%lld]", d ? ", " : "",
                         (long long)(d == dim ? length : a->dims[d]));
    spmd_array like = *a;
    like.dims[dim] = length;
    *a = spmd_array_put(w, "cut", &like, "slice(%s), slice={%s}", a->name,
                        ridge_buf_text(&b));
}

static void pad_to(spmd_writer *w, spmd_array *a, int dim, int64_t length)
{
    ridge_buf b;
    if (a->dims[dim] == length)
        return;
    const spmd_array scalar = spmd_scalar_of(a->type);
    const spmd_array zero =
        spmd_constant_put(w, &scalar, a->type == RIDGE_HLO_PRED ? "false" : "0");
    ridge_buf_init(&b, ridge_ctx_arena(w->m->cx));
    for (int d = 0; d < a->n; d++)
        ridge_buf_printf(&b, "%s0_%lld", d ? "x" : "",
                         (long long)(d == dim ? length - a->dims[d] : 0));
    spmd_array like = *a;
    like.dims[dim] = length;
    *a = spmd_array_put(w, "padded", &like, "pad(%s, %s), padding=%s", a->name,
                        zero.name, ridge_buf_text(&b));
}

static void gather(spmd_writer *w, const ridge_reshard *step, int64_t after,
                   spmd_array *a)
{
    spmd_array like = *a;
    like.dims[step->dim_from] *= ridge_reshard_ranks(&w->m->mesh, step);
    *a = spmd_array_put(w, "all-gather", &like,
                        "all-gather(%s), channel_id=%d, replica_groups=%s, "
                        "dimensions={%d}, use_global_device_ids=true",
                        a->name, ++w->n_channels, groups_of(w, step), step->dim_from);
    cut_to(w, a, step->dim_from, after);
}

static void reduce(spmd_writer *w, const ridge_reshard *step, spmd_array *a)
{
    *a = spmd_array_put(w, "all-reduce", a,
                        "all-reduce(%s), channel_id=%d, replica_groups=%s, "
                        "use_global_device_ids=true, to_apply=%s",
                        a->name, ++w->n_channels, groups_of(w, step),
                        spmd_combiner_name(w, w->reducer, a->type));
}

static void scatter(spmd_writer *w, const ridge_reshard *step, int64_t after,
                    spmd_array *a)
{
    const int64_t ranks = ridge_reshard_ranks(&w->m->mesh, step);
    pad_to(w, a, step->dim_to, after * ranks);
    spmd_array like = *a;
    like.dims[step->dim_to] = after;
    *a = spmd_array_put(w, "reduce-scatter", &like,
                        "reduce-scatter(%s), channel_id=%d, replica_groups=%s, "
                        "dimensions={%d}, use_global_device_ids=true, to_apply=%s",
                        a->name, ++w->n_channels, groups_of(w, step), step->dim_to,
                        spmd_combiner_name(w, w->reducer, a->type));
}

static void slice(spmd_writer *w, const ridge_reshard *step, int64_t after,
                  spmd_array *a)
{
    ridge_buf at, sizes;
    if (step->dim_to < 0)
        return;
    const ridge_dim_axes axes = axes_of(step);
    const int64_t before = a->dims[step->dim_to];
    pad_to(w, a, step->dim_to, after * ridge_reshard_ranks(&w->m->mesh, step));
    const char *offset = spmd_place_of(w, &axes, before).offset;
    const spmd_array s32 = spmd_scalar_of(RIDGE_HLO_S32);
    const char *zero = spmd_constant_put(w, &s32, "0").name;
    ridge_buf_init(&at, ridge_ctx_arena(w->m->cx));
    ridge_buf_init(&sizes, ridge_ctx_arena(w->m->cx));
    spmd_array like = *a;
    like.dims[step->dim_to] = after;
    for (int d = 0; d < a->n; d++) {
        ridge_buf_printf(&at, ", %s", d == step->dim_to ? offset : zero);
        ridge_buf_printf(&sizes, "%s%lld", d ? "," : "", (long long)like.dims[d]);
    }
    *a =
        spmd_array_put(w, "own", &like, "dynamic-slice(%s%s), dynamic_slice_sizes={%s}",
                       a->name, ridge_buf_text(&at), ridge_buf_text(&sizes));
}

/* [.., J, .., I/n] to [.., J/n, .., I]: J into n pieces, exchanged, put side by side.
 */
static void exchange(spmd_writer *w, const ridge_reshard *step, const spmd_array *after,
                     spmd_array *a)
{
    ridge_buf order;
    int from[RIDGE_HLO_RANK_MAX];
    const int64_t ranks = ridge_reshard_ranks(&w->m->mesh, step);
    pad_to(w, a, step->dim_to, after->dims[step->dim_to] * ranks);
    spmd_array split = *a; /* ranks in front */
    split.n = a->n + 1;
    memmove(&split.dims[step->dim_to + 1], &split.dims[step->dim_to],
            (size_t)(a->n - step->dim_to) * sizeof *split.dims);
    split.dims[step->dim_to] = ranks;
    split.dims[step->dim_to + 1] = after->dims[step->dim_to];
    split = spmd_array_put(w, "split", &split, "reshape(%s)", a->name);
    const spmd_array moved = spmd_array_put(
        w, "all-to-all", &split,
        "all-to-all(%s), channel_id=%d, replica_groups=%s, dimensions={%d}", split.name,
        ++w->n_channels, groups_of(w, step), step->dim_to);
    int n = 0; /* the ranks now stand before the dim that they cut */
    for (int d = 0; d < a->n; d++) {
        if (d == step->dim_from)
            from[n++] = step->dim_to;
        from[n++] = d < step->dim_to ? d : d + 1;
    }
    ridge_buf_init(&order, ridge_ctx_arena(w->m->cx));
    spmd_array turned = moved;
    for (int d = 0; d < n; d++) {
        turned.dims[d] = moved.dims[from[d]];
        ridge_buf_printf(&order, "%s%d", d ? "," : "", from[d]);
    }
    turned = spmd_array_put(w, "turned", &turned, "transpose(%s), dimensions={%s}",
                            moved.name, ridge_buf_text(&order));
    spmd_array like = *a;
    like.dims[step->dim_to] = after->dims[step->dim_to];
    like.dims[step->dim_from] = a->dims[step->dim_from] * ranks;
    *a = spmd_array_put(w, "exchanged", &like, "reshape(%s)", turned.name);
    cut_to(w, a, step->dim_from, after->dims[step->dim_from]);
}

/* ---- steps ------------------------------------------------------------------------
 */

static ridge_status note(spmd_writer *w, const ridge_reshard *step, int value,
                         const ridge_sharding *from, const ridge_sharding *to)
{
    const hlo_graph *g = &w->m->graphs.graphs[w->graph];
    const ridge_hlo_instruction *i = w->op ? spmd_node_of(w->m, w->op)->i : NULL;
    ridge_arena *arena = ridge_ctx_arena(w->m->cx);
    ridge_buf axes;
    if (step->kind == RIDGE_STEP_SLICE)
        return RIDGE_OK;
    ridge_hlo_step *s = hlo_list_push(w->m->scratch, &w->steps);
    ridge_buf_init(&axes, arena);
    for (int k = 0; k < step->n_axes; k++)
        ridge_buf_printf(&axes, "%s%s", k ? "," : "",
                         w->m->mesh.axes[step->axes[k]].name);
    if (s == NULL)
        return ridge_fail_nomem(w->m->cx);
    *s = (ridge_hlo_step){.kind = step->kind,
                          .axes = ridge_buf_text(&axes),
                          .bytes = step->bytes,
                          .sent_bytes = ridge_reshard_sent_bytes(&w->m->mesh, step),
                          .times = g->times,
                          .from = spmd_sharding_text(w->m, from),
                          .to = spmd_sharding_text(w->m, to),
                          .why = w->why,
                          .scope = i ? ridge_str_dup(arena, ridge_hlo_scope_of(i)) : "",
                          .line = i ? i->line : 0};
    const spmd_value *v = spmd_value_at(w->m, value);
    ridge_buf shape;
    ridge_buf_init(&shape, arena);
    ridge_hlo_shape_write(v->shape, &shape);
    s->array = ridge_buf_text(&shape);
    return RIDGE_OK;
}

/** An array on its way. */
typedef struct route {
    spmd_writer *w;
    int value;
    ridge_sharding now;
    spmd_array *array;
} route;

static ridge_status put_step(route *r, const ridge_reshard *step);

/* Chunks of chunks that do not divide come off and go on one axis at a time. */
static ridge_status put_by_axes(route *r, const ridge_reshard *step)
{
    const bool is_outward = step->kind == RIDGE_STEP_ALL_GATHER;
    for (int k = 0; k < step->n_axes; k++) {
        ridge_reshard one = *step;
        one.n_axes = 1;
        one.axes[0] = step->axes[is_outward ? step->n_axes - 1 - k : k];
        RIDGE_TRY(put_step(r, &one));
    }
    return RIDGE_OK;
}

/* The same through a gather of one dim and a slice of the other. */
static ridge_status put_by_gather(route *r, const ridge_reshard *step)
{
    ridge_reshard part = *step;
    part.kind = RIDGE_STEP_ALL_GATHER;
    part.dim_to = -1;
    RIDGE_TRY(put_step(r, &part));
    part.kind = RIDGE_STEP_SLICE;
    part.dim_to = step->dim_to;
    part.dim_from = -1;
    return put_step(r, &part);
}

static ridge_status put_step(route *r, const ridge_reshard *step)
{
    spmd_writer *w = r->w;
    ridge_sharding next = r->now;
    if (!ridge_reshard_apply(&w->m->mesh, &next, step))
        return ridge_fail(w->m->cx, RIDGE_E_INTERNAL, "a step does not apply");
    const spmd_array after = spmd_array_local(w->m, r->value, &next);
    const int dim = step->kind == RIDGE_STEP_ALL_GATHER ? step->dim_from : step->dim_to;
    const int64_t ranks = ridge_reshard_ranks(&w->m->mesh, step);
    if (step->n_axes > 1 && step->kind != RIDGE_STEP_ALL_REDUCE && dim >= 0) {
        const int64_t a = r->array->dims[dim], b = after.dims[dim];
        const bool is_even =
            step->kind == RIDGE_STEP_ALL_GATHER ? a * ranks == b : b * ranks == a;
        if (!is_even)
            return step->kind == RIDGE_STEP_ALL_TO_ALL ? put_by_gather(r, step)
                                                       : put_by_axes(r, step);
    }
    if (step->kind == RIDGE_STEP_ALL_TO_ALL && step->n_axes > 1 &&
        r->array->dims[step->dim_from] * ranks != after.dims[step->dim_from])
        return put_by_gather(r, step);
    r->now = next;
    switch (step->kind) {
    case RIDGE_STEP_ALL_GATHER:
        gather(w, step, after.dims[dim], r->array);
        break;
    case RIDGE_STEP_REDUCE_SCATTER:
        scatter(w, step, after.dims[dim], r->array);
        break;
    case RIDGE_STEP_ALL_REDUCE:
        reduce(w, step, r->array);
        break;
    case RIDGE_STEP_ALL_TO_ALL:
        exchange(w, step, &after, r->array);
        break;
    case RIDGE_STEP_SLICE:
        slice(w, step, dim < 0 ? 0 : after.dims[dim], r->array);
        break;
    }
    return RIDGE_OK;
}

ridge_status spmd_reshard_put(spmd_writer *w, int value, const ridge_sharding *from,
                              const ridge_sharding *to, spmd_array *array)
{
    const spmd_value *v = spmd_value_at(w->m, value);
    ridge_reshard steps[RIDGE_RESHARD_MAX];
    route r = {w, value, *from, array};
    int n = 0;
    RIDGE_TRY(ridge_reshard_plan(w->m->cx, &w->m->mesh, v->shape->dims,
                                 ridge_hlo_type_bits(v->shape->type) / 8.0, from, to,
                                 steps, &n));
    for (int k = 0; k < n; k++) {
        const ridge_sharding before = r.now;
        RIDGE_TRY(put_step(&r, &steps[k]));
        RIDGE_TRY(note(w, &steps[k], value, &before, &r.now));
    }
    return RIDGE_OK;
}

/* ---- forms ------------------------------------------------------------------------
 */

static spmd_form *form_at(const spmd_writer *w, int form)
{
    return (spmd_form *)(void *)w->forms.items + form;
}

ridge_status spmd_form_add(spmd_writer *w, int value, const ridge_sharding *s,
                           const spmd_array *array)
{
    spmd_form *f = hlo_list_push(w->m->scratch, &w->forms);
    if (f == NULL)
        return ridge_fail_nomem(w->m->cx);
    value = w->same_as[value];
    *f = (spmd_form){.value = value,
                     .graph = w->graph,
                     .next = w->first_form[value],
                     .sharding = *s,
                     .array = *array};
    w->first_form[value] = w->forms.n - 1;
    return RIDGE_OK;
}

static double way_bytes(spmd_writer *w, const spmd_form *f, const ridge_sharding *to)
{
    ridge_reshard steps[RIDGE_RESHARD_MAX];
    const ridge_hlo_shape *shape = spmd_value_at(w->m, f->value)->shape;
    double all = 0;
    int n = 0;
    if (ridge_reshard_plan(w->m->cx, &w->m->mesh, shape->dims,
                           ridge_hlo_type_bits(shape->type) / 8.0, &f->sharding, to,
                           steps, &n) != RIDGE_OK)
        return 1e30;
    for (int k = 0; k < n; k++)
        all += ridge_reshard_sent_bytes(&w->m->mesh, &steps[k]);
    return all;
}

ridge_status spmd_form_want(spmd_writer *w, int value, const ridge_sharding *s,
                            spmd_array *out)
{
    const spmd_form *best = NULL;
    double best_bytes = 0;
    value = w->same_as[value];
    for (int f = w->first_form[value]; f >= 0; f = form_at(w, f)->next) {
        const spmd_form *form = form_at(w, f);
        if (form->graph != w->graph)
            continue;
        const bool is_it = ridge_sharding_equal(&form->sharding, s);
        const double bytes = is_it ? -1 : way_bytes(w, form, s);
        if (best == NULL || bytes < best_bytes) {
            best = form;
            best_bytes = bytes;
        }
    }
    if (best == NULL)
        return ridge_fail(w->m->cx, RIDGE_E_INTERNAL, "a value is not there yet");
    *out = best->array;
    if (best_bytes < 0)
        return RIDGE_OK;
    const ridge_sharding from = best->sharding;
    RIDGE_TRY(spmd_reshard_put(w, value, &from, s, out));
    return spmd_form_add(w, value, s, out);
}
