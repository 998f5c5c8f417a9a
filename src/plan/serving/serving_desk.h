/*
 * What serving layouts of a case share: the model's programs, lowered once and cut for
 * each tp, and a memo of prices. Sizes here follow the rows of an iteration; formats
 * and groups of chips come from the layout when it is priced.
 */
#ifndef RIDGE_PLAN_SERVING_DESK_H
#define RIDGE_PLAN_SERVING_DESK_H

#include "serving_memo.h"

#include "ridge/cost_kernels.h"
#include "ridge/plan_serving.h"

/** How weights of a group are held and multiplied. */
typedef struct serving_format {
    ridge_dtype weight, compute;
    double scale_bytes; /* beside each weight */
    ridge_scaling scaling;
    bool comes_quantised; /* as ridge_matmul's */
} serving_format;

/** By ridge_quant_part; the last: routers, norms, tables. */
typedef struct serving_format_set {
    serving_format of[RIDGE_QUANT_PART_COUNT + 1];
} serving_format_set;

enum { SERVING_FORMAT_REST = RIDGE_QUANT_PART_COUNT };

serving_format_set serving_formats_find(const ridge_model *model,
                                        const ridge_serving_formats *formats);

/** A kernel of the model's rows: m, bytes and FLOPs grow with them. */
typedef struct serving_kernel {
    ridge_kernel_kind kind; /* PRODUCT, STREAM or EXCHANGE */
    ridge_serving_part part;
    int format;     /* of serving_format_set */
    double count;   /* in the model */
    bool is_joined; /* runs in the kernel before it: no launch of its own */
    ridge_matmul product;
    double m_each;               /* rows of the product for each row; m those beside */
    double bytes, bytes_each;    /* STREAM; EXCHANGE: V */
    double vector_flops_each;    /* STREAM */
    ridge_collective collective; /* EXCHANGE, over all of tp or a part */
    bool is_over_kv, is_over_copies; /* the part of tp that cuts KV heads; the other */
} serving_kernel;

enum { SERVING_MAP_MAX = 2 };

/** How a kind of layer mixes tokens, on one rank of the cut. */
typedef struct serving_mixer {
    const ridge_mixer *mixer;
    const ridge_layer *layer;
    double count;
    bool is_cross;                        /* meets the source */
    bool has_scores;                      /* attention; else a state */
    ridge_attention decode;               /* of one sequence and query; MLA: absorbed */
    ridge_attention prefill;              /* the same; MLA: of heads */
    ridge_matmul absorb[SERVING_MAP_MAX]; /* m: a decoding row each */
    ridge_matmul expand[SERVING_MAP_MAX]; /* m: a token of the context each */
    int n_absorb, n_expand;
    double state_bytes; /* of a sequence */
    double scan_bytes;  /* of a row, what scans read and write beside the state */
    double scan_share;  /* of the scan's work that this rank does */
    double scan_calls;
    double class_window; /* of the class of caches in tables; 0: the whole context */
} serving_mixer;

/** Whether an exchange gathers an array so that it can be normalised. */
bool serving_norm_is_gather(const ridge_program *program, const ridge_operation *op);
/** It becomes what engines do: each rank normalises its own heads by sums of squares of
 *  a row that all of tp add up. @source vllm-source-2025 */
void serving_norm_set(serving_kernel *k);

/** Whether it works on a state of one size: scans, and attention to a source. */
bool serving_mixer_is_state(const serving_mixer *m);

/** A kind of layer with experts. */
typedef struct serving_moe {
    const ridge_ffn *ffn;
    double count;
} serving_moe;

/** The programs cut over tp. */
typedef struct serving_cut {
    int64_t tp;
    int64_t kv_ways; /* part of tp that cuts KV heads */
    int n_kernels;
    serving_kernel *kernels;
    int n_head;
    serving_kernel *head; /* of sampled rows */
    int n_mixers;
    serving_mixer *mixers;
    int n_moe;
    serving_moe *moe;
} serving_cut;

enum { SERVING_CUT_MOST = 64 };

/** Tables of a class of caches, and what they depend on. */
typedef struct serving_planes {
    serving_key key;
    ridge_plane_table decode, prefill;
} serving_planes;

/** Copies of hot experts, and what they depend on. */
typedef struct serving_places {
    const ridge_ffn *ffn;
    int64_t ways, redundant;
    ridge_expert_places of;
    struct serving_places *next;
} serving_places;

enum { SERVING_GROUPS_ALIKE = 5 };

/** Groups of chips that layouts of several degrees have alike. */
typedef struct serving_group_set {
    int n;
    ridge_group of[SERVING_GROUPS_ALIKE];
} serving_group_set;

struct ridge_serving_desk {
    ridge_ctx *cx;
    ridge_serving_case about;
    const ridge_model *model;
    const ridge_model *compact; /* one run for each kind of layer */
    const ridge_chip *chip;
    ridge_params params;
    const ridge_program *decode, *prefill;
    int n_cuts;
    serving_cut cuts[SERVING_CUT_MOST];
    ridge_weight (*weights)[RIDGE_WEIGHT_MAX]; /* [n_layers] */
    int *n_weights;
    serving_memo memo;
    serving_memo maps; /* of latents: asked for at each knot of a plane */
    int n_planes, cap_planes;
    serving_planes *planes;
    int n_curves, cap_curves;
    ridge_curve_table *curves; /* the memo knows of which layouts */
    serving_places *places;
    int n_group_sets, cap_group_sets;
    serving_group_set *group_sets;
    ridge_serving_desk *draft; /* of a drafting model; NULL until it is wanted */
};

/** Give each mixer the window of its class of caches. Where a model has more windows
 * than tables have classes, all are priced over the context; one more class is for
 * states. */
void serving_classes_set(serving_cut *cut);

/** The cut for tp, made when it is first asked for. @errors E_ARG, E_NOMEM */
RIDGE_NODISCARD ridge_status serving_cut_find(ridge_serving_desk *desk, int64_t tp,
                                              const serving_cut **out);

#endif
