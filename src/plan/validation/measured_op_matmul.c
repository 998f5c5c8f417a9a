/* Measured products: dense ones, and the grouped ones of mixtures of experts. */
#include "measured_op.h"

#include <string.h>

/* Names of formats as the rows have them: that of the arithmetic, of the weights, and
 * what happens to activations of 16 bits before. */
typedef struct format_row {
    const char *name;
    ridge_dtype compute, weight;
    ridge_scaling scaling;
} format_row;

static const format_row formats[] = {
    {"bf16", RIDGE_DTYPE_BF16, RIDGE_DTYPE_BF16, RIDGE_SCALING_NONE},
    {"bfloat16", RIDGE_DTYPE_BF16, RIDGE_DTYPE_BF16, RIDGE_SCALING_NONE},
    {"fp16", RIDGE_DTYPE_FP16, RIDGE_DTYPE_FP16, RIDGE_SCALING_NONE},
    {"fp32", RIDGE_DTYPE_FP32, RIDGE_DTYPE_FP32, RIDGE_SCALING_NONE},
    {"fp8", RIDGE_DTYPE_FP8, RIDGE_DTYPE_FP8, RIDGE_SCALING_TENSOR},
    {"fp8_block128", RIDGE_DTYPE_FP8, RIDGE_DTYPE_FP8, RIDGE_SCALING_BLOCK},
    {"fp8_block", RIDGE_DTYPE_FP8, RIDGE_DTYPE_FP8, RIDGE_SCALING_BLOCK},
    {"fp8 block-scaled", RIDGE_DTYPE_FP8, RIDGE_DTYPE_FP8, RIDGE_SCALING_BLOCK},
    {"nvfp4", RIDGE_DTYPE_FP4, RIDGE_DTYPE_FP4, RIDGE_SCALING_BLOCK},
    {"int8_w8a8", RIDGE_DTYPE_INT8, RIDGE_DTYPE_INT8, RIDGE_SCALING_ROW},
    {"w4a16", RIDGE_DTYPE_FP16, RIDGE_DTYPE_INT4, RIDGE_SCALING_NONE},
};

static ridge_status find_format(ridge_ctx *cx, const measured_record *r,
                                const format_row **out)
{
    const char *name = measured_record_text(r, "dtype");
    for (size_t i = 0; name != NULL && i < RIDGE_COUNT_OF(formats); i++) {
        if (strcmp(name, formats[i].name) == 0) {
            *out = &formats[i];
            return RIDGE_OK;
        }
    }
    return ridge_fail(cx, RIDGE_E_ARG, "no model of a matmul in '%s'",
                      name == NULL ? "a format that is not stated" : name);
}

/* A library is timed on operands that are ready; an engine's linear layer takes 16 bits
 * and quantises them in the call. */
static bool is_library_alone(const measured_record *r)
{
    const char *framework = measured_record_text(r, "framework");
    return framework == NULL || strcmp(framework, "deepgemm") == 0 ||
           strcmp(framework, "pytorch") == 0;
}

/* vLLM and SGLang quantise with a scale for each token, TensorRT-LLM for the tensor. */
static ridge_scaling scaling_of(const measured_record *r, const format_row *format)
{
    const char *framework = measured_record_text(r, "framework");
    const bool is_by_row = framework != NULL && (strncmp(framework, "vllm", 4) == 0 ||
                                                 strncmp(framework, "sglang", 6) == 0);
    if (format->scaling == RIDGE_SCALING_TENSOR && is_by_row)
        return RIDGE_SCALING_ROW;
    return format->scaling;
}

/* "best of a search": large, well-shaped, whatever its sides were. */
static const double BEST_SHAPE_SIDE = 8192;

static bool is_best_of_search(const measured_record *r)
{
    const char *selection = measured_record_text(r, "selection");
    return selection != NULL && strncmp(selection, "best", 4) == 0;
}

static ridge_status read_sides(ridge_ctx *cx, const measured_record *r, double *m,
                               double *n, double *k)
{
    double v;
    if (is_best_of_search(r) && !measured_record_number(r, "m", &v)) {
        *m = *n = *k = BEST_SHAPE_SIDE;
        return RIDGE_OK;
    }
    RIDGE_TRY(measured_want(cx, r, "m", m));
    RIDGE_TRY(measured_want(cx, r, "n", n));
    return measured_want(cx, r, "k", k);
}

ridge_status measured_matmul_read(ridge_ctx *cx, const measured_record *r,
                                  measured_op *out)
{
    const format_row *format = NULL;
    double m, n, k;
    out->class = MEASURED_MATMUL;
    out->kind = "matmul";
    RIDGE_TRY(find_format(cx, r, &format));
    RIDGE_TRY(read_sides(cx, r, &m, &n, &k));
    const bool is_alone = is_library_alone(r) || format->scaling == RIDGE_SCALING_NONE;
    const ridge_dtype wide =
        ridge_dtype_bytes(format->compute) >= 2 ? format->compute : RIDGE_DTYPE_BF16;
    out->matmul = (ridge_matmul){
        .batch = 1,
        .m = m,
        .k = k,
        .n = n,
        .activation = is_alone ? format->compute : wide,
        .weight = format->weight,
        .output = wide,
        .compute = format->compute,
        .scaling = scaling_of(r, format),
    };
    out->what = ridge_sprintf(ridge_ctx_arena(cx), "%.0fx%.0fx%.0f %s", m, k, n,
                              measured_record_text(r, "dtype"));
    if (out->what == NULL)
        return ridge_fail_nomem(cx);
    return measured_seconds(cx, r, 2 * m * n * k, 0, &out->measured_s);
}

/* ---- experts --------------------------------------------------------------------- */

/* A grouped product alone: one matrix, rows already sorted by expert. */
static ridge_status read_grouped(ridge_ctx *cx, const measured_record *r,
                                 const format_row *format, measured_op *out)
{
    double groups, rows, n, k;
    RIDGE_TRY(measured_want(cx, r, "groups", &groups));
    RIDGE_TRY(measured_want(cx, r, "m_per_group", &rows));
    RIDGE_TRY(measured_want(cx, r, "n", &n));
    RIDGE_TRY(measured_want(cx, r, "k", &k));
    out->class = MEASURED_MATMUL;
    out->kind = "grouped matmul";
    out->matmul = (ridge_matmul){
        .batch = groups,
        .m = rows,
        .k = k,
        .n = n,
        .activation = format->compute,
        .weight = format->weight,
        .output = RIDGE_DTYPE_BF16,
        .compute = format->compute,
        .scaling = format->scaling,
    };
    out->what = ridge_sprintf(ridge_ctx_arena(cx), "%.0f of %.0fx%.0fx%.0f %s", groups,
                              rows, k, n, measured_record_text(r, "dtype"));
    if (out->what == NULL)
        return ridge_fail_nomem(cx);
    return measured_seconds(cx, r, 2 * groups * rows * n * k, 0, &out->measured_s);
}

enum { EXPERTS_MOST = 65536 };

static ridge_status read_ffn(ridge_ctx *cx, const measured_record *r,
                             const format_row *format, measured_op *out)
{
    double tokens, hidden, inner, top_k, experts, tp, ep;
    RIDGE_TRY(measured_want(cx, r, "num_tokens", &tokens));
    RIDGE_TRY(measured_want(cx, r, "hidden", &hidden));
    RIDGE_TRY(measured_want(cx, r, "expert_inner", &inner));
    RIDGE_TRY(measured_want(cx, r, "topk", &top_k));
    RIDGE_TRY(measured_want(cx, r, "num_experts", &experts));
    RIDGE_TRY(measured_want(cx, r, "moe_tp", &tp));
    RIDGE_TRY(measured_want(cx, r, "moe_ep", &ep));
    if (experts > EXPERTS_MOST || ep > experts || tp > inner)
        return ridge_fail(cx, RIDGE_E_ARG, "no mixture of %.0f experts on %.0f x %.0f",
                          experts, ep, tp);
    const char *kernel = measured_record_text(r, "kernel");
    const char *routing = measured_record_text(r, "routing");
    double skew = 0;
    if (routing != NULL && strncmp(routing, "power_law_", 10) == 0 &&
        !(ridge_parse_double(ridge_str_of(routing + 10), &skew) && skew >= 0 &&
          skew < 16))
        return ridge_fail(cx, RIDGE_E_ARG, "no model of routing '%s'", routing);
    out->class = MEASURED_EXPERTS;
    out->kind = "experts";
    out->experts = (ridge_experts){
        .tokens = tokens,
        .experts_per_token = top_k,
        .experts = experts,
        .ways = ep,
        .d_model = hidden,
        .d_ff = inner / tp,
        .is_gated = kernel == NULL || strstr(kernel, "nongated") == NULL,
        .skew = skew,
        .activation = RIDGE_DTYPE_BF16,
        .weight = format->weight,
        .compute = format->compute,
    };
    out->what = ridge_sprintf(ridge_ctx_arena(cx),
                              "%.0f tokens to %.0f of %.0f/%.0f, %.0fx%.0f/%.0f %s",
                              tokens, top_k, experts, ep, hidden, inner, tp,
                              measured_record_text(r, "dtype"));
    if (out->what == NULL)
        return ridge_fail_nomem(cx);
    return measured_seconds(cx, r, 0, 0, &out->measured_s);
}

ridge_status measured_experts_read(ridge_ctx *cx, const measured_record *r,
                                   measured_op *out)
{
    const format_row *format = NULL;
    out->kind = "experts";
    RIDGE_TRY(find_format(cx, r, &format));
    if (strcmp(measured_record_text(r, "op"), "moe_ffn") == 0)
        return read_ffn(cx, r, format, out);
    return read_grouped(cx, r, format, out);
}
