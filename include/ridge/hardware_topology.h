/*
 * Topology files: what tools write of a machine or a network (nvidia-smi, rocm-smi,
 * NCCL, RCCL, lstopo, ibnetdiscover, topograph, ASTRA-sim, Mooncake), and the system
 * that is made of it.
 */
#ifndef RIDGE_HARDWARE_TOPOLOGY_H
#define RIDGE_HARDWARE_TOPOLOGY_H

#include "ridge/hardware.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How two devices of a node reach each other, nearest first. */
typedef enum ridge_path_kind {
    RIDGE_PATH_SELF,
    RIDGE_PATH_NVLINK, /* NVLink, directly or through NVSwitch */
    RIDGE_PATH_XGMI,   /* Infinity Fabric */
    RIDGE_PATH_PIX,    /* one PCIe switch */
    RIDGE_PATH_PXB,    /* several PCIe switches */
    RIDGE_PATH_PHB,    /* a host bridge */
    RIDGE_PATH_NODE,   /* host bridges of one NUMA node */
    RIDGE_PATH_SYS,    /* between NUMA nodes */
    RIDGE_PATH_UNKNOWN
} ridge_path_kind;
enum { RIDGE_PATH_KIND_COUNT = RIDGE_PATH_UNKNOWN + 1 };

/** @return "NV", "XGMI", "PIX", ... as nvidia-smi has them; static */
const char *ridge_path_kind_text(ridge_path_kind kind);

typedef struct ridge_path {
    ridge_path_kind kind;
    int links; /* NVLinks or xGMI links of the pair; 0: none, or not told */
} ridge_path;

/** A GPU or a NIC of a node. */
typedef struct ridge_device {
    const char *name;   /* "GPU0", "mlx5_0" */
    const char *pci_id; /* "10de:2330", or NULL */
    const char *target; /* "gfx942", or NULL */
    int numa;           /* -1: not told */
    int switch_links;   /* NVLinks into NVSwitch; 0: none, or not told */
    double bytes_per_s; /* a NIC's rate, a GPU's PCIe link, one way; 0: not told */
} ridge_device;

/** What a file tells of a node. No GPUs: nothing. */
typedef struct ridge_node_topology {
    int n_gpus, n_nics;
    const ridge_device *gpus;    /* [n_gpus] */
    const ridge_device *nics;    /* [n_nics] of the network between nodes */
    const ridge_path *gpu_paths; /* [n_gpus][n_gpus] */
    const ridge_path *nic_paths; /* [n_gpus][n_nics] */
    int slow_nics;               /* left out: slower by far than the others */
    bool has_links;              /* the file would tell NVLinks and xGMI links */
    const char *product;         /* of the machine: "NVIDIA DGX-2H"; or NULL */
} ridge_node_topology;

enum { RIDGE_FABRIC_LEVEL_MAX = 3 };

/** Switches of one level, innermost first. */
typedef struct ridge_fabric_level {
    const char *name; /* leaf, spine, core */
    int64_t switches;
    int64_t members; /* nodes of a leaf, leaves of a spine: the most usual; and */
    int64_t members_least, members_most;
    double down_bytes_per_s; /* a switch's, one way, mean; 0: not told */
    double up_bytes_per_s;
} ridge_fabric_level;

/** What a file tells of the network between nodes. No levels: nothing. */
typedef struct ridge_fabric {
    int n_levels;
    ridge_fabric_level levels[RIDGE_FABRIC_LEVEL_MAX];
    int64_t nodes;             /* that are named */
    int64_t unnamed_adapters;  /* of nodes without a name */
    int64_t adapters_per_node; /* the most usual; 0: not told */
    double adapter_bytes_per_s;
    bool has_rails;       /* the adapters of a node are on different leaves */
    bool can_reduce;      /* aggregation nodes in the switches (SHARP) */
    int64_t domain_nodes; /* of an NVLink domain, the most usual; 0: not told; and */
    int64_t domain_nodes_least, domain_nodes_most;
    bool has_outer_domain; /* domains lie in larger ones, which are left out */
    /* Messages between hosts, measured; 0: they were not. */
    double message_bytes_per_s; /* of one adapter, median */
    double message_latency_s;
    int64_t messages;
} ridge_fabric;

/** One dimension of a simulator's network, innermost first. */
typedef struct ridge_network_dim {
    ridge_axis_kind kind; /* torus: a ring */
    int64_t size;
    double bytes_per_s; /* of a chip, one way */
    double latency_s;
} ridge_network_dim;

enum { RIDGE_NETWORK_DIM_MAX = 4 };

typedef struct ridge_topology {
    const char *file;
    const char *format; /* "nvidia-smi topo -m" */
    ridge_node_topology node;
    ridge_fabric fabric;
    int n_dims; /* of a simulator's network; 0: it is none */
    ridge_network_dim dims[RIDGE_NETWORK_DIM_MAX];
} ridge_topology;

/** Whether a text is the path of such a file: it exists, or ends as they do. */
bool ridge_topology_is_path(const char *text);

/**
 * Read a topology file; what it is, its text tells.
 * @owner the ctx
 * @errors E_IO; E_PARSE: it is none, it is cut off, or it tells nothing of use
 */
RIDGE_NODISCARD ridge_status ridge_topology_read(ridge_ctx *cx, const char *path,
                                                 ridge_topology *out);
/** The same of a text. @param file  its name, for messages */
RIDGE_NODISCARD ridge_status ridge_topology_parse(ridge_ctx *cx, ridge_str text,
                                                  const char *file,
                                                  ridge_topology *out);

/**
 * A system file (data/systems) of what a topology tells; the rest is that of a base,
 * which its facts' notes say. Rates of NICs that the file does not tell are looked up
 * by their PCI ids.
 * @param base  a system; NULL: the default one of the chip that the file names
 * @param out   its text
 * @errors E_ARG: no base, and no chip in the file: the message says how to name one;
 *         E_NOTFOUND, E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_topology_write_system(ridge_ctx *cx,
                                                         const ridge_catalog *catalog,
                                                         const ridge_system *base,
                                                         const ridge_topology *topology,
                                                         ridge_buf *out);

enum { RIDGE_TOPOLOGY_FILES_MOST = 4 };

/** What a text that names topology files comes to. */
typedef struct ridge_topology_reading {
    const ridge_system *base; /* that the text names, or NULL */
    int n;                    /* files, from the left */
    ridge_topology files[RIDGE_TOPOLOGY_FILES_MOST];
    const ridge_system *system; /* NULL: none can be made, because of: */
    const char *why_not;        /* a message with the way out; else NULL */
    const char *system_text;    /* the file of data/systems; NULL without a system */
} ridge_topology_reading;

/**
 * Read "FILE", "BASE@FILE" or "BASE@FILE@FILE": what the files tell, from the left,
 * over BASE, a chip, a system or a system file.
 * @owner the ctx
 * @errors those of ridge_topology_read, and of BASE's name. No error: that no system
 *         can be made
 */
RIDGE_NODISCARD ridge_status ridge_topology_open(ridge_ctx *cx,
                                                 const ridge_catalog *catalog,
                                                 const char *text,
                                                 ridge_topology_reading *out);

/** Its system alone. @errors those above; E_ARG with why there is none */
RIDGE_NODISCARD ridge_status ridge_topology_system(ridge_ctx *cx,
                                                   const ridge_catalog *catalog,
                                                   const char *text,
                                                   const ridge_system **out);

#ifdef __cplusplus
}
#endif

#endif
