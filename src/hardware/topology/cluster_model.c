/*
 * A cluster model of topograph, YAML or JSON: {"switches": {name: {"switches": [names
 * below]}}, "blocks": [{"switch": leaf, "nodes": [node ranges], "annotations"}]}. A
 * range is "node[01-18,20]", a name alone is one node. Annotations whose names end in
 * "domain" and "sub-domain" are NVLink domains and their parts; other members are
 * labels.
 * @source topograph-2025
 */
#include "topology_read.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES_MOST = 4096, RANGE_MOST = 1000000 };

/** A switch, or an NVLink domain. */
typedef struct cluster_part {
    const char *name;
    int parent; /* of a switch; -1: none */
    int64_t nodes;
    int level; /* of a switch; -1: none yet */
} cluster_part;

typedef struct part_list {
    cluster_part *items;
    int n;
} part_list;

typedef struct cluster_reader {
    ridge_ctx *cx;
    ridge_topology *out;
    part_list switches, domains;
} cluster_reader;

/* The part of that name, new when there was none; -1: there is no room. */
static int part_of(part_list *list, const char *name)
{
    for (int i = 0; i < list->n; i++) {
        if (strcmp(list->items[i].name, name) == 0)
            return i;
    }
    if (list->n == NAMES_MOST)
        return -1;
    list->items[list->n] = (cluster_part){.name = name, .parent = -1, .level = -1};
    return list->n++;
}

static ridge_status want_part(cluster_reader *r, part_list *list, ridge_node node,
                              int *out)
{
    const char *name;
    RIDGE_TRY(ridge_json_want_text(r->cx, node, &name));
    *out = part_of(list, name);
    return *out >= 0 ? RIDGE_OK
                     : ridge_json_fail(r->cx, node, "more than %d names", NAMES_MOST);
}

static ridge_status read_switches(cluster_reader *r, ridge_node switches)
{
    for (ridge_node one = ridge_json_member(&switches, 0); one.key != NULL;
         one = ridge_json_member_after(&switches, one)) {
        const ridge_node below = ridge_json_get(&one, "switches");
        const int parent = one.key == NULL ? -1 : part_of(&r->switches, one.key);
        if (parent < 0)
            return ridge_json_fail(r->cx, one, "more than %d switches", NAMES_MOST);
        for (size_t i = 0; i < ridge_json_size(below); i++) {
            int child;
            RIDGE_TRY(want_part(r, &r->switches, ridge_json_at(&below, i), &child));
            r->switches.items[child].parent = parent;
        }
    }
    return RIDGE_OK;
}

/* "0001-0009" or "7". @return nodes, or -1 */
static int64_t span_count(ridge_str span)
{
    int64_t first, last;
    const ridge_str low = ridge_str_cut(&span, '-');
    if (!ridge_parse_i64(low, &first))
        return -1;
    if (span.p == NULL)
        return 1;
    if (!ridge_parse_i64(span, &last) || last < first || last - first >= RANGE_MOST)
        return -1;
    return last - first + 1;
}

/* "node[0001-0009,0012]" or "node0032". @return nodes, or -1 */
static int64_t range_count(const char *text)
{
    const char *open = strchr(text, '[');
    const char *close = open == NULL ? NULL : strchr(open, ']');
    int64_t n = 0;
    if (open == NULL)
        return text[0] != '\0' ? 1 : -1;
    if (close == NULL)
        return -1;
    for (ridge_str rest = {open + 1, (size_t)(close - open - 1)}; rest.p != NULL;) {
        const int64_t span = span_count(ridge_str_cut(&rest, ','));
        if (span < 0)
            return -1;
        n += span;
    }
    return n <= RANGE_MOST ? n : -1;
}

static ridge_status count_nodes(cluster_reader *r, ridge_node nodes, int64_t *out)
{
    for (size_t i = 0; i < ridge_json_size(nodes); i++) {
        const ridge_node item = ridge_json_at(&nodes, i);
        const char *text = "1";
        int64_t number;
        if (!ridge_json_i64(item, &number)) /* a name that is a number alone */
            RIDGE_TRY(ridge_json_want_text(r->cx, item, &text));
        const int64_t n = range_count(text);
        if (n < 0 || *out > RANGE_MOST)
            return ridge_json_fail(r->cx, item,
                                   "no range of nodes, such as node[001-018]");
        *out += n;
    }
    return RIDGE_OK;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* The innermost domain that a block's annotations name; absent: none. */
static ridge_node domain_of(cluster_reader *r, const ridge_node *notes)
{
    ridge_node domain = {.value = NULL}, part = {.value = NULL};
    for (ridge_node one = ridge_json_member(notes, 0); one.key != NULL;
         one = ridge_json_member_after(notes, one)) {
        if (one.key != NULL && ends_with(one.key, "/sub-domain"))
            part = one;
        else if (one.key != NULL && ends_with(one.key, "/domain"))
            domain = one;
    }
    if (part.value != NULL && domain.value != NULL)
        r->out->fabric.has_outer_domain = true;
    return part.value != NULL ? part : domain;
}

static ridge_status read_block(cluster_reader *r, ridge_node block)
{
    int leaf, domain;
    int64_t nodes = 0;
    const ridge_node notes = ridge_json_get(&block, "annotations");
    RIDGE_TRY(want_part(r, &r->switches, ridge_json_get(&block, "switch"), &leaf));
    RIDGE_TRY(count_nodes(r, ridge_json_get(&block, "nodes"), &nodes));
    r->switches.items[leaf].nodes += nodes;
    r->out->fabric.nodes += nodes;
    const ridge_node name = domain_of(r, &notes);
    if (name.value == NULL)
        return RIDGE_OK;
    RIDGE_TRY(want_part(r, &r->domains, name, &domain));
    r->domains.items[domain].nodes += nodes;
    return RIDGE_OK;
}

/* Members of each switch of a level: nodes of a leaf, else switches of the level below
 * that have any themselves. @return how many switches there are */
static size_t count_level(cluster_reader *r, int level, int64_t *counts)
{
    cluster_part *s = r->switches.items;
    size_t n = 0;
    for (int i = 0; i < r->switches.n; i++) {
        int64_t members = level == 0 ? s[i].nodes : 0;
        for (int k = 0; level > 0 && k < r->switches.n; k++)
            members += s[k].parent == i && s[k].level == level - 1;
        if (members == 0 || s[i].level >= 0)
            continue;
        counts[n++] = members;
    }
    for (int i = 0; i < r->switches.n; i++) {
        bool is_of_level = level == 0 && s[i].nodes > 0;
        for (int k = 0; level > 0 && k < r->switches.n; k++)
            is_of_level = is_of_level || (s[k].parent == i && s[k].level == level - 1);
        if (is_of_level && s[i].level < 0)
            s[i].level = level;
    }
    return n;
}

static ridge_status sum_levels(cluster_reader *r)
{
    static const char *const names[RIDGE_FABRIC_LEVEL_MAX] = {"leaf", "spine", "core"};
    ridge_fabric *f = &r->out->fabric;
    int64_t *counts = ridge_new(ridge_ctx_scratch(r->cx), int64_t, NAMES_MOST);
    if (counts == NULL)
        return ridge_fail_nomem(r->cx);
    for (int i = 0; i < RIDGE_FABRIC_LEVEL_MAX; i++) {
        const size_t n = count_level(r, i, counts);
        if (n == 0)
            break;
        const int64_t usual = ridge__usual_count(counts, n);
        f->levels[f->n_levels++] = (ridge_fabric_level){.name = names[i],
                                                        .switches = (int64_t)n,
                                                        .members = usual,
                                                        .members_least = counts[0],
                                                        .members_most = counts[n - 1]};
    }
    for (int i = 0; i < r->domains.n; i++)
        counts[i] = r->domains.items[i].nodes;
    f->domain_nodes = ridge__usual_count(counts, (size_t)r->domains.n);
    f->domain_nodes_least = r->domains.n > 0 ? counts[0] : 0;
    f->domain_nodes_most = r->domains.n > 0 ? counts[r->domains.n - 1] : 0;
    return RIDGE_OK;
}

ridge_status ridge__cluster_model_read(ridge_ctx *cx, ridge_node root,
                                       ridge_topology *out)
{
    cluster_reader r = {.cx = cx, .out = out};
    const ridge_node blocks = ridge_json_get(&root, "blocks");
    r.switches.items = ridge_new(ridge_ctx_arena(cx), cluster_part, NAMES_MOST);
    r.domains.items = ridge_new(ridge_ctx_arena(cx), cluster_part, NAMES_MOST);
    if (r.switches.items == NULL || r.domains.items == NULL)
        return ridge_fail_nomem(cx);
    out->format = "cluster model of topograph";
    RIDGE_TRY(read_switches(&r, ridge_json_get(&root, "switches")));
    for (size_t i = 0; i < ridge_json_size(blocks); i++)
        RIDGE_TRY(read_block(&r, ridge_json_at(&blocks, i)));
    RIDGE_TRY(sum_levels(&r));
    if (out->fabric.n_levels > 0)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_PARSE,
                      "%s: no nodes in its \"blocks\": each needs \"switch\" and "
                      "\"nodes\"",
                      out->file);
}
