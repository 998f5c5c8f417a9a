/* The tokens of a tokenizer.json: its vocabulary, what is added to it, its merges. */
#include "tokenizer_json.h"

#include <stdio.h>
#include <string.h>

/* ---- vocabulary ------------------------------------------------------------------ */

static ridge_status want_id(const ridge__tokenizer_file *f, ridge_node n, int64_t *out)
{
    return ridge_json_want_i64(f->cx, n, 0, RIDGE__TOKEN_MAX - 1, out);
}

/* One more than the highest id. */
static ridge_status count_ids(const ridge__tokenizer_file *f, const ridge_node *vocab,
                              const ridge_node *added, int64_t *out)
{
    int64_t id, n = 0;
    for (ridge_node m = ridge_json_member(vocab, 0); m.key != NULL;
         m = ridge_json_member_after(vocab, m)) {
        RIDGE_TRY(want_id(f, m, &id));
        n = id >= n ? id + 1 : n;
    }
    for (size_t i = 0; i < ridge_json_size(*added); i++) {
        const ridge_node item = ridge_json_at(added, i);
        RIDGE_TRY(want_id(f, ridge_json_get(&item, "id"), &id));
        n = id >= n ? id + 1 : n;
    }
    *out = n;
    return RIDGE_OK;
}

static ridge_status put_name(ridge__tokenizer_file *f, ridge_node place, int64_t id,
                             ridge_str name)
{
    if (name.p == NULL)
        return ridge_fail_nomem(f->cx);
    const ridge_str have = f->names[id];
    if (have.p != NULL && !ridge_str_equal(have, name)) {
        return ridge_json_fail(f->cx, place, "id %lld is that of \"%.*s\" too",
                               (long long)id, (int)have.n, have.p);
    }
    f->names[id] = name;
    const int32_t first = ridge__token_table_add(&f->ids, name, (int32_t)id);
    if (first != (int32_t)id) {
        return ridge_json_fail(f->cx, place, "\"%.*s\" has two ids, %d and %lld",
                               (int)name.n, name.p, (int)first, (long long)id);
    }
    return RIDGE_OK;
}

static ridge_status read_vocab(ridge__tokenizer_file *f, const ridge_node *vocab)
{
    for (ridge_node m = ridge_json_member(vocab, 0); m.key != NULL;
         m = ridge_json_member_after(vocab, m)) {
        int64_t id;
        RIDGE_TRY(want_id(f, m, &id));
        RIDGE_TRY(put_name(f, m, id, ridge__tokenizer_string(f, m.key)));
    }
    return RIDGE_OK;
}

static ridge_status read_added(ridge__tokenizer_file *f, const ridge_node *list)
{
    ridge__added_tokens *added = &f->t->added;
    added->tokens =
        ridge_new(ridge_ctx_arena(f->cx), ridge__added_token, ridge_json_size(*list));
    if (added->tokens == NULL)
        return ridge_fail_nomem(f->cx);
    for (size_t i = 0; i < ridge_json_size(*list); i++) {
        const ridge_node item = ridge_json_at(list, i);
        const char *content;
        int64_t id;
        RIDGE_TRY(want_id(f, ridge_json_get(&item, "id"), &id));
        RIDGE_TRY(
            ridge_json_want_text(f->cx, ridge_json_get(&item, "content"), &content));
        ridge__added_token *a = &added->tokens[added->n++];
        *a = (ridge__added_token){.text = ridge__tokenizer_string(f, content),
                                  .id = (int32_t)id};
        ridge_json_bool(ridge_json_get(&item, "special"), &a->is_special);
        ridge_json_bool(ridge_json_get(&item, "single_word"), &a->is_single_word);
        ridge_json_bool(ridge_json_get(&item, "lstrip"), &a->strips_left);
        ridge_json_bool(ridge_json_get(&item, "rstrip"), &a->strips_right);
        RIDGE_TRY(put_name(f, item, id, a->text));
    }
    return ridge__added_tokens_index(f->cx, added);
}

static ridge_status check_holes(const ridge__tokenizer_file *f)
{
    int64_t holes = 0, first = -1;
    for (int64_t id = f->t->n - 1; id >= 0; id--) {
        if (f->names[id].p == NULL) {
            first = id;
            holes++;
        }
    }
    if (holes == 0)
        return RIDGE_OK;
    char others[64] = "";
    if (holes > 1)
        snprintf(others, sizeof others, ", nor %lld other%s below %lld",
                 (long long)holes - 1, holes == 2 ? "" : "s", (long long)f->t->n);
    return ridge_fail(f->cx, RIDGE_E_PARSE,
                      "%s: no token has id %lld%s: the vocabulary has holes",
                      f->t->file, (long long)first, others);
}

ridge_status ridge__tokenizer_read_tokens(ridge__tokenizer_file *f)
{
    const ridge_node model = ridge_json_get(&f->root, "model");
    const ridge_node vocab = ridge_json_get(&model, "vocab");
    const ridge_node added = ridge_json_get(&f->root, "added_tokens");
    const size_t most = ridge_json_size(vocab) + ridge_json_size(added);
    if (ridge_json_kind_of(vocab) != RIDGE_JSON_OBJECT || ridge_json_size(vocab) == 0)
        return ridge_json_fail(f->cx, vocab,
                               "\"vocab\" must be an object of token: id");
    RIDGE_TRY(count_ids(f, &vocab, &added, &f->t->n));
    f->names = ridge_new(ridge_ctx_arena(f->cx), ridge_str, (size_t)f->t->n);
    if (f->names == NULL)
        return ridge_fail_nomem(f->cx);
    RIDGE_TRY(ridge__token_table_open(f->cx, most, &f->ids));
    RIDGE_TRY(read_vocab(f, &vocab));
    RIDGE_TRY(read_added(f, &added));
    return check_holes(f);
}

/* ---- merges ---------------------------------------------------------------------- */

/* "a b", or ["a", "b"] where tokens may hold spaces. */
static ridge_status read_pair(const ridge__tokenizer_file *f, const ridge_node *item,
                              ridge_str *left, ridge_str *right)
{
    const char *text = NULL, *a = NULL, *b = NULL;
    if (ridge_json_text(*item, &text)) {
        ridge_str rest = ridge_str_of(text);
        const ridge_str head = ridge_str_cut(&rest, ' ');
        if (rest.p == NULL || head.n == 0 || rest.n == 0)
            return ridge_json_fail(f->cx, *item, "\"%s\" is not two tokens", text);
        const char *copy = ridge_str_dup(ridge_ctx_scratch(f->cx), head);
        if (copy == NULL)
            return ridge_fail_nomem(f->cx);
        *left = ridge__tokenizer_string(f, copy);
        *right = ridge__tokenizer_string(f, rest.p);
        return RIDGE_OK;
    }
    if (ridge_json_size(*item) != 2)
        return ridge_json_fail(f->cx, *item, "a merge is \"a b\" or [\"a\", \"b\"]");
    RIDGE_TRY(ridge_json_want_text(f->cx, ridge_json_at(item, 0), &a));
    RIDGE_TRY(ridge_json_want_text(f->cx, ridge_json_at(item, 1), &b));
    *left = ridge__tokenizer_string(f, a);
    *right = ridge__tokenizer_string(f, b);
    return RIDGE_OK;
}

static ridge_status id_of(const ridge__tokenizer_file *f, ridge_node item,
                          ridge_str name, int32_t *out)
{
    *out = ridge__token_table_find(&f->ids, name);
    if (*out >= 0)
        return RIDGE_OK;
    return ridge_json_fail(f->cx, item,
                           "the merge needs the token \"%.*s\", which the vocabulary "
                           "lacks",
                           (int)name.n, name.p == NULL ? "" : name.p);
}

static ridge_status read_merge(ridge__tokenizer_file *f, const ridge_node *item,
                               size_t rank)
{
    ridge_str left = {0}, right = {0};
    int32_t a = -1, b = -1, both = -1;
    RIDGE_TRY(read_pair(f, item, &left, &right));
    RIDGE_TRY(id_of(f, *item, left, &a));
    RIDGE_TRY(id_of(f, *item, right, &b));
    char *joined = ridge_new(ridge_ctx_scratch(f->cx), char, left.n + right.n + 1);
    if (joined == NULL)
        return ridge_fail_nomem(f->cx);
    memcpy(joined, left.p, left.n);
    memcpy(joined + left.n, right.p, right.n);
    RIDGE_TRY(id_of(f, *item, (ridge_str){joined, left.n + right.n}, &both));
    ridge__merge_table_add(&f->t->merges, a, b, (ridge__merge){(int32_t)rank, both});
    return RIDGE_OK;
}

ridge_status ridge__tokenizer_read_merges(ridge__tokenizer_file *f)
{
    const ridge_node model = ridge_json_get(&f->root, "model");
    const ridge_node merges = ridge_json_get(&model, "merges");
    ridge_arena *scratch = ridge_ctx_scratch(f->cx);
    if (!ridge_json_is_absent(merges) &&
        (ridge_json_kind_of(merges) != RIDGE_JSON_ARRAY ||
         ridge_json_size(merges) > INT32_MAX))
        return ridge_json_fail(f->cx, merges, "\"merges\" must be a list");
    RIDGE_TRY(ridge__merge_table_open(f->cx, ridge_json_size(merges), &f->t->merges));
    for (size_t i = 0; i < ridge_json_size(merges); i++) {
        const ridge_mark mark = ridge_arena_mark(scratch);
        const ridge_node item = ridge_json_at(&merges, i);
        const ridge_status st = read_merge(f, &item, i);
        ridge_arena_rewind(scratch, mark);
        RIDGE_TRY(st);
    }
    return RIDGE_OK;
}
