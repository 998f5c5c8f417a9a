/*
 * The system of a topology: a draft of its levels, written as a file of data/systems
 * and read as one, so that what is used is what is kept.
 */
#include "topology_draft.h"

#include <string.h>

#include "catalog.h"
#include "chip_spelling.h"
#include "system_read.h"

/* Members of a level beside its rate and latency. */
static const char *const level_members[] = {"startup_s",         "efficiency",
                                            "reduce_efficiency", "alltoall_efficiency",
                                            "half_rate_bytes",   "kernel_startup_s"};

/* Source and date of what files of a format tell. */
static const struct {
    const char *format;
    ridge_fact fact;
} origins[] = {
    {"nvidia-smi topo -m", {.source = "nvidia-smi-topo", .date = "2025"}},
    {"rocm-smi --showtopo", {.source = "amd-kfd-crat", .date = "2025"}},
    {"XML of NCCL or RCCL", {.source = "nccl-topology", .date = "2025"}},
    {"XML of lstopo", {.source = "hwloc-xml", .date = "2025"}},
    {"ibnetdiscover", {.source = "infiniband-rates", .date = "2023"}},
    {"cluster model of topograph", {.source = "topograph-2025", .date = "2025"}},
    {"network of ASTRA-sim", {.source = "astra-sim-2023", .date = "2023"}},
    {"messages that Mooncake measured",
     {.source = "mooncake-topology", .date = "2025"}},
};

/* ---- the chip -------------------------------------------------------------------- */

static ridge_status chip_of_device(ridge_ctx *cx, const ridge_catalog *catalog,
                                   const device_list *devices,
                                   const ridge_device *device, const ridge_chip **out)
{
    const device_row *row = ridge__device_find(devices, DEVICE_GPU, device->pci_id);
    *out = NULL;
    return row == NULL ? RIDGE_OK : ridge__chip_lookup(cx, catalog, row->chip, out);
}

/* The chip that a file names, by PCI ids, targets or the machine's product name.
 * @param out  NULL: it names none, or one that is not known
 * @errors E_PARSE: GPUs of different kinds */
static ridge_status chip_of(ridge_ctx *cx, const ridge_catalog *catalog,
                            const ridge_topology *topology, const ridge_chip **out)
{
    const ridge_node_topology *node = &topology->node;
    const device_list *devices;
    const ridge_chip *chip = NULL;
    RIDGE_TRY(ridge__catalog_devices(cx, catalog, &devices));
    for (int i = 0; i < node->n_gpus; i++) {
        const ridge_chip *own;
        RIDGE_TRY(chip_of_device(cx, catalog, devices, &node->gpus[i], &own));
        if (i > 0 && own != chip) {
            return ridge_fail(cx, RIDGE_E_PARSE,
                              "%s: GPUs of different kinds (%s and %s): a node of one "
                              "kind is wanted",
                              topology->file, chip != NULL ? chip->name : "unknown",
                              own != NULL ? own->name : "unknown");
        }
        chip = own;
    }
    if (chip == NULL && node->n_gpus == 0 && node->product != NULL)
        RIDGE_TRY(ridge__chip_of_spelling(cx, catalog, node->product, &chip));
    *out = chip;
    return RIDGE_OK;
}

/* What the file does say of its GPUs. */
static const char *hint_of(ridge_ctx *cx, const ridge_topology *t)
{
    const ridge_device *gpu = t->node.n_gpus > 0 ? &t->node.gpus[0] : NULL;
    const char *text = "";
    if (gpu != NULL && gpu->pci_id != NULL)
        text = ridge_sprintf(ridge_ctx_arena(cx), " (PCI %s)", gpu->pci_id);
    else if (gpu != NULL && gpu->target != NULL)
        text = ridge_sprintf(ridge_ctx_arena(cx), " (%s)", gpu->target);
    return text != NULL ? text : "";
}

/* The chip's system with such nodes: the default one, unless only another has them. */
static ridge_status find_system(ridge_ctx *cx, const ridge_catalog *catalog,
                                const ridge_chip *chip, const ridge_topology *t,
                                const ridge_system **out)
{
    const int devices = chip->devices > 1 ? chip->devices : 1;
    RIDGE_TRY(ridge_system_find(cx, catalog, chip->name, out));
    for (size_t i = 0; i < ridge_catalog_system_count(catalog); i++) {
        const ridge_system *s = ridge_catalog_system(catalog, i);
        if (t->node.n_gpus == 0 || (*out)->chips_per_node * devices == t->node.n_gpus)
            break;
        if (s != NULL && s->chip == chip && s->torus_dims == 0 &&
            s->chips_per_node * devices == t->node.n_gpus)
            *out = s;
    }
    return RIDGE_OK;
}

/* The base: a given one if its chip can be the file's, else that of the file's chip. */
static ridge_status find_base(ridge_ctx *cx, const ridge_catalog *catalog,
                              const ridge_system *given, const ridge_topology *t,
                              const ridge_system **out)
{
    const ridge_chip *chip = NULL;
    RIDGE_TRY(chip_of(cx, catalog, t, &chip));
    if (given != NULL && chip != NULL && chip != given->chip) {
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "%s is of %s, not of %s: name no chip, or a system of its own", t->file,
            chip->name, given->chip->name);
    }
    if (given != NULL && strcmp(given->name, given->chip->default_system) == 0)
        return find_system(cx, catalog, given->chip, t, out);
    if (given != NULL) {
        *out = given;
        return RIDGE_OK;
    }
    if (chip == NULL) {
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "%s names no chip that is known%s: say which, as in h100@FILE, "
            "or a system, as in dgx-h100@FILE",
            t->file, hint_of(cx, t));
    }
    return find_system(cx, catalog, chip, t, out);
}

/* ---- the file -------------------------------------------------------------------- */

static const ridge_fact *fact_of(const ridge_system *s, const char *stem,
                                 const char *member)
{
    const size_t n = strlen(stem);
    for (size_t i = 0; i < s->n_facts; i++) {
        const char *key = s->facts[i].key;
        if (n == 0 ? strcmp(key, member) == 0
                   : strncmp(key, stem, n) == 0 && key[n] == '.' &&
                         strcmp(key + n + 1, member) == 0)
            return &s->facts[i];
    }
    return NULL;
}

static void put_fact(const system_draft *d, ridge_json *to, const char *key,
                     const ridge_fact *fact, const char *note)
{
    ridge_json *f = ridge_json_set_object(d->cx, to, key);
    ridge_json_set_double(f, "value", fact->value);
    ridge_json_set_text(f, "source", fact->source);
    ridge_json_set_text(f, "date", fact->date);
    if (note != NULL)
        ridge_json_set_text(f, "note", note);
}

/* Cards that share a bus reach the square of their number less, up to this share of a
 * link; see ridge_collective_time. */
static const double BUS_PAIR_EFFICIENCY = 0.6;

/* What fewer cards than the other bus has reach of it. */
static double bus_efficiency(const level_draft *level, double of_all)
{
    const double few =
        (double)level->like->levels[level->like_level].axis.size / (double)level->size;
    const double own = of_all * few * few;
    const double most = own < BUS_PAIR_EFFICIENCY ? own : BUS_PAIR_EFFICIENCY;
    return few > 1 && most > of_all ? most : of_all;
}

static bool is_shared_efficiency(const level_draft *level, const char *key)
{
    return level->kind == RIDGE_AXIS_BUS &&
           (strcmp(key, "efficiency") == 0 || strcmp(key, "alltoall_efficiency") == 0);
}

/* What to say of a fabric's rate where the file lists NICs without theirs. */
static const char *unrated_text(const system_draft *d, const level_draft *level)
{
    const int n = d->topology->node.n_nics;
    const char *text =
        level->kind != RIDGE_AXIS_FABRIC || n == 0
            ? ""
            : ridge_sprintf(ridge_ctx_arena(d->cx),
                            ", whatever the file's %d NICs carry: it does not tell "
                            "their rates",
                            n);
    return text != NULL ? text : "";
}

/* A number of the level that this one is like; which that is, its note says. */
static void put_like(const system_draft *d, const level_draft *level, ridge_json *to,
                     const char *key)
{
    const char *stem = level->like->levels[level->like_level].axis.name;
    const ridge_fact *fact = fact_of(level->like, stem, key);
    if (fact == NULL)
        return;
    const char *note = ridge_sprintf(
        ridge_ctx_arena(d->cx), "as %s of %s%s%s%s", stem, level->like->name,
        strcmp(key, "bytes_per_s") == 0 ? unrated_text(d, level) : "",
        fact->note != NULL ? ": " : "", fact->note != NULL ? fact->note : "");
    ridge_fact own = *fact;
    if (is_shared_efficiency(level, key))
        own.value = bus_efficiency(level, fact->value);
    put_fact(d, to, key, &own, note);
}

/* What an analytical simulator leaves out is none. */
static void put_ideal(const system_draft *d, ridge_json *to)
{
    ridge_fact fact = *d->origin;
    fact.value = 0;
    put_fact(d, to, "startup_s", &fact, "the simulator has none");
    put_fact(d, to, "half_rate_bytes", &fact, "the simulator has none");
    fact.value = 1;
    put_fact(d, to, "efficiency", &fact, "its rates count as reached");
}

static void put_numbers(const system_draft *d, const level_draft *level, ridge_json *to)
{
    if (level->rate.key != NULL)
        put_fact(d, to, "bytes_per_s", &level->rate, level->rate.note);
    else
        put_like(d, level, to, "bytes_per_s");
    if (level->latency.key != NULL)
        put_fact(d, to, "latency_s", &level->latency, level->latency.note);
    else
        put_like(d, level, to, "latency_s");
    if (level->is_ideal) {
        put_ideal(d, to);
        return;
    }
    for (size_t i = 0; i < RIDGE_COUNT_OF(level_members); i++)
        put_like(d, level, to, level_members[i]);
    if (level->like->levels[level->like_level].axis.can_reduce)
        ridge_json_set_bool(to, "can_reduce", true);
}

static void put_levels(const system_draft *d, ridge_json *root)
{
    ridge_json *levels = ridge_json_set_array(d->cx, root, "levels");
    for (int i = 0; i < d->n_levels; i++) {
        const level_draft *level = &d->levels[i];
        ridge_json *to = ridge_json_push_object(d->cx, levels);
        ridge_json_set_text(to, "name", level->name);
        ridge_json_set_text(to, "kind", ridge_axis_kind_text(level->kind));
        ridge_json_set_i64(to, "size", level->size);
        put_numbers(d, level, to);
    }
    ridge_json_set_i64(root, "chips_per_node", d->chips_per_node);
}

/* What a node of the base is known to draw, where this is such a node. */
static void put_power(const system_draft *d, ridge_json *root)
{
    static const char *const members[] = {"node_watts", "training_watts_per_chip",
                                          "network_watts_per_chip"};
    const ridge_fact *host = fact_of(d->base, "", "host_bytes_per_chip");
    ridge_json *power = NULL;
    if (d->chips_per_node != d->base->chips_per_node)
        return;
    if (host != NULL)
        put_fact(d, root, "host_bytes_per_chip", host, host->note);
    for (size_t i = 0; i < RIDGE_COUNT_OF(members); i++) {
        const ridge_fact *fact = fact_of(d->base, "power", members[i]);
        if (fact != NULL && power == NULL)
            power = ridge_json_set_object(d->cx, root, "power");
        if (fact != NULL)
            put_fact(d, power, members[i], fact, fact->note);
    }
}

/* A file's name of characters that a name may have. */
static const char *name_of(ridge_ctx *cx, const char *from)
{
    enum { NAME_MOST = 48 };
    char name[NAME_MOST + 1] = {0};
    for (size_t i = 0; from[i] != '\0' && i < NAME_MOST; i++) {
        const char c = from[i];
        name[i] = c > ' ' && c < 127 && strchr(":*+,/\\\"@", c) == NULL ? c : '-';
    }
    return ridge_sprintf(ridge_ctx_arena(cx), "%s", name[0] != '\0' ? name : "system");
}

/* Rings alone are a torus of two axes or three. */
static ridge_status put_rings(const system_draft *d, ridge_json *root)
{
    const ridge_topology *t = d->topology;
    ridge_json *torus = ridge_json_set_object(d->cx, root, "torus");
    ridge_json *link = ridge_json_set_object(d->cx, torus, "link");
    const int dims = t->n_dims > 1 ? t->n_dims : 2;
    ridge_fact fact = *d->origin;
    for (int i = 1; i < t->n_dims; i++) {
        if (t->dims[i].bytes_per_s != t->dims[0].bytes_per_s ||
            t->dims[i].latency_s != t->dims[0].latency_s)
            return ridge_fail(d->cx, RIDGE_E_ARG,
                              "%s: rings of different rates: a torus of one is wanted",
                              t->file);
    }
    ridge_json_set_i64(torus, "dims", dims);
    ridge_json *most = ridge_json_set_array(d->cx, torus, "max_shape");
    ridge_json *host = ridge_json_set_array(d->cx, torus, "host_shape");
    for (int i = 0; i < dims; i++) {
        ridge_json_push_i64(most, i < t->n_dims ? t->dims[i].size : 1);
        ridge_json_push_i64(host, 1);
    }
    ridge_json_set_text(torus, "wrap_rule", "full-axis");
    fact.value = t->dims[0].bytes_per_s;
    put_fact(d, link, "bytes_per_s", &fact, NULL);
    fact.value = t->dims[0].latency_s;
    put_fact(d, link, "latency_s", &fact, NULL);
    put_ideal(d, link);
    return RIDGE_OK;
}

static bool is_rings(const ridge_topology *t)
{
    for (int i = 0; i < t->n_dims; i++) {
        if (t->dims[i].kind != RIDGE_AXIS_TORUS)
            return false;
    }
    return t->n_dims > 0 && t->n_dims <= 3;
}

static ridge_status put_network(system_draft *d, ridge_json *root)
{
    const ridge_topology *t = d->topology;
    if (is_rings(t))
        return put_rings(d, root);
    if (t->n_dims > 0) {
        RIDGE_TRY(ridge__draft_dims(d));
    } else if (d->base->torus_dims > 0) {
        return ridge_fail(d->cx, RIDGE_E_ARG,
                          "%s is a torus: %s tells of switched networks: name a chip "
                          "or a system of one",
                          d->base->name, t->file);
    } else {
        RIDGE_TRY(ridge__draft_node(d));
        RIDGE_TRY(ridge__draft_fabrics(d));
    }
    put_levels(d, root);
    if (t->n_dims == 0)
        put_power(d, root);
    return RIDGE_OK;
}

static ridge_status open_draft(ridge_ctx *cx, const ridge_catalog *catalog,
                               const ridge_system *base, const ridge_topology *t,
                               system_draft *out)
{
    const ridge_chip *chip = NULL;
    *out = (system_draft){.cx = cx, .catalog = catalog, .topology = t, .base = base};
    RIDGE_TRY(find_base(cx, catalog, base, t, &out->base));
    for (size_t i = 0; i < RIDGE_COUNT_OF(origins); i++) {
        if (strcmp(origins[i].format, t->format) == 0)
            out->origin = &origins[i].fact;
    }
    RIDGE_TRY(ridge__chip_lookup(cx, catalog, out->base->chip->name, &chip));
    if (chip != out->base->chip) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "the chip of %s stands in its own file: name one that "
                          "`ridge chips` lists",
                          out->base->name);
    }
    return ridge__catalog_devices(cx, catalog, &out->devices);
}

ridge_status ridge_topology_write_system(ridge_ctx *cx, const ridge_catalog *catalog,
                                         const ridge_system *base,
                                         const ridge_topology *topology, ridge_buf *out)
{
    system_draft d;
    RIDGE_TRY(open_draft(cx, catalog, base, topology, &d));
    if (d.origin == NULL)
        return ridge_fail(cx, RIDGE_E_INTERNAL, "%s: a format without a source",
                          topology->format);
    const char *name = name_of(cx, ridge__draft_file(topology));
    const char *full =
        ridge_sprintf(ridge_ctx_arena(cx), "%s, by %s of %s", d.base->chip->full_name,
                      topology->format, ridge__draft_file(topology));
    if (name == NULL || full == NULL)
        return ridge_fail_nomem(cx);
    ridge_json *root = ridge_json_object(cx);
    ridge_json_set_text(root, "name", name);
    ridge_json_set_text(root, "full_name", full);
    ridge_json_set_text(root, "chip", d.base->chip->name);
    RIDGE_TRY(put_network(&d, root));
    return ridge_json_write(cx, root, out);
}

/* ---- by name --------------------------------------------------------------------- */

/* An object with a network or a base of its own, or with a chip. */
static bool is_system_file(ridge_ctx *cx, const char *path)
{
    static const char *const own[] = {"levels", "torus", "chip", "base"};
    ridge_node root;
    const size_t n = strlen(path);
    if (n < 6 || strcmp(path + n - 5, ".json") != 0)
        return false;
    if (ridge_json_read(cx, path, &root) != RIDGE_OK) {
        ridge_ctx_clear(cx);
        return true; /* whose reader says what is wrong */
    }
    for (size_t i = 0; i < RIDGE_COUNT_OF(own); i++) {
        if (!ridge_json_is_absent(ridge_json_get(&root, own[i])))
            return true;
    }
    return false;
}

/* One more file over what the reading has come to. That no system can be made of it is
 * noted. */
static ridge_status lay_over(ridge_ctx *cx, const ridge_catalog *catalog,
                             const char *path, ridge_topology_reading *r)
{
    ridge_buf text;
    ridge_node root;
    ridge_system *system = NULL;
    const ridge_system *base = r->n > 0 ? r->system : r->base;
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    if (r->n == RIDGE_TOPOLOGY_FILES_MOST) {
        return ridge_fail(cx, RIDGE_E_ARG, "more than %d topology files",
                          RIDGE_TOPOLOGY_FILES_MOST);
    }
    RIDGE_TRY(ridge_topology_read(cx, path, &r->files[r->n]));
    const ridge_topology *topology = &r->files[r->n++];
    if (r->why_not != NULL)
        return RIDGE_OK;
    r->system = NULL;
    const ridge_status st =
        ridge_topology_write_system(cx, catalog, base, topology, &text);
    if (st == RIDGE_E_ARG) {
        r->why_not =
            ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(ridge_ctx_message(cx)));
        ridge_ctx_clear(cx);
        return r->why_not == NULL ? ridge_fail_nomem(cx) : RIDGE_OK;
    }
    RIDGE_TRY(st);
    r->system_text = ridge_buf_text(&text);
    RIDGE_TRY(ridge_json_parse(cx, (ridge_str){r->system_text, text.n}, path, &root));
    RIDGE_TRY(ridge__system_read(cx, root, catalog, NULL, &system));
    r->system = system;
    return RIDGE_OK;
}

/* What stands before the first '@': a name or a system file, or a topology itself. */
static ridge_status open_first(ridge_ctx *cx, const ridge_catalog *catalog,
                               const char *part, bool is_alone,
                               ridge_topology_reading *r)
{
    const bool is_name =
        !is_alone && !ridge_topology_is_path(part) && strchr(part, '.') == NULL;
    if (is_name)
        return ridge_system_find(cx, catalog, part, &r->base);
    if (is_system_file(cx, part))
        return ridge__system_open_file(cx, catalog, part, &r->base);
    return lay_over(cx, catalog, part, r);
}

ridge_status ridge_topology_open(ridge_ctx *cx, const ridge_catalog *catalog,
                                 const char *text, ridge_topology_reading *out)
{
    ridge_topology_reading r = {.n = 0};
    ridge_str rest = ridge_str_of(text);
    for (bool is_first = true; rest.p != NULL; is_first = false) {
        const char *part =
            ridge_str_dup(ridge_ctx_arena(cx), ridge_str_cut(&rest, '@'));
        if (part == NULL)
            return ridge_fail_nomem(cx);
        RIDGE_TRY(is_first ? open_first(cx, catalog, part, rest.p == NULL, &r)
                           : lay_over(cx, catalog, part, &r));
    }
    if (r.n == 0)
        r.system = r.base;
    *out = r;
    return RIDGE_OK;
}

ridge_status ridge_topology_system(ridge_ctx *cx, const ridge_catalog *catalog,
                                   const char *text, const ridge_system **out)
{
    ridge_topology_reading *r =
        ridge_new(ridge_ctx_arena(cx), ridge_topology_reading, 1);
    if (r == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge_topology_open(cx, catalog, text, r));
    if (r->system == NULL)
        return ridge_fail(cx, RIDGE_E_ARG, "%s", r->why_not);
    *out = r->system;
    return RIDGE_OK;
}
