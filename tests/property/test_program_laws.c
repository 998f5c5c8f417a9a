/* Laws of programs, for every model of the catalogue and each phase: text reads back as
 * the same, the backward pass mirrors the forward one, operations are well formed. */
#include "program_fixture.h"

#include "builder.h"

#include <string.h>

enum { SEQUENCES = 2, TOKENS = 300 };

typedef void law_fn(ridge_ctx *cx, const ridge_program *program);

static void over_catalogue(law_fn *law, bool is_train_only)
{
    static const ridge_phase PHASES[] = {RIDGE_PHASE_TRAIN, RIDGE_PHASE_PREFILL,
                                         RIDGE_PHASE_DECODE};
    const size_t n = is_train_only ? 1 : RIDGE_COUNT_OF(PHASES);
    ridge_ctx *names = ridge_ctx_open();
    const ridge_library *library = NULL;
    assert_non_null(names);
    assert_ok(names, ridge_library_open(names, NULL, &library));
    for (size_t i = 0; i < ridge_library_count(library); i++) {
        ridge_ctx *cx = ridge_ctx_open();
        const ridge_model *model = NULL;
        assert_non_null(cx);
        assert_ok(
            cx, ridge_model_load(cx, library, ridge_library_name(library, i), &model));
        for (size_t k = 0; k < n; k++)
            law(cx, fixture_lower(cx, model, PHASES[k], SEQUENCES, TOKENS));
        ridge_ctx_close(cx);
    }
    ridge_ctx_close(names);
}

/* ---- text ------------------------------------------------------------------------ */

static void text_law(ridge_ctx *cx, const ridge_program *program)
{
    const char *text = fixture_text(cx, program);
    const ridge_program *again = fixture_parse(cx, text);
    if (!ridge_program_equal(program, again)) {
        print_error("%s %s is read back as another\n", program->name,
                    ridge_phase_text(program->phase));
        fail();
    }
    assert_string_equal(text, fixture_text(cx, again));
    /* Tensors even keep their numbers. */
    for (int i = 0; i < program->n_tensors; i++) {
        if (program->tensors[i].block > 0)
            assert_string_equal(program->tensors[i].name, again->tensors[i].name);
    }
}

static void text_reads_back_as_the_same(void **state)
{
    (void)state;
    over_catalogue(text_law, false);
}

/* ---- backward -------------------------------------------------------------------- */

static void check_mirror(const ridge_program *p, const ridge_block *back)
{
    const ridge_block *forward = &p->blocks[back->forward_of];
    assert_int_equal(back->repeat, forward->repeat);
    assert_int_equal(back->layer, forward->layer);
    if (forward->carry_in < 0 || back->carry_in < 0)
        return;
    assert_int_equal(p->tensors[back->carry_in].gradient_of, forward->carry_out);
    assert_int_equal(p->tensors[back->carry_out].gradient_of, forward->carry_in);
}

static void check_gradients(const ridge_program *p)
{
    for (int i = 0; i < p->n_tensors; i++) {
        const ridge_tensor *t = &p->tensors[i];
        if (t->gradient_of < 0)
            continue;
        const ridge_tensor *of = &p->tensors[t->gradient_of];
        assert_int_equal(t->role, RIDGE_ROLE_GRADIENT);
        assert_int_equal(t->n_dims, of->n_dims);
        assert_memory_equal(t->dims, of->dims, (size_t)t->n_dims * sizeof *t->dims);
    }
}

static void backward_law(ridge_ctx *cx, const ridge_program *p)
{
    (void)cx;
    int last = p->n_blocks, backward = 0;
    for (int i = 0; i < p->n_blocks; i++) {
        const ridge_block *block = &p->blocks[i];
        if (!block->is_backward)
            continue;
        backward++;
        if (block->forward_of < 0)
            continue;
        assert_true(block->forward_of < last); /* in reverse order */
        last = block->forward_of;
        check_mirror(p, block);
    }
    assert_true(backward > 0);
    check_gradients(p);
}

static void the_backward_pass_mirrors_the_forward_one(void **state)
{
    (void)state;
    over_catalogue(backward_law, true);
}

/* Every weight that some operation reads is updated, with its own gradient. */
static void update_law(ridge_ctx *cx, const ridge_program *p)
{
    int steps = 0;
    bool *is_read = ridge_new(ridge_ctx_arena(cx), bool, (size_t)p->n_tensors);
    assert_non_null(is_read);
    for (int i = 0; i < p->n_ops; i++) {
        const ridge_operation *op = &p->ops[i];
        if (op->code == RIDGE_OPCODE_UPDATE) {
            assert_int_equal(op->inputs[1], ridge_program_gradient(p, op->inputs[0]));
            is_read[op->inputs[0]] = false;
            steps++;
        } else {
            for (int k = 0; k < op->n_inputs; k++)
                is_read[op->inputs[k]] =
                    p->tensors[op->inputs[k]].role == RIDGE_ROLE_WEIGHT;
        }
    }
    assert_true(steps > 5);
    for (int i = 0; i < p->n_tensors; i++) {
        if (is_read[i])
            print_error("%s: %s is not updated\n", p->name, p->tensors[i].name);
        assert_false(is_read[i]);
    }
}

static void every_weight_in_use_is_updated(void **state)
{
    (void)state;
    over_catalogue(update_law, true);
}

/* ---- order ----------------------------------------------------------------------- */

/* Operations are well formed, and read only what was there before. */
static void order_law(ridge_ctx *cx, const ridge_program *p)
{
    bool *is_there = ridge_new(ridge_ctx_arena(cx), bool, (size_t)p->n_tensors);
    int ops = 0;
    assert_non_null(is_there);
    for (int i = 0; i < p->n_tensors; i++) {
        const ridge_role role = p->tensors[i].role;
        is_there[i] = role != RIDGE_ROLE_ACTIVATION && role != RIDGE_ROLE_GRADIENT;
    }
    for (int b = 0; b < p->n_blocks; b++) {
        assert_int_equal(p->blocks[b].first_op, ops);
        ops += p->blocks[b].n_ops;
    }
    assert_int_equal(ops, p->n_ops);
    for (int i = 0; i < p->n_ops; i++) {
        const ridge_operation *op = &p->ops[i];
        assert_null(ridge__operation_fault(p, op));
        for (int k = 0; k < op->n_inputs; k++)
            assert_true(is_there[op->inputs[k]]);
        for (int k = 0; k < op->n_outputs; k++)
            is_there[op->outputs[k]] = true;
    }
}

static void operations_read_what_was_made_before(void **state)
{
    (void)state;
    over_catalogue(order_law, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_reads_back_as_the_same),
        cmocka_unit_test(the_backward_pass_mirrors_the_forward_one),
        cmocka_unit_test(every_weight_in_use_is_updated),
        cmocka_unit_test(operations_read_what_was_made_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
