/* Rooflines of one chip as "How To Scale Your Model" works them out: each row of
 * published/roofline.jsonl is computed by the library on a chip of the row's figures.
 */
#include "near.h"
#include "plain_chip.h"
#include "ridge/cost_roofline.h"

#include <math.h>
#include <string.h>

/* One row, with the ctx that owns it. */
typedef struct row {
    ridge_ctx *cx;
    ridge_node inputs, expected;
    double rel;
    uint32_t *met; /* bit i: expected member i was compared */
} row;

static bool has_number(const ridge_node *object, const char *key, double *out)
{
    return ridge_json_double(ridge_json_get(object, key), out);
}

/* The first of the keys that the row gives. */
static double input(const row *r, const char *key, const char *other, double fallback)
{
    double v = fallback;
    if (!has_number(&r->inputs, key, &v) && other)
        has_number(&r->inputs, other, &v);
    return v;
}

static void mark_met(const row *r, const char *key)
{
    for (size_t i = 0; i < ridge_json_size(r->expected); i++) {
        if (strcmp(ridge_json_member(&r->expected, i).key, key) == 0)
            *r->met |= 1u << i;
    }
}

static void expect(const row *r, const char *key, double got)
{
    double want = 0;
    if (has_number(&r->expected, key, &want)) {
        ridge_assert_near(got, want, r->rel, key, __FILE__, __LINE__);
        mark_met(r, key);
    }
}

static ridge_chip chip_of(const row *r, ridge_dtype dtype)
{
    double peak = 0;
    const char *const keys[] = {"peak_flops_per_s", "peak_bf16_flops_per_s",
                                "peak_fp16_flops_per_s", "peak_int8_ops_per_s",
                                "ridge_flops_per_byte"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(keys) && peak == 0; i++)
        peak = input(r, keys[i], NULL, 0);
    if (peak == 0)
        peak = input(r, "spec_sheet_sparse_flops_per_s", NULL, 2e15) / 2;
    const bool is_ratio = input(r, "ridge_flops_per_byte", NULL, 0) > 0;
    return plain_chip(dtype, peak,
                      is_ratio ? 1 : input(r, "hbm_bytes_per_s", NULL, 1e12));
}

static ridge_matmul matmul_of(const row *r, ridge_dtype dtype)
{
    return (ridge_matmul){.batch = 1,
                          .m = input(r, "b", "B", 1),
                          .k = input(r, "d", "D", 1e12),
                          .n = input(r, "f", "F", 1e12),
                          .activation = dtype,
                          .weight = dtype,
                          .output = dtype,
                          .compute = dtype};
}

static ridge_einsum einsum_of(const row *r, const char *text, const char *dims)
{
    ridge_einsum e;
    assert_int_equal(ridge_einsum_parse(r->cx, text, dims, &e), RIDGE_OK);
    return e;
}

/* ---- kinds of rows --------------------------------------------------------------- */

static void check_math_time(const row *r)
{
    const ridge_chip chip = chip_of(r, RIDGE_DTYPE_BF16);
    const double cube = cbrt(input(r, "flops", NULL, 0) / 2);
    ridge_matmul op = matmul_of(r, RIDGE_DTYPE_BF16);
    op.m = op.k = op.n = cube;
    expect(r, "t_math_s", ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM).compute_s);
}

static void check_ridge(const row *r)
{
    const ridge_chip chip = chip_of(r, RIDGE_DTYPE_BF16);
    const double ridge = ridge_chip_ridge_point(&chip, RIDGE_DTYPE_BF16);
    expect(r, "ridge_flops_per_byte", ridge);
    expect(r, "intensity_flops_per_byte", ridge);
}

static void check_dot(const row *r)
{
    const ridge_chip chip = chip_of(r, RIDGE_DTYPE_BF16);
    const ridge_formats bf16 = {RIDGE_DTYPE_BF16, RIDGE_DTYPE_BF16, RIDGE_DTYPE_BF16,
                                RIDGE_DTYPE_BF16};
    const ridge_einsum e = einsum_of(r, "i,i->", "i=1Mi");
    const ridge_op_cost c = ridge_einsum_cost(&chip, &e, &bf16, RIDGE_MEMORY_HBM);
    expect(r, "flops", ridge_einsum_flops_exact(&e));
    expect(r, "bytes", c.bytes);
    expect(r, "intensity_flops_per_byte", c.intensity_flops_per_byte);
}

static void check_flops_exact(const row *r)
{
    const ridge_einsum e = einsum_of(r, "bd,df->bf", "b=4,d=8,f=16");
    expect(r, "flops", ridge_einsum_flops_exact(&e));
    expect(r, "flops_approx", ridge_einsum_flops(&e));
}

static void check_matmul_as(const row *r, ridge_dtype dtype)
{
    const ridge_chip chip = chip_of(r, dtype);
    const ridge_matmul op = matmul_of(r, dtype);
    const ridge_op_cost c = ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM);
    expect(r, "flops", c.matmul_flops);
    expect(r, "ops", c.matmul_flops);
    expect(r, "bytes", c.bytes);
    expect(r, "intensity_flops_per_byte", c.intensity_flops_per_byte);
    expect(r, "t_math_s", c.compute_s);
    expect(r, "math_time_s", c.compute_s);
    expect(r, "t_comms_s", c.memory_s);
    expect(r, "memory_time_s", c.memory_s);
    expect(r, "t_lower_s", c.bound_s);
    expect(r, "time_s", c.bound_s);
    expect(r, "t_upper_s", c.serial_s);
    expect(r, "attained_flops_per_s", c.matmul_flops / c.bound_s);
    expect(r, "compute_bound", c.bound_by == RIDGE_BOUND_COMPUTE);
    const char *bound = NULL;
    if (ridge_json_text(ridge_json_get(&r->expected, "bound"), &bound))
        assert_string_equal(ridge_bound_text(c.bound_by),
                            strcmp(bound, "hbm") == 0 ? "memory" : bound);
}

static void check_matmul(const row *r)
{
    check_matmul_as(r, RIDGE_DTYPE_BF16);
}

static void check_int8_matmul(const row *r)
{
    check_matmul_as(r, RIDGE_DTYPE_INT8);
    const ridge_chip chip = chip_of(r, RIDGE_DTYPE_INT8);
    const ridge_matmul op = matmul_of(r, RIDGE_DTYPE_INT8);
    double read = 0, written = 0;
    if (has_number(&r->expected, "bytes_read", &read) &&
        has_number(&r->expected, "bytes_written", &written)) {
        assert_near(ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM).bytes,
                    read + written, 1e-12);
        mark_met(r, "bytes_read");
        mark_met(r, "bytes_written");
    }
}

/* Weights of weight_bytes; arithmetic in the format whose peak the row gives. */
static void check_critical(const row *r)
{
    const bool is_int8 = input(r, "peak_int8_ops_per_s", NULL, 0) > 0;
    const ridge_dtype compute = is_int8 ? RIDGE_DTYPE_INT8 : RIDGE_DTYPE_BF16;
    const ridge_chip chip = chip_of(r, compute);
    ridge_matmul op = matmul_of(r, compute);
    if (input(r, "weight_bytes", NULL, is_int8 ? 1 : 2) == 1)
        op.weight = RIDGE_DTYPE_INT8;
    const double rows = ridge_matmul_critical_rows_limit(&chip, &op, RIDGE_MEMORY_HBM);
    expect(r, "ridge_ops_per_byte", ridge_chip_ridge_point(&chip, compute));
    expect(r, "b_crit_tokens", rows);
    expect(r, "critical_batch_tokens", rows);
    expect(r, "dense_flops_per_s", ridge_chip_peak(&chip, compute, NULL));
    /* the exact rows of huge k and n tend to the limit */
    expect(r, "b_crit_tokens",
           ridge_matmul_critical_rows(&chip, &op, RIDGE_MEMORY_HBM));
}

/* Every row of the batch has a matrix of its own. */
static void check_own_matrices(const row *r)
{
    const ridge_chip chip = chip_of(r, RIDGE_DTYPE_INT8);
    ridge_matmul op = matmul_of(r, RIDGE_DTYPE_INT8);
    op.batch = op.m;
    op.m = 1;
    expect(r, "intensity_ops_per_byte",
           ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM).intensity_flops_per_byte);
}

static void check_padding(const row *r)
{
    ridge_chip chip = plain_tpu();
    ridge_matmul op = matmul_of(r, RIDGE_DTYPE_BF16);
    op.m = 8192;
    const ridge_matmul_shape narrow = ridge_matmul_shape_find(&chip, &op);
    chip.matmul_rows = chip.matmul_cols = 256;
    const ridge_matmul_shape wide = ridge_matmul_shape_find(&chip, &op);
    expect(r, "padded_d_128", narrow.padded_k);
    expect(r, "padded_f_128", narrow.padded_n);
    expect(r, "util_128", narrow.tile_efficiency);
    expect(r, "padded_d_256", wide.padded_k);
    expect(r, "padded_f_256", wide.padded_n);
    expect(r, "util_256", wide.tile_efficiency);
}

static void check_fast_memory(const row *r)
{
    ridge_chip chip = chip_of(r, RIDGE_DTYPE_BF16);
    chip.fast_bytes_per_s = chip.hbm_bytes_per_s * input(r, "vmem_over_hbm", NULL, 0);
    const ridge_matmul op = matmul_of(r, RIDGE_DTYPE_BF16);
    expect(r, "vmem_bytes_per_s", ridge_memory_bytes_per_s(&chip, RIDGE_MEMORY_FAST));
    expect(r, "ridge_flops_per_byte",
           ridge_matmul_critical_rows_limit(&chip, &op, RIDGE_MEMORY_FAST));
}

static void check_host(const row *r)
{
    ridge_chip chip = chip_of(r, RIDGE_DTYPE_BF16);
    chip.pcie_bytes_per_s = input(r, "pcie_bytes_per_s", NULL, 0);
    ridge_matmul op = matmul_of(r, RIDGE_DTYPE_BF16);
    expect(r, "b_crit_tokens",
           ridge_matmul_critical_rows_limit(&chip, &op, RIDGE_MEMORY_HOST));
    const ridge_node possible = ridge_json_get(&r->expected, "compute_bound_possible");
    bool is_possible = false;
    if (!ridge_json_bool(possible, &is_possible))
        return;
    const double rows = ridge_matmul_critical_rows(&chip, &op, RIDGE_MEMORY_HOST);
    assert_int_equal(isfinite(rows), is_possible);
    op.m = 1e15; /* beyond any k and n */
    expect(r, "best_intensity_flops_per_byte",
           ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HOST).intensity_flops_per_byte);
}

/* A host-sharded array on its way to one chip: each stage by the function of its link.
 */
static void check_staged_load(const row *r)
{
    ridge_chip chip = chip_of(r, RIDGE_DTYPE_BF16);
    chip.pcie_bytes_per_s = input(r, "pcie_bytes_per_s", NULL, 0);
    const double chips = input(r, "chips", NULL, 1);
    const double bytes = input(r, "bytes", NULL, 0);
    const ridge_slice slice = {
        .chip = &chip,
        .chips = 16,
        .slices = 1,
        .n_axes = 1,
        .axes = {{.kind = RIDGE_AXIS_TORUS,
                  .size = 4,
                  .efficiency = 1,
                  .bytes_per_s = input(r, "ici_link_oneway_bytes_per_s", NULL, 0)}},
    };
    ridge_matmul op = matmul_of(r, RIDGE_DTYPE_BF16);
    op.k = op.n = sqrt(bytes);
    const double stages_s[] = {
        ridge_stream_cost_from(&chip, 0, bytes / chips, RIDGE_MEMORY_HOST).bound_s,
        ridge_point_to_point_time(&slice, bytes * (chips - 1) / chips, 1,
                                  (int)input(r, "ici_ports", NULL, 1))
            .bound_s,
        ridge_stream_cost(&chip, 0, bytes).bound_s,
        ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM).compute_s,
    };
    const char *const keys[] = {"t_pcie_s", "t_ici_s", "t_hbm_s", "t_flops_s"};
    double most_s = 0, sum_s = 0;
    for (size_t i = 0; i < RIDGE_COUNT_OF(keys); i++) {
        expect(r, keys[i], stages_s[i]);
        most_s = fmax(most_s, stages_s[i]);
        sum_s += stages_s[i];
    }
    expect(r, "t_pipelined_s", most_s);
    expect(r, "t_sum_s", sum_s);
}

static void check_einsum(const row *r)
{
    const ridge_einsum e =
        einsum_of(r, "ghijkl,ghmnkl->ghijmn", "g=2,h=3,i=4,j=5,k=6,l=7,m=8,n=9");
    expect(r, "flops", ridge_einsum_flops(&e));
    char batching[8] = "", contracting[8] = "";
    for (int i = 0; i < e.n_dims; i++) {
        if (ridge_einsum_role(&e, i) == RIDGE_DIM_BATCHING)
            strncat(batching, &e.letters[i], 1);
        if (ridge_einsum_role(&e, i) == RIDGE_DIM_CONTRACTING)
            strncat(contracting, &e.letters[i], 1);
    }
    assert_string_equal(batching, "gh");
    assert_string_equal(contracting, "kl");
}

/* The book counts the full square, so no mask here. */
static ridge_attention attention_of(const row *r)
{
    const double group = input(r, "g", NULL, 1);
    return (ridge_attention){.batch = 1,
                             .query_tokens = input(r, "t", "T_queries", 1),
                             .context_tokens = input(r, "s", "S_keys", 8192),
                             .heads = 4 * group,
                             .kv_heads = 4,
                             .head_dim = 128,
                             .v_head_dim = 128,
                             .activation = RIDGE_DTYPE_BF16,
                             .cache = RIDGE_DTYPE_BF16,
                             .compute = RIDGE_DTYPE_BF16};
}

static void check_attention(const row *r)
{
    const ridge_chip chip = chip_of(r, RIDGE_DTYPE_BF16);
    const ridge_attention op = attention_of(r);
    const ridge_op_cost c = ridge_attention_cost(&chip, &op);
    expect(r, "intensity", c.intensity_flops_per_byte);
    expect(r, "intensity_flops_per_byte", c.intensity_flops_per_byte);
}

static void check_attention_critical(const row *r)
{
    const ridge_chip chip = chip_of(r, RIDGE_DTYPE_BF16);
    const ridge_attention op = attention_of(r);
    const double tokens = ridge_attention_critical_tokens(&chip, &op);
    expect(r, "t_tokens", tokens);
    expect(r, "sequence_tokens", tokens);
}

static void check_two_chips(const row *r)
{
    const char *const names[] = {"h100", "b200"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(names); i++) {
        ridge_buf peak_key, bandwidth_key, fp16, fp8;
        ridge_buf *const keys[] = {&peak_key, &bandwidth_key, &fp16, &fp8};
        const char *const tails[] = {"_peak_fp16_flops_per_s", "_hbm_bytes_per_s",
                                     "_fp16", "_fp8"};
        for (size_t k = 0; k < RIDGE_COUNT_OF(keys); k++) {
            ridge_buf_init(keys[k], ridge_ctx_arena(r->cx));
            ridge_buf_printf(keys[k], "%s%s", names[i], tails[k]);
        }
        const double peak = input(r, ridge_buf_text(&peak_key), NULL, 0);
        ridge_chip chip = plain_chip(RIDGE_DTYPE_FP16, peak,
                                     input(r, ridge_buf_text(&bandwidth_key), NULL, 0));
        chip.has_peak[RIDGE_DTYPE_FP8] = true;
        chip.peak_flops_per_s[RIDGE_DTYPE_FP8] = 2 * peak;
        expect(r, ridge_buf_text(&fp16),
               ridge_chip_ridge_point(&chip, RIDGE_DTYPE_FP16));
        expect(r, ridge_buf_text(&fp8), ridge_chip_ridge_point(&chip, RIDGE_DTYPE_FP8));
    }
}

static void check_add(const row *r)
{
    ridge_chip chip = chip_of(r, RIDGE_DTYPE_BF16);
    chip.vector_flops_per_s = input(r, "vector_flops_per_s", NULL, 0);
    ridge_op op;
    ridge_roofline roofline;
    const ridge_op_request request = {.text = "add:1"};
    assert_int_equal(ridge_op_parse(r->cx, &request, &op), RIDGE_OK);
    assert_true(ridge_op_resize(&op, "n", input(r, "elements", NULL, 0)));
    assert_int_equal(ridge_roofline_find(r->cx, &chip, &op, NULL, &roofline), RIDGE_OK);
    expect(r, "time_s", roofline.cost.bound_s);
    expect(r, "intensity_flops_per_byte", roofline.cost.intensity_flops_per_byte);
    expect(r, "ridge_flops_per_byte", roofline.ridge_flops_per_byte);
}

static void check_softmax_chunks(const row *r)
{
    ridge_softmax_state a = {input(r, "m1", NULL, 0), input(r, "l1", NULL, 0)};
    ridge_softmax_state b = {input(r, "m2", NULL, 0), input(r, "l2", NULL, 0)};
    ridge_softmax_state whole = ridge_softmax_combine(a, b);
    expect(r, "m", whole.maximum);
    expect(r, "l", whole.denominator);
}

/* ---- rows by id ---------------------------------------------------------------- */

static const struct {
    const char *prefix;
    void (*check)(const row *r);
} checks[] = {
    {"ch4-flash-combine", check_softmax_chunks},
    {"ch1-tmath", check_math_time},
    {"ch1-ridge", check_ridge},
    {"ch1-dot", check_dot},
    {"ch1-matmul-intensity", check_matmul},
    {"ch1-matmul-flops-exact", check_flops_exact},
    {"ch1-bounds", check_matmul},
    {"ch1-q1a", check_int8_matmul},
    {"ch1-q1c", check_critical},
    {"ch1-q1d", check_int8_matmul},
    {"ch1-q2", check_critical},
    {"ch1-q4", check_own_matrices},
    {"ch1-q5", check_critical},
    {"ch2-padding", check_padding},
    {"ch2-vmem", check_fast_memory},
    {"ch2-q3", check_host},
    {"ch2-q6", check_staged_load},
    {"ch4-einsum", check_einsum},
    {"ch4-q4-crit", check_attention_critical},
    {"ch4-q4", check_attention},
    {"ch7-bcrit", check_critical},
    {"ch7-matmul-roofline", check_matmul},
    {"ch7-attn-intensity", check_attention},
    {"ch7-attn-critical", check_attention_critical},
    {"ch8-bcrit", check_critical},
    {"ch12-ridge", check_ridge},
    {"ch12-q1-3", check_two_chips},
    {"ch12-q1-4", check_matmul},
    {"ch12-q1-7", check_add},
};

static void check_row(ridge_ctx *cx, const ridge_node *node)
{
    uint32_t met = 0;
    row r = {
        .cx = cx,
        .met = &met,
        .inputs = ridge_json_get(node, "inputs"),
        .expected = ridge_json_get(node, "expected"),
    };
    const char *id = NULL;
    assert_true(ridge_json_text(ridge_json_get(node, "id"), &id));
    assert_true(has_number(node, "rel_tol", &r.rel));
    for (size_t i = 0; i < RIDGE_COUNT_OF(checks); i++) {
        if (strncmp(id, checks[i].prefix, strlen(checks[i].prefix)) == 0) {
            checks[i].check(&r);
            break;
        }
    }
    for (size_t i = 0; i < ridge_json_size(r.expected); i++) {
        const ridge_node member = ridge_json_member(&r.expected, i);
        if (ridge_json_kind_of(member) == RIDGE_JSON_NUMBER && !(met & (1u << i)))
            fail_msg("row %s: nothing computes %s", id, member.key);
    }
}

static void every_row_of_the_book_is_met(void **state)
{
    (void)state;
    const char *path = RIDGE_TEST_DIR "/golden/published/roofline.jsonl";
    ridge_ctx *cx = ridge_ctx_open();
    ridge_str rest;
    assert_int_equal(ridge_file_read(cx, path, 1 << 20, &rest), RIDGE_OK);
    int rows = 0;
    while (rest.p && rest.n > 0) {
        const ridge_str line = ridge_str_cut(&rest, '\n');
        ridge_node node;
        assert_int_equal(ridge_json_parse(cx, line, path, &node), RIDGE_OK);
        check_row(cx, &node);
        rows++;
    }
    assert_int_equal(rows, 41);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_the_book_is_met),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
