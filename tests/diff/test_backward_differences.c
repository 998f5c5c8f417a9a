/*
 * Gradients of whole programs, run by the plain machine, against central differences of
 * their loss: what the partitioned ones are measured by is right itself.
 */
#include "mesh_machine.h"
#include "near.h"
#include "seeded_program.h"

#include <math.h>

enum { TRIALS = 60, PROBES = 3, ELEMENTS_MOST = 1 << 14 };

/* A program with its backward pass and the values that it starts from. */
typedef struct probe {
    ridge_ctx *cx;
    const ridge_program *forward, *both;
    uint64_t seed;
    int loss; /* tensor */
} probe;

static int64_t elements(const ridge_program *p, int tensor)
{
    return (int64_t)ridge_tensor_elements(p, &p->tensors[tensor]);
}

/* Run with one element of one weight moved. */
static mesh_machine *run(const probe *at, const ridge_program *program, int weight,
                         int64_t element, double shift)
{
    static double values[ELEMENTS_MOST];
    mesh_machine *m = mesh_machine_new(ridge_ctx_arena(at->cx), program, NULL);
    seeded numbers = at->seed;
    for (int t = 0; t < at->forward->n_tensors; t++) {
        const ridge_role role = at->forward->tensors[t].role;
        if (role != RIDGE_ROLE_WEIGHT && role != RIDGE_ROLE_INPUT)
            continue;
        seeded_values(&numbers, at->forward, t, false, values);
        if (t == weight)
            values[element] += shift;
        mesh_machine_set(m, t, 0, values);
    }
    mesh_machine_run(m);
    return m;
}

static double total_loss(const probe *at, mesh_machine *m)
{
    static double values[ELEMENTS_MOST];
    double sum = 0.0;
    mesh_machine_get(m, at->loss, 0, values);
    for (int64_t i = 0; i < elements(at->forward, at->loss); i++)
        sum += values[i];
    return sum;
}

/* The last gradient made of a weight is the whole one; -1: it has none. */
static int gradient_of(const ridge_program *p, int weight)
{
    int found = -1;
    for (int t = 0; t < p->n_tensors; t++) {
        if (p->tensors[t].gradient_of == weight)
            found = t;
    }
    return found;
}

static void check_weight(const probe *at, mesh_machine *m, int weight, seeded *random)
{
    static double gradient[ELEMENTS_MOST];
    const double step = 1e-5;
    const int tensor = gradient_of(at->both, weight);
    if (tensor < 0)
        return;
    mesh_machine_get(m, tensor, 0, gradient);
    for (int i = 0; i < PROBES; i++) {
        const int64_t e = seeded_pick(random, 0, elements(at->forward, weight) - 1);
        const double up = total_loss(at, run(at, at->forward, weight, e, step));
        const double down = total_loss(at, run(at, at->forward, weight, e, -step));
        const double slope = (up - down) / (2.0 * step);
        /* the third derivative over step^2, and digits lost in the difference */
        if (fabs(slope - gradient[e]) > 1e-5 * (1.0 + fabs(slope)))
            fail_msg("seed %llu: %s[%lld]: gradient %.9g, difference %.9g",
                     (unsigned long long)at->seed, at->forward->tensors[weight].name,
                     (long long)e, gradient[e], slope);
    }
}

static int find_loss(const ridge_program *p)
{
    for (int i = 0; i < p->n_ops; i++) {
        if (p->ops[i].code == RIDGE_OPCODE_LOSS)
            return p->ops[i].outputs[0];
    }
    return -1;
}

static void check_gradients(probe *at, seeded *random)
{
    if (ridge_program_backward(at->cx, at->forward, &at->both) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(at->cx));
    mesh_machine *m = run(at, at->both, -1, 0, 0.0);
    for (int t = 0; t < at->forward->n_tensors; t++) {
        if (at->forward->tensors[t].role == RIDGE_ROLE_WEIGHT)
            check_weight(at, m, t, random);
    }
}

static void gradients_are_slopes(void **state)
{
    (void)state;
    int n_checked = 0;
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        probe at = {.cx = ridge_ctx_open(), .seed = seed};
        assert_non_null(at.cx);
        seeded random = seed;
        at.forward = seeded_program(ridge_ctx_arena(at.cx), &random, false);
        at.loss = find_loss(at.forward);
        if (at.loss >= 0) {
            check_gradients(&at, &random);
            n_checked++;
        }
        ridge_ctx_close(at.cx);
    }
    assert_true(n_checked > TRIALS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_slopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
