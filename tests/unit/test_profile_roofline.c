/* Operations against a chip's limits, and collectives as HLO tells them. The times are
 * those of a published profile. */
#include "trace_text.h"

#include <string.h>

#include "collective_text.h"
#include "op_shapes.h"

/* ---- shapes of calls
 * ------------------------------------------------------------------ */

static call_work work_of(const char *call, const char *dims, const char *types,
                         const char *values)
{
    const call_text text = {call, dims, types, values};
    return op_shapes_work(&text);
}

static void products_follow_from_shapes(void **state)
{
    (void)state;
    call_work w =
        work_of("aten::addmm", "[[512], [141, 2048], [2048, 512], [], []]",
                "[\"c10::BFloat16\", \"c10::BFloat16\", \"c10::BFloat16\"]", "");
    assert_true(w.has_flops && w.has_bytes && w.has_dtype);
    assert_near(w.flops, 2.0 * 141 * 2048 * 512, 0);
    assert_near(w.bytes, 2.0 * (141 * 2048 + 2048 * 512 + 141 * 512), 0);
    assert_int_equal(w.dtype, RIDGE_DTYPE_BF16);
    w = work_of("aten::bmm", "[[4, 8, 16], [4, 16, 32]]", "[\"float\", \"float\"]", "");
    assert_near(w.flops, 2.0 * 4 * 8 * 16 * 32, 0);
    assert_int_equal(w.dtype, RIDGE_DTYPE_FP32);
    w = work_of("aten::linear", "[[2, 8, 16], [32, 16], []]", "[]", "");
    assert_near(w.flops, 2.0 * 2 * 8 * 16 * 32, 0);
    assert_false(w.has_bytes);
}

static void attention_counts_once_and_half_when_causal(void **state)
{
    (void)state;
    const char *dims =
        "[[16,559,16,64],[16,559,16,64],[16,559,16,64],[],[],[],[],[],[]]";
    const char *causal = "[\"\",\"\",\"\",\"\",\"\",\"559\",\"559\",\"0.\",\"True\"]";
    const double whole = 4.0 * 16 * 16 * 559 * 559 * 64;
    call_work w = work_of("aten::_flash_attention_forward", dims, "[]", "");
    assert_near(w.flops, whole, 1e-12);
    w = work_of("aten::_flash_attention_forward", dims, "[]", causal);
    assert_near(w.flops, whole / 2, 1e-12);
}

static void shapes_that_do_not_fit_tell_nothing(void **state)
{
    (void)state;
    assert_false(work_of("aten::mm", "[[4, 8], [9, 3]]", "[]", "").has_flops);
    assert_false(work_of("aten::mm", "[[4, 8]", "[]", "").has_flops);
    assert_false(work_of("aten::mm", "", "", "").has_flops);
    assert_false(work_of("aten::unheard_of", "[[4, 8], [8, 3]]", "[]", "").has_flops);
    assert_false(work_of("aten::mm", "[[4, -8], [-8, 3]]", "[]", "").has_flops);
}

/* ---- collectives of HLO
 * ---------------------------------------------------------------- */

static void groups_are_read_in_both_forms(void **state)
{
    (void)state;
    collective_told t = collective_text_read(
        "%ag = bf16[64,512]{1,0:T(8,128)(2,1)} all-gather(bf16[8,512]{1,0} %p), "
        "replica_groups={{0,1,2,3},{4,5,6,7}}, dimensions={0}");
    assert_int_equal(t.ranks, 4);
    assert_near(t.bytes, 2.0 * 64 * 512, 0);
    t = collective_text_read("%rs = f32[8] reduce-scatter(f32[128] %p), "
                             "replica_groups=[8,16]<=[128], to_apply=%add");
    assert_int_equal(t.ranks, 16);
    assert_near(t.bytes, 512, 0);
    t = collective_text_read("all-gather.3");
    assert_int_equal(t.ranks, 0);
    t = collective_text_read("%x = f32[ all-gather(f32[2,) replica_groups={{");
    assert_int_equal(t.ranks, 0);
}

/* ---- a published profile
 * ----------------------------------------------------------------
 */

#define XLA_OP(name, category, text, ts, dur, flops)                                   \
    ", {\"ph\": \"X\", \"pid\": 3, \"tid\": 1, \"name\": \"" name "\", \"ts\": " ts    \
    ", \"dur\": " dur ", \"args\": {\"hlo_category\": \"" category                     \
    "\", \"long_name\": \"" text "\", \"model_flops\": \"" flops "\"}}"

/* A feed-forward product of [32, 1024, 8192] x [8192, 32768] over 8 cores of 23 TFLOP/s
 * in 96 ms, and a reduce-scatter over 2 in 1.13 ms.
 * @source scaling-book-2025, chapter 9 */
static void a_published_product_reaches_its_roofline(void **state)
{
    (void)state;
    trace_fixture f;
    trace_fixture_open(&f, "profile_roofline");
    ridge_chip chip = {.name = "v2 core", .hbm_bytes_per_s = 350e9};
    chip.has_peak[RIDGE_DTYPE_BF16] = true;
    chip.peak_flops_per_s[RIDGE_DTYPE_BF16] = 23e12;
    const ridge_slice slice = {.chip = &chip};
    const char text[] =
        "{\"traceEvents\": [{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 3, "
        "\"args\": {\"name\": \"/device:TPU:0\"}}, {\"ph\": \"M\", \"name\": "
        "\"thread_name\", \"pid\": 3, \"tid\": 1, \"args\": {\"name\": \"XLA "
        "Ops\"}}" XLA_OP("fusion.1", "convolution fusion",
                         "%fusion.1 = bf16[8,1024,16384] fusion()", "0", "96000",
                         "2199023255552")
            XLA_OP("reduce-scatter.1", "reduce-scatter",
                   "%r = bf16[8,1024,4096] reduce-scatter(bf16[8,1024,8192] %p), "
                   "replica_groups={{0,1},{2,3}}",
                   "96000", "1130", "0")
        /* ten times what the chip can do */
        XLA_OP("splash_mha.1", "custom-call", "%s = bf16[8] custom-call()", "97130",
               "1000", "230000000000") "]}";
    const ridge_profile_request request = {
        .path = own_file(f.cx, f.folder, "t.json", text, strlen(text)),
        .slice = &slice};
    assert_done(f.cx, ridge_profile_read(f.cx, &request, &f.profile));
    const ridge_profile_op *op = &f.profile.ops[0];
    assert_near(op->roofline_s, 0.09560970676, 1e-9);
    assert_near(op->roofline_s / 0.096, 0.99593445, 1e-6);
    assert_false(f.profile.ops[2].has_roofline);
    const ridge_profile_collective *c = &f.profile.collectives[0];
    assert_int_equal(c->ranks, 2);
    assert_near(c->bytes, 134217728, 0);
    assert_near(c->bus_bytes_per_s, 134217728 / 2.0 / 1.13e-3, 1e-9);
    trace_fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_follow_from_shapes),
        cmocka_unit_test(attention_counts_once_and_half_when_causal),
        cmocka_unit_test(shapes_that_do_not_fit_tell_nothing),
        cmocka_unit_test(groups_are_read_in_both_forms),
        cmocka_unit_test(a_published_product_reaches_its_roofline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
