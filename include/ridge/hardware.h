/*
 * Hardware: chips, the networks that join them, slices of a system, and how the axes
 * of a mesh lie on a slice. Facts come from data/chips, data/systems and data/prices;
 * this layer knows nothing of models.
 */
#ifndef RIDGE_HARDWARE_H
#define RIDGE_HARDWARE_H

#include "ridge/base.h"
#include "ridge/base_embedded.h"
#include "ridge/hardware_measured.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- number formats --------------------------------------------------------- */

/* name, text, bits */
/* clang-format off */
#define RIDGE_DTYPE_LIST(X) \
    X(FP64, "fp64", 64)     \
    X(FP32, "fp32", 32)     \
    X(TF32, "tf32", 32)     \
    X(BF16, "bf16", 16)     \
    X(FP16, "fp16", 16)     \
    X(FP8,  "fp8",   8)     \
    X(INT8, "int8",  8)     \
    X(FP6,  "fp6",   6)     \
    X(FP4,  "fp4",   4)     \
    X(INT4, "int4",  4)
/* clang-format on */

typedef enum ridge_dtype {
#define RIDGE_DTYPE_ENUM(name, text, bits) RIDGE_DTYPE_##name,
    RIDGE_DTYPE_LIST(RIDGE_DTYPE_ENUM)
#undef RIDGE_DTYPE_ENUM
} ridge_dtype;

#define RIDGE_DTYPE_ONE(name, text, bits) +1
enum { RIDGE_DTYPE_COUNT = 0 RIDGE_DTYPE_LIST(RIDGE_DTYPE_ONE) };
#undef RIDGE_DTYPE_ONE

/** @return "bf16" and the like, as ridge_dtype_parse takes it; static, never NULL */
const char *ridge_dtype_text(ridge_dtype dtype);
/** Bytes an element takes, without scales; a half for 4-bit formats. Cannot fail. */
double ridge_dtype_bytes(ridge_dtype dtype);
/** Also takes the usual other names: float32, f32, bfloat16, e4m3, nvfp4, mxfp4, s8.
 * @errors E_NOTFOUND with the nearest names, or all */
RIDGE_NODISCARD ridge_status ridge_dtype_parse(ridge_ctx *cx, const char *text,
                                               ridge_dtype *out);

/* ---- chips ---------------------------------------------------------------------- */

typedef enum ridge_chip_kind {
    RIDGE_CHIP_TPU,         /* systolic array, VMEM */
    RIDGE_CHIP_GPU,         /* many SMs (CUs) with tensor cores */
    RIDGE_CHIP_ACCELERATOR, /* other: Gaudi, Trainium */
    RIDGE_CHIP_CPU
} ridge_chip_kind;

/** @return a static word for people and for JSON, never NULL */
const char *ridge_chip_kind_text(ridge_chip_kind kind);

/** A published number and where it comes from. Borrowed from the catalogue. */
typedef struct ridge_fact {
    const char *key;    /* "peak_flops_per_s.bf16" */
    double value;       /* SI unit named by the key */
    const char *source; /* key of docs/sources.md */
    const char *date;   /* YYYY or YYYY-MM of the source */
    const char *note;   /* or NULL */
} ridge_fact;

typedef struct ridge_price {
    double usd_per_chip_hour;
    const char *provider;
    const char *const *provider_aliases; /* NULL-terminated: gcp for google */
    const char *region;                  /* or "" */
    const char *kind;                    /* on-demand, spot, reserved-1y, reserved-3y */
    const char *source;
    const char *date;
} ridge_price;

enum { RIDGE_CHIP_PRICE_MAX = 48 };

/** Share of the physical limit that measured runs reach, and what a call costs beside
 *  its work; from published measurements. Times of 0: not known, nothing is added. */
typedef struct ridge_achievable {
    double matmul[RIDGE_DTYPE_COUNT]; /* of the dense peak, large shapes; 0..1 */
    double attention;                 /* of the bf16 peak, long causal prefill */
    double memory;                    /* of the HBM bandwidth, streaming */
    double decode;         /* the same of decode attention in an engine; 0: as memory */
    double launch_s;       /* one kernel or operation, from the device's view */
    double stream_start_s; /* until a stream from HBM is at its rate */
    double fp4_sm_bytes_per_s; /* block-scaled fp4 weights into one SM; 0: no limit */
    /* quantising the activations of a product: by one scale a tensor, one a row, one a
     * block; beside the bytes */
    double quantise_tensor_s, quantise_row_s, quantise_block_s;
    /* attention called by a serving engine: the call, and each block on an SM */
    double prefill_call_s, prefill_block_s;
    double decode_call_s, decode_block_s;
    double loaded; /* of the rate of products by themselves, while an engine keeps the
                      whole chip busy (power); 0: all of it */
} ridge_achievable;

/** One chip. Immutable, owned by the catalogue. 0 in an optional field: not known. */
typedef struct ridge_chip {
    const char *name;      /* "h100" */
    const char *full_name; /* "NVIDIA H100 SXM5 80 GB" */
    const char *vendor;
    const char *const *aliases; /* NULL-terminated */
    ridge_chip_kind kind;
    int year;

    bool has_peak[RIDGE_DTYPE_COUNT];
    double peak_flops_per_s[RIDGE_DTYPE_COUNT]; /* dense, matrix unit */
    double vector_flops_per_s;                  /* fp32 vector unit, FMA as two */

    double hbm_bytes;     /* as it is sold */
    double visible_bytes; /* of it what the driver tells programs; 0: not known */
    double hbm_bytes_per_s;

    double fast_bytes;       /* VMEM of the chip, or shared memory over all SMs */
    double fast_bytes_per_s; /* 0: not known */
    double l2_bytes;
    double l2_bytes_per_s;
    double register_bytes;

    int cores;        /* TensorCores of a TPU, SMs or CUs of a GPU */
    int devices;      /* that programs see of one chip; 0: one */
    int matmul_units; /* per chip: MXUs, tensor cores */
    int matmul_rows;  /* systolic array side, or 0 */
    int matmul_cols;
    int tile_m, tile_n; /* output tile of a large matmul on one SM, or 0 */
    int lane_count;     /* vector lanes: 128 on TPU */
    int sublane_count;  /* 8 on TPU */

    /* What a core of a GPU holds of kernels; see ridge_chip_occupancy. */
    int warp_threads;            /* threads of a warp (wavefront) */
    int core_warps, core_blocks; /* that may be resident; no blocks: any number */
    int core_barriers;           /* blocks of more than one warp; 0: any number */
    double core_shared_bytes;    /* shared memory that blocks may have together */
    double block_reserved_bytes; /* of it that the system takes for each block */
    int shared_granule_bytes;    /* in which a block gets shared memory */
    int thread_registers;        /* of 4 bytes, at most */
    int thread_register_granule; /* in which a thread gets registers */

    double clock_hz;       /* base */
    double boost_clock_hz; /* 0: none */
    double power_watts;    /* board or chip TDP */
    /* What it draws of power_watts; 0: not known. See ridge_chip_draw_watts. */
    double idle_power_share;      /* with nothing to do */
    double busy_power_share;      /* of the rest, while any kernel runs */
    double memory_power_share;    /* of the rest, more with memory at its full rate */
    double flops_power_share;     /* of the rest, more with products at their peak */
    double pcie_bytes_per_s;      /* to the host, per chip, one direction */
    double host_link_bytes_per_s; /* NVLink-C2C and the like; 0: PCIe alone */

    ridge_achievable achievable;
    const ridge_measured_chip *measured; /* on the machine itself; NULL: nothing */
    /* This chip with the facts that it had then: on a changed one, what was measured
     * goes in proportion. NULL as measured is. */
    const struct ridge_chip *as_measured;

    const char *default_system; /* name in data/systems */
    ridge_price prices[RIDGE_CHIP_PRICE_MAX];
    size_t n_prices;         /* the first is the default: cheapest on-demand listing */
    const ridge_fact *facts; /* every sourced number of the file, in file order */
    size_t n_facts;
} ridge_chip;

/**
 * The peak that a matmul in @p dtype runs at: the dtype's own, or that of the nearest
 * wider format that the chip has (fp4 weights on an H100 compute in fp8, V100 computes
 * bf16 in fp16).
 * @param used  the format that runs; may be NULL
 * @return FLOP/s, > 0
 */
double ridge_chip_peak(const ridge_chip *chip, ridge_dtype dtype, ridge_dtype *used);

/**
 * What the chip draws at a load, never above its rating:
 *
 *     rating (idle + (1 - idle) min(1, busy + memory x its rate + flops x their rate))
 *
 * for the share of the time in which kernels run, else idle.
 *
 * @param busy_share    of the time in which kernels run, 0 to 1
 * @param memory_share  of the memory's bandwidth, and
 * @param flops_share   of the peak of products, both while kernels run, 0 to 1
 * @return watts; the rating where the chip's shares are not known; 0: that is not known
 * @source power-fit-2026
 */
double ridge_chip_draw_watts(const ridge_chip *chip, double busy_share,
                             double memory_share, double flops_share);
/** Whether the shares of ridge_chip_draw_watts are known. */
bool ridge_chip_has_draw(const ridge_chip *chip);

/** Memory that programs can have, as drivers report it, else that of the data sheet:
 * what is sold as 80 GB is 79.2 GiB of an H100, not 74.5.
 * @return bytes, > 0 @source device-totals-2026 */
double ridge_chip_memory_bytes(const ridge_chip *chip);

/** FLOPs per HBM byte at which compute and memory bounds meet: ridge_chip_peak over the
 * HBM bandwidth, both as published.
 * @source scaling-book-2025, chapter 1 */
double ridge_chip_ridge_point(const ridge_chip *chip, ridge_dtype dtype);

/** fp32 ALUs of all cores: the vector peak over what one does at its clock (a fused
 * multiply-add on GPUs, an operation on TPUs), as whole warps or vector registers of a
 * core, for published peaks are rounded, and capped where a chip is sold slower. 0:
 * cores or clock are unknown, or the chip is neither.
 * @source scaling-book-2025, chapters 2 and 12 */
double ridge_chip_fp32_alus(const ridge_chip *chip);
/** FLOPs that the matrix units of a core do in one clock, a power of two; 0: clock or
 * cores are unknown, or the peak is not near one. @source scaling-book-2025, chapter 12
 */
double ridge_chip_core_flops_per_clock(const ridge_chip *chip, ridge_dtype dtype);

/** Whether its software runs neighbours as one kernel, and weights' collectives as one.
 */
bool ridge_chip_is_fused(const ridge_chip *chip);
/** Whether its software runs collectives beside compute. */
bool ridge_chip_is_overlapped(const ridge_chip *chip);
/** Whether ranks that share a causal sequence meet equal scores. */
bool ridge_chip_is_balanced(const ridge_chip *chip);
/** What a rank has of its processors while all ranks work; 1: they are its own. */
double ridge_chip_processor_share(const ridge_chip *chip);

/* ---- networks ------------------------------------------------------------------- */

typedef enum ridge_axis_kind {
    RIDGE_AXIS_TORUS,  /* one axis of an ICI torus: a ring, or a line */
    RIDGE_AXIS_SWITCH, /* every chip one hop from every other (NVSwitch) */
    RIDGE_AXIS_MESH,   /* a direct link to every other chip (Infinity Fabric, NVLink) */
    RIDGE_AXIS_BUS,    /* a shared host bus (PCIe) */
    RIDGE_AXIS_FABRIC, /* scale-out network through NICs: leaf or spine of a fat tree */
    RIDGE_AXIS_DCN     /* data-centre network between slices */
} ridge_axis_kind;

/** @return a static word for people and for JSON, never NULL */
const char *ridge_axis_kind_text(ridge_axis_kind kind);

/** The switches of a level. Immutable, owned by the catalogue. */
typedef struct ridge_switch {
    const char *name;        /* "QM9700" */
    int64_t ports;           /* of one switch; >= 2 */
    double port_bytes_per_s; /* one way */
    int64_t count_per_node;  /* inside a node; 0: of a fat tree */
} ridge_switch;

/**
 * One level of a slice's network, innermost first. Bandwidth is per chip and per
 * direction: for a torus that of one link, for a switch the chip's whole egress, for a
 * fabric the chip's share of its node's NICs.
 */
typedef struct ridge_axis {
    const char *name; /* "ici-x", "nvlink", "leaf", "spine", "dcn" */
    ridge_axis_kind kind;
    int64_t size;             /* chips (or groups of chips) along it */
    bool has_wraparound;      /* torus: the ring is closed */
    bool can_reduce;          /* in-network reduction (NVLS, SHARP) */
    double bytes_per_s;       /* > 0 */
    double latency_s;         /* per hop (torus) or per message; >= 0 */
    double efficiency;        /* limit of large messages over bytes_per_s; 0..1. A bus:
                               * with all of its chips at work */
    double reduce_efficiency; /* in-network all-reduce: array bytes per second over
                               * bytes_per_s; 0: as above */
    double alltoall_efficiency; /* the same for an all-to-all; 0: as above */
    double startup_s;           /* software start of one collective; >= 0 */
    double
        kernel_startup_s; /* the same of an engine's own all-reduce; 0: it has none */
    /* >= 0. Through NICs: the message that takes twice its time at the top rate, each
     * message anew. Inside a node: bytes that a chip sends; what filling the pipeline
     * costs a large transfer, at most doubling a small one's time. */
    double half_rate_bytes;
    const ridge_measured_level *measured; /* on the machine itself; NULL: nothing */
    const ridge_switch *switches;         /* NULL: not known */
} ridge_axis;

enum { RIDGE_AXIS_MAX = 6, RIDGE_LEVEL_MAX = 4 };

/** A level of a switched system as data/systems describes it. */
typedef struct ridge_level {
    ridge_axis axis; /* size: most members, 0: no limit */
} ridge_level;

typedef enum ridge_wrap_rule {
    RIDGE_WRAP_NEVER,
    RIDGE_WRAP_CUBES_OF_4, /* every axis a multiple of 4: all axes wrap (v4, v5p, v7) */
    RIDGE_WRAP_FULL_AXIS   /* only an axis of the pod's full length (16: v5e, v6e) */
} ridge_wrap_rule;

/** How chips of one kind are joined. Immutable, owned by the catalogue. */
typedef struct ridge_system {
    const char *name; /* "dgx-h100", "tpu-v5p" */
    const char *full_name;
    const char *const *aliases; /* NULL-terminated */
    const ridge_chip *chip;

    int torus_dims; /* 0: switched */
    int64_t torus_max[3];
    int64_t host_shape[3]; /* chips of one host */
    ridge_wrap_rule wrap_rule;
    ridge_axis torus_axis; /* every axis is alike; size 0 */

    int64_t chips_per_node;
    int64_t chips_per_host; /* of a rack whose hosts are smaller; 0: chips_per_node */
    int n_levels;           /* switched: innermost first (nvlink, leaf, spine) */
    ridge_level levels[RIDGE_LEVEL_MAX];

    ridge_axis dcn; /* between slices; size 0. bytes_per_s is a chip's share */
    bool has_dcn;

    double host_bytes_per_chip; /* memory of the hosts, a chip's share; 0: not known */

    /* Electric power; 0: not known. */
    double node_watts; /* most that a node may draw: its rating */
    double
        training_watts_per_chip;   /* of a node in training, measured, a chip's share */
    double network_watts_per_chip; /* switches of the scale-out network, the same */

    const ridge_fact *facts;
    size_t n_facts;
} ridge_system;

/* ---- catalogue ------------------------------------------------------------------ */

/** Chips and systems: built in, then DIR of --data, then ~/.config/ridge. Immutable to
 *  its users, who may share it between threads: built-in files are read under a lock,
 *  when they are first asked for. */
typedef struct ridge_catalog ridge_catalog;

/**
 * Load the built-in data and the overrides of a folder.
 * @param dir    folder with chips/, systems/, prices/; NULL for none
 * @owner the ctx: valid until it closes
 * @errors E_PARSE with file:line and what is wrong there; E_IO
 */
RIDGE_NODISCARD ridge_status ridge_catalog_open(ridge_ctx *cx, const char *dir,
                                                const ridge_catalog **out);

/**
 * The same from other files than the built-in ones, and without ~/.config/ridge.
 * @param data  files "chips/…", "systems/…", "prices/…"; borrowed for this call
 */
RIDGE_NODISCARD ridge_status ridge_catalog_open_data(ridge_ctx *cx,
                                                     const ridge_embedded_set *data,
                                                     const char *dir,
                                                     const ridge_catalog **out);

/* Counting and listing. @threads any */
size_t ridge_catalog_chip_count(const ridge_catalog *catalog);
/** In order of names, borrowed from the catalogue.
 * @return NULL beyond the last, or out of memory */
const ridge_chip *ridge_catalog_chip(const ridge_catalog *catalog, size_t index);
size_t ridge_catalog_system_count(const ridge_catalog *catalog);
const ridge_system *ridge_catalog_system(const ridge_catalog *catalog, size_t index);

/** By name or alias, any letter case. @owner the catalogue
 * @errors E_NOTFOUND with the nearest names; E_PARSE, E_NOMEM when it is first read */
RIDGE_NODISCARD ridge_status ridge_chip_find(ridge_ctx *cx,
                                             const ridge_catalog *catalog,
                                             const char *name, const ridge_chip **out);
/** A system's name, or a chip's: its default system. @owner the catalogue
 * @errors E_NOTFOUND with the nearest names; E_PARSE, E_NOMEM when it is first read */
RIDGE_NODISCARD ridge_status ridge_system_find(ridge_ctx *cx,
                                               const ridge_catalog *catalog,
                                               const char *name,
                                               const ridge_system **out);

/* ---- slices --------------------------------------------------------------------- */

/** A piece of a system (or several over DCN), with its network axes innermost first. */
typedef struct ridge_slice ridge_slice;
struct ridge_slice {
    const char *text; /* as written, normalised: "2*v5p:16x16x24" */
    const ridge_chip *chip;
    const ridge_system *system;
    int64_t chips; /* in all, over all slices of this pool */
    int64_t hosts;
    int64_t slices;   /* joined over DCN; 1 for a single one */
    int64_t shape[3]; /* torus: per slice; switched: {nodes, chips per node, 1} */
    int n_shape;
    int n_axes; /* only axes of size > 1 */
    ridge_axis axes[RIDGE_AXIS_MAX];
    const ridge_slice *next; /* the next pool of a mixed fleet, or NULL */
    const char *note;        /* what the model leaves out of this shape, or NULL */
};

/**
 * Parse "chip:shape", "n*chip:shape", "a:…+b:…", or the path of a system file or of a
 * topology file (see hardware_topology.h) followed by ":shape". A bare "chip" is one
 * chip; "h100:512" is 64 nodes of 8.
 * @owner the ctx
 * @errors E_PARSE malformed; E_NOTFOUND unknown chip, with the nearest;
 *         E_ARG illegal shape, with the rule and the nearest legal shapes
 */
RIDGE_NODISCARD ridge_status ridge_slice_parse(ridge_ctx *cx,
                                               const ridge_catalog *catalog,
                                               const char *text,
                                               const ridge_slice **out);

/**
 * The slice that @p chips of a system make up when the shape is not told: the most
 * compact legal torus, or as few slices over DCN as will do; nodes as full as can be.
 * @errors E_ARG when no legal slices have that many chips
 */
RIDGE_NODISCARD ridge_status ridge_slice_of_chips(ridge_ctx *cx,
                                                  const ridge_catalog *catalog,
                                                  const ridge_system *system,
                                                  int64_t chips,
                                                  const ridge_slice **out);

/** Longest distance between two chips of one slice, in hops: half of each ring of a
 * torus, the whole of each line, one through each other level. Cannot fail. */
int64_t ridge_slice_diameter_hops(const ridge_slice *slice);

/**
 * Bytes a second that can go from one half of the chips to the other, one way, over the
 * weakest cut: across a torus axis its links there (two for each ring), across a level
 * of switches or NICs what half of the chips send. 0: one chip. Cannot fail.
 */
double ridge_slice_bisection_bytes_per_s(const ridge_slice *slice);

/* ---- placement ------------------------------------------------------------------ */

/** The part of one network axis that a group covers: size members, stride apart. */
typedef struct ridge_span {
    int axis; /* index into slice->axes */
    int64_t size;
    int64_t stride;
} ridge_span;

/** The chips that take part in one collective together. */
typedef struct ridge_group {
    int n_spans; /* innermost first; spans of size 1 are left out */
    ridge_span spans[RIDGE_AXIS_MAX];
    int64_t ranks; /* product of the sizes */
} ridge_group;

enum { RIDGE_MESH_AXIS_MAX = 8 };

/**
 * Lay mesh axes on a slice, innermost mesh axis first, filling network axes in the
 * given order.
 * @param order   permutation of the slice's axes by index, or NULL for innermost first
 * @param sizes   n mesh axis sizes, each >= 1, product = slice->chips
 * @param groups  out: n groups
 * @return false when the sizes do not factor over the axes in that order
 */
bool ridge_placement_fill(const ridge_slice *slice, const int *order,
                          const int64_t *sizes, int n, ridge_group *groups);

/** Spans of axes named "x", "ici-x", "nvlink", …, whole or a part ("x=4": groups of
 * four neighbours); or "all".
 * @param text  names joined by commas
 * @errors E_ARG with the slice's axis names, or a part that does not divide its axis */
RIDGE_NODISCARD ridge_status ridge_group_parse(ridge_ctx *cx, const ridge_slice *slice,
                                               const char *text, ridge_group *out);

/** "nvlink 8 x leaf 4", in the ctx's arena; NULL once the budget is spent. */
const char *ridge_group_text(ridge_ctx *cx, const ridge_slice *slice,
                             const ridge_group *group);

/** Whether two groups of a slice are the same spans in the same order. */
bool ridge_group_is_same(const ridge_group *a, const ridge_group *b);

/** Whether a span closes into a ring on its axis. */
bool ridge_span_has_wraparound(const ridge_slice *slice, const ridge_span *span);

#ifdef __cplusplus
}
#endif

#endif
