/*
 * Shardings that the search finds for chains of products, carried out on a simulated
 * mesh: the numbers of the whole arrays come out, lying as wanted.
 */
#include "near.h"

#include "mesh_arrays.h"
#include "ridge/plan_chain.h"

#include <string.h>

enum { TRIALS = 400, TENSOR_MOST = 8 };

static const char *const programs[] = {
    "block b\n"
    "  input a[I,J] bf16\n"
    "  weight b[J,K] bf16\n"
    "  weight c[K,L] bf16\n"
    "  t[I,K] bf16 = einsum a, b\n"
    "  y[I,L] bf16 = einsum t, c\n",
    "block b\n"
    "  input a[I,J] bf16\n"
    "  weight b[J,K] bf16\n"
    "  weight c[J,K] bf16\n"
    "  t[I,K] bf16 = einsum a, b\n"
    "  u[I,K] bf16 = einsum a, c\n"
    "  y[I,K] bf16 = multiply t, u\n",
    "block b\n"
    "  input a[I,J,L] bf16\n"
    "  weight b[J,K] bf16\n"
    "  t[I,K,L] bf16 = einsum a, b\n"
    "  u[K,I] bf16 = einsum t\n"
    "  y[I,L,J] bf16 = einsum u, a\n",
};

typedef struct world {
    ridge_ctx *cx;
    ridge_mesh mesh;
    const ridge_program *program;
    ridge_rules rules;
    ridge_chain_plan plan;
    int64_t *whole[TENSOR_MOST]; /* the numbers of each tensor */
    mesh_array have[TENSOR_MOST];
    seeded at;
} world;

/* ---- drawing --------------------------------------------------------------------- */

/* "@x+y": the axes that lie on a dim. @param on  the dim of each axis */
static void write_axes(const world *w, const int *on, int dim, ridge_buf *b)
{
    const char *joint = "@";
    for (int a = 0; a < w->mesh.n; a++) {
        if (on[a] != dim)
            continue;
        ridge_buf_printf(b, "%s%s", joint, w->mesh.axes[a].name);
        joint = "+";
    }
}

/* Subscripts for every tensor, each axis on one of its dims or on none. */
static const char *draw_rules(world *w)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(w->cx));
    for (int i = 0; i < w->program->n_tensors; i++) {
        const ridge_tensor *t = &w->program->tensors[i];
        const bool is_middle = t->role == RIDGE_ROLE_ACTIVATION && t->name[0] != 'y';
        int dims[RIDGE_MESH_AXIS_MAX];
        if (is_middle && seeded_pick(&w->at, 0, 2) > 0)
            continue;
        for (int a = 0; a < w->mesh.n; a++)
            dims[a] = (int)seeded_pick(&w->at, -1, t->n_dims - 1);
        ridge_buf_printf(&b, "%s[", t->name);
        for (int d = 0; d < t->n_dims; d++) {
            ridge_buf_printf(&b, "%s%s", d ? "," : "",
                             w->program->dims[t->dims[d]].name);
            write_axes(w, dims, d, &b);
        }
        ridge_buf_puts(&b, "] ");
    }
    return ridge_buf_text(&b);
}

static void draw_world(world *w)
{
    ridge_arena *arena = ridge_ctx_arena(w->cx);
    const char *mesh = ridge_sprintf(arena, "x=%d,y=%d", (int)seeded_pick(&w->at, 1, 3),
                                     (int)seeded_pick(&w->at, 1, 3));
    const char *text =
        ridge_sprintf(arena, "program p prefill\ndims I=%d J=%d K=%d L=%d\n%s",
                      (int)seeded_pick(&w->at, 3, 6), (int)seeded_pick(&w->at, 3, 6),
                      (int)seeded_pick(&w->at, 3, 6), (int)seeded_pick(&w->at, 3, 6),
                      programs[seeded_pick(&w->at, 0, RIDGE_COUNT_OF(programs) - 1)]);
    ridge_expr_fault fault;
    assert_int_equal(ridge_mesh_parse(w->cx, mesh, &w->mesh), RIDGE_OK);
    if (ridge_program_parse(w->cx, ridge_str_of(text), "p", &w->program) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(w->cx));
    assert_int_equal(ridge_rules_parse(w->cx, draw_rules(w), w->program, &w->mesh,
                                       &fault, &w->rules),
                     RIDGE_OK);
}

/* ---- whole arrays ---------------------------------------------------------------- */

static void sizes_of(const world *w, int tensor, int64_t *sizes, int64_t *elements)
{
    const ridge_tensor *t = &w->program->tensors[tensor];
    *elements = 1;
    for (int d = 0; d < t->n_dims; d++) {
        sizes[d] = w->program->dims[t->dims[d]].size;
        *elements *= sizes[d];
    }
}

/* An operation of the program as an expression over all program dims. */
static ridge_expr expr_of(const world *w, const ridge_operation *op)
{
    ridge_expr e = {.mesh = w->mesh, .n_inputs = op->n_inputs};
    for (int i = 0; i <= op->n_inputs; i++) {
        const int tensor = i < op->n_inputs ? op->inputs[i] : op->outputs[0];
        const ridge_tensor *t = &w->program->tensors[tensor];
        ridge_expr_tensor *x = i < op->n_inputs ? &e.inputs[i] : &e.output;
        *x = (ridge_expr_tensor){.name = t->name, .n_dims = t->n_dims};
        for (int d = 0; d < t->n_dims; d++) {
            int dim = 0;
            while (dim < e.n_dims &&
                   e.dims[dim].name != w->program->dims[t->dims[d]].name)
                dim++;
            if (dim == e.n_dims)
                e.dims[e.n_dims++] = w->program->dims[t->dims[d]];
            x->dims[d] = dim;
        }
    }
    return e;
}

static void compute_whole(world *w)
{
    int64_t sizes[RIDGE_TENSOR_DIM_MAX], elements = 0;
    assert_true(w->program->n_tensors <= TENSOR_MOST);
    for (int t = 0; t < w->program->n_tensors; t++) {
        sizes_of(w, t, sizes, &elements);
        w->whole[t] = ridge_new(ridge_ctx_arena(w->cx), int64_t, (size_t)elements);
        assert_non_null(w->whole[t]);
        for (int64_t i = 0; i < elements; i++)
            w->whole[t][i] = seeded_pick(&w->at, -9, 9);
    }
    for (int i = 0; i < w->program->n_ops; i++) {
        const ridge_operation *op = &w->program->ops[i];
        const ridge_expr e = expr_of(w, op);
        const int64_t *inputs[RIDGE_EXPR_INPUT_MAX];
        for (int k = 0; k < op->n_inputs; k++)
            inputs[k] = w->whole[op->inputs[k]];
        mesh_einsum(&e, inputs, w->whole[op->outputs[0]]);
    }
}

/* ---- sharded arrays -------------------------------------------------------------- */

/* The move of a tensor to a reader, or to where it is kept (-1). */
static const ridge_chain_move *find_move(const world *w, int tensor, int reader)
{
    for (int i = 0; i < w->plan.n_moves; i++) {
        if (w->plan.moves[i].tensor == tensor && w->plan.moves[i].reader == reader)
            return &w->plan.moves[i];
    }
    return NULL;
}

static void take_move(world *w, const ridge_chain_move *m, mesh_array *a)
{
    if (!m)
        return;
    assert_true(ridge_sharding_equal(&a->sharding, &m->from));
    for (int k = 0; k < m->n_steps; k++)
        assert_true(mesh_array_step(ridge_ctx_arena(w->cx), a, &m->steps[k]));
    assert_true(ridge_sharding_equal(&a->sharding, &m->to));
}

/* How a tensor that no operation makes is given, told by what is done with it. */
static ridge_sharding given_sharding(const world *w, int tensor)
{
    const ridge_chain_move *kept = find_move(w, tensor, -1);
    if (kept)
        return kept->from;
    for (int i = 0; i < w->plan.n_ops; i++) {
        const ridge_operation *op = &w->program->ops[w->plan.ops[i].op];
        for (int k = 0; k < op->n_inputs; k++) {
            if (op->inputs[k] != tensor)
                continue;
            const ridge_chain_move *m = find_move(w, tensor, w->plan.ops[i].op);
            return m ? m->from : w->plan.ops[i].inputs[k];
        }
    }
    return (ridge_sharding){.n_dims = w->program->tensors[tensor].n_dims};
}

static void give_inputs(world *w)
{
    for (int t = 0; t < w->program->n_tensors; t++) {
        int64_t sizes[RIDGE_TENSOR_DIM_MAX], elements = 0;
        if (w->program->tensors[t].role == RIDGE_ROLE_ACTIVATION)
            continue;
        sizes_of(w, t, sizes, &elements);
        const ridge_sharding s = given_sharding(w, t);
        w->have[t] = mesh_array_split(ridge_ctx_arena(w->cx), &w->mesh, sizes, &s,
                                      w->whole[t], &w->at);
        take_move(w, find_move(w, t, -1), &w->have[t]);
    }
}

static void run_op(world *w, const ridge_chain_op *o)
{
    const ridge_operation *op = &w->program->ops[o->op];
    const ridge_expr e = expr_of(w, op);
    mesh_array inputs[RIDGE_EXPR_INPUT_MAX];
    for (int k = 0; k < op->n_inputs; k++) {
        inputs[k] = w->have[op->inputs[k]];
        take_move(w, find_move(w, op->inputs[k], o->op), &inputs[k]);
        assert_true(ridge_sharding_equal(&inputs[k].sharding, &o->inputs[k]));
    }
    mesh_array *out = &w->have[op->outputs[0]];
    assert_true(
        mesh_array_multiply(ridge_ctx_arena(w->cx), &e, inputs, &o->output, out));
    out->mesh = &w->mesh; /* the expression's goes with it */
    take_move(w, find_move(w, op->outputs[0], -1), out);
}

static void check_seed(uint64_t seed)
{
    world w = {.cx = ridge_ctx_open(), .at = seed};
    assert_non_null(w.cx);
    draw_world(&w);
    const ridge_chain_request request = {
        .program = w.program, .mesh = &w.mesh, .rules = w.rules};
    if (ridge_chain_search(w.cx, &request, &w.plan) != RIDGE_OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, ridge_ctx_message(w.cx));
    compute_whole(&w);
    give_inputs(&w);
    for (int i = 0; i < w.plan.n_ops; i++)
        run_op(&w, &w.plan.ops[i]);
    const int y = ridge_program_tensor_find(w.program, "y");
    int64_t sizes[RIDGE_TENSOR_DIM_MAX], elements = 0;
    sizes_of(&w, y, sizes, &elements);
    int64_t *got = ridge_new(ridge_ctx_arena(w.cx), int64_t, (size_t)elements);
    assert_non_null(got);
    if (!mesh_array_join(ridge_ctx_arena(w.cx), &w.have[y], got) ||
        memcmp(got, w.whole[y], (size_t)elements * sizeof *got) != 0)
        fail_msg("seed %llu: wrong numbers", (unsigned long long)seed);
    ridge_ctx_close(w.cx);
}

static void a_searched_chain_gives_the_whole_numbers(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TRIALS; seed++)
        check_seed(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_searched_chain_gives_the_whole_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
