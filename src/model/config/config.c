/*
 * A model from config.json. Finds the part that describes the language model and the
 * row of its architecture, reads the common sizes, and lets the readers of the parts do
 * theirs. Says in notes what it had to assume.
 */
#include "config.h"

#include <string.h>

enum { NEST_MAX = 3 };

/* Members that hold the language model of a multimodal one. */
static const char *const TEXT_MEMBERS[] = {"text_config", "llm_config",
                                           "language_config", "thinker_config"};

/* Move text to the member that describes the language model, if there is one. */
static ridge_status find_text(ridge__config *c)
{
    for (int depth = 0; depth < NEST_MAX; depth++) {
        ridge_node *inner = ridge_new(ridge_ctx_arena(c->cx), ridge_node, 1);
        size_t i = 0;
        if (inner == NULL)
            return ridge_fail_nomem(c->cx);
        *inner = c->text;
        for (; i < RIDGE_COUNT_OF(TEXT_MEMBERS); i++) {
            ridge_node member = ridge_json_get(inner, TEXT_MEMBERS[i]);
            if (ridge_json_kind_of(member) == RIDGE_JSON_OBJECT) {
                c->text = member;
                c->is_nested = true;
                break;
            }
        }
        if (i == RIDGE_COUNT_OF(TEXT_MEMBERS))
            break;
    }
    return RIDGE_OK;
}

static const char *text_of(const ridge_node *parent, const char *key)
{
    const char *text = NULL;
    return ridge_json_text(ridge_json_get(parent, key), &text) ? text : "";
}

static const char *first_class(const ridge_node *parent)
{
    ridge_node list = ridge_json_get(parent, "architectures");
    const char *text = NULL;
    return ridge_json_text(ridge_json_at(&list, 0), &text) ? text : "";
}

/* Parameter files of checkpoints have no model_type; their keys tell them apart. */
static const char *native_type(const ridge_node *root)
{
    if (ridge_json_is_absent(ridge_json_get(root, "dim")) ||
        ridge_json_is_absent(ridge_json_get(root, "n_layers")))
        return "";
    return ridge_json_is_absent(ridge_json_get(root, "kv_lora_rank"))
               ? "meta-params"
               : "deepseek-params";
}

/* Keys of models that are no plain transformer: an unknown one is not guessed at. */
static const char *foreign_key(const ridge__config *c)
{
    static const char *const KEYS[] = {"mamba_d_state",     "ssm_cfg",
                                       "state_size",        "ssm_state_size",
                                       "mamba_d_conv",      "rwkv_version",
                                       "altup_num_inputs",  "attention_hidden_size",
                                       "linear_attn_config"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(KEYS); i++) {
        if (!ridge_json_is_absent(ridge__config_find(c, KEYS[i])))
            return KEYS[i];
    }
    return NULL;
}

/* What a missing size may come from. */
static void note_type(ridge__config *c, const char *type)
{
    if (type[0] == '\0') {
        ridge_ctx_note(c->cx, "model_type is absent");
        return;
    }
    const char *hint = ridge__arch_suggestion(ridge_ctx_scratch(c->cx), type);
    ridge_ctx_note(c->cx, "unknown model_type \"%.60s\"%s%s", type,
                   hint[0] == '\0' ? "" : ", ", hint);
}

/* A file of no type is read as Llama-like if it has all of Llama's sizes, with a note;
 * of an unknown type no layer is guessed. */
static ridge_status assume_usual(ridge__config *c, const char *type)
{
    static const ridge__field NEEDED[] = {RIDGE__F_D_MODEL, RIDGE__F_LAYERS,
                                          RIDGE__F_HEADS, RIDGE__F_D_FF,
                                          RIDGE__F_VOCAB};
    int64_t ignored;
    const char *key = foreign_key(c);
    if (key != NULL) {
        return ridge_json_fail(c->cx, c->text,
                               "unknown model_type \"%.60s\" with %s is no plain "
                               "transformer: a row of its facts is needed",
                               type, key);
    }
    for (size_t i = 0; i < RIDGE_COUNT_OF(NEEDED); i++) {
        ridge_status st = ridge__config_need(c, NEEDED[i], &ignored);
        if (st != RIDGE_OK) {
            note_type(c, type);
            return st;
        }
    }
    if (type[0] != '\0') {
        const char *hint = ridge__arch_suggestion(ridge_ctx_scratch(c->cx), type);
        return ridge_json_fail(c->cx, c->text,
                               "unknown model_type \"%.60s\"%s%s: what its layers hold "
                               "is not known; if they are those of a known type, such "
                               "as \"llama\", write that into a copy of the file",
                               type, hint[0] == '\0' ? "" : ", ", hint);
    }
    ridge__config_guess(c, "model_type is absent: read as Llama-like (RMS norms, gated "
                           "feed-forward, untied)");
    return RIDGE_OK;
}

static ridge_status find_arch(ridge__config *c)
{
    const char *type = text_of(&c->text, "model_type");
    if (type[0] == '\0' && !c->is_nested)
        type = native_type(&c->root);
    c->arch = ridge__arch_find(type);
    if (c->arch == NULL)
        c->arch = ridge__arch_find_class(first_class(&c->text));
    if (c->arch == NULL && c->is_nested)
        c->arch = ridge__arch_find(text_of(&c->root, "model_type"));
    const bool is_known = c->arch != NULL;
    if (!is_known)
        c->arch = ridge__arch_generic();
    c->arch_name = ridge__arch_name(ridge_ctx_arena(c->cx), c->arch);
    const char *stated = text_of(&c->root, "model_type");
    c->model->model_type = stated[0] != '\0' ? stated : c->arch_name;
    if (c->arch_name == NULL)
        return ridge_fail_nomem(c->cx);
    return is_known ? RIDGE_OK : assume_usual(c, type);
}

/* Layers: a number, or the length of the list of types. */
static ridge_status count_layers(ridge__config *c, int64_t *decoder, int64_t *encoder)
{
    *encoder = 0;
    if (ridge__arch_has(c, RIDGE__A_ENCODER_DECODER)) {
        RIDGE_TRY(ridge__config_need(c, RIDGE__F_ENCODER_LAYERS, encoder));
        return ridge__config_get(c, RIDGE__F_DECODER_LAYERS, *encoder, decoder);
    }
    ridge_node types = ridge__config_find(c, "layers_block_type");
    const int64_t listed = (int64_t)ridge_json_size(types);
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_LAYERS, listed, decoder));
    if (*decoder > 0)
        return RIDGE_OK;
    return ridge__config_usual(c, RIDGE__F_LAYERS, c->arch->dims.layers, decoder);
}

static ridge_status start_layers(ridge__config *c)
{
    int64_t decoder, encoder;
    RIDGE_TRY(count_layers(c, &decoder, &encoder));
    c->layer_count = decoder + encoder;
    c->choices =
        ridge_new(ridge_ctx_arena(c->cx), ridge__choice, (size_t)c->layer_count);
    if (c->choices == NULL)
        return ridge_fail_nomem(c->cx);
    for (int64_t i = 0; i < c->layer_count; i++) {
        c->choices[i].is_encoder = i < encoder || ridge__arch_has(c, RIDGE__A_ENCODER);
        c->choices[i].has_cross = encoder > 0 && i >= encoder;
    }
    return RIDGE_OK;
}

static ridge_status read_sizes(ridge__config *c)
{
    ridge_model *m = c->model;
    const ridge__dims *usual = &c->arch->dims;
    RIDGE_TRY(ridge__config_usual(c, RIDGE__F_D_MODEL, usual->d_model, &m->d_model));
    RIDGE_TRY(ridge__config_usual(c, RIDGE__F_VOCAB, usual->vocab, &m->vocab));
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_POSITIONS, 0, &m->max_positions));
    if (m->vocab > 0)
        return RIDGE_OK;
    if (!ridge__arch_has(c, RIDGE__A_NATIVE) || m->vocab == 0) {
        return ridge_json_fail(c->cx, c->text, "vocab_size %lld is no vocabulary",
                               (long long)m->vocab);
    }
    m->vocab = 32000;
    ridge__config_guess(c,
                        "vocab_size -1 is left to the tokenizer: 32,000 taken, as in "
                        "Llama and Llama 2");
    return RIDGE_OK;
}

/* Every count must fit 63 bits, so that the formulas need not check. */
static ridge_status check_counts(ridge__config *c)
{
    ridge_params params;
    if (ridge__model_count(c->model, &params))
        return RIDGE_OK;
    return ridge_json_fail(
        c->cx, c->text, "these sizes give more parameters than a 63-bit number holds");
}

static ridge_status read_parts(ridge__config *c)
{
    static ridge_status (*const PARTS[])(ridge__config *) = {
        find_text,
        find_arch,
        read_sizes,
        start_layers,
        ridge__config_pattern,
        ridge__config_functions,
        ridge__config_layers,
        ridge__config_embed,
        check_counts,
        ridge__config_mtp,
        ridge__config_quant,
        ridge__config_vision,
        check_counts,
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(PARTS); i++)
        RIDGE_TRY(PARTS[i](c));
    return RIDGE_OK;
}

ridge_status ridge__config_read(ridge_ctx *cx, ridge_node root, ridge_node quant,
                                const char *name, ridge_model **out)
{
    ridge_model *model = ridge_new(ridge_ctx_arena(cx), ridge_model, 1);
    if (model == NULL)
        return ridge_fail_nomem(cx);
    if (ridge_json_kind_of(root) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, root, "a model's config is an object");
    model->name = ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(name));
    if (model->name == NULL)
        return ridge_fail_nomem(cx);
    ridge__config c = {
        .cx = cx, .root = root, .text = root, .quant = quant, .model = model};
    RIDGE_TRY(read_parts(&c));
    *out = model;
    return RIDGE_OK;
}

ridge_status ridge_model_from_config(ridge_ctx *cx, ridge_node config, const char *name,
                                     const ridge_model **out)
{
    const ridge_node none = {0};
    ridge_model *model = NULL;
    RIDGE_TRY(ridge__config_read(cx, config, none, name, &model));
    *out = model;
    return RIDGE_OK;
}
