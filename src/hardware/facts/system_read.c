/*
 * One file of data/systems into a ridge_system.
 *
 * Members: name; full_name; chip (a name, or an object as in chip_read.c); aliases
 * (optional array, not inherited); base (optional: another system, whose members hold
 * unless given again). Then either chips_per_node and levels (innermost first; a base's
 * list is replaced whole), or torus {dims (2 or 3), max_shape, host_shape, wrap_rule
 * (cubes-of-4, full-axis, never), link}, merged member by member with the base's;
 * dcn (optional, merged): the network between slices; and power (optional, merged)
 * {node_watts, training_watts_per_chip, network_watts_per_chip}, each a fact and
 * optional, not inherited by a system of another chip; host_bytes_per_chip (optional, a
 * fact): memory of the hosts, a chip's share. axis_read.c describes levels, link and
 * dcn.
 */
#include "system_read.h"

#include <string.h>

#include "axis_read.h"
#include "catalog.h"
#include "chip_read.h"

static const char *const members[] = {
    "name",           "full_name", "aliases", "base", "chip",  "chips_per_node",
    "chips_per_host", "levels",    "torus",   "dcn",  "power", "host_bytes_per_chip"};
static const char *const torus_members[] = {"dims", "max_shape", "host_shape",
                                            "wrap_rule", "link"};

static const char *const wrap_texts[] = {
    [RIDGE_WRAP_NEVER] = "never",
    [RIDGE_WRAP_CUBES_OF_4] = "cubes-of-4",
    [RIDGE_WRAP_FULL_AXIS] = "full-axis",
};

typedef struct power_row {
    fact_spec spec;
    const char *member;
    size_t offset; /* in ridge_system */
} power_row;

/* clang-format off */
static const power_row power_rows[] = {
    {{"power.node_watts", 1, 1e7}, "node_watts", offsetof(ridge_system, node_watts)},
    {{"power.training_watts_per_chip", 1, 1e6}, "training_watts_per_chip",
     offsetof(ridge_system, training_watts_per_chip)},
    {{"power.network_watts_per_chip", 0, 1e5}, "network_watts_per_chip",
     offsetof(ridge_system, network_watts_per_chip)},
};
/* clang-format on */

enum {
    FACT_ROOM =
        AXIS_FACT_MAX * (RIDGE_LEVEL_MAX + 2) + 3 + (int)RIDGE_COUNT_OF(power_rows)
};

/* A system under construction. */
typedef struct system_reader {
    ridge_ctx *cx;
    ridge_system *system;
    fact_list facts;
} system_reader;

/* A level may not be taken for something else in "--over" lists. */
static ridge_status check_level(const system_reader *r, ridge_node node, int i)
{
    const ridge_axis *axis = &r->system->levels[i].axis;
    static const char *const taken[] = {"all", "dcn", "torus", "chips_per_node"};
    for (size_t k = 0; k < RIDGE_COUNT_OF(taken); k++) {
        if (ridge__name_compare(axis->name, taken[k]) == 0) {
            return ridge_json_fail(r->cx, node, "a level cannot be called '%s'",
                                   taken[k]);
        }
    }
    for (int k = 0; k < i; k++) {
        const ridge_axis *inner = &r->system->levels[k].axis;
        if (ridge__name_compare(axis->name, inner->name) == 0) {
            return ridge_json_fail(r->cx, node, "two levels are called '%s'",
                                   axis->name);
        }
    }
    if (i > 0 && axis->kind != RIDGE_AXIS_FABRIC &&
        r->system->levels[i - 1].axis.kind == RIDGE_AXIS_FABRIC) {
        return ridge_json_fail(r->cx, node,
                               "'%s' stands outside a fabric: levels go from the "
                               "innermost outwards",
                               axis->name);
    }
    return RIDGE_OK;
}

static void drop_level_facts(system_reader *r)
{
    for (int i = 0; i < r->system->n_levels; i++)
        ridge__facts_drop(&r->facts, r->system->levels[i].axis.name);
    r->system->n_levels = 0;
}

static ridge_status read_levels(system_reader *r, ridge_node node)
{
    const size_t n = ridge_json_size(node);
    if (ridge_json_kind_of(node) != RIDGE_JSON_ARRAY || n < 1 || n > RIDGE_LEVEL_MAX) {
        return ridge_json_fail(r->cx, node, "an array of 1 to %d levels is wanted",
                               RIDGE_LEVEL_MAX);
    }
    drop_level_facts(r);
    for (size_t i = 0; i < n; i++) {
        const ridge_node item = ridge_json_at(&node, i);
        RIDGE_TRY(
            ridge__level_read(r->cx, item, &r->facts, &r->system->levels[i].axis));
        RIDGE_TRY(check_level(r, item, (int)i));
    }
    r->system->n_levels = (int)n;
    return RIDGE_OK;
}

/* dims whole numbers; the rest of a shape is 1. */
static ridge_status read_shape(system_reader *r, ridge_node node, int dims,
                               int64_t shape[3])
{
    if (ridge_json_kind_of(node) != RIDGE_JSON_ARRAY ||
        ridge_json_size(node) != (size_t)dims)
        return ridge_json_fail(r->cx, node, "an array of %d lengths is wanted", dims);
    int64_t lengths[3] = {1, 1, 1};
    for (int i = 0; i < dims; i++) {
        RIDGE_TRY(ridge_json_want_i64(r->cx, ridge_json_at(&node, (size_t)i), 1,
                                      TORUS_AXIS_LENGTH_MAX, &lengths[i]));
    }
    memcpy(shape, lengths, sizeof lengths);
    return RIDGE_OK;
}

/* Absent members are inherited from a torus of as many dims. */
static bool is_wanted(const system_reader *r, ridge_node node, int64_t dims)
{
    return r->system->torus_dims != dims || !ridge_json_is_absent(node);
}

static ridge_status read_torus(system_reader *r, ridge_node node)
{
    ridge_system *s = r->system;
    if (ridge_json_kind_of(node) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(r->cx, node, "an object is wanted");
    RIDGE_TRY(
        ridge_json_only(r->cx, node, torus_members, RIDGE_COUNT_OF(torus_members)));
    const ridge_node dims = ridge_json_get(&node, "dims");
    const ridge_node max_shape = ridge_json_get(&node, "max_shape");
    const ridge_node host_shape = ridge_json_get(&node, "host_shape");
    const ridge_node wrap_rule = ridge_json_get(&node, "wrap_rule");
    const ridge_node link = ridge_json_get(&node, "link");
    int64_t n = s->torus_dims;
    if (n == 0 || !ridge_json_is_absent(dims))
        RIDGE_TRY(ridge_json_want_i64(r->cx, dims, 2, 3, &n));
    if (is_wanted(r, max_shape, n))
        RIDGE_TRY(read_shape(r, max_shape, (int)n, s->torus_max));
    if (is_wanted(r, host_shape, n))
        RIDGE_TRY(read_shape(r, host_shape, (int)n, s->host_shape));
    size_t rule = s->wrap_rule;
    if (is_wanted(r, wrap_rule, n)) {
        RIDGE_TRY(ridge__choice_read(r->cx, wrap_rule, wrap_texts,
                                     RIDGE_COUNT_OF(wrap_texts), &rule));
    }
    if (s->torus_dims == 0 || !ridge_json_is_absent(link)) {
        RIDGE_TRY(
            ridge__link_read(r->cx, link, "torus.link", &r->facts, &s->torus_axis));
    }
    s->wrap_rule = (ridge_wrap_rule)rule;
    s->torus_axis.kind = RIDGE_AXIS_TORUS;
    s->torus_axis.name = "ici";
    s->torus_dims = (int)n;
    s->chips_per_node = s->host_shape[0] * s->host_shape[1] * s->host_shape[2];
    return RIDGE_OK;
}

static ridge_status read_dcn(system_reader *r, ridge_node node)
{
    ridge_axis *dcn = &r->system->dcn;
    RIDGE_TRY(ridge__link_read(r->cx, node, "dcn", &r->facts, dcn));
    dcn->kind = RIDGE_AXIS_DCN;
    dcn->name = "dcn";
    r->system->has_dcn = true;
    return RIDGE_OK;
}

static ridge_status read_power(system_reader *r, ridge_node node)
{
    const char *names[RIDGE_COUNT_OF(power_rows)];
    for (size_t i = 0; i < RIDGE_COUNT_OF(power_rows); i++)
        names[i] = power_rows[i].member;
    RIDGE_TRY(ridge_json_only(r->cx, node, names, RIDGE_COUNT_OF(names)));
    for (size_t i = 0; i < RIDGE_COUNT_OF(power_rows); i++) {
        const ridge_node member = ridge_json_get(&node, names[i]);
        double v = 0;
        if (ridge_json_is_absent(member))
            continue;
        RIDGE_TRY(ridge__fact_read(r->cx, member, &power_rows[i].spec, &r->facts, &v));
        memcpy((char *)r->system + power_rows[i].offset, &v, sizeof v);
    }
    return RIDGE_OK;
}

/* A chip that stands in the system's file, as one of data/chips does in its own. */
static ridge_status read_own_chip(system_reader *r, ridge_node node,
                                  const ridge_catalog *catalog)
{
    const ridge_node base = ridge_json_get(&node, "base");
    const ridge_chip *from = NULL;
    ridge_chip *chip = NULL;
    if (!ridge_json_is_absent(base)) {
        const char *name = NULL;
        RIDGE_TRY(ridge_json_want_text(r->cx, base, &name));
        RIDGE_TRY(ridge_chip_find(r->cx, catalog, name, &from));
    }
    RIDGE_TRY(ridge__chip_read(r->cx, node, from, &chip));
    r->system->chip = chip;
    return RIDGE_OK;
}

static ridge_status read_chip(system_reader *r, ridge_node node,
                              const ridge_catalog *catalog)
{
    const char *name = NULL;
    if (ridge_json_kind_of(node) == RIDGE_JSON_OBJECT)
        return read_own_chip(r, node, catalog);
    RIDGE_TRY(ridge_json_want_text(r->cx, node, &name));
    RIDGE_TRY(ridge__chip_lookup(r->cx, catalog, name, &r->system->chip));
    if (r->system->chip != NULL)
        return RIDGE_OK;
    return ridge_json_fail(r->cx, node, "unknown chip '%.40s': %s", name,
                           ridge__index_suggest(r->cx, ridge__chip_names(catalog), NULL,
                                                name, "no chip is called that"));
}

/* Nodes of another chip draw another power. */
static void drop_power(system_reader *r)
{
    const double unknown = 0;
    ridge__facts_drop(&r->facts, "power");
    for (size_t i = 0; i < RIDGE_COUNT_OF(power_rows); i++)
        memcpy((char *)r->system + power_rows[i].offset, &unknown, sizeof unknown);
}

static ridge_status read_identity(system_reader *r, const ridge_node *root,
                                  const ridge_catalog *catalog,
                                  const ridge_system *base)
{
    ridge_system *s = r->system;
    RIDGE_TRY(ridge__name_read(r->cx, ridge_json_get(root, "name"), &s->name));
    RIDGE_TRY(ridge__text_read(r->cx, root, "full_name",
                               base != NULL ? base->full_name : s->name,
                               &s->full_name));
    RIDGE_TRY(ridge__aliases_read(r->cx, ridge_json_get(root, "aliases"), &s->aliases));
    const ridge_node chip = ridge_json_get(root, "chip");
    if (base == NULL || !ridge_json_is_absent(chip))
        RIDGE_TRY(read_chip(r, chip, catalog));
    if (base != NULL && base->chip != s->chip)
        drop_power(r);
    return RIDGE_OK;
}

/* A variant may turn a torus into a switched system or back; one file may not be both.
 */
static ridge_status read_network(system_reader *r, const ridge_node *root)
{
    static const fact_spec node_spec = {"chips_per_node", 1.0, 4096.0};
    static const fact_spec host_spec = {"chips_per_host", 1.0, 4096.0};
    ridge_system *s = r->system;
    const ridge_node levels = ridge_json_get(root, "levels");
    const ridge_node torus = ridge_json_get(root, "torus");
    const ridge_node per_node = ridge_json_get(root, "chips_per_node");
    const ridge_node per_host = ridge_json_get(root, "chips_per_host");
    const ridge_node dcn = ridge_json_get(root, "dcn");
    const bool has_levels = !ridge_json_is_absent(levels);
    const bool has_torus = !ridge_json_is_absent(torus);
    if (has_levels && has_torus) {
        return ridge_json_fail(r->cx, torus,
                               "both \"torus\" and \"levels\": a system has one");
    }
    if (has_torus) {
        drop_level_facts(r);
        ridge__facts_drop(&r->facts, "chips_per_node");
        RIDGE_TRY(read_torus(r, torus));
    } else if (has_levels) {
        ridge__facts_drop(&r->facts, "torus");
        if (s->torus_dims > 0)
            s->chips_per_node = 0;
        s->torus_dims = 0;
        RIDGE_TRY(read_levels(r, levels));
    } else if (s->torus_dims == 0 && s->n_levels == 0) {
        return ridge_json_fail(r->cx, *root, "no \"levels\" and no \"torus\"");
    }
    const bool is_switched = s->torus_dims == 0;
    if (!is_switched && !ridge_json_is_absent(per_node))
        return ridge_json_fail(r->cx, per_node, "a torus says this by \"host_shape\"");
    if (is_switched && (s->chips_per_node == 0 || !ridge_json_is_absent(per_node))) {
        RIDGE_TRY(ridge__count_read(r->cx, per_node, &node_spec, &r->facts,
                                    &s->chips_per_node));
    }
    if (!ridge_json_is_absent(per_host))
        RIDGE_TRY(ridge__count_read(r->cx, per_host, &host_spec, &r->facts,
                                    &s->chips_per_host));
    if (!ridge_json_is_absent(dcn))
        RIDGE_TRY(read_dcn(r, dcn));
    return RIDGE_OK;
}

ridge_status ridge__system_read(ridge_ctx *cx, ridge_node root,
                                const ridge_catalog *catalog, const ridge_system *base,
                                ridge_system **out)
{
    if (ridge_json_kind_of(root) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, root, "a system is an object");
    RIDGE_TRY(ridge_json_only(cx, root, members, RIDGE_COUNT_OF(members)));
    system_reader r = {.cx = cx,
                       .system = ridge_new(ridge_ctx_arena(cx), ridge_system, 1)};
    if (r.system == NULL)
        return ridge_fail_nomem(cx);
    if (base != NULL)
        *r.system = *base;
    RIDGE_TRY(ridge__facts_open(cx, base ? base->facts : NULL, base ? base->n_facts : 0,
                                FACT_ROOM, &r.facts));
    RIDGE_TRY(read_identity(&r, &root, catalog, base));
    RIDGE_TRY(read_network(&r, &root));
    const ridge_node power = ridge_json_get(&root, "power");
    if (!ridge_json_is_absent(power))
        RIDGE_TRY(read_power(&r, power));
    static const fact_spec host_spec = {"host_bytes_per_chip", 1e6, 1e15};
    const ridge_node host = ridge_json_get(&root, "host_bytes_per_chip");
    if (!ridge_json_is_absent(host))
        RIDGE_TRY(ridge__fact_read(cx, host, &host_spec, &r.facts,
                                   &r.system->host_bytes_per_chip));
    r.system->facts = r.facts.items;
    r.system->n_facts = r.facts.n;
    *out = r.system;
    return RIDGE_OK;
}
