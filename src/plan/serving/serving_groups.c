/*
 * Groups of chips of a layout: inside tp those that hold copies of KV heads, then the
 * KV heads' own cuts; around it attention ranks, stages and replicas.
 */
#include "serving_bench.h"

#include "ridge/cost_program.h"

/* Places of a serving layout are the orders of a slice's torus axes. */
enum { AXIS_COPIES, AXIS_KV, AXIS_RANKS, AXIS_STAGES, AXIS_REPLICAS, AXIS_COUNT };

static int torus_axes(const ridge_slice *slice)
{
    int n = 0;
    while (n < slice->n_axes && slice->axes[n].kind == RIDGE_AXIS_TORUS)
        n++;
    return n;
}

int ridge_serving_placement_count(const ridge_slice *slice)
{
    static const int ORDERS[] = {1, 1, 2, 6};
    return ORDERS[torus_axes(slice)];
}

/* Permutation number p of the torus axes; levels outside them keep their order. */
static void order_of(const ridge_slice *slice, int p, int *order)
{
    static const int THREE[6][3] = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2},
                                    {0, 2, 1}, {1, 2, 0}, {2, 0, 1}};
    const int torus = torus_axes(slice);
    for (int i = 0; i < slice->n_axes; i++)
        order[i] = i;
    for (int i = 0; i < torus; i++) {
        if (torus == 3)
            order[i] = THREE[p][i];
        else if (torus == 2)
            order[i] = p == 0 ? i : 1 - i;
    }
}

bool serving_slice_cut(const ridge_slice *slice, int64_t chips, ridge_slice *out)
{
    *out = *slice;
    if (chips < 1 || chips > slice->chips)
        return false;
    if (slice->chips % chips == 0)
        return true;
    if (torus_axes(slice) > 0)
        return false;
    int64_t left = chips;
    for (int i = 0; i < slice->n_axes; i++) {
        const int64_t taken = left < slice->axes[i].size ? left : slice->axes[i].size;
        if (left % taken != 0)
            return false;
        out->axes[i].size = taken;
        left /= taken;
    }
    out->chips = chips;
    return left == 1;
}

bool serving_groups_place(const ridge_slice *slice, const ridge_serving_layout *l,
                          int64_t kv_ways, serving_groups *out)
{
    static const int TP[] = {AXIS_COPIES, AXIS_KV};
    static const int ALL[] = {AXIS_COPIES, AXIS_KV, AXIS_RANKS};
    const int64_t chips = ridge_serving_layout_chips(l);
    int order[RIDGE_AXIS_MAX];
    ridge_slice whole;
    if (l->placement < 0 || l->placement >= ridge_serving_placement_count(slice) ||
        !serving_slice_cut(slice, chips, &whole))
        return false;
    const int64_t sizes[AXIS_COUNT] = {[AXIS_COPIES] = l->tp / kv_ways,
                                       [AXIS_KV] = kv_ways,
                                       [AXIS_RANKS] = l->attention_dp,
                                       [AXIS_STAGES] = l->pp,
                                       [AXIS_REPLICAS] = whole.chips / chips};
    ridge_laid_mesh laid = {.slice = slice};
    order_of(slice, l->placement, order);
    if (!ridge_placement_fill(&whole, order, sizes, AXIS_COUNT, laid.groups))
        return false;
    const int64_t cut_d = l->tp_d > 1 ? l->tp_d : 1;
    const int64_t two[] = {cut_d, l->tp / cut_d, l->attention_dp, l->pp,
                           whole.chips / chips};
    ridge_group stationary[AXIS_COUNT];
    if (!ridge_placement_fill(&whole, order, two, AXIS_COUNT, stationary))
        return false;
    *out = (serving_groups){
        .tp = ridge_laid_mesh_group(&laid, TP, 2),
        .kv = laid.groups[AXIS_KV],
        .copies = laid.groups[AXIS_COPIES],
        .attention_dp = laid.groups[AXIS_RANKS],
        .all = ridge_laid_mesh_group(&laid, ALL, 3),
        .pp = laid.groups[AXIS_STAGES],
        .d = stationary[0],
        .f = stationary[1],
    };
    return true;
}

static bool is_same_set(const serving_group_set *a, const serving_group_set *b)
{
    bool is_same = a->n == b->n;
    for (int i = 0; is_same && i < a->n; i++)
        is_same = ridge_group_is_same(&a->of[i], &b->of[i]);
    return is_same;
}

static ridge_status number_set(ridge_serving_desk *desk, const serving_group_set *set,
                               int64_t *out)
{
    int i = 0;
    while (i < desk->n_group_sets && !is_same_set(&desk->group_sets[i], set))
        i++;
    *out = i;
    if (i < desk->n_group_sets)
        return RIDGE_OK;
    if (desk->n_group_sets == desk->cap_group_sets) {
        const int cap = desk->cap_group_sets == 0 ? 32 : 2 * desk->cap_group_sets;
        serving_group_set *more =
            ridge_new(ridge_ctx_arena(desk->cx), serving_group_set, (size_t)cap);
        if (more == NULL)
            return ridge_fail_nomem(desk->cx);
        for (int k = 0; k < desk->n_group_sets; k++)
            more[k] = desk->group_sets[k];
        desk->group_sets = more;
        desk->cap_group_sets = cap;
    }
    desk->group_sets[desk->n_group_sets++] = *set;
    return RIDGE_OK;
}

ridge_status serving_groups_number(serving_bench *b)
{
    const serving_groups *g = &b->groups;
    const serving_group_set tp = {5, {g->tp, g->kv, g->copies, g->d, g->f}};
    const serving_group_set ranks = {2, {g->attention_dp, g->all}};
    RIDGE_TRY(number_set(b->desk, &tp, &b->tp_key));
    return number_set(b->desk, &ranks, &b->ranks_key);
}

double serving_exchange_s(const serving_bench *b, ridge_collective kind, double bytes,
                          const ridge_group *group)
{
    if (group->ranks <= 1 || bytes <= 0)
        return 0;
    return ridge_collective_price_by(b->desk->about.slice, kind, bytes, group,
                                     RIDGE_COMM_KERNELS)
        .expected_s;
}

double serving_send_s(const serving_bench *b, double rows)
{
    const double stages = (double)b->layout->pp;
    const double bytes = rows / (double)b->layout->tp *
                         (double)b->desk->model->d_model *
                         ridge_dtype_bytes(b->layout->formats.activation);
    if (stages <= 1)
        return 0;
    const ridge_group *tp = &b->groups.tp;
    double s = serving_exchange_s(b, RIDGE_COLLECTIVE_SEND_RECV, bytes, &b->groups.pp);
    /* each rank of tp sends its part; the next stage gathers them */
    s += serving_exchange_s(b, RIDGE_COLLECTIVE_ALL_GATHER, bytes * (double)tp->ranks,
                            tp);
    return (stages - 1) * s;
}
