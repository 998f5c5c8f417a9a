#include "measured_words.h"

#include "ridge/base.h"
#include "ridge/hardware_stack.h"
#include "ridge/plan_layout.h"

#include <ctype.h>
#include <string.h>

typedef struct word_value {
    const char *word; /* in plain letters */
    int value;
} word_value;

/* Of each list the first word that occurs decides. */
static const word_value precisions[] = {
    {"nvfp4", RIDGE_PRECISION_FP4},
    {"fp4", RIDGE_PRECISION_FP4},
    {"rowwise", RIDGE_PRECISION_FP8_ROWS},
    {"float8allgather", RIDGE_PRECISION_FP8_WEIGHTS},
    {"mxfp8", RIDGE_PRECISION_MXFP8},
    {"fp8mx", RIDGE_PRECISION_MXFP8},
    {"blockwise", RIDGE_PRECISION_FP8_BLOCKS},
    {"fp8", RIDGE_PRECISION_FP8},
    {"float8", RIDGE_PRECISION_FP8},
    {"pure", RIDGE_PRECISION_BF16_PURE},
    {"bf16", RIDGE_PRECISION_BF16},
    {"bfloat16", RIDGE_PRECISION_BF16},
    {"fp16", RIDGE_PRECISION_FP16},
    {"float16", RIDGE_PRECISION_FP16},
    {"half", RIDGE_PRECISION_FP16},
    {"tf32", RIDGE_PRECISION_TF32},
    {"fp32", RIDGE_PRECISION_FP32},
    {"float32", RIDGE_PRECISION_FP32},
};

static const word_value remats[] = {
    {"full", RIDGE_REMAT_FULL},       {"none", RIDGE_REMAT_NONE},
    {"minimal", RIDGE_REMAT_MATMULS}, {"restrecomputed", RIDGE_REMAT_FULL},
    {"savedot", RIDGE_REMAT_MATMULS}, {"selective", RIDGE_REMAT_SELECTIVE},
    {"uniform", RIDGE_REMAT_FULL},    {"coreattn", RIDGE_REMAT_SELECTIVE},
};

static const word_value zeros[] = {
    {"zero3", 3},   {"fullshard", 3}, {"shardgradop", 2}, {"zero2", 2},
    {"zero1/2", 2}, {"zero1", 1},     {"zero0", 0},       {"zerostage3", 3},
    {"stage3", 3},  {"stage2", 2},    {"stage1", 1},      {"distributedoptim", 1},
    {"distopt", 1}, {"ddp", 0},       {"none", 0},        {"hsdp", 3},
    {"fsdp", 3},
};

/* "8bit" before "bf16": what is kept in 8 bits is so beside weights of 16. */
static const word_value optimizers[] = {
    {"muon", RIDGE_OPTIMIZER_MUON},       {"adafactor", RIDGE_OPTIMIZER_ADAFACTOR},
    {"8bit", RIDGE_OPTIMIZER_ADAMW_8BIT}, {"bf16", RIDGE_OPTIMIZER_ADAMW_BF16},
    {"adam", RIDGE_OPTIMIZER_ADAMW},      {"momentum", RIDGE_OPTIMIZER_MOMENTUM},
    {"sgd", RIDGE_OPTIMIZER_SGD},
};

static const word_value kernels[] = {
    {"noflash", RIDGE_ATTENTION_UNFUSED},
    {"withoutflash", RIDGE_ATTENTION_UNFUSED},
    {"unfused", RIDGE_ATTENTION_UNFUSED},
    {"flash", RIDGE_ATTENTION_FLASH},
    {"memoryefficient", RIDGE_ATTENTION_FLASH},
    {"xformers", RIDGE_ATTENTION_FLASH},
};

static const word_value switches[] = {
    {"yes", 1}, {"no", 0},      {"true", 1},     {"false", 0}, {"on", 1},
    {"off", 0}, {"enabled", 1}, {"disabled", 0}, {"1", 1},     {"0", 0}};

enum { PLAIN_MOST = 256 };

/* Small letters without what joins or parts words. */
static void make_plain(const char *text, char out[PLAIN_MOST])
{
    size_t n = 0;
    for (; *text != '\0' && n + 1 < PLAIN_MOST; text++) {
        if (strchr(" -_=:", *text) == NULL)
            out[n++] = (char)tolower((unsigned char)*text);
    }
    out[n] = '\0';
}

static bool find_word(const char *text, const word_value *words, size_t n, int *out)
{
    char plain[PLAIN_MOST];
    if (text == NULL)
        return false;
    make_plain(text, plain);
    for (size_t i = 0; i < n; i++) {
        if (strstr(plain, words[i].word) != NULL) {
            *out = words[i].value;
            return true;
        }
    }
    return false;
}

bool measured_precision_word(const char *text, int *out)
{
    return find_word(text, precisions, RIDGE_COUNT_OF(precisions), out);
}

bool measured_remat_word(const char *text, int *out)
{
    bool is_on;
    if (measured_switch_word(text, &is_on)) {
        *out = is_on ? RIDGE_REMAT_FULL : RIDGE_REMAT_NONE;
        return true;
    }
    return find_word(text, remats, RIDGE_COUNT_OF(remats), out);
}

bool measured_zero_word(const char *text, int *out)
{
    return find_word(text, zeros, RIDGE_COUNT_OF(zeros), out);
}

bool measured_optimizer_word(const char *text, int *out)
{
    return find_word(text, optimizers, RIDGE_COUNT_OF(optimizers), out);
}

bool measured_attention_word(const char *text, int *out)
{
    return find_word(text, kernels, RIDGE_COUNT_OF(kernels), out);
}

bool measured_is_hybrid(const char *text)
{
    static const word_value words[] = {{"hybrid", 1}, {"hsdp", 1}};
    int value;
    return find_word(text, words, RIDGE_COUNT_OF(words), &value);
}

bool measured_switch_word(const char *text, bool *out)
{
    char plain[PLAIN_MOST];
    if (text == NULL)
        return false;
    make_plain(text, plain);
    for (size_t i = 0; i < RIDGE_COUNT_OF(switches); i++) {
        if (strcmp(plain, switches[i].word) == 0) {
            *out = switches[i].value != 0;
            return true;
        }
    }
    return false;
}

/* ---- networks -------------------------------------------------------------------- */

/* Units as they are written, in bytes/s; b are bits and B bytes. */
static const struct {
    const char *word;
    double bytes_per_s;
} units[] = {{"Gbit/s", 1e9 / 8}, {"Gbps", 1e9 / 8},    {"Gb/s", 1e9 / 8},
             {"Gbit", 1e9 / 8},   {"Tbit/s", 1e12 / 8}, {"Tbps", 1e12 / 8},
             {"Tb/s", 1e12 / 8},  {"GB/s", 1e9},        {"TB/s", 1e12}};

/* InfiniBand's generations, by a port of four lanes. */
static const word_value generations[] = {
    {"xdr", 800}, {"ndr", 400}, {"hdr", 200}, {"edr", 100}, {"fdr", 56}};

/* No chip of those that are priced has more than this to itself outside of its node. */
static const double CHIP_MOST_BYTES_PER_S = 800e9 / 8;

static const char *find_unit(const char *text, double *bytes_per_s)
{
    const char *first = NULL;
    for (size_t i = 0; i < RIDGE_COUNT_OF(units); i++) {
        const char *at = strstr(text, units[i].word);
        if (at != NULL && (first == NULL || at < first)) {
            first = at;
            *bytes_per_s = units[i].bytes_per_s;
        }
    }
    return first;
}

/* The last number of the text, and the last that stands before an x: "4x 100 ". */
static void read_numbers(ridge_str text, double *rate, double *times)
{
    while (text.n > 0) {
        double v;
        ridge_str word = ridge_str_cut(&text, ' ');
        while (word.n > 0 && strchr("(,", word.p[0]) != NULL)
            word = (ridge_str){word.p + 1, word.n - 1};
        const bool is_times = word.n > 1 && (word.p[word.n - 1] | 32) == 'x';
        const ridge_str number = {word.p, word.n - (is_times ? 1 : 0)};
        if (!ridge_parse_double(number, &v) || v <= 0)
            continue;
        *(is_times ? times : rate) = v;
    }
}

static bool says(const char *plain, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strstr(plain, words[i]) != NULL)
            return true;
    }
    return false;
}

static bool is_of_node(const char *text, double rate, double times)
{
    static const char *const nodes[] = {"pernode",   "anode",   "/node",
                                        "perserver", "perhost", "perinstance"};
    static const char *const chips[] = {"pergpu", "agpu",  "/gpu",          "perchip",
                                        "achip",  "/chip", "peraccelerator"};
    char plain[PLAIN_MOST];
    make_plain(text, plain);
    if (says(plain, nodes, RIDGE_COUNT_OF(nodes)))
        return true;
    if (says(plain, chips, RIDGE_COUNT_OF(chips)))
        return false;
    return times > 1 || rate > CHIP_MOST_BYTES_PER_S;
}

bool measured_rate_words(const char *text, measured_rate *out)
{
    if (text == NULL)
        return false;
    double rate = 0, times = 1, unit = 0;
    const char *at = find_unit(text, &unit);
    read_numbers((ridge_str){text, at == NULL ? strlen(text) : (size_t)(at - text)},
                 &rate, &times);
    rate *= unit;
    int port;
    if (at == NULL && find_word(text, generations, RIDGE_COUNT_OF(generations), &port))
        rate = port * 1e9 / 8;
    if (rate <= 0)
        return false;
    *out = (measured_rate){rate * times, is_of_node(text, rate, times)};
    return true;
}
