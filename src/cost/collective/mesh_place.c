/*
 * Ways to lay a mesh on a slice: the orders in which mesh axes fill network axes. All
 * of them for small meshes; otherwise the last mesh axis innermost, or the first.
 */
#include "ridge/cost_strategy.h"

enum { MESH_ORDERED_MOST = 4, NETWORK_ORDERED_MOST = 3 };

/* Network axes and mesh axes in the order in which they are filled. */
typedef struct filling {
    int network[RIDGE_AXIS_MAX];
    int mesh[RIDGE_MESH_AXIS_MAX];
} filling;

static bool fill(const ridge_mesh *mesh, const ridge_slice *slice, const filling *f,
                 ridge_laid_mesh *out)
{
    int64_t sizes[RIDGE_MESH_AXIS_MAX];
    ridge_group groups[RIDGE_MESH_AXIS_MAX];
    for (int i = 0; i < mesh->n; i++)
        sizes[i] = mesh->axes[f->mesh[i]].size;
    if (!ridge_placement_fill(slice, f->network, sizes, mesh->n, groups))
        return false;
    out->slice = slice;
    for (int i = 0; i < mesh->n; i++)
        out->groups[f->mesh[i]] = groups[i];
    return true;
}

/* ---- all ways ------------------------------------------------------------------- */

static int64_t orders_of(int n, int most)
{
    int64_t orders = 1;
    if (n > most)
        return 2;
    for (int i = 2; i <= n; i++)
        orders *= i;
    return orders;
}

/* Order number @p index of the numbers in @p items, in place; with more than @p most
 * items as they are, or in reverse. */
static void put_in_order(int *items, int n, int most, int64_t index)
{
    if (n > most) {
        for (int i = 0; index == 1 && i < n / 2; i++) {
            const int item = items[i];
            items[i] = items[n - 1 - i];
            items[n - 1 - i] = item;
        }
        return;
    }
    for (int i = 0; i < n; i++) {
        const int64_t block = orders_of(n - 1 - i, n);
        const int from = i + (int)(index / block);
        const int item = items[from];
        index %= block;
        for (int j = from; j > i; j--)
            items[j] = items[j - 1];
        items[i] = item;
    }
}

int64_t ridge_mesh_place_count(const ridge_mesh *mesh, const ridge_slice *slice)
{
    return orders_of(mesh->n, MESH_ORDERED_MOST) *
           orders_of(slice->n_axes, NETWORK_ORDERED_MOST);
}

bool ridge_mesh_place_try(const ridge_mesh *mesh, const ridge_slice *slice,
                          int64_t index, ridge_laid_mesh *out)
{
    const int64_t networks = orders_of(slice->n_axes, NETWORK_ORDERED_MOST);
    filling f;
    for (int i = 0; i < slice->n_axes; i++)
        f.network[i] = i;
    for (int i = 0; i < mesh->n; i++)
        f.mesh[i] = mesh->n - 1 - i;
    put_in_order(f.network, slice->n_axes, NETWORK_ORDERED_MOST, index % networks);
    put_in_order(f.mesh, mesh->n, MESH_ORDERED_MOST, index / networks);
    return fill(mesh, slice, &f, out);
}

/* ---- as asked ------------------------------------------------------------------- */

static const char *mesh_text(ridge_ctx *cx, const ridge_mesh *mesh)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < mesh->n; i++) {
        ridge_buf_printf(&b, "%s%s=%lld", i ? "," : "", mesh->axes[i].name,
                         (long long)mesh->axes[i].size);
    }
    return ridge_buf_text(&b);
}

ridge_status ridge_mesh_place_check(ridge_ctx *cx, const ridge_mesh *mesh,
                                    const ridge_slice *slice)
{
    if (slice->next) {
        return ridge_fail(cx, RIDGE_E_ARG, "%s is a mixed fleet: name one kind of chip",
                          slice->text);
    }
    if (ridge_mesh_size(mesh) == slice->chips)
        return RIDGE_OK;
    return ridge_fail(
        cx, RIDGE_E_ARG,
        "mesh '%.80s' has %lld ranks, %s has %lld chips: make the sizes "
        "multiply to the chips; an axis that cuts nothing is for replicas",
        mesh_text(cx, mesh), (long long)ridge_mesh_size(mesh), slice->text,
        (long long)slice->chips);
}

/* What the text says so far. */
typedef struct wish {
    filling f;
    int n_network, n_mesh;
    unsigned network_seen, mesh_seen;
    unsigned networks[RIDGE_MESH_AXIS_MAX]; /* that a mesh axis fills; 0: any */
} wish;

static void want_network(wish *w, int axis)
{
    if (!(w->network_seen & (1u << axis)))
        w->f.network[w->n_network++] = axis;
    w->network_seen |= 1u << axis;
}

static void want_mesh(wish *w, int axis)
{
    if (!(w->mesh_seen & (1u << axis)))
        w->f.mesh[w->n_mesh++] = axis;
    w->mesh_seen |= 1u << axis;
}

/* "x=ici-x+ici-y" */
static ridge_status read_item(ridge_ctx *cx, ridge_str item, const ridge_mesh *mesh,
                              const ridge_slice *slice, wish *w)
{
    ridge_str rest = item;
    const ridge_str name = ridge_str_trim(ridge_str_cut(&rest, '='));
    const char *z = ridge_str_dup(ridge_ctx_arena(cx), name);
    if (!z)
        return ridge_fail_nomem(cx);
    const int axis = ridge_mesh_find(mesh, z);
    if (axis < 0 || !rest.p) {
        return ridge_fail(
            cx, RIDGE_E_PARSE,
            "'%.40s' is not a place: write x=ici-x,y=ici-y+ici-z with axes "
            "of the mesh and of %s",
            z, slice->text);
    }
    want_mesh(w, axis);
    while (rest.p) {
        ridge_group group;
        const char *network = ridge_str_dup(ridge_ctx_arena(cx),
                                            ridge_str_trim(ridge_str_cut(&rest, '+')));
        if (!network)
            return ridge_fail_nomem(cx);
        RIDGE_TRY(ridge_group_parse(cx, slice, network, &group));
        for (int i = 0; i < group.n_spans; i++) {
            want_network(w, group.spans[i].axis);
            w->networks[axis] |= 1u << group.spans[i].axis;
        }
    }
    return RIDGE_OK;
}

/* Each mesh axis lies on the network axes that were named for it, and no others. */
static ridge_status check_wish(ridge_ctx *cx, const ridge_mesh *mesh, const wish *w,
                               const ridge_laid_mesh *laid)
{
    for (int a = 0; a < mesh->n; a++) {
        const ridge_group *group = &laid->groups[a];
        unsigned used = 0;
        for (int i = 0; i < group->n_spans; i++)
            used |= 1u << group->spans[i].axis;
        if (w->networks[a] == 0 || (used & ~w->networks[a]) == 0)
            continue;
        return ridge_fail(cx, RIDGE_E_ARG,
                          "mesh axis %s of %lld does not lie there: it would take %s",
                          mesh->axes[a].name, (long long)mesh->axes[a].size,
                          ridge_group_text(cx, laid->slice, group));
    }
    return RIDGE_OK;
}

ridge_status ridge_mesh_place_parse(ridge_ctx *cx, const char *text,
                                    const ridge_mesh *mesh, const ridge_slice *slice,
                                    ridge_laid_mesh *out)
{
    wish w = {.n_mesh = 0};
    ridge_str rest = ridge_str_of(text);
    while (rest.p)
        RIDGE_TRY(read_item(cx, ridge_str_cut(&rest, ','), mesh, slice, &w));
    for (int i = 0; i < slice->n_axes; i++)
        want_network(&w, i);
    for (int a = mesh->n - 1; a >= 0; a--)
        want_mesh(&w, a);
    if (!fill(mesh, slice, &w.f, out)) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "mesh '%.80s' does not lie on the axes of %s in that order",
                          mesh_text(cx, mesh), slice->text);
    }
    return check_wish(cx, mesh, &w, out);
}
