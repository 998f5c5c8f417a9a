/* @source vllm-2026, quantization; sglang-2026, quantization; tensorrt-llm-2026,
 * QuantAlgo; tgi-source-2024, launcher.md; lmdeploy-source-2025, cli;
 * maxtext-2025, configs/base.yml (quantization) */
#include "server_formats.h"

#include <string.h>

/* What a name says. Experts alone: what mxfp4 of gpt-oss does. */
typedef struct quant_row {
    const char *words[SERVER_DIALECT_COUNT]; /* "a|b": the first is written */
    ridge_dtype weight;
    bool is_compute_narrow;
    bool is_experts_alone;
    int64_t group;
} quant_row;

/* clang-format off */
static const quant_row rows[] = {
    {{"fp8|fbgemm_fp8|modelopt|ptpc_fp8|modelopt_fp8", "fp8|w8a8_fp8|modelopt_fp8|modelopt", "FP8|FP8_PER_CHANNEL_PER_TOKEN", "fp8", "fp8", "fp8"}, RIDGE_DTYPE_FP8, true, false, 0},
    {{NULL, NULL, "FP8_BLOCK_SCALES", NULL, NULL, NULL}, RIDGE_DTYPE_FP8, true, false, 128},
    {{"awq|awq_marlin|gptq|gptq_marlin|marlin|gptq_marlin_24|auto-round", "awq|awq_marlin|gptq|gptq_marlin|marlin|moe_wna16|auto-round", "W4A16_AWQ|W4A16_GPTQ|W4A16", "awq|gptq|marlin", "awq|gptq", NULL}, RIDGE_DTYPE_INT4, false, false, 128},
    {{"bitsandbytes", "bitsandbytes", NULL, "bitsandbytes-nf4|bitsandbytes-fp4", NULL, "int4w"}, RIDGE_DTYPE_INT4, false, false, 0},
    {{NULL, "w8a8_int8", "W8A8_SQ_PER_CHANNEL", NULL, NULL, "int8"}, RIDGE_DTYPE_INT8, true, false, 0},
    {{NULL, NULL, "W8A16", "eetq|bitsandbytes", NULL, "int8w"}, RIDGE_DTYPE_INT8, false, false, 0},
    {{"modelopt_fp4|nvfp4|petit_nvfp4", "modelopt_fp4|petit_nvfp4|nvfp4_online", "NVFP4", NULL, NULL, NULL}, RIDGE_DTYPE_FP4, true, false, 16},
    {{"mxfp4", "mxfp4", "W4A16_MXFP4", NULL, "mxfp4", NULL}, RIDGE_DTYPE_FP4, false, true, 32},
};
/* clang-format on */

static bool is_among(const char *words, const char *word)
{
    ridge_str rest = ridge_str_of(words == NULL ? "" : words);
    while (rest.p != NULL) {
        if (ridge_str_is(ridge_str_cut(&rest, '|'), word))
            return true;
    }
    return false;
}

int64_t server_devices_of(const ridge_slice *slice)
{
    return slice != NULL && slice->chip->devices > 1 ? slice->chip->devices : 1;
}

int64_t server_tpu_ranks(const ridge_model *model, ridge_dtype cache, int64_t devices)
{
    const double packing = 4 / ridge_dtype_bytes(cache);
    double heads = (double)server_kv_heads(model) * 2 / packing;
    heads = heads < 1 ? 1 : heads;
    const int64_t made = (int64_t)((double)devices / heads);
    return made < 1 ? 1 : made;
}

bool server_has_latent(const ridge_model *model)
{
    for (int i = 0; i < model->n_layers; i++) {
        if (model->layers[i].mixer.kind == RIDGE_MIXER_MLA)
            return true;
    }
    return false;
}

int64_t server_experts(const ridge_model *model)
{
    int64_t most = 0;
    for (int i = 0; i < model->n_layers; i++) {
        const ridge_ffn *f = &model->layers[i].ffn;
        if (f->kind == RIDGE_FFN_MOE && f->experts > most)
            most = f->experts;
    }
    return most;
}

int64_t server_kv_heads(const ridge_model *model)
{
    int64_t least = 0;
    for (int i = 0; i < model->n_layers; i++) {
        const ridge_mixer *m = &model->layers[i].mixer;
        int64_t heads = 0;
        if (m->kind == RIDGE_MIXER_MLA) {
            heads = 1;
        } else if (m->kind == RIDGE_MIXER_ATTENTION) {
            heads = m->kv_heads;
        }
        if (heads > 0 && (least == 0 || heads < least))
            least = heads;
    }
    return least;
}

/* Stands for the chips of a slice that is not known. */
static const ridge_chip every_chip = {.has_peak = {[RIDGE_DTYPE_BF16] = true,
                                                   [RIDGE_DTYPE_FP16] = true,
                                                   [RIDGE_DTYPE_FP8] = true,
                                                   [RIDGE_DTYPE_INT8] = true,
                                                   [RIDGE_DTYPE_FP4] = true}};

static const ridge_chip *chip_of(const ridge_slice *slice)
{
    return slice == NULL ? &every_chip : slice->chip;
}

ridge_serving_formats server_formats_of(const ridge_model *m, const ridge_slice *slice)
{
    return ridge_serving_formats_of(m, chip_of(slice));
}

bool server_formats_match(const ridge_serving_formats *f, const ridge_model *model,
                          const ridge_slice *slice)
{
    const ridge_serving_formats own = server_formats_of(model, slice);
    const bool has_experts = ridge_model_has_experts(model);
    return f->weight == own.weight && f->compute == own.compute &&
           (!has_experts ||
            (f->expert == own.expert && f->expert_compute == own.expert_compute));
}

/* mxfp4 weights meet 8-bit activations on chips that multiply in fp4. */
static void apply(const quant_row *row, const ridge_chip *chip,
                  ridge_serving_formats *f)
{
    const bool is_narrow = row->is_compute_narrow && chip->has_peak[row->weight];
    f->expert = row->weight;
    f->expert_compute = is_narrow ? row->weight : f->activation;
    if (row->is_experts_alone && chip->has_peak[row->weight])
        f->expert_compute = RIDGE_DTYPE_FP8;
    f->group = row->group;
    if (row->is_experts_alone)
        return;
    f->weight = row->weight;
    f->compute = f->expert_compute;
}

bool server_formats_quantise(server_dialect dialect, const char *word,
                             const ridge_slice *slice, ridge_serving_formats *formats)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        if (is_among(rows[i].words[dialect], word)) {
            apply(&rows[i], chip_of(slice), formats);
            return true;
        }
    }
    return false;
}

/* ---- names of checkpoints -------------------------------------------------------- */

/* In lower case; longer ones first where one holds another. */
static const struct {
    const char *mark;
    quant_row row;
} name_marks[] = {
    {"quantized.w8a8", {.weight = RIDGE_DTYPE_INT8, .is_compute_narrow = true}},
    {"quantized.w4a16", {.weight = RIDGE_DTYPE_INT4, .group = 128}},
    {"quantized.w8a16", {.weight = RIDGE_DTYPE_INT8}},
    {"w8a8", {.weight = RIDGE_DTYPE_INT8, .is_compute_narrow = true}},
    {"w4a16", {.weight = RIDGE_DTYPE_INT4, .group = 128}},
    {"awq", {.weight = RIDGE_DTYPE_INT4, .group = 128}},
    {"gptq-int8", {.weight = RIDGE_DTYPE_INT8, .group = 128}},
    {"gptq", {.weight = RIDGE_DTYPE_INT4, .group = 128}},
    {"bnb-4bit", {.weight = RIDGE_DTYPE_INT4}},
    {"nvfp4", {.weight = RIDGE_DTYPE_FP4, .is_compute_narrow = true, .group = 16}},
    {"fp4", {.weight = RIDGE_DTYPE_FP4, .is_compute_narrow = true, .group = 16}},
    {"fp8", {.weight = RIDGE_DTYPE_FP8, .is_compute_narrow = true}},
    {"int4", {.weight = RIDGE_DTYPE_INT4, .group = 128}},
    {"int8", {.weight = RIDGE_DTYPE_INT8, .is_compute_narrow = true}},
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Where a mark stands behind a '-', '_' or '.'. @return 0: nowhere */
static size_t find_mark(const char *name, const char *mark)
{
    const size_t n = strlen(mark);
    for (size_t i = 1; name[i] != '\0'; i++) {
        size_t k = 0;
        while (k < n && lower(name[i + k]) == mark[k])
            k++;
        if (k == n && strchr("-_.", name[i - 1]) != NULL)
            return i;
    }
    return 0;
}

bool server_formats_by_name(const char *name, const ridge_slice *slice,
                            ridge_serving_formats *formats, ridge_str *base,
                            const char **mark)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(name_marks); i++) {
        const size_t at = find_mark(name, name_marks[i].mark);
        if (at == 0)
            continue;
        apply(&name_marks[i].row, chip_of(slice), formats);
        *base = (ridge_str){name, at - 1};
        *mark = name + at;
        return true;
    }
    return false;
}

const char *server_formats_word(ridge_ctx *cx, server_dialect dialect,
                                const ridge_serving_formats *formats,
                                const ridge_deployment *deployment)
{
    const bool has_experts = ridge_model_has_experts(deployment->model);
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        ridge_serving_formats got = *formats;
        if (rows[i].words[dialect] == NULL)
            continue;
        got.weight = got.compute = got.expert = got.expert_compute =
            formats->activation;
        apply(&rows[i], chip_of(deployment->slice), &got);
        if (got.weight == formats->weight && got.compute == formats->compute &&
            (!has_experts || (got.expert == formats->expert &&
                              got.expert_compute == formats->expert_compute))) {
            ridge_str rest = ridge_str_of(rows[i].words[dialect]);
            return ridge_str_dup(ridge_ctx_arena(cx), ridge_str_cut(&rest, '|'));
        }
    }
    return NULL;
}

/* ---- caches ---------------------------------------------------------------------- */

bool server_cache_parse(const char *word, ridge_dtype *out)
{
    static const struct {
        const char *words;
        ridge_dtype dtype;
    } caches[] = {
        {"fp8|fp8_e4m3|fp8_e5m2|fp8_e4m3fn|fp8_inc|fp8_ds_mla|FP8", RIDGE_DTYPE_FP8},
        {"bfloat16|bf16", RIDGE_DTYPE_BF16},
        {"float16|half|fp16", RIDGE_DTYPE_FP16},
        {"float32|float", RIDGE_DTYPE_FP32},
        {"int8|INT8", RIDGE_DTYPE_INT8},
        {"int4", RIDGE_DTYPE_INT4},
        {"nvfp4|fp4_e2m1|NVFP4", RIDGE_DTYPE_FP4}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(caches); i++) {
        if (is_among(caches[i].words, word)) {
            *out = caches[i].dtype;
            return true;
        }
    }
    return strcmp(word, "auto") == 0;
}

const char *server_cache_word(server_dialect dialect, ridge_dtype cache,
                              ridge_dtype own)
{
    static const struct {
        ridge_dtype dtype;
        const char *words[SERVER_DIALECT_COUNT];
    } caches[] = {
        {RIDGE_DTYPE_FP8, {"fp8", "fp8_e4m3", "fp8", "fp8_e4m3fn", NULL, "fp8"}},
        {RIDGE_DTYPE_FP4, {NULL, "fp4_e2m1", "nvfp4", NULL, NULL, NULL}},
        {RIDGE_DTYPE_INT8, {NULL, NULL, NULL, NULL, "8", "int8"}},
        {RIDGE_DTYPE_INT4, {NULL, NULL, NULL, NULL, "4", "int4"}},
        {RIDGE_DTYPE_BF16, {"bfloat16", "bfloat16", NULL, NULL, NULL, NULL}},
        {RIDGE_DTYPE_FP16, {"float16", NULL, NULL, NULL, NULL, NULL}}};
    if (cache == own)
        return "auto";
    for (size_t i = 0; i < RIDGE_COUNT_OF(caches); i++) {
        if (caches[i].dtype == cache)
            return caches[i].words[dialect];
    }
    return NULL;
}
