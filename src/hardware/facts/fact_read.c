/*
 * Reading of sourced numbers and of the names that data files share.
 *
 * A fact is {"value": number, "source": "key of docs/sources.md", "date": "YYYY" or
 * "YYYY-MM", "note": optional text}. Anything else in it is an error.
 */
#include "fact_read.h"

#include <string.h>

ridge_status ridge__facts_open(ridge_ctx *cx, const ridge_fact *inherited, size_t n,
                               size_t room, fact_list *out)
{
    ridge_fact *items = ridge_new(ridge_ctx_arena(cx), ridge_fact, n + room + 1);
    if (items == NULL)
        return ridge_fail_nomem(cx);
    if (n > 0)
        memcpy(items, inherited, n * sizeof *items);
    *out = (fact_list){.items = items, .n = n, .cap = n + room};
    return RIDGE_OK;
}

static ridge_fact *find_fact(const fact_list *facts, const char *key)
{
    for (size_t i = 0; i < facts->n; i++) {
        if (strcmp(facts->items[i].key, key) == 0)
            return &facts->items[i];
    }
    return NULL;
}

bool ridge__facts_has(const fact_list *facts, const char *key)
{
    return find_fact(facts, key) != NULL;
}

void ridge__facts_drop(fact_list *facts, const char *stem)
{
    const size_t length = strlen(stem);
    size_t kept = 0;
    for (size_t i = 0; i < facts->n; i++) {
        const char *key = facts->items[i].key;
        const bool is_under = strncmp(key, stem, length) == 0 &&
                              (key[length] == '\0' || key[length] == '.');
        if (!is_under)
            facts->items[kept++] = facts->items[i];
    }
    facts->n = kept;
}

static ridge_status put_fact(ridge_ctx *cx, fact_list *facts, const ridge_fact *fact)
{
    ridge_fact *old = find_fact(facts, fact->key);
    if (old != NULL) {
        *old = *fact;
        return RIDGE_OK;
    }
    if (facts->n == facts->cap)
        return ridge_fail(cx, RIDGE_E_INTERNAL, "more facts than keys of a data file");
    facts->items[facts->n++] = *fact;
    return RIDGE_OK;
}

static bool is_digits(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9')
            return false;
    }
    return true;
}

/* YYYY or YYYY-MM, from the age of computers. */
static bool is_date(const char *z)
{
    const size_t n = strlen(z);
    if ((n != 4 && n != 7) || !is_digits(z, 4) || strncmp(z, "1940", 4) < 0)
        return false;
    if (n == 4)
        return true;
    const int month =
        z[4] == '-' && is_digits(z + 5, 2) ? (z[5] - '0') * 10 + (z[6] - '0') : 0;
    return month >= 1 && month <= 12;
}

ridge_status ridge__source_read(ridge_ctx *cx, const ridge_node *parent,
                                const char **source, const char **date)
{
    const ridge_node from = ridge_json_get(parent, "source");
    const ridge_node when = ridge_json_get(parent, "date");
    if (ridge_json_is_absent(from)) {
        return ridge_json_fail(cx, *parent,
                               "no \"source\": every number says where it "
                               "comes from");
    }
    if (ridge_json_is_absent(when)) {
        return ridge_json_fail(cx, *parent,
                               "no \"date\": give that of the source, YYYY or YYYY-MM");
    }
    RIDGE_TRY(ridge_json_want_text(cx, from, source));
    RIDGE_TRY(ridge_json_want_text(cx, when, date));
    if ((*source)[0] == '\0')
        return ridge_json_fail(cx, from, "an empty source: name a key of the sources");
    if (!is_date(*date)) {
        return ridge_json_fail(cx, when, "'%.20s' is not a date: write YYYY or YYYY-MM",
                               *date);
    }
    return RIDGE_OK;
}

ridge_status ridge__fact_read(ridge_ctx *cx, ridge_node node, const fact_spec *spec,
                              fact_list *facts, double *out)
{
    static const char *const known[] = {"value", "source", "date", "note"};
    if (ridge_json_kind_of(node) != RIDGE_JSON_OBJECT) {
        return ridge_json_fail(cx, node,
                               "a sourced number is wanted: "
                               "{\"value\", \"source\", \"date\"}");
    }
    RIDGE_TRY(ridge_json_only(cx, node, known, RIDGE_COUNT_OF(known)));
    const ridge_node value = ridge_json_get(&node, "value");
    if (ridge_json_is_absent(value))
        return ridge_json_fail(cx, node, "no \"value\"");
    ridge_fact fact = {.key = spec->key};
    RIDGE_TRY(ridge_json_want_double(cx, value, spec->low, spec->high, &fact.value));
    RIDGE_TRY(ridge__source_read(cx, &node, &fact.source, &fact.date));
    const ridge_node note = ridge_json_get(&node, "note");
    if (!ridge_json_is_absent(note))
        RIDGE_TRY(ridge_json_want_text(cx, note, &fact.note));
    RIDGE_TRY(put_fact(cx, facts, &fact));
    *out = fact.value;
    return RIDGE_OK;
}

ridge_status ridge__count_read(ridge_ctx *cx, ridge_node node, const fact_spec *spec,
                               fact_list *facts, int64_t *out)
{
    if (ridge_json_kind_of(node) != RIDGE_JSON_OBJECT) {
        return ridge_json_want_i64(cx, node, (int64_t)spec->low, (int64_t)spec->high,
                                   out);
    }
    double v = 0.0;
    RIDGE_TRY(ridge__fact_read(cx, node, spec, facts, &v));
    if (v != (double)(int64_t)v)
        return ridge_json_fail(cx, node, "a whole number is wanted");
    *out = (int64_t)v;
    return RIDGE_OK;
}

enum { NAME_LENGTH_MAX = 64 };

ridge_status ridge__name_read(ridge_ctx *cx, ridge_node node, const char **out)
{
    const char *name = NULL;
    RIDGE_TRY(ridge_json_want_text(cx, node, &name));
    const size_t n = strlen(name);
    bool is_plain = n > 0 && n <= NAME_LENGTH_MAX && name[0] != ' ';
    for (size_t i = 0; i < n; i++)
        is_plain = is_plain && name[i] >= ' ' && name[i] < 127;
    if (!is_plain || strpbrk(name, ":*+,/\\\"") != NULL) {
        return ridge_json_fail(cx, node,
                               "'%.40s' cannot be a name: use 1 to %d plain characters "
                               "without : * + , / \\ and quotes",
                               name, NAME_LENGTH_MAX);
    }
    *out = name;
    return RIDGE_OK;
}

ridge_status ridge__text_read(ridge_ctx *cx, const ridge_node *parent, const char *key,
                              const char *fallback, const char **out)
{
    const ridge_node node = ridge_json_get(parent, key);
    if (!ridge_json_is_absent(node))
        return ridge_json_want_text(cx, node, out);
    if (fallback == NULL)
        return ridge_json_fail(cx, *parent, "no \"%s\"", key);
    *out = fallback;
    return RIDGE_OK;
}

enum { ALIAS_MAX = 32 };

ridge_status ridge__aliases_read(ridge_ctx *cx, ridge_node node,
                                 const char *const **out)
{
    const size_t n = ridge_json_size(node);
    if (!ridge_json_is_absent(node) && ridge_json_kind_of(node) != RIDGE_JSON_ARRAY)
        return ridge_json_fail(cx, node, "an array of names is wanted");
    if (n > ALIAS_MAX)
        return ridge_json_fail(cx, node, "at most %d aliases are taken", ALIAS_MAX);
    const char **names = ridge_new(ridge_ctx_arena(cx), const char *, n + 1);
    if (names == NULL)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < n; i++)
        RIDGE_TRY(ridge__name_read(cx, ridge_json_at(&node, i), &names[i]));
    *out = names;
    return RIDGE_OK;
}

ridge_status ridge__choice_read(ridge_ctx *cx, ridge_node node,
                                const char *const *choices, size_t n, size_t *out)
{
    const char *text = NULL;
    RIDGE_TRY(ridge_json_want_text(cx, node, &text));
    for (size_t i = 0; i < n; i++) {
        if (strcmp(text, choices[i]) == 0) {
            *out = i;
            return RIDGE_OK;
        }
    }
    ridge_buf all;
    ridge_buf_init(&all, ridge_ctx_arena(cx));
    for (size_t i = 0; i < n; i++)
        ridge_buf_printf(&all, "%s%s", i == 0 ? "" : ", ", choices[i]);
    return ridge_json_fail(cx, node, "'%.40s' is none of %s", text,
                           ridge_buf_text(&all));
}
