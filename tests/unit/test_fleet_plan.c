/* Plans of fleets: written, read again to the same price, refused where a key is not
 * known or the layout is none of the fleet, explained.
 */
#include "near.h"
#include "train_fixture.h"

#include "ridge/plan_fleet.h"

#include <string.h>

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state == NULL ? -1 : 0;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

typedef struct fleet_case_of {
    ridge_train_request request;
    ridge_fleet_result result;
} fleet_case_of;

/* @param is_replicas  false: as if they did not fit */
static fleet_case_of *search(ridge_ctx *cx, bool is_replicas)
{
    fleet_case_of *f = ridge_new(ridge_ctx_arena(cx), fleet_case_of, 1);
    assert_non_null(f);
    f->request = train_request(train_dense_model(cx),
                               train_slice(cx, "h100:1x8+a100:1x8"), 24, 2048);
    f->request.top = 1;
    assert_ok(cx, ridge_fleet_search(cx, &f->request, &f->result));
    assert_true(f->result.n_layouts == 1 && f->result.replicas.n == 2);
    if (is_replicas)
        f->result.n_layouts = 0;
    else
        f->result.replicas.n = 0;
    return f;
}

static const char *written(ridge_ctx *cx, const fleet_case_of *f)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    assert_ok(
        cx, ridge_json_write(
                cx, ridge_fleet_plan_to_json(cx, &f->request, "m", &f->result), &text));
    return ridge_buf_text(&text);
}

static ridge_status read_text(ridge_ctx *cx, const char *text, ridge_fleet_plan *out)
{
    ridge_node root;
    assert_ok(cx, ridge_json_parse(cx, ridge_str_of(text), "plan.json", &root));
    assert_true(ridge_plan_is_fleet(root));
    return ridge_fleet_plan_from_json(cx, root, out);
}

static void a_pipeline_is_read_as_written(void **state)
{
    ridge_ctx *cx = *state;
    const fleet_case_of *f = search(cx, false);
    ridge_fleet_plan plan;
    ridge_fleet_price price;
    assert_ok(cx, read_text(cx, written(cx, f), &plan));
    assert_false(plan.is_replicas);
    assert_string_equal(plan.head.slice_text, "h100:1x8+a100:1x8");
    assert_ok(cx, ridge_fleet_price_one(cx, &f->request, &plan.pipeline, &price));
    assert_near(price.price.step_time_s, f->result.layouts[0].price.step_time_s, 0);
}

static void replicas_are_read_as_written(void **state)
{
    ridge_ctx *cx = *state;
    const fleet_case_of *f = search(cx, true);
    ridge_fleet_plan plan;
    ridge_fleet_replicas price;
    assert_ok(cx, read_text(cx, written(cx, f), &plan));
    assert_true(plan.is_replicas);
    assert_int_equal(plan.n_shares, 2);
    assert_ok(cx, ridge_fleet_replicas_price(cx, &f->request, plan.shares, 2, &price));
    assert_near(price.price.step_time_s, f->result.replicas.price.step_time_s, 0);
}

static const char *spoiled(ridge_ctx *cx, const char *text, const char *part,
                           const char *with)
{
    const char *at = strstr(text, part);
    assert_non_null(at);
    return ridge_sprintf(ridge_ctx_arena(cx), "%.*s%s%s", (int)(at - text), text, with,
                         at + strlen(part));
}

static void what_is_wrong_is_named(void **state)
{
    ridge_ctx *cx = *state;
    const struct {
        bool is_replicas;
        const char *part, *with, *message;
    } wrong[] = {
        {false, "\"split\": \"pipeline\"", "\"split\": \"both\"", "split: expected"},
        {false, "\"stages\": 1", "\"stages\": 0", "pools[0].stages"},
        {false, "\"pools\"", "\"ponds\"", "ponds: unknown key: did you mean pools?"},
        {false, "\"stages\"", "\"stage\"", "stage: unknown key: did you mean stages?"},
        {true, "\"batch_seqs\"", "\"batch_seq\"",
         "batch_seq: unknown key: did you mean batch_seqs"},
        {true, "\"split\"", "\"vpp\": 1, \"split\"", "vpp: unknown key"},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(wrong); i++) {
        ridge_ctx *own = ridge_ctx_open();
        const fleet_case_of *f = search(own, wrong[i].is_replicas);
        ridge_fleet_plan plan;
        assert_int_equal(
            read_text(own, spoiled(own, written(own, f), wrong[i].part, wrong[i].with),
                      &plan),
            RIDGE_E_PARSE);
        fixture_assert_message(own, wrong[i].message);
        ridge_ctx_close(own);
    }
    (void)cx;
}

/* Readers of plans of one kind of chip say what does take it. */
static void other_readers_refuse_it(void **state)
{
    ridge_ctx *cx = *state;
    const fleet_case_of *f = search(cx, true);
    ridge_node root;
    ridge_plan plan;
    assert_ok(cx,
              ridge_json_parse(cx, ridge_str_of(written(cx, f)), "plan.json", &root));
    assert_int_equal(ridge_plan_from_json(cx, root, &plan), RIDGE_E_PARSE);
    fixture_assert_message(cx, "explain and simulate read it");
}

static void every_quantity_is_told(void **state)
{
    ridge_ctx *cx = *state;
    for (int way = 0; way < 2; way++) {
        const fleet_case_of *f = search(cx, way == 1);
        static const char *const names[] = {"step_time", "bound_step_time", "mfu",
                                            "memory"};
        ridge_explanation e;
        ridge_fleet_plan plan;
        assert_ok(cx, read_text(cx, written(cx, f), &plan));
        for (size_t i = 0; i < RIDGE_COUNT_OF(names); i++) {
            assert_ok(cx, ridge_fleet_explain(cx, &f->request, &plan, names[i], &e));
            assert_true(e.n_reasons > 0);
        }
        for (int i = 0; i < RIDGE_STEP_COUNT; i++) {
            assert_ok(cx, ridge_fleet_explain(cx, &f->request, &plan,
                                              ridge_step_text(i), &e));
            assert_true(e.n_reasons > 0);
        }
        assert_int_equal(ridge_fleet_explain(cx, &f->request, &plan, "memori", &e),
                         RIDGE_E_NOTFOUND);
        fixture_assert_message(cx, "did you mean memory?");
    }
}

/* Parts that the fleet does not have. */
static void another_fleet_is_refused(void **state)
{
    ridge_ctx *cx = *state;
    const fleet_case_of *f = search(cx, false);
    ridge_explanation e;
    ridge_fleet_plan plan;
    assert_ok(cx, read_text(cx, written(cx, f), &plan));
    plan.pipeline.parts[0].pool = plan.pipeline.parts[1].pool;
    assert_int_equal(ridge_fleet_explain(cx, &f->request, &plan, "mfu", &e),
                     RIDGE_E_ARG);
    fixture_assert_message(cx, "no layout of this fleet");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_ctx, close_ctx)
    const struct CMUnitTest tests[] = {
        CASE(a_pipeline_is_read_as_written), CASE(replicas_are_read_as_written),
        CASE(what_is_wrong_is_named),        CASE(other_readers_refuse_it),
        CASE(every_quantity_is_told),        CASE(another_fleet_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
