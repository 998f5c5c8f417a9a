/* Number formats of a service: those of the checkpoint, those told, or all. */
#include "ridge/plan_service.h"

#include <string.h>

enum { FORMATS_ANY = 8 };

/* A list of formats: one that is told, all for "any", or none. */
typedef struct choices {
    int n;
    ridge_dtype of[FORMATS_ANY];
} choices;

/* Formats that weights and caches come in, wide first. */
static const ridge_dtype common[] = {RIDGE_DTYPE_BF16, RIDGE_DTYPE_FP8,
                                     RIDGE_DTYPE_INT8, RIDGE_DTYPE_FP4,
                                     RIDGE_DTYPE_INT4};

static bool is_integer(ridge_dtype d)
{
    return d == RIDGE_DTYPE_INT8 || d == RIDGE_DTYPE_INT4;
}

/* Of 8 bits: integers that are as wide as floats with which the chip is as quick say
 * nothing that these do not. */
static bool is_beaten(const ridge_chip *chip, ridge_dtype d)
{
    return d == RIDGE_DTYPE_INT8 && chip->has_peak[RIDGE_DTYPE_FP8] &&
           ridge_chip_peak(chip, RIDGE_DTYPE_FP8, NULL) >=
               ridge_chip_peak(chip, RIDGE_DTYPE_INT8, NULL);
}

/* Integers can be had in memory everywhere; floats where the chip computes in them. */
static bool is_common(const ridge_chip *chip, ridge_dtype d, bool is_cache)
{
    if ((is_cache && ridge_dtype_bytes(d) < 1) || is_beaten(chip, d))
        return false;
    return ridge_dtype_bytes(d) >= 2 || is_integer(d) || chip->has_peak[d];
}

static ridge_status read_choices(ridge_ctx *cx, const char *key, const char *text,
                                 const ridge_chip *chip, ridge_dtype unasked,
                                 choices *out)
{
    *out = (choices){.n = 1, .of = {unasked}};
    if (text == NULL)
        return RIDGE_OK;
    if (strcmp(text, "any") != 0) {
        const ridge_status st = ridge_dtype_parse(cx, text, &out->of[0]);
        if (st != RIDGE_OK)
            ridge_ctx_note(cx, "%s=%.40s", key, text);
        return st == RIDGE_OK ? st : RIDGE_E_ARG;
    }
    out->n = 0;
    for (size_t i = 0; i < RIDGE_COUNT_OF(common); i++) {
        if (is_common(chip, common[i], strcmp(key, "cache") == 0))
            out->of[out->n++] = common[i];
    }
    return RIDGE_OK;
}

/* Arithmetic on weights: in their own format where the chip has it, weights of 4 bits
 * that are integers aside, which are widened. */
static ridge_dtype compute_of(const ridge_chip *chip, ridge_dtype weight)
{
    if (ridge_dtype_bytes(weight) > 2)
        return weight;
    if (ridge_dtype_bytes(weight) == 2 || weight == RIDGE_DTYPE_INT4 ||
        !chip->has_peak[weight])
        return RIDGE_DTYPE_BF16;
    return weight;
}

/* Weights as told: their scales are those of the format's usual groups. */
static int64_t group_of(ridge_dtype weight)
{
    switch (weight) {
    case RIDGE_DTYPE_INT4:
        return 128; /* gptq, awq */
    case RIDGE_DTYPE_FP4:
        return 16; /* nvfp4 */
    case RIDGE_DTYPE_FP6:
        return 32; /* mxfp6 */
    case RIDGE_DTYPE_FP64:
    case RIDGE_DTYPE_FP32:
    case RIDGE_DTYPE_TF32:
    case RIDGE_DTYPE_BF16:
    case RIDGE_DTYPE_FP16:
    case RIDGE_DTYPE_FP8:
    case RIDGE_DTYPE_INT8:
        return 0; /* one a channel */
    }
    return 0;
}

static ridge_serving_formats formats_with(const ridge_serving_formats *own,
                                          const ridge_service_knobs *knobs,
                                          const ridge_chip *chip, ridge_dtype weight,
                                          ridge_dtype cache)
{
    ridge_serving_formats f = *own;
    f.cache = cache;
    if (knobs->weight_text != NULL && weight != own->weight) {
        f.weight = weight;
        f.expert = weight;
        f.compute = compute_of(chip, weight);
        f.expert_compute = f.compute;
        f.group = group_of(weight);
    }
    return f;
}

static ridge_status set_rest(ridge_ctx *cx, const ridge_service_knobs *knobs,
                             const ridge_chip *chip, ridge_serving_formats *f)
{
    choices c;
    RIDGE_TRY(read_choices(cx, "experts", knobs->expert_text, chip, f->expert, &c));
    if (knobs->expert_text != NULL && c.of[0] != f->expert) {
        f->expert = c.of[0];
        f->expert_compute = compute_of(chip, f->expert);
    }
    RIDGE_TRY(read_choices(cx, "compute", knobs->compute_text, chip, f->compute, &c));
    if (knobs->compute_text != NULL) {
        f->compute = c.of[0];
        f->expert_compute = c.of[0];
    }
    RIDGE_TRY(read_choices(cx, "activations", knobs->activation_text, chip,
                           f->activation, &c));
    f->activation = c.of[0];
    return RIDGE_OK;
}

/* Servers that are told are those of one pool, or of two. */
static void close_mode(ridge_service_knobs *knobs)
{
    const bool is_two = knobs->pools[RIDGE_SERVICE_ROLE_PREFILL].servers > 0 ||
                        knobs->pools[RIDGE_SERVICE_ROLE_DECODE].servers > 0;
    if (knobs->mode != RIDGE_SERVICE_MODE_ANY)
        return;
    if (is_two)
        knobs->mode = RIDGE_SERVICE_MODE_DISAGGREGATED;
    else if (knobs->pools[RIDGE_SERVICE_ROLE_BOTH].servers > 0)
        knobs->mode = RIDGE_SERVICE_MODE_AGGREGATED;
}

ridge_status ridge_service_knobs_close(ridge_ctx *cx, const ridge_model *model,
                                       const ridge_chip *chip,
                                       const ridge_engine *engine,
                                       ridge_service_knobs *knobs)
{
    const char *const single[] = {knobs->expert_text, knobs->compute_text,
                                  knobs->activation_text};
    ridge_serving_formats own = ridge_serving_formats_of(model, chip);
    own.cache = ridge_serving_cache_of(model, engine);
    choices weights;
    choices caches;
    close_mode(knobs);
    for (size_t i = 0; i < RIDGE_COUNT_OF(single); i++) {
        if (single[i] != NULL && strcmp(single[i], "any") == 0)
            return ridge_fail(cx, RIDGE_E_ARG,
                              "any is of weights and cache: name one format of "
                              "experts, compute and activations");
    }
    RIDGE_TRY(
        read_choices(cx, "weights", knobs->weight_text, chip, own.weight, &weights));
    RIDGE_TRY(read_choices(cx, "cache", knobs->cache_text, chip, own.cache, &caches));
    knobs->n_formats = 0;
    for (int w = 0; w < weights.n; w++) {
        for (int c = 0; c < caches.n && knobs->n_formats < RIDGE_SERVICE_FORMATS_MAX;
             c++) {
            ridge_serving_formats f =
                formats_with(&own, knobs, chip, weights.of[w], caches.of[c]);
            RIDGE_TRY(set_rest(cx, knobs, chip, &f));
            knobs->formats[knobs->n_formats++] = f;
        }
    }
    return RIDGE_OK;
}
