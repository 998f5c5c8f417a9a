/*
 * Two ways to one step: the closed form that the search prices with, and the
 * partitioned program on its timeline.
 */
#include "train_fixture.h"

#include "ridge/plan_timeline.h"

#include <string.h>

typedef struct trial {
    const char *model, *slice;
    ridge_layout layout;
} trial;

/* One microbatch, no recomputation, no stages: both then count the same work. */
static const trial trials[] = {
    {"llama-3-8b", "v5p:4x4x4", {.fsdp = 64, .tp = 1, .zero_stage = 3}},
    {"llama-3-8b", "v5p:4x4x4", {.fsdp = 16, .tp = 4, .zero_stage = 3, .has_sp = true}},
    {"llama-3-8b", "h100:2x8", {.fsdp = 16, .tp = 1, .zero_stage = 3}},
    {"llama-3-8b", "h100:2x8", {.fsdp = 2, .tp = 8, .zero_stage = 3, .has_sp = true}},
    {"llama-3-8b", "h100:1x8", {.fsdp = 1, .tp = 8, .zero_stage = 0}},
    {"llama-2-13b", "a100:4x8", {.fsdp = 8, .tp = 4, .zero_stage = 3, .has_sp = true}},
    {"mixtral-8x7b", "h100:4x8", {.fsdp = 32, .tp = 1, .ep = 8, .zero_stage = 3}},
    {"mixtral-8x7b",
     "h100:4x8",
     {.fsdp = 16, .tp = 2, .ep = 8, .zero_stage = 3, .has_sp = true}},
    {"mixtral-8x7b",
     "h100:4x8",
     {.fsdp = 8, .tp = 4, .ep = 2, .zero_stage = 3, .has_sp = true}},
};

static const ridge_model *load(ridge_ctx *cx, const char *name)
{
    const ridge_library *library = NULL;
    const ridge_model *model = NULL;
    if (ridge_library_open(cx, NULL, &library) != RIDGE_OK ||
        ridge_model_load(cx, library, name, &model) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    return model;
}

static ridge_layout complete(const trial *t)
{
    ridge_layout l = t->layout;
    l.dp = 1;
    l.cp = 1;
    l.pp = 1;
    l.vpp = 1;
    l.ep = l.ep > 0 ? l.ep : 1;
    l.microbatch_seqs = 1;
    l.remat = RIDGE_REMAT_NONE;
    l.precision = RIDGE_PRECISION_BF16_REDUCE; /* the program's gradients are bf16 */
    return l;
}

/* The two differ in what is fused, and where the closed form takes TP's collectives as
 * exposed the timeline finds products of weight gradients to run beside them. Experts
 * also differ by the router, the layout of rows, and gathers that wait. */
static void closed_form_and_timeline_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(trials); i++) {
        ridge_ctx *cx = ridge_ctx_open();
        const trial *t = &trials[i];
        ridge_layout layout = complete(t);
        const ridge_slice *slice = train_slice(cx, t->slice);
        double seqs = (double)(layout.dp * layout.fsdp);
        ridge_train_request r = train_request(load(cx, t->model), slice, seqs, 4096);
        ridge_train_price price = train_price_of(cx, &r, &layout);
        ridge_layout_timeline timeline;
        if (ridge_train_timeline(cx, &r, &layout, &timeline) != RIDGE_OK)
            fail_msg("%s", ridge_ctx_message(cx));
        double rel = layout.ep > 1 ? 0.15 : 0.06;
        assert_near(timeline.timeline.total_s, price.step_time_s, rel);
        ridge_ctx_close(cx);
    }
}

static void stages_are_refused(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_slice *slice = train_slice(cx, "h100:1x8");
    ridge_train_request r = train_request(train_moe_model(cx), slice, 8, 1024);
    ridge_layout stages = train_layout(1, 4, 1, 1, 2);
    ridge_layout_timeline timeline;
    assert_int_equal(ridge_train_timeline(cx, &r, &stages, &timeline), RIDGE_E_ARG);
    assert_non_null(strstr(ridge_ctx_message(cx), "fix pp=1"));
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_form_and_timeline_agree),
        cmocka_unit_test(stages_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
