/* Headers of GGUF: models, bits by part, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "gguf_file.h"
#include "near.h"
#include "ridge/model.h"
#include "ridge/model_gguf.h"

#define TINY SUPPORT_DIR "/tiny-llama.gguf"

static int set_up(void **state)
{
    *state = ridge_ctx_open();
    return *state == NULL ? -1 : 0;
}

static int tear_down(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

static const ridge_model *load(ridge_ctx *cx, const char *path)
{
    const ridge_library *library = NULL;
    const ridge_model *model = NULL;
    if (ridge_library_open(cx, NULL, &library) != RIDGE_OK ||
        ridge_model_load(cx, library, path, &model) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    return model;
}

static void a_header_is_a_model(void **state)
{
    const ridge_model *m = load(*state, TINY);
    assert_string_equal(m->name, "tiny-llama");
    assert_string_equal(m->model_type, "llama");
    assert_int_equal(m->d_model, 64);
    assert_int_equal(m->layer_count, 2);
    assert_int_equal(m->vocab, 96);
    assert_false(m->is_tied);
    assert_int_equal(ridge_model_params(m).total, 86336);
}

/* Q4_0 has 4.5 bits a weight, Q8_0 8.5. */
static void bits_are_those_of_the_tensors(void **state)
{
    const ridge_model *m = load(*state, TINY);
    const double q_k_o = 64 * 64 + 64 * 32 + 64 * 64, v = 64 * 32;
    assert_near(m->quant_bits[RIDGE_QUANT_ATTENTION],
                (4.5 * q_k_o + 8.5 * v) / (q_k_o + v), 1e-12);
    assert_near(m->quant_bits[RIDGE_QUANT_DENSE], (4.5 * 2 + 8.5) / 3, 1e-12);
    assert_near(m->quant_bits[RIDGE_QUANT_HEAD], 8.5, 1e-12);
    assert_string_equal(m->quant_method, "gguf");
}

static void its_tensors_agree_with_its_header(void **state)
{
    ridge_ctx *cx = *state;
    ridge_checkpoint check;
    const ridge_model *m = load(cx, TINY);
    assert_string_equal(ridge_checkpoint_find(cx, TINY), TINY);
    assert_int_equal(ridge_checkpoint_check(cx, m, TINY, &check), RIDGE_OK);
    assert_int_equal(check.tensors, 21);
    assert_int_equal(check.total_params, 86336);
    assert_true(check.agrees);
    assert_non_null(strstr(check.verdict, "Q4_0"));
    assert_non_null(strstr(check.verdict, "token table in fewer bits"));
}

static void assert_refused(ridge_ctx *cx, const char *path, const char *message)
{
    ridge_node config;
    assert_int_not_equal(ridge_gguf_config(cx, path, &config), RIDGE_OK);
    if (strstr(ridge_ctx_message(cx), message) == NULL)
        fail_msg("'%s' lacks '%s'", ridge_ctx_message(cx), message);
    ridge_ctx_clear(cx);
}

static void others_are_refused_with_the_reason(void **state)
{
    assert_refused(*state, SUPPORT_DIR "/vocabulary.gguf", "a vocabulary alone");
    assert_refused(*state, SUPPORT_DIR "/absent.gguf", "absent.gguf");
}

static void assert_unread(ridge_ctx *cx, ridge_str bytes, const char *message)
{
    gguf_file file;
    assert_int_not_equal(ridge__gguf_parse(cx, bytes, 1 << 20, "f.gguf", &file),
                         RIDGE_OK);
    if (strstr(ridge_ctx_message(cx), message) == NULL)
        fail_msg("'%s' lacks '%s'", ridge_ctx_message(cx), message);
    ridge_ctx_clear(cx);
}

static void damaged_headers_are_refused(void **state)
{
    ridge_ctx *cx = *state;
    static const char newer[] = "GGUF\x09\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    static const char many[] = "GGUF\x03\0\0\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff\0\0\0\0";
    static const char text[] = "GGUF\x03\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0"
                               "\xef\xbf\xbd\0\0\0\0\0";
    ridge_str whole;
    assert_unread(cx, ridge_str_of("GGML"), "no GGUF file");
    assert_unread(cx, (ridge_str){newer, sizeof newer - 1}, "version 9");
    assert_unread(cx, (ridge_str){many, sizeof many - 1}, "more tensors or values");
    assert_unread(cx, (ridge_str){text, sizeof text - 1}, "saved as text");
    assert_int_equal(ridge_file_read(cx, TINY, 1 << 20, &whole), RIDGE_OK);
    for (size_t n = 0; n < 1700; n += 7)
        assert_unread(cx, (ridge_str){whole.p, n}, n < 24 ? "no GGUF" : "cut off");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_is_a_model),
        cmocka_unit_test(bits_are_those_of_the_tensors),
        cmocka_unit_test(its_tensors_agree_with_its_header),
        cmocka_unit_test(others_are_refused_with_the_reason),
        cmocka_unit_test(damaged_headers_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
