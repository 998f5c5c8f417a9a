/* Checkpoint indexes against the bytes that a model predicts. */
#include "model_fixture.h"

#include <string.h>
#include <sys/stat.h>

/* D 64, 2 layers, F 256, V 1000: 2 x (4 x 4096 + 3 x 16384 + 128) + 64 000 + 64. */
#define FORM                                                                           \
    "{'model_type': 'llama', 'hidden_size': 64, 'num_hidden_layers': 2,"               \
    " 'num_attention_heads': 4, 'intermediate_size': 256, 'vocab_size': 1000,"         \
    " 'torch_dtype': 'bfloat16', 'tie_word_embeddings': true %s}"

static const int64_t PARAMS = 2 * (4 * 4096 + 3 * 16384 + 128) + 64000 + 64;

static ridge_checkpoint check(ridge_ctx *cx, const ridge_model *m, const char *text)
{
    const char *path = RIDGE_BUILD_DIR "/unit-test.safetensors.index.json";
    ridge_checkpoint out;
    assert_ok(cx, ridge_file_write(cx, path, ridge_str_of(text)));
    assert_ok(cx, ridge_checkpoint_check(cx, m, path, &out));
    assert_string_equal(out.path, path);
    return out;
}

static const char *index_of(ridge_ctx *cx, int64_t bytes, const char *tensor)
{
    return ridge_sprintf(
        ridge_ctx_arena(cx),
        "{\"metadata\": {\"total_size\": %lld},"
        " \"weight_map\": {\"model.norm.weight\": \"a\", \"%s\": \"b\"}}",
        (long long)bytes, tensor);
}

static void assert_verdict(ridge_checkpoint c, bool agrees, const char *part)
{
    if (c.agrees == agrees && strstr(c.verdict, part) != NULL)
        return;
    print_error("agrees %d, no \"%s\" in: %s\n", c.agrees, part, c.verdict);
    fail();
}

static void equal_bytes_agree(void **state)
{
    const ridge_model *m = fixture_model(*state, FORM, "");
    const ridge_checkpoint c =
        check(*state, m, index_of(*state, 2 * PARAMS, "model.embed_tokens.weight"));
    assert_verdict(c, true, "agrees to the byte");
    assert_int_equal(c.tensors, 2);
    assert_near(c.total_bytes, c.predicted_bytes, 0);
}

static void tied_head_may_be_stored_twice(void **state)
{
    const ridge_model *m = fixture_model(*state, FORM, "");
    const int64_t twice = 2 * PARAMS + 2 * 64 * 1000;
    assert_verdict(check(*state, m, index_of(*state, twice, "lm_head.weight")), true,
                   "the tied head a second time");
    assert_verdict(check(*state, m, index_of(*state, twice, "other.weight")), false,
                   "more than predicted");
}

static void buffers_are_a_small_excess(void **state)
{
    const ridge_model *m = fixture_model(*state, FORM, "");
    const int64_t more = 2 * PARAMS + 1000;
    assert_verdict(
        check(*state, m, index_of(*state, more, "layers.0.rotary_emb.inv_freq")), true,
        "rotary or mask buffers");
    assert_verdict(check(*state, m, index_of(*state, more, "x")), true,
                   "agrees within");
}

static void wider_weights_are_recognised(void **state)
{
    const ridge_model *m = fixture_model(*state, FORM, "");
    assert_verdict(check(*state, m, index_of(*state, 4 * PARAMS, "x")), true,
                   "each weight takes 2 times its bytes");
}

static void another_model_differs(void **state)
{
    const ridge_model *m = fixture_model(*state, FORM, "");
    assert_verdict(check(*state, m, index_of(*state, 3 * PARAMS, "x")), false,
                   "50.0 % more than predicted");
}

static void two_documents_are_said_to_be_two(void **state)
{
    const ridge_model *m = fixture_model(*state, FORM, "");
    const char *one = index_of(*state, 2 * PARAMS, "{\\\"}");
    const char *two = ridge_sprintf(ridge_ctx_arena(*state), "%s\n%s\n", one, one);
    assert_verdict(check(*state, m, two), true, "2 JSON documents");
}

static void packed_count_is_no_parameter_count(void **state)
{
    const ridge_model *m = fixture_model(*state, FORM,
                                         ", 'quantization_config': {'quant_method': "
                                         "'gptq', 'bits': 4, 'group_size': 128}");
    const char *text = ridge_sprintf(
        ridge_ctx_arena(*state),
        "{\"metadata\": {\"total_size\": %.0f, \"total_parameters\": %lld}}",
        ridge_model_weight_bytes(m), (long long)(PARAMS / 4));
    const ridge_checkpoint c = check(*state, m, text);
    assert_verdict(c, true, "packed integers");
    assert_int_equal(c.total_params, 0);
}

/* Two indexes behind each other, and before them the mark of an editor. */
static void a_mark_of_byte_order_is_skipped(void **state)
{
    const ridge_model *m = fixture_model(*state, FORM, "");
    const char *text =
        ridge_sprintf(ridge_ctx_arena(*state),
                      "\xef\xbb\xbf{\"metadata\": {\"total_size\": %.0f}}\n{}",
                      ridge_model_weight_bytes(m));
    assert_verdict(check(*state, m, text), true, "");
}

static void what_is_no_index_is_refused(void **state)
{
    const ridge_model *m = fixture_model(*state, FORM, "");
    static const char *const bad[] = {"{}",
                                      "[1]",
                                      "{\"metadata\": {\"total_size\": -4}}",
                                      "{\"metadata\": {\"total_size\": \"9\"}}",
                                      "{",
                                      ""};
    for (size_t i = 0; i < RIDGE_COUNT_OF(bad); i++) {
        const char *path = RIDGE_BUILD_DIR "/unit-test-bad.index.json";
        ridge_checkpoint c;
        assert_ok(*state, ridge_file_write(*state, path, ridge_str_of(bad[i])));
        assert_int_equal(ridge_checkpoint_check(*state, m, path, &c), RIDGE_E_PARSE);
    }
}

static void one_shard_asks_for_the_index(void **state)
{
    const ridge_model *m = fixture_model(*state, FORM, "");
    const char file[] = "\x42\0\0\0\0\0\0\0"
                        "{\"w\": {\"dtype\": \"BF16\", \"shape\": [2],"
                        " \"data_offsets\": [0, 4]}}      "
                        "data";
    const char *path = RIDGE_BUILD_DIR "/unit-test-shard.safetensors";
    ridge_checkpoint c;
    assert_ok(*state,
              ridge_file_write(*state, path, (ridge_str){file, sizeof file - 1}));
    assert_ok(*state, ridge_checkpoint_check(*state, m, path, &c));
    assert_verdict(c, false, "one shard of several");
    assert_int_equal(c.total_params, 2);
}

static void index_is_found_beside_a_config(void **state)
{
    const char *folder = RIDGE_BUILD_DIR "/checkpoint-find";
    mkdir(folder, 0777);
    assert_null(
        ridge_checkpoint_find(*state, RIDGE_BUILD_DIR "/no-such-folder/x.json"));
    const char *path = RIDGE_BUILD_DIR "/checkpoint-find/model.safetensors.index.json";
    assert_ok(*state, ridge_file_write(*state, path, ridge_str_of("{}")));
    assert_non_null(ridge_checkpoint_find(*state, folder));
    const char *found =
        ridge_checkpoint_find(*state, RIDGE_BUILD_DIR "/checkpoint-find/config.json");
    assert_non_null(found);
    assert_non_null(strstr(found, "model.safetensors.index.json"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_bytes_agree),
        cmocka_unit_test(tied_head_may_be_stored_twice),
        cmocka_unit_test(buffers_are_a_small_excess),
        cmocka_unit_test(wider_weights_are_recognised),
        cmocka_unit_test(another_model_differs),
        cmocka_unit_test(two_documents_are_said_to_be_two),
        cmocka_unit_test(packed_count_is_no_parameter_count),
        cmocka_unit_test(a_mark_of_byte_order_is_skipped),
        cmocka_unit_test(what_is_no_index_is_refused),
        cmocka_unit_test(one_shard_asks_for_the_index),
        cmocka_unit_test(index_is_found_beside_a_config),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
