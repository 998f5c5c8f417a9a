/* Names of added tokens in text: a trie tried where a first byte fits. */
#include "added_tokens.h"

#include "utf8.h"

#include <utf8proc.h>

/* ---- the trie -------------------------------------------------------------------- */

static int32_t child_of(const ridge__added_tokens *added, int32_t node,
                        unsigned char byte)
{
    int32_t child = added->nodes[node].child;
    while (child >= 0 && added->nodes[child].byte != byte)
        child = added->nodes[child].sibling;
    return child;
}

static void put_in(ridge__added_tokens *added, int32_t token)
{
    const ridge_str text = added->tokens[token].text;
    int32_t node = 0;
    for (size_t i = 0; i < text.n; i++) {
        const unsigned char byte = (unsigned char)text.p[i];
        int32_t child = child_of(added, node, byte);
        if (child < 0) {
            child = (int32_t)added->n_nodes++;
            added->nodes[child] =
                (ridge__added_node){byte, -1, added->nodes[node].child, -1};
            added->nodes[node].child = child;
        }
        node = child;
    }
    if (node != 0 && added->nodes[node].token < 0)
        added->nodes[node].token = token;
}

ridge_status ridge__added_tokens_index(ridge_ctx *cx, ridge__added_tokens *added)
{
    size_t bytes = 1;
    for (size_t i = 0; i < added->n; i++)
        bytes += added->tokens[i].text.n;
    added->nodes = ridge_new(ridge_ctx_arena(cx), ridge__added_node, bytes);
    if (added->nodes == NULL)
        return ridge_fail_nomem(cx);
    added->nodes[0] = (ridge__added_node){0, -1, -1, -1};
    added->n_nodes = 1;
    for (size_t i = 0; i < added->n; i++) {
        put_in(added, (int32_t)i);
        if (added->tokens[i].text.n > 0)
            added->is_first[(unsigned char)added->tokens[i].text.p[0]] = true;
    }
    return RIDGE_OK;
}

/* ---- finding --------------------------------------------------------------------- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_word(ridge_str text, size_t at)
{
    const size_t n = ridge__utf8_length(text, at);
    if (n == 0)
        return false;
    const uint32_t c = ridge__utf8_value(text, at, n);
    const utf8proc_category_t kind = utf8proc_category((utf8proc_int32_t)c);
    return c == '_' || (kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_NO);
}

static bool is_word_before(ridge_str text, size_t at)
{
    size_t start = at;
    while (start > 0 && at - start < 4) {
        start--;
        if (start + ridge__utf8_length(text, start) == at)
            return is_word(text, start);
    }
    return false;
}

static bool stands_alone(ridge_str text, size_t start, size_t end)
{
    return !is_word_before(text, start) && !(end < text.n && is_word(text, end));
}

/* The longest name that begins here; NULL: none. */
static const ridge__added_token *token_at(const ridge__added_tokens *added,
                                          ridge_str text, size_t at)
{
    const ridge__added_token *found = NULL;
    int32_t node = 0;
    for (size_t i = at; i < text.n; i++) {
        node = child_of(added, node, (unsigned char)text.p[i]);
        if (node < 0)
            break;
        const int32_t token = added->nodes[node].token;
        if (token < 0)
            continue;
        const ridge__added_token *t = &added->tokens[token];
        if (!t->is_single_word || stands_alone(text, at, i + 1))
            found = t;
    }
    return found;
}

ridge__added_place ridge__added_tokens_find(const ridge__added_tokens *added,
                                            ridge_str text, size_t from)
{
    for (size_t at = from; added->n > 0 && at < text.n; at++) {
        if (!added->is_first[(unsigned char)text.p[at]])
            continue;
        const ridge__added_token *t = token_at(added, text, at);
        if (t == NULL)
            continue;
        ridge__added_place place = {at, at + t->text.n, t};
        while (t->strips_left && place.start > from &&
               is_space(text.p[place.start - 1]))
            place.start--;
        while (t->strips_right && place.end < text.n && is_space(text.p[place.end]))
            place.end++;
        return place;
    }
    return (ridge__added_place){text.n, text.n, NULL};
}
