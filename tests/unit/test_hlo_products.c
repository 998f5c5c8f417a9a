/* Products of modules are each counted once, on any chip, wherever they stand. */
#include "near.h"

#include "network_build.h"
#include "plain_chip.h"
#include "ridge/profile_hlo_study.h"

#include <string.h>

static int set_up(void **state)
{
    *state = ridge_ctx_open();
    return *state == NULL;
}

static int tear_down(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

/* On one chip of a kind; RIDGE_CHIP_CPU: on none. */
static ridge_hlo_study study_on(ridge_ctx *cx, const char *text, ridge_chip_kind kind)
{
    static ridge_hlo_file file;
    static ridge_chip chip;
    static ridge_slice slice;
    ridge_hlo_study s = {.slice = NULL};
    slice = test_slice();
    chip = plain_gpu();
    chip.kind = kind;
    test_torus(&slice, 4, true, 100e9);
    slice.chip = &chip;
    const ridge_hlo_request request = {.slice = kind == RIDGE_CHIP_CPU ? NULL : &slice};
    if (ridge_hlo_parse(cx, ridge_str_of(text), "t", &file) != RIDGE_OK ||
        ridge_hlo_study_find(cx, &file.modules[0], &request, &s) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    return s;
}

#define DOT "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"

/* Fault: of two products in one fusion, as TPUs have them where one feeds the other,
 * only the larger result was counted. */
static void a_product_in_a_fusion_in_a_fusion_counts(void **state)
{
    const char *text =
        "HloModule m, is_scheduled=true\n"
        "up {\n  x = bf16[128,64] parameter(0)\n  w = bf16[64,512] parameter(1)\n"
        "  ROOT d = bf16[128,512] dot(x, w), " DOT "}\n"
        "down {\n  x = bf16[128,64] parameter(0)\n  w = bf16[64,512] parameter(1)\n"
        "  v = bf16[512,32] parameter(2)\n"
        "  h = bf16[128,512] fusion(x, w), kind=kOutput, calls=up\n"
        "  ROOT d = bf16[128,32] dot(h, v), " DOT "}\n"
        "ENTRY e {\n  x = bf16[128,64] parameter(0)\n  w = bf16[64,512] parameter(1)\n"
        "  v = bf16[512,32] parameter(2)\n"
        "  ROOT f = bf16[128,32] fusion(x, w, v), kind=kOutput, calls=down\n}\n";
    const double both = 2.0 * 128 * 512 * (64 + 32);
    ridge_hlo_study s = study_on(*state, text, RIDGE_CHIP_CPU);
    assert_int_equal(s.n_ops, 1);
    assert_near(s.matmul_flops, both, 0);
    assert_near(s.bytes, 2.0 * (128 * 64 + 64 * 512 + 512 * 32 + 128 * 32), 0);
    s = study_on(*state, text, RIDGE_CHIP_GPU);
    assert_near(s.matmul_flops, both, 0);
    assert_true(s.ops[0].bound_s >= both / 989e12 * (1 - 1e-12));
    assert_true(s.ops[0].expected_s > s.ops[0].bound_s);
}

/* Fault: where what is around a product runs within it, two products with one reader
 * counted as one, and one whose reader is computed in two kernels counted twice. */
static void estimated_fusion_keeps_the_products(void **state)
{
    static const char *const texts[] = {
        /* x w times x v */
        "e {\n  x = bf16[128,64] parameter(0)\n  w = bf16[64,512] parameter(1)\n"
        "  v = bf16[64,512] parameter(2)\n"
        "  a = bf16[128,512] dot(x, w), " DOT "  b = bf16[128,512] dot(x, v), " DOT
        "  ROOT m = bf16[128,512] multiply(a, b)\n}\n",
        /* a sum of it and its largest, both of its double, and a product besides */
        "add {\n  p = bf16[] parameter(0)\n  q = bf16[] parameter(1)\n"
        "  ROOT s = bf16[] add(p, q)\n}\n"
        "most {\n  p = bf16[] parameter(0)\n  q = bf16[] parameter(1)\n"
        "  ROOT s = bf16[] maximum(p, q)\n}\n"
        "ENTRY e {\n  x = bf16[128,64] parameter(0)\n  w = bf16[64,512] parameter(1)\n"
        "  v = bf16[64,512] parameter(2)\n  z = bf16[] constant(0)\n"
        "  a = bf16[128,512] dot(x, w), " DOT "  b = bf16[128,512] add(a, a)\n"
        "  r = bf16[128] reduce(b, z), dimensions={1}, to_apply=add\n"
        "  t = bf16[128] reduce(b, z), dimensions={1}, to_apply=most\n"
        "  c = bf16[128,512] dot(x, v), " DOT
        "  ROOT o = (bf16[128], bf16[128], bf16[128,512]) tuple(r, t, c)\n}\n",
        /* two elementwise results, one of the other, each of a product */
        "e {\n  x = bf16[128,64] parameter(0)\n  w = bf16[64,512] parameter(1)\n"
        "  v = bf16[64,512] parameter(2)\n"
        "  a = bf16[128,512] dot(x, w), " DOT "  b = bf16[128,512] negate(a)\n"
        "  c = bf16[128,512] dot(x, v), " DOT "  d = bf16[128,512] add(b, c)\n"
        "  ROOT o = (bf16[128,512], bf16[128,512]) tuple(b, d)\n}\n",
    };
    static const ridge_chip_kind kinds[] = {RIDGE_CHIP_CPU, RIDGE_CHIP_GPU,
                                            RIDGE_CHIP_TPU};
    for (size_t t = 0; t < RIDGE_COUNT_OF(texts); t++) {
        for (size_t k = 0; k < RIDGE_COUNT_OF(kinds); k++) {
            const ridge_hlo_study s = study_on(*state, texts[t], kinds[k]);
            assert_near(s.matmul_flops, 2 * 2.0 * 128 * 64 * 512, 0);
            for (int o = 0; o < s.n_ops; o++)
                assert_true(s.ops[o].matmul_flops <= 2.0 * 128 * 64 * 512);
        }
    }
}

/* Fault: of a text that was cut before its entry, fusions that end in another name for
 * their product were left out. */
static void what_is_left_of_a_cut_text_counts(void **state)
{
    const char *text =
        "HloModule m, is_scheduled=true\n"
        "%fused_computation.1 (x: bf16[128,64], w: bf16[64,512]) -> bf16[1,128,512] {\n"
        "  %x = bf16[128,64] parameter(0)\n  %w = bf16[64,512] parameter(1)\n"
        "  %d = bf16[128,512] dot(%x, %w), " DOT
        "  ROOT %b = bf16[1,128,512] bitcast(%d)\n}\n"
        "%fused_computation.2 (y: bf16[8]) -> bf16[8] {\n  %y = bf16[8] param";
    const ridge_hlo_study s = study_on(*state, text, RIDGE_CHIP_CPU);
    assert_near(s.matmul_flops, 2.0 * 128 * 64 * 512, 0);
}

/* Fault: attention of Transformer Engine in a dump that left its configuration out was
 * unknown although its operands tell its size. */
static void attention_without_a_configuration_counts(void **state)
{
    const ridge_hlo_study s = study_on(
        *state,
        "e {\n  q = bf16[2,64,8,16] parameter(0)\n  k = bf16[2,64,4,16] parameter(1)\n"
        "  v = bf16[2,64,4,16] parameter(2)\n"
        "  ROOT a = (bf16[2,64,8,16], f32[2,8,64,1]) custom-call(q, k, v), "
        "custom_call_target=\"te_fused_attn_forward_ffi\"\n}\n",
        RIDGE_CHIP_CPU);
    assert_int_equal(s.n_unknown, 0);
    assert_near(s.matmul_flops, 4.0 * 2 * 8 * 64 * 64 * 16, 0);
    assert_non_null(strstr(s.ops[0].detail, "mask not told"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_product_in_a_fusion_in_a_fusion_counts),
        TEST(estimated_fusion_keeps_the_products),
        TEST(what_is_left_of_a_cut_text_counts),
        TEST(attention_without_a_configuration_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
