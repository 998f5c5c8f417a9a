/* Memory of serving layouts: weights and caches counted by hand, blocks as engines
 * count them. */
#include "serving_fixture.h"

#include <math.h>
#include <string.h>

static ridge_serving_memory memory_of(ridge_ctx *cx, ridge_serving_desk *desk,
                                      const ridge_serving_layout *layout)
{
    ridge_serving_memory m;
    assert_ok(cx, ridge_serving_memory_find(desk, layout, &m));
    return m;
}

/* ---- caches ---------------------------------------------------------------------- */

static double token_bytes(ridge_ctx *cx, const char *name, int64_t tp,
                          ridge_dtype cache)
{
    const ridge_model *model = fixture_named(cx, name);
    const ridge_slice *slice = train_slice(cx, "h200:8");
    ridge_serving_desk *desk = serving_desk_of(cx, model, slice);
    ridge_serving_layout layout = serving_layout_of(model, slice, tp);
    layout.formats.cache = cache;
    layout.ep = 1;
    if (ridge_serving_layout_fault(desk, &layout) != NULL)
        layout.ep = tp;
    return memory_of(cx, desk, &layout).cache_bytes_per_token;
}

static void a_token_takes_its_keys_and_values(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_dtype bf16 = RIDGE_DTYPE_BF16, fp8 = RIDGE_DTYPE_FP8;
    /* 2 K H L b: 2 x 8 x 128 x 32 x 2 */
    assert_near(token_bytes(cx, "llama-3.1-8b", 1, bf16), 131072, 0);
    assert_near(token_bytes(cx, "llama-3.1-8b", 1, fp8), 65536, 0);
    assert_near(token_bytes(cx, "llama-3.1-8b", 4, bf16), 131072 / 4, 0);
    /* a head dim that is read, not derived: 2 x 8 x 64 x 24 x 2, windows or not */
    assert_near(token_bytes(cx, "gpt-oss-20b", 1, bf16), 49152, 0);
    /* a latent of 512 and 64 once, not divided by tp: 61 x 576 x 2 */
    assert_near(token_bytes(cx, "deepseek-v3", 1, bf16), 70272, 0);
    assert_near(token_bytes(cx, "deepseek-v3", 8, bf16), 70272, 0);
    assert_near(token_bytes(cx, "deepseek-v3", 8, fp8), 35136, 0);
    /* with an indexer's key of 128 in 8 bits and its scale: 61 (1152 + 132) */
    assert_near(token_bytes(cx, "deepseek-v3.2", 8, bf16), 61 * (1152 + 132), 0);
    /* latents in 8 bits keep four scales, and the rotary part in 16 bits */
    assert_near(token_bytes(cx, "deepseek-v3.2", 8, fp8), 61 * (512 + 16 + 128 + 132),
                0);
}

static void kv_heads_beyond_tp_are_copied_or_shared(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = fixture_named(cx, "llama-3.1-70b");
    const ridge_slice *slice = train_slice(cx, "h100:2x8");
    ridge_serving_desk *desk = serving_desk_of(cx, model, slice);
    ridge_serving_layout layout = serving_layout_of(model, slice, 16);
    const double whole = 2.0 * 8 * 128 * 80 * 2;
    assert_near(memory_of(cx, desk, &layout).cache_bytes_per_token, whole / 8, 0);
    assert_non_null(strstr(ridge_serving_layout_note(desk, &layout), "2 times"));
    layout.kv_cut = RIDGE_KV_CUT_BATCH;
    assert_near(memory_of(cx, desk, &layout).cache_bytes_per_token, whole / 16, 0);
    layout.kv_cut = RIDGE_KV_CUT_SEQUENCE;
    assert_near(memory_of(cx, desk, &layout).cache_bytes_per_token, whole / 16, 0);
    layout.tp = 8;
    layout.kv_cut = RIDGE_KV_CUT_HEADS;
    assert_null(ridge_serving_layout_note(desk, &layout));
}

/* gpt-oss-120b: 18 layers keep 128 tokens, 18 keep all; 2,048 bytes a token and layer.
 */
static void windows_give_pages_back_where_engines_do(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = fixture_named(cx, "gpt-oss-120b");
    const ridge_slice *slice = train_slice(cx, "h100:2");
    ridge_serving_case about = {.model = model,
                                .slice = slice,
                                .engine = serving_engine(cx, "vllm-v1"),
                                .longest_tokens = 8192};
    ridge_serving_desk *desk;
    ridge_serving_layout layout = serving_layout_of(model, slice, 2);
    layout.ep = 2;
    assert_ok(cx, ridge_serving_desk_open(cx, &about, &desk));
    const ridge_serving_memory m = memory_of(cx, desk, &layout);
    const double layer = 2.0 * 8 / 2 * 64 * 2;
    assert_near(m.cache_bytes_per_token, 36 * layer, 0);
    assert_near(m.page_bytes, 18 * layer * 16, 0);
    assert_int_equal(m.sequence_pages, 128 / 16);
    assert_int_equal(m.blocks, (int64_t)floor(m.cache / (36 * layer * 16)));
    assert_int_equal(m.pages, (int64_t)floor(m.cache / m.page_bytes));
    assert_near(m.longest_sequences, (double)m.pages / (512 + 8), 1e-12);

    about.engine = serving_engine(cx, "sglang");
    assert_ok(cx, ridge_serving_desk_open(cx, &about, &desk));
    const ridge_serving_memory unified = memory_of(cx, desk, &layout);
    assert_int_equal(unified.sequence_pages, 0);
    assert_int_equal(unified.pages, unified.blocks);
    assert_near(unified.page_bytes, 36 * layer * (double)unified.block_tokens, 0);
}

/* Engines that keep the whole context of every layer: its caches are one class. */
static void windows_are_ignored_where_engines_do(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = fixture_named(cx, "gpt-oss-120b");
    const ridge_slice *slice = train_slice(cx, "h100:2");
    const ridge_serving_layout layout = serving_layout_of(model, slice, 2);
    double decode_s[2];
    for (int i = 0; i < 2; i++) {
        ridge_engine engine = *serving_engine(cx, "vllm-v1");
        ridge_serving_desk *desk;
        engine.ignores_windows = i == 1;
        const ridge_serving_case about = {
            .model = model, .slice = slice, .engine = &engine, .longest_tokens = 16384};
        assert_ok(cx, ridge_serving_desk_open(cx, &about, &desk));
        assert_true((memory_of(cx, desk, &layout).sequence_pages == 0) == (i == 1));
        const ridge_serving_load load = serving_decoding(64, 16000);
        decode_s[i] = serving_step_of(cx, desk, &layout, &load)
                          .parts_s[RIDGE_SERVING_PART_DECODE_ATTENTION];
    }
    assert_true(decode_s[1] > 1.5 * decode_s[0]);
}

/* Llama 4: three layers of four see a chunk of 8,192 tokens. TensorRT-LLM's cache keeps
 * all of their tokens; what they read stays the chunk. */
static void chunks_are_kept_whole_where_engines_do(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = fixture_named(cx, "llama-4-maverick");
    const ridge_slice *slice = train_slice(cx, "h200:8");
    const ridge_serving_layout layout = serving_layout_of(model, slice, 8);
    double pages_bytes[2], decode_s[2];
    for (int i = 0; i < 2; i++) {
        ridge_engine engine = *serving_engine(cx, "trtllm");
        ridge_serving_desk *desk;
        assert_true(engine.keeps_chunks);
        engine.keeps_chunks = i == 1;
        const ridge_serving_case about = {
            .model = model, .slice = slice, .engine = &engine, .longest_tokens = 32768};
        assert_ok(cx, ridge_serving_desk_open(cx, &about, &desk));
        const ridge_serving_memory m = memory_of(cx, desk, &layout);
        const double tokens = (double)m.page_tokens;
        pages_bytes[i] =
            m.page_bytes * (ceil(32768 / tokens) + (double)m.sequence_pages);
        const ridge_serving_load load = serving_decoding(64, 30000);
        decode_s[i] = serving_step_of(cx, desk, &layout, &load)
                          .parts_s[RIDGE_SERVING_PART_DECODE_ATTENTION];
    }
    assert_near(pages_bytes[1] / pages_bytes[0], 4 / (1 + 3 * 0.25), 1e-2);
    assert_near(decode_s[1], decode_s[0], 0);
}

/* llama.cpp: 81 parts over six cards, the head in the last of them, whose layers are
 * fewer; the embedding with the host. */
static void heads_count_as_layers_where_layers_are_split(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = fixture_named(cx, "llama-3-70b");
    const ridge_slice *slice = train_slice(cx, "rtx-a6000:6");
    const ridge_serving_case about = {.model = model,
                                      .slice = slice,
                                      .engine = serving_engine(cx, "llama-cpp"),
                                      .longest_tokens = 1024};
    ridge_serving_desk *desk;
    assert_ok(cx, ridge_serving_desk_open(cx, &about, &desk));
    ridge_serving_layout layout = serving_layout_of(model, slice, 1);
    layout.pp = 6;
    const double layer =
        2 * (2 * 8192.0 * 8192 + 2 * 8192.0 * 1024 + 3 * 8192.0 * 28672 + 2 * 8192.0);
    assert_near(memory_of(cx, desk, &layout).weights, 14 * layer, 1e-9);
}

static void states_do_not_grow(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = fixture_named(cx, "qwen3-next-80b-a3b");
    const ridge_slice *slice = train_slice(cx, "h100:4");
    ridge_serving_desk *desk = serving_desk_of(cx, model, slice);
    ridge_serving_layout layout = serving_layout_of(model, slice, 4);
    layout.ep = 4;
    const ridge_serving_memory m = memory_of(cx, desk, &layout);
    /* 12 of 48 layers attend: 2 KV heads of 256, each held twice */
    assert_near(m.cache_bytes_per_token, 12 * 2.0 * 256 * 2, 0);
    const ridge_kv kv = ridge_model_kv(model, RIDGE_DTYPE_BF16);
    assert_near(m.state_bytes, kv.state_bytes_per_sequence / 4, 1e-12);
    assert_int_equal(m.sequence_pages, (int64_t)ceil(m.state_bytes / m.page_bytes));
}

/* ---- weights --------------------------------------------------------------------- */

static double weights_of(ridge_ctx *cx, const char *name, const char *slice_text,
                         int64_t tp, int64_t ep, int64_t attention_dp)
{
    const ridge_model *model = fixture_named(cx, name);
    const ridge_slice *slice = train_slice(cx, slice_text);
    ridge_serving_desk *desk = serving_desk_of(cx, model, slice);
    ridge_serving_layout layout = serving_layout_of(model, slice, tp);
    layout.ep = ep;
    layout.attention_dp = attention_dp;
    return memory_of(cx, desk, &layout).weights;
}

/* What decode keeps of DeepSeek's narrow maps a second time: 61 x 512 x 128 x 256 x 2.
 */
static double absorbed_of(const ridge_model *model)
{
    const bool is_narrow = strcmp(model->name, "deepseek-v3") == 0;
    return is_narrow ? 61 * 512.0 * 128 * 256 * 2 : 0;
}

static void one_chip_holds_the_checkpoint(void **state)
{
    ridge_ctx *cx = *state;
    static const char *const NAMES[] = {
        "llama-3.1-8b", "llama-3.1-8b-fp8", "qwen3-32b-nvfp4",    "gpt-oss-20b",
        "mixtral-8x7b", "deepseek-v3",      "deepseek-r1-nvfp4",  "kimi-k2.5",
        "gemma-3-27b",  "glm-4.5-air",      "qwen3-next-80b-a3b", "phi-4"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(NAMES); i++) {
        const ridge_model *model = fixture_named(cx, NAMES[i]);
        const double held = weights_of(cx, NAMES[i], "b200", 1, 1, 1) -
                            (double)model->vision_params * 2;
        assert_near(held - absorbed_of(model), ridge_model_weight_bytes(model), 1e-5);
    }
}

static void degrees_divide_what_they_cut(void **state)
{
    ridge_ctx *cx = *state;
    const double one = weights_of(cx, "llama-3.1-70b", "h100:8", 1, 1, 1);
    assert_near(weights_of(cx, "llama-3.1-70b", "h100:8", 8, 1, 1), one / 8, 1e-3);
    /* experts over all chips, attention in each rank whole */
    const ridge_model *ds = fixture_named(cx, "deepseek-v3");
    const double experts = (double)ridge_model_params(ds).experts;
    const double all = weights_of(cx, "deepseek-v3", "h200:8", 1, 1, 1);
    assert_near(weights_of(cx, "deepseek-v3", "h200:8", 1, 8, 8),
                all - experts * 7 / 8 * (1 + 4 / 16384.0), 1e-6);
    assert_near(weights_of(cx, "deepseek-v3", "h200:8", 8, 8, 1) -
                    weights_of(cx, "deepseek-v3", "h200:8", 8, 1, 1),
                0, 1);
}

static void narrow_weights_carry_their_scales(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = fixture_named(cx, "llama-3.1-8b");
    const ridge_slice *slice = train_slice(cx, "h100");
    ridge_serving_desk *desk = serving_desk_of(cx, model, slice);
    ridge_serving_layout layout = serving_layout_of(model, slice, 1);
    const ridge_params p = ridge_model_params(model);
    const double wide = 2 * (double)(p.embedding + p.unembedding + p.norm);
    const double matrices = (double)(p.attention + p.mlp);
    layout.formats.weight = RIDGE_DTYPE_INT4;
    layout.formats.group = 128;
    assert_near(memory_of(cx, desk, &layout).weights,
                wide + matrices * (0.5 + 2.5 / 128), 1e-9);
    layout.formats.weight = RIDGE_DTYPE_FP4;
    layout.formats.group = 32;
    assert_near(memory_of(cx, desk, &layout).weights,
                wide + matrices * (0.5 + 1 / 32.0), 1e-9);
    layout.formats.weight = RIDGE_DTYPE_FP8;
    layout.formats.group = 0;
    assert_near(memory_of(cx, desk, &layout).weights, wide + matrices, 1e-9);
}

/* ---- blocks ---------------------------------------------------------------------- */

/* vLLM's start-up log of Llama-3-8B on an H100 of 79.22 GiB (pull request 10511): 14.96
 * GiB of weights, 1.26 GiB of activations, 53.29 GiB of cache; with the 0.16 GiB that
 * later versions count outside of PyTorch, 54.9. */
static void blocks_are_as_an_engine_logged(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = fixture_named(cx, "llama-3-8b");
    const ridge_slice *slice = train_slice(cx, "h100");
    ridge_serving_desk *desk = serving_desk_of(cx, model, slice);
    ridge_serving_layout layout = serving_layout_of(model, slice, 1);
    layout.sequences = 256;
    layout.budget_tokens = 8192;
    const ridge_serving_memory m = memory_of(cx, desk, &layout);
    assert_near(m.weights / RIDGE_GIB, 14.96, 1e-3);
    assert_near(m.cache / RIDGE_GIB, 54.9, 0.02);
    assert_int_equal(m.blocks, (int64_t)floor(m.cache / (131072 * 16)));
    assert_true(m.fits);
}

/* SGLang's log of Qwen3-235B-A22B-FP8 on four H100 at a share of 0.93: 367,404 tokens
 * (vLLM issue 21348). */
static void caches_of_four_chips_are_as_an_engine_logged(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = fixture_named(cx, "qwen3-235b-a22b-fp8");
    const ridge_slice *slice = train_slice(cx, "h100:4");
    ridge_engine engine = *serving_engine(cx, "sglang");
    engine.memory_share = 0.93;
    const ridge_serving_case about = {
        .model = model, .slice = slice, .engine = &engine, .longest_tokens = 32768};
    ridge_serving_desk *desk;
    assert_ok(cx, ridge_serving_desk_open(cx, &about, &desk));
    const ridge_serving_layout layout = serving_layout_of(model, slice, 4);
    const ridge_serving_memory m = memory_of(cx, desk, &layout);
    assert_near(m.cache_bytes_per_token, 94 * 2.0 * 128 * 2, 0);
    assert_near((double)(m.blocks * m.block_tokens), 367404, 0.02);
}

static void the_fullest_stage_decides(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = fixture_named(cx, "llama-3.1-405b");
    const ridge_slice *slice = train_slice(cx, "h100:4x8");
    ridge_serving_desk *desk = serving_desk_of(cx, model, slice);
    ridge_serving_layout layout = serving_layout_of(model, slice, 8);
    assert_false(memory_of(cx, desk, &layout).fits);
    layout.pp = 4;
    const ridge_serving_memory m = memory_of(cx, desk, &layout);
    assert_true(m.fits);
    /* 126 layers in stages of 31 and 32 */
    assert_near(m.cache_bytes_per_token, 32 * 2.0 * 8 / 8 * 128 * 2, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_token_takes_its_keys_and_values, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(kv_heads_beyond_tp_are_copied_or_shared,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(windows_give_pages_back_where_engines_do,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(chunks_are_kept_whole_where_engines_do,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(windows_are_ignored_where_engines_do,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(heads_count_as_layers_where_layers_are_split,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(states_do_not_grow, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(one_chip_holds_the_checkpoint, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(degrees_divide_what_they_cut, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(narrow_weights_carry_their_scales, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(blocks_are_as_an_engine_logged, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(caches_of_four_chips_are_as_an_engine_logged,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(the_fullest_stage_decides, fixture_open,
                                        fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
