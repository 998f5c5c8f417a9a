#include "group_placement.h"

#include "train_case.h"

#include "ridge/cost_program.h"

#include <string.h>

/* ---- hashes ---------------------------------------------------------------------- */

uint64_t train_hash_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

uint64_t train_hash_group(uint64_t hash, const ridge_group *group)
{
    for (int i = 0; i < group->n_spans; i++) {
        const ridge_span *s = &group->spans[i];
        hash = train_hash_mix(hash, (uint64_t)s->size << 32 ^ (uint64_t)s->stride << 4 ^
                                        (uint64_t)s->axis);
    }
    return train_hash_mix(hash, (uint64_t)group->n_spans);
}

/* ---- numbers --------------------------------------------------------------------- */

static int torus_axes(const ridge_slice *slice)
{
    int n = 0;
    while (n < slice->n_axes && slice->axes[n].kind == RIDGE_AXIS_TORUS)
        n++;
    return n;
}

static int torus_orders(const ridge_slice *slice)
{
    const int axes = torus_axes(slice);
    return axes == 3 ? 6 : axes == 2 ? 2 : 1;
}

int train_placement_count(const ridge_slice *slice)
{
    return 2 * torus_orders(slice);
}

_Static_assert(RIDGE_PLACEMENT_MOST == PLACEMENT_USUAL_MOST + 6 * 120, "all orders");

int train_placement_most(const ridge_slice *slice)
{
    const int usual = train_placement_count(slice);
    return ridge_chip_is_overlapped(slice->chip) ? usual + 120 * torus_orders(slice)
                                                 : usual;
}

bool train_placement_is_usual(const ridge_slice *slice, int placement)
{
    return placement < train_placement_count(slice);
}

/* What a number stands for. */
typedef struct placing {
    int torus;                 /* number of the order of torus axes */
    int axes[TRAIN_MESH_AXES]; /* from the innermost */
} placing;

/* Permutation k of 120, in lexical order. */
static void permute(int k, int *out)
{
    int left[TRAIN_MESH_AXES] = {TRAIN_AXIS_TP, TRAIN_AXIS_CP, TRAIN_AXIS_SHARDS,
                                 TRAIN_AXIS_REPLICAS, TRAIN_AXIS_PP};
    int ways = 120;
    for (int i = 0; i < TRAIN_MESH_AXES; i++) {
        ways /= TRAIN_MESH_AXES - i;
        const int at = k / ways;
        k %= ways;
        out[i] = left[at];
        memmove(&left[at], &left[at + 1],
                (size_t)(TRAIN_MESH_AXES - 1 - at) * sizeof *left);
    }
}

/* A number that there is; any other is the first. */
static placing placing_of(const ridge_slice *slice, int placement)
{
    if (placement < 0 || placement >= train_placement_most(slice))
        placement = 0;
    const int usual = train_placement_count(slice);
    placing p = {.torus = placement / 2};
    if (placement >= usual) {
        p.torus = (placement - usual) % torus_orders(slice);
        permute((placement - usual) / torus_orders(slice), p.axes);
        return p;
    }
    const bool is_pp_inside = placement % 2 == 1;
    const int order[] = {TRAIN_AXIS_TP, TRAIN_AXIS_CP, TRAIN_AXIS_SHARDS,
                         is_pp_inside ? TRAIN_AXIS_PP : TRAIN_AXIS_REPLICAS,
                         is_pp_inside ? TRAIN_AXIS_REPLICAS : TRAIN_AXIS_PP};
    memcpy(p.axes, order, sizeof order);
    return p;
}

void train_placement_axes(const ridge_slice *slice, int placement, int *axes)
{
    const placing p = placing_of(slice, placement);
    memcpy(axes, p.axes, sizeof p.axes);
}

/* Permutation of the torus axes; levels outside them keep their order. */
void train_placement_order(const ridge_slice *slice, int placement, int *order)
{
    static const int three[6][3] = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2},
                                    {0, 2, 1}, {1, 2, 0}, {2, 0, 1}};
    const int p = placing_of(slice, placement).torus;
    const int torus = torus_axes(slice);
    for (int i = 0; i < slice->n_axes; i++)
        order[i] = i;
    for (int i = 0; i < torus; i++) {
        if (torus == 3) {
            order[i] = three[p][i];
        } else if (torus == 2) {
            order[i] = p == 0 ? i : 1 - i;
        }
    }
}

/* ---- groups ---------------------------------------------------------------------- */

/* Parts of groups in the order in which they fill the network. */
typedef struct filling {
    int n;
    int64_t sizes[RIDGE_MESH_AXIS_MAX];
    ridge_group *groups[RIDGE_MESH_AXIS_MAX];
} filling;

static void add_part(filling *f, ridge_group *group, int64_t size)
{
    f->sizes[f->n] = size;
    f->groups[f->n++] = group;
}

/* Several parts as one group. @return false: they lie apart on one network axis */
static bool join(const ridge_slice *slice, const ridge_group *parts, int n,
                 ridge_group *out)
{
    static const int all[] = {0, 1};
    ridge_laid_mesh laid = {.slice = slice};
    for (int i = 0; i < n; i++)
        laid.groups[i] = parts[i];
    *out = ridge_laid_mesh_group(&laid, all, n);
    for (int i = 1; i < out->n_spans; i++) {
        if (out->spans[i].axis == out->spans[i - 1].axis)
            return false;
    }
    return true;
}

/* A group of two parts is joined. */
static bool fill(const ridge_slice *slice, const int *order, const filling *f)
{
    ridge_group laid[RIDGE_MESH_AXIS_MAX];
    if (!ridge_placement_fill(slice, order, f->sizes, f->n, laid))
        return false;
    for (int i = 0; i < f->n; i++)
        *f->groups[i] = laid[i];
    for (int i = 0; i < f->n; i++) {
        for (int k = 0; k < i; k++) {
            const ridge_group both[] = {laid[k], laid[i]};
            if (f->groups[k] == f->groups[i] && !join(slice, both, 2, f->groups[i]))
                return false;
        }
    }
    return true;
}

/* Experts cut the chips of a stage as their width, ep, expert shards and replicas,
 * around the stages, which lie where the dense layers have them.
 * @param inside  chips that lie inside the stages
 * @return false: the stages would cut a group in parts that do not divide it */
static bool fill_experts(const ridge_slice *slice, const int *order,
                         const ridge_layout *l, const train_ways *w, int64_t inside,
                         train_groups *out)
{
    ridge_group width;
    ridge_group *groups[] = {&width, &out->ep, &out->expert_shards,
                             &out->expert_replicas};
    const int64_t sizes[] = {w->expert_width, l->ep, w->expert_shards,
                             w->expert_replicas};
    int64_t outer[RIDGE_COUNT_OF(sizes)]; /* what of each lies outside the stages */
    filling f = {0};
    for (size_t i = 0; i < RIDGE_COUNT_OF(sizes); i++) {
        if (sizes[i] < 1) /* a layout that is no layout */
            return false;
        const int64_t inner = inside % sizes[i] == 0 ? sizes[i] : inside;
        if (inner < 1 || sizes[i] % inner != 0)
            return false;
        outer[i] = sizes[i] / inner;
        inside /= inner;
        if (inner > 1 || outer[i] == 1)
            add_part(&f, groups[i], inner);
    }
    if (inside > 1)
        return false;
    add_part(&f, &out->pp, l->pp);
    for (size_t i = 0; i < RIDGE_COUNT_OF(sizes); i++) {
        if (outer[i] > 1)
            add_part(&f, groups[i], outer[i]);
    }
    return fill(slice, order, &f);
}

bool train_groups_place(const ridge_slice *slice, const ridge_layout *l, int placement,
                        train_groups *out)
{
    int order[RIDGE_AXIS_MAX];
    const train_ways w = train_layout_ways(l);
    const placing at = placing_of(slice, placement);
    const bool is_sharded = w.shards >= l->cp; /* else cp counts among the replicas */
    ridge_group inner, outer;
    ridge_group *groups[] = {&out->tp, &out->cp, &inner, &outer, &out->pp};
    const int64_t sizes[] = {l->tp, l->cp, is_sharded ? w.shards / l->cp : 1,
                             is_sharded ? w.replicas : w.replicas / l->cp, l->pp};
    int64_t inside = 1; /* chips inside the stages */
    bool is_inside = true;
    filling dense = {0};
    out->dispatch = l->ep_dispatch;
    train_placement_order(slice, placement, order);
    for (int i = 0; i < TRAIN_MESH_AXES; i++) {
        is_inside = is_inside && at.axes[i] != TRAIN_AXIS_PP;
        inside *= is_inside ? sizes[at.axes[i]] : 1;
        add_part(&dense, groups[at.axes[i]], sizes[at.axes[i]]);
    }
    if (!fill_experts(slice, order, l, &w, inside, out) || !fill(slice, order, &dense))
        return false;
    const ridge_group with_cp[] = {out->cp, is_sharded ? inner : outer};
    out->shards = (ridge_group){.ranks = 1};
    out->replicas = outer;
    return join(slice, with_cp, 2, is_sharded ? &out->shards : &out->replicas);
}

/* ---- meshes ---------------------------------------------------------------------- */

static int axis_class(const char *name)
{
    static const char *const inner[] = {"tp", "tpr"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(inner); i++) {
        if (strcmp(name, inner[i]) == 0)
            return TRAIN_AXIS_TP;
    }
    return strcmp(name, "cp") == 0   ? TRAIN_AXIS_CP
           : strcmp(name, "dp") == 0 ? TRAIN_AXIS_REPLICAS
                                     : TRAIN_AXIS_SHARDS; /* fsdp, and ep out of it */
}

static int place_in(const placing *at, int axis)
{
    int i = 0;
    while (at->axes[i] != axis)
        i++;
    return i;
}

void train_mesh_order(const ridge_slice *slice, const ridge_layout *l,
                      const ridge_mesh *mesh, int *order)
{
    const placing at = placing_of(slice, l->placement);
    int places[RIDGE_MESH_AXIS_MAX + 1];
    for (int n = 0; n <= mesh->n; n++) {
        const int axis = mesh->n - 1 - n; /* the last one is innermost */
        const int place =
            place_in(&at, axis < 0 ? TRAIN_AXIS_PP : axis_class(mesh->axes[axis].name));
        int i = n;
        for (; i > 0 && places[i - 1] > place; i--) {
            places[i] = places[i - 1];
            order[i] = order[i - 1];
        }
        places[i] = place;
        order[i] = axis < 0 ? mesh->n : axis;
    }
}

bool train_mesh_place(const ridge_slice *slice, const ridge_layout *l,
                      const ridge_mesh *mesh, ridge_laid_mesh *out)
{
    int order[RIDGE_AXIS_MAX];
    int axes[RIDGE_MESH_AXIS_MAX + 1];
    int64_t sizes[RIDGE_MESH_AXIS_MAX];
    ridge_group groups[RIDGE_MESH_AXIS_MAX];
    *out = (ridge_laid_mesh){.slice = slice};
    if (mesh->n + 1 > RIDGE_MESH_AXIS_MAX)
        return false;
    train_placement_order(slice, l->placement, order);
    train_mesh_order(slice, l, mesh, axes);
    for (int i = 0; i <= mesh->n; i++)
        sizes[i] = axes[i] == mesh->n ? l->pp : mesh->axes[axes[i]].size;
    if (!ridge_placement_fill(slice, order, sizes, mesh->n + 1, groups))
        return false;
    for (int i = 0; i <= mesh->n; i++) {
        if (axes[i] < mesh->n)
            out->groups[axes[i]] = groups[i];
    }
    return true;
}
