/*
 * The tower beside a language model. Its parameters are counted, apart from the total,
 * where the config describes it fully: a vision transformer of a known form and the
 * projection to the language model's width. Others are named in a note as left out.
 */
#include "config.h"

#include <string.h>

/* How the tower's output reaches the language model. */
typedef enum projector {
    PROJECTOR_MERGE,  /* norm, four patches to one, two maps (Qwen) */
    PROJECTOR_TWO,    /* two maps with biases (LLaVA) */
    PROJECTOR_NORM,   /* a norm and a map (Gemma 3) */
    PROJECTOR_SHUFFLE /* pixel shuffle, two maps, one more (Llama 4) */
} projector;

enum {
    PATCH_BIAS = 1u << 0,
    CLASS_TOKEN = 1u << 1,
    GRID_POSITIONS = 1u << 2, /* (image / patch)^2 learned positions */
    RMS_NORM = 1u << 3,
    GATED = 1u << 4,
    NORM_BEFORE = 1u << 5,
    NORM_AFTER = 1u << 6
};

typedef struct tower_form {
    const char *types; /* of the model or the tower, '|' between */
    unsigned flags;
    projector projector;
    const char *width_key, *layers_key, *mlp_key; /* mlp_key NULL: mlp_ratio x width */
} tower_form;

/* clang-format off */
static const tower_form FORMS[] = {
    {"|qwen2_vl|", 0, PROJECTOR_MERGE, "embed_dim", "depth", NULL},
    {"|qwen2_5_vl|", RMS_NORM | GATED, PROJECTOR_MERGE, "hidden_size", "depth", "intermediate_size"},
    {"|qwen3_vl|qwen3_vl_moe|qwen3_5|qwen3_5_moe|", PATCH_BIAS, PROJECTOR_MERGE, "hidden_size", "depth", "intermediate_size"},
    {"|llava|", CLASS_TOKEN | GRID_POSITIONS | NORM_BEFORE | NORM_AFTER, PROJECTOR_TWO, "hidden_size", "num_hidden_layers", "intermediate_size"},
    {"|gemma3|", PATCH_BIAS | GRID_POSITIONS | NORM_AFTER, PROJECTOR_NORM, "hidden_size", "num_hidden_layers", "intermediate_size"},
    {"|llama4|", CLASS_TOKEN | GRID_POSITIONS | NORM_BEFORE | NORM_AFTER, PROJECTOR_SHUFFLE, "hidden_size", "num_hidden_layers", "intermediate_size"},
};
/* clang-format on */

typedef struct tower {
    ridge__config *c;
    ridge_node node;
    const tower_form *form;
    int64_t width, layers, mlp;
    int64_t params;
    bool is_over;
} tower;

static void add_product(tower *t, int64_t a, int64_t b)
{
    int64_t product;
    if (!ridge_mul_i64(a, b, &product) ||
        !ridge_add_i64(t->params, product, &t->params))
        t->is_over = true;
}

/* A map from a to b features, with a bias. */
static void add_map(tower *t, int64_t a, int64_t b)
{
    add_product(t, a + 1, b);
}

static ridge_status read_size(const tower *t, const char *key, int64_t otherwise,
                              int64_t *out)
{
    ridge_node n = ridge_json_get(&t->node, key);
    *out = otherwise;
    if (ridge_json_is_absent(n) && otherwise > 0)
        return RIDGE_OK;
    return ridge_json_want_i64(t->c->cx, n, 1, 10000000, out);
}

static ridge_status add_patches(tower *t)
{
    int64_t patch, channels, frames, image, positions;
    const unsigned flags = t->form->flags;
    RIDGE_TRY(read_size(t, "patch_size", 0, &patch));
    RIDGE_TRY(read_size(t, "in_channels", 3, &channels));
    RIDGE_TRY(read_size(t, "temporal_patch_size", 1, &frames));
    add_product(t, channels * frames, patch * patch * t->width);
    if (flags & PATCH_BIAS)
        add_product(t, 1, t->width);
    if (flags & CLASS_TOKEN)
        add_product(t, 1, t->width);
    if (!ridge_json_is_absent(ridge_json_get(&t->node, "num_position_embeddings"))) {
        RIDGE_TRY(read_size(t, "num_position_embeddings", 0, &positions));
        add_product(t, positions, t->width);
    }
    if (!(flags & GRID_POSITIONS))
        return RIDGE_OK;
    RIDGE_TRY(read_size(t, "image_size", 0, &image));
    add_product(t, (image / patch) * (image / patch) + (flags & CLASS_TOKEN ? 1 : 0),
                t->width);
    return RIDGE_OK;
}

static void add_norms(tower *t, int64_t count, int64_t width)
{
    add_product(t, count * (t->form->flags & RMS_NORM ? 1 : 2), width);
}

static void add_blocks(tower *t)
{
    const unsigned flags = t->form->flags;
    tower one = *t;
    one.params = 0;
    add_map(&one, t->width, 4 * t->width); /* Q, K, V, output */
    add_map(&one, t->width, t->mlp);
    if (flags & GATED)
        add_map(&one, t->width, t->mlp);
    add_map(&one, t->mlp, t->width);
    add_norms(&one, 2, t->width);
    add_product(t, t->layers, one.params);
    t->is_over = t->is_over || one.is_over;
    if (flags & NORM_BEFORE)
        add_norms(t, 1, t->width);
    if (flags & NORM_AFTER)
        add_norms(t, 1, t->width);
}

/* Qwen's merger; the deep ones of Qwen3-VL normalise four patches at once. */
static ridge_status add_mergers(tower *t, int64_t out)
{
    int64_t merge;
    ridge_node deep = ridge_json_get(&t->node, "deepstack_visual_indexes");
    const int64_t deep_count = (int64_t)ridge_json_size(deep);
    RIDGE_TRY(read_size(t, "spatial_merge_size", 2, &merge));
    const int64_t merged = merge * merge * t->width;
    for (int64_t i = 0; i <= deep_count && i < 1000; i++) {
        add_norms(t, 1, i == 0 ? t->width : merged);
        add_map(t, merged, merged);
        add_map(t, merged, out);
    }
    return RIDGE_OK;
}

static ridge_status add_shuffle(tower *t, int64_t out)
{
    int64_t in, middle, last;
    double ratio;
    ridge_node n = ridge_json_get(&t->node, "pixel_shuffle_ratio");
    RIDGE_TRY(ridge_json_want_double(t->c->cx, n, 0.01, 1, &ratio));
    RIDGE_TRY(read_size(t, "projector_input_dim", 0, &middle));
    RIDGE_TRY(read_size(t, "projector_output_dim", 0, &last));
    in = (int64_t)((double)t->width / (ratio * ratio));
    add_product(t, in, middle);
    add_product(t, middle, last);
    add_product(t, last, out);
    return RIDGE_OK;
}

static ridge_status add_projector(tower *t)
{
    const int64_t out = t->c->model->d_model;
    switch (t->form->projector) {
    case PROJECTOR_MERGE:
        return add_mergers(t, out);
    case PROJECTOR_TWO:
        add_map(t, t->width, out);
        add_map(t, out, out);
        break;
    case PROJECTOR_NORM:
        add_product(t, 1, t->width);
        add_product(t, t->width, out);
        break;
    case PROJECTOR_SHUFFLE:
        return add_shuffle(t, out);
    }
    return RIDGE_OK;
}

static ridge_status count_tower(tower *t)
{
    int64_t ratio;
    RIDGE_TRY(read_size(t, t->form->width_key, 0, &t->width));
    RIDGE_TRY(read_size(t, t->form->layers_key, 0, &t->layers));
    if (t->form->mlp_key != NULL) {
        RIDGE_TRY(read_size(t, t->form->mlp_key, 0, &t->mlp));
    } else {
        RIDGE_TRY(read_size(t, "mlp_ratio", 4, &ratio));
        t->mlp = ratio * t->width;
    }
    RIDGE_TRY(add_patches(t));
    add_blocks(t);
    RIDGE_TRY(add_projector(t));
    if (t->is_over)
        return ridge_json_fail(t->c->cx, t->node, "these sizes are too large to count");
    t->c->model->vision_params = t->params;
    ridge__config_note(t->c,
                       "the vision tower's %s parameters are apart from the total",
                       ridge_format_exact(t->params).s);
    return RIDGE_OK;
}

static const tower_form *find_form(const char *type)
{
    ridge_str name = ridge_str_of(type);
    for (size_t i = 0; i < RIDGE_COUNT_OF(FORMS); i++) {
        ridge_str rest = ridge_str_of(FORMS[i].types);
        while (rest.p != NULL) {
            ridge_str one = ridge_str_cut(&rest, '|');
            if (one.n > 0 && ridge_str_equal(one, name))
                return &FORMS[i];
        }
    }
    return NULL;
}

/* Parts that are not counted at all. */
static void note_left_out(ridge__config *c)
{
    static const struct {
        const char *key, *what;
    } PARTS[] = {{"audio_config", "audio tower"},
                 {"mm_vision_tower", "vision tower"},
                 {"speech_config", "speech tower"},
                 {"vision_num_cross_attention_layers",
                  "vision tower, with the cross-attention layers to it,"}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(PARTS); i++) {
        if (!ridge_json_is_absent(ridge_json_get(&c->root, PARTS[i].key)))
            ridge__config_guess(c, "the %s is left out", PARTS[i].what);
    }
}

ridge_status ridge__config_vision(ridge__config *c)
{
    tower t = {.c = c, .node = ridge_json_get(&c->root, "vision_config")};
    const char *type = "";
    note_left_out(c);
    if (strstr(c->arch->names, "|molmo|") != NULL) {
        ridge__config_guess(c, "the vision tower is left out: the config does not "
                               "describe it");
    }
    if (ridge_json_kind_of(t.node) != RIDGE_JSON_OBJECT)
        return RIDGE_OK;
    ridge_json_text(ridge_json_get(&c->root, "model_type"), &type);
    t.form = find_form(type);
    /* A file that names the tower without its sizes takes them from elsewhere. */
    if (t.form != NULL &&
        !ridge_json_is_absent(ridge_json_get(&t.node, t.form->width_key)) &&
        !ridge_json_is_absent(ridge_json_get(&t.node, t.form->layers_key)))
        return count_tower(&t);
    ridge__config_guess(c, "the vision tower is left out: it is of no counted form");
    return RIDGE_OK;
}
