/*
 * The numbers of one network level, link or DCN in a file of data/systems.
 *
 * bytes_per_s (per chip and direction), latency_s, startup_s, efficiency and
 * half_rate_bytes are facts and required; reduce_efficiency, alltoall_efficiency,
 * kernel_startup_s (facts) and can_reduce (true or false) are optional. A level also
 * has name, kind (switch, mesh, bus, fabric), size (a fact or a plain count; 0: no
 * limit) and, optional, what was measured on it (measured_read.c) and its switches
 * {name, ports, port_bytes_per_s, count_per_node (inside a node)}, the numbers facts.
 */
#include "axis_read.h"

#include "measured_read.h"

#include <string.h>

#define LINK_MEMBERS                                                                   \
    "bytes_per_s", "latency_s", "startup_s", "efficiency", "reduce_efficiency",        \
        "alltoall_efficiency", "half_rate_bytes", "kernel_startup_s", "can_reduce"

static const char *const link_members[] = {LINK_MEMBERS};
static const char *const level_members[] = {"name",     "kind",     "size",
                                            "measured", "switches", LINK_MEMBERS};
static const char *const switch_members[] = {"name", "ports", "port_bytes_per_s",
                                             "count_per_node"};

typedef struct link_row {
    fact_spec spec; /* its key without the prefix */
    size_t offset;  /* in ridge_axis */
    bool is_required;
} link_row;

/* clang-format off */
static const link_row link_rows[] = {
    {{"bytes_per_s", 1e3, 1e15}, offsetof(ridge_axis, bytes_per_s), true},
    {{"latency_s", 0.0, 10.0}, offsetof(ridge_axis, latency_s), true},
    {{"startup_s", 0.0, 10.0}, offsetof(ridge_axis, startup_s), true},
    {{"efficiency", 0.01, 1.0}, offsetof(ridge_axis, efficiency), true},
    {{"reduce_efficiency", 0.01, 1.0}, offsetof(ridge_axis, reduce_efficiency), false},
    {{"alltoall_efficiency", 0.01, 1.0}, offsetof(ridge_axis, alltoall_efficiency), false},
    {{"half_rate_bytes", 0.0, 1e12}, offsetof(ridge_axis, half_rate_bytes), true},
    {{"kernel_startup_s", 0.0, 10.0}, offsetof(ridge_axis, kernel_startup_s), false},
};
/* clang-format on */
_Static_assert(RIDGE_COUNT_OF(link_rows) + 1 + 3 == AXIS_FACT_MAX,
               "and the size and the switches");

/* Positions in this list are looked up below. */
static const char *const level_kind_texts[] = {"switch", "mesh", "bus", "fabric"};
static const ridge_axis_kind level_kinds[] = {RIDGE_AXIS_SWITCH, RIDGE_AXIS_MESH,
                                              RIDGE_AXIS_BUS, RIDGE_AXIS_FABRIC};

static const char *const axis_kind_texts[] = {
    [RIDGE_AXIS_TORUS] = "torus",   [RIDGE_AXIS_SWITCH] = "switch",
    [RIDGE_AXIS_MESH] = "mesh",     [RIDGE_AXIS_BUS] = "bus",
    [RIDGE_AXIS_FABRIC] = "fabric", [RIDGE_AXIS_DCN] = "dcn",
};
_Static_assert(RIDGE_COUNT_OF(axis_kind_texts) == RIDGE_AXIS_DCN + 1,
               "one text per kind");

const char *ridge_axis_kind_text(ridge_axis_kind kind)
{
    return (size_t)kind < RIDGE_COUNT_OF(axis_kind_texts) ? axis_kind_texts[kind] : "?";
}

/* An axis under construction. */
typedef struct axis_reader {
    ridge_ctx *cx;
    const char *prefix; /* of its facts' keys */
    fact_list *facts;
    ridge_axis *axis;
} axis_reader;

static ridge_status read_row(const axis_reader *r, const ridge_node *node,
                             const link_row *row)
{
    const ridge_node member = ridge_json_get(node, row->spec.key);
    const char *key =
        ridge_sprintf(ridge_ctx_arena(r->cx), "%s.%s", r->prefix, row->spec.key);
    if (key == NULL)
        return ridge_fail_nomem(r->cx);
    if (ridge_json_is_absent(member)) {
        if (row->is_required && !ridge__facts_has(r->facts, key))
            return ridge_json_fail(r->cx, *node, "no \"%s\"", row->spec.key);
        return RIDGE_OK;
    }
    const fact_spec spec = {key, row->spec.low, row->spec.high};
    double v = 0.0;
    RIDGE_TRY(ridge__fact_read(r->cx, member, &spec, r->facts, &v));
    memcpy((char *)r->axis + row->offset, &v, sizeof v);
    return RIDGE_OK;
}

static ridge_status read_rows(const axis_reader *r, const ridge_node *node)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(link_rows); i++)
        RIDGE_TRY(read_row(r, node, &link_rows[i]));
    const ridge_node can_reduce = ridge_json_get(node, "can_reduce");
    if (!ridge_json_is_absent(can_reduce) &&
        !ridge_json_bool(can_reduce, &r->axis->can_reduce)) {
        return ridge_json_fail(r->cx, can_reduce, "true or false is wanted");
    }
    return RIDGE_OK;
}

ridge_status ridge__link_read(ridge_ctx *cx, ridge_node node, const char *prefix,
                              fact_list *facts, ridge_axis *axis)
{
    if (ridge_json_kind_of(node) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, node, "an object is wanted");
    RIDGE_TRY(ridge_json_only(cx, node, link_members, RIDGE_COUNT_OF(link_members)));
    ridge_axis link = *axis;
    const axis_reader r = {cx, prefix, facts, &link};
    RIDGE_TRY(read_rows(&r, &node));
    *axis = link;
    return RIDGE_OK;
}

static ridge_status read_switches(const axis_reader *r, const ridge_node *node)
{
    ridge_arena *arena = ridge_ctx_arena(r->cx);
    RIDGE_TRY(
        ridge_json_only(r->cx, *node, switch_members, RIDGE_COUNT_OF(switch_members)));
    ridge_switch *out = ridge_new(arena, ridge_switch, 1);
    const char *const stem = ridge_sprintf(arena, "%s.switches", r->prefix);
    const char *const ports_key = ridge_sprintf(arena, "%s.ports", stem);
    const char *const rate_key = ridge_sprintf(arena, "%s.port_bytes_per_s", stem);
    const char *const count_key = ridge_sprintf(arena, "%s.count_per_node", stem);
    if (out == NULL || ports_key == NULL || rate_key == NULL || count_key == NULL)
        return ridge_fail_nomem(r->cx);
    const fact_spec ports = {ports_key, 2.0, 1e5};
    const fact_spec rate = {rate_key, 1e3, 1e15};
    const fact_spec count = {count_key, 1.0, 1e4};
    const ridge_node of_node = ridge_json_get(node, "count_per_node");
    RIDGE_TRY(ridge__text_read(r->cx, node, "name", NULL, &out->name));
    RIDGE_TRY(ridge__count_read(r->cx, ridge_json_get(node, "ports"), &ports, r->facts,
                                &out->ports));
    RIDGE_TRY(ridge__fact_read(r->cx, ridge_json_get(node, "port_bytes_per_s"), &rate,
                               r->facts, &out->port_bytes_per_s));
    if (!ridge_json_is_absent(of_node))
        RIDGE_TRY(
            ridge__count_read(r->cx, of_node, &count, r->facts, &out->count_per_node));
    r->axis->switches = out;
    return RIDGE_OK;
}

/* What a level has beside the numbers of a link: what it is made of, what was
 * measured on it. */
static ridge_status read_parts(const axis_reader *r, const ridge_node *node)
{
    const ridge_node switches = ridge_json_get(node, "switches");
    const ridge_node measured = ridge_json_get(node, "measured");
    if (!ridge_json_is_absent(switches))
        RIDGE_TRY(read_switches(r, &switches));
    if (!ridge_json_is_absent(measured))
        RIDGE_TRY(
            ridge__measured_level_read(r->cx, measured, r->axis, &r->axis->measured));
    return RIDGE_OK;
}

ridge_status ridge__level_read(ridge_ctx *cx, ridge_node node, fact_list *facts,
                               ridge_axis *axis)
{
    if (ridge_json_kind_of(node) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, node, "a level is an object");
    RIDGE_TRY(ridge_json_only(cx, node, level_members, RIDGE_COUNT_OF(level_members)));
    ridge_axis level = {0};
    size_t kind = 0;
    RIDGE_TRY(ridge__name_read(cx, ridge_json_get(&node, "name"), &level.name));
    RIDGE_TRY(ridge__choice_read(cx, ridge_json_get(&node, "kind"), level_kind_texts,
                                 RIDGE_COUNT_OF(level_kind_texts), &kind));
    level.kind = level_kinds[kind];
    const char *key = ridge_sprintf(ridge_ctx_arena(cx), "%s.size", level.name);
    if (key == NULL)
        return ridge_fail_nomem(cx);
    const fact_spec size = {key, 0.0, 1e8};
    RIDGE_TRY(ridge__count_read(cx, ridge_json_get(&node, "size"), &size, facts,
                                &level.size));
    const axis_reader r = {cx, level.name, facts, &level};
    RIDGE_TRY(read_rows(&r, &node));
    RIDGE_TRY(read_parts(&r, &node));
    *axis = level;
    return RIDGE_OK;
}
