/*
 * Laws of partitions over random programs, meshes and rules: the same every time; their
 * own shardings as rules change nothing; every tensor lies legally, its parts add up to
 * it; every collective is a step that leads where it says.
 */
#include "near.h"
#include "seeded_program.h"

#include <string.h>

enum { TRIALS = 200, RULES_MOST = 8, OWN_RULES_MOST = 4096 };

/* A program and a partition of it. */
typedef struct drawn {
    ridge_ctx *cx;
    const ridge_program *program;
    ridge_mesh mesh;
    int n_rules;
    ridge_rule rules[RULES_MOST];
    const ridge_partition *partition;
} drawn;

static const ridge_partition *build(const drawn *d, const ridge_rule *rules, int n)
{
    const ridge_partition *p = NULL;
    if (ridge_partition_build(d->cx, d->program, &d->mesh, rules, n, NULL, NULL, &p) !=
        RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(d->cx));
    return p;
}

static drawn draw(uint64_t seed)
{
    drawn d = {.cx = ridge_ctx_open()};
    assert_non_null(d.cx);
    seeded at = seed;
    d.program = seeded_program(ridge_ctx_arena(d.cx), &at, seed % 2 == 0);
    if (seed % 3 != 0 &&
        ridge_program_backward(d.cx, d.program, &d.program) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(d.cx));
    d.mesh = seeded_mesh(&at);
    d.n_rules = seeded_rules(&at, d.program, &d.mesh, RULES_MOST, d.rules);
    d.partition = build(&d, d.rules, d.n_rules);
    return d;
}

static const char *text_of(const drawn *d, const ridge_partition *p)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(d->cx));
    ridge_partition_write(p, &text);
    assert_false(text.is_short);
    return ridge_buf_text(&text);
}

/* ---- laws ----------------------------------------------------------------------- */

static void same_every_time(const drawn *d)
{
    assert_string_equal(text_of(d, d->partition),
                        text_of(d, build(d, d->rules, d->n_rules)));
}

/* How a tensor lies, as rules for it alone. */
static int own_rules(const drawn *d, ridge_rule *out)
{
    int n = 0;
    for (int t = 0; t < d->program->n_tensors; t++) {
        const ridge_tensor *tensor = &d->program->tensors[t];
        const ridge_sharding *s = &d->partition->shardings[t];
        for (int i = 0; i < tensor->n_dims; i++) {
            ridge_rule rule = {.tensor = tensor->name,
                               .dim = d->program->dims[tensor->dims[i]].name,
                               .n_axes = s->dims[i].n};
            for (int a = 0; a < s->dims[i].n; a++)
                rule.axes[a] = d->mesh.axes[s->dims[i].axes[a]].name;
            assert_true(n < OWN_RULES_MOST);
            out[n++] = rule;
        }
    }
    return n;
}

static void settled_when_propagated(const drawn *d)
{
    static ridge_rule rules[OWN_RULES_MOST];
    const ridge_partition *again = build(d, rules, own_rules(d, rules));
    for (int t = 0; t < d->program->n_tensors; t++) {
        if (ridge_sharding_equal(&d->partition->shardings[t], &again->shardings[t]))
            continue;
        fputs(text_of(d, d->partition), stderr);
        fputs(text_of(d, again), stderr);
        fail_msg("%s lies otherwise the second time", d->program->tensors[t].name);
    }
}

static void legal_and_complete(const drawn *d)
{
    const ridge_program *p = d->partition->program;
    for (int t = 0; t < p->n_tensors; t++) {
        const ridge_sharding *s = &d->partition->shardings[t];
        double elements = 1.0;
        assert_null(ridge_sharding_fault(ridge_ctx_arena(d->cx), &d->mesh, s));
        for (int i = 0; i < p->tensors[t].n_dims; i++) {
            const int64_t size = p->dims[p->tensors[t].dims[i]].size;
            const int64_t local = ridge_partition_local_dim(d->partition, t, i);
            const int64_t ways = ridge_dim_ways(&d->mesh, &s->dims[i]);
            assert_true(local * ways >= size && (local - 1) * ways < size);
            elements *= (double)local;
        }
        assert_near(ridge_partition_local_elements(d->partition, t), elements, 0.0);
        assert_int_equal(d->partition->copy_of[t] < d->program->n_tensors, true);
    }
}

/* A program dim's position in a tensor; -1: none. */
static int position(const ridge_tensor *t, int dim)
{
    for (int i = 0; dim >= 0 && i < t->n_dims; i++) {
        if (t->dims[i] == dim)
            return i;
    }
    return -1;
}

/* But for the two all-reduces of a softmax, of which the first leaves it partial. */
static void collectives_are_steps(const drawn *d)
{
    const ridge_program *p = d->partition->program;
    for (int i = 0; i < p->n_ops; i++) {
        const ridge_operation *op = &p->ops[i];
        if (op->code != RIDGE_OPCODE_COLLECTIVE)
            continue;
        const ridge_tensor *from = &p->tensors[op->inputs[0]];
        ridge_sharding s = d->partition->shardings[op->inputs[0]];
        const ridge_sharding *to = &d->partition->shardings[op->outputs[0]];
        ridge_reshard step = {.kind = (ridge_step_kind)op->collective,
                              .n_axes = op->n_axes,
                              .dim_from = position(from, op->dim_from),
                              .dim_to = position(from, op->dim_to)};
        memcpy(step.axes, op->axes, sizeof step.axes);
        if (op->collective == RIDGE_STEP_ALL_REDUCE && to->partial == s.partial)
            continue;
        assert_true(ridge_reshard_apply(&d->mesh, &s, &step));
        assert_true(ridge_sharding_equal(&s, to));
    }
}

/* ---- tests ---------------------------------------------------------------------- */

typedef void law(const drawn *d);

static void hold(law *of)
{
    for (uint64_t i = 0; i < TRIALS; i++) {
        const drawn d = draw(20000 + i);
        of(&d);
        ridge_ctx_close(d.cx);
    }
}

static void a_partition_is_the_same_every_time(void **state)
{
    (void)state;
    hold(same_every_time);
}

static void propagating_twice_changes_nothing(void **state)
{
    (void)state;
    hold(settled_when_propagated);
}

static void local_shapes_times_the_mesh_give_the_tensor(void **state)
{
    (void)state;
    hold(legal_and_complete);
}

static void each_collective_leads_where_it_says(void **state)
{
    (void)state;
    hold(collectives_are_steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_partition_is_the_same_every_time),
        cmocka_unit_test(propagating_twice_changes_nothing),
        cmocka_unit_test(local_shapes_times_the_mesh_give_the_tensor),
        cmocka_unit_test(each_collective_leads_where_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
