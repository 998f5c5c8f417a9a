/*
 * One file of data/failures into a ridge_failure_record.
 *
 * Members: name; full_name; aliases (optional array); chips (names of the chips that
 * the record is of); source, date, note (optional); causes (optional array of {cause,
 * count}). The rate is told in one of two ways, each number a fact:
 *
 *     interruptions, counted_chips, days      a job or a cluster that was watched
 *     failures_per_node_day, chips_per_node   a rate as published
 */
#include "failure_read.h"

#include "fact_read.h"

static const char *const members[] = {
    "name",          "full_name",     "aliases", "chips",
    "source",        "date",          "note",    "causes",
    "interruptions", "counted_chips", "days",    "failures_per_node_day",
    "chips_per_node"};
static const char *const cause_members[] = {"cause", "count"};

enum { FACT_MOST = 5, CAUSE_MOST = 64 };

static const double HOURS_PER_DAY = 24;

static ridge_status read_fact(ridge_ctx *cx, const ridge_node *root,
                              const fact_spec *spec, fact_list *facts, double *out)
{
    const ridge_node node = ridge_json_get(root, spec->key);
    if (ridge_json_is_absent(node))
        return ridge_json_fail(cx, *root, "no \"%s\"", spec->key);
    return ridge__fact_read(cx, node, spec, facts, out);
}

static ridge_status read_rate(ridge_ctx *cx, const ridge_node *root, fact_list *facts,
                              ridge_failure_record *r)
{
    static const fact_spec specs[] = {{"interruptions", 1, 1e9},
                                      {"counted_chips", 1, 1e8},
                                      {"days", 1e-3, 1e5},
                                      {"failures_per_node_day", 1e-9, 1e3},
                                      {"chips_per_node", 1, 4096}};
    double v[RIDGE_COUNT_OF(specs)];
    const bool is_count = !ridge_json_is_absent(ridge_json_get(root, specs[0].key));
    if (is_count && !ridge_json_is_absent(ridge_json_get(root, specs[3].key))) {
        return ridge_json_fail(
            cx, *root,
            "both \"interruptions\" and \"failures_per_node_day\": tell one");
    }
    for (size_t i = is_count ? 0 : 3; i < (is_count ? 3 : RIDGE_COUNT_OF(specs)); i++)
        RIDGE_TRY(read_fact(cx, root, &specs[i], facts, &v[i]));
    r->failures_per_chip_hour =
        is_count ? v[0] / v[1] / (v[2] * HOURS_PER_DAY) : v[3] / v[4] / HOURS_PER_DAY;
    return RIDGE_OK;
}

static ridge_status read_causes(ridge_ctx *cx, ridge_node node, ridge_failure_record *r)
{
    if (ridge_json_is_absent(node))
        return RIDGE_OK;
    const size_t n = ridge_json_size(node);
    if (ridge_json_kind_of(node) != RIDGE_JSON_ARRAY || n > CAUSE_MOST)
        return ridge_json_fail(cx, node, "an array of at most %d causes is wanted",
                               CAUSE_MOST);
    ridge_failure_cause *causes =
        ridge_new(ridge_ctx_arena(cx), ridge_failure_cause, n + 1);
    if (causes == NULL)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < n; i++) {
        const ridge_node item = ridge_json_at(&node, i);
        RIDGE_TRY(
            ridge_json_only(cx, item, cause_members, RIDGE_COUNT_OF(cause_members)));
        RIDGE_TRY(
            ridge_json_want_text(cx, ridge_json_get(&item, "cause"), &causes[i].cause));
        RIDGE_TRY(ridge_json_want_i64(cx, ridge_json_get(&item, "count"), 1, 1000000000,
                                      &causes[i].count));
    }
    r->causes = causes;
    r->n_causes = n;
    return RIDGE_OK;
}

static ridge_status read_chips(ridge_ctx *cx, ridge_node node, const name_index *known,
                               ridge_failure_record *r)
{
    RIDGE_TRY(ridge__aliases_read(cx, node, &r->chips));
    if (r->chips[0] == NULL)
        return ridge_json_fail(cx, node, "no \"chips\": name those it was counted on");
    for (size_t i = 0; known != NULL && r->chips[i] != NULL; i++) {
        if (ridge__index_find(known, r->chips[i]) == NULL) {
            return ridge_json_fail(cx, node, "unknown chip '%.40s': %s", r->chips[i],
                                   ridge__index_suggest(cx, known, NULL, r->chips[i],
                                                        "no chip is called that"));
        }
    }
    return RIDGE_OK;
}

ridge_status ridge__failure_read(ridge_ctx *cx, ridge_node root,
                                 const name_index *chips, ridge_failure_record **out)
{
    if (ridge_json_kind_of(root) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, root, "a record of failures is an object");
    RIDGE_TRY(ridge_json_only(cx, root, members, RIDGE_COUNT_OF(members)));
    ridge_failure_record *r = ridge_new(ridge_ctx_arena(cx), ridge_failure_record, 1);
    if (r == NULL)
        return ridge_fail_nomem(cx);
    fact_list facts;
    RIDGE_TRY(ridge__facts_open(cx, NULL, 0, FACT_MOST, &facts));
    RIDGE_TRY(ridge__name_read(cx, ridge_json_get(&root, "name"), &r->name));
    RIDGE_TRY(ridge__text_read(cx, &root, "full_name", r->name, &r->full_name));
    RIDGE_TRY(ridge__aliases_read(cx, ridge_json_get(&root, "aliases"), &r->aliases));
    RIDGE_TRY(ridge__source_read(cx, &root, &r->source, &r->date));
    RIDGE_TRY(ridge__text_read(cx, &root, "note", "", &r->note));
    RIDGE_TRY(read_chips(cx, ridge_json_get(&root, "chips"), chips, r));
    RIDGE_TRY(read_rate(cx, &root, &facts, r));
    RIDGE_TRY(read_causes(cx, ridge_json_get(&root, "causes"), r));
    r->facts = facts.items;
    r->n_facts = facts.n;
    *out = r;
    return RIDGE_OK;
}
