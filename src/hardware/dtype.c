/* Number formats: names, sizes, and the other names that frameworks give them. */
#include "ridge/hardware.h"

#include "name_index.h"

typedef struct dtype_row {
    const char *text;
    int bits;
} dtype_row;

static const dtype_row rows[] = {
#define DTYPE_ROW(name, text, bits) [RIDGE_DTYPE_##name] = {text, bits},
    RIDGE_DTYPE_LIST(DTYPE_ROW)
#undef DTYPE_ROW
};
_Static_assert(RIDGE_COUNT_OF(rows) == RIDGE_DTYPE_COUNT, "one row per dtype");

/* Names of PyTorch, JAX, CUDA and safetensors that differ from ours. */
typedef struct dtype_alias {
    const char *text;
    ridge_dtype dtype;
} dtype_alias;

/* clang-format off */
static const dtype_alias aliases[] = {
    {"float64", RIDGE_DTYPE_FP64}, {"f64", RIDGE_DTYPE_FP64},
    {"double", RIDGE_DTYPE_FP64},
    {"float32", RIDGE_DTYPE_FP32}, {"f32", RIDGE_DTYPE_FP32},
    {"float", RIDGE_DTYPE_FP32}, {"single", RIDGE_DTYPE_FP32},
    {"tensorfloat32", RIDGE_DTYPE_TF32},
    {"bfloat16", RIDGE_DTYPE_BF16}, {"bfloat", RIDGE_DTYPE_BF16},
    {"float16", RIDGE_DTYPE_FP16}, {"f16", RIDGE_DTYPE_FP16},
    {"half", RIDGE_DTYPE_FP16},
    {"float8", RIDGE_DTYPE_FP8}, {"f8", RIDGE_DTYPE_FP8},
    {"e4m3", RIDGE_DTYPE_FP8}, {"e5m2", RIDGE_DTYPE_FP8},
    {"fp8_e4m3", RIDGE_DTYPE_FP8}, {"fp8_e5m2", RIDGE_DTYPE_FP8},
    {"f8e4m3fn", RIDGE_DTYPE_FP8}, {"f8e5m2", RIDGE_DTYPE_FP8},
    {"f8_e4m3", RIDGE_DTYPE_FP8}, {"f8_e5m2", RIDGE_DTYPE_FP8},
    {"float8_e4m3fn", RIDGE_DTYPE_FP8}, {"float8_e5m2", RIDGE_DTYPE_FP8},
    {"mxfp8", RIDGE_DTYPE_FP8},
    {"s8", RIDGE_DTYPE_INT8}, {"u8", RIDGE_DTYPE_INT8}, {"i8", RIDGE_DTYPE_INT8},
    {"uint8", RIDGE_DTYPE_INT8}, {"w8", RIDGE_DTYPE_INT8},
    {"float6", RIDGE_DTYPE_FP6}, {"mxfp6", RIDGE_DTYPE_FP6},
    {"e3m2", RIDGE_DTYPE_FP6}, {"e2m3", RIDGE_DTYPE_FP6},
    {"float4", RIDGE_DTYPE_FP4}, {"f4", RIDGE_DTYPE_FP4}, {"nvfp4", RIDGE_DTYPE_FP4},
    {"mxfp4", RIDGE_DTYPE_FP4}, {"e2m1", RIDGE_DTYPE_FP4},
    {"s4", RIDGE_DTYPE_INT4}, {"u4", RIDGE_DTYPE_INT4}, {"i4", RIDGE_DTYPE_INT4},
    {"uint4", RIDGE_DTYPE_INT4}, {"w4", RIDGE_DTYPE_INT4},
};
/* clang-format on */

static bool is_known(ridge_dtype dtype)
{
    return (unsigned)dtype < RIDGE_DTYPE_COUNT;
}

const char *ridge_dtype_text(ridge_dtype dtype)
{
    return is_known(dtype) ? rows[dtype].text : "?";
}

double ridge_dtype_bytes(ridge_dtype dtype)
{
    return is_known(dtype) ? rows[dtype].bits / 8.0 : 0.0;
}

ridge_status ridge_dtype_parse(ridge_ctx *cx, const char *text, ridge_dtype *out)
{
    for (int i = 0; i < RIDGE_DTYPE_COUNT; i++) {
        if (ridge__name_compare(text, rows[i].text) == 0) {
            *out = (ridge_dtype)i;
            return RIDGE_OK;
        }
    }
    for (size_t i = 0; i < RIDGE_COUNT_OF(aliases); i++) {
        if (ridge__name_compare(text, aliases[i].text) == 0) {
            *out = aliases[i].dtype;
            return RIDGE_OK;
        }
    }
    const char *names[RIDGE_DTYPE_COUNT];
    for (int i = 0; i < RIDGE_DTYPE_COUNT; i++)
        names[i] = rows[i].text;
    return ridge_fail_name(cx, RIDGE_E_NOTFOUND, "number format", text, names,
                           RIDGE_DTYPE_COUNT);
}
