/* MaxText: a plan comes back as it was; meshes, batches and policies of existing files.
 */
#include "launch_fixture.h"

#include <string.h>

/* clang-format off */
static const launch_case round_cases[] = {
    {"llama-3-8b", "v5p:4x4x4", {.dp = 1, .fsdp = 32, .tp = 2, .cp = 1, .pp = 1, .ep = 1, .zero_stage = 3, .has_sp = true, .vpp = 1, .microbatch_seqs = 2, .remat = RIDGE_REMAT_FULL}, 256, 8192},
    {"llama-3-70b", "2*v5p:4x4x4", {.dp = 2, .fsdp = 16, .tp = 4, .cp = 1, .pp = 1, .ep = 1, .zero_stage = 3, .has_sp = true, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_MATMULS}, 64, 4096},
    {"llama-3-70b", "h100:8x8", {.dp = 1, .fsdp = 4, .tp = 1, .cp = 2, .pp = 8, .ep = 1, .zero_stage = 3, .vpp = 2, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL, .precision = RIDGE_PRECISION_FP8}, 128, 8192},
    {"llama-3-8b", "h100:1x8", {.dp = 4, .fsdp = 1, .tp = 1, .cp = 1, .pp = 2, .ep = 1, .vpp = 1, .schedule = RIDGE_SCHEDULE_GPIPE, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL, .optimizer = RIDGE_OPTIMIZER_SGD}, 64, 2048},
    {"llama-3-8b", "h100:2x8", {.dp = 1, .fsdp = 8, .tp = 1, .cp = 2, .pp = 1, .ep = 1, .zero_stage = 3, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_MATMULS, .cp_exchange = RIDGE_CP_GATHER, .offload = RIDGE_OFFLOAD_OPTIMIZER | RIDGE_OFFLOAD_ACTIVATIONS}, 64, 8192},
    {"llama-3-8b", "v5p:4x4x4", {.dp = 1, .fsdp = 64, .tp = 1, .cp = 1, .pp = 1, .ep = 1, .zero_stage = 3, .vpp = 1, .mtp = 2, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL}, 64, 4096},
    {"mixtral-8x7b", "v5p:4x4x4", {.dp = 1, .fsdp = 64, .tp = 1, .cp = 1, .pp = 1, .ep = 8, .zero_stage = 3, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL}, 64, 4096},
    {"gpt3-13b", "v5e:4x4", {.dp = 1, .fsdp = 16, .tp = 1, .cp = 1, .pp = 1, .ep = 1, .zero_stage = 1, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_NONE}, 16, 2048},
    {"qwen2.5-7b", "v5e:4x4", {.dp = 16, .fsdp = 1, .tp = 1, .cp = 1, .pp = 1, .ep = 1, .zero_stage = 0, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_NONE, .precision = RIDGE_PRECISION_BF16_PURE}, 32, 2048},
    {"glm-4.5", "v5p:8x8x8", {.dp = 1, .fsdp = 512, .tp = 1, .cp = 1, .pp = 1, .ep = 8, .zero_stage = 3, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL}, 512, 4096},
};
/* clang-format on */

static void written_and_read_back_the_price_is_the_same(void **state)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(round_cases); i++) {
        ridge_launch back;
        launch_fixture_round_trip(*state, RIDGE_LAUNCHER_MAXTEXT, &round_cases[i],
                                  &back);
    }
}

/* A custom policy keeps tensors one by one. */
static void tensors_are_operations(void **state)
{
    ridge_ctx *cx = *state;
    ridge_layout layout = train_layout(1, 64, 1, 1, 1);
    ridge_launch_text text;
    layout.remat = (ridge_remat)RIDGE_REMAT_OPERATIONS;
    assert_ok(cx, ridge_remat_ops_parse(
                      cx, "h+q_rotary+k_rotary+attention+x_mixed+h_ffn+gate+up+act+ffn",
                      &layout.remat_ops));
    assert_ok(cx, launch_fixture_write(cx, RIDGE_LAUNCHER_MAXTEXT, "llama-3-8b",
                                       "v5p:4x4x4", &layout, &text));
    const char *yml = ridge_buf_text(&text.text);
    assert_non_null(strstr(yml, "remat_policy: custom"));
    assert_non_null(strstr(yml, "query_proj: device"));
    assert_non_null(strstr(yml, "mlpwi_0: remat"));
    ridge_launch back;
    assert_ok(cx, launch_fixture_parse(cx, "v5p:4x4x4", "a.yml", yml, &back));
    assert_int_equal(back.knobs.remat, RIDGE_REMAT_OPERATIONS);
    assert_true(back.knobs.remat_ops == layout.remat_ops);
    assert_int_equal(back.differing.n, 0);
}

static void axes_of_minus_one_are_what_is_left(void **state)
{
    ridge_ctx *cx = *state;
    ridge_launch l;
    assert_ok(cx, launch_fixture_parse(cx, "4*v5e:4x4", "a.yml",
                                       "base_config: \"base.yml\"\n"
                                       "model_name: 'llama2-7b'\n"
                                       "ici_fsdp_parallelism: -1\n"
                                       "ici_tensor_parallelism: 4\n"
                                       "per_device_batch_size: 2\n"
                                       "max_target_length: 4_096\n"
                                       "remat_policy: minimal_with_context\n"
                                       "quantization: int8\nsteps: 30\n",
                                       &l));
    assert_string_equal(l.format, "MaxText yml");
    assert_string_equal(l.model_name, "llama-2-7b");
    assert_int_equal(l.knobs.dp, 4);
    assert_int_equal(l.knobs.fsdp, 4);
    assert_int_equal(l.knobs.tp, 4);
    assert_int_equal(l.knobs.has_sp, 1);
    assert_int_equal(l.knobs.zero_stage, 3);
    assert_int_equal(l.knobs.microbatch_seqs, 8);
    assert_near(l.batch_seqs, 128, 0);
    assert_near(l.seq_tokens, 4096, 0);
    assert_true(launch_fixture_has(&l.differing, "quantization int8"));
    assert_int_equal(l.knobs.remat, RIDGE_REMAT_ELEMENTWISE);
    assert_true(launch_fixture_has(&l.assumed, "dtype bfloat16"));
}

static void a_model_file_leaves_the_layout_open(void **state)
{
    ridge_ctx *cx = *state;
    ridge_launch l;
    assert_ok(cx, launch_fixture_parse(
                      cx, "v5p:4x4x4", "m.yml",
                      "base_emb_dim: 1024\nbase_num_query_heads: 16\n"
                      "base_num_kv_heads: 16\nbase_mlp_dim: 2048\n"
                      "base_moe_mlp_dim: 256\nbase_num_decoder_layers: 6\n"
                      "first_num_dense_layers: 2\nnum_experts: 16\n"
                      "num_experts_per_tok: 4\nshared_experts: 1\n"
                      "decoder_block: \"deepseek\"\nattention_type: \"mla\"\n"
                      "q_lora_rank: 128\nkv_lora_rank: 64\nqk_nope_head_dim: 32\n"
                      "qk_rope_head_dim: 16\nv_head_dim: 32\nvocab_size: 32_000\n",
                      &l));
    assert_false(l.has_layout);
    assert_int_equal(l.model->n_runs, 2);
    assert_int_equal(l.model->layers[1].ffn.shared_d_ff, 256);
    assert_int_equal(l.model->layers[0].mixer.kind, RIDGE_MIXER_MLA);
}

/* What the sizes of a file leave out is told, but not of a model that has it. */
static void a_model_that_is_given_has_its_own_attention(void **state)
{
    static const char text[] = "decoder_block: llama4\nchunk_attn_window_size: 8192\n"
                               "nope_layer_interval: 4\nmegablox: false\n";
    ridge_ctx *cx = *state;
    ridge_launch_query query = {.slice = train_slice(cx, "v5p:4x4x4"),
                                .model = fixture_named(cx, "llama-4-maverick")};
    ridge_launch l;
    assert_ok(cx, ridge_library_open(cx, NULL, &query.library));
    assert_ok(cx, ridge_launch_parse(cx, ridge_str_of(text), "a.yml", &query, &l));
    assert_false(launch_fixture_has(&l.differing, "chunk_attn_window_size"));
    assert_false(launch_fixture_has(&l.differing, "nope_layer_interval"));
    assert_true(launch_fixture_has(&l.differing, "megablox"));
    assert_ok(cx,
              launch_fixture_parse(cx, "v5p:4x4x4", "a.yml",
                                   "model_name: llama2-7b\nuse_indexer: true\n", &l));
    assert_true(launch_fixture_has(&l.differing, "sparse attention"));
}

static void what_is_wrong_names_its_line(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"base_config: inference.yml\nmodel_name: llama2-7b\n", "for serving"},
        {"model_name: llama2-7b\nici_fsdp_parallelism: 3\n",
         "a.yml: ici_data_parallelism: the axes of its level multiply to 3"},
        {"model_name: llama2-7b\nici_fsdp_parallelism: 0\n", "a.yml:2"},
        {"model_name: llama2-7b\nici_data_parallelism: -1\n",
         "ici_data_parallelism is -1 as well"},
        {"model_name: llama2-7b\nper_device_batch_size: 0.01\n", "no multiple of"},
        {"model_name: no-such-model\nremat_policy: full\n",
         "or give the model as well"},
        {"decoder_block: gemma2\nbase_emb_dim: 8\n", "differ beyond their sizes"},
        {"model_name: llama2-7b\nremat_policy: some\n", "'some' is no policy"},
        {"model_name: llama2-7b\nici_pipeline_parallelism: 3\n"
         "dcn_pipeline_parallelism: 1\nici_fsdp_parallelism: -1\n",
         "multiply to 3"},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_launch l;
        assert_int_not_equal(
            launch_fixture_parse(*state, "v5e:4x4", "a.yml", cases[i].text, &l),
            RIDGE_OK);
        fixture_assert_message(*state, cases[i].message);
    }
}

/* Of brackets within brackets the YAML parser takes time by their square. */
static void lists_nest_so_deep_and_no_deeper(void **state)
{
    enum { DEEP = 100000 };
    ridge_ctx *cx = *state;
    ridge_launch l;
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_puts(&b, "model_name: llama2-7b\nname: ");
    ridge_buf_pad(&b, '[', DEEP);
    assert_int_equal(
        launch_fixture_parse(cx, "v5e:4x4", "a.yml", ridge_buf_text(&b), &l),
        RIDGE_E_PARSE);
    fixture_assert_message(cx, "a.yml:2: nested too deeply");
    assert_ok(cx, launch_fixture_parse(cx, "v5e:4x4", "a.yml",
                                       "model_name: llama2-7b\nname: [[[1, [2]], 3]]\n",
                                       &l));
}

static void what_maxtext_lacks_is_refused(void **state)
{
    ridge_ctx *cx = *state;
    ridge_launch_text text;
    ridge_layout l = train_layout(1, 4, 2, 1, 1);
    l.zero_stage = 3;
    assert_int_equal(launch_fixture_write(cx, RIDGE_LAUNCHER_MAXTEXT, "llama-3-8b",
                                          "h100:1x8", &l, &text),
                     RIDGE_E_ARG);
    fixture_assert_message(cx, "plan with sp=1");
    l.has_sp = true;
    l.zero_stage = 2;
    assert_int_equal(launch_fixture_write(cx, RIDGE_LAUNCHER_MAXTEXT, "llama-3-8b",
                                          "h100:1x8", &l, &text),
                     RIDGE_E_ARG);
    fixture_assert_message(cx, "zero=1 or zero=3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(written_and_read_back_the_price_is_the_same,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(lists_nest_so_deep_and_no_deeper, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(tensors_are_operations, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(axes_of_minus_one_are_what_is_left,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(a_model_file_leaves_the_layout_open,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(a_model_that_is_given_has_its_own_attention,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(what_is_wrong_names_its_line, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(what_maxtext_lacks_is_refused, fixture_open,
                                        fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
