/*
 * States of a node: each mesh axis cuts one letter in all arrays that have it, carries
 * the partial sums of one input, or does nothing; axes on the same letter stand in any
 * order. What cuts a dim into more pieces than it has elements is left out.
 */
#include "chain_states.h"

#include <string.h>

/* Who takes part: an operation's arrays, or one tensor. */
typedef struct cutter {
    ridge_ctx *cx;
    const ridge_chain_request *request;
    chain_op o;
    int n_arrays; /* inputs and output; 1 for a kept tensor */
    int n_dims[RIDGE_CHAIN_INPUT_MAX + 1];
    chain_node *node;
    int room;
} cutter;

/* -1: nothing; a letter; n_letters + i: partial sums of input i. */
typedef int axis_mode;

static bool has_letter(const cutter *c, int array, int letter)
{
    for (int d = 0; d < c->n_dims[array]; d++) {
        if (c->o.letters[array][d] == letter)
            return true;
    }
    return false;
}

static bool is_somewhere(const cutter *c, int letter)
{
    for (int array = 0; array < c->n_arrays; array++) {
        if (has_letter(c, array, letter))
            return true;
    }
    return false;
}

static bool is_allowed(const cutter *c, axis_mode mode)
{
    if (mode < 0)
        return true;
    if (mode >= c->o.n_letters)
        return c->o.is_linear && mode < c->o.n_letters + c->o.n_inputs;
    return c->o.can_cut[mode] && is_somewhere(c, mode);
}

/* Partial sums of an array under the modes. */
static unsigned partial_of(const cutter *c, const axis_mode *modes, int array)
{
    const bool is_output = array == c->n_arrays - 1 && c->n_arrays > 1;
    unsigned partial = 0;
    for (int a = 0; a < c->request->mesh->n; a++) {
        const int input = modes[a] - c->o.n_letters;
        const bool is_sum =
            modes[a] >= 0 && input < 0 && is_output && !has_letter(c, array, modes[a]);
        if (is_sum || (input >= 0 && (is_output || input == array)))
            partial |= 1u << a;
    }
    return partial;
}

static int kind_of(chain_kinds *kinds, const ridge_sharding *s)
{
    for (int k = 0; k < kinds->n; k++) {
        if (ridge_sharding_equal(&kinds->kinds[k], s))
            return k;
    }
    kinds->kinds[kinds->n] = *s;
    return kinds->n++;
}

static ridge_status make_room(cutter *c)
{
    chain_node *node = c->node;
    if (node->n_states < c->room)
        return RIDGE_OK;
    const int room = c->room ? 4 * c->room : 64;
    for (int array = 0; array < c->n_arrays; array++) {
        chain_kinds *kinds = &node->arrays[array];
        ridge_arena *arena = ridge_ctx_scratch(c->cx);
        ridge_sharding *s = ridge_new(arena, ridge_sharding, (size_t)room);
        int *of = ridge_new(arena, int, (size_t)room);
        if (!s || !of)
            return ridge_fail_nomem(c->cx);
        if (kinds->n > 0)
            memcpy(s, kinds->kinds, (size_t)kinds->n * sizeof *s);
        if (node->n_states > 0)
            memcpy(of, kinds->of, (size_t)node->n_states * sizeof *of);
        kinds->kinds = s;
        kinds->of = of;
    }
    c->room = room;
    return RIDGE_OK;
}

static ridge_status add_state(cutter *c, const axis_mode *modes,
                              const ridge_dim_axes *orders)
{
    chain_node *node = c->node;
    if (node->n_states == CHAIN_STATE_MAX) {
        return ridge_fail(c->cx, RIDGE_E_ARG,
                          "more than %d ways to cut one operation: use fewer mesh axes",
                          CHAIN_STATE_MAX);
    }
    RIDGE_TRY(make_room(c));
    for (int array = 0; array < c->n_arrays; array++) {
        ridge_sharding s = {.n_dims = c->n_dims[array],
                            .partial = partial_of(c, modes, array)};
        for (int d = 0; d < s.n_dims; d++)
            s.dims[d] = orders[c->o.letters[array][d]];
        node->arrays[array].of[node->n_states] = kind_of(&node->arrays[array], &s);
    }
    node->n_states++;
    return RIDGE_OK;
}

/* Axes by letter. @return false: a letter is cut too often, or unevenly where it must
 * not be */
static bool sort_axes(const cutter *c, const axis_mode *modes, ridge_dim_axes *sets)
{
    memset(sets, 0, sizeof(ridge_dim_axes) * CHAIN_LETTER_MAX);
    for (int a = 0; a < c->request->mesh->n; a++) {
        if (modes[a] >= 0 && modes[a] < c->o.n_letters)
            sets[modes[a]].axes[sets[modes[a]].n++] = a;
    }
    for (int letter = 0; letter < c->o.n_letters; letter++) {
        const int64_t ways = ridge_dim_ways(c->request->mesh, &sets[letter]);
        if (ways > c->o.sizes[letter] && sets[letter].n > 0)
            return false;
        if (c->o.must_divide[letter] && c->o.sizes[letter] % ways != 0)
            return false;
    }
    return true;
}

static ridge_status add_orders(cutter *c, const axis_mode *modes)
{
    ridge_dim_axes sets[CHAIN_LETTER_MAX], orders[CHAIN_LETTER_MAX];
    int64_t count = 1;
    if (!sort_axes(c, modes, sets))
        return RIDGE_OK;
    for (int letter = 0; letter < c->o.n_letters; letter++)
        count *= ridge_dim_axes_orders(sets[letter].n); /* at most 8! in all */
    for (int64_t order = 0; order < count; order++) {
        int64_t rest = order;
        for (int letter = 0; letter < c->o.n_letters; letter++) {
            orders[letter] = sets[letter];
            ridge_dim_axes_permute(&orders[letter],
                                   rest % ridge_dim_axes_orders(sets[letter].n));
            rest /= ridge_dim_axes_orders(sets[letter].n);
        }
        RIDGE_TRY(add_state(c, modes, orders));
    }
    return RIDGE_OK;
}

/* Every combination of modes, as an odometer. Axes of one rank do nothing. */
static ridge_status add_all(cutter *c)
{
    axis_mode modes[RIDGE_MESH_AXIS_MAX];
    const ridge_mesh *mesh = c->request->mesh;
    const int most = c->o.n_letters + c->o.n_inputs;
    for (int a = 0; a < mesh->n; a++)
        modes[a] = -1;
    for (;;) {
        RIDGE_TRY(add_orders(c, modes));
        int a = 0;
        for (; a < mesh->n; a++) {
            do {
                modes[a]++;
            } while (modes[a] < most && !is_allowed(c, modes[a]));
            if (modes[a] < most && mesh->axes[a].size > 1)
                break;
            modes[a] = -1;
        }
        if (a == mesh->n)
            break;
    }
    c->node->cost =
        ridge_new(ridge_ctx_scratch(c->cx), double, (size_t)c->node->n_states);
    return c->node->cost ? RIDGE_OK : ridge_fail_nomem(c->cx);
}

static int dims_of(const ridge_chain_request *r, int tensor)
{
    return r->program->tensors[tensor].n_dims;
}

ridge_status chain_states_of_op(ridge_ctx *cx, const ridge_chain_request *request,
                                const chain_op *o, chain_node *node)
{
    cutter c = {cx, request, *o, .n_arrays = o->n_inputs + 1, .node = node};
    for (int array = 0; array < c.n_arrays; array++)
        c.n_dims[array] = dims_of(request, chain_op_tensor(request->program, o, array));
    RIDGE_TRY(add_all(&c));
    for (int s = 0; s < node->n_states; s++) {
        ridge_sharding arrays[RIDGE_CHAIN_INPUT_MAX + 1];
        for (int array = 0; array < c.n_arrays; array++)
            arrays[array] = node->arrays[array].kinds[node->arrays[array].of[s]];
        node->cost[s] = chain_op_price(request, o, arrays);
    }
    return RIDGE_OK;
}

ridge_status chain_states_of_tensor(ridge_ctx *cx, const ridge_chain_request *request,
                                    int tensor, chain_node *node)
{
    const ridge_tensor *t = &request->program->tensors[tensor];
    cutter c = {cx, request, .n_arrays = 1, .node = node};
    c.n_dims[0] = t->n_dims;
    c.o.n_letters = t->n_dims;
    for (int d = 0; d < t->n_dims; d++) {
        c.o.letters[0][d] = d;
        c.o.sizes[d] = request->program->dims[t->dims[d]].size;
        c.o.can_cut[d] = true;
    }
    return add_all(&c);
}

ridge_status chain_states_fixed(ridge_ctx *cx, const ridge_sharding *s,
                                chain_node *node)
{
    ridge_arena *arena = ridge_ctx_scratch(cx);
    chain_kinds *kinds = &node->arrays[0];
    kinds->kinds = ridge_new(arena, ridge_sharding, 1);
    kinds->of = ridge_new(arena, int, 1);
    node->cost = ridge_new(arena, double, 1);
    if (!kinds->kinds || !kinds->of || !node->cost)
        return ridge_fail_nomem(cx);
    kinds->kinds[0] = *s;
    kinds->n = 1;
    node->n_states = 1;
    return RIDGE_OK;
}
