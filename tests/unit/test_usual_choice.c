/* What a search leaves as software has it: overlap of TP, the dispatch of tokens. */
#include "train_fixture.h"

#include "usual_choice.h"

#include "ridge/hardware_stack.h"

static const ridge_stack overlapping = {.practice = {-1, -1, -1, -1, -1, NULL},
                                        .has_tp_overlap = true,
                                        .dispatches_once = true};

static bool overlaps(ridge_ctx *cx, const ridge_stack *stack, const char *slice,
                     int64_t tp, bool has_sp)
{
    ridge_train_request request =
        train_request(train_dense_model(cx), train_slice(cx, slice), 64, 2048);
    ridge_layout layout = train_layout(1, 1, tp, 1, 1);
    request.stack = stack;
    layout.has_sp = has_sp;
    train_usual_overlaps(&request, request.slice, &layout);
    return layout.has_tp_overlap;
}

static void tp_overlaps_within_a_node_alone(void **state)
{
    ridge_ctx *cx = *state;
    assert_true(overlaps(cx, &overlapping, "h100:4x8", 8, true));
    assert_false(overlaps(cx, &overlapping, "h100:4x8", 16, true));
    assert_true(overlaps(cx, &overlapping, "gb200:1x72", 16, true));
    assert_false(overlaps(cx, &overlapping, "h100:4x8", 8, false));
    assert_false(overlaps(cx, NULL, "h100:4x8", 8, true));
}

static void tp_overlaps_on_any_torus(void **state)
{
    assert_true(overlaps(*state, NULL, "v5p:4x4x4", 16, true));
    assert_true(overlaps(*state, NULL, "v5p:4x4x4", 16, false));
}

/* A plan of a model without experts names no dispatch: it would be refused. */
static void a_dispatch_is_of_experts(void **state)
{
    ridge_ctx *cx = *state;
    ridge_train_request request =
        train_request(train_dense_model(cx), train_slice(cx, "h100:1x8"), 64, 2048);
    request.stack = &overlapping;
    assert_int_equal(train_usual_dispatch(&request), RIDGE_DISPATCH_COPIES);
    request.model = train_moe_model(cx);
    assert_int_equal(train_usual_dispatch(&request), RIDGE_DISPATCH_ONCE);
}

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state == NULL;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tp_overlaps_within_a_node_alone),
        cmocka_unit_test(tp_overlaps_on_any_torus),
        cmocka_unit_test(a_dispatch_is_of_experts),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
