/* Where a value stands in a document's text: found only when there is a complaint. */
#include "json.h"

#include <string.h>

enum { DEPTH_MAX = 64 };

/* A position in text that a parser has accepted. */
typedef struct cursor {
    const char *p;
    const char *end;
} cursor;

static void skip_space(cursor *c)
{
    while (c->p < c->end && strchr(" \t\r\n", *c->p) != NULL)
        c->p++;
}

/* c->p stands on the opening quote. */
static void skip_string(cursor *c)
{
    for (c->p++; c->p < c->end && *c->p != '"'; c->p++) {
        if (*c->p == '\\')
            c->p++;
    }
    if (c->p < c->end)
        c->p++;
}

static void skip_value(cursor *c)
{
    int depth = 0;
    do {
        skip_space(c);
        if (c->p >= c->end)
            return;
        char ch = *c->p;
        if (ch == '"') {
            skip_string(c);
        } else if (ch == '{' || ch == '[') {
            depth++;
            c->p++;
        } else if (ch == '}' || ch == ']') {
            depth--;
            c->p++;
        } else if (ch == ',' || ch == ':') {
            c->p++;
        } else {
            while (c->p < c->end && strchr(",:]}[{\" \t\r\n", *c->p) == NULL)
                c->p++;
        }
    } while (depth > 0);
}

/* Keys are compared as written; one with escapes is not found, and the object's own
 * place is given. */
static bool key_is(const char *open_quote, const char *close, const char *key)
{
    size_t n = strlen(key);
    return (size_t)(close - open_quote) == n + 2 && memcmp(open_quote + 1, key, n) == 0;
}

/* Move to the member's key; the last one counts, as it does for the parser. */
static bool enter_member(cursor *c, const char *key)
{
    skip_space(c);
    if (c->p >= c->end || *c->p != '{')
        return false;
    cursor found = {NULL, c->end};
    for (c->p++;;) {
        skip_space(c);
        if (c->p >= c->end || *c->p != '"')
            break;
        const char *open_quote = c->p;
        skip_string(c);
        if (key_is(open_quote, c->p, key))
            found.p = open_quote;
        skip_space(c);
        if (c->p < c->end && *c->p == ':')
            c->p++;
        skip_value(c);
        skip_space(c);
        if (c->p >= c->end || *c->p != ',')
            break;
        c->p++;
    }
    if (found.p == NULL)
        return false;
    *c = found;
    return true;
}

static bool enter_item(cursor *c, size_t index)
{
    skip_space(c);
    if (c->p >= c->end || *c->p != '[')
        return false;
    c->p++;
    for (size_t i = 0; i < index; i++) {
        skip_value(c);
        skip_space(c);
        if (c->p >= c->end || *c->p != ',')
            return false;
        c->p++;
    }
    skip_space(c);
    return true;
}

/* Nodes from the root down to n, or to its ancestor at the greatest depth that is
 * told. @return how many */
static int chain_of(const ridge_node *n, const ridge_node **chain)
{
    int depth = 0;
    for (const ridge_node *at = n; at != NULL; at = at->parent)
        depth++;
    for (; depth > DEPTH_MAX; depth--)
        n = n->parent;
    for (int i = depth; i > 0; i--, n = n->parent)
        chain[i - 1] = n;
    return depth;
}

void ridge__json_place(ridge_node n, int *line, int *column)
{
    const ridge_node *chain[DEPTH_MAX];
    *line = 1;
    *column = 1;
    if (n.doc == NULL)
        return;
    int depth = chain_of(&n, chain);
    cursor c = {n.doc->text.p, n.doc->text.p + n.doc->text.n};
    const char *place = c.p;
    for (int i = 1; i < depth; i++) {
        bool is_found = chain[i]->key != NULL ? enter_member(&c, chain[i]->key)
                                              : enter_item(&c, chain[i]->index);
        if (!is_found)
            break;
        place = c.p;
        if (chain[i]->key != NULL) { /* from the key to the value behind it */
            skip_string(&c);
            skip_space(&c);
            if (c.p < c.end && *c.p == ':')
                c.p++;
        }
    }
    for (const char *p = n.doc->text.p; p < place; p++) {
        *column = *p == '\n' ? 1 : *column + 1;
        *line += *p == '\n' ? 1 : 0;
    }
}

void ridge__json_path(ridge_node n, char *out, size_t size)
{
    const ridge_node *chain[DEPTH_MAX];
    int depth = chain_of(&n, chain);
    size_t used = 0;
    out[0] = '\0';
    for (int i = 1; i < depth && used + 1 < size; i++) {
        int wrote;
        if (chain[i]->key != NULL) {
            wrote = snprintf(out + used, size - used, "%s%s", i > 1 ? "." : "",
                             chain[i]->key);
        } else {
            wrote = snprintf(out + used, size - used, "[%zu]", chain[i]->index);
        }
        used += wrote < 0 ? 0 : (size_t)wrote;
    }
}
