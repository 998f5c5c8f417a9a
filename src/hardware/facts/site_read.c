/*
 * One file of data/sites into a ridge_site.
 *
 * Members: name; full_name; aliases (optional array, not inherited); base (optional:
 * another site, whose members hold unless given again); the numbers of RIDGE_SITE_LIST,
 * each a fact and optional.
 */
#include "site_read.h"

#include <string.h>

#include "fact_read.h"

typedef struct site_row {
    fact_spec spec;
    size_t offset; /* in ridge_site */
} site_row;

static const site_row rows[] = {
#define SITE_ROW(name, low, high, what)                                                \
    {{#name, low, high}, offsetof(ridge_site, name)},
    RIDGE_SITE_LIST(SITE_ROW)
#undef SITE_ROW
};

static const char *const members[] = {"name", "full_name", "aliases", "base",
#define SITE_KEY(name, low, high, what) #name,
                                      RIDGE_SITE_LIST(SITE_KEY)
#undef SITE_KEY
};

static ridge_status read_numbers(ridge_ctx *cx, const ridge_node *root,
                                 fact_list *facts, ridge_site *site)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        const ridge_node node = ridge_json_get(root, rows[i].spec.key);
        double v = 0;
        if (ridge_json_is_absent(node))
            continue;
        RIDGE_TRY(ridge__fact_read(cx, node, &rows[i].spec, facts, &v));
        memcpy((char *)site + rows[i].offset, &v, sizeof v);
    }
    return RIDGE_OK;
}

ridge_status ridge__site_read(ridge_ctx *cx, ridge_node root, const ridge_site *base,
                              ridge_site **out)
{
    if (ridge_json_kind_of(root) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, root, "a site is an object");
    RIDGE_TRY(ridge_json_only(cx, root, members, RIDGE_COUNT_OF(members)));
    ridge_site *site = ridge_new(ridge_ctx_arena(cx), ridge_site, 1);
    if (site == NULL)
        return ridge_fail_nomem(cx);
    if (base != NULL)
        *site = *base;
    fact_list facts;
    RIDGE_TRY(ridge__facts_open(cx, base ? base->facts : NULL, base ? base->n_facts : 0,
                                RIDGE_COUNT_OF(rows), &facts));
    RIDGE_TRY(ridge__name_read(cx, ridge_json_get(&root, "name"), &site->name));
    RIDGE_TRY(ridge__text_read(cx, &root, "full_name",
                               base != NULL ? base->full_name : site->name,
                               &site->full_name));
    RIDGE_TRY(
        ridge__aliases_read(cx, ridge_json_get(&root, "aliases"), &site->aliases));
    RIDGE_TRY(read_numbers(cx, &root, &facts, site));
    site->facts = facts.items;
    site->n_facts = facts.n;
    *out = site;
    return RIDGE_OK;
}

/* The share of each node, cut at what the whole can do; 0 where neither is known. */
static double rate_of(double whole, double per_node, double nodes)
{
    const double shares = per_node * nodes;
    if (per_node <= 0)
        return whole;
    return whole > 0 && whole < shares ? whole : shares;
}

double ridge_site_write_bytes_per_s(const ridge_site *site, double nodes)
{
    return rate_of(site->write_bytes_per_s, site->write_bytes_per_s_per_node, nodes);
}

double ridge_site_read_bytes_per_s(const ridge_site *site, double nodes)
{
    return rate_of(site->read_bytes_per_s, site->read_bytes_per_s_per_node, nodes);
}

const ridge_fact *ridge_site_fact(const ridge_site *site, const char *key)
{
    for (size_t i = 0; i < site->n_facts; i++) {
        if (strcmp(site->facts[i].key, key) == 0)
            return &site->facts[i];
    }
    return NULL;
}
