/*
 * Number formats of a measured deployment: what its words for them mean, and which
 * parts of the model a checkpoint in that format leaves in 16 bits.
 */
#include "served_run.h"

#include <string.h>

/* What a word says of the weights it is used for. */
typedef struct format_word {
    const char *word;
    ridge_dtype weight;
    ridge_dtype compute; /* of the arithmetic, where weights alone are narrow: bf16 */
    int64_t group;       /* weights to a scale */
    const char *variant; /* of the catalogue's models: "llama-3.1-70b" + "-fp8" */
} format_word;

/* In lower case; the first that the row's text begins with counts, else the one that is
 * named first in it. */
static const format_word words[] = {
    {"nvfp4", RIDGE_DTYPE_FP4, RIDGE_DTYPE_FP4, 16, "-nvfp4"},
    {"mxfp4", RIDGE_DTYPE_FP4, RIDGE_DTYPE_BF16, 32, ""},
    {"fp4", RIDGE_DTYPE_FP4, RIDGE_DTYPE_FP4, 16, "-nvfp4"},
    {"fp8", RIDGE_DTYPE_FP8, RIDGE_DTYPE_FP8, 0, "-fp8"},
    {"int8", RIDGE_DTYPE_INT8, RIDGE_DTYPE_BF16, 0, ""},
    {"w8a16", RIDGE_DTYPE_INT8, RIDGE_DTYPE_BF16, 0, ""},
    {"w8a8 fp8", RIDGE_DTYPE_FP8, RIDGE_DTYPE_FP8, 0, "-fp8"},
    {"w8a8 (fp8", RIDGE_DTYPE_FP8, RIDGE_DTYPE_FP8, 0, "-fp8"},
    {"w8a8", RIDGE_DTYPE_INT8, RIDGE_DTYPE_INT8, 0, ""},
    {"smoothquant", RIDGE_DTYPE_INT8, RIDGE_DTYPE_INT8, 0, ""},
    {"e4m3", RIDGE_DTYPE_FP8, RIDGE_DTYPE_FP8, 0, "-fp8"},
    {"q8_0", RIDGE_DTYPE_INT8, RIDGE_DTYPE_FP16, 32, ""},
    {"int4 g32", RIDGE_DTYPE_INT4, RIDGE_DTYPE_BF16, 32, ""},
    {"int4", RIDGE_DTYPE_INT4, RIDGE_DTYPE_BF16, 128, ""},
    {"gptq-int8", RIDGE_DTYPE_INT8, RIDGE_DTYPE_BF16, 128, ""},
    {"gptq", RIDGE_DTYPE_INT4, RIDGE_DTYPE_BF16, 128, ""},
    {"awq", RIDGE_DTYPE_INT4, RIDGE_DTYPE_BF16, 128, ""},
    {"w4a16", RIDGE_DTYPE_INT4, RIDGE_DTYPE_BF16, 128, ""},
    {"w4afp8", RIDGE_DTYPE_INT4, RIDGE_DTYPE_FP8, 128, ""},
    {"w4a8", RIDGE_DTYPE_INT4, RIDGE_DTYPE_INT8, 128, ""},
    {"q2_", RIDGE_DTYPE_INT4, RIDGE_DTYPE_FP16, 32, ""}, /* bits: served_repack */
    {"q3_", RIDGE_DTYPE_INT4, RIDGE_DTYPE_FP16, 32, ""},
    {"q4_", RIDGE_DTYPE_INT4, RIDGE_DTYPE_FP16, 32, ""},
    {"q5_", RIDGE_DTYPE_INT4, RIDGE_DTYPE_FP16, 32, ""},
    {"q6_", RIDGE_DTYPE_INT4, RIDGE_DTYPE_FP16, 32, ""},
    {"exl2", RIDGE_DTYPE_INT4, RIDGE_DTYPE_FP16, 32, ""},
    {"exl3", RIDGE_DTYPE_INT4, RIDGE_DTYPE_FP16, 32, ""},
    {"nf4", RIDGE_DTYPE_INT4, RIDGE_DTYPE_BF16, 64, ""},
    {"4-bit", RIDGE_DTYPE_INT4, RIDGE_DTYPE_BF16, 128, ""},
    {"8-bit", RIDGE_DTYPE_INT8, RIDGE_DTYPE_BF16, 0, ""},
    {"float8", RIDGE_DTYPE_FP8, RIDGE_DTYPE_FP8, 0, "-fp8"},
    {"bf16", RIDGE_DTYPE_BF16, RIDGE_DTYPE_BF16, 0, ""},
    {"bfloat16", RIDGE_DTYPE_BF16, RIDGE_DTYPE_BF16, 0, ""},
    {"fp16", RIDGE_DTYPE_FP16, RIDGE_DTYPE_FP16, 0, ""},
    {"float16", RIDGE_DTYPE_FP16, RIDGE_DTYPE_FP16, 0, ""},
    {"half", RIDGE_DTYPE_FP16, RIDGE_DTYPE_FP16, 0, ""},
    {"f16", RIDGE_DTYPE_FP16, RIDGE_DTYPE_FP16, 0, ""},
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool begins(const char *text, const char *word)
{
    while (*word != '\0' && lower(*text) == *word) {
        text++;
        word++;
    }
    return *word == '\0';
}

/* "Meta FP8", "quantised to int4": a word is one where no letter or digit is before it.
 */
static const format_word *find_word(const char *text)
{
    bool is_start = true;
    for (; *text != '\0'; text++) {
        for (size_t i = 0; is_start && i < RIDGE_COUNT_OF(words); i++) {
            if (begins(text, words[i].word))
                return &words[i];
        }
        const char c = lower(*text);
        is_start = !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'));
    }
    return NULL;
}

static bool is_block_scaled(const char *text)
{
    return strstr(text, "block") != NULL;
}

bool served_formats_is_variant(const served_run *run, const ridge_model *variant)
{
    return variant->quant_block > 0 || !is_block_scaled(run->dtype);
}

const char *served_formats_variant(const served_run *run)
{
    const char *text = run->expert_dtype[0] != '\0' ? run->expert_dtype : run->dtype;
    const format_word *w = find_word(text);
    return w == NULL ? "" : w->variant;
}

/* ---- parts ------------------------------------------------------------------------
 */

static ridge_dtype wider(ridge_dtype dtype)
{
    return dtype == RIDGE_DTYPE_FP16 ? RIDGE_DTYPE_FP16 : RIDGE_DTYPE_BF16;
}

/* SGLang and vLLM read blocks of scales and make none: where a row says blocks of a
 * checkpoint that is wide it was run as that checkpoint is.
 * @source sglang-source-2025; vllm-source-2025 */
static bool is_unmade(const served_run *run, const ridge_model *model)
{
    return model->quant_method == NULL && is_block_scaled(run->dtype) &&
           (begins(run->framework, "sglang") || begins(run->framework, "vllm"));
}

/* The row's word for a model whose checkpoint is wider: all matrices but the head. */
static void from_word(const format_word *w, ridge_serving_formats *f)
{
    f->weight = f->expert = w->weight;
    f->compute = f->expert_compute = w->compute;
    f->group = w->group;
}

/* A checkpoint in the row's format, or one that is wider nowhere. */
static bool is_own(const ridge_model *model, const format_word *w)
{
    return w == NULL ||
           (model->quant_method != NULL &&
            ridge_dtype_bytes(w->weight) >= ridge_dtype_bytes(model->weight_dtype));
}

static bool has_suffix(const char *text, const char *suffix)
{
    const size_t n = strlen(text), m = strlen(suffix);
    return n >= m && strcmp(text + n - m, suffix) == 0;
}

/* A row that names the wide checkpoint, and 8 bits with one scale a matrix: under
 * TensorRT-LLM it was narrowed by ModelOpt. Publishers' own have scales of blocks, and
 * rows name them. */
static bool is_narrowed(const served_run *run, const ridge_model *model)
{
    const format_word *w = find_word(run->dtype);
    const bool is_trtllm =
        begins(run->framework, "trt") || begins(run->framework, "tensorrt");
    const bool is_fp8 = w != NULL && w->weight == RIDGE_DTYPE_FP8 &&
                        !is_block_scaled(run->dtype) &&
                        !is_block_scaled(run->expert_dtype);
    const bool is_variant = has_suffix(model->name, "-fp8") &&
                            !has_suffix(run->model, "-FP8") &&
                            !has_suffix(run->model, "-fp8");
    return is_trtllm && is_fp8 && (is_variant || !is_own(model, w));
}

/* Without a word for it the cache is as the checkpoint has it: those of NVIDIA's
 * ModelOpt state 8 bits for it, and trtllm-bench takes 8 where they do not; others
 * state nothing, and then it is as wide as activations.
 * @source nvidia-modelopt-2025; trtllm-bench-2025 */
static ridge_dtype cache_of(const served_run *run, const ridge_model *model,
                            const ridge_serving_formats *f)
{
    const format_word *w = find_word(run->cache_dtype);
    const char *method = model->quant_method == NULL ? "" : model->quant_method;
    if (w != NULL)
        return w->weight;
    const bool is_modelopt = strstr(method, "modelopt") != NULL ||
                             f->weight == RIDGE_DTYPE_FP4 || is_narrowed(run, model);
    return is_modelopt ? RIDGE_DTYPE_FP8 : f->activation;
}

ridge_status served_formats(ridge_ctx *cx, const served_run *run,
                            const ridge_model *model, const ridge_chip *chip,
                            ridge_serving_formats *out)
{
    const format_word *w = find_word(run->dtype);
    if (run->dtype[0] != '\0' && w == NULL) {
        return ridge_fail(cx, RIDGE_E_NOTFOUND, "the format '%s' is not known",
                          run->dtype);
    }
    ridge_serving_formats f = ridge_serving_formats_of(model, chip);
    if (is_unmade(run, model))
        w = NULL;
    f.activation = f.attention = wider(w == NULL ? model->rest_dtype : w->compute);
    if (!is_own(model, w))
        from_word(w, &f);
    if (w != NULL && is_block_scaled(run->dtype) && f.group == 0)
        f.group = 128;
    f.cache = cache_of(run, model, &f);
    *out = f;
    return RIDGE_OK;
}
