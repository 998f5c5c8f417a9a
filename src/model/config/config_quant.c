/*
 * In which formats a checkpoint stores its weights: torch_dtype for all, and
 * quantization_config (in the file, in its language part, or as hf_quant_config.json
 * beside it) for groups of linear weights. Bits include the scales.
 */
#include "config.h"
#include "quant_part.h"

#include <ctype.h>
#include <string.h>

/* A storage format of a group of weights. */
typedef struct format {
    const char *name;
    double bits; /* with scales; 0: not quantised */
    int64_t block;
    ridge_dtype dtype;
} format;

typedef struct quant {
    ridge__config *c;
    ridge_node node;
    const char *method;
    format parts[RIDGE_QUANT_PART_COUNT];
} quant;

/* clang-format off */
/* ModelOpt's names. Scales: 8 bits a group of 16 (NVFP4) or 32 (MX), 32 bits a block. */
static const format ALGORITHMS[] = {
    {"FP8", 8, 0, RIDGE_DTYPE_FP8},
    {"FP8_PB_WO", 8 + 32.0 / 16384, 128, RIDGE_DTYPE_FP8},
    {"FP8_PER_CHANNEL_PER_TOKEN", 8, 0, RIDGE_DTYPE_FP8},
    {"NVFP4", 4 + 8.0 / 16, 16, RIDGE_DTYPE_FP4},
    {"NVFP4_AWQ", 4 + 8.0 / 16, 16, RIDGE_DTYPE_FP4},
    {"W4A16_NVFP4", 4 + 8.0 / 16, 16, RIDGE_DTYPE_FP4},
    {"MXFP4", 4 + 8.0 / 32, 32, RIDGE_DTYPE_FP4},
    {"W4A8_MXFP4_FP8", 4 + 8.0 / 32, 32, RIDGE_DTYPE_FP4},
    {"MXFP8", 8 + 8.0 / 32, 32, RIDGE_DTYPE_FP8},
    {"INT8", 8, 0, RIDGE_DTYPE_INT8},
    {"W8A8_SQ_PER_CHANNEL", 8, 0, RIDGE_DTYPE_INT8},
    {"W4A16_AWQ", 4 + 16.0 / 128, 128, RIDGE_DTYPE_INT4},
    {"W4A8_AWQ", 4 + 16.0 / 128, 128, RIDGE_DTYPE_INT4},
    {"INT4_AWQ", 4 + 16.0 / 128, 128, RIDGE_DTYPE_INT4},
};
/* clang-format on */

static const char *text_of(ridge_node parent, const char *key, const char *otherwise)
{
    const char *text = otherwise;
    return ridge_json_text(ridge_json_get(&parent, key), &text) ? text : otherwise;
}

static bool flag_of(ridge_node parent, const char *key)
{
    bool value = false;
    return ridge_json_bool(ridge_json_get(&parent, key), &value) && value;
}

/* A size within a quantisation section; -1 (none) counts as absent. */
static ridge_status size_of(const quant *q, const ridge_node *parent,
                            const char *const *keys, int64_t otherwise, int64_t *out)
{
    *out = otherwise;
    for (; *keys != NULL; keys++) {
        ridge_node n = ridge_json_get(parent, *keys);
        if (ridge_json_is_absent(n))
            continue;
        RIDGE_TRY(ridge_json_want_i64(q->c->cx, n, -1, 1000000, out));
        if (*out <= 0)
            *out = 0;
        return RIDGE_OK;
    }
    return RIDGE_OK;
}

static void set_all(quant *q, const format *f)
{
    for (int part = 0; part < RIDGE_QUANT_HEAD; part++)
        q->parts[part] = *f;
}

static const format *find_algorithm(const char *name)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(ALGORITHMS); i++) {
        if (strcmp(ALGORITHMS[i].name, name) == 0)
            return &ALGORITHMS[i];
    }
    return NULL;
}

static void note_unknown(quant *q, const char *what)
{
    ridge__config_guess(q->c,
                        "quantisation \"%.60s\" is unknown: weights counted in %s",
                        what, ridge_dtype_text(q->c->model->rest_dtype));
}

/* FP8 with scales by block, or by tensor; routed experts may be narrower. */
static ridge_status read_fp8(quant *q)
{
    format f = {"fp8", 8, 0, RIDGE_DTYPE_FP8};
    ridge_node block = ridge_json_get(&q->node, "weight_block_size");
    ridge_node side = ridge_json_at(&block, 0);
    if (!ridge_json_is_absent(side)) {
        RIDGE_TRY(ridge_json_want_i64(q->c->cx, side, 1, 1000000, &f.block));
        f.bits += 32.0 / ((double)f.block * (double)f.block);
    }
    set_all(q, &f);
    const char *experts = text_of(q->node, "moe_quant_algo", NULL);
    const char *expert_dtype = ridge__config_text(q->c, "expert_dtype", "");
    if (experts == NULL && strcmp(expert_dtype, "fp4") == 0)
        experts = "MXFP4";
    if (experts == NULL)
        return RIDGE_OK;
    const format *narrow = find_algorithm(experts);
    if (narrow == NULL) {
        note_unknown(q, experts);
    } else {
        q->parts[RIDGE_QUANT_EXPERTS] = *narrow;
    }
    return RIDGE_OK;
}

/* GPTQ and AWQ: a 16-bit scale and a zero point as wide as a weight, a group. */
static ridge_status read_packed(quant *q)
{
    static const char *const BITS[] = {"bits", "w_bit", NULL};
    static const char *const GROUPS[] = {"group_size", "q_group_size", NULL};
    int64_t bits, group;
    RIDGE_TRY(size_of(q, &q->node, BITS, 4, &bits));
    RIDGE_TRY(size_of(q, &q->node, GROUPS, 128, &group));
    if (bits < 1 || bits > 8) {
        return ridge_json_fail(q->c->cx, q->node, "weights of %lld bits",
                               (long long)bits);
    }
    format f = {bits > 4 ? "int8" : "int4", (double)bits, group,
                bits > 4 ? RIDGE_DTYPE_INT8 : RIDGE_DTYPE_INT4};
    if (group > 0)
        f.bits += (16 + (double)bits) / (double)group;
    set_all(q, &f);
    return RIDGE_OK;
}

/* NF4: a 32-bit scale for 64 weights, or an 8-bit one and a 32-bit scale for 256 of
 * those. @source dettmers2023-qlora, section 3 */
static ridge_status read_bitsandbytes(quant *q)
{
    format f = {"int8", 8, 0, RIDGE_DTYPE_INT8};
    if (flag_of(q->node, "load_in_4bit") || flag_of(q->node, "_load_in_4bit")) {
        const bool is_double = flag_of(q->node, "bnb_4bit_use_double_quant");
        f = (format){"nf4", 4 + (is_double ? (8 + 32.0 / 256) / 64 : 32.0 / 64), 64,
                     RIDGE_DTYPE_INT4};
    }
    set_all(q, &f);
    return RIDGE_OK;
}

/* GGUF: bits by part, scales among them; 16 and more are no quantisation. */
static ridge_status read_gguf(quant *q)
{
    static const char *const names[RIDGE_QUANT_PART_COUNT] = {
        "attention", "dense", "shared", "experts", "head"};
    enum { PLAIN_BITS = 16, INT4_MOST_BITS = 5 };
    const ridge_node all = ridge_json_get(&q->node, "bits");
    for (int part = 0; part < RIDGE_QUANT_PART_COUNT; part++) {
        const ridge_node node = ridge_json_get(&all, names[part]);
        double bits;
        if (ridge_json_is_absent(node))
            continue;
        RIDGE_TRY(ridge_json_want_double(q->c->cx, node, 1, 64, &bits));
        if (bits < PLAIN_BITS)
            q->parts[part] =
                (format){"gguf", bits, 0,
                         bits < INT4_MOST_BITS ? RIDGE_DTYPE_INT4 : RIDGE_DTYPE_INT8};
    }
    return RIDGE_OK;
}

/* gpt-oss: routed experts alone. */
static ridge_status read_mxfp4(quant *q)
{
    q->parts[RIDGE_QUANT_EXPERTS] = *find_algorithm("MXFP4");
    q->parts[RIDGE_QUANT_EXPERTS].name = "mxfp4";
    return RIDGE_OK;
}

/* "weights" of a group: bits, type, group size. */
static ridge_status read_group_format(quant *q, const ridge_node *weights, format *out)
{
    static const char *const BITS[] = {"num_bits", NULL};
    static const char *const GROUPS[] = {"group_size", NULL};
    int64_t bits, group;
    RIDGE_TRY(size_of(q, weights, BITS, 0, &bits));
    RIDGE_TRY(size_of(q, weights, GROUPS, 0, &group));
    if (bits < 1 || bits > 16)
        return ridge_json_fail(q->c->cx, *weights, "num_bits must be 1 to 16");
    const bool is_float = strcmp(text_of(*weights, "type", "int"), "float") == 0;
    const double scale_bits = is_float && bits == 4 ? 8 : 16;
    *out = (format){.bits = (double)bits, .block = group};
    if (is_float) {
        out->name = bits > 4 ? "fp8" : group == 32 ? "mxfp4" : "nvfp4";
        out->dtype = bits > 4 ? RIDGE_DTYPE_FP8 : RIDGE_DTYPE_FP4;
    } else {
        out->name = bits > 4 ? "int8" : "int4";
        out->dtype = bits > 4 ? RIDGE_DTYPE_INT8 : RIDGE_DTYPE_INT4;
    }
    if (group > 0)
        out->bits += scale_bits / (double)group;
    return RIDGE_OK;
}

/* Targets are classes ("Linear": every matrix) or modules by name. */
static void apply_targets(quant *q, ridge_node targets, const format *f)
{
    bool names_classes = true;
    for (size_t i = 0; i < ridge_json_size(targets); i++) {
        const char *name = "";
        if (!ridge_json_text(ridge_json_at(&targets, i), &name))
            continue;
        if (strchr(name, '.') == NULL && strcmp(name, "lm_head") != 0)
            continue;
        names_classes = false;
        int part = ridge__quant_part_of(name);
        if (part >= 0)
            q->parts[part] = *f;
    }
    if (names_classes)
        set_all(q, f);
}

static ridge_status read_groups(quant *q)
{
    enum { GROUP_MAX = 16 };
    ridge_node groups = ridge_json_get(&q->node, "config_groups");
    const size_t n = ridge_json_size(groups);
    if (n > GROUP_MAX)
        return ridge_json_fail(q->c->cx, groups, "more than %d groups", GROUP_MAX);
    for (size_t i = 0; i < n; i++) {
        ridge_node group = ridge_json_member(&groups, i);
        ridge_node weights = ridge_json_get(&group, "weights");
        format f;
        if (ridge_json_is_absent(weights))
            continue;
        RIDGE_TRY(read_group_format(q, &weights, &f));
        apply_targets(q, ridge_json_get(&group, "targets"), &f);
    }
    return RIDGE_OK;
}

/* Formats module by module. */
static void read_quantized_layers(quant *q)
{
    enum { MODULE_MAX = 4096 };
    ridge_node layers = ridge_json_get(&q->node, "quantized_layers");
    const size_t n = ridge_json_size(layers);
    for (size_t i = 0; i < n && i < MODULE_MAX; i++) {
        ridge_node layer = ridge_json_member(&layers, i);
        const format *f = find_algorithm(text_of(layer, "quant_algo", ""));
        int part = layer.key == NULL ? -1 : ridge__quant_part_of(layer.key);
        if (f != NULL && part >= 0)
            q->parts[part] = *f;
    }
}

static ridge_status read_modelopt(quant *q)
{
    const char *name = text_of(q->node, "quant_algo", "");
    const format *f = find_algorithm(name);
    if (f != NULL) {
        set_all(q, f);
        return RIDGE_OK;
    }
    if (ridge_json_size(ridge_json_get(&q->node, "config_groups")) > 0)
        return read_groups(q);
    if (strcmp(name, "MIXED_PRECISION") == 0) {
        read_quantized_layers(q);
    } else if (name[0] != '\0') {
        note_unknown(q, name);
    }
    return RIDGE_OK;
}

static void keep_parts(quant *q, ridge_node list)
{
    bool kept[RIDGE_QUANT_PART_COUNT] = {false};
    ridge__quant_kept(q->c, list, kept);
    for (int part = 0; part < RIDGE_QUANT_PART_COUNT; part++) {
        if (kept[part])
            q->parts[part] = (format){0};
    }
}

typedef struct method_row {
    const char *name;
    ridge_status (*read)(quant *);
} method_row;

static const method_row METHODS[] = {
    {"fp8", read_fp8},
    {"fbgemm_fp8", read_fp8},
    {"gptq", read_packed},
    {"awq", read_packed},
    {"bitsandbytes", read_bitsandbytes},
    {"mxfp4", read_mxfp4},
    {"compressed-tensors", read_groups},
    {"gguf", read_gguf},
    {"modelopt", read_modelopt},
    {"modelopt_fp4", read_modelopt},
};

static const char *method_of(ridge_node node)
{
    const char *method = text_of(node, "quant_method", "");
    if (method[0] != '\0')
        return method;
    if (text_of(node, "quant_algo", NULL) != NULL)
        return "modelopt";
    return flag_of(node, "load_in_4bit") || flag_of(node, "load_in_8bit")
               ? "bitsandbytes"
               : "";
}

static ridge_status read_method(quant *q)
{
    static const char *const IGNORED[] = {"ignore", "modules_to_not_convert",
                                          "llm_int8_skip_modules", "exclude_modules"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(METHODS); i++) {
        if (strcmp(METHODS[i].name, q->method) != 0)
            continue;
        RIDGE_TRY(METHODS[i].read(q));
        /* With a format of the experts' own, what it ignores has the method's. */
        const bool is_mixed = text_of(q->node, "moe_quant_algo", NULL) != NULL;
        for (size_t k = 0; !is_mixed && k < RIDGE_COUNT_OF(IGNORED); k++)
            keep_parts(q, ridge_json_get(&q->node, IGNORED[k]));
        return RIDGE_OK;
    }
    note_unknown(q, q->method[0] == '\0' ? "(no quant_method)" : q->method);
    q->method = NULL;
    return RIDGE_OK;
}

/* The format of most weights stands for the model: experts', else the dense ones'. */
static const format *main_format(const quant *q, bool with_experts)
{
    static const ridge_quant_part ORDER[] = {RIDGE_QUANT_DENSE, RIDGE_QUANT_ATTENTION,
                                             RIDGE_QUANT_SHARED, RIDGE_QUANT_HEAD};
    if (with_experts && q->parts[RIDGE_QUANT_EXPERTS].bits > 0)
        return &q->parts[RIDGE_QUANT_EXPERTS];
    for (size_t i = 0; i < RIDGE_COUNT_OF(ORDER); i++) {
        if (q->parts[ORDER[i]].bits > 0)
            return &q->parts[ORDER[i]];
    }
    return NULL;
}

/* "modelopt nvfp4": the method, and the format unless it is the same word. */
static const char *method_text(const quant *q, const format *f)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(q->c->cx));
    ridge_buf_printf(&b, "%.40s", q->method);
    if (strcmp(q->method, f->name) != 0)
        ridge_buf_printf(&b, " %s", f->name);
    for (size_t i = 0; i < b.n; i++)
        b.p[i] = (char)tolower((unsigned char)b.p[i]);
    return ridge_buf_text(&b);
}

/* Compressed-tensors' and ModelOpt's section on caches: bits of a float, or a name.
 * Integers have no kernels: engines take compressed-tensors' for fp8 all the same.
 * @source vllm-source-2025; sglang-source-2025 */
static void read_cache(const quant *q)
{
    const ridge_node scheme = ridge_json_get(&q->node, "kv_cache_scheme");
    const char *name = text_of(q->node, "kv_cache_quant_algo", "");
    const char *type = text_of(scheme, "type", "float");
    int64_t bits = 0;
    if (strcmp(name, "") == 0)
        ridge_json_text(scheme, &name);
    if (ridge_json_kind_of(scheme) == RIDGE_JSON_OBJECT && strcmp(type, "float") == 0)
        ridge_json_i64(ridge_json_get(&scheme, "num_bits"), &bits);
    if (bits == 8 || ridge_str_is(ridge_str_of(name), "FP8") ||
        ridge_str_is(ridge_str_of(name), "fp8"))
        q->c->model->cache_dtype = RIDGE_DTYPE_FP8;
    else if (bits == 4 || ridge_str_is(ridge_str_of(name), "NVFP4"))
        q->c->model->cache_dtype = RIDGE_DTYPE_FP4;
}

static void store_parts(quant *q)
{
    ridge_model *m = q->c->model;
    const format *f = main_format(q, ridge_model_has_experts(m));
    if (f == NULL)
        return;
    for (int part = 0; part < RIDGE_QUANT_PART_COUNT; part++)
        m->quant_bits[part] = q->parts[part].bits;
    if (!ridge_model_has_experts(m)) {
        m->quant_bits[RIDGE_QUANT_EXPERTS] = 0;
        m->quant_bits[RIDGE_QUANT_SHARED] = 0;
    }
    m->weight_dtype = f->dtype;
    m->weight_bits = f->bits;
    m->quant_block = f->block;
    m->quant_method = method_text(q, f);
    m->is_quant_attention = m->quant_bits[RIDGE_QUANT_ATTENTION] > 0;
    m->is_quant_ffn =
        m->quant_bits[RIDGE_QUANT_DENSE] > 0 || m->quant_bits[RIDGE_QUANT_EXPERTS] > 0;
    m->is_quant_shared = m->quant_bits[RIDGE_QUANT_SHARED] > 0;
    m->is_quant_head = m->quant_bits[RIDGE_QUANT_HEAD] > 0;
}

/* torch_dtype, of the language model's part or the whole. "fp8" in DeepSeek's own files
 * means linear weights alone. @return whether it is that */
static bool read_dtype(ridge__config *c)
{
    static const char *const KEYS[] = {"torch_dtype", "dtype"};
    static const struct {
        const char *name;
        ridge_dtype dtype;
    } NAMES[] = {{"bfloat16", RIDGE_DTYPE_BF16},
                 {"float16", RIDGE_DTYPE_FP16},
                 {"half", RIDGE_DTYPE_FP16},
                 {"float32", RIDGE_DTYPE_FP32},
                 {"float", RIDGE_DTYPE_FP32}};
    const char *text = "";
    for (size_t i = 0; i < RIDGE_COUNT_OF(KEYS) && text[0] == '\0'; i++) {
        text = text_of(c->text, KEYS[i], "");
        if (text[0] == '\0')
            text = text_of(c->root, KEYS[i], "");
    }
    if (strncmp(text, "torch.", 6) == 0)
        text += 6;
    c->model->rest_dtype = RIDGE_DTYPE_BF16;
    for (size_t i = 0; i < RIDGE_COUNT_OF(NAMES); i++) {
        if (strcmp(NAMES[i].name, text) != 0)
            continue;
        c->model->rest_dtype = NAMES[i].dtype;
        return false;
    }
    if (strcmp(text, "fp8") == 0)
        return true;
    ridge__config_guess(c, "%s: weights taken as bf16",
                        text[0] == '\0' ? "torch_dtype is absent"
                                        : "unknown torch_dtype");
    return false;
}

static ridge_node find_section(const ridge__config *c)
{
    static const char *const KEYS[] = {"quantization_config", "compression_config"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(KEYS); i++) {
        const ridge_node *const holders[] = {&c->text, &c->root};
        for (size_t k = 0; k < RIDGE_COUNT_OF(holders); k++) {
            ridge_node n = ridge_json_get(holders[k], KEYS[i]);
            if (ridge_json_kind_of(n) == RIDGE_JSON_OBJECT)
                return n;
        }
    }
    return c->quant;
}

ridge_status ridge__config_quant(ridge__config *c)
{
    const bool is_fp8 = read_dtype(c);
    c->model->weight_dtype = c->model->cache_dtype = c->model->rest_dtype;
    c->model->weight_bits = 8 * ridge_dtype_bytes(c->model->rest_dtype);
    quant q = {.c = c, .node = find_section(c)};
    if (ridge_json_is_absent(q.node) && !is_fp8)
        return RIDGE_OK;
    q.method = ridge_json_is_absent(q.node) ? "fp8" : method_of(q.node);
    RIDGE_TRY(read_method(&q));
    if (q.method == NULL)
        return RIDGE_OK;
    store_parts(&q);
    read_cache(&q);
    return RIDGE_OK;
}
