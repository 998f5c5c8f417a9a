/*
 * Topology files as they were understood: links, NICs, switches, and the system that
 * they make, with where each of its numbers comes from and what is not told.
 */
#include "ridge/report.h"
#include "ridge/report_topology.h"

#include <string.h>

#include "section.h"

/* Matrices of more GPUs are told by kinds of paths. */
enum { MATRIX_MOST = 16 };

static const char *path_text(ridge_ctx *cx, ridge_path path)
{
    const char *kind = ridge_path_kind_text(path.kind);
    if (path.links == 0 || (path.kind == RIDGE_PATH_XGMI && path.links == 1))
        return kind;
    const char *text = ridge_sprintf(ridge_ctx_arena(cx), "%s%d", kind, path.links);
    return text != NULL ? text : kind;
}

static const char *rate_text(ridge_ctx *cx, double bytes_per_s)
{
    if (bytes_per_s <= 0)
        return "not told";
    const char *text =
        ridge_sprintf(ridge_ctx_arena(cx), "%s", ridge_format_si(bytes_per_s, "B/s").s);
    return text != NULL ? text : "";
}

/* ---- a node ---------------------------------------------------------------------- */

static void add_matrix(ridge_ctx *cx, const ridge_node_topology *node,
                       ridge_sections *out)
{
    ridge_buf columns;
    ridge_buf_init(&columns, ridge_ctx_arena(cx));
    ridge_buf_puts(&columns, "path");
    for (int i = 0; i < node->n_gpus; i++)
        ridge_buf_printf(&columns, "|%s", node->gpus[i].name);
    for (int i = 0; i < node->n_nics; i++)
        ridge_buf_printf(&columns, "|%s", node->nics[i].name);
    ridge_table *t = ridge__section_add(cx, out, "Paths", ridge_buf_text(&columns));
    for (int a = 0; a < node->n_gpus; a++) {
        ridge_table_cell(t, node->gpus[a].name);
        for (int b = 0; b < node->n_gpus; b++)
            ridge_table_cell(t, path_text(cx, node->gpu_paths[a * node->n_gpus + b]));
        for (int b = 0; b < node->n_nics; b++)
            ridge_table_cell(t, path_text(cx, node->nic_paths[a * node->n_nics + b]));
    }
}

/* NICs that are as near to a GPU as any. */
static const char *nearest_nics(ridge_ctx *cx, const ridge_node_topology *node, int gpu)
{
    const ridge_path *row = node->nic_paths + (size_t)gpu * (size_t)node->n_nics;
    ridge_path_kind best = RIDGE_PATH_UNKNOWN;
    ridge_buf names;
    ridge_buf_init(&names, ridge_ctx_arena(cx));
    for (int i = 0; i < node->n_nics; i++)
        best = row[i].kind < best ? row[i].kind : best;
    if (best >= RIDGE_PATH_SYS)
        return node->n_nics > 0 ? "none nearer than SYS" : "none told";
    for (int i = 0; i < node->n_nics; i++) {
        if (row[i].kind == best)
            ridge_buf_printf(&names, "%s%s", names.n > 0 ? ", " : "",
                             node->nics[i].name);
    }
    ridge_buf_printf(&names, " (%s)", ridge_path_kind_text(best));
    return ridge_buf_text(&names);
}

static void add_devices(ridge_ctx *cx, const ridge_node_topology *node,
                        ridge_sections *out)
{
    ridge_table *t = ridge__section_add(
        cx, out, "GPUs", "GPU|PCI id|NUMA node|>to its host, one way|nearest NICs");
    for (int i = 0; i < node->n_gpus; i++) {
        const ridge_device *gpu = &node->gpus[i];
        ridge_table_cell(t, gpu->name);
        ridge_table_cell(t, gpu->pci_id != NULL   ? gpu->pci_id
                            : gpu->target != NULL ? gpu->target
                                                  : "not told");
        if (gpu->numa >= 0)
            ridge_table_cellf(t, "%d", gpu->numa);
        else
            ridge_table_cell(t, "not told");
        ridge_table_cell(t, rate_text(cx, gpu->bytes_per_s));
        ridge_table_cell(t, nearest_nics(cx, node, i));
    }
    if (node->n_nics == 0)
        return;
    t = ridge__section_add(cx, out, "NICs", "NIC|PCI id|NUMA node|>rate, one way");
    for (int i = 0; i < node->n_nics; i++) {
        const ridge_device *nic = &node->nics[i];
        ridge_table_cell(t, nic->name);
        ridge_table_cell(t, nic->pci_id != NULL ? nic->pci_id : "not told");
        if (nic->numa >= 0)
            ridge_table_cellf(t, "%d", nic->numa);
        else
            ridge_table_cell(t, "not told");
        ridge_table_cell(t, rate_text(cx, nic->bytes_per_s));
    }
}

/* Pairs of GPUs by path. */
static void add_pairs(ridge_ctx *cx, const ridge_node_topology *node,
                      ridge_sections *out)
{
    ridge_table *t = ridge__section_add(cx, out, "Pairs of GPUs", "path|>pairs");
    const int n = node->n_gpus;
    for (int kind = RIDGE_PATH_NVLINK; kind < RIDGE_PATH_KIND_COUNT; kind++) {
        for (int links = 0; links <= 64; links++) {
            int pairs = 0;
            for (int i = 0; i < n * n; i++) {
                const ridge_path p = node->gpu_paths[i];
                pairs += i / n < i % n && (int)p.kind == kind && p.links == links;
            }
            if (pairs == 0)
                continue;
            ridge_table_cell(t,
                             path_text(cx, (ridge_path){(ridge_path_kind)kind, links}));
            ridge_table_cellf(t, "%d", pairs);
        }
    }
}

static void add_node(ridge_ctx *cx, const ridge_node_topology *node,
                     ridge_sections *out)
{
    if (node->n_gpus > 1)
        add_pairs(cx, node, out);
    if (node->n_gpus + node->n_nics <= MATRIX_MOST)
        add_matrix(cx, node, out);
    add_devices(cx, node, out);
    if (!node->has_links)
        ridge__section_note(out, "The file does not tell NVLinks and xGMI links.");
    else if (node->slow_nics > 0)
        ridge__section_note(
            out, ridge_sprintf(ridge_ctx_arena(cx),
                               "%d slower network interfaces are left out: they are "
                               "taken for management.",
                               node->slow_nics));
}

/* ---- a fabric -------------------------------------------------------------------- */

static const char *members_text(ridge_ctx *cx, const ridge_fabric_level *level)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    const char *text =
        level->members_least == level->members_most
            ? ridge_sprintf(arena, "%lld", (long long)level->members)
            : ridge_sprintf(arena, "%lld (%lld to %lld)", (long long)level->members,
                            (long long)level->members_least,
                            (long long)level->members_most);
    return text != NULL ? text : "";
}

static void add_levels(ridge_ctx *cx, const ridge_fabric *f, ridge_sections *out)
{
    ridge_table *t =
        ridge__section_add(cx, out, "Switches",
                           "level|>switches|>members of one|>down, one way|>up, one "
                           "way|>oversubscribed");
    for (int i = 0; i < f->n_levels; i++) {
        const ridge_fabric_level *level = &f->levels[i];
        ridge_table_cell(t, level->name);
        ridge_table_cellf(t, "%lld", (long long)level->switches);
        ridge_table_cell(t, members_text(cx, level));
        ridge_table_cell(t, rate_text(cx, level->down_bytes_per_s));
        ridge_table_cell(t, i + 1 < f->n_levels ? rate_text(cx, level->up_bytes_per_s)
                                                : "-");
        if (level->up_bytes_per_s > 0)
            ridge_table_cellf(t, "%.3g : 1",
                              level->down_bytes_per_s / level->up_bytes_per_s);
        else
            ridge_table_cell(t, "-");
    }
    ridge__section_note(out, "Members of a leaf are nodes, of the others switches.");
}

static void add_fabric_facts(ridge_ctx *cx, const ridge_fabric *f, ridge_table *t)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    ridge__table_pair(t, "nodes", ridge_format_exact(f->nodes).s);
    if (f->unnamed_adapters > 0)
        ridge__table_pair(t, "adapters without a node's name",
                          ridge_format_exact(f->unnamed_adapters).s);
    if (f->adapters_per_node > 0) {
        ridge__table_pair(
            t, "adapters of a node",
            ridge_sprintf(arena, "%lld%s%s", (long long)f->adapters_per_node,
                          f->adapter_bytes_per_s > 0 ? ", each one way " : "",
                          f->adapter_bytes_per_s > 0
                              ? rate_text(cx, f->adapter_bytes_per_s)
                              : ""));
    }
    if (f->has_rails)
        ridge__table_pair(t, "rails", "adapters of a node are on leaves of their own");
    if (f->can_reduce)
        ridge__table_pair(t, "reductions in the switches",
                          "there (SHARP), but not counted: whether jobs may use them "
                          "is not told");
    if (f->domain_nodes > 0)
        ridge__table_pair(
            t, "nodes of an NVLink domain",
            ridge_sprintf(
                arena, "%lld (%lld to %lld)%s", (long long)f->domain_nodes,
                (long long)f->domain_nodes_least, (long long)f->domain_nodes_most,
                f->has_outer_domain ? ", in larger ones that are left out" : ""));
    if (f->messages > 0)
        ridge__table_pair(t, "messages between two adapters, median",
                          ridge_sprintf(arena, "%s, %s; %lld of them",
                                        rate_text(cx, f->message_bytes_per_s),
                                        ridge_format_seconds(f->message_latency_s).s,
                                        (long long)f->messages));
}

/* ---- the whole ------------------------------------------------------------------- */

static void add_dims(ridge_ctx *cx, const ridge_topology *t, ridge_sections *out)
{
    ridge_table *table = ridge__section_add(cx, out, "Dimensions",
                                            "kind|>chips|>per chip, one way|>latency");
    for (int i = 0; i < t->n_dims; i++) {
        const ridge_network_dim *d = &t->dims[i];
        ridge_table_cell(table, d->kind == RIDGE_AXIS_TORUS
                                    ? "ring"
                                    : ridge_axis_kind_text(d->kind));
        ridge_table_cellf(table, "%lld", (long long)d->size);
        ridge_table_cell(table, rate_text(cx, d->bytes_per_s));
        ridge_table_cell(table, ridge_format_seconds(d->latency_s).s);
    }
}

static void add_topology(ridge_ctx *cx, const ridge_topology *t, ridge_sections *out)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    const ridge_node_topology *node = &t->node;
    ridge_table *table = ridge__section_add(cx, out, "Topology", "what|told");
    ridge__table_pair(table, "file", t->file);
    ridge__table_pair(table, "format", t->format);
    if (node->product != NULL)
        ridge__table_pair(table, "machine", node->product);
    if (node->n_gpus > 0)
        ridge__table_pair(
            table, "GPUs and NICs of a node",
            ridge_sprintf(arena, "%d and %d", node->n_gpus, node->n_nics));
    if (t->fabric.nodes > 0)
        add_fabric_facts(cx, &t->fabric, table);
    if (node->n_gpus > 0)
        add_node(cx, node, out);
    if (t->fabric.n_levels > 0)
        add_levels(cx, &t->fabric, out);
    if (t->n_dims > 0)
        add_dims(cx, t, out);
}

/* Levels whose rate no file tells; NULL: all are told. */
static const char *borrowed_note(ridge_ctx *cx, const ridge_system *s)
{
    ridge_buf names;
    ridge_buf_init(&names, ridge_ctx_arena(cx));
    for (size_t i = 0; i < s->n_facts; i++) {
        const char *dot = strrchr(s->facts[i].key, '.');
        const char *note = s->facts[i].note;
        if (dot == NULL || strcmp(dot, ".bytes_per_s") != 0 || note == NULL ||
            strncmp(note, "as ", 3) != 0)
            continue;
        ridge_buf_printf(&names, "%s%.*s (%.*s)", names.n > 0 ? ", " : "",
                         (int)(dot - s->facts[i].key), s->facts[i].key,
                         (int)strcspn(note, ":"), note);
    }
    return names.n == 0 ? NULL
                        : ridge_sprintf(ridge_ctx_arena(cx),
                                        "Rates that the file does not tell: %s. Where "
                                        "they are others, name a system that has them.",
                                        ridge_buf_text(&names));
}

static void add_system(ridge_ctx *cx, const ridge_system *s, ridge_sections *out)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    const char *title = ridge_sprintf(arena, "System of %s chips, %lld a node",
                                      s->chip->name, (long long)s->chips_per_node);
    ridge_table *t = ridge__section_add(cx, out, title ? title : "System",
                                        "level|kind|>size|>per chip, one way|>latency|"
                                        ">reached|reduces");
    for (int i = 0; i < (s->torus_dims > 0 ? 1 : s->n_levels); i++) {
        const ridge_axis *axis =
            s->torus_dims > 0 ? &s->torus_axis : &s->levels[i].axis;
        ridge_table_cell(t, axis->name);
        ridge_table_cell(t, ridge_axis_kind_text(axis->kind));
        if (axis->size > 0)
            ridge_table_cellf(t, "%lld", (long long)axis->size);
        else
            ridge_table_cell(t, s->torus_dims > 0 ? "-" : "any");
        ridge_table_cell(t, ridge_format_si(axis->bytes_per_s, "B/s").s);
        ridge_table_cell(t, ridge_format_seconds(axis->latency_s).s);
        ridge_table_cell(t, ridge_format_percent(axis->efficiency).s);
        ridge_table_cell(t, axis->can_reduce ? "in network" : "-");
    }
    ridge__section_note(out, borrowed_note(cx, s));
    t = ridge__section_add(cx, out, "Sources", "fact|>value|source|date|note");
    for (size_t i = 0; i < s->n_facts; i++) {
        ridge_table_cell(t, s->facts[i].key);
        ridge_table_cell(t, ridge_format_double(s->facts[i].value).s);
        ridge_table_cell(t, s->facts[i].source);
        ridge_table_cell(t, s->facts[i].date);
        ridge_table_cell(t, s->facts[i].note != NULL ? s->facts[i].note : "");
    }
}

static ridge_sections sections_of(ridge_ctx *cx, const ridge_topology_reading *r)
{
    ridge_sections out = {.n = 0};
    for (int i = 0; i < r->n; i++)
        add_topology(cx, &r->files[i], &out);
    if (r->system != NULL) {
        add_system(cx, r->system, &out);
    } else {
        ridge__section_add(cx, &out, "No system", "");
        ridge__section_note(&out, r->why_not);
    }
    return out;
}

void ridge_topology_write_text(ridge_ctx *cx, const ridge_topology_reading *reading,
                               bool with_colour, ridge_buf *out)
{
    const ridge_sections sections = sections_of(cx, reading);
    ridge__sections_write_text(&sections, with_colour, out);
}

void ridge_topology_write_html(ridge_ctx *cx, const ridge_topology_reading *reading,
                               ridge_buf *out)
{
    const ridge_sections sections = sections_of(cx, reading);
    ridge_html_begin(out, "Topology",
                     "Links, NICs and switches of a machine or a "
                     "network, and the system that they make");
    ridge__page_end(&sections, out);
}
