/*
 * Timelines of LLaMA layers against the closed form that a search uses: what a layer
 * exposes is what its activations exchange, and what its weights' collectives take
 * beyond the time that is left on their axes.
 *
 *     period = max(compute + slowdown + activations, busiest axis)
 *
 * The timeline knows more: a gradient's collective hides behind the weight's product,
 * and what the last product waits for cannot hide behind it. Both stay small in a layer
 * of many products.
 */
#include "layout_build.h"

#include <math.h>

static const double WITHIN = 0.1;
static const ridge_overlap ASYNC = {.has_prefetch = true, .has_trailing = true};

static const ridge_slice *slice_of(ridge_ctx *cx, const char *text)
{
    const ridge_catalog *catalog = NULL;
    const ridge_slice *slice = NULL;
    assert_ok(cx, ridge_catalog_open(cx, NULL, &catalog));
    assert_ok(cx, ridge_slice_parse(cx, catalog, text, &slice));
    return slice;
}

/* Where a tensor comes from: an operation of the block that begins there, or before. */
static bool is_made_inside(const ridge_program *p, const ridge_block *b, int tensor)
{
    for (int i = b->first_op; i < b->first_op + b->n_ops; i++) {
        for (int k = 0; k < p->ops[i].n_outputs; k++) {
            if (p->ops[i].outputs[k] == tensor)
                return true;
        }
    }
    return tensor == b->carry_in;
}

static bool is_of_weight(const ridge_program *p, const ridge_operation *o)
{
    const ridge_tensor *t = &p->tensors[o->outputs[0]];
    return t->role == RIDGE_ROLE_WEIGHT ||
           (t->gradient_of >= 0 &&
            p->tensors[t->gradient_of].role == RIDGE_ROLE_WEIGHT);
}

/* Sums over the operations of a block. */
typedef struct load {
    double compute_s;
    double activations_s; /* collectives of what the block makes */
    double beside_s;      /* of weights, and of what the forward pass left */
    double axis_s[RIDGE_AXIS_MAX];
} load;

static load load_of(const layout_build *l, const ridge_operation_time *times, int block)
{
    const ridge_program *p = l->partition->program;
    const ridge_block *b = &p->blocks[block];
    load sum = {0};
    for (int i = b->first_op; i < b->first_op + b->n_ops; i++) {
        const ridge_operation *o = &p->ops[i];
        if (!times[i].is_collective) {
            sum.compute_s += times[i].expected_s;
            continue;
        }
        const bool is_beside =
            is_of_weight(p, o) || !is_made_inside(p, b, o->inputs[0]);
        *(is_beside ? &sum.beside_s : &sum.activations_s) += times[i].expected_s;
        for (int axis = 0; axis < RIDGE_AXIS_MAX; axis++)
            sum.axis_s[axis] += times[i].network >> axis & 1u ? times[i].expected_s : 0;
    }
    return sum;
}

static double closed_period_s(const load *sum, bool is_gpu)
{
    const double hidden_s = fmin(sum->beside_s, sum->compute_s);
    const double slow_s = is_gpu ? hidden_s * 20 / 132 : 0;
    double period_s = sum->compute_s + slow_s + sum->activations_s;
    for (int axis = 0; axis < RIDGE_AXIS_MAX; axis++)
        period_s = fmax(period_s, sum->axis_s[axis]);
    return period_s;
}

static void check_layers(ridge_ctx *cx, const char *name, const layout_build *l)
{
    const ridge_program *p = l->partition->program;
    ridge_operation_time *times =
        ridge_new(ridge_ctx_arena(cx), ridge_operation_time, (size_t)p->n_ops);
    assert_non_null(times);
    assert_ok(
        cx, ridge_operation_times(cx, l->partition, &l->laid, RIDGE_DTYPE_BF16, times));
    const ridge_timeline t = build_timeline(cx, l, &ASYNC);
    const bool is_gpu = l->laid.slice->chip->kind == RIDGE_CHIP_GPU;
    static const char *const blocks[] = {"layer", "layer_backward"};
    for (int i = 0; i < 2; i++) {
        const int block = build_block_find(l, blocks[i]);
        const load sum = load_of(l, times, block);
        const double want_s = closed_period_s(&sum, is_gpu);
        const double got_s = t.blocks[block].period_s;
        if (fabs(got_s - want_s) > WITHIN * want_s)
            fail_msg("%s, %s: period %.4g s, closed form %.4g s", name, blocks[i],
                     got_s, want_s);
        /* Both see the same lower bounds. */
        assert_true(got_s >= (1 - 1e-9) * sum.compute_s);
        for (int axis = 0; axis < RIDGE_AXIS_MAX; axis++)
            assert_true(got_s >= (1 - 1e-9) * sum.axis_s[axis]);
    }
}

typedef struct layout_case {
    const char *model, *slice;
    int64_t sequences, tokens;
    ridge_parallelism degrees;
} layout_case;

static const layout_case CASES[] = {
    /* FSDP that hides, and FSDP that does not */
    {"llama-3-8b", "v5p:4x4x4", 64, 8192, {.fsdp = 64, .zero_stage = 3}},
    {"llama-3-8b", "v5p:4x4x4", 64, 256, {.fsdp = 64, .zero_stage = 3}},
    {"llama-3-8b", "h100:4x8", 32, 8192, {.fsdp = 32, .zero_stage = 3}},
    {"llama-3-8b", "h100:4x8", 32, 1024, {.fsdp = 32, .zero_stage = 3}},
    {"llama-3-8b", "h100:16x8", 128, 8192, {.fsdp = 128, .zero_stage = 2}},
    /* TP, alone and with SP */
    {"llama-3-8b", "h100:1x8", 1, 8192, {.tp = 8}},
    {"llama-3-8b", "h100:1x8", 1, 8192, {.tp = 8, .is_sequence_parallel = true}},
    {"llama-3-70b", "v5p:2x2x2", 1, 8192, {.tp = 8, .is_sequence_parallel = true}},
    /* both */
    {"llama-3-70b",
     "v5p:8x8x4",
     64,
     4096,
     {.fsdp = 32, .tp = 8, .zero_stage = 3, .is_sequence_parallel = true}},
    {"llama-3-70b",
     "v5p:8x8x4",
     16,
     1024,
     {.fsdp = 16, .tp = 16, .zero_stage = 3, .is_sequence_parallel = true}},
    {"llama-3-70b",
     "h100:8x8",
     16,
     8192,
     {.fsdp = 8, .tp = 8, .zero_stage = 3, .is_sequence_parallel = true}},
    {"llama-3-70b",
     "h100:8x8",
     32,
     2048,
     {.fsdp = 16, .tp = 4, .zero_stage = 3, .is_sequence_parallel = true}},
};

static void periods_are_those_of_the_closed_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(CASES); i++) {
        const layout_case *c = &CASES[i];
        ridge_ctx *cx = ridge_ctx_open();
        const layout_build l =
            build_layout(cx, fixture_named(cx, c->model), c->sequences, c->tokens,
                         &c->degrees, slice_of(cx, c->slice));
        char name[96];
        (void)snprintf(name, sizeof name, "case %zu: %s on %s", i, c->model, c->slice);
        check_layers(cx, name, &l);
        ridge_ctx_close(cx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(periods_are_those_of_the_closed_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
