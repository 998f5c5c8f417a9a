/*
 * What stands around a text: the "post_processor" of a tokenizer.json, which tokens
 * start and end a text, and what its "decoder" takes off. A tokenizer_config.json
 * beside it names bos_token and eos_token; without one they go by their usual names.
 */
#include "tokenizer_json.h"

#include <string.h>

/* ---- post processors ------------------------------------------------------------- */

static ridge_status add_around(const ridge__tokenizer_file *f, ridge_node place,
                               ridge__around *around, const char *name)
{
    const int32_t id =
        ridge__token_table_find(&f->ids, ridge__tokenizer_string(f, name));
    if (id < 0)
        return ridge_json_fail(f->cx, place, "\"%s\" is no token", name);
    if (around->n == RIDGE__AROUND_MAX)
        return ridge_json_fail(f->cx, place, "more than %d tokens around a text",
                               RIDGE__AROUND_MAX);
    around->ids[around->n++] = id;
    return RIDGE_OK;
}

/* single[]: {"SpecialToken": {"id": name}} or {"Sequence": ...}, the text itself. */
static ridge_status read_template(const ridge__tokenizer_file *f,
                                  const ridge_node *json)
{
    const ridge_node single = ridge_json_get(json, "single");
    ridge__around *around = &f->t->before;
    for (size_t i = 0; i < ridge_json_size(single); i++) {
        const ridge_node item = ridge_json_at(&single, i);
        const ridge_node special = ridge_json_get(&item, "SpecialToken");
        const char *name;
        if (ridge_json_is_absent(special)) {
            around = &f->t->after;
            continue;
        }
        const ridge_node id = ridge_json_get(&special, "id");
        RIDGE_TRY(ridge_json_want_text(f->cx, id, &name));
        RIDGE_TRY(add_around(f, id, around, name));
    }
    return RIDGE_OK;
}

/* cls and sep: [name, id]. */
static ridge_status read_pair_of_marks(const ridge__tokenizer_file *f,
                                       const ridge_node *json)
{
    const ridge_node cls = ridge_json_get(json, "cls"),
                     sep = ridge_json_get(json, "sep");
    const char *first, *last;
    RIDGE_TRY(ridge_json_want_text(f->cx, ridge_json_at(&cls, 0), &first));
    RIDGE_TRY(ridge_json_want_text(f->cx, ridge_json_at(&sep, 0), &last));
    RIDGE_TRY(add_around(f, cls, &f->t->before, first));
    return add_around(f, sep, &f->t->after, last);
}

static ridge_status read_processor(const ridge__tokenizer_file *f,
                                   const ridge_node *json)
{
    const char *type;
    const ridge_node place = ridge_json_get(json, "type");
    RIDGE_TRY(ridge_json_want_text(f->cx, place, &type));
    const ridge_str s = ridge_str_of(type);
    if (ridge_str_is(s, "ByteLevel"))
        return RIDGE_OK; /* of offsets alone */
    if (ridge_str_is(s, "TemplateProcessing"))
        return read_template(f, json);
    if (ridge_str_is(s, "BertProcessing") || ridge_str_is(s, "RobertaProcessing"))
        return read_pair_of_marks(f, json);
    return ridge_json_fail(f->cx, place,
                           "post-processor \"%s\": Ridge has ByteLevel, "
                           "TemplateProcessing, BertProcessing, RobertaProcessing",
                           type);
}

/* One, or those in the list of a sequence; none if absent. */
static ridge_status
each(const ridge__tokenizer_file *f, ridge_node json, const char *list_key,
     ridge_status (*read)(const ridge__tokenizer_file *, const ridge_node *))
{
    const char *type = "";
    if (ridge_json_is_absent(json))
        return RIDGE_OK;
    ridge_json_text(ridge_json_get(&json, "type"), &type);
    if (!ridge_str_is(ridge_str_of(type), "Sequence"))
        return read(f, &json);
    const ridge_node list = ridge_json_get(&json, list_key);
    for (size_t i = 0; i < ridge_json_size(list); i++) {
        const ridge_node item = ridge_json_at(&list, i);
        RIDGE_TRY(read(f, &item));
    }
    return RIDGE_OK;
}

/* ---- decoders -------------------------------------------------------------------- */

static void read_strip(const ridge__tokenizer_file *f, const ridge_node *json)
{
    int64_t start = 0;
    ridge_json_i64(ridge_json_get(json, "start"), &start);
    f->t->is_space_stripped = start > 0;
}

static void read_metaspace(const ridge__tokenizer_file *f, const ridge_node *json)
{
    const char *scheme = "always";
    bool has_prefix = true;
    ridge_json_bool(ridge_json_get(json, "add_prefix_space"), &has_prefix);
    ridge_json_text(ridge_json_get(json, "prepend_scheme"), &scheme);
    f->t->is_space_stripped =
        has_prefix && !ridge_str_is(ridge_str_of(scheme), "never");
}

static ridge_status read_decoder(const ridge__tokenizer_file *f, const ridge_node *json)
{
    static const char *const BY_SPELLING[] = {"ByteLevel", "ByteFallback", "Fuse",
                                              "Replace"};
    const char *type;
    const ridge_node place = ridge_json_get(json, "type");
    RIDGE_TRY(ridge_json_want_text(f->cx, place, &type));
    const ridge_str s = ridge_str_of(type);
    for (size_t i = 0; i < RIDGE_COUNT_OF(BY_SPELLING); i++) {
        if (ridge_str_is(s, BY_SPELLING[i]))
            return RIDGE_OK;
    }
    if (ridge_str_is(s, "Strip"))
        read_strip(f, json);
    else if (ridge_str_is(s, "Metaspace"))
        read_metaspace(f, json);
    else
        return ridge_json_fail(f->cx, place,
                               "decoder \"%s\": Ridge has ByteLevel, "
                               "Metaspace, Replace, ByteFallback, Fuse and Strip",
                               type);
    return RIDGE_OK;
}

/* ---- start and end --------------------------------------------------------------- */

/* The first of these names that is an added token. */
static int32_t usual(const ridge_tokenizer *t, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const int32_t id = ridge_tokenizer_special(t, names[i]);
        if (id >= 0)
            return id;
    }
    return -1;
}

ridge_status ridge__tokenizer_read_around(ridge__tokenizer_file *f)
{
    static const char *const STARTS[] = {"<|begin_of_text|>", "<s>", "<bos>",
                                         "<|startoftext|>"};
    static const char *const ENDS[] = {"<|end_of_text|>", "</s>", "<eos>",
                                       "<|endoftext|>", "<|im_end|>"};
    ridge_tokenizer *t = f->t;
    RIDGE_TRY(each(f, ridge_json_get(&f->root, "post_processor"), "processors",
                   read_processor));
    RIDGE_TRY(each(f, ridge_json_get(&f->root, "decoder"), "decoders", read_decoder));
    t->bos =
        t->before.n > 0 ? t->before.ids[0] : usual(t, STARTS, RIDGE_COUNT_OF(STARTS));
    t->eos = usual(t, ENDS, RIDGE_COUNT_OF(ENDS));
    return RIDGE_OK;
}

/* "eos_token": "name", or {"content": "name"}; null: there is none. */
static ridge_status read_named(ridge_ctx *cx, const ridge_tokenizer *t,
                               const ridge_node *config, const char *key, int32_t *out)
{
    const ridge_node n = ridge_json_get(config, key);
    const char *name;
    if (ridge_json_is_absent(n))
        return RIDGE_OK;
    if (!ridge_json_text(n, &name))
        RIDGE_TRY(ridge_json_want_text(cx, ridge_json_get(&n, "content"), &name));
    const int32_t special = ridge_tokenizer_special(t, name);
    const int32_t id =
        special >= 0 ? special : ridge__token_table_find(&t->names, ridge_str_of(name));
    if (id < 0)
        return ridge_json_fail(cx, n, "%s \"%s\" is no token of %s", key, name,
                               t->file);
    *out = id;
    return RIDGE_OK;
}

ridge_status ridge__tokenizer_read_config(ridge_ctx *cx, ridge_tokenizer *t)
{
    const char *slash = strrchr(t->file, '/');
    const int folder = slash == NULL ? 0 : (int)(slash - t->file) + 1;
    const char *path = ridge_sprintf(ridge_ctx_arena(cx), "%.*stokenizer_config.json",
                                     folder, t->file);
    ridge_node config;
    if (path == NULL)
        return ridge_fail_nomem(cx);
    if (!ridge_path_exists(path))
        return RIDGE_OK;
    RIDGE_TRY(ridge_json_read(cx, path, &config));
    RIDGE_TRY(read_named(cx, t, &config, "bos_token", &t->bos));
    return read_named(cx, t, &config, "eos_token", &t->eos);
}
