/* The price of an iteration: rooflines by hand, what each axis moves, faults. */
#include "serving_fixture.h"

#include "ridge/plan_serving_roofline.h"

#include <math.h>
#include <string.h>

/* ---- rooflines ------------------------------------------------------------------- */

/* B kv / W + max(2 B P / C, P w / W), P without the table that is only looked up. */
static void bounds_are_the_plain_rooflines(void **state)
{
    ridge_ctx *cx = *state;
    const serving_fixture b = serving_fixture_of(cx, "llama-3.1-8b", "h100", 1);
    const ridge_chip *chip = b.slice->chip;
    const double params = (double)ridge_model_params(b.model).matmul_active;
    for (double batch = 1; batch <= 64; batch *= 8) {
        const ridge_serving_step s = serving_price(&b, serving_decoding(batch, 2048));
        const ridge_roofline_service service = {
            .chips = 1,
            .peak_flops_per_s = chip->peak_flops_per_s[RIDGE_DTYPE_BF16],
            .hbm_bytes_per_s = chip->hbm_bytes_per_s,
            .hbm_bytes = chip->hbm_bytes,
            .active_params = params,
            .weight_bytes = 2 * params,
            .kv_bytes = 2048 * 131072.0};
        const ridge_decode_roofline r = ridge_roofline_decode(&service, batch);
        assert_near(s.bound_weights_s, r.weight_load_s, 1e-9);
        assert_near(s.bound_cache_s, r.kv_load_s, 1e-9);
        assert_near(s.bound_flops_s, r.flops_s, 1e-9);
        assert_near(s.bound_s, r.step_s, 1e-9);
        assert_near(s.flops, 2 * batch * params, 1e-9);
    }
}

static void tp_divides_what_a_chip_reads(void **state)
{
    ridge_ctx *cx = *state;
    const serving_fixture one = serving_fixture_of(cx, "llama-3.1-70b", "h100:8", 1);
    const serving_fixture eight = serving_fixture_of(cx, "llama-3.1-70b", "h100:8", 8);
    const ridge_serving_load load = serving_decoding(16, 4000);
    const ridge_serving_step a = serving_price(&one, load),
                             b = serving_price(&eight, load);
    assert_near(b.weight_bytes, a.weight_bytes / 8, 1e-9);
    assert_near(b.cache_bytes, a.cache_bytes / 8, 1e-9);
    assert_near(b.flops, a.flops / 8, 1e-9);
    assert_true(serving_part(&a, RIDGE_SERVING_PART_TP) == 0);
    assert_true(serving_part(&b, RIDGE_SERVING_PART_TP) > 0);
    assert_true(b.expected_s < a.expected_s);
}

static void windows_are_read_no_further(void **state)
{
    ridge_ctx *cx = *state;
    const serving_fixture b =
        serving_fixture_of(cx, "mistral-7b", "h100", 1); /* all windows of 4096 */
    const ridge_serving_step short_one = serving_price(&b, serving_decoding(8, 4096));
    const ridge_serving_step long_one = serving_price(&b, serving_decoding(8, 16000));
    assert_near(long_one.cache_bytes, short_one.cache_bytes, 1e-12);
    assert_near(long_one.expected_s, short_one.expected_s, 1e-12);
}

static void sparse_attention_reads_what_it_chooses(void **state)
{
    ridge_ctx *cx = *state;
    serving_fixture b = serving_fixture_of(cx, "deepseek-v3.2", "h200:8", 8);
    b.layout.ep = 8;
    const ridge_serving_step near = serving_price(&b, serving_decoding(8, 2048));
    const ridge_serving_step far = serving_price(&b, serving_decoding(8, 16000));
    serving_fixture dense = serving_fixture_of(cx, "deepseek-v3", "h200:8", 8);
    dense.layout.ep = 8;
    const ridge_serving_step whole = serving_price(&dense, serving_decoding(8, 16000));
    const double grown = serving_part(&far, RIDGE_SERVING_PART_DECODE_ATTENTION) -
                         serving_part(&near, RIDGE_SERVING_PART_DECODE_ATTENTION);
    assert_true(grown > 0); /* the indexer's keys */
    assert_true(far.cache_bytes < whole.cache_bytes);
}

/* ---- formats --------------------------------------------------------------------- */

static void narrow_weights_are_read_faster_and_multiply_in_their_format(void **state)
{
    ridge_ctx *cx = *state;
    serving_fixture b = serving_fixture_of(cx, "llama-3.1-8b", "h100", 1);
    const ridge_serving_load few = serving_decoding(1, 100);
    const ridge_serving_load many = serving_chunk(4096, 0);
    const ridge_serving_step wide = serving_price(&b, few),
                             wide_many = serving_price(&b, many);
    b.layout.formats.weight = RIDGE_DTYPE_INT4;
    b.layout.formats.group = 128;
    const ridge_serving_step narrow = serving_price(&b, few),
                             narrow_many = serving_price(&b, many);
    assert_true(serving_part(&narrow, RIDGE_SERVING_PART_DENSE) <
                0.5 * serving_part(&wide, RIDGE_SERVING_PART_DENSE));
    /* 16-bit arithmetic: prompts gain nothing, at the bound nothing at all */
    assert_near(narrow_many.bound_flops_s, wide_many.bound_flops_s, 1e-12);
    b.layout.formats.weight = b.layout.formats.compute = RIDGE_DTYPE_FP8;
    b.layout.formats.group = 0;
    const ridge_serving_step fp8_many = serving_price(&b, many);
    assert_true(fp8_many.bound_flops_s < 0.6 * wide_many.bound_flops_s);
    b.layout.formats.cache = RIDGE_DTYPE_FP8;
    const ridge_serving_step cached = serving_price(&b, serving_decoding(64, 8000));
    b.layout.formats.cache = RIDGE_DTYPE_BF16;
    const ridge_serving_step whole = serving_price(&b, serving_decoding(64, 8000));
    assert_near(cached.cache_bytes, whole.cache_bytes / 2, 1e-12);
    assert_true(cached.expected_s < whole.expected_s);
}

static void checkpoints_run_in_their_own_formats(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_chip *h100 = train_slice(cx, "h100")->chip;
    const ridge_chip *b200 = train_slice(cx, "b200")->chip;
    const ridge_chip *a100 = train_slice(cx, "a100")->chip;
    ridge_serving_formats f =
        ridge_serving_formats_of(fixture_named(cx, "llama-3.1-8b-fp8"), h100);
    assert_true(f.weight == RIDGE_DTYPE_FP8 && f.compute == RIDGE_DTYPE_FP8);
    assert_true(f.expert == f.weight && f.expert_compute == f.compute);
    f = ridge_serving_formats_of(fixture_named(cx, "llama-3.1-8b-fp8"), a100);
    assert_true(f.weight == RIDGE_DTYPE_FP8 && f.compute == RIDGE_DTYPE_BF16);
    f = ridge_serving_formats_of(fixture_named(cx, "gpt-oss-20b"), h100);
    assert_true(f.weight == RIDGE_DTYPE_BF16 && f.expert == RIDGE_DTYPE_FP4 &&
                f.expert_compute == RIDGE_DTYPE_BF16);
    f = ridge_serving_formats_of(fixture_named(cx, "deepseek-r1-nvfp4"), b200);
    assert_true(f.expert == RIDGE_DTYPE_FP4 && f.expert_compute == RIDGE_DTYPE_FP4);
    f = ridge_serving_formats_of(fixture_named(cx, "kimi-k2.5"), b200);
    assert_true(f.expert == RIDGE_DTYPE_INT4 && f.expert_compute == RIDGE_DTYPE_BF16);
}

/* vLLM takes what compressed-tensors and ModelOpt state, SGLang what ModelOpt does,
 * TensorRT-LLM both. @source vllm-source-2025; sglang-source-2025; tensorrt-llm-2026 */
static void engines_take_the_cache_of_a_checkpoint(void **state)
{
    static const struct {
        const char *engine, *method;
        ridge_dtype cache;
    } cases[] = {{"vllm-v1", "compressed-tensors fp8", RIDGE_DTYPE_FP8},
                 {"vllm-v1", "modelopt nvfp4", RIDGE_DTYPE_FP8},
                 {"sglang", "compressed-tensors fp8", RIDGE_DTYPE_BF16},
                 {"sglang", "modelopt fp8", RIDGE_DTYPE_FP8},
                 {"trtllm", "modelopt fp8", RIDGE_DTYPE_FP8},
                 {"vllm-v1", "fp8", RIDGE_DTYPE_BF16},
                 {"jetstream", "modelopt fp8", RIDGE_DTYPE_BF16}};
    ridge_ctx *cx = *state;
    ridge_model m = *fixture_named(cx, "llama-3.1-8b");
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        const ridge_engine *engine = serving_engine(cx, cases[i].engine);
        m.quant_method = cases[i].method;
        m.cache_dtype = RIDGE_DTYPE_FP8;
        assert_int_equal(ridge_serving_cache_of(&m, engine), cases[i].cache);
        assert_int_equal(ridge_serving_cache_of(&m, NULL), RIDGE_DTYPE_BF16);
        m.cache_dtype = RIDGE_DTYPE_BF16;
        assert_int_equal(ridge_serving_cache_of(&m, engine), RIDGE_DTYPE_BF16);
    }
}

/* ---- axes ------------------------------------------------------------------------ */

static void shared_caches_exchange_queries(void **state)
{
    ridge_ctx *cx = *state;
    serving_fixture b = serving_fixture_of(cx, "llama-3.1-70b", "h100:2x8", 16);
    const ridge_serving_load load = serving_decoding(64, 12000);
    const ridge_serving_step copies = serving_price(&b, load);
    b.layout.kv_cut = RIDGE_KV_CUT_BATCH;
    const ridge_serving_step batch = serving_price(&b, load);
    b.layout.kv_cut = RIDGE_KV_CUT_SEQUENCE;
    const ridge_serving_step tokens = serving_price(&b, load);
    assert_true(serving_part(&copies, RIDGE_SERVING_PART_KV) == 0);
    assert_true(serving_part(&batch, RIDGE_SERVING_PART_KV) > 0);
    assert_true(serving_part(&tokens, RIDGE_SERVING_PART_KV) > 0);
    assert_near(batch.cache_bytes, copies.cache_bytes / 2, 1e-12);
    assert_near(tokens.cache_bytes, copies.cache_bytes / 2, 1e-12);
    assert_true(serving_part(&batch, RIDGE_SERVING_PART_DECODE_ATTENTION) <
                serving_part(&copies, RIDGE_SERVING_PART_DECODE_ATTENTION));
}

static void attention_ranks_dispatch_to_experts(void **state)
{
    ridge_ctx *cx = *state;
    serving_fixture b = serving_fixture_of(cx, "deepseek-v3", "h200:8", 8);
    b.layout.ep = 8;
    const ridge_serving_step tp = serving_price(&b, serving_decoding(128, 4000));
    b.layout.tp = 1;
    b.layout.attention_dp = 8;
    const ridge_serving_step dp = serving_price(&b, serving_decoding(16, 4000));
    assert_true(serving_part(&tp, RIDGE_SERVING_PART_EP) == 0);
    assert_true(serving_part(&dp, RIDGE_SERVING_PART_EP) > 0);
    assert_true(serving_part(&dp, RIDGE_SERVING_PART_TP) == 0);
    /* latents are not copied over ranks */
    assert_near(dp.cache_bytes, tp.cache_bytes / 8, 1e-12);
    assert_near(serving_part(&dp, RIDGE_SERVING_PART_EXPERTS) /
                    serving_part(&tp, RIDGE_SERVING_PART_EXPERTS),
                1, 0.05);
}

static void stages_send_and_add_up(void **state)
{
    ridge_ctx *cx = *state;
    serving_fixture b = serving_fixture_of(cx, "llama-3.1-70b", "h100:2x8", 8);
    const ridge_serving_load load = serving_decoding(16, 2000);
    const ridge_serving_step whole = serving_price(&b, load);
    b.layout.pp = 2;
    const ridge_serving_step staged = serving_price(&b, load);
    assert_true(serving_part(&staged, RIDGE_SERVING_PART_PP) > 0);
    assert_near(staged.expected_s - serving_part(&staged, RIDGE_SERVING_PART_PP),
                whole.expected_s, 1e-9);
}

static void gathered_weights_pay_with_the_network(void **state)
{
    ridge_ctx *cx = *state;
    serving_fixture b = serving_fixture_of(cx, "llama-3.1-70b", "h100:8", 8);
    const ridge_serving_load few = serving_decoding(8, 1000);
    const ridge_serving_load many = {.chunk_tokens = 131072, .chunks = 16};
    const ridge_serving_step stay = serving_price(&b, few),
                             stay_many = serving_price(&b, many);
    b.layout.is_weight_gathered = true;
    const ridge_serving_step come = serving_price(&b, few),
                             come_many = serving_price(&b, many);
    assert_true(come.expected_s > 4 * stay.expected_s);
    assert_true(come_many.expected_s < stay_many.expected_s);
}

/* 64 chips of a torus, F = 3.5 D: the stream is large against a link's latency. */
static void two_axes_move_less_than_one(void **state)
{
    ridge_ctx *cx = *state;
    serving_fixture b = serving_fixture_of(cx, "llama-3.1-70b", "v5e:8x8", 64);
    const ridge_serving_load load = serving_decoding(2048, 500);
    b.layout.sequences = 2048;
    const ridge_serving_step one = serving_price(&b, load);
    b.layout.tp_d = 4;
    const ridge_serving_step two = serving_price(&b, load);
    assert_near(two.weight_bytes, one.weight_bytes, 1e-12);
    assert_near(two.flops, one.flops, 1e-12);
    assert_true(serving_part(&two, RIDGE_SERVING_PART_TP) <
                serving_part(&one, RIDGE_SERVING_PART_TP));
    b.layout.tp_d = 3;
    assert_non_null(ridge_serving_layout_fault(b.desk, &b.layout));
}

static void drafts_add_rows_and_passes(void **state)
{
    ridge_ctx *cx = *state;
    serving_fixture b = serving_fixture_of(cx, "llama-3.1-70b", "h100:8", 8);
    const ridge_serving_load load = serving_decoding(8, 2000);
    const ridge_serving_step plain = serving_price(&b, load);
    b.layout.draft = (ridge_draft){.kind = RIDGE_DRAFT_NGRAM, .depth = 4, .nodes = 4};
    const ridge_serving_step copied = serving_price(&b, load);
    assert_true(serving_part(&copied, RIDGE_SERVING_PART_DRAFT) <
                1e-3); /* bookkeeping */
    assert_near(copied.flops, 5 * plain.flops, 1e-9);
    assert_near(copied.cache_bytes, plain.cache_bytes, 1e-12);
    assert_true(copied.expected_s < 1.3 * plain.expected_s);
    b.layout.draft.kind = RIDGE_DRAFT_EAGLE;
    const ridge_serving_step eagle = serving_price(&b, load);
    b.layout.draft.kind = RIDGE_DRAFT_MODEL;
    b.layout.draft.model = fixture_named(cx, "llama-3.1-8b");
    const ridge_serving_step small = serving_price(&b, load);
    assert_true(serving_part(&eagle, RIDGE_SERVING_PART_DRAFT) > 0);
    assert_true(serving_part(&small, RIDGE_SERVING_PART_DRAFT) >
                2 * serving_part(&eagle, RIDGE_SERVING_PART_DRAFT));
    ridge_serving_memory with, without;
    assert_ok(cx, ridge_serving_memory_find(b.desk, &b.layout, &with));
    b.layout.draft = (ridge_draft){.kind = RIDGE_DRAFT_NONE};
    assert_ok(cx, ridge_serving_memory_find(b.desk, &b.layout, &without));
    assert_near(with.draft,
                ridge_model_weight_bytes(fixture_named(cx, "llama-3.1-8b")) / 8, 1e-12);
    assert_true(without.draft == 0 && without.blocks > with.blocks);
    /* 80 layers of the model and 32 of the draft, 8 KV heads of 128 over 8 ranks */
    assert_near(without.cache_bytes_per_token, 80 * 2.0 * 128 * 2, 1e-12);
    assert_near(with.cache_bytes_per_token, 112 * 2.0 * 128 * 2, 1e-12);
}

static void launches_show_where_nothing_is_captured(void **state)
{
    ridge_ctx *cx = *state;
    serving_fixture b = serving_fixture_of(cx, "qwen3-0.6b", "h100", 1);
    ridge_engine slow_host = *serving_engine(cx, "vllm-v1");
    slow_host.launch_s = 2e-5;
    const ridge_serving_case about = {.model = b.model,
                                      .slice = b.slice,
                                      .engine = &slow_host,
                                      .longest_tokens = 4096};
    assert_ok(cx, ridge_serving_desk_open(cx, &about, &b.desk));
    const ridge_serving_step captured = serving_price(&b, serving_chunk(512, 0));
    const ridge_serving_step launched = serving_price(&b, serving_chunk(520, 0));
    const ridge_serving_step busy = serving_price(&b, serving_chunk(16000, 0));
    assert_true(serving_part(&captured, RIDGE_SERVING_PART_LAUNCH) == 0);
    assert_true(serving_part(&launched, RIDGE_SERVING_PART_LAUNCH) > 1e-3);
    assert_true(serving_part(&busy, RIDGE_SERVING_PART_LAUNCH) == 0);
}

/* ---- faults ---------------------------------------------------------------------- */

static void assert_fault(const serving_fixture *b, const char *words)
{
    const char *fault = ridge_serving_layout_fault(b->desk, &b->layout);
    if (fault == NULL || strstr(fault, words) == NULL)
        fail_msg("fault '%s', want '%s'", fault != NULL ? fault : "none", words);
}

static void illegal_layouts_say_why(void **state)
{
    ridge_ctx *cx = *state;
    serving_fixture b = serving_fixture_of(cx, "llama-3.1-8b", "h100:8", 3);
    assert_fault(&b, "divide");
    b.layout.tp = 16;
    assert_fault(&b, "do not divide the 8 chips");
    b.layout.tp = 4;
    b.layout.ep = 2;
    assert_fault(&b, "has no experts");
    b.layout.ep = 1;
    b.layout.attention_dp = 2;
    assert_fault(&b, "whole replica");
    b.layout.attention_dp = 1;
    b.layout.kv_cut = RIDGE_KV_CUT_BATCH;
    assert_fault(&b, "copies none");
    b.layout.kv_cut = RIDGE_KV_CUT_HEADS;
    b.layout.draft = (ridge_draft){.kind = RIDGE_DRAFT_MTP, .depth = 1, .nodes = 1};
    assert_fault(&b, "no prediction layers");

    serving_fixture moe = serving_fixture_of(cx, "deepseek-v3", "h200:4x8", 32);
    assert_fault(&moe, "4.5 blocks of 128"); /* 18432 / 32 */
    moe.layout.tp = 8;
    moe.layout.ep = 3;
    assert_fault(&moe, "does not divide");
}

/* Switches take servers of any part of a node, or of whole nodes; a torus is cut
 * evenly. A server costs what it costs on its own chips. */
static void servers_need_not_divide_what_switches_join(void **state)
{
    ridge_ctx *cx = *state;
    static const struct {
        const char *slice;
        int64_t tp, attention_dp;
        bool is_legal;
    } cases[] = {{"gb200:1x72", 1, 64, true},
                 {"gb200:1x72", 4, 4, true},
                 {"h200:3x8", 8, 2, true},
                 {"h200:4x8", 4, 3, false},
                 {"v5e:4x8", 8, 3, false}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        serving_fixture b =
            serving_fixture_of(cx, "deepseek-v3", cases[i].slice, cases[i].tp);
        b.layout.attention_dp = cases[i].attention_dp;
        b.layout.ep = cases[i].tp * cases[i].attention_dp;
        if (cases[i].is_legal)
            assert_null(ridge_serving_layout_fault(b.desk, &b.layout));
        else
            assert_fault(&b, "do not divide");
    }
    serving_fixture part = serving_fixture_of(cx, "deepseek-v3", "gb200:1x72", 1);
    serving_fixture whole = serving_fixture_of(cx, "deepseek-v3", "gb200:1x16", 1);
    part.layout.attention_dp = whole.layout.attention_dp = 16;
    part.layout.ep = whole.layout.ep = 16;
    assert_near(serving_price(&part, serving_decoding(32, 4000)).expected_s,
                serving_price(&whole, serving_decoding(32, 4000)).expected_s, 1e-9);
}

/* 40 heads, 10 KV heads: 1, 2, 5, 10, and with copies 20, 40; 4 and 8 are neither. */
static void degrees_beyond_the_kv_heads_are_told_apart(void **state)
{
    ridge_ctx *cx = *state;
    static const struct {
        int64_t tp;
        bool is_legal, has_copies;
    } ROWS[] = {{1, true, false}, {2, true, false},  {4, false, false},
                {5, true, false}, {8, false, false}, {10, true, false},
                {20, true, true}, {40, true, true}};
    serving_fixture b = serving_fixture_of(cx, "phi-4", "h100:5x8", 1);
    for (size_t i = 0; i < RIDGE_COUNT_OF(ROWS); i++) {
        b.layout.tp = ROWS[i].tp;
        const char *fault = ridge_serving_layout_fault(b.desk, &b.layout);
        assert_true((fault == NULL) == ROWS[i].is_legal);
        assert_true((ridge_serving_layout_note(b.desk, &b.layout) != NULL) ==
                    ROWS[i].has_copies);
    }
    b.layout.tp = 4;
    assert_fault(&b, "1, 2, 5, 10; with replicated KV heads: 20, 40");
}

/* Heads of a vision tower do not limit tp. */
static void only_the_text_model_is_cut(void **state)
{
    ridge_ctx *cx = *state;
    serving_fixture b = {
        .cx = cx,
        .model = fixture_model(
            cx,
            "{'model_type': 'qwen2_5_vl', 'text_config': {'model_type': 'qwen2',"
            " 'hidden_size': 8192, 'num_attention_heads': 64, 'num_key_value_heads': 8,"
            " 'intermediate_size': 28672, 'num_hidden_layers': 4, 'vocab_size': 32000},"
            " 'vision_config': {'num_attention_heads': 25, 'num_heads': 25,"
            " 'hidden_size': 1600, 'intermediate_size': 4800, 'depth': 2,"
            " 'num_hidden_layers': 2, 'patch_size': 14}}"),
        .slice = train_slice(cx, "h100:8")};
    b.desk = serving_desk_of(cx, b.model, b.slice);
    for (int64_t tp = 1; tp <= 8; tp *= 2) {
        b.layout = serving_layout_of(b.model, b.slice, tp);
        assert_null(ridge_serving_layout_fault(b.desk, &b.layout));
    }
}

/* A model of a dozen windows: more than tables have classes. */
static void many_windows_share_a_table(void **state)
{
    ridge_ctx *cx = *state;
    enum { KINDS = 12 };
    serving_fixture b = serving_fixture_of(cx, "llama-3.1-8b", "h100", 1);
    ridge_model model = *b.model;
    ridge_layer layers[KINDS];
    ridge_run runs[KINDS];
    for (int i = 0; i < KINDS; i++) {
        layers[i] = b.model->layers[0];
        layers[i].count = layers[i].weight_sets = 2;
        layers[i].mixer.window = 128 * (i + 1);
        runs[i] = (ridge_run){.layer = i, .count = 2};
    }
    model.n_layers = model.n_runs = KINDS;
    model.layers = layers;
    model.runs = runs;
    model.layer_count = 2 * KINDS;
    b.model = &model;
    b.desk = serving_desk_of(cx, &model, b.slice);
    ridge_serving_speed speed;
    assert_ok(cx, ridge_serving_speed_build(b.desk, &b.layout, &speed));
    const ridge_serving_load load = serving_decoding(16, 4096);
    assert_near(serving_tables_s(&speed, &load), serving_price(&b, load).expected_s,
                1e-9);
    assert_near(serving_price(&b, serving_decoding(16, 16000)).expected_s,
                serving_price(&b, load).expected_s, 1e-12);
}

static void axes_of_training_are_refused_with_reasons(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"dp", "fsdp", "zero", "cp",
                                        "sp", "vpp",  "remat"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(NAMES); i++)
        assert_non_null(ridge_serving_axis_fault(NAMES[i]));
    assert_null(ridge_serving_axis_fault("tp"));
    assert_null(ridge_serving_axis_fault("attention_dp"));
}

static void loads_are_checked(void **state)
{
    ridge_ctx *cx = *state;
    const serving_fixture b = serving_fixture_of(cx, "llama-3.1-8b", "h100", 1);
    ridge_serving_step s;
    ridge_serving_load load = {0};
    assert_true(ridge_serving_step_price(b.desk, &b.layout, &load, &s) == RIDGE_E_ARG);
    fixture_assert_message(cx, "no tokens");
    load.chunk_tokens = 10;
    assert_true(ridge_serving_step_price(b.desk, &b.layout, &load, &s) == RIDGE_E_ARG);
    load.decode_sequences = -1;
    assert_true(ridge_serving_step_price(b.desk, &b.layout, &load, &s) == RIDGE_E_ARG);
    load.decode_sequences = (double)NAN;
    assert_true(ridge_serving_step_price(b.desk, &b.layout, &load, &s) == RIDGE_E_ARG);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(bounds_are_the_plain_rooflines),
        CASE(tp_divides_what_a_chip_reads),
        CASE(windows_are_read_no_further),
        CASE(sparse_attention_reads_what_it_chooses),
        CASE(narrow_weights_are_read_faster_and_multiply_in_their_format),
        CASE(checkpoints_run_in_their_own_formats),
        CASE(engines_take_the_cache_of_a_checkpoint),
        CASE(shared_caches_exchange_queries),
        CASE(attention_ranks_dispatch_to_experts),
        CASE(stages_send_and_add_up),
        CASE(gathered_weights_pay_with_the_network),
        CASE(two_axes_move_less_than_one),
        CASE(drafts_add_rows_and_passes),
        CASE(launches_show_where_nothing_is_captured),
        CASE(servers_need_not_divide_what_switches_join),
        CASE(illegal_layouts_say_why),
        CASE(degrees_beyond_the_kv_heads_are_told_apart),
        CASE(only_the_text_model_is_cut),
        CASE(many_windows_share_a_table),
        cmocka_unit_test(axes_of_training_are_refused_with_reasons),
        CASE(loads_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
