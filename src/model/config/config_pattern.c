/*
 * Which layer is what: full, sliding, linear, state space, convolution. Models say it
 * as a list of types, a string of letters, an interval or a list of numbers; the first
 * form found counts. What follows overlays it: cross-attention, indexers, shared keys.
 */
#include "config.h"

#include <string.h>

enum { MOST_HEADS_A_LAYER = 1000000 };

typedef struct type_row {
    const char *name;
    ridge__mix mix;
    ridge__feed feed; /* of a layer that has this part alone */
} type_row;

/* clang-format off */
static const type_row TYPES[] = {
    {"full_attention", RIDGE__MIX_FULL, RIDGE__FEED_NONE},
    {"attention", RIDGE__MIX_FULL, RIDGE__FEED_NONE},
    {"global", RIDGE__MIX_FULL, RIDGE__FEED_NONE},
    {"*", RIDGE__MIX_FULL, RIDGE__FEED_NONE},
    {"sliding_attention", RIDGE__MIX_SLIDING, RIDGE__FEED_NONE},
    {"local", RIDGE__MIX_SLIDING, RIDGE__FEED_NONE},
    {"chunked_attention", RIDGE__MIX_CHUNKED, RIDGE__FEED_NONE},
    {"linear_attention", RIDGE__MIX_LINEAR, RIDGE__FEED_NONE},
    {"conv", RIDGE__MIX_CONV, RIDGE__FEED_NONE},
    {"mamba", RIDGE__MIX_SSM, RIDGE__FEED_NONE},
    {"M", RIDGE__MIX_SSM, RIDGE__FEED_NONE},
    {"mlp", RIDGE__MIX_NONE, RIDGE__FEED_DENSE},
    {"-", RIDGE__MIX_NONE, RIDGE__FEED_DENSE},
    {"moe", RIDGE__MIX_NONE, RIDGE__FEED_MOE},
    {"E", RIDGE__MIX_NONE, RIDGE__FEED_MOE},
};
/* clang-format on */

static const type_row *find_type(ridge_str name)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(TYPES); i++) {
        if (ridge_str_is(name, TYPES[i].name))
            return &TYPES[i];
    }
    return NULL;
}

/* Lists whose types are parts (mixer or feed-forward) make each layer one part; others
 * give the mixer of layers that all have a feed-forward part. */
static void keep_feed_forward(ridge__config *c)
{
    for (int64_t i = 0; i < c->layer_count; i++) {
        if (c->choices[i].mix == RIDGE__MIX_NONE)
            return;
    }
    for (int64_t i = 0; i < c->layer_count; i++)
        c->choices[i].feed = RIDGE__FEED_DENSE;
}

static ridge_status apply_type_list(ridge__config *c, ridge_node list)
{
    const int64_t n = (int64_t)ridge_json_size(list);
    if (n < c->layer_count) {
        return ridge_json_fail(c->cx, list, "%lld types for %lld layers", (long long)n,
                               (long long)c->layer_count);
    }
    if (n > c->layer_count) {
        ridge__config_guess(c, "%s lists %lld layers: the first %lld taken", list.key,
                            (long long)n, (long long)c->layer_count);
    }
    for (int64_t i = 0; i < c->layer_count; i++) {
        ridge_node item = ridge_json_at(&list, (size_t)i);
        const char *name = NULL;
        RIDGE_TRY(ridge_json_want_text(c->cx, item, &name));
        const type_row *type = find_type(ridge_str_of(name));
        if (type == NULL) {
            return ridge_json_fail(c->cx, item, "unknown type of layer \"%.60s\"",
                                   name);
        }
        c->choices[i].mix = type->mix;
        c->choices[i].feed = type->feed;
    }
    keep_feed_forward(c);
    return RIDGE_OK;
}

/* Each rule says whether the config has its form, and then applies it. */
typedef struct rule_result {
    ridge_status st;
    bool applies;
} rule_result;

static const rule_result NOT_THERE = {RIDGE_OK, false};
static const rule_result APPLIED = {RIDGE_OK, true};

static rule_result rule_type_list(ridge__config *c)
{
    static const char *const KEYS[] = {"layer_types", "layers_block_type",
                                       "attention_layers"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(KEYS); i++) {
        ridge_node list = ridge__config_find(c, KEYS[i]);
        if (ridge_json_kind_of(list) == RIDGE_JSON_ARRAY)
            return (rule_result){apply_type_list(c, list), true};
    }
    return NOT_THERE;
}

static rule_result rule_letters(ridge__config *c)
{
    ridge_node n = ridge__config_find(c, "hybrid_override_pattern");
    const char *letters = NULL;
    if (!ridge_json_text(n, &letters))
        return NOT_THERE;
    if ((int64_t)strlen(letters) != c->layer_count) {
        return (rule_result){ridge_json_fail(c->cx, n, "%zu letters for %lld layers",
                                             strlen(letters),
                                             (long long)c->layer_count),
                             true};
    }
    for (int64_t i = 0; i < c->layer_count; i++) {
        const type_row *type = find_type((ridge_str){letters + i, 1});
        if (type == NULL) {
            return (rule_result){
                ridge_json_fail(c->cx, n, "unknown letter '%c'", letters[i]), true};
        }
        c->choices[i].mix = type->mix;
        c->choices[i].feed = type->feed;
    }
    keep_feed_forward(c);
    return APPLIED;
}

static void set_mix(ridge__config *c, const bool *marks, bool marked, ridge__mix mix)
{
    for (int64_t i = 0; i < c->layer_count; i++) {
        if (marks[i] == marked)
            c->choices[i].mix = mix;
    }
}

/* Lists of layer numbers: those that are full, or those that are linear. */
static rule_result rule_numbers(ridge__config *c)
{
    static const struct {
        const char *key;
        int64_t base;
        bool marked; /* the layers that get this mix: those named, or the others */
        ridge__mix mix;
    } LISTS[] = {
        {"full_attn_idxs", 0, false, RIDGE__MIX_CONV},
        {"attn_layer_indices", 0, false, RIDGE__MIX_SSM},
        {"linear_attn_config.kda_layers", 1, true, RIDGE__MIX_LINEAR},
    };
    bool *marks = ridge_new(ridge_ctx_arena(c->cx), bool, (size_t)c->layer_count);
    if (marks == NULL)
        return (rule_result){ridge_fail_nomem(c->cx), true};
    for (size_t i = 0; i < RIDGE_COUNT_OF(LISTS); i++) {
        if (!ridge__config_marks(c, LISTS[i].key, LISTS[i].base, marks))
            continue;
        set_mix(c, marks, LISTS[i].marked, LISTS[i].mix);
        return APPLIED;
    }
    return NOT_THERE;
}

/* MiniMax: 1 is softmax attention, 0 lightning attention. */
static rule_result rule_attention_list(ridge__config *c)
{
    ridge_node list = ridge__config_find(c, "attn_type_list");
    if (ridge_json_kind_of(list) != RIDGE_JSON_ARRAY)
        return NOT_THERE;
    for (int64_t i = 0; i < c->layer_count; i++) {
        int64_t v;
        ridge_node item = ridge_json_at(&list, (size_t)i);
        ridge_status st = ridge_json_want_i64(c->cx, item, 0, 1, &v);
        if (st != RIDGE_OK)
            return (rule_result){st, true};
        c->choices[i].mix = v == 1 ? RIDGE__MIX_FULL : RIDGE__MIX_LINEAR;
    }
    return APPLIED;
}

/* Every n-th layer, counted from 1, is full; the others get @p mix. */
static void set_every(ridge__config *c, int64_t n, ridge__mix mix)
{
    for (int64_t i = 0; i < c->layer_count; i++)
        c->choices[i].mix = (i + 1) % n == 0 ? RIDGE__MIX_FULL : mix;
}

static rule_result rule_interval(ridge__config *c)
{
    ridge_node n = ridge__config_find(c, "full_attention_interval");
    int64_t interval;
    if (ridge_json_is_absent(n))
        return NOT_THERE;
    ridge_status st = ridge_json_want_i64(c->cx, n, 1, 1000000, &interval);
    if (st == RIDGE_OK)
        set_every(c, interval, RIDGE__MIX_LINEAR);
    return (rule_result){st, true};
}

/* ModernBERT counts from the first layer. */
static rule_result rule_global_interval(ridge__config *c)
{
    ridge_node n = ridge__config_find(c, "global_attn_every_n_layers");
    int64_t interval = 1;
    if (ridge_json_is_absent(n))
        return NOT_THERE;
    ridge_status st = ridge_json_want_i64(c->cx, n, 1, 1000000, &interval);
    for (int64_t i = 0; st == RIDGE_OK && i < c->layer_count; i++)
        c->choices[i].mix = i % interval == 0 ? RIDGE__MIX_FULL : RIDGE__MIX_SLIDING;
    if (st == RIDGE_OK)
        c->choices[0].lacks_first_norm = true;
    return (rule_result){st, true};
}

/* "LLLG": three local layers, one global, and so on. */
static void set_letters(ridge__config *c, const char *letters)
{
    size_t n = strlen(letters);
    for (int64_t i = 0; n > 0 && i < c->layer_count; i++) {
        c->choices[i].mix =
            letters[(size_t)i % n] == 'L' ? RIDGE__MIX_SLIDING : RIDGE__MIX_FULL;
    }
}

static rule_result rule_window_pattern(ridge__config *c)
{
    int64_t every = c->arch->window_pattern;
    ridge_node n = ridge__config_find(c, "sliding_window_pattern");
    const char *letters = NULL;
    if (ridge_json_text(n, &letters)) {
        set_letters(c, letters);
        return APPLIED;
    }
    if (!ridge_json_is_absent(n)) {
        ridge_status st = ridge_json_want_i64(c->cx, n, 1, 1000000, &every);
        if (st != RIDGE_OK)
            return (rule_result){st, true};
    }
    if (every == 0)
        return NOT_THERE;
    set_every(c, every, RIDGE__MIX_SLIDING);
    return APPLIED;
}

/* Llama 4: layers without rotary positions see all, the others their chunk. */
static rule_result rule_chunks(ridge__config *c)
{
    if (ridge_json_is_absent(ridge__config_find(c, "attention_chunk_size")) &&
        strstr(c->arch->names, "|llama4|") == NULL)
        return NOT_THERE;
    set_every(c, 4, RIDGE__MIX_CHUNKED);
    ridge_node list = ridge__config_find(c, "no_rope_layers");
    const size_t n = ridge_json_size(list);
    for (int64_t i = 0; n > 0 && i < c->layer_count; i++) {
        int64_t has_rope = 0;
        if (!ridge_json_i64(ridge_json_at(&list, (size_t)i), &has_rope)) {
            return (rule_result){
                ridge_json_fail(c->cx, list, "expected 0 or 1 for each layer"), true};
        }
        c->choices[i].mix = has_rope == 0 ? RIDGE__MIX_FULL : RIDGE__MIX_CHUNKED;
    }
    return APPLIED;
}

/* A window for all layers, or, with use_sliding_window, beyond max_window_layers. */
static rule_result rule_window(ridge__config *c)
{
    int64_t window = 0, first = 0;
    bool is_used = true;
    ridge_node given = ridge__config_find(c, "sliding_window");
    const bool is_silent = given.value == NULL;
    ridge_status st =
        ridge__config_get(c, RIDGE__F_WINDOW, is_silent ? c->arch->window : 0, &window);
    if (st == RIDGE_OK && ridge__arch_has(c, RIDGE__A_WINDOW_SWITCH)) {
        st = ridge__config_flag(c, "use_sliding_window", false, &is_used);
        ridge_node from = ridge__config_find(c, "max_window_layers");
        if (st == RIDGE_OK && is_used && !ridge_json_is_absent(from))
            st = ridge_json_want_i64(c->cx, from, 0, 1000000, &first);
    }
    if (st != RIDGE_OK)
        return (rule_result){st, true};
    if (window == 0 || !is_used)
        return NOT_THERE;
    for (int64_t i = first; i < c->layer_count; i++)
        c->choices[i].mix = RIDGE__MIX_SLIDING;
    return APPLIED;
}

static ridge_status overlay_cross(ridge__config *c)
{
    bool *marks = ridge_new(ridge_ctx_arena(c->cx), bool, (size_t)c->layer_count);
    if (marks == NULL)
        return ridge_fail_nomem(c->cx);
    if (ridge__config_marks(c, "cross_attention_layers", 0, marks))
        set_mix(c, marks, true, RIDGE__MIX_CROSS);
    return RIDGE_OK;
}

/* DeepSeek-V4: 0 is a window alone, else tokens to one entry; 4 has an indexer. */
static ridge_status overlay_compression(ridge__config *c)
{
    ridge_node list = ridge__config_find(c, "compress_ratios");
    if (ridge_json_is_absent(list))
        return RIDGE_OK;
    if ((int64_t)ridge_json_size(list) < c->layer_count)
        return ridge_json_fail(c->cx, list, "expected a number for each layer");
    for (int64_t i = 0; i < c->layer_count; i++) {
        int64_t ratio;
        ridge_node item = ridge_json_at(&list, (size_t)i);
        RIDGE_TRY(ridge_json_want_i64(c->cx, item, 0, 1000000, &ratio));
        c->choices[i].compress_ratio = ratio;
        c->choices[i].mix = RIDGE__MIX_SLIDING;
        c->choices[i].has_index = ratio == 4;
    }
    return RIDGE_OK;
}

/* Sparse indexers: in every layer, or those that lists name. "shared" ones use the
 * choice of an earlier layer and have no weights. */
static ridge_status overlay_index(ridge__config *c)
{
    int64_t heads;
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_INDEX_HEADS, 0, &heads));
    if (heads == 0 || !ridge_json_is_absent(ridge__config_find(c, "compress_ratios")))
        return RIDGE_OK;
    ridge_node types = ridge__config_find(c, "indexer_types");
    ridge_node freq =
        ridge__config_find(c, "sparse_attention_config.sparse_attention_freq");
    for (int64_t i = 0; i < c->layer_count; i++) {
        const char *type = "full";
        int64_t is_sparse = 1;
        ridge_json_text(ridge_json_at(&types, (size_t)i), &type);
        ridge_json_i64(ridge_json_at(&freq, (size_t)i), &is_sparse);
        c->choices[i].has_index = strcmp(type, "shared") != 0 && is_sparse != 0;
    }
    return RIDGE_OK;
}

/* Hunyuan: layers in twos, or in more, have the keys and values of the first of them.
 */
static ridge_status overlay_lent_kv(ridge__config *c)
{
    bool is_lent;
    int64_t layers = 2;
    RIDGE_TRY(ridge__config_flag(c, "use_cla", false, &is_lent));
    if (!is_lent)
        return RIDGE_OK;
    ridge_node factor = ridge__config_find(c, "cla_share_factor");
    if (!ridge_json_is_absent(factor))
        RIDGE_TRY(ridge_json_want_i64(c->cx, factor, 1, 1000000, &layers));
    for (int64_t i = 0; i < c->layer_count; i++)
        c->choices[i].has_shared_kv = i % layers != 0;
    return RIDGE_OK;
}

/* Gemma 4: the last layers use the keys and values of earlier ones. */
static ridge_status overlay_shared_kv(ridge__config *c)
{
    int64_t shared;
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_KV_SHARED_LAYERS, 0, &shared));
    for (int64_t i = 0; i < c->layer_count; i++)
        c->choices[i].has_shared_kv = i >= c->layer_count - shared;
    return RIDGE_OK;
}

/* Laguna: a count of query heads for each layer. */
static ridge_status overlay_heads(ridge__config *c)
{
    ridge_node list = ridge__config_find(c, "num_attention_heads_per_layer");
    if (ridge_json_is_absent(list))
        return RIDGE_OK;
    if ((int64_t)ridge_json_size(list) < c->layer_count)
        return ridge_json_fail(c->cx, list, "expected a number for each layer");
    for (int64_t i = 0; i < c->layer_count; i++) {
        ridge_node item = ridge_json_at(&list, (size_t)i);
        RIDGE_TRY(ridge_json_want_i64(c->cx, item, 1, MOST_HEADS_A_LAYER,
                                      &c->choices[i].heads));
    }
    return RIDGE_OK;
}

/* Step 3.5: sliding layers, or those of another type, have heads of their own. */
static ridge_status overlay_other_heads(ridge__config *c)
{
    ridge_node n = ridge__config_find(c, "attention_other_setting.num_attention_heads");
    const char *type = ridge__config_text(c, "attention_other_setting.attention_type",
                                          "sliding_attention");
    const type_row *row = find_type(ridge_str_of(type));
    int64_t heads;
    if (ridge_json_is_absent(n) || row == NULL)
        return RIDGE_OK;
    RIDGE_TRY(ridge_json_want_i64(c->cx, n, 1, MOST_HEADS_A_LAYER, &heads));
    for (int64_t i = 0; i < c->layer_count; i++) {
        if (c->choices[i].mix == row->mix)
            c->choices[i].heads = heads;
    }
    return RIDGE_OK;
}

ridge_status ridge__config_pattern(ridge__config *c)
{
    static rule_result (*const RULES[])(ridge__config *) = {
        rule_type_list, rule_letters,        rule_attention_list,
        rule_numbers,   rule_interval,       rule_global_interval,
        rule_chunks,    rule_window_pattern, rule_window,
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(RULES); i++) {
        rule_result result = RULES[i](c);
        RIDGE_TRY(result.st);
        if (result.applies)
            break;
    }
    RIDGE_TRY(overlay_cross(c));
    RIDGE_TRY(overlay_compression(c));
    RIDGE_TRY(overlay_index(c));
    RIDGE_TRY(overlay_shared_kv(c));
    RIDGE_TRY(overlay_lent_kv(c));
    RIDGE_TRY(overlay_heads(c));
    RIDGE_TRY(overlay_other_heads(c));
    return ridge__config_sparse(c);
}
