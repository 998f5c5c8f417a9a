/* Training rows against predictions: order of layouts, disturbed runs, rows that
 * contradict themselves, and the groups of a report. */
#include "train_fixture.h"

#include "ridge/plan_validation.h"

#include <stdio.h>
#include <string.h>

/* One row: a small dense model on eight H100 under FSDP. */
typedef struct case_row {
    const char *id, *source, *model;
    int microbatch;
    double step_s;
    double tokens_per_s; /* 0: not stated */
} case_row;

static void write_row(ridge_buf *b, const case_row *c)
{
    ridge_buf_printf(
        b,
        "{\"id\": \"%s\", \"source\": {\"title\": \"%s\"}, \"model\": {\"name\": "
        "\"%s\", "
        "\"n_layers\": 16, \"d_model\": 2048, \"n_heads\": 16, \"n_kv_heads\": 16, "
        "\"head_dim\": 128, \"d_ff\": 8192, \"vocab\": 50368, \"gated_mlp\": false, "
        "\"tied_embeddings\": true}, \"hardware\": {\"chip\": \"H100-80GB\", "
        "\"n_chips\": 8, \"chips_per_node\": 8}, \"plan\": {\"fsdp_or_zero_stage\": "
        "\"fsdp FULL_SHARD (zero-3)\", \"tp\": 1, \"pp\": 1, \"microbatch_seqs\": %d, "
        "\"global_batch_seqs\": 512, \"seq_len\": 2048, \"remat\": \"none\", "
        "\"precision\": \"bf16\"}, \"measured\": {\"step_time_s\": %g, "
        "\"tokens_per_s_per_chip\": ",
        c->id, c->source, c->model, c->microbatch, c->step_s);
    if (c->tokens_per_s > 0) {
        ridge_buf_printf(b, "%g}}\n", c->tokens_per_s);
    } else {
        ridge_buf_printf(b, "null}}\n");
    }
}

static const ridge_validation *validate_text(ridge_ctx *cx, const ridge_buf *text)
{
    const char *path = RIDGE_BUILD_DIR "/validation_summary_test.jsonl";
    const ridge_catalog *catalog = NULL;
    const ridge_library *library = NULL;
    ridge_validation *v = ridge_new(ridge_ctx_arena(cx), ridge_validation, 1);
    assert_ok(cx, ridge_file_write(cx, path, (ridge_str){text->p, text->n}));
    assert_ok(cx, ridge_catalog_open(cx, NULL, &catalog));
    assert_ok(cx, ridge_library_open(cx, NULL, &library));
    assert_ok(cx, ridge_validate_training(cx, catalog, library, path, v));
    remove(path);
    return v;
}

static const ridge_validation *validate(ridge_ctx *cx, const case_row *rows, size_t n)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    for (size_t i = 0; i < n; i++)
        write_row(&text, &rows[i]);
    return validate_text(cx, &text);
}

/* Smaller microbatches are predicted slower. */
static const case_row ordered[] = {
    {"a", "A paper", "M", 16, 5.0, 0}, {"b", "A paper", "M", 8, 5.2, 0},
    {"c", "A paper", "M", 4, 5.5, 0},  {"d", "A paper", "M", 2, 6.0, 0},
    {"e", "A paper", "M", 1, 7.0, 0},  {"f", "A paper", "N", 1, 7.0, 0},
};

static void layouts_in_the_measured_order_have_a_tau_of_one(void **state)
{
    const ridge_validation *v = validate(*state, ordered, RIDGE_COUNT_OF(ordered));
    assert_int_equal(v->n_predicted, 6);
    assert_int_equal(v->n_rankings, 1); /* of N there is one layout */
    assert_string_equal(v->rankings[0].model, "M");
    assert_int_equal(v->rankings[0].rows, 5);
    assert_int_equal(v->rankings[0].pairs, 10);
    assert_near(v->rankings[0].tau, 1, 0);
    assert_int_equal(v->n_by_stack, 1);
    assert_string_equal(v->by_stack[0].name, "fsdp-eager"); /* as is usual for them */
}

/* 5 and 5.2 s of one plan: they stand in no order, and neither do plans that differ by
 * 4 % or less, as 5 and 5.15 s. */
static void order_within_repeats_is_told_apart(void **state)
{
    const case_row rows[] = {
        {"a", "A paper", "M", 16, 5.0, 0}, {"b", "A paper", "M", 16, 5.2, 0},
        {"c", "A paper", "M", 8, 5.15, 0}, {"d", "A paper", "M", 4, 5.9, 0},
        {"e", "A paper", "M", 2, 6.4, 0},
    };
    const ridge_validation *v = validate(*state, rows, RIDGE_COUNT_OF(rows));
    assert_near(v->rankings[0].repeats_differ, 0.04, 1e-9);
    assert_int_equal(v->rankings[0].pairs, 8); /* not 5 to 5.2 and 5.15 to 5.2 */
    assert_int_equal(v->rankings[0].pairs_beyond, 7);
    assert_near(v->rankings[0].tau_beyond, 1, 0);
    assert_near(v->rankings[0].tau, 1, 0);
}

static void a_reversed_order_has_a_tau_of_minus_one(void **state)
{
    case_row rows[5];
    memcpy(rows, ordered, sizeof rows);
    for (int i = 0; i < 5; i++)
        rows[i].step_s = ordered[4 - i].step_s;
    const ridge_validation *v = validate(*state, rows, RIDGE_COUNT_OF(rows));
    assert_near(v->rankings[0].tau, -1, 0);
}

static void a_slow_repeat_is_told_apart(void **state)
{
    case_row rows[] = {ordered[0], ordered[0], ordered[0]};
    rows[1].id = "slow";
    rows[1].step_s = 6.5; /* beyond 1.25 times */
    rows[2].id = "noisy";
    rows[2].step_s = 6.0;
    const ridge_validation *v = validate(*state, rows, RIDGE_COUNT_OF(rows));
    assert_int_equal(v->n_disturbed, 1);
    assert_true(v->rows[1].is_disturbed && !v->rows[2].is_disturbed);
    assert_int_equal(v->all.rows, 2);
}

static void another_source_is_no_repeat(void **state)
{
    case_row rows[] = {ordered[0], ordered[0]};
    rows[1].source = "Another paper";
    rows[1].step_s = 10;
    assert_int_equal(validate(*state, rows, RIDGE_COUNT_OF(rows))->n_disturbed, 0);
}

static void a_row_that_contradicts_itself_is_not_predicted(void **state)
{
    const double tokens_per_s = 512 * 2048 / (8 * 5.0);
    case_row rows[] = {ordered[0], ordered[0]};
    rows[0].tokens_per_s = tokens_per_s;
    rows[1].tokens_per_s = 2 * tokens_per_s;
    const ridge_validation *v = validate(*state, rows, RIDGE_COUNT_OF(rows));
    assert_true(v->rows[0].is_predicted && !v->rows[1].is_predicted);
    assert_non_null(strstr(v->rows[1].why_skipped, "contradicts itself"));
}

/* 9 ways of 8 chips leave no rank for data. */
static void degrees_beyond_the_chips_are_no_plan(void **state)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(*state));
    write_row(&text, &ordered[0]);
    char *tp = strstr(text.p, "\"tp\": 1");
    assert_non_null(tp);
    tp[strlen("\"tp\": ")] = '9';
    const ridge_validation *v = validate_text(*state, &text);
    assert_false(v->rows[0].is_predicted);
    assert_true(strlen(v->rows[0].why_skipped) > 0);
}

static void a_title_tells_the_software(void **state)
{
    case_row rows[] = {ordered[0], ordered[0]};
    rows[0].source = "MPT training benchmarks (LLM Foundry)";
    rows[1].source = "torchtitan on eight chips";
    const ridge_validation *v = validate(*state, rows, RIDGE_COUNT_OF(rows));
    assert_string_equal(v->rows[0].stack, "fsdp-eager");
    assert_string_equal(v->rows[1].stack, "compiled");
    assert_true(v->rows[0].predicted_step_s > 1.1 * v->rows[1].predicted_step_s);
    assert_null(strstr(v->rows[0].assumed, "software"));
}

/* A source that nobody knows: FSDP alone is PyTorch's. */
static void untold_software_is_what_is_usual_and_assumed(void **state)
{
    const ridge_validation *v = validate(*state, ordered, 1);
    assert_string_equal(v->rows[0].stack, "fsdp-eager");
    assert_non_null(strstr(v->rows[0].assumed, "software"));
    assert_false(v->rows[0].is_complete);
}

/* Lines of one rate; NCCL drives the one better than the other. */
static void a_kind_of_network_names_its_system(void **state)
{
    static const char *const networks[] = {"HDR InfiniBand", "Omni-Path"};
    ridge_ctx *cx = *state;
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    for (int i = 0; i < 2; i++) {
        ridge_buf_printf(
            &text,
            "{\"id\": \"%d\", \"source\": {\"title\": \"FSDP\"}, \"model\": "
            "{\"name\": \"M\", \"n_layers\": 16, \"d_model\": 2048, \"n_heads\": 16, "
            "\"n_kv_heads\": 16, \"head_dim\": 128, \"d_ff\": 8192, \"vocab\": 50368, "
            "\"gated_mlp\": false, \"tied_embeddings\": true}, \"hardware\": "
            "{\"chip\": "
            "\"A100-80GB\", \"n_chips\": 16, \"chips_per_node\": 8, \"inter_node\": "
            "\"%s (4x 100 Gbit/s per node)\"}, \"plan\": {\"fsdp_or_zero_stage\": "
            "\"zero-3\", \"tp\": 1, \"pp\": 1, \"microbatch_seqs\": 1, "
            "\"global_batch_seqs\": 16, \"seq_len\": 2048, \"remat\": \"none\", "
            "\"precision\": \"bf16\"}, \"measured\": {\"step_time_s\": 1}}\n",
            i, networks[i]);
    }
    const ridge_validation *v = validate_text(cx, &text);
    assert_int_equal(v->n_predicted, 2);
    assert_true(v->rows[1].is_complete);
    assert_true(v->rows[1].predicted_step_s > 1.3 * v->rows[0].predicted_step_s);
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
        cmocka_unit_test(layouts_in_the_measured_order_have_a_tau_of_one),
        cmocka_unit_test(order_within_repeats_is_told_apart),
        cmocka_unit_test(a_reversed_order_has_a_tau_of_minus_one),
        cmocka_unit_test(a_slow_repeat_is_told_apart),
        cmocka_unit_test(another_source_is_no_repeat),
        cmocka_unit_test(a_row_that_contradicts_itself_is_not_predicted),
        cmocka_unit_test(degrees_beyond_the_chips_are_no_plan),
        cmocka_unit_test(a_title_tells_the_software),
        cmocka_unit_test(untold_software_is_what_is_usual_and_assumed),
        cmocka_unit_test(a_kind_of_network_names_its_system),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
