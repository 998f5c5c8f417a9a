/* Layouts drawn at random: what is legal has a price whose parts sum, that no bound
 * exceeds, and that tables repeat; what is illegal says why. */
#include "serving_fixture.h"

#include <math.h>
#include <string.h>

static const char *const MODELS[] = {
    "llama-3.1-8b", "gpt-oss-120b", "deepseek-v3",       "qwen3-next-80b-a3b",
    "kimi-k2.5",    "gemma-3-12b",  "deepseek-r1-nvfp4", "mistral-7b",
    "glm-5",        "phi-4",        "nemotron-h-56b",    "deepseek-v4-flash",
    "qwen3-32b-fp8"};

static const char *const SLICES[] = {"h100:8",    "h100:2x8", "b200:8",   "gb200:16",
                                     "v5p:2x2x4", "v5e:4x4",  "mi300x:8", "a100:4"};

static const char *const ENGINES[] = {"vllm-v1", "sglang", "trtllm", "jetstream"};

static int64_t power(dice *d, int64_t most)
{
    return (int64_t)1 << dice_roll(d, 0, most);
}

static ridge_dtype pick(dice *d, const ridge_dtype *of, int64_t n)
{
    return of[dice_roll(d, 0, n - 1)];
}

static void draw_formats(dice *d, ridge_serving_formats *f)
{
    static const ridge_dtype CACHES[] = {RIDGE_DTYPE_BF16, RIDGE_DTYPE_FP8,
                                         RIDGE_DTYPE_INT8};
    static const ridge_dtype WEIGHTS[] = {RIDGE_DTYPE_BF16, RIDGE_DTYPE_FP8,
                                          RIDGE_DTYPE_INT4};
    f->cache = pick(d, CACHES, 3);
    if (dice_roll(d, 0, 2) > 0)
        return;
    f->weight = f->expert = pick(d, WEIGHTS, 3);
    f->compute = f->expert_compute =
        f->weight == RIDGE_DTYPE_INT4 ? RIDGE_DTYPE_BF16 : f->weight;
    f->group = f->weight == RIDGE_DTYPE_INT4 ? 128 : 0;
}

static void draw_draft(dice *d, ridge_draft *draft)
{
    static const ridge_draft_kind KINDS[] = {RIDGE_DRAFT_MEDUSA, RIDGE_DRAFT_EAGLE,
                                             RIDGE_DRAFT_MTP, RIDGE_DRAFT_NGRAM};
    if (dice_roll(d, 0, 3) > 0)
        return;
    draft->kind = KINDS[dice_roll(d, 0, 3)];
    draft->depth = dice_roll(d, 1, 5);
    draft->nodes = draft->depth + dice_roll(d, 0, 8);
    for (int64_t i = 0; i < draft->depth; i++)
        draft->accept[i] = 0.7;
}

static ridge_serving_layout draw_layout(dice *d, const ridge_model *model,
                                        const ridge_slice *slice)
{
    ridge_serving_layout l = serving_layout_of(model, slice, power(d, 4));
    l.pp = dice_roll(d, 0, 3) > 0 ? 1 : power(d, 2);
    l.attention_dp = dice_roll(d, 0, 2) > 0 ? 1 : power(d, 3);
    l.ep = dice_roll(d, 0, 1) == 0 ? 1 : l.tp * l.attention_dp;
    if (dice_roll(d, 0, 3) == 0)
        l.ep = power(d, 3);
    l.redundant_experts = dice_roll(d, 0, 3) == 0 ? l.ep * dice_roll(d, 0, 2) : 0;
    l.kv_cut = (ridge_kv_cut)dice_roll(d, 0, 2);
    l.is_weight_gathered = dice_roll(d, 0, 7) == 0;
    l.tp_d = dice_roll(d, 0, 3) == 0 ? power(d, 3) : 0;
    l.sequences = dice_roll(d, 1, 300);
    l.budget_tokens = power(d, 13);
    l.placement = (int)dice_roll(d, 0, ridge_serving_placement_count(slice) - 1);
    draw_formats(d, &l.formats);
    draw_draft(d, &l.draft);
    return l;
}

static ridge_serving_load draw_load(dice *d, const ridge_serving_layout *l)
{
    const int64_t most = (l->sequences + l->attention_dp - 1) / l->attention_dp;
    ridge_serving_load load =
        serving_decoding((double)dice_roll(d, 0, most), (double)dice_roll(d, 0, 16000));
    if (load.decode_sequences > 0 && dice_roll(d, 0, 1) == 0)
        return load;
    load.chunk_tokens = (double)dice_roll(d, 1, l->budget_tokens);
    load.chunks = (double)dice_roll(d, 1, 4);
    load.chunk_context = (double)dice_roll(d, 0, 12000);
    load.finishing = (double)dice_roll(d, 0, (int64_t)load.chunks);
    return load;
}

static void check_price(ridge_ctx *cx, ridge_serving_desk *desk,
                        const ridge_serving_layout *l, const ridge_serving_load *load)
{
    const ridge_serving_step s = serving_step_of(cx, desk, l, load);
    double sum = 0;
    for (int i = 0; i < RIDGE_SERVING_PART_COUNT; i++) {
        assert_true(isfinite(s.parts_s[i]) && s.parts_s[i] >= 0);
        sum += s.parts_s[i];
    }
    assert_near(sum, s.expected_s, 1e-12);
    assert_true(s.bound_s > 0 && s.bound_s <= s.expected_s * (1 + 1e-9));
}

static bool check_layout(ridge_ctx *cx, dice *d, ridge_serving_desk *desk,
                         const ridge_serving_layout *l)
{
    ridge_serving_memory m;
    ridge_serving_speed speed;
    const char *fault = ridge_serving_layout_fault(desk, l);
    if (fault != NULL) {
        assert_true(strlen(fault) > 10);
        return false;
    }
    if (ridge_serving_memory_find(desk, l, &m) != RIDGE_OK) {
        fixture_assert_message(cx, "do not lie on");
        return false;
    }
    assert_true(m.weights > 0 && m.activations > 0 && m.blocks >= 0 && m.pages >= 0);
    assert_true(!m.fits || m.pages > 0);
    for (int i = 0; i < 4; i++) {
        const ridge_serving_load load = draw_load(d, l);
        check_price(cx, desk, l, &load);
    }
    assert_ok(cx, ridge_serving_speed_build(desk, l, &speed));
    assert_true(speed.rows.n > 1 && speed.n_caches >= 1);
    assert_int_equal(speed.blocks, m.pages);
    return true;
}

static int draw_case(uint64_t seed)
{
    ridge_ctx *cx = ridge_ctx_open();
    dice d = dice_of(seed);
    const ridge_model *model =
        fixture_named(cx, MODELS[dice_roll(&d, 0, RIDGE_COUNT_OF(MODELS) - 1)]);
    const ridge_slice *slice =
        train_slice(cx, SLICES[dice_roll(&d, 0, RIDGE_COUNT_OF(SLICES) - 1)]);
    const ridge_serving_case about = {
        .model = model,
        .slice = slice,
        .engine = serving_engine(cx, ENGINES[dice_roll(&d, 0, 3)]),
        .expert_skew = dice_roll(&d, 0, 2) == 0 ? 0.8 : 0,
        .longest_tokens = 16384};
    ridge_serving_desk *desk;
    assert_ok(cx, ridge_serving_desk_open(cx, &about, &desk));
    int legal = 0;
    for (int i = 0; i < 6; i++) {
        const ridge_serving_layout l = draw_layout(&d, model, slice);
        legal += check_layout(cx, &d, desk, &l);
    }
    ridge_ctx_close(cx);
    return legal;
}

static void random_layouts_have_a_price_or_a_reason(void **state)
{
    (void)state;
    int legal = 0;
    for (uint64_t seed = 1; seed <= 40; seed++)
        legal += draw_case(seed);
    assert_true(legal > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_layouts_have_a_price_or_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
