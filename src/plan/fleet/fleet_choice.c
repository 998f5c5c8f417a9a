/*
 * Combinations of a mesh: for each pool a placement and a policy, and an order of the
 * pools. Bounds on any of them, on those of a placement and on one alone leave few to
 * price.
 */
#include "fleet_bound.h"
#include "fleet_desk.h"

#include <math.h>
#include <string.h>

enum { REMAT_CHOICES_MOST = 256 };

fleet_part *fleet_desk_part(const fleet_desk *d, int pool, int place, int remat)
{
    return &d->pools[pool].parts[place * RIDGE_REMAT_COUNT + (int)d->remats[remat]];
}

static double limit_s(const fleet_desk *d)
{
    return fmin(d->bound_s, fleet_ranking_worst_s(&d->answer->ranking));
}

/* Microbatches and whether a fill counts, as every bound of the present mesh has them.
 */
static double bound_of(const fleet_desk *d, const fleet_work *work,
                       const fleet_pace *paces)
{
    const double m = (double)train_microbatches(&d->fc->pools[0], &d->common);
    const double v = (double)d->common.vpp; /* a fill is a v-th of a stage's time */
    const bool has_fill = !ridge_schedule_is_split(d->common.schedule);
    const double work_s = fleet_work_total(work);
    if (!has_fill)
        return fleet_bound_s(paces, d->fc->n, work_s, m, false);
    return fleet_bound_s(paces, d->fc->n, work_s, m * v, true) / v;
}

/* What is known of a pool's stages when a bound is asked for. */
typedef enum pace_of { PACE_OF_COMPUTE, PACE_OF_MESH, PACE_OF_PLACE } pace_of;

static double *compute_of(const fleet_desk *d, int pool)
{
    return &d->compute_s[pool * (d->fc->request->model->n_layers + 1)];
}

/* The quickest that a pool may do at its placement, or at any: the first policy does
 * least again, and what others add hides no more than itself. */
static void quicken(const fleet_desk *d, const fleet_work *work, int pool, pace_of what,
                    fleet_pace *pace)
{
    const int first = what == PACE_OF_PLACE ? d->places[pool] : 0;
    const int last = what == PACE_OF_PLACE ? first : d->pools[pool].at.n - 1;
    for (int place = first; place <= last; place++) {
        const fleet_part *p = fleet_desk_part(d, pool, place, 0);
        pace->speed = fmax(pace->speed, fleet_pace_speed(work, p->layer_s));
        pace->head_s = fmin(pace->head_s, p->head_s);
    }
}

/* Layers spread over all stages without a rest. A pool is as quick as on the kind of
 * layer that suits it best. */
static double least_of_order_s(const fleet_desk *d, const int *order, pace_of what)
{
    const int kinds = d->fc->request->model->n_layers;
    const bool is_laid = what != PACE_OF_COMPUTE;
    const fleet_work work = {kinds, d->of_kind,
                             is_laid ? fleet_desk_part(d, 0, 0, 0)->layer_s
                                     : compute_of(d, 0)};
    fleet_pace paces[RIDGE_FLEET_POOL_MAX];
    for (int i = 0; i < d->fc->n; i++) {
        const int pool = order[i];
        const double *alone_s = compute_of(d, pool);
        paces[i] = (fleet_pace){.stages = d->pools[pool].stages,
                                .kept = d->pools[pool].kept,
                                .head_s = (double)INFINITY,
                                .room = (double)INFINITY};
        if (is_laid) {
            quicken(d, &work, pool, what, &paces[i]);
        } else {
            paces[i].speed = fleet_pace_speed(&work, alone_s);
            paces[i].head_s = alone_s[kinds];
        }
    }
    return bound_of(d, &work, paces);
}

/* Layers of each kind that a stage of a part holds, looked up: stages before it change
 * how much it keeps.
 * @param is_plain  without virtual stages, with which no stage holds more */
static const int64_t *room_of(fleet_desk *d, const fleet_part *part, int64_t last,
                              bool is_plain)
{
    const size_t pool = (size_t)part->part.pool + (is_plain ? 0 : (size_t)d->fc->n);
    const size_t row = pool * (size_t)d->fc->n_layers + (size_t)last;
    const size_t at = row * RIDGE_REMAT_COUNT + (size_t)part->part.remat;
    const int mesh = is_plain ? d->plain : d->mesh;
    int64_t *room = &d->rooms[at * (size_t)part->tc->n_kinds];
    if (d->room_at[at] != mesh) {
        fleet_part asked = *part;
        if (is_plain)
            asked.layout.vpp = 1;
        fleet_part_room(d->fc, &asked, last, room);
    }
    d->room_at[at] = mesh;
    return room;
}

/* Layers spread over all stages without a rest, no more on any than it holds. */
static double roomy_step_s(fleet_desk *d, fleet_part *const *chosen,
                           const fleet_work *work, fleet_pace *paces, bool is_plain)
{
    int64_t last = -1;
    for (int i = 0; i < d->fc->n; i++) {
        last += paces[i].stages;
        paces[i].room = fleet_work_room(work, room_of(d, chosen[i], last, is_plain),
                                        paces[i].stages);
    }
    return bound_of(d, work, paces);
}

/* @param anyhow_s  out: without a thought of memory */
static double least_step_s(fleet_desk *d, fleet_part *const *chosen, double *anyhow_s)
{
    const fleet_work work = {d->fc->request->model->n_layers, d->of_kind,
                             chosen[0]->layer_s};
    fleet_pace paces[RIDGE_FLEET_POOL_MAX];
    for (int i = 0; i < d->fc->n; i++) {
        const pool_options *o = &d->pools[chosen[i]->part.pool];
        paces[i] = (fleet_pace){.stages = o->stages,
                                .kept = o->kept,
                                .speed = fleet_pace_speed(&work, chosen[i]->layer_s),
                                .head_s = chosen[i]->head_s,
                                .room = (double)INFINITY};
    }
    double least_s = bound_of(d, &work, paces);
    *anyhow_s = least_s;
    if (least_s <= limit_s(d))
        least_s = roomy_step_s(d, chosen, &work, paces, true);
    if (least_s <= limit_s(d) && d->common.vpp > 1)
        least_s = roomy_step_s(d, chosen, &work, paces, false);
    return least_s;
}

/* @param full_at  the present mesh, where no deal at all fits
 * @return whether nothing that computes more again can be faster */
static bool price(fleet_desk *d, fleet_part *const *chosen, int *full_at)
{
    ridge_fleet_price p;
    bool is_roomy = true;
    double anyhow_s = 0;
    const double least_s = least_step_s(d, chosen, &anyhow_s);
    if (anyhow_s > limit_s(d))
        return true;
    if (isinf(least_s) || least_s > limit_s(d))
        return false;
    d->answer->priced++;
    if (!fleet_sheet_price(d->sheet, chosen, d->fc->n, limit_s(d), &is_roomy, &p)) {
        if (!is_roomy && !fleet_sheet_holds(d->sheet, chosen, d->fc->n))
            *full_at = d->mesh;
        return is_roomy;
    }
    if (p.price.step_time_s > d->bound_s)
        return is_roomy;
    const fleet_entry entry = {p.layout, p.price.step_time_s};
    fleet_ranking_insert(&d->answer->ranking, &entry);
    return is_roomy;
}

/* Remat policies of the pools, by place in the pipeline. */
typedef struct remat_choice {
    int of[RIDGE_FLEET_POOL_MAX]; /* index into the desk's remats */
} remat_choice;

/* Whether b is a, or more is done again in some pools where a does nothing again. */
static bool is_beyond(const fleet_desk *d, const remat_choice *a, const remat_choice *b)
{
    bool is_more = true;
    for (int i = 0; i < d->fc->n; i++) {
        is_more = is_more &&
                  (a->of[i] == b->of[i] || d->remats[a->of[i]] == RIDGE_REMAT_NONE);
    }
    return is_more;
}

/* Of an order of the pools with a policy in each place. */
static size_t choice_code(const fleet_desk *d, const int *order, const remat_choice *c)
{
    size_t code = 0;
    for (int i = 0; i < d->fc->n; i++)
        code = code * (size_t)(d->fc->n * RIDGE_REMAT_COUNT) +
               (size_t)(order[i] * RIDGE_REMAT_COUNT + c->of[i]);
    return code;
}

static bool is_uniform(const fleet_desk *d, const remat_choice *c)
{
    bool is_same = true;
    for (int i = 1; i < d->fc->n; i++)
        is_same = is_same && c->of[i] == c->of[0];
    return is_same;
}

/* Counts through all choices. @return false after the last */
static bool next_choice(const fleet_desk *d, remat_choice *c)
{
    for (int i = d->fc->n - 1; i >= 0; i--) {
        if (++c->of[i] < d->n_remats)
            return true;
        c->of[i] = 0;
    }
    return false;
}

static void swap(int *order, int a, int b)
{
    const int mine = order[a];
    order[a] = order[b];
    order[b] = mine;
}

static int64_t count_choices(const fleet_desk *d)
{
    int64_t n = 1;
    for (int i = 0; i < d->fc->n; i++)
        n *= d->n_remats;
    return n;
}

/* Of what fits without more, nothing more is tried. */
static void try_remats(fleet_desk *d, const int *order)
{
    remat_choice roomy[REMAT_CHOICES_MOST];
    int n_roomy = 0;
    remat_choice c = {{0}};
    do {
        fleet_part *chosen[RIDGE_FLEET_POOL_MAX] = {NULL};
        bool is_wanted = !d->is_quick || is_uniform(d, &c);
        for (int i = 0; i < n_roomy && is_wanted; i++)
            is_wanted = !is_beyond(d, &roomy[i], &c);
        int *full_at = &d->full_at[choice_code(d, order, &c)];
        for (int i = 0; i < d->fc->n; i++)
            chosen[i] = fleet_desk_part(d, order[i], d->places[order[i]], c.of[i]);
        if (is_wanted && *full_at != d->mesh && price(d, chosen, full_at) &&
            n_roomy < REMAT_CHOICES_MOST)
            roomy[n_roomy++] = c;
    } while (next_choice(d, &c));
}

/* Of any order of the pools, from place @p at on. */
static double least_of_mesh_s(const fleet_desk *d, int *order, int at, pace_of what)
{
    double least_s = (double)INFINITY;
    if (at == d->fc->n || at == RIDGE_FLEET_POOL_MAX)
        return least_of_order_s(d, order, what);
    for (int i = at; i < d->fc->n; i++) {
        swap(order, i, at);
        least_s = fmin(least_s, least_of_mesh_s(d, order, at + 1, what));
        swap(order, i, at);
    }
    return least_s;
}

/* Every order of the pools, from place @p at on. */
static void try_orders(fleet_desk *d, int *order, int at)
{
    if (at == d->fc->n || at == RIDGE_FLEET_POOL_MAX) {
        if (least_of_order_s(d, order, PACE_OF_PLACE) <= limit_s(d))
            try_remats(d, order);
        return;
    }
    for (int i = at; i < d->fc->n; i++) {
        swap(order, i, at);
        try_orders(d, order, at + 1);
        swap(order, i, at);
    }
}

static const int AS_WRITTEN[RIDGE_FLEET_POOL_MAX] = {0, 1, 2, 3};

/* Every placement of every pool. Depth: RIDGE_FLEET_POOL_MAX. */
static void try_places(fleet_desk *d, int pool)
{
    int order[RIDGE_FLEET_POOL_MAX];
    if (pool == d->fc->n || pool == RIDGE_FLEET_POOL_MAX) {
        memcpy(order, AS_WRITTEN, sizeof order);
        try_orders(d, order, 0);
        return;
    }
    for (int i = 0; i < d->pools[pool].at.n; i++) {
        d->places[pool] = i;
        try_places(d, pool + 1);
    }
}

void fleet_desk_cover(fleet_desk *d)
{
    int64_t all = count_choices(d);
    for (int i = 0; i < d->fc->n; i++)
        all *= (int64_t)(i + 1) * d->pools[i].placements;
    d->answer->covered += all;
}

static bool is_any_quick(const fleet_desk *d, pace_of what)
{
    int order[RIDGE_FLEET_POOL_MAX];
    memcpy(order, AS_WRITTEN, sizeof order);
    return least_of_mesh_s(d, order, 0, what) <= limit_s(d);
}

bool fleet_desk_may_be_quick(fleet_desk *d, const layer_time *const *layers)
{
    for (int i = 0; i < d->fc->n; i++) {
        for (int k = 0; k <= d->fc->pools[i].n_kinds; k++)
            compute_of(d, i)[k] =
                layer_time_fwd_s(&layers[i][k]) + layer_time_bwd_s(&layers[i][k]);
    }
    return is_any_quick(d, PACE_OF_COMPUTE);
}

bool fleet_desk_laid_may_be_quick(const fleet_desk *d)
{
    return is_any_quick(d, PACE_OF_MESH);
}

void fleet_desk_combine(fleet_desk *d)
{
    d->mesh++;
    try_places(d, 0);
}
