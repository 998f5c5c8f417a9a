/* How tokens reach experts: copies, once to each node and rank, in fp8. */
#include "train_fixture.h"

#include "train_price.h"

#include "ridge/hardware_stack.h"
#include "ridge/model_routing.h"

#include <math.h>

/* ep_dispatch on four nodes of eight, experts over all of them. */
static ridge_train_price price_on(ridge_ctx *cx, const ridge_model *model,
                                  const char *slice, int64_t ep,
                                  ridge_ep_dispatch dispatch)
{
    const ridge_slice *s = train_slice(cx, slice);
    ridge_train_request request = train_request(model, s, (double)s->chips, 65536);
    ridge_layout layout = train_layout(s->chips / ep, ep, 1, 1, 1);
    layout.ep = ep;
    layout.ep_dispatch = dispatch;
    return train_price_of(cx, &request, &layout);
}

static const ridge_model *mixture(ridge_ctx *cx, int experts, int chosen, int groups,
                                  int groups_chosen)
{
    return fixture_model(
        cx,
        "{'model_type': 'deepseek_v3', 'hidden_size': 1024, 'num_hidden_layers': 4, "
        "'num_attention_heads': 16, 'q_lora_rank': null, 'kv_lora_rank': 128, "
        "'qk_nope_head_dim': 64, 'qk_rope_head_dim': 32, 'v_head_dim': 64, "
        "'intermediate_size': 4096, 'moe_intermediate_size': 1024, "
        "'n_routed_experts': %d, 'n_shared_experts': 1, 'num_experts_per_tok': %d, "
        "'n_group': %d, 'topk_group': %d, 'first_k_dense_replace': 0, "
        "'vocab_size': 32000, 'tie_word_embeddings': true}",
        experts, chosen, groups, groups_chosen);
}

/* Within a node each rank with any of k experts gets one copy: r (1 - (1 - 1/r)^k). */
static void ranks_get_a_token_once(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = mixture(cx, 64, 8, 1, 1);
    const double copies_s =
        price_on(cx, model, "h100:1x8", 8, RIDGE_DISPATCH_COPIES).parts.ep_s;
    const double once_s =
        price_on(cx, model, "h100:1x8", 8, RIDGE_DISPATCH_ONCE).parts.ep_s;
    const double share = 8 * (1 - pow(7.0 / 8, 8)) / 8;
    assert_true(once_s < copies_s);
    assert_near(once_s / copies_s, share, 0.05); /* what starts takes stays */
}

/* Between nodes the slower network counts: of 8 copies 4 (1 - (3/4)^8) go out. */
static void nodes_get_a_token_once(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = mixture(cx, 64, 8, 1, 1);
    const double copies_s =
        price_on(cx, model, "h100:4x8", 32, RIDGE_DISPATCH_COPIES).parts.ep_s;
    const double once_s =
        price_on(cx, model, "h100:4x8", 32, RIDGE_DISPATCH_ONCE).parts.ep_s;
    const double narrow_s =
        price_on(cx, model, "h100:4x8", 32, RIDGE_DISPATCH_ONCE_FP8).parts.ep_s;
    assert_true(once_s < 0.7 * copies_s && once_s > 0.3 * copies_s);
    /* half of the exchanges carry 1 + 4/128 bytes for 2 */
    assert_near(narrow_s / once_s, 0.5 + 0.5 * (1 + 4.0 / 128) / 2, 0.05);
}

/* Tokens that may choose in half of the groups alone reach fewer nodes. */
static void groups_limit_the_nodes(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *free = mixture(cx, 64, 8, 1, 1);
    const ridge_model *limited = mixture(cx, 64, 8, 8, 2);
    assert_int_equal(limited->layers[0].ffn.expert_groups, 8);
    assert_int_equal(limited->layers[0].ffn.groups_per_token, 2);
    assert_int_equal(free->layers[0].ffn.expert_groups, 0);
    const double free_s =
        price_on(cx, free, "h100:8x8", 64, RIDGE_DISPATCH_ONCE).parts.ep_s;
    const double limited_s =
        price_on(cx, limited, "h100:8x8", 64, RIDGE_DISPATCH_ONCE).parts.ep_s;
    assert_true(limited_s < 0.6 * free_s);
    /* copies go to experts, wherever these are */
    assert_near(price_on(cx, limited, "h100:8x8", 64, RIDGE_DISPATCH_COPIES).parts.ep_s,
                price_on(cx, free, "h100:8x8", 64, RIDGE_DISPATCH_COPIES).parts.ep_s,
                1e-12);
}

static void the_stack_dispatches_unless_a_knob_does(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_stack once = {.name = "once",
                              .practice = {-1, -1, -1, -1, -1, NULL},
                              .stream_passes = 1,
                              .kept_passes = 1,
                              .dispatches_once = true};
    ridge_train_request request =
        train_request(mixture(cx, 64, 8, 1, 1), train_slice(cx, "h100:1x8"), 64, 2048);
    ridge_train_result result;
    request.knobs.ep = 8;
    assert_int_equal(ridge_train_search(cx, &request, &result), RIDGE_OK);
    assert_int_equal(result.layouts[0].layout.ep_dispatch, RIDGE_DISPATCH_COPIES);
    request.stack = &once;
    assert_int_equal(ridge_train_search(cx, &request, &result), RIDGE_OK);
    assert_int_equal(result.layouts[0].layout.ep_dispatch, RIDGE_DISPATCH_ONCE);
    assert_int_equal(ridge_knobs_set(cx, &request.knobs, "ep_dispatch", "once-fp8"),
                     RIDGE_OK);
    assert_int_equal(ridge_train_search(cx, &request, &result), RIDGE_OK);
    assert_int_equal(result.layouts[0].layout.ep_dispatch, RIDGE_DISPATCH_ONCE_FP8);
    assert_int_equal(ridge_knobs_set(cx, &request.knobs, "ep_dispatch", "twice"),
                     RIDGE_E_ARG);
    assert_string_equal(ridge_ctx_message(cx),
                        "unknown dispatch of experts 'twice': use copies, once or "
                        "once-fp8");
}

/* DeepSeek-V3 as it was trained: 2,048 H800, 16 stages on DualPipe, experts over 64
 * ranks, ZeRO-1, products in fp8, batches of 15,360 sequences. Published: 180 thousand
 * hours of H800 a trillion tokens, multi-token prediction in it, which is left out.
 * @source deepseek-v3-2024, sections 1, 3.2 and 4.2 */
static void deepseek_v3_takes_the_hours_that_it_took(void **state)
{
    ridge_ctx *cx = *state;
    static const char *const knobs[][2] = {{"pp", "16"},
                                           {"ep", "64"},
                                           {"tp", "1"},
                                           {"cp", "1"},
                                           {"zero", "1"},
                                           {"schedule", "dualpipe"},
                                           {"microbatch", "1"},
                                           {"precision", "fp8"},
                                           {"optimizer", "adamw-bf16"},
                                           {"ep_dispatch", "once-fp8"}};
    const ridge_catalog *catalog;
    ridge_train_result result;
    ridge_train_request request = train_request(
        fixture_named(cx, "deepseek-v3"), train_slice(cx, "h800:256x8"), 15360, 4096);
    assert_ok(cx, ridge_catalog_open(cx, NULL, &catalog));
    assert_ok(cx, ridge_stack_find(cx, catalog, "megatron-core", &request.stack));
    for (size_t i = 0; i < RIDGE_COUNT_OF(knobs); i++)
        assert_ok(cx, ridge_knobs_set(cx, &request.knobs, knobs[i][0], knobs[i][1]));
    assert_ok(cx, ridge_train_search(cx, &request, &result));
    assert_true(result.n_layouts > 0);
    const double tokens_per_s = 15360.0 * 4096 / result.layouts[0].step_time_s;
    assert_near(2048 * 1e12 / tokens_per_s / 3600, 180e3, 0.1);
}

/* The busiest rank of a few thousand rows, by the closed form and by the whole
 * distribution. */
static void the_busiest_rank_is_that_of_the_distribution(void **state)
{
    ridge_ctx *cx = *state;
    for (int64_t ep = 2; ep <= 32; ep *= 2) {
        const ridge_model *model = mixture(cx, 64, 6, 1, 1);
        const ridge_slice *s = train_slice(cx, "h100:4x8");
        ridge_train_request request = train_request(model, s, 32, 4096);
        ridge_layout layout = train_layout(32 / ep, ep, 1, 1, 1);
        ridge_routing whole;
        train_case tc;
        layout.ep = ep;
        assert_ok(cx,
                  ridge_routing_find(
                      cx, &(ridge_routing_request){64, 6, 4096 * ep, ep, 0}, &whole));
        assert_ok(cx, train_case_open(cx, &request, &tc));
        const double over = whole.ranks.most / whole.ranks.mean - 1;
        assert_near(train_expert_imbalance(&tc, &layout) - 1, over, 0.06);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_get_a_token_once),
        cmocka_unit_test(nodes_get_a_token_once),
        cmocka_unit_test(groups_limit_the_nodes),
        cmocka_unit_test(deepseek_v3_takes_the_hours_that_it_took),
        cmocka_unit_test(the_stack_dispatches_unless_a_knob_does),
        cmocka_unit_test(the_busiest_rank_is_that_of_the_distribution),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
