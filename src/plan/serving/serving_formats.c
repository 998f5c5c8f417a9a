/*
 * In which format each group of weights is held and multiplied: what the checkpoint
 * leaves wide stays wide, and weights that are narrow alone multiply in 16 bits.
 */
#include "serving_desk.h"

#include "ridge/plan_serving.h"

#include <string.h>

/* Bytes of scales for each group: a 16-bit one, and a zero of the weight's own width,
 * for integers; one byte for 4-bit floats; 32 bits for square blocks of fp8.
 * @source frantar2022-gptq; nvfp4-2025; ocp-mx-2023 */
static double scale_bytes(ridge_dtype weight, int64_t group)
{
    const double g = (double)group;
    if (group <= 0)
        return 0;
    switch (weight) {
    case RIDGE_DTYPE_INT4:
        return (2 + 0.5) / g;
    case RIDGE_DTYPE_INT8:
        return (2 + 1) / g;
    case RIDGE_DTYPE_FP4:
    case RIDGE_DTYPE_FP6:
        return 1 / g;
    case RIDGE_DTYPE_FP8:
        return 4 / (g * g);
    case RIDGE_DTYPE_FP64:
    case RIDGE_DTYPE_FP32:
    case RIDGE_DTYPE_TF32:
    case RIDGE_DTYPE_BF16:
    case RIDGE_DTYPE_FP16:
        return 0;
    }
    return 0;
}

static ridge_scaling scaling_of(ridge_dtype compute, int64_t group)
{
    if (ridge_dtype_bytes(compute) >= 2)
        return RIDGE_SCALING_NONE;
    return group > 0 || compute == RIDGE_DTYPE_FP4 ? RIDGE_SCALING_BLOCK
                                                   : RIDGE_SCALING_ROW;
}

static serving_format wide(const ridge_model *model)
{
    return (serving_format){.weight = model->rest_dtype,
                            .compute = ridge_dtype_bytes(model->rest_dtype) > 2
                                           ? model->rest_dtype
                                           : RIDGE_DTYPE_BF16};
}

/* The checkpoint's own format has its bits, scales included: fewer than those of the
 * narrowest type, 4, in files of 2 and 3 bits. */
static serving_format part_format(const ridge_model *model, ridge_quant_part part,
                                  ridge_dtype weight, ridge_dtype compute,
                                  int64_t group)
{
    const bool is_own = model->quant_method != NULL && weight == model->weight_dtype;
    const double bits = model->quant_bits[part];
    if (is_own && bits <= 0)
        return wide(model);
    if (is_own && ridge_dtype_bytes(weight) < 1 && bits >= 8) { /* a part in 8 bits */
        weight = compute == RIDGE_DTYPE_INT8 ? RIDGE_DTYPE_INT8 : RIDGE_DTYPE_FP8;
        compute = weight;
    }
    const int64_t block = is_own && group == 0 ? model->quant_block : group;
    serving_format f = {
        .weight = weight, .compute = compute, .scaling = scaling_of(compute, block)};
    f.scale_bytes =
        is_own ? bits / 8 - ridge_dtype_bytes(weight) : scale_bytes(weight, block);
    f.comes_quantised = compute == RIDGE_DTYPE_FP4;
    return f;
}

serving_format_set serving_formats_find(const ridge_model *model,
                                        const ridge_serving_formats *formats)
{
    serving_format_set set;
    for (int i = 0; i < RIDGE_QUANT_PART_COUNT; i++) {
        const ridge_quant_part part = (ridge_quant_part)i;
        const bool is_expert = part == RIDGE_QUANT_EXPERTS;
        set.of[i] = part_format(
            model, part, is_expert ? formats->expert : formats->weight,
            is_expert ? formats->expert_compute : formats->compute, formats->group);
    }
    if (model->quant_method == NULL || model->quant_bits[RIDGE_QUANT_HEAD] <= 0)
        set.of[RIDGE_QUANT_HEAD] = wide(model);
    set.of[SERVING_FORMAT_REST] = wide(model);
    return set;
}

/* ---- what a checkpoint runs in --------------------------------------------------- */

/* Methods that narrow weights alone: their products run in 16 bits. */
static bool is_weight_only(const ridge_model *model, ridge_dtype weight)
{
    const char *m = model->quant_method != NULL ? model->quant_method : "";
    return weight == RIDGE_DTYPE_INT4 || strstr(m, "gptq") != NULL ||
           strstr(m, "awq") != NULL || strstr(m, "bitsandbytes") != NULL ||
           strstr(m, "bnb") != NULL;
}

/* The format of the products of weights in a format on a chip: the weights' own where
 * the chip multiplies in it. mxfp4 weights meet 8-bit activations on chips with fp4.
 * @source gpt-oss-2025 */
static ridge_dtype compute_of(const ridge_model *model, const ridge_chip *chip,
                              ridge_dtype weight)
{
    const char *m = model->quant_method != NULL ? model->quant_method : "";
    if (strstr(m, "gguf") != NULL && chip->has_peak[RIDGE_DTYPE_INT8])
        return RIDGE_DTYPE_INT8; /* activations are brought to 8 bits too */
    if (ridge_dtype_bytes(weight) >= 2 || is_weight_only(model, weight) ||
        !chip->has_peak[weight])
        return ridge_dtype_bytes(weight) > 2 ? weight : RIDGE_DTYPE_BF16;
    if (strstr(m, "mxfp4") != NULL && chip->has_peak[RIDGE_DTYPE_FP8])
        return RIDGE_DTYPE_FP8;
    return weight;
}

ridge_serving_formats ridge_serving_formats_of(const ridge_model *model,
                                               const ridge_chip *chip)
{
    const bool is_narrow = model->quant_method != NULL;
    const bool has_dense = !is_narrow || model->quant_bits[RIDGE_QUANT_ATTENTION] > 0 ||
                           model->quant_bits[RIDGE_QUANT_DENSE] > 0 ||
                           model->quant_bits[RIDGE_QUANT_SHARED] > 0;
    const bool has_expert = !is_narrow || model->quant_bits[RIDGE_QUANT_EXPERTS] > 0;
    ridge_serving_formats f = {
        .weight = has_dense ? model->weight_dtype : model->rest_dtype,
        .expert = has_expert ? model->weight_dtype : model->rest_dtype,
        .activation = RIDGE_DTYPE_BF16,
        .cache = RIDGE_DTYPE_BF16,
        .attention = RIDGE_DTYPE_BF16,
        .group = model->quant_block,
    };
    if (!ridge_model_has_experts(model)) /* nothing is said of what is not there */
        f.expert = f.weight;
    f.compute = compute_of(model, chip, f.weight);
    f.expert_compute = compute_of(model, chip, f.expert);
    return f;
}

ridge_dtype ridge_serving_cache_of(const ridge_model *model, const ridge_engine *engine)
{
    const char *m = model->quant_method != NULL ? model->quant_method : "";
    if (engine == NULL || ridge_dtype_bytes(model->cache_dtype) >= 2)
        return RIDGE_DTYPE_BF16;
    const bool is_read =
        (engine->reads_modelopt_cache && strstr(m, "modelopt") != NULL) ||
        (engine->reads_cache_scheme && strstr(m, "compressed-tensors") != NULL);
    return is_read ? model->cache_dtype : RIDGE_DTYPE_BF16;
}
