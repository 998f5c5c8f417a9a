/*
 * All right ways to compute a sharded einsum. Each mesh axis does one thing while the
 * operands are multiplied (axis_modes.c); axes that cut the same dim stand in some
 * order. That fixes how each operand is multiplied and how the product comes out, and
 * reshard_route.c leads there and from there to the wanted output. Kept are the ways
 * whose steps hold all the steps of no other way.
 */
#include "axis_modes.h"
#include "reshard_route.h"

#include <stdlib.h>
#include <string.h>

enum {
    OPERAND_MAX = RIDGE_EXPR_INPUT_MAX + 1,
    CODE_MAX = 2 * OPERAND_MAX * RIDGE_MESH_AXIS_MAX,
    WAYS_FIRST = 32,
    WAYS_MAX = 2048, /* kept at a time */
    TRIES_MAX = 50000
};

/* A strategy and the set of its steps, each axis of a step by itself. */
typedef struct way {
    ridge_strategy strategy;
    double sent_bytes;
    int n_codes;
    uint32_t codes[CODE_MAX]; /* ascending */
} way;

typedef struct search {
    ridge_ctx *cx;
    const ridge_expr *expr;
    int64_t sizes[OPERAND_MAX][RIDGE_TENSOR_DIM_MAX];
    int n_modes[RIDGE_MESH_AXIS_MAX];
    ridge_axis_mode modes[RIDGE_MESH_AXIS_MAX][RIDGE_AXIS_MODE_MAX];
    int64_t tries;
    int n, room;
    way *ways; /* in scratch */
} search;

double ridge_strategy_sent_bytes(const ridge_mesh *mesh, const ridge_strategy *s)
{
    double bytes = 0;
    for (int i = 0; i < s->n_steps; i++)
        bytes += ridge_reshard_sent_bytes(mesh, &s->steps[i]);
    return bytes;
}

/* ---- sets of steps -------------------------------------------------------------- */

static int compare_codes(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void set_codes(way *w)
{
    w->n_codes = 0;
    for (int i = 0; i < w->strategy.n_steps; i++) {
        const ridge_reshard *s = &w->strategy.steps[i];
        const uint32_t place =
            (uint32_t)(s->dim_from + 1) << 4 | (uint32_t)(s->dim_to + 1);
        const uint32_t kind = (uint32_t)s->operand << 4 | (uint32_t)s->kind;
        for (int a = 0; a < s->n_axes; a++)
            w->codes[w->n_codes++] = kind << 16 | place << 8 | (uint32_t)s->axes[a];
    }
    qsort(w->codes, (size_t)w->n_codes, sizeof w->codes[0], compare_codes);
}

/* Whether every step of a is one of b. */
static bool is_subset(const way *a, const way *b)
{
    int at = 0;
    for (int i = 0; i < a->n_codes; i++) {
        while (at < b->n_codes && b->codes[at] < a->codes[i])
            at++;
        if (at == b->n_codes || b->codes[at] != a->codes[i])
            return false;
        at++;
    }
    return true;
}

/* Bytes within a float's precision are equal: sums in another order differ in the last
 * digits of a double. */
static int compare_ways(const void *pa, const void *pb)
{
    const way *a = pa, *b = pb;
    const float x = (float)a->sent_bytes, y = (float)b->sent_bytes;
    if (x < y || x > y)
        return x < y ? -1 : 1;
    if (a->strategy.n_steps != b->strategy.n_steps)
        return a->strategy.n_steps - b->strategy.n_steps;
    for (int i = 0; i < a->n_codes && i < b->n_codes; i++) {
        const int order = compare_codes(&a->codes[i], &b->codes[i]);
        if (order)
            return order;
    }
    return a->n_codes - b->n_codes;
}

static ridge_status make_room(search *s)
{
    if (s->n < s->room)
        return RIDGE_OK;
    if (s->room == WAYS_MAX) {
        return ridge_fail(s->cx, RIDGE_E_ARG,
                          "more than %d strategies: use fewer mesh axes or dims",
                          WAYS_MAX);
    }
    const int room = s->room ? 2 * s->room : WAYS_FIRST;
    way *ways = ridge_new(ridge_ctx_scratch(s->cx), way, (size_t)room);
    if (!ways)
        return ridge_fail_nomem(s->cx);
    if (s->n > 0)
        memcpy(ways, s->ways, (size_t)s->n * sizeof *ways);
    s->ways = ways;
    s->room = room;
    return RIDGE_OK;
}

/* Keep a way unless another does with less; drop those that do more. */
static ridge_status keep(search *s, const way *w)
{
    int kept = 0;
    for (int i = 0; i < s->n; i++) {
        const way *old = &s->ways[i];
        if (is_subset(old, w) &&
            (old->n_codes < w->n_codes || compare_ways(old, w) <= 0))
            return RIDGE_OK;
    }
    for (int i = 0; i < s->n; i++) {
        if (is_subset(w, &s->ways[i]))
            continue;
        if (kept != i)
            s->ways[kept] = s->ways[i];
        kept++;
    }
    s->n = kept;
    RIDGE_TRY(make_room(s));
    s->ways[s->n++] = *w;
    return RIDGE_OK;
}

/* ---- one choice of modes and orders --------------------------------------------- */

/* How all arrays lie while multiplied: inputs, then the product. */
typedef struct choice {
    ridge_axis_mode modes[RIDGE_MESH_AXIS_MAX];
    ridge_dim_axes orders[RIDGE_PROGRAM_DIM_MAX]; /* axes that cut each dim */
    ridge_sharding lie[OPERAND_MAX];
} choice;

static void lay_operand(const ridge_expr *e, const choice *c, int operand,
                        ridge_sharding *out)
{
    const ridge_expr_tensor *t = ridge_expr_operand(e, operand);
    *out = (ridge_sharding){.n_dims = t->n_dims};
    for (int d = 0; d < t->n_dims; d++)
        out->dims[d] = c->orders[t->dims[d]];
    for (int a = 0; a < e->mesh.n; a++) {
        if (ridge__axis_mode_state(e, c->modes[a], operand) == RIDGE_AXIS_PARTIAL)
            out->partial |= 1u << a;
    }
}

static int find_routes(const search *s, const choice *c, int operand, ridge_route *out)
{
    const ridge_expr_tensor *t = ridge_expr_operand(s->expr, operand);
    const bool is_input = operand < s->expr->n_inputs;
    const ridge_route_task task = {
        .mesh = &s->expr->mesh,
        .sizes = s->sizes[operand],
        .element_bytes = t->element_bytes,
        .operand = operand,
        .from = is_input ? t->sharding : c->lie[operand],
        .to = is_input ? c->lie[operand] : t->sharding,
    };
    return ridge__routes_find(&task, out);
}

/* @return false: too many steps */
static bool append_route(ridge_strategy *s, const ridge_route *route)
{
    if (s->n_steps + route->n > RIDGE_RESHARD_MAX)
        return false;
    for (int i = 0; i < route->n; i++)
        s->steps[s->n_steps++] = route->steps[i];
    return true;
}

/* One way for each combination of the operands' routes. */
static ridge_status keep_routes(search *s, const choice *c,
                                ridge_route routes[][RIDGE_ROUTE_MAX],
                                const int *counts)
{
    const int n_inputs = s->expr->n_inputs;
    int picks = 1;
    for (int i = 0; i <= n_inputs; i++)
        picks *= counts[i];
    for (int pick = 0; pick < picks; pick++) {
        way w = {.strategy = {.output = c->lie[n_inputs]}};
        bool is_short = true;
        for (int i = 0, rest = pick; i <= n_inputs; rest /= counts[i], i++) {
            if (i < n_inputs) {
                w.strategy.inputs[i] = c->lie[i];
            } else {
                w.strategy.n_before = w.strategy.n_steps;
            }
            is_short =
                is_short && append_route(&w.strategy, &routes[i][rest % counts[i]]);
        }
        if (!is_short)
            continue;
        w.sent_bytes = ridge_strategy_sent_bytes(&s->expr->mesh, &w.strategy);
        set_codes(&w);
        RIDGE_TRY(keep(s, &w));
    }
    return RIDGE_OK;
}

static ridge_status try_choice(search *s, choice *c)
{
    ridge_route routes[OPERAND_MAX][RIDGE_ROUTE_MAX];
    int counts[OPERAND_MAX];
    if (ridge_ctx_is_cancelled(s->cx))
        return ridge_fail(s->cx, RIDGE_E_CANCELLED, "cancelled");
    if (++s->tries > TRIES_MAX) {
        return ridge_fail(s->cx, RIDGE_E_ARG,
                          "too many ways to enumerate: use fewer mesh axes or dims");
    }
    for (int i = 0; i <= s->expr->n_inputs; i++)
        lay_operand(s->expr, c, i, &c->lie[i]);
    for (int i = 0; i <= s->expr->n_inputs; i++) {
        counts[i] = find_routes(s, c, i, routes[i]);
        if (counts[i] == 0)
            return RIDGE_OK;
    }
    return keep_routes(s, c, routes, counts);
}

/* ---- all choices ---------------------------------------------------------------- */

/* Every order of the axes on every dim, for modes that are chosen. */
static ridge_status try_orders(search *s, choice *c)
{
    ridge_dim_axes sets[RIDGE_PROGRAM_DIM_MAX];
    int64_t orders = 1;
    memset(sets, 0, sizeof sets);
    for (int a = 0; a < s->expr->mesh.n; a++) {
        const ridge_axis_mode mode = c->modes[a];
        if (mode >= 0 && mode < s->expr->n_dims)
            sets[mode].axes[sets[mode].n++] = a;
    }
    for (int d = 0; d < s->expr->n_dims; d++)
        orders *= ridge_dim_axes_orders(sets[d].n); /* at most 8! in all */
    for (int64_t order = 0; order < orders; order++) {
        int64_t rest = order;
        for (int d = 0; d < s->expr->n_dims; d++) {
            c->orders[d] = sets[d];
            ridge_dim_axes_permute(&c->orders[d],
                                   rest % ridge_dim_axes_orders(sets[d].n));
            rest /= ridge_dim_axes_orders(sets[d].n);
        }
        RIDGE_TRY(try_choice(s, c));
    }
    return RIDGE_OK;
}

/* Every combination of the axes' modes, as an odometer. */
static ridge_status try_modes(search *s)
{
    int picks[RIDGE_MESH_AXIS_MAX] = {0};
    const int n = s->expr->mesh.n;
    choice c = {.modes = {0}};
    for (;;) {
        for (int a = 0; a < n; a++)
            c.modes[a] = s->modes[a][picks[a]];
        RIDGE_TRY(try_orders(s, &c));
        int a = 0;
        while (a < n && ++picks[a] == s->n_modes[a])
            picks[a++] = 0;
        if (a == n)
            return RIDGE_OK;
    }
}

static ridge_status find_modes(search *s)
{
    const ridge_expr *e = s->expr;
    for (int a = 0; a < e->mesh.n; a++) {
        s->n_modes[a] = ridge__axis_modes_find(e, a, s->modes[a]);
        if (s->n_modes[a] > 0)
            continue;
        return ridge_fail(
            s->cx, RIDGE_E_ARG,
            "partial sums {U@%s} of %s cannot arise: no dim is summed and "
            "no operand has any",
            e->mesh.axes[a].name, e->output.name);
    }
    return RIDGE_OK;
}

static ridge_status find_ways(search *s)
{
    for (int i = 0; i <= s->expr->n_inputs; i++)
        ridge_expr_tensor_sizes(s->expr, ridge_expr_operand(s->expr, i), s->sizes[i]);
    RIDGE_TRY(find_modes(s));
    RIDGE_TRY(try_modes(s));
    if (s->n == 0) {
        return ridge_fail(s->cx, RIDGE_E_ARG,
                          "every way takes more than %d steps: use fewer mesh axes",
                          RIDGE_RESHARD_MAX);
    }
    qsort(s->ways, (size_t)s->n, sizeof s->ways[0], compare_ways);
    return RIDGE_OK;
}

ridge_status ridge_expr_strategies(ridge_ctx *cx, const ridge_expr *expr,
                                   ridge_strategy *out, int *n)
{
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    search *s = ridge_new(scratch, search, 1);
    ridge_status st = RIDGE_OK;
    if (s) {
        *s = (search){.cx = cx, .expr = expr};
        st = find_ways(s);
        const int found = s->n < RIDGE_STRATEGY_MAX ? s->n : RIDGE_STRATEGY_MAX;
        for (int i = 0; st == RIDGE_OK && i < found; i++)
            out[i] = s->ways[i].strategy;
        if (st == RIDGE_OK)
            *n = found;
    } else {
        st = ridge_fail_nomem(cx);
    }
    ridge_arena_rewind(scratch, mark);
    return st;
}
