/* Speculation as users write it: a kind, then KEY=VALUE between commas. */
#include "ridge/plan_speculation.h"

#include <string.h>

typedef struct speculation_reader {
    ridge_ctx *cx;
    const ridge_acceptance_set *set;
    const ridge_library *library;
    ridge_speculation *out;
    bool has_accept;
} speculation_reader;

static ridge_status parse_kind(speculation_reader *r, const char *word)
{
    const char *names[RIDGE_DRAFT_NGRAM + 1];
    ridge_draft *d = &r->out->draft;
    for (int i = 0; i <= RIDGE_DRAFT_NGRAM; i++) {
        names[i] = ridge_draft_kind_text((ridge_draft_kind)i);
        if (strcmp(word, names[i]) == 0) {
            d->kind = (ridge_draft_kind)i;
            return RIDGE_OK;
        }
    }
    const char *hint =
        ridge_suggestion(ridge_ctx_scratch(r->cx), word, names, RIDGE_COUNT_OF(names));
    return ridge_fail(
        r->cx, RIDGE_E_ARG,
        "'%.40s' drafts nothing: use none, model=NAME, medusa, eagle, mtp "
        "or ngram%s%s",
        word, hint[0] == '\0' ? "" : "; ", hint);
}

static ridge_status parse_count(speculation_reader *r, const char *key,
                                const char *value, int64_t most, int64_t *out)
{
    if (ridge_parse_i64(ridge_str_of(value), out) && *out >= 1 && *out <= most)
        return RIDGE_OK;
    return ridge_fail(r->cx, RIDGE_E_ARG,
                      "%s=%.40s: expected a whole number from 1 to "
                      "%lld",
                      key, value, (long long)most);
}

/* Chances between '/', or a name of the data. */
static ridge_status parse_accept(speculation_reader *r, const char *value)
{
    double known[RIDGE_DRAFT_DEPTH_MAX];
    int n = 0;
    ridge_str rest = ridge_str_of(value);
    const ridge_acceptance *found;
    r->has_accept = true;
    bool is_list = true;
    while (rest.p != NULL && is_list) {
        const ridge_str one = ridge_str_cut(&rest, '/');
        is_list = n < RIDGE_DRAFT_DEPTH_MAX && ridge_parse_fraction(one, &known[n]) &&
                  known[n] <= 1;
        n += is_list ? 1 : 0;
    }
    if (is_list) {
        ridge_acceptance_extend(known, n, r->out->draft.accept);
        r->out->source = "stated";
        return RIDGE_OK;
    }
    if (n > 0 || (value[0] >= '0' && value[0] <= '9') || value[0] == '-') {
        return ridge_fail(r->cx, RIDGE_E_ARG,
                          "accept=%.40s: expected chances from 0 to 1, as in 0.8 or "
                          "0.8/0.7/0.6",
                          value);
    }
    RIDGE_TRY(ridge_acceptance_find(r->cx, r->set, value, &found));
    ridge_acceptance_extend(found->accept, found->n_accept, r->out->draft.accept);
    r->out->source = found->name;
    if (r->out->next <= 0)
        r->out->next = found->next;
    return RIDGE_OK;
}

static ridge_status parse_setting(speculation_reader *r, const char *key,
                                  const char *value)
{
    static const char *const keys[] = {"model", "depth", "nodes", "accept", "next"};
    ridge_draft *d = &r->out->draft;
    if (strcmp(key, "model") == 0) {
        d->kind = RIDGE_DRAFT_MODEL;
        r->out->model_name = value;
        return ridge_model_load(r->cx, r->library, value, &d->model);
    }
    if (strcmp(key, "depth") == 0)
        return parse_count(r, key, value, RIDGE_DRAFT_DEPTH_MAX, &d->depth);
    if (strcmp(key, "nodes") == 0)
        return parse_count(r, key, value, RIDGE_TREE_NODES_MAX, &d->nodes);
    if (strcmp(key, "accept") == 0)
        return parse_accept(r, value);
    if (strcmp(key, "next") == 0) {
        if (ridge_parse_fraction(ridge_str_of(value), &r->out->next) &&
            r->out->next < 1)
            return RIDGE_OK;
        return ridge_fail(r->cx, RIDGE_E_ARG, "next=%.40s: expected a chance below 1",
                          value);
    }
    return ridge_fail_name(r->cx, RIDGE_E_ARG, "setting of speculation", key, keys,
                           RIDGE_COUNT_OF(keys));
}

static ridge_status parse_item(speculation_reader *r, ridge_str item)
{
    ridge_arena *arena = ridge_ctx_arena(r->cx);
    ridge_str rest = item;
    const char *key = ridge_str_dup(arena, ridge_str_trim(ridge_str_cut(&rest, '=')));
    const char *value =
        rest.p == NULL ? "" : ridge_str_dup(arena, ridge_str_trim(rest));
    if (key == NULL || value == NULL)
        return ridge_fail_nomem(r->cx);
    return rest.p == NULL ? parse_kind(r, key) : parse_setting(r, key, value);
}

/* What is not told: the kind's default. */
static ridge_status close(speculation_reader *r)
{
    ridge_speculation *s = r->out;
    const ridge_acceptance *usual = ridge_acceptance_default(r->set, s->draft.kind);
    if (s->draft.kind == RIDGE_DRAFT_MODEL && s->draft.model == NULL) {
        return ridge_fail(r->cx, RIDGE_E_ARG,
                          "a model drafts, and which is not told: model=NAME");
    }
    if (s->draft.depth > 0 && s->draft.nodes > 0 && s->draft.nodes < s->draft.depth) {
        return ridge_fail(r->cx, RIDGE_E_ARG,
                          "nodes=%lld are fewer than depth=%lld: a chain has as many",
                          (long long)s->draft.nodes, (long long)s->draft.depth);
    }
    if (usual == NULL)
        return RIDGE_OK;
    if (s->next <= 0)
        s->next = usual->next;
    if (r->has_accept)
        return RIDGE_OK;
    ridge_acceptance_extend(usual->accept, usual->n_accept, s->draft.accept);
    s->source = usual->name;
    return RIDGE_OK;
}

ridge_status ridge_speculation_parse(ridge_ctx *cx, const char *text,
                                     const ridge_library *library,
                                     ridge_speculation *out)
{
    ridge_speculation s = {.source = ""};
    speculation_reader r = {.cx = cx, .library = library, .out = &s};
    ridge_str rest = ridge_str_of(text);
    RIDGE_TRY(ridge_acceptance_set_open(cx, &r.set));
    while (rest.p != NULL) {
        const ridge_str item = ridge_str_trim(ridge_str_cut(&rest, ','));
        if (item.n == 0)
            return ridge_fail(cx, RIDGE_E_ARG,
                              "'%.60s': expected a kind, then KEY=VALUE between commas",
                              text);
        RIDGE_TRY(parse_item(&r, item));
    }
    RIDGE_TRY(close(&r));
    *out = s;
    return RIDGE_OK;
}
