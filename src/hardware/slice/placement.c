/* How groups of chips lie on the network axes of a slice. */
#include <string.h>

#include "name_index.h"
#include "ridge/hardware.h"

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static bool is_permutation(const int *order, int n)
{
    bool is_seen[RIDGE_AXIS_MAX] = {false};
    for (int i = 0; i < n; i++) {
        if (order[i] < 0 || order[i] >= n || is_seen[order[i]])
            return false;
        is_seen[order[i]] = true;
    }
    return true;
}

/* Keeps the spans innermost first. */
static void insert_span(ridge_group *group, ridge_span span)
{
    int at = group->n_spans++;
    while (at > 0 && group->spans[at - 1].axis > span.axis) {
        group->spans[at] = group->spans[at - 1];
        at--;
    }
    group->spans[at] = span;
}

/* Take size chips from what used[] leaves of each axis. @return false: a rest remains
 */
static bool fill_group(const ridge_slice *slice, const int *order, int64_t size,
                       int64_t *used, ridge_group *group)
{
    *group = (ridge_group){.ranks = size};
    for (int i = 0; i < slice->n_axes && size > 1; i++) {
        const int axis = order != NULL ? order[i] : i;
        const int64_t f = gcd(size, slice->axes[axis].size / used[axis]);
        if (f == 1)
            continue;
        insert_span(group, (ridge_span){.axis = axis, .size = f, .stride = used[axis]});
        used[axis] *= f;
        size /= f;
    }
    return size == 1;
}

bool ridge_placement_fill(const ridge_slice *slice, const int *order,
                          const int64_t *sizes, int n, ridge_group *groups)
{
    int64_t used[RIDGE_AXIS_MAX] = {1, 1, 1, 1, 1, 1};
    int64_t chips = 1;
    if (order != NULL && !is_permutation(order, slice->n_axes))
        return false;
    for (int i = 0; i < n; i++) {
        if (sizes[i] < 1 || !ridge_mul_i64(chips, sizes[i], &chips))
            return false;
    }
    if (chips != slice->chips)
        return false;
    for (int i = 0; i < n; i++) {
        if (!fill_group(slice, order, sizes[i], used, &groups[i]))
            return false;
    }
    return true;
}

/* ---- groups as text -------------------------------------------------------------- */

static const char *short_name(const ridge_axis *axis)
{
    return strncmp(axis->name, "ici-", 4) == 0 ? axis->name + 4 : axis->name;
}

static ridge_status fail_axis(ridge_ctx *cx, const ridge_slice *slice, const char *name,
                              const char *what)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < slice->n_axes; i++)
        ridge_buf_printf(&b, "%s%s", i > 0 ? ", " : "", slice->axes[i].name);
    return ridge_fail(cx, RIDGE_E_ARG, "axis '%.40s' %s: %s has %s", name, what,
                      slice->text, slice->n_axes > 0 ? ridge_buf_text(&b) : "none");
}

static int find_axis(const ridge_slice *slice, const char *name)
{
    for (int i = 0; i < slice->n_axes; i++) {
        if (ridge__name_compare(name, slice->axes[i].name) == 0 ||
            ridge__name_compare(name, short_name(&slice->axes[i])) == 0)
            return i;
    }
    return -1;
}

/* "x", or "x=4": so many neighbours of each group along it. */
static ridge_status read_part(ridge_ctx *cx, const ridge_axis *axis, ridge_str count,
                              int64_t *part)
{
    const int64_t size = axis->size;
    *part = size;
    if (count.p == NULL)
        return RIDGE_OK;
    if (!ridge_parse_i64(ridge_str_trim(count), part) || *part < 1 ||
        size % *part != 0) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "'%.40s=%.*s' is not a part of the axis: it must divide %lld",
                          axis->name, (int)(count.n < 20 ? count.n : 20), count.p,
                          (long long)size);
    }
    return RIDGE_OK;
}

/* @param parts  chips to take along each axis; 0: none so far */
static ridge_status add_axis(ridge_ctx *cx, const ridge_slice *slice, ridge_str item,
                             int64_t *parts)
{
    ridge_str count = item;
    const ridge_str name = ridge_str_cut(&count, '=');
    const char *z = ridge_str_dup(ridge_ctx_arena(cx), ridge_str_trim(name));
    if (z == NULL)
        return ridge_fail_nomem(cx);
    const bool is_all = count.p == NULL && ridge__name_compare(z, "all") == 0;
    const int axis = find_axis(slice, z);
    if (!is_all && axis < 0)
        return fail_axis(cx, slice, z, "is not there");
    for (int i = 0; i < slice->n_axes; i++) {
        if (!is_all && i != axis)
            continue;
        if (parts[i] != 0)
            return fail_axis(cx, slice, z, "is named twice");
        RIDGE_TRY(read_part(cx, &slice->axes[i], count, &parts[i]));
    }
    return RIDGE_OK;
}

ridge_status ridge_group_parse(ridge_ctx *cx, const ridge_slice *slice,
                               const char *text, ridge_group *out)
{
    int64_t parts[RIDGE_AXIS_MAX] = {0};
    ridge_str rest = ridge_str_of(text);
    while (rest.p != NULL)
        RIDGE_TRY(add_axis(cx, slice, ridge_str_cut(&rest, ','), parts));
    ridge_group group = {.ranks = 1};
    for (int i = 0; i < slice->n_axes; i++) {
        if (parts[i] < 2)
            continue;
        insert_span(&group, (ridge_span){.axis = i, .size = parts[i], .stride = 1});
        if (!ridge_mul_i64(group.ranks, parts[i], &group.ranks))
            return ridge_fail(cx, RIDGE_E_ARG, "too many chips in '%.40s'", text);
    }
    *out = group;
    return RIDGE_OK;
}

const char *ridge_group_text(ridge_ctx *cx, const ridge_slice *slice,
                             const ridge_group *group)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < group->n_spans; i++) {
        const ridge_span *span = &group->spans[i];
        ridge_buf_printf(&b, "%s%s %lld", i > 0 ? " x " : "",
                         slice->axes[span->axis].name, (long long)span->size);
        if (span->stride > 1)
            ridge_buf_printf(&b, " (stride %lld)", (long long)span->stride);
    }
    return group->n_spans > 0 ? ridge_buf_text(&b) : "one chip";
}

bool ridge_group_is_same(const ridge_group *a, const ridge_group *b)
{
    if (a->n_spans != b->n_spans)
        return false;
    for (int i = 0; i < a->n_spans; i++) {
        const ridge_span *s = &a->spans[i];
        const ridge_span *t = &b->spans[i];
        if (s->axis != t->axis || s->size != t->size || s->stride != t->stride)
            return false;
    }
    return true;
}

/* A span with stride that reaches the end of its ring closes over the same link. */
bool ridge_span_has_wraparound(const ridge_slice *slice, const ridge_span *span)
{
    const ridge_axis *axis = &slice->axes[span->axis];
    return axis->kind == RIDGE_AXIS_TORUS && axis->has_wraparound &&
           span->size * span->stride == axis->size;
}
