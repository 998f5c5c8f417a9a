/* The PCI devices of a machine as a tree, and the GPUs and NICs that are in it. */
#ifndef RIDGE_PCI_TREE_H
#define RIDGE_PCI_TREE_H

#include "ridge/hardware_topology.h"

enum { PCI_TREE_NODES_MOST = 8192, PCI_LINKS_MOST = 65536 };

typedef enum pci_kind {
    PCI_ROOT,        /* the machine; node 0 */
    PCI_SOCKET,      /* processors of one NUMA node */
    PCI_HOST_BRIDGE, /* of a socket */
    PCI_DEVICE       /* a bridge, a GPU, a NIC, ... */
} pci_kind;

typedef struct pci_node {
    pci_kind kind;
    int parent; /* -1: the root */
    int numa;   /* of a socket */
    int depth;
    const char *bus_id;
    const char *pci_id; /* "10de:2330", or NULL */
    const char *target; /* gfx942, or NULL */
    int class_id;       /* 0x0302; -1: not told */
    bool is_gpu;        /* said to be one */
    double link_bytes_per_s;
} pci_node;

/** A network interface. */
typedef struct pci_net {
    int node;
    const char *name;
    double bytes_per_s; /* 0: not told */
} pci_net;

/** NVLinks or xGMI links of a GPU with one other end. */
typedef struct pci_link {
    int from;
    const char *target; /* bus id of the other end */
    int count;
    bool is_xgmi;
    bool is_to_switch;
} pci_link;

typedef struct pci_tree {
    ridge_ctx *cx;
    pci_node *nodes;
    pci_net *nets;
    pci_link *links;
    int n_nodes, n_nets, n_links;
    bool is_sockets_of_bridges; /* host bridges are told: what meets in a socket has
                                 * passed two of them */
    bool has_links;             /* the file would tell links between GPUs */
    const char *product;
} pci_tree;

/** With its root. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__pci_tree_open(ridge_ctx *cx, pci_tree *out);

/** @return the new node's index, or -1: there are too many */
int ridge__pci_tree_add(pci_tree *tree, const pci_node *node);

/** Room for an interface or a link is checked here. @return false: there is none */
bool ridge__pci_tree_add_net(pci_tree *tree, const pci_net *net);
bool ridge__pci_tree_add_link(pci_tree *tree, const pci_link *link);

/** GPUs, NICs and their paths. @errors E_PARSE: too many; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__pci_tree_node(const pci_tree *tree,
                                                  const char *file,
                                                  ridge_node_topology *out);

#endif
