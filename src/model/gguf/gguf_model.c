/*
 * A GGUF header as a config.json, so that one reader knows what models are made of.
 * Keys begin with the architecture: llama.block_count. Weights that are quantised have
 * their bits, blocks' scales among them, counted by part from the tensors.
 * @source gguf-spec
 */
#include "gguf_model.h"

#include "ridge/model_gguf.h"

#include <string.h>

typedef struct architecture {
    const char *name;                     /* general.architecture */
    const char *model_type, *expert_type; /* of config.json; with experts */
} architecture;

static const architecture architectures[] = {
    {"llama", "llama", "mixtral"},
    {"mistral3", "mistral", NULL},
    {"qwen2", "qwen2", NULL},
    {"qwen3", "qwen3", NULL},
    {"qwen2moe", "qwen2_moe", "qwen2_moe"},
    {"qwen3moe", "qwen3_moe", "qwen3_moe"},
    {"gemma", "gemma", NULL},
    {"gemma2", "gemma2", NULL},
    {"gemma3", "gemma3_text", NULL},
    {"gpt2", "gpt2", NULL},
    {"phi3", "phi3", NULL},
    {"starcoder2", "starcoder2", NULL},
    {"olmo2", "olmo2", NULL},
    {"granite", "granite", NULL},
};

/* Members that hold a number under another name. */
static const struct {
    const char *key; /* behind the architecture's name */
    const char *member;
    bool is_required, is_real;
} numbers[] = {
    {"block_count", "num_hidden_layers", true, false},
    {"embedding_length", "hidden_size", true, false},
    {"feed_forward_length", "intermediate_size", true, false},
    {"attention.head_count", "num_attention_heads", true, false},
    {"attention.head_count_kv", "num_key_value_heads", false, false},
    {"attention.key_length", "head_dim", false, false},
    {"context_length", "max_position_embeddings", false, false},
    {"attention.sliding_window", "sliding_window", false, false},
    {"expert_used_count", "num_experts_per_tok", false, false},
    {"expert_feed_forward_length", "moe_intermediate_size", false, false},
    {"expert_shared_feed_forward_length", "shared_expert_intermediate_size", false,
     false},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps", false, true},
    {"attention.layer_norm_epsilon", "layer_norm_epsilon", false, true},
    {"rope.freq_base", "rope_theta", false, true},
};

static const char *const part_names[RIDGE_QUANT_PART_COUNT] = {
    "attention", "dense", "shared", "experts", "head"};

/* Endings of names by part; "ffn_" of what is neither is dense. */
static const struct {
    const char *words;
    ridge_quant_part part;
} parts[] = {{"_exps.", RIDGE_QUANT_EXPERTS},
             {"_shexp.", RIDGE_QUANT_SHARED},
             {".ffn_", RIDGE_QUANT_DENSE},
             {".attn_", RIDGE_QUANT_ATTENTION}};

static ridge_status fail_file(ridge_ctx *cx, const gguf_file *f, const char *what)
{
    return ridge_fail(cx, RIDGE_E_PARSE, "%s: %s: give the model's config.json",
                      f->path, what);
}

static ridge_status find_architecture(ridge_ctx *cx, const gguf_file *f,
                                      const architecture **out)
{
    const gguf_value *v = ridge__gguf_find(f, "general.architecture");
    for (size_t i = 0;
         v != NULL && v->kind == GGUF_TEXT && i < RIDGE_COUNT_OF(architectures); i++) {
        if (!ridge_str_is(v->data, architectures[i].name))
            continue;
        *out = &architectures[i];
        return RIDGE_OK;
    }
    const ridge_str name =
        v == NULL || v->kind != GGUF_TEXT ? ridge_str_of("none") : v->data;
    return ridge_fail(cx, RIDGE_E_PARSE,
                      "%s: the architecture %.*s is not read from GGUF: give the "
                      "model's config.json",
                      f->path, (int)(name.n < 40 ? name.n : 40), name.p);
}

static const gguf_value *find_of(ridge_ctx *cx, const gguf_file *f,
                                 const architecture *a, const char *key)
{
    const char *whole = ridge_sprintf(ridge_ctx_scratch(cx), "%s.%s", a->name, key);
    return whole == NULL ? NULL : ridge__gguf_find(f, whole);
}

/* ---- sizes ----------------------------------------------------------------------- */

static ridge_status set_numbers(ridge_ctx *cx, const gguf_file *f,
                                const architecture *a, ridge_json *c)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(numbers); i++) {
        const gguf_value *v = find_of(cx, f, a, numbers[i].key);
        double n;
        if (!ridge__gguf_is_even(v)) {
            return ridge_fail(cx, RIDGE_E_PARSE,
                              "%s: %s.%s differs by layer: give the model's "
                              "config.json",
                              f->path, a->name, numbers[i].key);
        }
        if (!ridge__gguf_number(v, &n)) {
            if (numbers[i].is_required)
                return ridge_fail(cx, RIDGE_E_PARSE, "%s: no %s.%s: is it a model?",
                                  f->path, a->name, numbers[i].key);
            continue;
        }
        if (numbers[i].is_real)
            ridge_json_set_double(c, numbers[i].member, n);
        else if (n >= 0 && n < 1e15)
            ridge_json_set_i64(c, numbers[i].member, (int64_t)n);
    }
    return RIDGE_OK;
}

/* Rows of the token table, else the tokens of the vocabulary. */
static ridge_status set_vocab(ridge_ctx *cx, const gguf_file *f, ridge_json *c)
{
    const gguf_tensor *table = ridge__gguf_tensor(f, "token_embd.weight");
    if (f->n_tensors == 0) {
        return ridge_fail(cx, RIDGE_E_PARSE,
                          "%s: a vocabulary alone, without tensors: give the GGUF of "
                          "the model, or its config.json",
                          f->path);
    }
    if (table == NULL || table->n_dims < 2)
        return fail_file(cx, f, "no token_embd.weight, the table of tokens");
    ridge_json_set_i64(c, "vocab_size", table->dims[1]);
    ridge_json_set_bool(c, "tie_word_embeddings",
                        ridge__gguf_tensor(f, "output.weight") == NULL);
    return RIDGE_OK;
}

static void set_rope(ridge_ctx *cx, const gguf_file *f, const architecture *a,
                     ridge_json *c)
{
    const gguf_value *type = find_of(cx, f, a, "rope.scaling.type");
    double factor;
    if (type == NULL || type->kind != GGUF_TEXT ||
        !ridge_str_is(type->data, "linear") ||
        !ridge__gguf_number(find_of(cx, f, a, "rope.scaling.factor"), &factor))
        return;
    ridge_json *rope = ridge_json_set_object(cx, c, "rope_scaling");
    ridge_json_set_text(rope, "rope_type", "linear");
    ridge_json_set_double(rope, "factor", factor);
}

/* ---- weights --------------------------------------------------------------------- */

/* The part of a matrix; -1: of none that is quantised by part. */
static int part_of(ridge_str name)
{
    if (ridge_str_is(name, "output.weight"))
        return RIDGE_QUANT_HEAD;
    for (size_t i = 0; i < RIDGE_COUNT_OF(parts); i++) {
        const size_t n = strlen(parts[i].words);
        for (size_t k = 0; k + n <= name.n; k++) {
            if (memcmp(name.p + k, parts[i].words, n) == 0)
                return (int)parts[i].part;
        }
    }
    return -1;
}

static bool is_quantised(const gguf_type *type)
{
    return type->elements > 1;
}

/* Unquantised weights are of one format: that of the first matrix. */
static const char *plain_dtype(const gguf_file *f)
{
    for (size_t i = 0; i < f->n_tensors; i++) {
        const gguf_tensor *t = &f->tensors[i];
        if (t->n_dims > 1 && !is_quantised(t->type))
            return strcmp(t->type->name, "BF16") == 0  ? "bfloat16"
                   : strcmp(t->type->name, "F32") == 0 ? "float32"
                                                       : "float16";
    }
    return "float16";
}

static void set_weights(ridge_ctx *cx, const gguf_file *f, ridge_json *c)
{
    double bytes[RIDGE_QUANT_PART_COUNT] = {0}, elements[RIDGE_QUANT_PART_COUNT] = {0};
    bool is_any = false;
    for (size_t i = 0; i < f->n_tensors; i++) {
        const gguf_tensor *t = &f->tensors[i];
        const int part = t->n_dims > 1 ? part_of(t->name) : -1;
        if (part < 0)
            continue;
        bytes[part] += (double)t->bytes;
        elements[part] += (double)t->elements;
        is_any = is_any || is_quantised(t->type);
    }
    ridge_json_set_text(c, "torch_dtype", plain_dtype(f));
    if (!is_any)
        return;
    ridge_json *quant = ridge_json_set_object(cx, c, "quantization_config");
    ridge_json *bits = ridge_json_set_object(cx, quant, "bits");
    ridge_json_set_text(quant, "quant_method", "gguf");
    for (int i = 0; i < RIDGE_QUANT_PART_COUNT; i++) {
        if (elements[i] > 0)
            ridge_json_set_double(bits, part_names[i], 8 * bytes[i] / elements[i]);
    }
}

/* ---- all ------------------------------------------------------------------------- */

ridge_status ridge__gguf_config(ridge_ctx *cx, const gguf_file *file, ridge_node *out)
{
    const architecture *a = NULL;
    double experts = 0;
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    RIDGE_TRY(find_architecture(cx, file, &a));
    ridge_json *c = ridge_json_object(cx);
    if (!ridge__gguf_number(find_of(cx, file, a, "expert_count"), &experts))
        experts = 0;
    if (experts > 0 && a->expert_type == NULL)
        return fail_file(cx, file, "experts in an architecture without");
    ridge_json_set_text(c, "model_type", experts > 0 ? a->expert_type : a->model_type);
    if (experts > 0 && experts < 1e6) {
        const bool is_mixtral = strcmp(a->expert_type, "mixtral") == 0;
        ridge_json_set_i64(c, is_mixtral ? "num_local_experts" : "num_experts",
                           (int64_t)experts);
    }
    RIDGE_TRY(set_vocab(cx, file, c));
    RIDGE_TRY(set_numbers(cx, file, a, c));
    set_rope(cx, file, a, c);
    set_weights(cx, file, c);
    RIDGE_TRY(ridge_json_write(cx, c, &text));
    return ridge_json_parse(cx, (ridge_str){ridge_buf_text(&text), text.n}, file->path,
                            out);
}

/* "dir/name.gguf": "name". */
static const char *name_of(ridge_ctx *cx, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    return ridge_str_dup(ridge_ctx_arena(cx),
                         (ridge_str){name, strlen(name) - strlen(".gguf")});
}

bool ridge_gguf_is_path(const char *path)
{
    const size_t n = strlen(path);
    return n > 5 && strcmp(path + n - 5, ".gguf") == 0;
}

ridge_status ridge_gguf_config(ridge_ctx *cx, const char *path, ridge_node *out)
{
    gguf_file file;
    RIDGE_TRY(ridge__gguf_open(cx, path, &file));
    return ridge__gguf_config(cx, &file, out);
}

ridge_status ridge__gguf_model(ridge_ctx *cx, const char *path, const ridge_model **out)
{
    ridge_node config;
    RIDGE_TRY(ridge_gguf_config(cx, path, &config));
    const char *name = name_of(cx, path);
    return name == NULL ? ridge_fail_nomem(cx)
                        : ridge_model_from_config(cx, config, name, out);
}

/* "Q4_K 3.8 GiB, Q6_K 1.1 GiB", in the order of the types' numbers. */
static void write_types(const gguf_file *f, ridge_buf *out)
{
    double bytes[GGUF_TYPE_MOST] = {0};
    const char *names[GGUF_TYPE_MOST] = {NULL};
    for (size_t i = 0; i < f->n_tensors; i++) {
        const gguf_tensor *t = &f->tensors[i];
        bytes[t->type->id] += (double)t->bytes;
        names[t->type->id] = t->type->name;
    }
    for (int id = 0; id < GGUF_TYPE_MOST; id++) {
        if (names[id] != NULL)
            ridge_buf_printf(out, "%s%s %s", out->n > 0 ? ", " : "", names[id],
                             ridge_format_bytes(bytes[id]).s);
    }
}

ridge_status ridge__gguf_sum(ridge_ctx *cx, const char *path, ridge__tensor_sums *out,
                             ridge_buf *words)
{
    gguf_file f;
    RIDGE_TRY(ridge__gguf_open(cx, path, &f));
    *out = (ridge__tensor_sums){.tensors = (int64_t)f.n_tensors, .documents = 1};
    for (size_t i = 0; i < f.n_tensors; i++) {
        if (!ridge_add_i64(out->bytes, f.tensors[i].bytes, &out->bytes) ||
            !ridge_add_i64(out->params, f.tensors[i].elements, &out->params))
            return ridge_fail(cx, RIDGE_E_PARSE, "%s: more weights than can be", path);
    }
    write_types(&f, words);
    const gguf_tensor *table = ridge__gguf_tensor(&f, "token_embd.weight");
    out->marks.has_head = ridge__gguf_tensor(&f, "output.weight") != NULL;
    if (table != NULL && is_quantised(table->type))
        out->marks.table_bytes = table->bytes;
    return RIDGE_OK;
}
