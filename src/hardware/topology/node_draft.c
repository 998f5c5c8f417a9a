/*
 * The levels inside a node. GPUs that NVLinks or xGMI links join, through whatever
 * others, are a domain; domains of one size are the first level, and PCIe joins them.
 *
 * A domain is a switch when each pair has more links than the GPU could give to each
 * of the others, and a mesh otherwise: a GPU's links are then the sum over its peers.
 */
#include "topology_draft.h"

#include <string.h>

/* Most NVLinks of any GPU; 18 since the H100. */
enum { GPU_LINKS_MOST = 18, GPUS_MOST = 256 };

/* Whose figures are taken where neither the base nor the chip's other systems have
 * such a level. */
static const char like_switch[] = "dgx-h100", like_mesh[] = "a100-pcie-pairs",
                  like_bus[] = "l40s-8", like_bus_p2p[] = "l40s-8-p2p";

/** What the paths between a node's GPUs come to, in the file's GPUs. */
typedef struct node_shape {
    int domain;    /* GPUs that links join; 1: none */
    bool is_even;  /* domains are of one size */
    bool is_whole; /* every pair of a domain has a link of its own */
    bool is_xgmi;
    bool is_switch;
    int links;      /* of a GPU */
    bool is_told;   /* how GPUs are joined */
    bool is_direct; /* over PCIe switches alone */
} node_shape;

int ridge__first_fabric(const ridge_system *system)
{
    int i = 0;
    while (i < system->n_levels && system->levels[i].axis.kind != RIDGE_AXIS_FABRIC)
        i++;
    return i;
}

const char *ridge__draft_file(const ridge_topology *topology)
{
    const char *slash = strrchr(topology->file, '/');
    return slash == NULL ? topology->file : slash + 1;
}

int64_t ridge__host_chips(const ridge_system *system)
{
    return system->chips_per_host > 0 ? system->chips_per_host : system->chips_per_node;
}

void ridge__draft_base_level(system_draft *d, int level)
{
    const ridge_axis *axis = &d->base->levels[level].axis;
    if (d->n_levels == RIDGE_LEVEL_MAX)
        return;
    d->levels[d->n_levels++] = (level_draft){.name = axis->name,
                                             .kind = axis->kind,
                                             .size = axis->size,
                                             .like = d->base,
                                             .like_level = level};
}

/* ---- shapes ---------------------------------------------------------------------- */

static bool is_link(ridge_path path)
{
    return path.kind == RIDGE_PATH_NVLINK || path.kind == RIDGE_PATH_XGMI;
}

/* domains[i]: the least GPU that i is joined with. */
static void find_domains(const ridge_node_topology *node, int *domains)
{
    const int n = node->n_gpus;
    for (int i = 0; i < n; i++)
        domains[i] = i;
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (int i = 0; i < n * n; i++) {
            const int a = i / n, b = i % n;
            if (!is_link(node->gpu_paths[i]) || domains[a] >= domains[b])
                continue;
            domains[b] = domains[a];
            is_changed = true;
        }
    }
}

static int domain_size(const int *domains, int n, int domain)
{
    int size = 0;
    for (int i = 0; i < n; i++)
        size += domains[i] == domain;
    return size;
}

/* The least links that a GPU has in all. */
static int links_of_gpu(const ridge_node_topology *node, bool is_switch)
{
    const int n = node->n_gpus;
    int least = 0;
    for (int a = 0; a < n; a++) {
        int sum = 0, most = 0;
        for (int b = 0; b < n; b++) {
            const ridge_path path = node->gpu_paths[a * n + b];
            sum += is_link(path) ? path.links : 0;
            most = is_link(path) && path.links > most ? path.links : most;
        }
        const int own = is_switch ? most : sum;
        least = a == 0 || own < least ? own : least;
    }
    return least;
}

static node_shape shape_of(const ridge_node_topology *node)
{
    int domains[GPUS_MOST];
    const int n = node->n_gpus;
    node_shape s = {.is_even = true, .is_whole = true, .is_direct = true};
    find_domains(node, domains);
    s.domain = domain_size(domains, n, domains[0]);
    int sum = 0;
    for (int i = 0; i < n * n; i++) {
        const ridge_path path = node->gpu_paths[i];
        const bool is_pair = i / n != i % n;
        const bool is_near = domains[i / n] == domains[i % n];
        s.is_even = s.is_even && domain_size(domains, n, domains[i / n]) == s.domain;
        s.is_whole = s.is_whole && (!is_pair || !is_near || is_link(path));
        s.is_xgmi = s.is_xgmi || path.kind == RIDGE_PATH_XGMI;
        s.is_told = s.is_told || (is_pair && path.kind != RIDGE_PATH_UNKNOWN);
        s.is_direct = s.is_direct && (!is_pair || path.kind < RIDGE_PATH_PHB);
        sum += i / n == 0 && is_link(path) ? path.links : 0;
    }
    s.is_told = s.is_told || n == 1;
    if (!s.is_even)
        s.domain = 1;
    s.is_switch = !s.is_xgmi && s.domain > 2 && s.is_whole && sum > GPU_LINKS_MOST;
    s.is_switch = s.is_switch || node->gpus[0].switch_links > 0;
    s.links = s.domain > 1 ? links_of_gpu(node, s.is_switch) : 0;
    return s;
}

/* ---- levels like them ------------------------------------------------------------ */

static int level_of_kind(const ridge_system *system, ridge_axis_kind kind)
{
    for (int i = 0; i < system->n_levels; i++) {
        if (system->levels[i].axis.kind == kind && system->levels[i].axis.size != 1)
            return i;
    }
    return -1;
}

/* Whose numbers a level takes: the base's, those of another system of the chip, or of
 * one that is named here. */
static ridge_status find_like(system_draft *d, ridge_axis_kind kind, const char *name,
                              level_draft *out)
{
    out->like = d->base;
    out->like_level = level_of_kind(d->base, kind);
    for (size_t i = 0;
         out->like_level < 0 && i < ridge_catalog_system_count(d->catalog); i++) {
        const ridge_system *s = ridge_catalog_system(d->catalog, i);
        if (s == NULL || s->chip != d->base->chip)
            continue;
        out->like = s;
        out->like_level = level_of_kind(s, kind);
    }
    if (out->like_level >= 0)
        return RIDGE_OK;
    RIDGE_TRY(ridge_system_find(d->cx, d->catalog, name, &out->like));
    out->like_level = level_of_kind(out->like, kind);
    return out->like_level >= 0
               ? RIDGE_OK
               : ridge_fail(d->cx, RIDGE_E_NOTFOUND,
                            "system %s has no level of kind %s to take figures from",
                            name, ridge_axis_kind_text(kind));
}

/* ---- levels ---------------------------------------------------------------------- */

/* Devices of a file that make up one chip: a module of two dies is two. */
static int dies_of(const system_draft *d)
{
    const int devices = d->base->chip->devices > 1 ? d->base->chip->devices : 1;
    return d->topology->node.n_gpus % devices == 0 ? devices : 1;
}

/* Most links that a GPU has with one other: of a module, those inside it. */
static int links_inside(const ridge_node_topology *node)
{
    int most = 0;
    for (int b = 1; b < node->n_gpus; b++) {
        const ridge_path path = node->gpu_paths[b];
        most = is_link(path) && path.links > most ? path.links : most;
    }
    return most;
}

static ridge_status add_link_level(system_draft *d, const node_shape *s)
{
    const int dies = dies_of(d);
    const int own = dies > 1 ? s->links - links_inside(&d->topology->node) : s->links;
    const device_row *link =
        ridge__device_find(d->devices, DEVICE_LINK, d->base->chip->name);
    level_draft level = {.name = s->is_xgmi ? "xgmi" : "nvlink",
                         .kind = s->is_switch ? RIDGE_AXIS_SWITCH : RIDGE_AXIS_MESH,
                         .size = s->domain / dies};
    RIDGE_TRY(find_like(d, level.kind, s->is_switch ? like_switch : like_mesh, &level));
    if (link != NULL && own > 0) {
        level.rate = link->rate;
        level.rate.value *= own * dies;
        level.rate.note =
            ridge_sprintf(ridge_ctx_arena(d->cx), "%s: %d links of %s a chip%s",
                          ridge__draft_file(d->topology), own * dies,
                          ridge_format_si(link->rate.value, "B/s").s,
                          s->is_whole ? "" : "; not every pair has one");
        if (level.rate.note == NULL)
            return ridge_fail_nomem(d->cx);
    }
    d->levels[d->n_levels++] = level;
    return RIDGE_OK;
}

static ridge_status add_bus_level(system_draft *d, const node_shape *s)
{
    const ridge_node_topology *node = &d->topology->node;
    level_draft level = {
        .name = "pcie", .kind = RIDGE_AXIS_BUS, .size = node->n_gpus / s->domain};
    double least = 0;
    RIDGE_TRY(find_like(d, level.kind, s->is_direct ? like_bus_p2p : like_bus, &level));
    for (int i = 0; i < node->n_gpus; i++) {
        const double v = node->gpus[i].bytes_per_s;
        least = v > 0 && (least == 0 || v < least) ? v : least;
    }
    const double own = least > 0 ? least : d->base->chip->pcie_bytes_per_s;
    if (own > 0) {
        level.rate = *d->origin;
        level.rate.key = "bytes_per_s";
        level.rate.value = own;
        level.rate.note = least > 0
                              ? "the slowest link of a GPU to its host in the file"
                              : "not told by the file: the chip's link to its host";
    }
    d->levels[d->n_levels++] = level;
    return RIDGE_OK;
}

/* Such a node as the base has: its own levels. */
static ridge_status take_base_node(system_draft *d, int64_t chips)
{
    const int n = ridge__first_fabric(d->base);
    if (chips != d->base->chips_per_node) {
        return ridge_fail(d->cx, RIDGE_E_ARG,
                          "%s does not tell how its %d GPUs are joined, and %s has %d "
                          "a node: name a system with such nodes, as in NAME@FILE",
                          d->topology->file, (int)chips, d->base->name,
                          (int)d->base->chips_per_node);
    }
    for (int i = 0; i < n; i++)
        ridge__draft_base_level(d, i);
    return RIDGE_OK;
}

/* Links are of the chip's vendor. */
static ridge_status check_vendor(const system_draft *d, const node_shape *s)
{
    const char *vendor = s->is_xgmi ? "AMD" : "NVIDIA";
    if (s->domain == 1 || strcmp(d->base->chip->vendor, vendor) == 0)
        return RIDGE_OK;
    return ridge_fail(d->cx, RIDGE_E_ARG,
                      "%s: its GPUs are joined by %s, and %s is of %s: name their chip",
                      d->topology->file, s->is_xgmi ? "xGMI" : "NVLink",
                      d->base->chip->name, d->base->chip->vendor);
}

/* Whether the file's paths are all that there is: chips without links have no others.
 */
static bool is_told(const system_draft *d, const node_shape *s)
{
    return s->is_told &&
           (d->topology->node.has_links ||
            ridge__device_find(d->devices, DEVICE_LINK, d->base->chip->name) == NULL);
}

ridge_status ridge__draft_node(system_draft *d)
{
    const ridge_node_topology *node = &d->topology->node;
    const int n = ridge__first_fabric(d->base);
    d->chips_per_node = d->base->chips_per_node;
    if (node->n_gpus == 0) {
        for (int i = 0; i < n; i++)
            ridge__draft_base_level(d, i);
        return RIDGE_OK;
    }
    const node_shape shape = shape_of(node);
    d->chips_per_node = node->n_gpus / dies_of(d);
    RIDGE_TRY(check_vendor(d, &shape));
    if (!is_told(d, &shape))
        return take_base_node(d, d->chips_per_node);
    if (shape.domain / dies_of(d) > 1)
        RIDGE_TRY(add_link_level(d, &shape));
    if (node->n_gpus > shape.domain || d->n_levels == 0)
        RIDGE_TRY(add_bus_level(d, &shape));
    return RIDGE_OK;
}
