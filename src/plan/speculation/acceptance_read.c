/*
 * Files of data/acceptance, built in: {"name", "full_name", "kind", "target", "draft",
 * "task", "temperature", "accept", "next", "tokens", "depth", "nodes", "is_default",
 * "source", "date", "note"}, as data/schema/acceptance.schema.json says. An unknown
 * member is an error. Without "accept" one acceptance is solved from a chain's tokens
 * and depth; a tree's is solved where it is entered, as tests hold it against its
 * tokens.
 */
#include "ridge/plan_speculation.h"

#include <string.h>

extern const ridge_embedded_set ridge_acceptance_data;

struct ridge_acceptance_set {
    size_t n;
    ridge_acceptance *all;
};

static const char *const members[] = {
    "name",        "full_name", "kind", "target", "draft", "task",
    "temperature", "accept",    "next", "tokens", "depth", "nodes",
    "is_default",  "source",    "date", "note"};

static ridge_status read_text(ridge_ctx *cx, const ridge_node *root, const char *key,
                              const char *otherwise, const char **out)
{
    const ridge_node node = ridge_json_get(root, key);
    *out = otherwise;
    if (ridge_json_is_absent(node) && otherwise != NULL)
        return RIDGE_OK;
    return ridge_json_want_text(cx, node, out);
}

static ridge_status read_kind(ridge_ctx *cx, const ridge_node *root,
                              ridge_draft_kind *out)
{
    const char *text;
    const ridge_node node = ridge_json_get(root, "kind");
    RIDGE_TRY(ridge_json_want_text(cx, node, &text));
    for (int i = RIDGE_DRAFT_MODEL; i <= RIDGE_DRAFT_NGRAM; i++) {
        if (strcmp(text, ridge_draft_kind_text((ridge_draft_kind)i)) == 0) {
            *out = (ridge_draft_kind)i;
            return RIDGE_OK;
        }
    }
    return ridge_json_fail(cx, node, "expected model, medusa, eagle, mtp or ngram");
}

static ridge_status read_number(ridge_ctx *cx, const ridge_node *root, const char *key,
                                double high, double *out)
{
    const ridge_node node = ridge_json_get(root, key);
    return ridge_json_is_absent(node) ? RIDGE_OK
                                      : ridge_json_want_double(cx, node, 0, high, out);
}

static ridge_status read_accept(ridge_ctx *cx, const ridge_node *root,
                                ridge_acceptance *a)
{
    const ridge_node list = ridge_json_get(root, "accept");
    const size_t n = ridge_json_size(list);
    if (ridge_json_is_absent(list)) {
        if (a->depth < 1 || !(a->tokens > 1))
            return ridge_json_fail(cx, *root, "neither accept nor tokens with depth");
        if (a->nodes > a->depth)
            return ridge_json_fail(cx, *root, "tokens of a tree, without accept");
        a->accept[0] = ridge_chain_acceptance(a->tokens, a->depth);
        a->n_accept = 1;
        a->is_solved = true;
        return RIDGE_OK;
    }
    if (n < 1 || n > RIDGE_DRAFT_DEPTH_MAX)
        return ridge_json_fail(cx, list, "expected 1 to %d chances",
                               RIDGE_DRAFT_DEPTH_MAX);
    for (size_t i = 0; i < n; i++)
        RIDGE_TRY(
            ridge_json_want_double(cx, ridge_json_at(&list, i), 0, 1, &a->accept[i]));
    a->n_accept = (int)n;
    return RIDGE_OK;
}

static ridge_status read_one(ridge_ctx *cx, const ridge_embedded *file,
                             ridge_acceptance *a)
{
    ridge_node root;
    double depth = 0;
    double nodes = 0;
    RIDGE_TRY(
        ridge_json_parse(cx, (ridge_str){file->text, file->bytes}, file->path, &root));
    RIDGE_TRY(ridge_json_only(cx, root, members, RIDGE_COUNT_OF(members)));
    RIDGE_TRY(read_text(cx, &root, "name", NULL, &a->name));
    RIDGE_TRY(read_text(cx, &root, "full_name", a->name, &a->full_name));
    RIDGE_TRY(read_kind(cx, &root, &a->kind));
    RIDGE_TRY(read_text(cx, &root, "target", NULL, &a->target));
    RIDGE_TRY(read_text(cx, &root, "draft", "", &a->draft));
    RIDGE_TRY(read_text(cx, &root, "task", "", &a->task));
    RIDGE_TRY(read_text(cx, &root, "source", NULL, &a->source));
    RIDGE_TRY(read_text(cx, &root, "date", NULL, &a->date));
    RIDGE_TRY(read_text(cx, &root, "note", "", &a->note));
    RIDGE_TRY(read_number(cx, &root, "temperature", 2, &a->temperature));
    RIDGE_TRY(read_number(cx, &root, "next", 0.999, &a->next));
    RIDGE_TRY(read_number(cx, &root, "tokens", RIDGE_DRAFT_DEPTH_MAX + 1, &a->tokens));
    RIDGE_TRY(read_number(cx, &root, "depth", RIDGE_DRAFT_DEPTH_MAX, &depth));
    RIDGE_TRY(read_number(cx, &root, "nodes", 4096, &nodes));
    ridge_json_bool(ridge_json_get(&root, "is_default"), &a->is_default);
    a->depth = (int64_t)depth;
    a->nodes = (int64_t)nodes;
    return read_accept(cx, &root, a);
}

ridge_status ridge_acceptance_set_open(ridge_ctx *cx, const ridge_acceptance_set **out)
{
    ridge_acceptance_set *set = ridge_new(ridge_ctx_arena(cx), ridge_acceptance_set, 1);
    if (set == NULL)
        return ridge_fail_nomem(cx);
    set->all =
        ridge_new(ridge_ctx_arena(cx), ridge_acceptance, ridge_acceptance_data.count);
    if (set->all == NULL)
        return ridge_fail_nomem(cx);
    for (; set->n < ridge_acceptance_data.count; set->n++)
        RIDGE_TRY(
            read_one(cx, &ridge_acceptance_data.files[set->n], &set->all[set->n]));
    *out = set;
    return RIDGE_OK;
}

size_t ridge_acceptance_count(const ridge_acceptance_set *set)
{
    return set->n;
}

const ridge_acceptance *ridge_acceptance_at(const ridge_acceptance_set *set, size_t i)
{
    return i < set->n ? &set->all[i] : NULL;
}

ridge_status ridge_acceptance_find(ridge_ctx *cx, const ridge_acceptance_set *set,
                                   const char *name, const ridge_acceptance **out)
{
    const char **names = ridge_new(ridge_ctx_scratch(cx), const char *, set->n + 1);
    if (names == NULL)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < set->n; i++) {
        names[i] = set->all[i].name;
        if (strcmp(names[i], name) == 0) {
            *out = &set->all[i];
            return RIDGE_OK;
        }
    }
    const char *hint = ridge_suggestion(ridge_ctx_scratch(cx), name, names, set->n);
    return ridge_fail(
        cx, RIDGE_E_NOTFOUND,
        "unknown acceptance '%.40s': %s%sgive a number, or a name such as "
        "%s",
        name, hint == NULL ? "" : hint, hint == NULL || hint[0] == '\0' ? "" : " ",
        names[0]);
}

const ridge_acceptance *ridge_acceptance_default(const ridge_acceptance_set *set,
                                                 ridge_draft_kind kind)
{
    for (size_t i = 0; i < set->n; i++) {
        if (set->all[i].kind == kind && set->all[i].is_default)
            return &set->all[i];
    }
    return NULL;
}
