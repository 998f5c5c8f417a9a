/*
 * One entry of the model library, a JSON object:
 *
 *     name, aliases[]         how it may be called
 *     base                    another entry whose config this one changes; optional
 *     published_params        number that the source states, or null
 *     published_params_note   what that number includes, or how it is rounded
 *     published_params_rel_tol  of a rounded number; 0 (exact) if absent
 *     source, date            key of docs/sources.md; "YYYY-MM"
 *     config                  keys of Hugging Face's config.json
 *
 * A file without "config" is taken as a plain config.json.
 */
#include "library.h"

#include "model_name.h"

#include <string.h>

enum { BASE_DEPTH_MAX = 4 };

ridge_status ridge__entry_parse(ridge_ctx *cx, const ridge__entry *entry,
                                ridge_node *out)
{
    static const char *const known[] = {"name",
                                        "aliases",
                                        "base",
                                        "published_params",
                                        "published_params_note",
                                        "published_params_rel_tol",
                                        "source",
                                        "date",
                                        "config"};
    ridge_node root = {0};
    if (entry->path != NULL) {
        RIDGE_TRY(ridge_json_read(cx, entry->path, &root));
    } else {
        const ridge_embedded *file = entry->built_in;
        RIDGE_TRY(ridge_json_parse(cx, (ridge_str){file->text, file->bytes}, file->path,
                                   &root));
    }
    if (ridge_json_kind_of(root) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, root, "a model must be a JSON object");
    if (!ridge_json_is_absent(ridge_json_get(&root, "config")))
        RIDGE_TRY(ridge_json_only(cx, root, known, RIDGE_COUNT_OF(known)));
    *out = root;
    return RIDGE_OK;
}

bool ridge__entry_has_alias(const ridge_node *root, ridge_str name)
{
    const ridge_node aliases = ridge_json_get(root, "aliases");
    const size_t n = ridge_json_size(aliases);
    for (size_t i = 0; i < n; i++) {
        const char *alias;
        if (!ridge_json_text(ridge_json_at(&aliases, i), &alias))
            continue;
        const ridge_str whole = ridge_str_of(alias);
        if (ridge__model_name_equal(whole, name) ||
            ridge__model_name_equal(ridge__model_name_bare(whole), name))
            return true;
    }
    return false;
}

/* Append "key": value of each member of @p object that @p override lacks. */
static ridge_status write_members(ridge_ctx *cx, const ridge_node *object,
                                  const ridge_node *override, ridge_buf *out)
{
    ridge_node member = ridge_json_member(object, 0);
    for (; member.key != NULL; member = ridge_json_member_after(object, member)) {
        if (override != NULL && ridge_json_get(override, member.key).value != NULL)
            continue;
        if (strpbrk(member.key, "\"\\\n") != NULL)
            return ridge_json_fail(cx, member, "a key with quotes cannot be inherited");
        ridge_buf_printf(out, "%s\"%s\":", out->n > 1 ? "," : "", member.key);
        RIDGE_TRY(ridge_json_write(cx, member.value, out));
    }
    return RIDGE_OK;
}

/* The config of @p base with the members of @p own over it. */
static ridge_status merge_configs(ridge_ctx *cx, const ridge_node *base,
                                  const ridge_node *own, const char *name,
                                  ridge_node *out)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    ridge_buf_puts(&text, "{");
    RIDGE_TRY(write_members(cx, base, own, &text));
    RIDGE_TRY(write_members(cx, own, NULL, &text));
    ridge_buf_puts(&text, "}");
    if (text.is_short)
        return ridge_fail_nomem(cx);
    return ridge_json_parse(cx, (ridge_str){text.p, text.n}, name, out);
}

static ridge_status find_base(ridge_ctx *cx, const ridge_library *library,
                              ridge_node base, const ridge__entry **out)
{
    const char *name;
    RIDGE_TRY(ridge_json_want_text(cx, base, &name));
    *out = ridge__library_find(library, ridge_str_of(name));
    if (*out == NULL)
        return ridge_json_fail(cx, base, "no model \"%s\" to build on", name);
    return RIDGE_OK;
}

/* An entry's config, built on that of its base, up to a few bases deep. */
static ridge_status entry_config(ridge_ctx *cx, const ridge_library *library,
                                 const ridge__entry *entry, int depth, ridge_node *out)
{
    ridge_node *root = ridge_new(ridge_ctx_arena(cx), ridge_node, 1);
    if (root == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge__entry_parse(cx, entry, root));
    const ridge_node own = ridge_json_get(root, "config");
    const ridge_node base = ridge_json_get(root, "base");
    if (ridge_json_is_absent(own)) {
        *out = *root;
        return RIDGE_OK;
    }
    if (ridge_json_kind_of(own) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, own, "must be an object of config.json's keys");
    if (ridge_json_is_absent(base)) {
        *out = own;
        return RIDGE_OK;
    }
    if (depth == BASE_DEPTH_MAX)
        return ridge_json_fail(cx, base, "more than %d bases deep", BASE_DEPTH_MAX);
    const ridge__entry *below;
    RIDGE_TRY(find_base(cx, library, base, &below));
    ridge_node under = {0};
    RIDGE_TRY(entry_config(cx, library, below, depth + 1, &under));
    return merge_configs(cx, &under, &own, entry->name, out);
}

ridge_status ridge__entry_model(ridge_ctx *cx, const ridge_library *library,
                                const ridge__entry *entry, const ridge_model **out)
{
    ridge_node root = {0}, config = {0};
    RIDGE_TRY(ridge__entry_parse(cx, entry, &root));
    RIDGE_TRY(entry_config(cx, library, entry, 0, &config));
    const ridge_model *read;
    RIDGE_TRY(ridge_model_from_config(cx, config, entry->name, &read));
    ridge_model *model = ridge_new(ridge_ctx_arena(cx), ridge_model, 1);
    if (model == NULL)
        return ridge_fail_nomem(cx);
    *model = *read;
    const ridge_node published = ridge_json_get(&root, "published_params");
    if (!ridge_json_is_absent(published)) {
        RIDGE_TRY(
            ridge_json_want_i64(cx, published, 0, INT64_MAX, &model->published_params));
    }
    const ridge_node note = ridge_json_get(&root, "published_params_note");
    if (!ridge_json_is_absent(note))
        RIDGE_TRY(ridge_json_want_text(cx, note, &model->published_note));
    const ridge_node source = ridge_json_get(&root, "source");
    if (!ridge_json_is_absent(source))
        RIDGE_TRY(ridge_json_want_text(cx, source, &model->source));
    *out = model;
    return RIDGE_OK;
}
