/* Megatron-LM's arguments: a plan that is written reads back as the same layout at the
 * same price; lists, scripts and yaml are read; what is wrong is refused in one line.
 */
#include "launch_fixture.h"

#include <string.h>

static ridge_status parse(ridge_ctx *cx, const char *slice, const char *text,
                          ridge_launch *out)
{
    return launch_fixture_parse(cx, slice, "run.args", text, out);
}

/* clang-format off */
static const launch_case round_cases[] = {
    {"llama-3-70b", "h100:8x8", {.dp = 1, .fsdp = 4, .tp = 4, .cp = 1, .pp = 4, .ep = 1, .zero_stage = 1, .has_sp = true, .vpp = 5, .microbatch_seqs = 1, .remat = RIDGE_REMAT_SELECTIVE}, 64, 8192},
    {"llama-3.1-8b", "h100:4x8", {.dp = 2, .fsdp = 4, .tp = 2, .cp = 2, .pp = 1, .ep = 1, .zero_stage = 3, .has_sp = true, .vpp = 1, .microbatch_seqs = 2, .remat = RIDGE_REMAT_FULL, .has_tp_overlap = true}, 64, 8192},
    {"qwen3-32b", "h100:4x8", {.dp = 8, .fsdp = 1, .tp = 4, .cp = 1, .pp = 1, .ep = 1, .zero_stage = 0, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_NONE, .precision = RIDGE_PRECISION_BF16_REDUCE}, 32, 4096},
    {"mixtral-8x7b", "h100:8x8", {.dp = 1, .fsdp = 32, .tp = 2, .cp = 1, .pp = 1, .ep = 8, .zero_stage = 2, .has_sp = true, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL, .precision = RIDGE_PRECISION_FP8}, 64, 4096},
    {"mixtral-8x7b", "h100:8x8", {.dp = 1, .fsdp = 32, .tp = 2, .cp = 1, .pp = 1, .ep = 8, .zero_stage = 2, .has_sp = true, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL, .precision = RIDGE_PRECISION_FP8_CURRENT}, 64, 4096},
    {"mixtral-8x7b", "h100:8x8", {.dp = 1, .fsdp = 32, .tp = 2, .cp = 1, .pp = 1, .ep = 8, .zero_stage = 2, .has_sp = true, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL, .precision = RIDGE_PRECISION_FP8_BLOCKS}, 64, 4096},
    {"deepseek-v3", "h100:64x8", {.dp = 1, .fsdp = 64, .tp = 1, .cp = 1, .pp = 8, .ep = 64, .zero_stage = 1, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL}, 1024, 4096},
    {"qwen3-235b-a22b", "h100:32x8", {.dp = 1, .fsdp = 16, .tp = 4, .cp = 1, .pp = 4, .ep = 16, .zero_stage = 1, .has_sp = true, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL}, 64, 4096},
    {"glm-4.5", "h100:32x8", {.dp = 1, .fsdp = 32, .tp = 1, .cp = 1, .pp = 8, .ep = 8, .zero_stage = 1, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL}, 256, 4096},
    {"llama-3-70b", "h100:8x8", {.dp = 1, .fsdp = 2, .tp = 4, .cp = 2, .pp = 4, .ep = 1, .zero_stage = 1, .has_sp = true, .vpp = 1, .first_layers = 19, .last_layers = 19, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL, .remat_layers = 6, .cp_exchange = RIDGE_CP_GATHER, .optimizer = RIDGE_OPTIMIZER_ADAMW_BF16}, 64, 8192},
    {"llama-3-8b", "h100:2x8", {.dp = 1, .fsdp = 16, .tp = 1, .cp = 1, .pp = 1, .ep = 1, .zero_stage = 1, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL, .offload = RIDGE_OFFLOAD_OPTIMIZER, .is_dp_exposed = true}, 64, 8192},
    {"llama-3-8b", "h100:2x8", {.dp = 1, .fsdp = 4, .tp = 1, .cp = 2, .pp = 2, .ep = 1, .zero_stage = 1, .vpp = 4, .has_pp_overlap = true, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL, .remat_layers = 8, .cp_exchange = RIDGE_CP_ALL_TO_ALL, .optimizer = RIDGE_OPTIMIZER_MUON}, 64, 8192},
    {"deepseek-v3", "h100:64x8", {.dp = 1, .fsdp = 64, .tp = 1, .cp = 1, .pp = 8, .ep = 64, .zero_stage = 1, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL, .ep_dispatch = RIDGE_DISPATCH_ONCE, .precision = RIDGE_PRECISION_FP8_WEIGHTS}, 1024, 4096},
    {"mixtral-8x7b", "b200:8x8", {.dp = 1, .fsdp = 64, .tp = 1, .cp = 1, .pp = 1, .ep = 8, .zero_stage = 1, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_NONE, .precision = RIDGE_PRECISION_MXFP8}, 64, 4096},
    {"deepseek-v3", "h100:64x8", {.dp = 1, .fsdp = 64, .tp = 1, .cp = 1, .pp = 8, .ep = 64, .zero_stage = 1, .vpp = 1, .first_layers = 8, .last_layers = 5, .mtp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL}, 1024, 4096},
    {"llama-3.1-405b", "h100:64x8", {.dp = 1, .fsdp = 4, .tp = 4, .cp = 2, .pp = 16, .ep = 1, .zero_stage = 1, .has_sp = true, .vpp = 8, .has_pp_overlap = true, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL}, 512, 8192},
    {"gpt3-13b", "a100:2x8", {.dp = 1, .fsdp = 8, .tp = 1, .cp = 1, .pp = 2, .ep = 1, .zero_stage = 1, .vpp = 2, .microbatch_seqs = 1, .remat = RIDGE_REMAT_NONE, .precision = RIDGE_PRECISION_FP16}, 64, 2048},
};
/* clang-format on */

static void written_and_read_back_the_price_is_the_same(void **state)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(round_cases); i++) {
        ridge_launch back;
        launch_fixture_round_trip(*state, RIDGE_LAUNCHER_MEGATRON, &round_cases[i],
                                  &back);
        assert_int_equal(back.differing.n, 0);
    }
}

static ridge_status write_of(ridge_ctx *cx, const char *model, const char *slice,
                             const ridge_layout *layout, ridge_launch_text *out)
{
    return launch_fixture_write(cx, RIDGE_LAUNCHER_MEGATRON, model, slice, layout, out);
}

/* Modules are operations of layers, and back. */
static void modules_are_operations(void **state)
{
    ridge_ctx *cx = *state;
    ridge_layout layout = train_layout(1, 64, 1, 1, 1);
    ridge_launch_text text;
    layout.ep = 8;
    layout.zero_stage = 1;
    layout.remat = (ridge_remat)RIDGE_REMAT_OPERATIONS;
    assert_ok(cx, ridge_remat_ops_parse(cx, "h+h_ffn+rows_act", &layout.remat_ops));
    assert_ok(cx, write_of(cx, "mixtral-8x7b", "h100:8x8", &layout, &text));
    assert_non_null(
        strstr(ridge_buf_text(&text.text), "--recompute-modules layernorm moe_act"));
    ridge_launch back;
    assert_ok(cx, parse(cx, "h100:8x8", ridge_buf_text(&text.text), &back));
    assert_int_equal(back.knobs.remat, (int)RIDGE_REMAT_OPERATIONS);
    assert_true(back.knobs.remat_ops == layout.remat_ops);
    assert_ok(cx, ridge_remat_ops_parse(cx, "rows_up", &layout.remat_ops));
    assert_int_equal(write_of(cx, "mixtral-8x7b", "h100:8x8", &layout, &text),
                     RIDGE_E_ARG);
    fixture_assert_message(cx, "recomputes modules whole");
}

static void what_megatron_lacks_is_refused(void **state)
{
    ridge_ctx *cx = *state;
    ridge_launch_text text;
    ridge_layout l = train_layout(1, 4, 1, 1, 2);
    l.zero_stage = 3;
    assert_int_equal(write_of(cx, "llama-3-8b", "h100:1x8", &l, &text), RIDGE_E_ARG);
    fixture_assert_message(cx, "cannot shard weights in a pipeline");
    l = train_layout(1, 8, 1, 1, 1);
    l.zero_stage = 1;
    l.remat = RIDGE_REMAT_MATMULS;
    assert_int_equal(write_of(cx, "llama-3-8b", "h100:1x8", &l, &text), RIDGE_E_ARG);
    fixture_assert_message(cx, "plan with remat=");
    l.remat = RIDGE_REMAT_FULL;
    assert_int_equal(write_of(cx, "gemma-3-4b", "h100:1x8", &l, &text), RIDGE_E_ARG);
    fixture_assert_message(cx, "no list of sizes describes");
    l.microbatch_seqs = 3;
    assert_int_equal(write_of(cx, "llama-3-8b", "h100:1x8", &l, &text), RIDGE_E_ARG);
    fixture_assert_message(cx, "plan with --batch");
}

#define SIZES                                                                          \
    "--num-layers 4 --hidden-size 1024 --num-attention-heads 16 --swiglu "             \
    "--ffn-hidden-size 4096 --vocab-size 32000 --disable-bias-linear "                 \
    "--normalization RMSNorm --position-embedding-type rope "                          \
    "--untie-embeddings-and-output-weights --seq-length 4096 --bf16 "

/* Every module is priced or refused, in any order. */
static void modules_are_read_or_refused(void **state)
{
    static const struct {
        const char *modules;
        int remat;
        const char *operations, *differs;
    } rows[] = {
        {"core_attn", RIDGE_REMAT_SELECTIVE, "", NULL},
        {"mlp layernorm", RIDGE_REMAT_FFN, "", NULL},
        {"[layernorm, moe]", RIDGE_REMAT_FFN, "", NULL},
        {"mlp core_attn", RIDGE_REMAT_OPERATIONS, "o+gate+up+act", NULL},
        {"core_attn moe layernorm", RIDGE_REMAT_OPERATIONS, "h+o+h_ffn",
         "moe sends tokens to their experts again"},
        {"mla_up_proj moe_act", RIDGE_REMAT_NONE, "", "of which the model has none"},
    };
    ridge_ctx *cx = *state;
    ridge_launch l;
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        ridge_remat_ops want = 0;
        const char *text = ridge_sprintf(
            ridge_ctx_arena(cx),
            SIZES "--micro-batch-size 1 --recompute-granularity selective "
                  "--recompute-modules %s\n",
            rows[i].modules);
        assert_ok(cx, parse(cx, "h100:1x8", text, &l));
        if (rows[i].operations[0] != '\0')
            assert_ok(cx, ridge_remat_ops_parse(cx, rows[i].operations, &want));
        assert_int_equal(l.knobs.remat, rows[i].remat);
        if (rows[i].differs == NULL || rows[i].operations[0] == '\0')
            assert_true(l.knobs.remat_ops == want);
        assert_true(rows[i].differs == NULL ||
                    launch_fixture_has(&l.differing, rows[i].differs));
    }
    assert_int_equal(parse(cx, "h100:1x8",
                           SIZES "--micro-batch-size 1 --recompute-granularity "
                                 "selective --recompute-modules core_atn\n",
                           &l),
                     RIDGE_E_PARSE);
    fixture_assert_message(cx, "'core_atn' is no module: use core_attn");
}

static void shell_scripts_are_read(void **state)
{
    ridge_ctx *cx = *state;
    ridge_launch l;
    assert_ok(cx, parse(cx, "h100:1x8",
                        "#!/bin/bash\n"
                        "TP=2\n"
                        "export MBS=${MBS:-4}   # a microbatch\n"
                        "MODEL_ARGS=(\n    " SIZES "\n)\n"
                        "TRAIN_ARGS=\"\n    --tensor-model-parallel-size ${TP} \\\n"
                        "    --micro-batch-size=2 --global-batch-size ${GBS:-64}\n\"\n"
                        "torchrun --nproc_per_node 8 pretrain_gpt.py ${MODEL_ARGS[@]} "
                        "$TRAIN_ARGS --use-distributed-optimizer\n",
                        &l));
    assert_string_equal(l.format, "Megatron-LM arguments");
    assert_int_equal(l.knobs.tp, 2);
    assert_int_equal(l.knobs.fsdp, 4);
    assert_int_equal(l.knobs.zero_stage, 1);
    assert_int_equal(l.knobs.microbatch_seqs, 2);
    assert_near(l.batch_seqs, 64, 0);
    assert_int_equal(l.model->layer_count, 4);
    assert_int_equal(l.knobs.overlap[RIDGE_OVERLAP_DP], 0);
    assert_true(launch_fixture_has(&l.differing, "without overlap-param-gather"));
    assert_true(launch_fixture_has(&l.assumed, "context-parallel-size 1"));
}

static void yaml_of_tests_and_of_primus_is_read(void **state)
{
    ridge_ctx *cx = *state;
    ridge_launch l;
    assert_ok(cx, parse(cx, "h100:1x8",
                        "ENV_VARS:\n  A: 1\nMODEL_ARGS:\n"
                        "  --num-layers: 4\n  --hidden-size: 1024\n"
                        "  --num-attention-heads: 16\n  --vocab-size: 32000\n"
                        "  --max-position-embeddings: 2048\n  --seq-length: 2048\n"
                        "  --micro-batch-size: 1\n  --pipeline-model-parallel-size: 2\n"
                        "  --sequence-parallel: true\n  --fp16: true\n",
                        &l));
    assert_string_equal(l.format, "Megatron-LM yaml");
    assert_int_equal(l.knobs.pp, 2);
    assert_int_equal(l.knobs.dp, 4);
    assert_int_equal(l.knobs.has_sp, 0); /* of one rank */
    assert_near(l.batch_seqs, 4, 0);
    assert_int_equal(l.model->final_norm_params, 2048);
    assert_ok(cx, parse(cx, "mi300x:1x8",
                        "modules:\n  pre_trainer:\n    framework: megatron\n"
                        "    model: llama3.1_8B.yaml\n    overrides:\n"
                        "      micro_batch_size: ${MBS:2}\n      save: null\n"
                        "      use_torch_fsdp2: true\n      seq_length: 8192\n",
                        &l));
    assert_string_equal(l.format, "Primus yaml");
    assert_string_equal(l.model_name, "llama-3.1-8b");
    assert_int_equal(l.knobs.zero_stage, 3);
    assert_int_equal(l.knobs.precision, RIDGE_PRECISION_BF16);
    assert_near(l.batch_seqs, 128, 0);
}

/* Megatron refuses to gather weights beside the forward pass otherwise. */
static void weights_gathered_beside_compute_are_of_a_cut_optimizer(void **state)
{
    static const struct {
        const char *options;
        int zero_stage;
        bool is_assumed;
    } cases[] = {
        {"--overlap-param-gather\n", 1, true},
        {"--overlap-param-gather --use-distributed-optimizer\n", 1, false},
        {"--overlap-param-gather --use-torch-fsdp2\n", 3, false},
        {"--overlap-grad-reduce\n", 0, false},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_ctx *cx = *state;
        ridge_launch l;
        const char *text =
            ridge_sprintf(ridge_ctx_arena(cx), "%s%s", SIZES "--micro-batch-size 1\n",
                          cases[i].options);
        assert_ok(cx, parse(cx, "h100:1x8", text, &l));
        assert_int_equal(l.knobs.zero_stage, cases[i].zero_stage);
        assert_int_equal(launch_fixture_has(&l.assumed, "use-distributed-optimizer"),
                         cases[i].is_assumed);
    }
}

static void sizes_alone_leave_the_layout_open(void **state)
{
    ridge_ctx *cx = *state;
    ridge_launch l;
    assert_ok(cx, parse(cx, "h100:1x8",
                        "--num-layers 3\n--hidden-size 512\n--num-attention-heads 8\n"
                        "--num-experts 8\n--moe-layer-freq ([0]*1+[1]*2)\n"
                        "--vocab-size 1000\n--num-layers 3\n--moe-ffn-hidden-size 64\n"
                        "--use-rotary-position-embeddings\n--mtp-num-layers 1\n"
                        "--moe-router-top 4\n",
                        &l));
    assert_false(l.has_layout);
    assert_int_equal(l.knobs.tp, 0);
    assert_int_equal(l.model->n_runs, 2);
    assert_int_equal(l.model->vocab, 1024);
    assert_int_equal(l.knobs.mtp, 1);
    assert_true(launch_fixture_has(&l.differing, "did you mean moe-router-topk?"));
}

static void stages_that_are_written_out_are_read(void **state)
{
    ridge_ctx *cx = *state;
    ridge_launch l;
    assert_ok(cx, parse(cx, "h100:1x8",
                        SIZES "--micro-batch-size 1 --pipeline-model-parallel-size 2 "
                              "--pipeline-model-parallel-layout E(t|)*3tL\n",
                        &l));
    assert_int_equal(l.knobs.vpp, 2);
    assert_false(launch_fixture_has(&l.differing, "even stages"));
    assert_ok(cx, parse(cx, "h100:1x8",
                        SIZES "--micro-batch-size 1 --pipeline-model-parallel-size 2 "
                              "--pipeline-model-parallel-layout Et|t*3L\n",
                        &l));
    assert_int_equal(l.knobs.vpp, 1);
    assert_true(l.knobs.is_first_fixed && l.knobs.is_last_fixed);
    assert_int_equal(l.knobs.first_layers, 1);
    assert_int_equal(l.knobs.last_layers, 3);
    assert_ok(cx, parse(cx, "h100:1x8",
                        SIZES "--micro-batch-size 1 --pipeline-model-parallel-size 4 "
                              "--decoder-first-pipeline-num-layers 1 "
                              "--decoder-last-pipeline-num-layers 1\n",
                        &l));
    assert_int_equal(l.knobs.first_layers, 1);
    assert_int_equal(l.knobs.last_layers, 1);
    assert_ok(cx, parse(cx, "h100:1x8",
                        SIZES "--micro-batch-size 1 --pipeline-model-parallel-size 4 "
                              "--pipeline-model-parallel-layout E|t*3|t|L\n",
                        &l));
    assert_true(launch_fixture_has(&l.differing, "priced as even stages"));
}

static void what_differs_is_named(void **state)
{
    ridge_ctx *cx = *state;
    ridge_launch l;
    assert_ok(cx, parse(cx, "h100:1x8",
                        SIZES "--micro-batch-size 1 --optimizer lion "
                              "--recompute-granularity full --recompute-method block "
                              "--recompute-num-layers 2 --optimizer-cpu-offload "
                              "--cp-comm-type p2p --attention-backend local "
                              "--seed 1234\n",
                        &l));
    assert_true(launch_fixture_has(&l.differing, "optimizer lion"));
    assert_int_equal(l.knobs.remat_layers, 2);
    assert_int_equal(l.knobs.offload, RIDGE_OFFLOAD_OPTIMIZER);
    assert_true(launch_fixture_has(&l.differing, "attention-backend local"));
    assert_false(launch_fixture_has(&l.differing, "cp-comm-type"));
    assert_int_equal(l.ignored, 1);
}

static void choices_are_knobs(void **state)
{
    ridge_ctx *cx = *state;
    ridge_launch l;
    assert_ok(cx, parse(cx, "h100:1x8",
                        SIZES "--micro-batch-size 1 --context-parallel-size 2 "
                              "--cp-comm-type a2a --use-precision-aware-optimizer "
                              "--exp-avg-dtype bf16 --exp-avg-sq-dtype bf16 "
                              "--pipeline-model-parallel-size 2 "
                              "--num-virtual-stages-per-pipeline-rank 2 "
                              "--optimizer-cpu-offload "
                              "--optimizer-offload-fraction 0.5\n",
                        &l));
    assert_int_equal(l.knobs.cp_exchange, RIDGE_CP_ALL_TO_ALL);
    assert_int_equal(l.knobs.optimizer, RIDGE_OPTIMIZER_ADAMW_BF16);
    assert_int_equal(l.knobs.schedule, RIDGE_SCHEDULE_INTERLEAVED);
    assert_int_equal(l.knobs.overlap[RIDGE_OVERLAP_PP], 1);
    assert_true(launch_fixture_has(&l.differing, "0.5 of the optimizer on the host"));
}

static const struct {
    const char *text, *message;
} contradictions[] = {
    {SIZES "--micro-batch-size 1\n--tensor-model-parallel-size 3\n",
     "run.args:2: tensor-model-parallel-size: tp x cp x pp"},
    {SIZES "--micro-batch-size 3\n--global-batch-size 8\n",
     "run.args:2: global-batch-size: 8 is no multiple of 3 x 8, the sequences of a "
     "microbatch x data-parallel ranks: change it or micro-batch-size"},
    {SIZES "--micro-batch-size 2 --tensor-model-parallel-size 2\n"
           "--global-batch-size 4\n",
     "4 is no multiple of 2 x 4, the sequences of a microbatch x data-parallel "
     "ranks: change it, or take a slice of 4 chips"},
    {SIZES "--tensor-model-parallel-size two\n", "'two' is no number"},
    {SIZES "--tensor-model-parallel-size 0\n", "expected 1 to"},
    {SIZES "--micro-batch-size $MBS\n", "is a variable without a value"},
    {SIZES "--global-batch-size 8\n", "micro-batch-size: the file does not state"},
    {SIZES "--micro-batch-size 1 --pipeline-model-parallel-size 2 "
           "--pipeline-model-parallel-layout Et*3|t*3L",
     "6 layers in 2 stages"},
    {SIZES "--micro-batch-size 1 --pipeline-model-parallel-size 2 "
           "--pipeline-model-parallel-layout Et*2|x*2L",
     "expected letters E, t, m, L"},
    {"--num-layers 4\n--hidden-size 64\n--num-attention-heads 4\n"
     "--use-rotary-position-embeddings",
     "vocab-size: the file does not state it"},
    {"--num-layers 4\n--hidden-size 64\n--num-attention-heads 5\n"
     "--num-query-groups 2 --group-query-attention --vocab-size 9 "
     "--use-rotary-position-embeddings",
     "2 KV heads do not divide 5 heads"},
    {SIZES "--micro-batch-size 1 --pipeline-model-parallel-size 4 "
           "--decoder-first-pipeline-num-layers 2",
     "2 of 4 layers are left for 3 stages"},
    {"--micro-batch-size 1\n", "the file describes no model"},
    {"--seed 1\n", "no option of a training launcher"},
    {"", "no option of a training launcher"},
    {"{\"train_batch_size\": 8}", "JSON launch configurations are not read"},
    {"a: [1, 2\nb: c\n", "no YAML"},
    {"a: 1\nb: 2\n", "none of its keys"},
};

static void contradictions_and_nonsense_name_their_line(void **state)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(contradictions); i++) {
        ridge_launch l;
        assert_int_not_equal(parse(*state, "h100:1x8", contradictions[i].text, &l),
                             RIDGE_OK);
        fixture_assert_message(*state, contradictions[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(written_and_read_back_the_price_is_the_same,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(modules_are_operations, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(modules_are_read_or_refused, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(what_megatron_lacks_is_refused, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(shell_scripts_are_read, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(
            weights_gathered_beside_compute_are_of_a_cut_optimizer, fixture_open,
            fixture_close),
        cmocka_unit_test_setup_teardown(yaml_of_tests_and_of_primus_is_read,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(sizes_alone_leave_the_layout_open, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(stages_that_are_written_out_are_read,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(what_differs_is_named, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(choices_are_knobs, fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(contradictions_and_nonsense_name_their_line,
                                        fixture_open, fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
