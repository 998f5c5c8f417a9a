/* torchtitan: a plan comes back as it was; degrees and batches of existing jobs; TOML.
 */
#include "launch_fixture.h"

/* clang-format off */
static const launch_case round_cases[] = {
    {"llama-3.1-405b", "h100:64x8", {.dp = 1, .fsdp = 64, .tp = 8, .cp = 1, .pp = 1, .ep = 1, .zero_stage = 3, .has_sp = true, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL, .precision = RIDGE_PRECISION_FP8, .has_tp_overlap = true}, 128, 8192},
    {"llama-3.1-405b", "h100:64x8", {.dp = 1, .fsdp = 64, .tp = 8, .cp = 1, .pp = 1, .ep = 1, .zero_stage = 3, .has_sp = true, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL, .precision = RIDGE_PRECISION_FP8_WEIGHTS, .has_tp_overlap = true}, 128, 8192},
    {"llama-3.1-405b", "h100:64x8", {.dp = 1, .fsdp = 64, .tp = 8, .cp = 1, .pp = 1, .ep = 1, .zero_stage = 3, .has_sp = true, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL, .precision = RIDGE_PRECISION_FP8_ROWS, .has_tp_overlap = true}, 128, 8192},
    {"llama-3-8b", "h100:2x8", {.dp = 2, .fsdp = 8, .tp = 1, .cp = 1, .pp = 1, .ep = 1, .zero_stage = 2, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_MATMULS}, 64, 8192},
    {"llama-3-70b", "h100:8x8", {.dp = 1, .fsdp = 4, .tp = 4, .cp = 1, .pp = 4, .ep = 1, .zero_stage = 3, .has_sp = true, .vpp = 5, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL}, 64, 8192},
    {"llama-3-8b", "h100:1x8", {.dp = 4, .fsdp = 1, .tp = 1, .cp = 1, .pp = 2, .ep = 1, .zero_stage = 0, .vpp = 1, .microbatch_seqs = 2, .remat = RIDGE_REMAT_NONE}, 64, 2048},
    {"llama-3-8b", "h100:2x8", {.dp = 1, .fsdp = 4, .tp = 1, .cp = 1, .pp = 4, .ep = 1, .zero_stage = 3, .vpp = 1, .schedule = RIDGE_SCHEDULE_ZB_V, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL}, 64, 4096},
    {"llama-3-70b", "h100:8x8", {.dp = 1, .fsdp = 4, .tp = 2, .cp = 2, .pp = 4, .ep = 1, .zero_stage = 3, .has_sp = true, .vpp = 1, .first_layers = 19, .last_layers = 19, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL, .cp_exchange = RIDGE_CP_GATHER, .offload = RIDGE_OFFLOAD_OPTIMIZER | RIDGE_OFFLOAD_WEIGHTS}, 64, 8192},
    {"qwen3-30b-a3b", "h100:4x8", {.dp = 1, .fsdp = 16, .tp = 2, .cp = 1, .pp = 1, .ep = 8, .zero_stage = 3, .has_sp = true, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL}, 64, 4096},
};
/* clang-format on */

static void written_and_read_back_the_price_is_the_same(void **state)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(round_cases); i++) {
        ridge_launch back;
        launch_fixture_round_trip(*state, RIDGE_LAUNCHER_TORCHTITAN, &round_cases[i],
                                  &back);
    }
}

static void a_job_is_read(void **state)
{
    ridge_ctx *cx = *state;
    ridge_launch l;
    assert_ok(cx,
              launch_fixture_parse(
                  cx, "h100:4x8", "job.toml",
                  "# a job\n[job]\ndescription = \"a # b\"\n\n[model]\n"
                  "name = \"llama3\"  # and its size\nflavor = '8B'\n"
                  "converters = [\n  \"float8\", # one a line\n]\n"
                  "[training]\nlocal_batch_size = 4\nseq_len = 8_192\nsteps = 1000\n"
                  "[parallelism]\ndata_parallel_shard_degree = -1\n"
                  "data_parallel_replicate_degree = 2\npipeline_parallel_degree = 2\n"
                  "pipeline_parallel_schedule = \"Interleaved1F1B\"\n"
                  "[activation_checkpoint]\nmode = \"none\"\n"
                  "[quantize.linear.float8]\nenable_fsdp_float8_all_gather = true\n",
                  &l));
    assert_string_equal(l.format, "torchtitan toml");
    assert_string_equal(l.model_name, "llama-3-8b");
    assert_int_equal(l.knobs.dp, 2);
    assert_int_equal(l.knobs.fsdp, 8);
    assert_int_equal(l.knobs.zero_stage, 2); /* of a pipeline, by default */
    assert_int_equal(l.knobs.vpp, 2);
    assert_int_equal(l.knobs.microbatch_seqs, 1);
    assert_int_equal(l.knobs.remat, RIDGE_REMAT_NONE);
    assert_int_equal(l.knobs.precision, RIDGE_PRECISION_FP8_WEIGHTS);
    assert_near(l.batch_seqs, 64, 0);
    assert_near(l.total_tokens, 64.0 * 8192 * 1000, 0);
    assert_true(launch_fixture_has(&l.differing, "1 layers fewer in the first stage"));
    assert_int_equal(l.knobs.schedule, RIDGE_SCHEDULE_INTERLEAVED);
    assert_true(launch_fixture_has(&l.assumed, "tensor_parallel_degree 1"));
}

#define MODEL "[model]\nname = \"llama3\"\nflavor = \"8B\"\n"

static void what_is_wrong_names_its_line(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[model]\nname = \"llama3\"\nflavor = \"9B\"\n", "job.toml:3: model.flavor"},
        {"[training]\nseq_len = 10\n", "model.name: it is missing"},
        {MODEL "[parallelism]\ntensor_parallel_degree = 3\n", "multiply to 3"},
        {MODEL "[parallelism]\ndata_parallel_shard_degree = 4\n", "multiply to 4"},
        {MODEL "[training]\nlocal_batch_size = 3\nglobal_batch_size = 16\n",
         "do not make up 16"},
        {MODEL "[activation_checkpoint]\nmode = \"some\"\n",
         "expected none, selective"},
        {MODEL "[training]\nseq_len = 4096 8192\n", "job.toml:5: more on the line"},
        {MODEL "[training\n", "job.toml:4: a table without"},
        {"[a]\nb = \"c\n", "job.toml:2: a string without"},
        {"[a]\nb = [1,\n", "an array without"},
        {"[a]\nb = {c = 1}\n", "inline tables are not read"},
        {"[a]\n[[b]]\n", "arrays of tables are not read"},
        {"[a]\nb = \"\"\"c\"\"\"\n", "strings of several lines"},
        {"[a]\nb\n", "expected name = value"},
        {"[a]\nb = \n", "expected a value"},
        {"[a]\nb = 1\n", "no option of a training launcher"},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_launch l;
        assert_int_not_equal(
            launch_fixture_parse(*state, "h100:1x8", "job.toml", cases[i].text, &l),
            RIDGE_OK);
        fixture_assert_message(*state, cases[i].message);
    }
}

static void what_torchtitan_lacks_is_refused(void **state)
{
    ridge_ctx *cx = *state;
    ridge_launch_text text;
    ridge_layout l = train_layout(1, 8, 1, 1, 1);
    l.zero_stage = 1;
    assert_int_equal(launch_fixture_write(cx, RIDGE_LAUNCHER_TORCHTITAN, "llama-3-8b",
                                          "h100:1x8", &l, &text),
                     RIDGE_E_ARG);
    fixture_assert_message(cx, "plan with zero=3");
    l.zero_stage = 3;
    l.mtp = 1;
    assert_int_equal(launch_fixture_write(cx, RIDGE_LAUNCHER_TORCHTITAN, "llama-3-8b",
                                          "h100:1x8", &l, &text),
                     RIDGE_E_ARG);
    fixture_assert_message(cx, "trains no prediction layers: plan with mtp=0");
    l.mtp = 0;
    assert_int_equal(launch_fixture_write(cx, RIDGE_LAUNCHER_TORCHTITAN, "mixtral-8x7b",
                                          "h100:1x8", &l, &text),
                     RIDGE_E_ARG);
    fixture_assert_message(cx, "no flavor of mixtral-8x7b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(written_and_read_back_the_price_is_the_same,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(a_job_is_read, fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(what_is_wrong_names_its_line, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(what_torchtitan_lacks_is_refused, fixture_open,
                                        fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
