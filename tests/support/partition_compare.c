/* Both machines on the same values, tensor by tensor. */
#include "partition_compare.h"

#include "mesh_machine.h"
#include "near.h"
#include "seeded_program.h"

#include <math.h>

enum { ELEMENTS_MOST = 1 << 15 };

static bool is_made(const ridge_program *p, int tensor)
{
    for (int i = 0; i < p->n_ops; i++) {
        for (int j = 0; j < p->ops[i].n_outputs; j++) {
            if (p->ops[i].outputs[j] == tensor)
                return true;
        }
    }
    return false;
}

static bool is_in_place(const ridge_program *p, int tensor)
{
    const ridge_role role = p->tensors[tensor].role;
    return role == RIDGE_ROLE_WEIGHT || role == RIDGE_ROLE_STATE ||
           role == RIDGE_ROLE_CACHE;
}

static int64_t elements(const ridge_program *p, int tensor)
{
    int64_t n = 1;
    for (int i = 0; i < p->tensors[tensor].n_dims; i++)
        n *= p->dims[p->tensors[tensor].dims[i]].size;
    assert_true(n <= ELEMENTS_MOST);
    return n;
}

/* Rows of experts come in another order where ranks hand them out. */
static bool is_comparable(const ridge_program *p, int tensor)
{
    const int rows = ridge_program_dim_find(p, "C");
    for (int i = 0; i < p->tensors[tensor].n_dims; i++) {
        if (p->tensors[tensor].dims[i] == rows)
            return false;
    }
    return true;
}

static void explain(ridge_ctx *cx, const partition_case *c)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_scratch(cx));
    ridge_partition_write(c->partition, &text);
    fputs(ridge_buf_text(&text), stderr); /* longer than cmocka prints at once */
    print_error("%s, seed %llu\n", c->name, (unsigned long long)c->seed);
}

static void compare(ridge_ctx *cx, const partition_case *c, mesh_machine *whole,
                    mesh_machine *mesh, int tensor, int64_t repetition)
{
    static double want[ELEMENTS_MOST], got[ELEMENTS_MOST];
    const int64_t n = elements(c->program, tensor);
    double size = 1e-3;
    mesh_machine_get(whole, tensor, repetition, want);
    mesh_machine_get(mesh, tensor, repetition, got);
    for (int64_t i = 0; i < n; i++)
        size = fmax(size, fabs(want[i]));
    for (int64_t i = 0; i < n; i++) {
        const double allowed = c->is_whole ? 0.0 : 1e-9 * size;
        if (fabs(want[i] - got[i]) <= allowed)
            continue;
        explain(cx, c);
        fail_msg("%s differs at %lld of repetition %lld: %.15g, whole %.15g",
                 c->program->tensors[tensor].name, (long long)i, (long long)repetition,
                 got[i], want[i]);
    }
}

static void give_values(const partition_case *c, mesh_machine *whole,
                        mesh_machine *mesh)
{
    static double values[ELEMENTS_MOST];
    seeded at = c->seed + 1;
    for (int i = 0; i < c->program->n_tensors; i++) {
        if (is_made(c->program, i) && !is_in_place(c->program, i))
            continue;
        elements(c->program, i);
        for (int64_t r = 0; r < mesh_machine_repeats(whole, i); r++) {
            seeded_values(&at, c->program, i, c->is_whole, values);
            mesh_machine_set(whole, i, r, values);
            mesh_machine_set(mesh, i, r, values);
        }
    }
}

void partition_compare(ridge_ctx *cx, const partition_case *c)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    mesh_machine *whole = mesh_machine_new(arena, c->program, NULL);
    mesh_machine *mesh = mesh_machine_new(arena, c->program, c->partition);
    give_values(c, whole, mesh);
    mesh_machine_run(whole);
    mesh_machine_run(mesh);
    for (int i = 0; i < c->program->n_tensors; i++) {
        for (int64_t r = 0; r < mesh_machine_repeats(whole, i); r++) {
            if (is_comparable(c->program, i))
                compare(cx, c, whole, mesh, i, r);
        }
    }
}
