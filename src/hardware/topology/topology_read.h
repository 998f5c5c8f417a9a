/* The readers of topology files, one for each format. */
#ifndef RIDGE_TOPOLOGY_READ_H
#define RIDGE_TOPOLOGY_READ_H

#include "ridge/hardware_topology.h"

/** Most GPUs, and most NICs, of a node. */
enum { NODE_DEVICES_MOST = 256 };

/** A whole matrix of one node, as `nvidia-smi topo -m` and `rocm-smi --showtopo` print.
 * @errors E_PARSE with file:line; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__matrix_read(ridge_ctx *cx, ridge_str text,
                                                ridge_topology *out);

/** XML of NCCL, RCCL or lstopo. @errors E_PARSE with file:line; E_NOMEM; without expat
 * E_ARG */
RIDGE_NODISCARD ridge_status ridge__topology_xml_read(ridge_ctx *cx, ridge_str text,
                                                      ridge_topology *out);

/** Output of ibnetdiscover. @errors E_PARSE with file:line; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__infiniband_read(ridge_ctx *cx, ridge_str text,
                                                    ridge_topology *out);

/** A cluster model of topograph: switches, blocks of nodes, domains.
 * @errors E_PARSE with file:line; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__cluster_model_read(ridge_ctx *cx, ridge_node root,
                                                       ridge_topology *out);

/** An analytical network of ASTRA-sim. @errors E_PARSE with file:line */
RIDGE_NODISCARD ridge_status ridge__simulator_network_read(ridge_ctx *cx,
                                                           ridge_node root,
                                                           ridge_topology *out);

/** Messages between hosts that Mooncake measured. @errors E_PARSE; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__message_survey_read(ridge_ctx *cx, ridge_node root,
                                                        ridge_topology *out);

/** The most usual of counts, the greater of two that are as usual; 0 without counts.
 * Sorts them. */
int64_t ridge__usual_count(int64_t *counts, size_t n);

#endif
