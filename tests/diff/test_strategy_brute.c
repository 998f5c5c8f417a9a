/*
 * The list of strategies against every set of steps on small meshes. A set has at most
 * one step of each mesh axis on each array; it is right when, in some order, it gives
 * the numbers of the unsharded einsum, and minimal when no part of it is right. What is
 * right is decided by the numbers on a simulated mesh alone.
 */
#include "near.h"

#include "mesh_arrays.h"
#include "seeded_expr.h"

#include <string.h>

enum { ARRAYS = 3, AXES = 2, SLOTS = ARRAYS * AXES, SET_MAX = 4096, TRIALS = 400 };

/* Two axes of size 2 over dims that they divide, so that no wrong way is right by
 * chance. */
static const seeded_expr_limits two_axes = {
    .axes_least = 1,
    .axes_most = AXES,
    .axis_least = 2,
    .axis_most = 2,
    .dims_least = 2,
    .dims_most = 3,
    .size_least = 4,
    .size_most = 4,
    .inputs_least = 1,
    .inputs_most = ARRAYS - 1,
    .partial_in = 10,
};

/* A step of one axis on one array; no step has kind -1. */
typedef struct slot {
    int kind;
    int from, to;
} slot;

/* One step or none for each array and axis: slot [array * AXES + axis]. */
typedef struct step_set {
    slot slots[SLOTS];
} step_set;

typedef struct brute {
    ridge_ctx *cx;
    ridge_expr e;
    mesh_array inputs[RIDGE_EXPR_INPUT_MAX]; /* as given */
    mesh_array moved[RIDGE_EXPR_INPUT_MAX];  /* after their steps */
    int input;                               /* that takes its steps */
    int64_t *product;                        /* of the whole arrays */
    int64_t *got;
    int64_t n_output;
    int n; /* right sets */
    step_set *right;
} brute;

static step_set no_steps(void)
{
    step_set set;
    for (int i = 0; i < SLOTS; i++)
        set.slots[i] = (slot){-1, -1, -1};
    return set;
}

/* ---- one set -------------------------------------------------------------------- */

static bool is_same_slot(const slot *a, const slot *b)
{
    return a->kind == b->kind && a->from == b->from && a->to == b->to;
}

/* In which order the axes of an array take their steps; together: one step of both. */
enum { FORWARD, REVERSE, TOGETHER, TOGETHER_REVERSE, ORDERS };

static bool take(ridge_arena *arena, mesh_array *a, const slot *s, const int *axes,
                 int n_axes)
{
    ridge_reshard step = {.kind = (ridge_step_kind)s->kind,
                          .n_axes = n_axes,
                          .dim_from = s->from,
                          .dim_to = s->to};
    for (int i = 0; i < n_axes; i++)
        step.axes[i] = axes[i];
    return s->kind < 0 || mesh_array_step(arena, a, &step);
}

/* Steps of one array. An AllToAll of both axes keeps their order, unlike two. */
static bool take_all(ridge_arena *arena, mesh_array *a, const slot *slots, int n_axes,
                     int order)
{
    static const int axes[2][AXES] = {{0, 1}, {1, 0}};
    const int *in_turn = axes[order % 2];
    if (order >= TOGETHER) {
        return n_axes == AXES && slots[0].kind == RIDGE_STEP_ALL_TO_ALL &&
               is_same_slot(&slots[0], &slots[1]) &&
               take(arena, a, slots, in_turn, AXES);
    }
    for (int i = 0; i < n_axes; i++) {
        const int axis = n_axes == 1 ? 0 : in_turn[i];
        if (!take(arena, a, &slots[axis], &axis, 1))
            return false;
    }
    return true;
}

/* A dim of an input goes to the output's, or is summed away. */
static void guess_dim(const ridge_expr *e, int dim, const ridge_dim_axes *axes,
                      ridge_sharding *s)
{
    bool is_kept = false;
    for (int o = 0; o < s->n_dims; o++) {
        if (e->output.dims[o] != dim)
            continue;
        is_kept = true;
        s->dims[o] = *axes;
    }
    for (int a = 0; !is_kept && a < axes->n; a++)
        s->partial |= 1u << axes->axes[a];
}

/* How a product would lie that is right: as the first input that has each dim. */
static ridge_sharding guess_product(const ridge_expr *e, const mesh_array *inputs)
{
    ridge_sharding s = {.n_dims = e->output.n_dims};
    for (int i = e->n_inputs - 1; i >= 0; i--) {
        s.partial |= inputs[i].sharding.partial;
        for (int d = 0; d < e->inputs[i].n_dims; d++)
            guess_dim(e, e->inputs[i].dims[d], &inputs[i].sharding.dims[d], &s);
    }
    return s;
}

static bool has_right_numbers(brute *b, const mesh_array *a)
{
    return mesh_array_join(ridge_ctx_arena(b->cx), a, b->got) &&
           memcmp(b->got, b->product, (size_t)b->n_output * sizeof *b->got) == 0;
}

/* ---- all sets ------------------------------------------------------------------- */

static bool is_part(const step_set *a, const step_set *b)
{
    for (int i = 0; i < SLOTS; i++) {
        if (a->slots[i].kind >= 0 && !is_same_slot(&a->slots[i], &b->slots[i]))
            return false;
    }
    return true;
}

static bool is_same_set(const step_set *a, const step_set *b)
{
    return is_part(a, b) && is_part(b, a);
}

/* Every step that an axis of an array of n dims could take. */
static int slots_of(int n, slot *out)
{
    int found = 0;
    out[found++] = (slot){-1, -1, -1};
    out[found++] = (slot){RIDGE_STEP_ALL_REDUCE, -1, -1};
    for (int d = 0; d < n; d++) {
        out[found++] = (slot){RIDGE_STEP_ALL_GATHER, d, -1};
        out[found++] = (slot){RIDGE_STEP_REDUCE_SCATTER, -1, d};
        out[found++] = (slot){RIDGE_STEP_SLICE, -1, d};
        for (int to = 0; to < n; to++) {
            if (to != d)
                out[found++] = (slot){RIDGE_STEP_ALL_TO_ALL, d, to};
        }
    }
    return found;
}

/* Whether an axis could take the step at once or after the other one moved. */
static bool is_possible(const ridge_sharding *s, int axis, const slot *t)
{
    const bool is_partial = (s->partial & (1u << axis)) != 0;
    int dim = -1;
    for (int d = 0; d < s->n_dims; d++) {
        for (int i = 0; i < s->dims[d].n; i++) {
            if (s->dims[d].axes[i] == axis)
                dim = d;
        }
    }
    if (t->kind < 0)
        return true;
    if (t->kind == RIDGE_STEP_ALL_REDUCE || t->kind == RIDGE_STEP_REDUCE_SCATTER)
        return is_partial;
    if (t->kind == RIDGE_STEP_SLICE)
        return !is_partial && dim < 0;
    return dim >= 0 && t->from == dim;
}

static void add_right(brute *b, const step_set *set)
{
    for (int i = 0; i < b->n; i++) {
        if (is_same_set(&b->right[i], set))
            return;
    }
    assert_true(b->n < SET_MAX);
    b->right[b->n++] = *set;
}

/* The set's steps of the output, in every order. */
static void try_output(brute *b, const mesh_array *product, const step_set *set)
{
    for (int order = 0; order < ORDERS; order++) {
        mesh_array a = *product;
        if (take_all(ridge_ctx_arena(b->cx), &a, &set->slots[b->e.n_inputs * AXES],
                     b->e.mesh.n, order) &&
            ridge_sharding_equal(&a.sharding, &b->e.output.sharding) &&
            has_right_numbers(b, &a)) {
            add_right(b, set);
            return;
        }
    }
}

/* Every set of steps of one array from @p axis on, each handed to @p then. */
typedef void each_fn(brute *b, const mesh_array *a, step_set *set);

static void each_slots(brute *b, const mesh_array *a, step_set *set, int array,
                       int axis, each_fn *then)
{
    slot all[2 + 6 * RIDGE_TENSOR_DIM_MAX];
    if (axis == b->e.mesh.n) {
        then(b, a, set);
        return;
    }
    slot *at = &set->slots[array * AXES + axis];
    const int n = slots_of(a->sharding.n_dims, all);
    for (int i = 0; i < n; i++) {
        if (!is_possible(&a->sharding, axis, &all[i]))
            continue;
        *at = all[i];
        each_slots(b, a, set, array, axis + 1, then);
    }
    *at = all[0];
}

static void then_output(brute *b, const mesh_array *a, step_set *set)
{
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_arena(b->cx));
    try_output(b, a, set);
    ridge_arena_rewind(ridge_ctx_arena(b->cx), mark);
}

/* The product of inputs that have taken their steps; what follows it if it is right. */
static void multiply(brute *b, step_set *set)
{
    ridge_arena *arena = ridge_ctx_arena(b->cx);
    mesh_array product;
    const ridge_sharding sharding = guess_product(&b->e, b->moved);
    if (!ridge_sharding_fault(arena, &b->e.mesh, &sharding) &&
        mesh_array_multiply(arena, &b->e, b->moved, &sharding, &product) &&
        has_right_numbers(b, &product))
        each_slots(b, &product, set, b->e.n_inputs, 0, then_output);
}

static void each_input(brute *b, step_set *set, int input);

static void then_next_input(brute *b, const mesh_array *a, step_set *set)
{
    const int input = b->input;
    for (int order = 0; order < ORDERS; order++) {
        const ridge_mark mark = ridge_arena_mark(ridge_ctx_arena(b->cx));
        b->moved[input] = *a;
        if (take_all(ridge_ctx_arena(b->cx), &b->moved[input],
                     &set->slots[input * AXES], b->e.mesh.n, order))
            each_input(b, set, input + 1);
        ridge_arena_rewind(ridge_ctx_arena(b->cx), mark);
    }
    b->input = input;
}

static void each_input(brute *b, step_set *set, int input)
{
    if (input == b->e.n_inputs) {
        multiply(b, set);
        return;
    }
    b->input = input;
    each_slots(b, &b->inputs[input], set, input, 0, then_next_input);
}

static bool is_minimal(const brute *b, int which)
{
    for (int i = 0; i < b->n; i++) {
        if (i != which && is_part(&b->right[i], &b->right[which]))
            return false;
    }
    return true;
}

/* ---- the list ------------------------------------------------------------------- */

/* @return false: an axis takes two steps on one array */
static bool set_of(const ridge_strategy *s, step_set *out)
{
    *out = no_steps();
    for (int i = 0; i < s->n_steps; i++) {
        const ridge_reshard *step = &s->steps[i];
        for (int a = 0; a < step->n_axes; a++) {
            slot *t = &out->slots[step->operand * AXES + step->axes[a]];
            if (t->kind >= 0)
                return false;
            *t = (slot){(int)step->kind, step->dim_from, step->dim_to};
        }
    }
    return true;
}

static void fail_set(const brute *b, const step_set *set, uint64_t seed,
                     const char *why)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(b->cx));
    ridge_expr_write(&b->e, &text);
    for (int i = 0; i < (b->e.n_inputs + 1) * AXES; i++) {
        if (set->slots[i].kind < 0)
            continue;
        const ridge_reshard step = {.kind = (ridge_step_kind)set->slots[i].kind,
                                    .operand = i / AXES,
                                    .n_axes = 1,
                                    .axes = {i % AXES},
                                    .dim_from = set->slots[i].from,
                                    .dim_to = set->slots[i].to};
        ridge_buf_puts(&text, "; ");
        ridge_reshard_write(&b->e, &step, &text);
    }
    fail_msg("seed %llu: %s: %s", (unsigned long long)seed, ridge_buf_text(&text), why);
}

/* Two axes on one dim: taking the outer one off means to gather and slice the inner
 * one, two steps, where another set may do without and yet send more. */
static bool has_stacked_axes(const ridge_expr *e)
{
    for (int i = 0; i <= e->n_inputs; i++) {
        const ridge_sharding *s = &ridge_expr_operand(e, i)->sharding;
        for (int d = 0; d < s->n_dims; d++) {
            if (s->dims[d].n > 1)
                return true;
        }
    }
    return false;
}

/* Every minimal right set is listed, and nothing else but what gathers and slices. */
static int compare_list(const brute *b, const ridge_strategy *list, int n,
                        uint64_t seed)
{
    int minimal = 0;
    for (int i = 0; i < b->n; i++) {
        if (!is_minimal(b, i))
            continue;
        minimal++;
        bool is_listed = false;
        for (int k = 0; k < n && !is_listed; k++) {
            step_set set;
            is_listed = set_of(&list[k], &set) && is_same_set(&set, &b->right[i]);
        }
        if (!is_listed && !has_stacked_axes(&b->e))
            fail_set(b, &b->right[i], seed, "minimal and right, but not listed");
    }
    for (int k = 0; k < n; k++) {
        step_set set;
        bool is_found = !set_of(&list[k], &set);
        for (int i = 0; i < b->n && !is_found; i++)
            is_found = is_same_set(&set, &b->right[i]) && is_minimal(b, i);
        if (!is_found)
            fail_set(b, &set, seed, "listed, but not minimal or not right");
    }
    return minimal;
}

static void open_brute(brute *b, seeded *at)
{
    ridge_arena *arena = ridge_ctx_arena(b->cx);
    const int64_t *globals[RIDGE_EXPR_INPUT_MAX];
    int64_t sizes[RIDGE_TENSOR_DIM_MAX];
    b->e = seeded_expr(at, &two_axes);
    for (int i = 0; i < b->e.n_inputs; i++) {
        int64_t n = 1;
        ridge_expr_tensor_sizes(&b->e, &b->e.inputs[i], sizes);
        for (int d = 0; d < b->e.inputs[i].n_dims; d++)
            n *= sizes[d];
        int64_t *global = ridge_new(arena, int64_t, (size_t)n);
        assert_non_null(global);
        for (int64_t k = 0; k < n; k++)
            global[k] = seeded_pick(at, 1, 1000000);
        globals[i] = global;
        b->inputs[i] = mesh_array_split(arena, &b->e.mesh, sizes,
                                        &b->e.inputs[i].sharding, global, at);
    }
    b->n_output = 1;
    for (int d = 0; d < b->e.output.n_dims; d++)
        b->n_output *= b->e.dims[b->e.output.dims[d]].size;
    b->product = ridge_new(arena, int64_t, (size_t)b->n_output);
    b->got = ridge_new(arena, int64_t, (size_t)b->n_output);
    b->right = ridge_new(arena, step_set, SET_MAX);
    assert_true(b->product && b->got && b->right);
    mesh_einsum(&b->e, globals, b->product);
}

static int check_seed(uint64_t seed)
{
    seeded at = seed;
    brute b = {.cx = ridge_ctx_open()};
    assert_non_null(b.cx);
    open_brute(&b, &at);
    step_set set = no_steps();
    each_input(&b, &set, 0);
    ridge_strategy *list =
        ridge_new(ridge_ctx_arena(b.cx), ridge_strategy, RIDGE_STRATEGY_MAX);
    int n = 0;
    assert_non_null(list);
    const ridge_status st = ridge_expr_strategies(b.cx, &b.e, list, &n);
    assert_true(st == RIDGE_OK || b.n == 0);
    const int minimal = compare_list(&b, list, n, seed);
    ridge_ctx_close(b.cx);
    return minimal;
}

static void the_list_is_every_minimal_right_set(void **state)
{
    (void)state;
    int minimal = 0;
    for (uint64_t seed = 1; seed <= TRIALS; seed++)
        minimal += check_seed(seed);
    print_message("%d minimal sets of %d expressions\n", minimal, TRIALS);
    assert_true(minimal > 2 * TRIALS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_is_every_minimal_right_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
