/*
 * Laws of collective steps on a simulated mesh: plans end where they should and leave
 * every number, transposes are transposes, the notation reads back.
 */
#include "near.h"

#include "mesh_arrays.h"
#include "seeded_expr.h"

#include <string.h>

enum { TRIALS = 1500 };

static const char *text_of(ridge_arena *arena, const ridge_expr *e)
{
    ridge_buf b;
    ridge_buf_init(&b, arena);
    ridge_expr_write(e, &b);
    return ridge_buf_text(&b);
}

/* An array and another sharding of it. */
typedef struct pair {
    ridge_expr e;
    const ridge_expr_tensor *t;
    int64_t sizes[RIDGE_TENSOR_DIM_MAX];
    int64_t elements;
    ridge_sharding to;
} pair;

/* Of one dim or more: the first input of a random expression, and the sharding of that
 * array in the next such expression that has as many dims and axes. */
static pair draw_pair(seeded *at)
{
    pair p = {.e = seeded_expr(at, &seeded_expr_all), .elements = 1};
    for (;;) {
        const ridge_expr other = seeded_expr(at, &seeded_expr_all);
        p.to = other.inputs[0].sharding;
        if (other.mesh.n == p.e.mesh.n && p.to.n_dims == p.e.inputs[0].n_dims)
            break;
    }
    return p;
}

static void measure(pair *p)
{
    p->t = &p->e.inputs[0];
    ridge_expr_tensor_sizes(&p->e, p->t, p->sizes);
    for (int d = 0; d < p->t->n_dims; d++)
        p->elements *= p->sizes[d];
}

static void check_plan(uint64_t seed)
{
    seeded at = seed;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_arena *arena = ridge_ctx_arena(cx);
    pair p = draw_pair(&at);
    measure(&p);
    ridge_reshard steps[RIDGE_RESHARD_MAX];
    int n = 0;
    const ridge_status st =
        ridge_reshard_plan(cx, &p.e.mesh, p.sizes, 2, &p.t->sharding, &p.to, steps, &n);
    const bool is_possible = (p.to.partial & ~p.t->sharding.partial) == 0;
    assert_int_equal(st, is_possible ? RIDGE_OK : RIDGE_E_ARG);
    if (is_possible) {
        int64_t *global = ridge_new(arena, int64_t, (size_t)p.elements);
        int64_t *got = ridge_new(arena, int64_t, (size_t)p.elements);
        assert_true(global && got);
        for (int64_t i = 0; i < p.elements; i++)
            global[i] = seeded_pick(&at, -99, 99);
        mesh_array a =
            mesh_array_split(arena, &p.e.mesh, p.sizes, &p.t->sharding, global, &at);
        for (int i = 0; i < n; i++) {
            assert_true(mesh_array_step(arena, &a, &steps[i]));
            assert_int_equal(steps[i].operand, 0);
        }
        assert_true(ridge_sharding_equal(&a.sharding, &p.to));
        assert_true(mesh_array_join(arena, &a, got));
        assert_memory_equal(got, global, (size_t)p.elements * sizeof *got);
    }
    ridge_ctx_close(cx);
}

static void a_plan_leaves_every_number(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TRIALS; seed++)
        check_plan(seed);
}

static void a_plan_to_the_same_sharding_is_empty(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    for (seeded at = 1; at < 100; at++) {
        seeded s = at;
        const ridge_expr e = seeded_expr(&s, &seeded_expr_all);
        ridge_reshard steps[RIDGE_RESHARD_MAX];
        int64_t sizes[RIDGE_TENSOR_DIM_MAX];
        int n = -1;
        ridge_expr_tensor_sizes(&e, &e.inputs[0], sizes);
        assert_int_equal(ridge_reshard_plan(cx, &e.mesh, sizes, 2,
                                            &e.inputs[0].sharding,
                                            &e.inputs[0].sharding, steps, &n),
                         RIDGE_OK);
        assert_int_equal(n, 0);
    }
    ridge_ctx_close(cx);
}

/* ---- transposes ------------------------------------------------------------------ */

/* A step that applies to the sharding. @return false: this draw gives none */
static bool draw_step(seeded *at, const ridge_mesh *mesh, const ridge_sharding *s,
                      ridge_reshard *out)
{
    ridge_reshard step = {
        .kind = (ridge_step_kind)seeded_pick(at, 0, RIDGE_STEP_KIND_COUNT - 1),
        .dim_from = -1,
        .dim_to = -1};
    const bool is_cut =
        step.kind == RIDGE_STEP_ALL_GATHER || step.kind == RIDGE_STEP_ALL_TO_ALL;
    if (s->n_dims == 0)
        return false;
    if (is_cut)
        step.dim_from = (int)seeded_pick(at, 0, s->n_dims - 1);
    if (step.kind != RIDGE_STEP_ALL_GATHER && step.kind != RIDGE_STEP_ALL_REDUCE)
        step.dim_to = (int)seeded_pick(at, 0, s->n_dims - 1);
    const int most = is_cut ? s->dims[step.dim_from].n : mesh->n;
    if (most == 0)
        return false;
    step.n_axes = (int)seeded_pick(at, 1, most);
    const int first = (int)seeded_pick(at, 0, mesh->n - 1);
    for (int i = 0; i < step.n_axes; i++) {
        step.axes[i] = is_cut ? s->dims[step.dim_from].axes[most - step.n_axes + i]
                              : (first + i) % mesh->n;
    }
    ridge_sharding after = *s;
    *out = step;
    return ridge_reshard_apply(mesh, &after, &step);
}

/*
 * <y, S x> = <S^T y, x>. Arrays are what all ranks hold; an array that is replicated by
 * its meaning (what an AllReduce gives, what a Slice cuts) counts once in its product.
 * The gradient of what an AllGather gives is a partial sum on each rank.
 */
static void check_transpose(ridge_arena *arena, const pair *p,
                            const ridge_reshard *step, seeded *at)
{
    const ridge_reshard back = ridge_reshard_transpose(step);
    mesh_array x = mesh_array_new(arena, &p->e.mesh, p->sizes, &p->t->sharding);
    const bool is_slice = step->kind == RIDGE_STEP_SLICE;
    if (is_slice) {
        mesh_array_fill_alike(&x, step, at);
    } else {
        mesh_array_fill(&x, at);
    }
    mesh_array sx = x;
    assert_true(mesh_array_step(arena, &sx, step));
    mesh_array y = mesh_array_new(arena, &p->e.mesh, p->sizes, &sx.sharding);
    const bool is_sum = step->kind == RIDGE_STEP_ALL_REDUCE;
    if (is_sum) {
        mesh_array_fill_alike(&y, step, at);
    } else {
        mesh_array_fill(&y, at);
    }
    mesh_array ty = y;
    if (back.kind == RIDGE_STEP_REDUCE_SCATTER) {
        for (int i = 0; i < step->n_axes; i++)
            ty.sharding.partial |= 1u << step->axes[i];
    }
    assert_true(mesh_array_step(arena, &ty, &back));
    const int64_t n = ridge_reshard_ranks(&p->e.mesh, step);
    const int64_t left = mesh_array_dot(&y, &sx), right = mesh_array_dot(&ty, &x);
    assert_int_equal(is_sum ? left : left * (is_slice ? n : 1),
                     is_sum ? right * n : right);
}

static void check_again(const ridge_reshard *step)
{
    const ridge_reshard once = ridge_reshard_transpose(step);
    const ridge_reshard twice = ridge_reshard_transpose(&once);
    assert_int_equal(once.n_axes, step->n_axes);
    if (step->kind == RIDGE_STEP_SLICE && step->dim_to >= 0) {
        assert_int_equal(once.kind, RIDGE_STEP_ALL_GATHER);
        return;
    }
    assert_int_equal(twice.kind, step->kind);
    assert_int_equal(twice.dim_from, step->dim_from);
    assert_int_equal(twice.dim_to, step->dim_to);
    assert_memory_equal(twice.axes, step->axes, sizeof twice.axes);
}

static void transposes_are_transposes(void **state)
{
    (void)state;
    int seen[RIDGE_STEP_KIND_COUNT] = {0};
    for (seeded seed = 1; seed <= 4 * TRIALS; seed++) {
        seeded at = seed;
        ridge_ctx *cx = ridge_ctx_open();
        pair p = draw_pair(&at);
        measure(&p);
        ridge_reshard step;
        if (draw_step(&at, &p.e.mesh, &p.t->sharding, &step)) {
            check_transpose(ridge_ctx_arena(cx), &p, &step, &at);
            check_again(&step);
            seen[step.kind]++;
        }
        ridge_ctx_close(cx);
    }
    for (int k = 0; k < RIDGE_STEP_KIND_COUNT; k++)
        assert_true(seen[k] > 50);
}

/* ---- notation -------------------------------------------------------------------- */

static void what_is_written_reads_back(void **state)
{
    (void)state;
    for (seeded seed = 1; seed <= TRIALS; seed++) {
        seeded at = seed;
        ridge_ctx *cx = ridge_ctx_open();
        const ridge_expr e = seeded_expr(&at, &seeded_expr_all);
        ridge_expr back;
        ridge_buf mesh, dims;
        ridge_buf_init(&mesh, ridge_ctx_arena(cx));
        ridge_buf_init(&dims, ridge_ctx_arena(cx));
        for (int a = 0; a < e.mesh.n; a++) {
            ridge_buf_printf(&mesh, "%s%s=%d", a ? "," : "", e.mesh.axes[a].name,
                             (int)e.mesh.axes[a].size);
        }
        for (int d = 0; d < e.n_dims; d++) {
            ridge_buf_printf(&dims, "%s%s=%d", d ? "," : "", e.dims[d].name,
                             (int)e.dims[d].size);
        }
        const char *text = text_of(ridge_ctx_arena(cx), &e);
        if (ridge_expr_parse(cx, text, ridge_buf_text(&mesh), ridge_buf_text(&dims),
                             &back) != RIDGE_OK)
            fail_msg("%s: %s", text, ridge_ctx_message(cx));
        assert_string_equal(text_of(ridge_ctx_arena(cx), &back), text);
        for (int i = 0; i <= e.n_inputs; i++) {
            assert_true(ridge_sharding_equal(&ridge_expr_operand(&e, i)->sharding,
                                             &ridge_expr_operand(&back, i)->sharding));
        }
        ridge_ctx_close(cx);
    }
}

static void shares_of_a_dim_add_up_to_it(void **state)
{
    (void)state;
    for (seeded seed = 1; seed <= TRIALS; seed++) {
        seeded at = seed;
        const ridge_expr e = seeded_expr(&at, &seeded_expr_all);
        for (int d = 0; d < e.output.n_dims; d++) {
            const ridge_dim_axes *axes = &e.output.sharding.dims[d];
            const int64_t size = e.dims[e.output.dims[d]].size;
            const int64_t ways = ridge_dim_ways(&e.mesh, axes);
            const int64_t padding = ridge_dim_padding(&e.mesh, axes, size);
            assert_int_equal(ridge_dim_local(&e.mesh, axes, size) * ways,
                             size + padding);
            assert_true(padding >= 0 && padding < ways);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_leaves_every_number),
        cmocka_unit_test(a_plan_to_the_same_sharding_is_empty),
        cmocka_unit_test(transposes_are_transposes),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(shares_of_a_dim_add_up_to_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
