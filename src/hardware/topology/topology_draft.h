/* A system under construction: what a topology tells, and what it takes from others. */
#ifndef RIDGE_TOPOLOGY_DRAFT_H
#define RIDGE_TOPOLOGY_DRAFT_H

#include "ridge/hardware_topology.h"

#include "device_read.h"

/** One level. Numbers that it has not itself are those of a level that is like it. */
typedef struct level_draft {
    const char *name;
    ridge_axis_kind kind;
    int64_t size;       /* 0: no limit */
    ridge_fact rate;    /* bytes_per_s; key NULL: as the other's */
    ridge_fact latency; /* latency_s; the same */
    bool is_ideal;      /* a simulator's: nothing is lost, and no other is asked */
    const ridge_system *like;
    int like_level;
} level_draft;

typedef struct system_draft {
    ridge_ctx *cx;
    const ridge_catalog *catalog;
    const ridge_topology *topology;
    const ridge_system *base;
    const device_list *devices;
    const ridge_fact *origin; /* source and date of what the file tells */
    int64_t chips_per_node;
    level_draft levels[RIDGE_LEVEL_MAX];
    int n_levels;
} system_draft;

/** Levels before the first fabric: the file's, else the base's.
 * @errors E_ARG: how GPUs are joined is not told; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__draft_node(system_draft *d);

/** Fabrics: the file's, else the base's. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__draft_fabrics(system_draft *d);

/** Levels of a simulator's switched network. @errors E_ARG: rings among switches */
RIDGE_NODISCARD ridge_status ridge__draft_dims(system_draft *d);

/** The level of the base, as it is. */
void ridge__draft_base_level(system_draft *d, int level);

/** First level of the base that is a fabric; its number of levels: none is. */
int ridge__first_fabric(const ridge_system *system);

/** The file's name without its folders. */
const char *ridge__draft_file(const ridge_topology *topology);

/** Chips in one host of a system: in a node, unless it says otherwise. */
int64_t ridge__host_chips(const ridge_system *system);

#endif
