/*
 * GPUs, NICs and how they reach each other, of a tree of PCI devices.
 *
 * GPUs are the devices that the file calls so; where it calls none so, those of a class
 * of GPUs. Two devices meet at the nearest node above both: a PCIe switch that both
 * hang on (PIX), several (PXB), a host bridge (PHB), a socket (NODE), the machine
 * (SYS).
 * @source nccl-topology
 * @source pci-code-id
 */
#include "pci_tree.h"

#include <string.h>

#include "topology_read.h"

enum {
    CLASS_VGA = 0x0300,
    CLASS_3D = 0x0302,
    CLASS_DISPLAY = 0x0380,
    CLASS_ACCELERATOR = 0x1200,
    CLASS_ETHERNET = 0x0200,
    CLASS_INFINIBAND = 0x0207,
    CLASS_NETWORK = 0x0280
};

/* NICs below 10 Gbit/s, or this much slower than the fastest, are for management. */
static const double SLOW_NIC_BYTES_PER_S = 1.25e9, SLOW_NIC_SHARE = 0.25;

ridge_status ridge__pci_tree_open(ridge_ctx *cx, pci_tree *out)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    *out = (pci_tree){.cx = cx,
                      .nodes = ridge_new(arena, pci_node, PCI_TREE_NODES_MOST),
                      .nets = ridge_new(arena, pci_net, NODE_DEVICES_MOST),
                      .links = ridge_new(arena, pci_link, PCI_LINKS_MOST),
                      .n_nodes = 1};
    if (out->nodes == NULL || out->nets == NULL || out->links == NULL)
        return ridge_fail_nomem(cx);
    out->nodes[0] = (pci_node){.kind = PCI_ROOT, .parent = -1, .class_id = -1};
    return RIDGE_OK;
}

int ridge__pci_tree_add(pci_tree *tree, const pci_node *node)
{
    if (tree->n_nodes == PCI_TREE_NODES_MOST)
        return -1;
    tree->nodes[tree->n_nodes] = *node;
    tree->nodes[tree->n_nodes].depth = tree->nodes[node->parent].depth + 1;
    return tree->n_nodes++;
}

bool ridge__pci_tree_add_net(pci_tree *tree, const pci_net *net)
{
    if (tree->n_nets == NODE_DEVICES_MOST)
        return false;
    tree->nets[tree->n_nets++] = *net;
    return true;
}

bool ridge__pci_tree_add_link(pci_tree *tree, const pci_link *link)
{
    if (tree->n_links == PCI_LINKS_MOST)
        return false;
    tree->links[tree->n_links++] = *link;
    return true;
}

/* ---- which are devices of interest ----------------------------------------------- */

/* Node indexes of GPUs and of NICs. */
typedef struct selection {
    int gpus[NODE_DEVICES_MOST], nics[NODE_DEVICES_MOST];
    int n_gpus, n_nics;
} selection;

static bool has_class_of_gpu(const pci_node *node)
{
    const bool is_vendor_of_gpus =
        node->pci_id != NULL && (strncmp(node->pci_id, "10de:", 5) == 0 ||
                                 strncmp(node->pci_id, "1002:", 5) == 0);
    return node->class_id == CLASS_3D || node->class_id == CLASS_DISPLAY ||
           node->class_id == CLASS_ACCELERATOR ||
           (node->class_id == CLASS_VGA && is_vendor_of_gpus);
}

static bool has_class_of_nic(const pci_node *node)
{
    return node->class_id == CLASS_INFINIBAND || node->class_id == CLASS_ETHERNET ||
           node->class_id == CLASS_NETWORK;
}

/* Nodes that pass @p test. @return false: more than there is room for */
static bool select_nodes(const pci_tree *tree, bool (*test)(const pci_node *), int *out,
                         int *n)
{
    for (int i = 1; i < tree->n_nodes; i++) {
        if (tree->nodes[i].kind != PCI_DEVICE || !test(&tree->nodes[i]))
            continue;
        if (*n == NODE_DEVICES_MOST)
            return false;
        out[(*n)++] = i;
    }
    return true;
}

static bool is_said_gpu(const pci_node *node)
{
    return node->is_gpu;
}

static bool is_infiniband(const pci_node *node)
{
    return node->class_id == CLASS_INFINIBAND;
}

static bool select_devices(const pci_tree *tree, selection *s)
{
    bool has_room = select_nodes(tree, is_said_gpu, s->gpus, &s->n_gpus);
    if (s->n_gpus == 0)
        has_room = select_nodes(tree, has_class_of_gpu, s->gpus, &s->n_gpus);
    if (tree->n_nets > 0 || !has_room)
        return has_room; /* its interfaces tell which are NICs */
    has_room = select_nodes(tree, is_infiniband, s->nics, &s->n_nics);
    return s->n_nics > 0 || !has_room
               ? has_room
               : select_nodes(tree, has_class_of_nic, s->nics, &s->n_nics);
}

/* ---- paths ----------------------------------------------------------------------- */

static ridge_path_kind path_between(const pci_tree *tree, int a, int b)
{
    const pci_node *nodes = tree->nodes;
    int x = a, y = b;
    if (a == b)
        return RIDGE_PATH_SELF;
    while (x != y) {
        if (nodes[x].depth >= nodes[y].depth)
            x = nodes[x].parent;
        else
            y = nodes[y].parent;
    }
    switch (nodes[x].kind) {
    case PCI_DEVICE:
        return nodes[a].depth <= nodes[x].depth + 1 &&
                       nodes[b].depth <= nodes[x].depth + 1
                   ? RIDGE_PATH_PIX
                   : RIDGE_PATH_PXB;
    case PCI_HOST_BRIDGE:
        return RIDGE_PATH_PHB;
    case PCI_SOCKET:
        return tree->is_sockets_of_bridges ? RIDGE_PATH_NODE : RIDGE_PATH_PHB;
    case PCI_ROOT:
        break;
    }
    return RIDGE_PATH_SYS;
}

static int numa_of(const pci_tree *tree, int node)
{
    for (; node > 0; node = tree->nodes[node].parent) {
        if (tree->nodes[node].kind == PCI_SOCKET)
            return tree->nodes[node].numa;
    }
    return -1;
}

/* The slowest PCIe link from a device to its host; 0: none is told. */
static double link_of(const pci_tree *tree, int node)
{
    double least = 0;
    for (; node > 0 && tree->nodes[node].kind == PCI_DEVICE;
         node = tree->nodes[node].parent) {
        const double v = tree->nodes[node].link_bytes_per_s;
        if (v > 0 && (least == 0 || v < least))
            least = v;
    }
    return least;
}

/* ---- what is told ---------------------------------------------------------------- */

typedef struct node_builder {
    const pci_tree *tree;
    const selection *s;
    ridge_device *gpus, *nics;
    ridge_path *gpu_paths, *nic_paths;
    int nic_nodes[NODE_DEVICES_MOST];
    int n_nics, slow_nics;
    bool has_loops; /* links that end where they start: their other end is not told */
} node_builder;

static void set_gpus(node_builder *b)
{
    const selection *s = b->s;
    ridge_arena *arena = ridge_ctx_arena(b->tree->cx);
    for (int i = 0; i < s->n_gpus; i++) {
        const pci_node *node = &b->tree->nodes[s->gpus[i]];
        b->gpus[i] = (ridge_device){.name = ridge_sprintf(arena, "GPU%d", i),
                                    .pci_id = node->pci_id,
                                    .target = node->target,
                                    .numa = numa_of(b->tree, s->gpus[i]),
                                    .bytes_per_s = link_of(b->tree, s->gpus[i])};
        for (int k = 0; k < s->n_gpus; k++) {
            b->gpu_paths[i * s->n_gpus + k] =
                (ridge_path){path_between(b->tree, s->gpus[i], s->gpus[k]), 0};
        }
    }
}

/* The GPU at the other end; -1: none of them. */
static int gpu_at(const node_builder *b, const char *bus_id)
{
    for (int i = 0; i < b->s->n_gpus; i++) {
        const char *own = b->tree->nodes[b->s->gpus[i]].bus_id;
        if (own != NULL && bus_id != NULL && strcmp(own, bus_id) == 0)
            return i;
    }
    return -1;
}

static int gpu_of_node(const node_builder *b, int node)
{
    for (int i = 0; i < b->s->n_gpus; i++) {
        if (b->s->gpus[i] == node)
            return i;
    }
    return -1;
}

static void set_links(node_builder *b)
{
    const int n = b->s->n_gpus;
    for (int i = 0; i < b->tree->n_links; i++) {
        const pci_link *link = &b->tree->links[i];
        const int from = gpu_of_node(b, link->from);
        if (from >= 0 && link->is_to_switch)
            b->gpus[from].switch_links += link->count;
        const int to = link->is_to_switch ? -1 : gpu_at(b, link->target);
        b->has_loops = b->has_loops || (from >= 0 && from == to);
        if (from < 0 || to < 0 || from == to)
            continue;
        const ridge_path path = {link->is_xgmi ? RIDGE_PATH_XGMI : RIDGE_PATH_NVLINK,
                                 link->count};
        b->gpu_paths[from * n + to] = path;
        b->gpu_paths[to * n + from] = path;
    }
}

/* GPUs on one switch reach each other with all of their links. */
static void set_switch_paths(node_builder *b)
{
    const int n = b->s->n_gpus;
    for (int i = 0; i < n * n; i++) {
        const int x = b->gpus[i / n].switch_links, y = b->gpus[i % n].switch_links;
        if (i / n != i % n && x > 0 && y > 0)
            b->gpu_paths[i] = (ridge_path){RIDGE_PATH_NVLINK, x < y ? x : y};
    }
}

static void add_nic(node_builder *b, int node, const char *name, double bytes_per_s)
{
    b->nic_nodes[b->n_nics] = node;
    b->nics[b->n_nics++] = (ridge_device){.name = name,
                                          .pci_id = b->tree->nodes[node].pci_id,
                                          .numa = numa_of(b->tree, node),
                                          .bytes_per_s = bytes_per_s};
}

static void set_nics(node_builder *b)
{
    const pci_tree *tree = b->tree;
    ridge_arena *arena = ridge_ctx_arena(tree->cx);
    double most = 0;
    for (int i = 0; i < tree->n_nets; i++)
        most = tree->nets[i].bytes_per_s > most ? tree->nets[i].bytes_per_s : most;
    for (int i = 0; i < tree->n_nets; i++) {
        const pci_net *net = &tree->nets[i];
        if (net->bytes_per_s > 0 && (net->bytes_per_s < SLOW_NIC_SHARE * most ||
                                     net->bytes_per_s < SLOW_NIC_BYTES_PER_S))
            b->slow_nics++;
        else
            add_nic(b, net->node, net->name, net->bytes_per_s);
    }
    for (int i = 0; i < b->s->n_nics; i++)
        add_nic(b, b->s->nics[i], ridge_sprintf(arena, "NIC%d", i), 0);
    for (int i = 0; i < b->s->n_gpus * b->n_nics; i++) {
        const int gpu = b->s->gpus[i / b->n_nics];
        b->nic_paths[i] =
            (ridge_path){path_between(tree, gpu, b->nic_nodes[i % b->n_nics]), 0};
    }
}

static ridge_status open_arrays(node_builder *b)
{
    ridge_arena *arena = ridge_ctx_arena(b->tree->cx);
    const size_t n = (size_t)b->s->n_gpus;
    const size_t m = (size_t)(b->tree->n_nets + b->s->n_nics);
    b->gpus = ridge_new(arena, ridge_device, n + 1);
    b->nics = ridge_new(arena, ridge_device, m + 1);
    b->gpu_paths = ridge_new(arena, ridge_path, n * n + 1);
    b->nic_paths = ridge_new(arena, ridge_path, n * m + 1);
    return b->gpus && b->nics && b->gpu_paths && b->nic_paths
               ? RIDGE_OK
               : ridge_fail_nomem(b->tree->cx);
}

ridge_status ridge__pci_tree_node(const pci_tree *tree, const char *file,
                                  ridge_node_topology *out)
{
    selection *s = ridge_new(ridge_ctx_arena(tree->cx), selection, 1);
    node_builder *b = ridge_new(ridge_ctx_arena(tree->cx), node_builder, 1);
    if (s == NULL || b == NULL)
        return ridge_fail_nomem(tree->cx);
    if (!select_devices(tree, s)) {
        return ridge_fail(tree->cx, RIDGE_E_PARSE,
                          "%s: more than %d GPUs or NICs of one machine", file,
                          NODE_DEVICES_MOST);
    }
    *b = (node_builder){.tree = tree, .s = s};
    RIDGE_TRY(open_arrays(b));
    set_gpus(b);
    set_links(b);
    set_switch_paths(b);
    set_nics(b);
    *out = (ridge_node_topology){.n_gpus = s->n_gpus,
                                 .n_nics = b->n_nics,
                                 .gpus = b->gpus,
                                 .nics = b->nics,
                                 .gpu_paths = b->gpu_paths,
                                 .nic_paths = b->nic_paths,
                                 .slow_nics = b->slow_nics,
                                 .has_links = tree->has_links && !b->has_loops,
                                 .product = tree->product};
    return RIDGE_OK;
}
