/* Plan files: what is written is read back, what is wrong is refused with its place. */
#include "train_fixture.h"

#include <string.h>

/* A plan with every key, to be spoiled one key at a time. */
static const char good[] =
    "{\n"
    " \"format\": \"ridge-plan\",\n"
    " \"version\": 1,\n"
    " \"model\": \"llama-3-8b\",\n"
    " \"slice\": \"h100:1x8\",\n"
    " \"batch_tokens\": 65536,\n"
    " \"seq_tokens\": 4096,\n"
    " \"total_tokens\": 1e12,\n"
    " \"convention\": \"causal\",\n"
    " \"usd_per_chip_hour\": 2.5,\n"
    " \"mesh\": {\"dp\": 1, \"fsdp\": 4, \"tp\": 2, \"cp\": 1, \"pp\": 1, \"ep\": 1},\n"
    " \"zero_stage\": 3,\n"
    " \"placement_index\": 0,\n"
    " \"vpp\": 1,\n"
    " \"microbatch_seqs\": 2,\n"
    " \"sp\": true,\n"
    " \"tp_overlap\": false,\n"
    " \"remat\": \"full\",\n"
    " \"precision\": \"bf16\"\n"
    "}\n";

static const char *write_file(ridge_ctx *cx, const char *text, size_t n)
{
    const char *path = RIDGE_BUILD_DIR "/plan_file_test.json";
    assert_ok(cx, ridge_file_write(cx, path, (ridge_str){text, n}));
    return path;
}

/* The good text with one part replaced, as a file. */
static const char *spoiled(ridge_ctx *cx, const char *part, const char *with)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    const char *at = strstr(good, part);
    assert_non_null(at);
    ridge_buf_add(&b, (ridge_str){good, (size_t)(at - good)});
    ridge_buf_puts(&b, with);
    ridge_buf_puts(&b, at + strlen(part));
    return write_file(cx, b.p, b.n);
}

static void every_key_is_read(void **state)
{
    ridge_ctx *cx = *state;
    ridge_plan plan;
    assert_ok(cx, ridge_plan_read(cx, write_file(cx, good, sizeof good - 1), &plan));
    assert_string_equal(plan.model_name, "llama-3-8b");
    assert_string_equal(plan.slice_text, "h100:1x8");
    assert_near(plan.batch_tokens, 65536, 0);
    assert_near(plan.seq_tokens, 4096, 0);
    assert_near(plan.total_tokens, 1e12, 0);
    assert_near(plan.usd_per_chip_hour, 2.5, 0);
    assert_int_equal(plan.convention, RIDGE_CONVENTION_MATMUL_CAUSAL);
    assert_int_equal(plan.layout.fsdp, 4);
    assert_int_equal(plan.layout.tp, 2);
    assert_int_equal(plan.layout.zero_stage, 3);
    assert_int_equal(plan.layout.microbatch_seqs, 2);
    assert_true(plan.layout.has_sp && !plan.layout.has_tp_overlap);
    assert_int_equal(plan.layout.remat, RIDGE_REMAT_FULL);
}

static bool is_same_layout(const ridge_layout *a, const ridge_layout *b)
{
    return a->dp == b->dp && a->fsdp == b->fsdp && a->tp == b->tp && a->cp == b->cp &&
           a->pp == b->pp && a->ep == b->ep && a->zero_stage == b->zero_stage &&
           a->has_sp == b->has_sp && a->vpp == b->vpp &&
           a->microbatch_seqs == b->microbatch_seqs && a->remat == b->remat &&
           a->precision == b->precision && a->has_tp_overlap == b->has_tp_overlap &&
           a->placement == b->placement;
}

static void check_round_trip(ridge_ctx *cx, const ridge_train_request *request,
                             const ridge_train_price *price)
{
    ridge_buf text;
    ridge_plan plan;
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    assert_ok(cx, ridge_json_write(
                      cx, ridge_plan_to_json(cx, request, "my model", price), &text));
    assert_ok(cx, ridge_plan_read(cx, write_file(cx, text.p, text.n), &plan));
    assert_string_equal(plan.model_name, "my model");
    assert_string_equal(plan.slice_text, request->slice->text);
    assert_near(plan.batch_tokens, request->batch_tokens, 0);
    assert_near(plan.seq_tokens, request->seq_tokens, 0);
    assert_near(plan.total_tokens, request->total_tokens, 0);
    assert_near(plan.usd_per_chip_hour, request->usd_per_chip_hour, 0);
    assert_int_equal(plan.convention, request->convention);
    assert_true(is_same_layout(&plan.layout, &price->layout));
}

static void what_a_search_finds_is_read_back(void **state)
{
    ridge_ctx *cx = *state;
    static const char *const slices[] = {"h100:2x8", "v5p:2x2x4", "2*v5e:4x4"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(slices); i++) {
        ridge_train_request r =
            train_request(train_moe_model(cx), train_slice(cx, slices[i]), 32, 4096);
        r.total_tokens = 1e9;
        r.usd_per_chip_hour = 1.25;
        r.convention = RIDGE_CONVENTION_PALM;
        ridge_train_result result;
        assert_ok(cx, ridge_train_search(cx, &r, &result));
        assert_true(result.n_layouts > 1);
        for (int k = 0; k < result.n_layouts; k++)
            check_round_trip(cx, &r, &result.layouts[k]);
    }
}

static void a_plan_priced_again_costs_the_same(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_train_request r =
        train_request(train_moe_model(cx), train_slice(cx, "h100:2x8"), 32, 4096);
    ridge_train_result result;
    assert_ok(cx, ridge_train_search(cx, &r, &result));
    for (int k = 0; k < result.n_layouts; k++) {
        const ridge_train_price p = train_price_of(cx, &r, &result.layouts[k].layout);
        assert_int_equal(p.fit, RIDGE_FIT_OK);
        assert_near(p.step_time_s, result.layouts[k].step_time_s, 1e-12);
        assert_near(p.peak_memory_bytes, result.layouts[k].peak_memory_bytes, 1e-12);
        assert_near(p.bound_step_time_s, result.layouts[k].bound_step_time_s, 1e-12);
    }
}

static const struct {
    const char *part, *with, *message;
} wrong_values[] = {
    {"\"ridge-plan\"", "\"plan\"", ":1: no plan: expected \"format\""},
    {"\"version\": 1", "\"version\": 2", ":3: version: version 2 is newer"},
    {"\"version\": 1", "\"version\": \"1\"", ":3: version"},
    {"\"llama-3-8b\"", "8", ":4: model"},
    {"\"h100:1x8\"", "null", ": slice"},
    {"65536", "0", ":6: batch_tokens"},
    {"65536", "\"65536\"", ":6: batch_tokens"},
    {": 4096", ": 1e300", ":7: seq_tokens"},
    {"1e12", "-1", ":8: total_tokens"},
    {"\"causal\"", "\"casual\"", ":9: convention: "},
    {"2.5", "-2.5", ":10: usd_per_chip_hour"},
    {"\"dp\": 1", "\"dp\": 0", ":11: mesh.dp"},
    {"\"tp\": 2", "\"tp\": 2.5", ":11: mesh.tp"},
    {"\"fsdp\": 4", "\"fsdp\": 100000000", ":11: mesh: the degrees multiply"},
    {"\"ep\": 1", "\"eq\": 1", ":11: mesh.eq: unknown key: did you mean ep"},
    {"\"vpp\": 1", "\"vpp\": 1, \"optimiser\": \"sgd\"",
     ":14: optimiser: unknown key: did you mean optimizer?"},
    {"\"remat\"", "\"rematt\"", ":18: rematt: unknown key: did you mean remat"},
    {"\"format\"", "\"kind\": \"trane\", \"format\"", ":2: kind: expected \"train\""},
    {"{\"dp\": 1, \"fsdp\": 4, \"tp\": 2, \"cp\": 1, \"pp\": 1, \"ep\": 1}", "[1]",
     ":11: mesh: expected an object"},
    {"\"zero_stage\": 3", "\"zero_stage\": 4", ":12: zero_stage"},
    {"\"placement_index\": 0", "\"placement_index\": 732", ":13: placement_index"},
    {"\"vpp\": 1", "\"vpp\": 0", ":14: vpp"},
    {"\"microbatch_seqs\": 2", "\"microbatch_seqs\": 0", ":15: microbatch_seqs"},
    {"\"sp\": true", "\"sp\": 1", ":16: sp: expected true or false"},
    {"\"tp_overlap\": false", "\"tp_overlap\": \"no\"", ":17: tp_overlap"},
    {"\"full\"", "\"fully\"", ":18: remat: "},
    {"\"bf16\"", "\"bf61\"", ":19: precision: unknown precision 'bf61'"},
};

static void each_wrong_value_is_refused_with_its_line(void **state)
{
    ridge_ctx *cx = *state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(wrong_values); i++) {
        ridge_plan plan = {.batch_tokens = -1};
        const char *path = spoiled(cx, wrong_values[i].part, wrong_values[i].with);
        assert_int_equal(ridge_plan_read(cx, path, &plan), RIDGE_E_PARSE);
        fixture_assert_message(cx, wrong_values[i].message);
        fixture_assert_message(cx, "plan_file_test.json:");
        assert_near(plan.batch_tokens, -1, 0); /* nothing written */
    }
}

static void text_that_is_no_json_and_no_file(void **state)
{
    ridge_ctx *cx = *state;
    ridge_plan plan;
    assert_int_equal(ridge_plan_read(cx, write_file(cx, "{", 1), &plan), RIDGE_E_PARSE);
    assert_int_equal(ridge_plan_read(cx, write_file(cx, "[]", 2), &plan),
                     RIDGE_E_PARSE);
    fixture_assert_message(cx, "no plan");
    assert_int_equal(ridge_plan_read(cx, RIDGE_BUILD_DIR "/no-such-plan.json", &plan),
                     RIDGE_E_IO);
}

static void an_imbalance_stays_with_the_plan(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_train_request r =
        train_request(train_moe_model(cx), train_slice(cx, "h100:1x8"), 16, 2048);
    r.expert_imbalance = 1.5;
    ridge_layout l = train_layout(1, 8, 1, 1, 1);
    l.ep = 8;
    const ridge_train_price p = train_price_of(cx, &r, &l);
    ridge_buf text;
    ridge_node root;
    ridge_plan plan;
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    assert_ok(cx, ridge_json_write(cx, ridge_plan_to_json(cx, &r, "m", &p), &text));
    assert_ok(cx, ridge_json_parse(cx, (ridge_str){text.p, text.n}, "p.json", &root));
    assert_ok(cx, ridge_plan_from_json(cx, root, &plan));
    assert_true(plan.expert_imbalance == 1.5);
    r.expert_imbalance = 0;
    assert_true(train_price_of(cx, &r, &l).step_time_s < p.step_time_s);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_imbalance_stays_with_the_plan),
        cmocka_unit_test(every_key_is_read),
        cmocka_unit_test(what_a_search_finds_is_read_back),
        cmocka_unit_test(a_plan_priced_again_costs_the_same),
        cmocka_unit_test(each_wrong_value_is_refused_with_its_line),
        cmocka_unit_test(text_that_is_no_json_and_no_file),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
