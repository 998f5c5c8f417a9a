/* Topology files as JSON: what is not told is left out. */
#include "ridge/report_topology.h"

static void set_known(ridge_json *object, const char *key, double v)
{
    if (v > 0)
        ridge_json_set_double(object, key, v);
}

static void set_count(ridge_json *object, const char *key, int64_t v)
{
    if (v > 0)
        ridge_json_set_i64(object, key, v);
}

static void set_text(ridge_json *object, const char *key, const char *text)
{
    if (text != NULL)
        ridge_json_set_text(object, key, text);
}

static void push_device(ridge_ctx *cx, ridge_json *to, const ridge_device *d)
{
    ridge_json *row = ridge_json_push_object(cx, to);
    ridge_json_set_text(row, "name", d->name);
    set_text(row, "pci_id", d->pci_id);
    set_text(row, "target", d->target);
    if (d->numa >= 0)
        ridge_json_set_i64(row, "numa_node", d->numa);
    set_known(row, "bytes_per_s", d->bytes_per_s);
}

/* Rows of {"path", "links"}: one of the matrix each. */
typedef struct path_matrix {
    const ridge_path *paths;
    int rows, columns;
} path_matrix;

static void set_paths(ridge_ctx *cx, ridge_json *to, const char *key, path_matrix m)
{
    ridge_json *all = ridge_json_set_array(cx, to, key);
    for (int i = 0; i < m.rows; i++) {
        ridge_json *row = ridge_json_array(cx);
        for (int k = 0; k < m.columns; k++) {
            const ridge_path path = m.paths[i * m.columns + k];
            ridge_json *cell = ridge_json_push_object(cx, row);
            ridge_json_set_text(cell, "path", ridge_path_kind_text(path.kind));
            set_count(cell, "links", path.links);
        }
        ridge_json_push(all, row);
    }
}

static void set_node(ridge_ctx *cx, const ridge_node_topology *node, ridge_json *to)
{
    ridge_json *object = ridge_json_set_object(cx, to, "node");
    ridge_json *gpus = ridge_json_set_array(cx, object, "gpus");
    ridge_json *nics = ridge_json_set_array(cx, object, "nics");
    for (int i = 0; i < node->n_gpus; i++)
        push_device(cx, gpus, &node->gpus[i]);
    for (int i = 0; i < node->n_nics; i++)
        push_device(cx, nics, &node->nics[i]);
    set_paths(cx, object, "gpu_paths",
              (path_matrix){node->gpu_paths, node->n_gpus, node->n_gpus});
    set_paths(cx, object, "nic_paths",
              (path_matrix){node->nic_paths, node->n_gpus, node->n_nics});
    ridge_json_set_bool(object, "links_told", node->has_links);
    set_count(object, "slow_nics", node->slow_nics);
    set_text(object, "machine", node->product);
}

static void push_level(ridge_ctx *cx, const ridge_fabric_level *level, ridge_json *to)
{
    ridge_json *row = ridge_json_push_object(cx, to);
    ridge_json_set_text(row, "name", level->name);
    ridge_json_set_i64(row, "switches", level->switches);
    ridge_json_set_i64(row, "members", level->members);
    ridge_json_set_i64(row, "members_least", level->members_least);
    ridge_json_set_i64(row, "members_most", level->members_most);
    set_known(row, "down_bytes_per_s", level->down_bytes_per_s);
    set_known(row, "up_bytes_per_s", level->up_bytes_per_s);
    if (level->up_bytes_per_s > 0)
        ridge_json_set_double(row, "oversubscription",
                              level->down_bytes_per_s / level->up_bytes_per_s);
}

static void set_fabric(ridge_ctx *cx, const ridge_fabric *f, ridge_json *to)
{
    ridge_json *object = ridge_json_set_object(cx, to, "fabric");
    ridge_json *levels = ridge_json_set_array(cx, object, "levels");
    for (int i = 0; i < f->n_levels; i++)
        push_level(cx, &f->levels[i], levels);
    ridge_json_set_i64(object, "nodes", f->nodes);
    set_count(object, "unnamed_adapters", f->unnamed_adapters);
    set_count(object, "adapters_per_node", f->adapters_per_node);
    set_known(object, "adapter_bytes_per_s", f->adapter_bytes_per_s);
    ridge_json_set_bool(object, "rails", f->has_rails);
    ridge_json_set_bool(object, "switches_reduce", f->can_reduce);
    set_count(object, "domain_nodes", f->domain_nodes);
    set_known(object, "message_bytes_per_s", f->message_bytes_per_s);
    set_known(object, "message_latency_s", f->message_latency_s);
    set_count(object, "messages", f->messages);
}

static void set_dims(ridge_ctx *cx, const ridge_topology *t, ridge_json *to)
{
    ridge_json *dims = ridge_json_set_array(cx, to, "dimensions");
    for (int i = 0; i < t->n_dims; i++) {
        ridge_json *row = ridge_json_push_object(cx, dims);
        ridge_json_set_text(row, "kind",
                            t->dims[i].kind == RIDGE_AXIS_TORUS
                                ? "ring"
                                : ridge_axis_kind_text(t->dims[i].kind));
        ridge_json_set_i64(row, "chips", t->dims[i].size);
        ridge_json_set_double(row, "bytes_per_s", t->dims[i].bytes_per_s);
        ridge_json_set_double(row, "latency_s", t->dims[i].latency_s);
    }
}

static void set_system(ridge_ctx *cx, const ridge_system *s, ridge_json *to)
{
    ridge_json *object = ridge_json_set_object(cx, to, "system");
    ridge_json *levels = ridge_json_set_array(cx, object, "levels");
    ridge_json_set_text(object, "name", s->name);
    ridge_json_set_text(object, "chip", s->chip->name);
    ridge_json_set_i64(object, "chips_per_node", s->chips_per_node);
    for (int i = 0; i < s->n_levels; i++) {
        const ridge_axis *axis = &s->levels[i].axis;
        ridge_json *row = ridge_json_push_object(cx, levels);
        ridge_json_set_text(row, "name", axis->name);
        ridge_json_set_text(row, "kind", ridge_axis_kind_text(axis->kind));
        set_count(row, "size", axis->size);
        ridge_json_set_double(row, "bytes_per_s", axis->bytes_per_s);
        ridge_json_set_double(row, "latency_s", axis->latency_s);
        ridge_json_set_double(row, "efficiency", axis->efficiency);
    }
}

void ridge_topology_write_json(ridge_ctx *cx, const ridge_topology_reading *reading,
                               ridge_json *object)
{
    ridge_json *all = ridge_json_set_array(cx, object, "topologies");
    for (int i = 0; i < reading->n; i++) {
        const ridge_topology *t = &reading->files[i];
        ridge_json *row = ridge_json_push_object(cx, all);
        ridge_json_set_text(row, "file", t->file);
        ridge_json_set_text(row, "format", t->format);
        if (t->node.n_gpus > 0 || t->node.product != NULL)
            set_node(cx, &t->node, row);
        if (t->fabric.nodes > 0)
            set_fabric(cx, &t->fabric, row);
        if (t->n_dims > 0)
            set_dims(cx, t, row);
    }
    if (reading->system != NULL)
        set_system(cx, reading->system, object);
    else
        set_text(object, "no_system", reading->why_not);
}
