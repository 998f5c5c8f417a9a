/* Which layers have experts: models name the dense ones, the first, an interval or a
 * list. */
#include "config.h"

#include <string.h>

static ridge_status interval_of(ridge__config *c, const char *key, int64_t *out)
{
    ridge_node n = ridge__config_find(c, key);
    *out = 1;
    if (ridge_json_is_absent(n) || ridge_json_kind_of(n) == RIDGE_JSON_ARRAY)
        return RIDGE_OK;
    return ridge_json_want_i64(c->cx, n, 1, 1000000, out);
}

/* Experts only in every n-th layer, counted from 1 - offset. */
static ridge_status keep_every(ridge__config *c, const char *key, int64_t offset)
{
    int64_t n;
    RIDGE_TRY(interval_of(c, key, &n));
    for (int64_t i = 0; i < c->layer_count; i++) {
        if ((i + offset) % n != 0)
            c->choices[i].feed = RIDGE__FEED_DENSE;
    }
    return RIDGE_OK;
}

/* One number a layer: 0 is dense. */
static ridge_status keep_listed(ridge__config *c, const char *key)
{
    ridge_node list = ridge__config_find(c, key);
    if (ridge_json_kind_of(list) != RIDGE_JSON_ARRAY)
        return RIDGE_OK;
    for (int64_t i = 0; i < c->layer_count; i++) {
        int64_t is_moe;
        ridge_node item = ridge_json_at(&list, (size_t)i);
        RIDGE_TRY(ridge_json_want_i64(c->cx, item, 0, 1, &is_moe));
        if (is_moe == 0)
            c->choices[i].feed = RIDGE__FEED_DENSE;
    }
    return RIDGE_OK;
}

/* One type a layer. */
static ridge_status keep_typed(ridge__config *c)
{
    ridge_node list = ridge__config_find(c, "mlp_layer_types");
    if (ridge_json_kind_of(list) != RIDGE_JSON_ARRAY)
        return RIDGE_OK;
    for (int64_t i = 0; i < c->layer_count; i++) {
        const char *type = NULL;
        ridge_node item = ridge_json_at(&list, (size_t)i);
        RIDGE_TRY(ridge_json_want_text(c->cx, item, &type));
        c->choices[i].feed =
            strcmp(type, "dense") == 0 ? RIDGE__FEED_DENSE : RIDGE__FEED_MOE;
    }
    return RIDGE_OK;
}

/* Layer numbers: of dense layers, or of those with experts. */
static ridge_status keep_numbered(ridge__config *c, const char *key, bool are_moe)
{
    bool *marks = ridge_new(ridge_ctx_arena(c->cx), bool, (size_t)c->layer_count);
    if (marks == NULL)
        return ridge_fail_nomem(c->cx);
    ridge_node list = ridge__config_find(c, key);
    if (ridge_json_size(list) == 0 || !ridge__config_marks(c, key, 0, marks))
        return RIDGE_OK;
    for (int64_t i = 0; i < c->layer_count; i++) {
        if (marks[i] != are_moe)
            c->choices[i].feed = RIDGE__FEED_DENSE;
    }
    return RIDGE_OK;
}

/* The same as text: "3,4,5". */
static ridge_status keep_enumerated(ridge__config *c)
{
    ridge_node n = ridge__config_find(c, "moe_layers_enum");
    const char *text = NULL;
    if (!ridge_json_text(n, &text))
        return RIDGE_OK;
    for (int64_t i = 0; i < c->layer_count; i++)
        c->choices[i].feed = RIDGE__FEED_DENSE;
    ridge_str rest = ridge_str_of(text);
    while (rest.p != NULL && rest.n > 0) {
        int64_t layer;
        if (!ridge_parse_i64(ridge_str_trim(ridge_str_cut(&rest, ',')), &layer))
            return ridge_json_fail(c->cx, n, "expected layer numbers between commas");
        if (layer >= 0 && layer < c->layer_count)
            c->choices[layer].feed = RIDGE__FEED_MOE;
    }
    return RIDGE_OK;
}

/* ERNIE: experts between two layers. */
static ridge_status keep_range(ridge__config *c)
{
    static const char *const KEYS[] = {"moe_layer_start_index", "moe_layer_end_index"};
    int64_t ends[] = {0, c->layer_count - 1};
    for (size_t i = 0; i < RIDGE_COUNT_OF(KEYS); i++) {
        ridge_node n = ridge__config_find(c, KEYS[i]);
        if (!ridge_json_is_absent(n))
            RIDGE_TRY(ridge_json_want_i64(c->cx, n, -1, 1000000, &ends[i]));
    }
    if (ends[1] < 0)
        ends[1] = c->layer_count - 1;
    for (int64_t i = 0; i < c->layer_count; i++) {
        if (i < ends[0] || i > ends[1])
            c->choices[i].feed = RIDGE__FEED_DENSE;
    }
    return RIDGE_OK;
}

static ridge_status mark_first(ridge__config *c)
{
    int64_t first_dense, hashed = 0;
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_FIRST_DENSE, 0, &first_dense));
    ridge_node n = ridge__config_find(c, "num_hash_layers");
    if (!ridge_json_is_absent(n))
        RIDGE_TRY(ridge_json_want_i64(c->cx, n, 0, 1000000, &hashed));
    for (int64_t i = 0; i < c->layer_count; i++) {
        if (i < first_dense)
            c->choices[i].feed = RIDGE__FEED_DENSE;
        c->choices[i].has_hash_route = i < hashed;
    }
    return RIDGE_OK;
}

ridge_status ridge__config_sparse(ridge__config *c)
{
    int64_t experts;
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_EXPERTS, 0, &experts));
    for (int64_t i = 0; i < c->layer_count; i++) {
        /* Layers of one part were told apart by the pattern. */
        if (c->choices[i].mix == RIDGE__MIX_NONE ||
            c->choices[i].feed == RIDGE__FEED_NONE)
            return RIDGE_OK;
    }
    if (experts == 0)
        return RIDGE_OK;
    for (int64_t i = 0; i < c->layer_count; i++)
        c->choices[i].feed = RIDGE__FEED_MOE;
    RIDGE_TRY(mark_first(c));
    RIDGE_TRY(keep_every(c, "moe_layer_freq", 0));
    RIDGE_TRY(keep_every(c, "decoder_sparse_step", 1));
    RIDGE_TRY(keep_every(c, "interleave_moe_layer_step", 1));
    RIDGE_TRY(keep_every(c, "moe_layer_interval", 1));
    RIDGE_TRY(keep_every(c, "moe_layer_frequency", 1));
    RIDGE_TRY(keep_range(c));
    RIDGE_TRY(keep_listed(c, "moe_layer_freq"));
    RIDGE_TRY(keep_numbered(c, "mlp_only_layers", false));
    RIDGE_TRY(keep_numbered(c, "moe_layers", true));
    RIDGE_TRY(keep_enumerated(c));
    return keep_typed(c);
}
