/* Everything outside the layers: token and position tables, final norms, the head, and
 * the layers that predict further tokens. */
#include "config.h"

#include <string.h>

/* Sums of products for this file: the first overflow is remembered. */
typedef struct total {
    int64_t v;
    bool is_over;
} total;

static void add_product(total *t, int64_t a, int64_t b)
{
    int64_t product;
    if (!ridge_mul_i64(a, b, &product) || !ridge_add_i64(t->v, product, &t->v))
        t->is_over = true;
}

static ridge_status store(ridge__config *c, const total *t, int64_t *out)
{
    if (t->is_over)
        return ridge_json_fail(c->cx, c->text, "these sizes are too large to count");
    *out = t->v;
    return RIDGE_OK;
}

static bool is_named(const ridge__config *c, const char *name)
{
    return strstr(c->arch->names, name) != NULL;
}

/* Width of the token table. */
static ridge_status read_table_width(ridge__config *c, int64_t *out)
{
    *out = c->model->d_model;
    if (!ridge__arch_has(c, RIDGE__A_NARROW_EMBED))
        return RIDGE_OK;
    return ridge__config_get(c, RIDGE__F_EMBEDDING, *out, out);
}

static ridge_status read_number(ridge__config *c, const char *key, int64_t otherwise,
                                int64_t *out)
{
    ridge_node n = ridge__config_find(c, key);
    *out = otherwise;
    if (ridge_json_is_absent(n))
        return RIDGE_OK;
    return ridge_json_want_i64(c->cx, n, 0, 1000000000, out);
}

/* Learned positions, of decoder and encoder. */
static ridge_status add_positions(ridge__config *c, int64_t width, total *t)
{
    int64_t positions, source;
    bool is_learned, has_alibi;
    if (!ridge__arch_has(c, RIDGE__A_LEARNED))
        return RIDGE_OK;
    RIDGE_TRY(ridge__config_flag(c, "learned_pos_emb", true, &is_learned));
    RIDGE_TRY(ridge__config_flag(c, "attn_config.alibi", false, &has_alibi));
    if (!is_learned || has_alibi)
        return RIDGE_OK;
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_POSITIONS, &positions));
    /* OPT's positions are as wide as the model, whatever its token table is. */
    if (is_named(c, "|opt|"))
        width = c->model->d_model;
    add_product(t, positions + c->arch->position_offset, width);
    if (!ridge__arch_has(c, RIDGE__A_ENCODER_DECODER))
        return RIDGE_OK;
    RIDGE_TRY(read_number(c, "max_source_positions", positions, &source));
    add_product(t, source + c->arch->position_offset, width);
    return RIDGE_OK;
}

/* Tables beside the tokens': token types, relative positions of T5, embeddings for each
 * layer of Gemma 4, Whisper's convolutions over the spectrum. */
static ridge_status add_other_tables(ridge__config *c, int64_t width, total *t)
{
    int64_t n, heads, mels, rows;
    const int64_t d_model = c->model->d_model;
    if (ridge__arch_has(c, RIDGE__A_POOLER)) {
        RIDGE_TRY(ridge__config_get(c, RIDGE__F_TYPES, 2, &n));
        add_product(t, n, width);
    }
    RIDGE_TRY(read_number(c, "relative_attention_num_buckets",
                          is_named(c, "|t5|") ? 32 : 0, &n));
    if (n > 0) {
        RIDGE_TRY(ridge__config_need(c, RIDGE__F_HEADS, &heads));
        add_product(t, 2 * n, heads);
    }
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_PER_LAYER_WIDTH, 0, &n));
    if (n > 0) {
        RIDGE_TRY(
            ridge__config_get(c, RIDGE__F_PER_LAYER_VOCAB, c->model->vocab, &rows));
        add_product(t, rows, c->layer_count * n);
        add_product(t, n, 1); /* norm of the projection that is added to it */
    }
    RIDGE_TRY(read_number(c, "num_mel_bins", 0, &mels));
    if (mels > 0) {
        add_product(t, 3 * (mels + d_model), d_model);
        add_product(t, 2, d_model);
    }
    return RIDGE_OK;
}

static ridge_status read_tables(ridge__config *c)
{
    total t = {0};
    int64_t width, norm;
    RIDGE_TRY(read_table_width(c, &width));
    add_product(&t, c->model->vocab + c->arch->extra_rows, width);
    RIDGE_TRY(add_positions(c, width, &t));
    RIDGE_TRY(add_other_tables(c, width, &t));
    if (ridge__arch_has(c, RIDGE__A_EMBED_NORM)) {
        RIDGE_TRY(ridge__config_norm_params(c, &norm));
        int64_t sides = ridge__arch_has(c, RIDGE__A_ENCODER_DECODER) ? 2 : 1;
        add_product(&t, sides * (norm / c->model->d_model), width);
    }
    return store(c, &t, &c->model->embedding_params);
}

static ridge_status read_final_norms(ridge__config *c)
{
    bool is_before;
    int64_t norm;
    RIDGE_TRY(ridge__config_flag(c, "do_layer_norm_before", true, &is_before));
    RIDGE_TRY(ridge__config_norm_params(c, &norm));
    if (!ridge__arch_has(c, RIDGE__A_NO_FINAL_NORM) && is_before) {
        c->model->final_norm_params =
            norm * (ridge__arch_has(c, RIDGE__A_ENCODER_DECODER) ? 2 : 1);
    }
    return RIDGE_OK;
}

/* Tied or not: as the language model's part says, then the whole, then the type. */
static ridge_status read_tie(ridge__config *c)
{
    static const char *const KEYS[] = {"tie_word_embeddings", "weight_tying",
                                       "tie_embedding"};
    bool *tied = &c->model->is_tied;
    for (size_t i = 0; i < RIDGE_COUNT_OF(KEYS); i++) {
        ridge_node inner = ridge_json_get(&c->text, KEYS[i]);
        ridge_node outer = ridge_json_get(&c->root, KEYS[i]);
        ridge_node n = ridge_json_is_absent(inner) ? outer : inner;
        if (ridge_json_is_absent(n))
            continue;
        if (ridge_json_bool(n, tied))
            return RIDGE_OK;
        return ridge_json_fail(c->cx, n, "expected true or false");
    }
    *tied = ridge__arch_has(c, RIDGE__A_TIED);
    if (is_named(c, "|meta-params|")) {
        *tied = strncmp(ridge__config_text(c, "norm_type", ""), "gemma", 5) == 0;
        ridge__config_guess(c, "the file does not state tying: unembedding counted %s",
                            *tied ? "as the embedding's, as in Gemma" : "apart");
    } else if (*tied) {
        ridge__config_note(c, "tie_word_embeddings is absent: tied, as usual for %s",
                           c->arch_name);
    }
    return RIDGE_OK;
}

static const char *class_of(const ridge__config *c)
{
    ridge_node list = ridge_json_get(&c->text, "architectures");
    const char *name = "";
    return ridge_json_text(ridge_json_at(&list, 0), &name) ? name : "";
}

/* Encoders have a head only as masked language models; then a transform stands before
 * it. Otherwise BERT's pooler is counted. */
static ridge_status read_encoder_head(ridge__config *c, int64_t width, total *t)
{
    ridge_model *m = c->model;
    const char *name = class_of(c);
    int64_t norm;
    m->has_unembedding = strstr(name, "MaskedLM") != NULL;
    RIDGE_TRY(ridge__config_norm_params(c, &norm));
    const int64_t bias = norm / m->d_model - 1; /* linear maps have one if norms do */
    if (m->has_unembedding) {
        add_product(t, m->d_model + bias, width);
        add_product(t, norm / m->d_model, width);
    } else if (ridge__arch_has(c, RIDGE__A_POOLER)) {
        add_product(t, m->d_model + 1, m->d_model);
        ridge__config_note(c, "no language-model head: the pooler is counted instead");
    }
    return RIDGE_OK;
}

/* DeepSeek-V4 joins its residual streams before the head. */
static ridge_status add_stream_head(ridge__config *c, total *t)
{
    int64_t streams;
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_STREAMS, 0, &streams));
    if (streams > 0) {
        add_product(t, streams * streams, c->model->d_model);
        add_product(t, streams + 1, 1);
    }
    return RIDGE_OK;
}

static ridge_status read_head(ridge__config *c)
{
    ridge_model *m = c->model;
    total head = {0}, table = {0};
    int64_t width;
    bool has_bias;
    m->has_unembedding = true;
    RIDGE_TRY(read_tie(c));
    RIDGE_TRY(read_table_width(c, &width));
    RIDGE_TRY(add_stream_head(c, &head));
    if (width != m->d_model) { /* a map to the model's width; OPT has one back too */
        add_product(&head, is_named(c, "|opt|") ? 2 * width : width + 1, m->d_model);
    }
    if (ridge__arch_has(c, RIDGE__A_ENCODER))
        RIDGE_TRY(read_encoder_head(c, width, &head));
    RIDGE_TRY(
        ridge__config_switch(c, c->arch->head_bias_key, RIDGE__A_HEAD_BIAS, &has_bias));
    m->has_unembedding_bias = has_bias && m->has_unembedding;
    if (m->has_unembedding_bias)
        add_product(&head, m->vocab, 1);
    if (m->has_unembedding && !m->is_tied)
        add_product(&table, m->vocab, width);
    RIDGE_TRY(store(c, &head, &m->head_params));
    return store(c, &table, &m->unembedding_params);
}

ridge_status ridge__config_embed(ridge__config *c)
{
    RIDGE_TRY(read_tables(c));
    RIDGE_TRY(read_final_norms(c));
    return read_head(c);
}

/* Prediction layers are dense where the architecture says so, have an indexer of their
 * own if the model has any, and compress nothing. */
static bool is_wanted(const ridge__config *c, const ridge_layer *layer)
{
    bool has_index = false, has_plain = false;
    for (int k = 0; k < c->model->n_layers; k++) {
        const ridge_mixer *m = &c->model->layers[k].mixer;
        has_index = has_index || (m->index_heads > 0 && !m->is_latent_only);
        has_plain = has_plain || (m->is_latent_only && m->compress_ratio == 0);
    }
    if (has_index && layer->mixer.index_heads == 0)
        return false;
    if (has_plain && layer->mixer.compress_ratio > 0)
        return false;
    return !ridge__arch_has(c, RIDGE__A_MTP_DENSE) ||
           layer->ffn.kind == RIDGE_FFN_DENSE;
}

/* The layer that a prediction layer repeats: the last of the model, or, where layers
 * are one part each, the last attention and the last feed-forward. */
static bool add_repeated_layer(const ridge__config *c, total *t)
{
    ridge_model *m = c->model;
    bool has_mixer = false, has_ffn = false;
    for (int i = m->n_runs - 1; i >= 0 && !(has_mixer && has_ffn) &&
                                m->n_mtp_kinds < (int)RIDGE_COUNT_OF(m->mtp_kinds);
         i--) {
        const ridge_layer *layer = &m->layers[m->runs[i].layer];
        const bool gives_mixer = layer->mixer.kind == RIDGE_MIXER_ATTENTION ||
                                 layer->mixer.kind == RIDGE_MIXER_MLA;
        const bool gives_ffn = layer->ffn.kind != RIDGE_FFN_NONE;
        int64_t params;
        if ((gives_mixer && has_mixer) || (gives_ffn && has_ffn) ||
            !is_wanted(c, layer) ||
            !(gives_mixer || layer->mixer.kind == RIDGE_MIXER_NONE))
            continue;
        if (!ridge__layer_params(m, layer, &params))
            return false;
        add_product(t, params, 1);
        m->mtp_kinds[m->n_mtp_kinds++] = m->runs[i].layer;
        has_mixer = has_mixer || gives_mixer;
        has_ffn = has_ffn || gives_ffn;
    }
    return true;
}

/* Each prediction layer: norms of the hidden state, of the next token's embedding and
 * of the result, a map from both to D, and a layer. Embedding and head are the model's.
 * @source deepseek-v3-2024, section 2.2 */
ridge_status ridge__config_mtp(ridge__config *c)
{
    total one = {0}, all = {0};
    int64_t layers;
    const int64_t d_model = c->model->d_model;
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_MTP_LAYERS, 0, &layers));
    if (!add_repeated_layer(c, &one))
        one.is_over = true;
    if (layers == 0)
        return RIDGE_OK;
    c->model->mtp_depth = layers;
    add_product(&one, 2 * d_model, d_model);
    add_product(&one, 3, d_model);
    add_product(&all, layers, one.v);
    all.is_over = all.is_over || one.is_over;
    ridge__config_note(c,
                       "%lld multi-token-prediction layer%s counted apart from the "
                       "total",
                       (long long)layers, layers == 1 ? "" : "s");
    return store(c, &all, &c->model->mtp_params);
}
