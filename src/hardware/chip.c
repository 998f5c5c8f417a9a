/* What a chip's numbers mean: the peak that a format runs at, and its ridge point. */
#include "ridge/hardware.h"

#include <math.h>

static const char *const kind_texts[] = {
    [RIDGE_CHIP_TPU] = "tpu",
    [RIDGE_CHIP_GPU] = "gpu",
    [RIDGE_CHIP_ACCELERATOR] = "accelerator",
    [RIDGE_CHIP_CPU] = "cpu",
};
_Static_assert(RIDGE_COUNT_OF(kind_texts) == RIDGE_CHIP_CPU + 1, "one text per kind");

const char *ridge_chip_kind_text(ridge_chip_kind kind)
{
    return (size_t)kind < RIDGE_COUNT_OF(kind_texts) ? kind_texts[kind] : "?";
}

enum { STAND_IN_MAX = 4 };

/* For a format that the matrix unit lacks: the formats that hold its values exactly
 * (or, for bf16 and fp16, that every framework puts in its place), nearest first. A
 * missing entry ends the row (FP64 is never a stand-in for a narrower format here: the
 * fp32 vector unit is nearer). */
typedef struct stand_ins {
    int n;
    ridge_dtype dtypes[STAND_IN_MAX];
} stand_ins;

#define D(name) RIDGE_DTYPE_##name
static const stand_ins wider[] = {
    [RIDGE_DTYPE_FP64] = {0, {D(FP64)}},
    [RIDGE_DTYPE_FP32] = {0, {D(FP32)}},
    [RIDGE_DTYPE_TF32] = {1, {D(FP32)}},
    [RIDGE_DTYPE_BF16] = {3, {D(FP16), D(TF32), D(FP32)}},
    [RIDGE_DTYPE_FP16] = {3, {D(BF16), D(TF32), D(FP32)}},
    [RIDGE_DTYPE_FP8] = {4, {D(BF16), D(FP16), D(TF32), D(FP32)}},
    [RIDGE_DTYPE_INT8] = {4, {D(BF16), D(FP16), D(TF32), D(FP32)}},
    [RIDGE_DTYPE_FP6] = {4, {D(FP8), D(BF16), D(FP16), D(FP32)}},
    [RIDGE_DTYPE_FP4] = {4, {D(FP8), D(BF16), D(FP16), D(FP32)}},
    [RIDGE_DTYPE_INT4] = {4, {D(INT8), D(BF16), D(FP16), D(FP32)}},
};
#undef D
_Static_assert(RIDGE_COUNT_OF(wider) == RIDGE_DTYPE_COUNT, "one row per dtype");

/* Last resort: the fp32 vector unit, which every chip has. */
double ridge_chip_peak(const ridge_chip *chip, ridge_dtype dtype, ridge_dtype *used)
{
    ridge_dtype runs = dtype;
    for (int i = 0; !chip->has_peak[runs] && i < wider[dtype].n; i++)
        runs = wider[dtype].dtypes[i];
    const bool is_matrix = chip->has_peak[runs];
    if (used != NULL)
        *used = is_matrix ? runs : RIDGE_DTYPE_FP32;
    return is_matrix ? chip->peak_flops_per_s[runs] : chip->vector_flops_per_s;
}

double ridge_chip_memory_bytes(const ridge_chip *chip)
{
    return chip->visible_bytes > 0 ? chip->visible_bytes : chip->hbm_bytes;
}

double ridge_chip_ridge_point(const ridge_chip *chip, ridge_dtype dtype)
{
    return ridge_chip_peak(chip, dtype, NULL) / chip->hbm_bytes_per_s;
}

double ridge_chip_fp32_alus(const ridge_chip *chip)
{
    enum { HALF_WARPS = 64, VECTOR_REGISTER = 8 * 128 };
    const bool is_gpu = chip->kind == RIDGE_CHIP_GPU;
    const double clock_hz = is_gpu ? 2 * chip->boost_clock_hz : chip->clock_hz;
    if (clock_hz <= 0 || chip->cores < 1 || (!is_gpu && chip->kind != RIDGE_CHIP_TPU))
        return 0;
    const double whole = is_gpu ? HALF_WARPS : VECTOR_REGISTER;
    const double each = chip->vector_flops_per_s / clock_hz / chip->cores;
    return round(each / whole) * whole * chip->cores;
}

double ridge_chip_core_flops_per_clock(const ridge_chip *chip, ridge_dtype dtype)
{
    const double far = 0.15; /* published peaks and boost are not of one clock */
    const double clock_hz =
        chip->boost_clock_hz > 0 ? chip->boost_clock_hz : chip->clock_hz;
    const double peak = ridge_chip_peak(chip, dtype, NULL);
    if (clock_hz <= 0 || chip->cores < 1 || peak <= 0 || chip->kind == RIDGE_CHIP_CPU)
        return 0;
    const double each = peak / clock_hz / chip->cores;
    const double power = exp2(round(log2(each)));
    return fabs(each / power - 1) <= far ? power : 0;
}

bool ridge_chip_is_fused(const ridge_chip *chip)
{
    return chip->measured == NULL || chip->measured->is_fused;
}

bool ridge_chip_is_overlapped(const ridge_chip *chip)
{
    return chip->measured == NULL || chip->measured->is_overlapped;
}

bool ridge_chip_is_balanced(const ridge_chip *chip)
{
    return chip->measured == NULL || chip->measured->is_balanced;
}

double ridge_chip_processor_share(const ridge_chip *chip)
{
    return chip->measured == NULL ? 1 : chip->measured->processor_share;
}

bool ridge_chip_has_draw(const ridge_chip *chip)
{
    return chip->power_watts > 0 && chip->idle_power_share > 0 &&
           chip->busy_power_share > 0 && chip->memory_power_share > 0 &&
           chip->flops_power_share > 0;
}

double ridge_chip_draw_watts(const ridge_chip *chip, double busy_share,
                             double memory_share, double flops_share)
{
    const double idle = chip->idle_power_share;
    if (!ridge_chip_has_draw(chip))
        return chip->power_watts;
    const double load =
        fmin(1, chip->busy_power_share + chip->memory_power_share * memory_share +
                    chip->flops_power_share * flops_share);
    return chip->power_watts * (idle + (1 - idle) * busy_share * load);
}
