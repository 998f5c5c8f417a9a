/* Model of a measured row: a config written from its dimensions, or a name of the
 * catalogue where the row has none. */
#include "measured_row.h"

#include <math.h>
#include <string.h>

/* Names of models are this near to their sizes. */
static const double SIZE_ROUNDED = 0.03;

typedef struct field {
    const char *row_key;
    const char *config_key;
} field;

static const field common_fields[] = {
    {"n_layers", "num_hidden_layers"},
    {"d_model", "hidden_size"},
    {"n_heads", "num_attention_heads"},
    {"n_kv_heads", "num_key_value_heads"},
    {"head_dim", "head_dim"},
    {"d_ff", "intermediate_size"},
    {"vocab", "vocab_size"},
    {"n_experts", "n_routed_experts"},
    {"n_shared_experts", "n_shared_experts"},
    {"n_dense_layers", "first_k_dense_replace"},
    {"experts_per_token", "num_experts_per_tok"},
    {"expert_d_ff", "moe_intermediate_size"},
};

static void set_count(ridge_json *config, const char *key, int64_t value)
{
    ridge_json_set_i64(config, key, value);
}

/* The number behind a word of "MLA (q_lora 1536, kv_lora 512, ...)"; 0: absent. */
static int64_t number_after(const char *text, const char *word)
{
    const char *at = strstr(text, word);
    if (at == NULL)
        return 0;
    ridge_str rest = ridge_str_of(at + strlen(word));
    rest = ridge_str_trim(rest);
    size_t n = 0;
    while (n < rest.n && rest.p[n] >= '0' && rest.p[n] <= '9')
        n++;
    int64_t v = 0;
    return ridge_parse_i64((ridge_str){rest.p, n}, &v) ? v : 0;
}

static void set_mla(ridge_json *config, const char *attention)
{
    int64_t q_lora = number_after(attention, "(q_lora");
    if (q_lora > 0) {
        set_count(config, "q_lora_rank", q_lora);
    } else {
        ridge_json_set_null(config, "q_lora_rank");
    }
    set_count(config, "kv_lora_rank", number_after(attention, "kv_lora"));
    set_count(config, "qk_nope_head_dim", number_after(attention, "qk_nope"));
    set_count(config, "qk_rope_head_dim", number_after(attention, "qk_rope"));
    set_count(config, "v_head_dim", number_after(attention, ", v"));
}

/* The architecture whose config has the fields that the row needs. */
static const char *model_type(const measured_row *row, const char *attention)
{
    int64_t experts;
    bool is_gated = true;
    if (attention != NULL && strncmp(attention, "MLA", 3) == 0)
        return "deepseek_v3";
    if (measured_count(&row->model, "n_experts", &experts))
        return "glm4_moe";
    ridge_json_bool(ridge_json_get(&row->model, "gated_mlp"), &is_gated);
    return is_gated ? "llama" : "nemotron";
}

/* Heads of about 128 that divide the width and are dealt out over tp. */
static int64_t usual_heads(int64_t d_model, int64_t tp)
{
    const int64_t middle = d_model < 128 ? 1 : d_model / 128;
    for (int64_t away = 0; away < middle; away++) {
        const int64_t tried[] = {middle - away, middle + away};
        for (int i = 0; i < 2; i++) {
            if (d_model % tried[i] == 0 && tried[i] % (tp > 0 ? tp : 1) == 0)
                return tried[i];
        }
    }
    return middle;
}

/* What a row leaves out of the dimensions and what is usual then: the heads that its
 * source gives the same model elsewhere, or one as wide, else heads of 128; a
 * feed-forward of 4 D, the vocabulary of GPT-2. */
static void assume_dimensions(const measured_row *row, measured_gaps *gaps,
                              ridge_json *config)
{
    int64_t v;
    int64_t d_model = 0;
    measured_count(&row->model, "d_model", &d_model);
    if (!measured_count(&row->model, "d_ff", &v)) {
        if (measured_count(&row->model, "expert_d_ff", &v)) {
            set_count(config, "intermediate_size", v); /* no layer is dense */
        } else {
            set_count(config, "intermediate_size", 4 * d_model);
            measured_assume(gaps, "feed-forward width");
        }
    }
    if (!measured_count(&row->model, "n_heads", &v)) {
        int64_t tp = 1;
        measured_count(&row->plan, "tp", &tp);
        set_count(config, "num_attention_heads",
                  row->heads_elsewhere > 0 ? row->heads_elsewhere
                                           : usual_heads(d_model, tp));
        measured_assume(gaps, "heads");
    }
    if (!measured_count(&row->model, "vocab", &v)) {
        set_count(config, "vocab_size", 50257);
        measured_assume(gaps, "vocabulary");
    }
}

/* "GPT-style 205B": 205e9; 0: the name has no size. */
static double size_in(const char *name)
{
    for (const char *p = name; *p != '\0'; p++) {
        const bool is_start = p == name || p[-1] == ' ' || p[-1] == '-';
        size_t n = 0;
        double v;
        while ((p[n] >= '0' && p[n] <= '9') || (n > 0 && p[n] == '.'))
            n++;
        if (is_start && n > 0 && p[n] == 'B' &&
            ridge_parse_double((ridge_str){p, n}, &v))
            return v * 1e9;
    }
    return 0;
}

/* Parameters that come once a layer: four projections of heads as wide as the model,
 * and two or three of the feed-forward. */
static double layer_params(const measured_row *row, double d_model)
{
    double d_ff = 4 * d_model;
    bool is_gated = false;
    measured_number(&row->model, "d_ff", &d_ff);
    ridge_json_bool(ridge_json_get(&row->model, "gated_mlp"), &is_gated);
    return 4 * d_model * d_model + (is_gated ? 3 : 2) * d_model * d_ff;
}

/* Layers of a dense model whose size and widths are told: what is left beside the
 * embeddings, over the parameters of a layer; of such counts the one that lies evenly
 * on the stages, where its size is as near as names are round. 0: not told. */
static int64_t layers_by_size(const measured_row *row)
{
    double size = 0, d_model = 0, vocab = 0;
    bool is_tied = false;
    int64_t experts, pp = 1, vpp = 1;
    if (!measured_number(&row->model, "n_params", &size))
        size = size_in(row->model_name);
    if (size <= 0 || measured_count(&row->model, "n_experts", &experts) ||
        !measured_number(&row->model, "d_model", &d_model) ||
        !measured_number(&row->model, "vocab", &vocab))
        return 0;
    ridge_json_bool(ridge_json_get(&row->model, "tied_embeddings"), &is_tied);
    measured_count(&row->plan, "pp", &pp);
    measured_count(&row->plan, "vpp", &vpp);
    const double embeddings = (is_tied ? 1 : 2) * vocab * d_model;
    const double each = layer_params(row, d_model);
    const double layers = (size - embeddings) / each;
    const double chunks = (double)(pp * vpp);
    const double even = round(layers / chunks) * chunks;
    const double chosen =
        fabs(even - layers) * each <= SIZE_ROUNDED * size ? even : round(layers);
    return chosen >= 1 && chosen < 10000 ? (int64_t)chosen : 0;
}

static ridge_json *config_of(ridge_ctx *cx, const measured_row *row, int64_t layers,
                             measured_gaps *gaps)
{
    ridge_json *config = ridge_json_object(cx);
    const char *attention = measured_text(&row->model, "attention");
    const char *type = model_type(row, attention);
    bool is_tied = false;
    ridge_json_set_text(config, "model_type", type);
    for (size_t i = 0; i < RIDGE_COUNT_OF(common_fields); i++) {
        int64_t v;
        ridge_node n = ridge_json_get(&row->model, common_fields[i].row_key);
        if (ridge_json_i64(n, &v) && v >= 0)
            set_count(config, common_fields[i].config_key, v);
    }
    set_count(config, "num_hidden_layers", layers);
    assume_dimensions(row, gaps, config);
    if (!ridge_json_bool(ridge_json_get(&row->model, "tied_embeddings"), &is_tied))
        measured_assume(gaps, "tied embeddings");
    ridge_json_set_bool(config, "tie_word_embeddings", is_tied);
    if (strcmp(type, "deepseek_v3") == 0)
        set_mla(config, attention);
    return config;
}

static ridge_status from_dimensions(ridge_ctx *cx, const measured_row *row,
                                    int64_t layers, measured_gaps *gaps,
                                    const ridge_model **out)
{
    ridge_buf text;
    ridge_node config;
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    RIDGE_TRY(ridge_json_write(cx, config_of(cx, row, layers, gaps), &text));
    RIDGE_TRY(ridge_json_parse(cx, (ridge_str){text.p, text.n}, row->id, &config));
    ridge_node *kept = ridge_new(ridge_ctx_arena(cx), ridge_node, 1);
    if (kept == NULL)
        return ridge_fail_nomem(cx);
    *kept = config;
    return ridge_model_from_config(cx, *kept, row->model_name, out);
}

/* "Megatron-Turing NLG 530B" is no catalogue name; "gpt-3 175b" nearly is. */
static ridge_status from_name(ridge_ctx *cx, const ridge_library *library,
                              const char *name, const ridge_model **out)
{
    char tidy[96];
    size_t n = 0;
    for (; name[n] != '\0' && n + 1 < sizeof tidy; n++) {
        char c = name[n];
        tidy[n] = c == ' ' ? '-' : (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    tidy[n] = '\0';
    if (!ridge_path_exists(tidy) &&
        ridge_model_load(cx, library, tidy, out) == RIDGE_OK)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_NOTFOUND, "the model's dimensions are not stated");
}

double measured_context(ridge_ctx *cx, const ridge_library *library,
                        const measured_row *row)
{
    const ridge_model *named;
    if (from_name(cx, library, row->model_name, &named) == RIDGE_OK)
        return (double)named->max_positions;
    ridge_ctx_clear(cx);
    return 0;
}

int64_t measured_mtp_depth(ridge_ctx *cx, const ridge_library *library,
                           const measured_row *row)
{
    const ridge_model *named;
    if (from_name(cx, library, row->model_name, &named) == RIDGE_OK)
        return named->mtp_depth;
    ridge_ctx_clear(cx);
    return 0;
}

ridge_status measured_model(ridge_ctx *cx, const ridge_library *library,
                            const measured_row *row, measured_gaps *gaps,
                            const ridge_model **out)
{
    int64_t layers = 0;
    int64_t width;
    const bool is_wide = measured_count(&row->model, "d_model", &width);
    if (is_wide && !measured_count(&row->model, "n_layers", &layers)) {
        layers = layers_by_size(row);
        measured_assume(gaps, "layers");
    }
    if (layers == 0 || !is_wide)
        return from_name(cx, library, row->model_name, out);
    const char *attention = measured_text(&row->model, "attention");
    const char *left_out[] = {"sliding", "chunked", "local"};
    for (size_t i = 0; attention != NULL && i < RIDGE_COUNT_OF(left_out); i++) {
        if (strstr(attention, left_out[i]) == NULL)
            continue;
        measured_assume(gaps, "full attention in windowed layers");
        break;
    }
    return from_dimensions(cx, row, layers, gaps, out);
}
