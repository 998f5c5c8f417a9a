/* Headers of safetensors files: sums, packed formats, hostile lengths and offsets. */
#include "model_fixture.h"

#include "safetensors.h"

#include <stdio.h>
#include <string.h>

static ridge_status sum(ridge_ctx *cx, const char *header, int64_t data_bytes,
                        ridge__tensor_sums *out)
{
    const ridge__tensor_header h = {ridge_str_of(header), data_bytes, "t.safetensors"};
    return ridge__safetensors_sum(cx, &h, NULL, out);
}

static void tensors_are_summed(void **state)
{
    ridge__tensor_sums s;
    assert_ok(*state, sum(*state,
                          "{\"__metadata__\": {\"format\": \"pt\"},"
                          "\"model.norm.weight\": {\"dtype\": \"BF16\", \"shape\": [8],"
                          " \"data_offsets\": [0, 16]},"
                          "\"lm_head.weight\": {\"dtype\": \"F32\", \"shape\": [2, 3],"
                          " \"data_offsets\": [16, 40]},"
                          "\"scalar\": {\"dtype\": \"F16\", \"shape\": [],"
                          " \"data_offsets\": [40, 42]}}",
                          42, &s));
    assert_int_equal(s.tensors, 3);
    assert_int_equal(s.bytes, 42);
    assert_int_equal(s.params, 15);
    assert_true(s.marks.has_head);
    assert_false(s.marks.has_mtp || s.marks.has_vision || s.marks.has_buffers);
}

static void packed_integers_hold_eight_weights(void **state)
{
    ridge__tensor_sums s;
    assert_ok(*state, sum(*state,
                          "{\"a.qweight\": {\"dtype\": \"I32\", \"shape\": [16, 4],"
                          " \"data_offsets\": [0, 256]},"
                          "\"a.qzeros\": {\"dtype\": \"I32\", \"shape\": [1, 4],"
                          " \"data_offsets\": [256, 272]},"
                          "\"a.scales\": {\"dtype\": \"F16\", \"shape\": [1, 32],"
                          " \"data_offsets\": [272, 336]},"
                          "\"a.g_idx\": {\"dtype\": \"I32\", \"shape\": [128],"
                          " \"data_offsets\": [336, 848]},"
                          "\"b.weight_packed\": {\"dtype\": \"I64\", \"shape\": [2],"
                          " \"data_offsets\": [848, 864]}}",
                          864, &s));
    assert_int_equal(s.params, 16 * 4 * 8 + 2 * 16);
}

static void bytes_hold_two_weights_in_a_4_bit_model(void **state)
{
    const ridge_model *m = fixture_named(*state, "gpt-oss-20b");
    const char *header = "{\"x.gate_up_proj_blocks\": {\"dtype\": \"U8\","
                         " \"shape\": [32, 16], \"data_offsets\": [0, 512]},"
                         "\"x.gate_up_proj_scales\": {\"dtype\": \"U8\","
                         " \"shape\": [32], \"data_offsets\": [512, 544]}}";
    ridge__tensor_sums s;
    const ridge__tensor_header h = {ridge_str_of(header), 544, "t.safetensors"};
    assert_ok(*state, ridge__safetensors_sum(*state, &h, m, &s));
    assert_int_equal(s.params, 1024);
    assert_ok(*state, sum(*state, header, 544, &s));
    assert_int_equal(s.params, 512);
}

static void layers_behind_the_last_are_predictions(void **state)
{
    (void)state;
    ridge__tensor_marks marks = {0};
    ridge__tensor_mark(&marks, "model.layers.60.self_attn.o_proj.weight", 61);
    assert_false(marks.has_mtp);
    ridge__tensor_mark(&marks, "model.layers.61.self_attn.o_proj.weight", 61);
    assert_true(marks.has_mtp);
}

typedef struct bad_header {
    const char *text;
    const char *message;
} bad_header;

static void malformed_headers_are_refused(void **state)
{
    static const bad_header bad[] = {
        {"[]", "must be an object"},
        {"{\"a\": 3}", "must be an object"},
        {"{\"a\": {\"shape\": [1], \"data_offsets\": [0, 1]}}", "dtype"},
        {"{\"a\": {\"dtype\": \"Q4\", \"shape\": [1], \"data_offsets\": [0, 1]}}",
         "unknown dtype \"Q4\""},
        {"{\"a\": {\"dtype\": \"U8\", \"data_offsets\": [0, 1]}}", "shape"},
        {"{\"a\": {\"dtype\": \"U8\", \"shape\": [-1], \"data_offsets\": [0, 1]}}",
         "shape"},
        {"{\"a\": {\"dtype\": \"U8\","
         " \"shape\": [4294967296, 4294967296], \"data_offsets\": [0, 1]}}",
         "too many elements"},
        {"{\"a\": {\"dtype\": \"F64\","
         " \"shape\": [9000000000000000000], \"data_offsets\": [0, 1]}}",
         "too many elements"},
        {"{\"a\": {\"dtype\": \"U8\", \"shape\": [1], \"data_offsets\": [0]}}",
         "data_offsets"},
        {"{\"a\": {\"dtype\": \"U8\", \"shape\": [2], \"data_offsets\": [0, 1]}}",
         "its shape does not take 1 bytes"},
        {"{\"a\": {\"dtype\": \"U8\", \"shape\": [99], \"data_offsets\": [0, 99]}}",
         "data_offsets"},
        {"{\"a\": {\"dtype\": \"U8\", \"shape\": [1], \"data_offsets\": [5, 4]}}",
         "data_offsets"},
        {"{\"a\": {\"dtype\": \"U8\", \"shape\": [4], \"data_offsets\": [0, 4]},"
         " \"b\": {\"dtype\": \"U8\", \"shape\": [4], \"data_offsets\": [3, 7]}}",
         "\"a\" and \"b\" overlap"},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(bad); i++) {
        ridge__tensor_sums s;
        assert_int_equal(sum(*state, bad[i].text, 8, &s), RIDGE_E_PARSE);
        fixture_assert_message(*state, bad[i].message);
    }
}

/* ---- files ----------------------------------------------------------------------- */

static const char *write_bytes(ridge_ctx *cx, const void *bytes, size_t n)
{
    const char *path = RIDGE_BUILD_DIR "/unit-test.safetensors";
    assert_ok(cx, ridge_file_write(cx, path, (ridge_str){bytes, n}));
    return path;
}

static void file_is_read_up_to_its_header(void **state)
{
    const char file[] = "\x42\0\0\0\0\0\0\0"
                        "{\"w\": {\"dtype\": \"BF16\", \"shape\": [2],"
                        " \"data_offsets\": [0, 4]}}  "
                        "    "
                        "data";
    ridge__tensor_sums s;
    const char *path = write_bytes(*state, file, sizeof file - 1);
    assert_ok(*state, ridge__safetensors_read(*state, path, NULL, &s));
    assert_int_equal(s.bytes, 4);
    assert_int_equal(s.params, 2);
}

static void hostile_lengths_are_refused(void **state)
{
    static const unsigned char lengths[][8] = {
        {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, /* all of memory */
        {0, 0, 0, 0, 0, 0, 0, 0x80},                      /* negative if signed */
        {1, 0, 0, 0, 0, 0, 0, 0}};                        /* one byte past the end */
    for (size_t i = 0; i < RIDGE_COUNT_OF(lengths); i++) {
        ridge__tensor_sums s;
        const char *path = write_bytes(*state, lengths[i], 8);
        assert_int_equal(ridge__safetensors_read(*state, path, NULL, &s),
                         RIDGE_E_PARSE);
        fixture_assert_message(*state, "does not fit");
    }
    ridge__tensor_sums s;
    const char *path = write_bytes(*state, "short", 5);
    assert_int_equal(ridge__safetensors_read(*state, path, NULL, &s), RIDGE_E_PARSE);
    fixture_assert_message(*state, "too short");
}

static void absent_files_say_why(void **state)
{
    ridge__tensor_sums s;
    assert_int_equal(
        ridge__safetensors_read(*state, RIDGE_BUILD_DIR "/none.safetensors", NULL, &s),
        RIDGE_E_IO);
    assert_int_equal(ridge__safetensors_read(*state, RIDGE_BUILD_DIR, NULL, &s),
                     RIDGE_E_IO);
    fixture_assert_message(*state, "folder");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_are_summed),
        cmocka_unit_test(packed_integers_hold_eight_weights),
        cmocka_unit_test(bytes_hold_two_weights_in_a_4_bit_model),
        cmocka_unit_test(layers_behind_the_last_are_predictions),
        cmocka_unit_test(malformed_headers_are_refused),
        cmocka_unit_test(file_is_read_up_to_its_header),
        cmocka_unit_test(hostile_lengths_are_refused),
        cmocka_unit_test(absent_files_say_why),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
