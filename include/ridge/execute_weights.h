/*
 * Weights from and to files: checkpoints of others (Hugging Face safetensors,
 * llama2.c) read in the layout of a program's tensors; Ridge's own checkpoints, written
 * by many ranks and read by any others; and the constants of a model that its weights
 * need. Knows nothing of how programs run.
 */
#ifndef RIDGE_EXECUTE_WEIGHTS_H
#define RIDGE_EXECUTE_WEIGHTS_H

#include "ridge/base.h"
#include "ridge/execute_comm.h"
#include "ridge/model.h"
#include "ridge/program.h"
#include "ridge/shard.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- numerics -------------------------------------------------------------------- */

/* name, text */
/* clang-format off */
#define RIDGE_ROPE_LIST(X)      \
    X(NONE, "none")             \
    X(LINEAR, "linear")         \
    X(LLAMA3, "llama3")         \
    X(YARN, "yarn")             \
    X(LONG, "longrope")
/* clang-format on */

/** How rotary frequencies are stretched for longer texts. */
typedef enum ridge_rope_kind {
#define RIDGE_ROPE_ENUM(name, text) RIDGE_ROPE_##name,
    RIDGE_ROPE_LIST(RIDGE_ROPE_ENUM)
#undef RIDGE_ROPE_ENUM
} ridge_rope_kind;

#define RIDGE_ROPE_ONE(name, text) +1
enum { RIDGE_ROPE_COUNT = 0 RIDGE_ROPE_LIST(RIDGE_ROPE_ONE) };
#undef RIDGE_ROPE_ONE

/** Constants of a model's arithmetic that no shape tells. */
typedef struct ridge_numerics {
    float norm_epsilon; /* added to the mean square */
    bool
        has_plus_one_norm; /* norms multiply by 1 + weight (Gemma): the caller adds 1 */
    double rope_theta;
    double rope_fraction; /* of the head dim that turns, from its start; 1: all */
    bool has_paired_rope; /* the checkpoint's pairs are (2i, 2i+1), as Ridge's are;
                             otherwise (i, i + half), and the reader reorders */
    ridge_rope_kind rope;
    double rope_factor;        /* LINEAR, LLAMA3, YARN; >= 1 */
    double low_freq_factor;    /* LLAMA3 */
    double high_freq_factor;   /* LLAMA3 */
    double original_positions; /* LLAMA3, YARN: context that the model was trained on */
    double beta_fast;          /* YARN: turns over that context */
    double beta_slow;
    bool is_range_truncated; /* YARN: its bounds are whole pairs */
    double attention_factor; /* YARN, LONG: of cosine and sine; 0: by formula */
    const double *short_factors, *long_factors; /* LONG: [n_factors] of pairs, of the
                                                   ctx; within the original context, and
                                                   beyond it */
    size_t n_factors;
    double longest_positions; /* LONG: context that the model was stretched to; 0 */
    double context_tokens;    /* LONG: of this run, from its caller; 0: short */
    double mscale;            /* YARN of DeepSeek; 0: not stated */
    double mscale_all_dim;
    double local_rope_theta;    /* of layers with a window; 0: as the others */
    const bool *layer_has_rope; /* [n_layer_has_rope], of the ctx; NULL: not listed */
    size_t n_layer_has_rope;    /* layers beyond have one */
    int64_t no_rope_every;      /* each so many-th layer does not turn; 0: none */
    bool is_rope_of_windows;    /* layers that see all do not turn (Cohere 2) */
    double embedding_scale;     /* of the embedding's rows; 1: none (Gemma: sqrt D) */
    double residual_scale;  /* of what a layer adds to the stream (Granite); 1: none */
    double attention_scale; /* of scores; 0: 1 / sqrt(head dim) */
    double logit_scale;     /* of the logits; 1: none */
    bool is_gate_whole;  /* gates are softmax over all experts, not over the chosen ones
                            alone (norm_topk_prob false) */
    int position_offset; /* row of a learned position table that is position 0 */
    const char *lacks;   /* a key of the config whose arithmetic Ridge lacks, or NULL:
                            published weights are refused */
    const char *notes;   /* what was taken for something else, or NULL */
} ridge_numerics;

/** Epsilon 1e-6 and theta 10,000, nothing scaled: what a program says of itself. */
ridge_numerics ridge_numerics_default(void);

/** What a type of model has where its config is silent, or not at hand. */
ridge_numerics ridge_numerics_usual(const ridge_model *model);

/**
 * From a config.json, its text_config if it has one.
 *
 * Reads rms_norm_eps (layer_norm_eps, layer_norm_epsilon, norm_epsilon), rope_theta,
 * rope_scaling or rope_parameters, partial_rotary_factor, model_type. "dynamic" counts
 * as none, which holds within the context trained on; a note says so.
 * @errors E_PARSE with the place: a kind of scaling that Ridge does not have, values
 * out of range
 */
RIDGE_NODISCARD ridge_status ridge_numerics_read(ridge_ctx *cx, ridge_node config,
                                                 ridge_numerics *out);
/** The same from a config.json, a folder with one, or a llama2.c checkpoint.
 * @errors E_IO, E_PARSE */
RIDGE_NODISCARD ridge_status ridge_numerics_load(ridge_ctx *cx, const char *path,
                                                 ridge_numerics *out);

/**
 * Angle per position of each pair (2i, 2i+1) of a head, in radians.
 *
 *     none    theta^(-2i/h)
 *     linear  / factor
 *     llama3  / factor below low_freq, as it is above high_freq, a blend between
 *     longrope  / a factor of the pair's own, by context_tokens
 *     yarn    / factor for pairs that turn less than beta_slow times in the original
 *             context, as it is beyond beta_fast, a ramp between
 * Pairs beyond rope_fraction have 0: they do not turn.
 *
 * @param head_dim   H, >= 2
 * @param out        [H / 2]
 * @return what cosine and sine are multiplied by: 1, or YaRN's attention factor
 * @source su2021 (rotary), chen2023-interpolation (linear), llama-models-2024 (llama3),
 *         peng2023-yarn section 3
 */
float ridge_numerics_frequencies(const ridge_numerics *numerics, int64_t head_dim,
                                 float *out);

/* ---- weights of others ----------------------------------------------------------- */

/** A checkpoint as files hold it, memory-mapped. Immutable: threads share it, a ctx
 * each. */
typedef struct ridge_weight_source ridge_weight_source;

/**
 * Open a checkpoint: a folder with model.safetensors or model.safetensors.index.json
 * and its shards; one *.safetensors file or index; or a llama2.c .bin (the legacy
 * format, or version 1).
 *
 * Every offset and length is checked here, so that reading cannot leave a file.
 * @param model     whose weights these are, so that a checkpoint of more layers is
 *                  refused; NULL: any
 * @param numerics  how rotary pairs lie; NULL: halves
 * @owner the ctx: until it closes
 * @errors E_NOTFOUND, E_IO; E_PARSE truncated or lying: file, tensor and what is wrong;
 *         quantised dtypes, which Ridge does not run
 * @source safetensors-2022, karpathy2023-llama2c
 */
RIDGE_NODISCARD ridge_status ridge_weight_source_open(ridge_ctx *cx, const char *path,
                                                      const ridge_model *model,
                                                      const ridge_numerics *numerics,
                                                      const ridge_weight_source **out);

/** "safetensors" or "llama2.c". */
const char *ridge_weight_source_format(const ridge_weight_source *source);
/** Bytes of its tensors. */
double ridge_weight_source_bytes(const ridge_weight_source *source);

/** A part of an array: count elements of each dim from start. */
typedef struct ridge_region {
    int n_dims;
    int64_t shape[RIDGE_TENSOR_DIM_MAX]; /* of the whole array */
    int64_t start[RIDGE_TENSOR_DIM_MAX];
    int64_t count[RIDGE_TENSOR_DIM_MAX]; /* start + count <= shape */
} ridge_region;

/** All of an array. */
ridge_region ridge_region_whole(int n_dims, const int64_t *shape);
/** Elements of the part; 0 for an empty one. */
int64_t ridge_region_elements(const ridge_region *region);

/** Which weight: the base name of a program's tensor ("wq", "embedding"), and the
 * model's layer from 0; -1 for what belongs to no layer. */
typedef struct ridge_weight_name {
    const char *base;
    int64_t layer;
} ridge_weight_name;

/** Whether the checkpoint has it. Unknown base names: false. */
bool ridge_weight_source_has(ridge_ctx *cx, const ridge_weight_source *source,
                             ridge_weight_name name);

/**
 * A part of a weight as the program has it: in its dims' order (wq is [D, N, H]), with
 * rotary pairs side by side, in fp32.
 *
 * An unembedding that the checkpoint lacks is its embedding (tied).
 * @param region   shape: as the program has it
 * @param strides  of out in elements, one a dim; NULL: row-major, dense
 * @errors E_NOTFOUND "the checkpoint has no weight for wq of layer 3: looked for …";
 *         E_PARSE another shape than the model's; E_ARG a region beyond the shape
 */
RIDGE_NODISCARD ridge_status ridge_weight_source_read(
    ridge_ctx *cx, const ridge_weight_source *source, ridge_weight_name name,
    const ridge_region *region, const int64_t *strides, float *out);

/** Whether a file begins as a llama2.c checkpoint does: sizes that fit its length. */
bool ridge_llama2c_is_checkpoint(const char *path);

/**
 * The model of a llama2.c checkpoint, as a LLaMA of those sizes; epsilon 1e-5 and theta
 * 10,000.
 * @owner the ctx
 * @errors E_IO; E_PARSE sizes out of range or another length than they give
 * @source karpathy2023-llama2c
 */
RIDGE_NODISCARD ridge_status ridge_llama2c_model(ridge_ctx *cx, const char *path,
                                                 const ridge_model **model,
                                                 ridge_numerics *numerics);

/* ---- writing checkpoints --------------------------------------------------------- */

/*
 * A checkpoint is a folder step-000100 of one safetensors file a writing rank and a
 * checkpoint.json; docs/design/checkpoints.md says what they hold. It is whole or not
 * there: all is written to a hidden folder beside it, which takes its name at last.
 *
 *     lead:  ridge_checkpoint_begin        then a barrier
 *     all:   ridge_checkpoint_write_rank   then learn whether all have succeeded
 *     lead:  ridge_checkpoint_commit, or ridge_checkpoint_abandon if one has not
 */

/** What a checkpoint is of; the same on each rank. */
typedef struct ridge_checkpoint_plan {
    const char *dir; /* of the run: step-… folders go there; made if missing */
    int64_t step;    /* >= 0 */
    int ranks;       /* that write; >= 1 */
    const char *model;
    const ridge_mesh *mesh;  /* NULL: none. For the reader's information */
    const ridge_json *state; /* the lead's: what to resume with (seed, tokens); NULL */
    int keep;                /* whole checkpoints that stay, the newest; 0: all */
} ridge_checkpoint_plan;

/** A part of a tensor that this rank owns: no other rank gives the same elements. */
typedef struct ridge_checkpoint_part {
    const char *name; /* as the program has it: "wq", "m_wq" */
    int64_t layer;    /* -1: of no layer */
    ridge_element element;
    ridge_region region;
    const int64_t *strides; /* of data in elements; NULL: row-major, dense */
    const void *data;       /* host memory; NULL: fetched */
} ridge_checkpoint_part;

/** Where data is not in host memory: fill @p out with part @p index, row-major, dense.
 */
typedef ridge_status ridge_checkpoint_fetch_fn(ridge_ctx *cx, void *payload,
                                               size_t index, void *out);

/** What one rank writes. */
typedef struct ridge_checkpoint_share {
    int rank;
    size_t n; /* parts; may be 0 */
    const ridge_checkpoint_part *parts;
    ridge_checkpoint_fetch_fn *fetch; /* NULL: every part has data */
    void *payload;
} ridge_checkpoint_share;

/** Make the hidden folder; what an interrupted run left of it goes away.
 * @errors E_IO with the path */
RIDGE_NODISCARD ridge_status ridge_checkpoint_begin(ridge_ctx *cx,
                                                    const ridge_checkpoint_plan *plan);
/** Write and sync this rank's file. @errors E_IO a full disk, with how much was to be
 * written; E_ARG a part twice or outside its shape; what fetch fails with
 * @threads one a rank */
RIDGE_NODISCARD ridge_status
ridge_checkpoint_write_rank(ridge_ctx *cx, const ridge_checkpoint_plan *plan,
                            const ridge_checkpoint_share *share);
/**
 * All ranks have written: check that their parts make whole tensors, write
 * checkpoint.json, give the folder its name, then remove older checkpoints beyond keep.
 * On failure the hidden folder is removed and older checkpoints are as they were.
 * @param path  of the folder; may be NULL
 * @errors E_IO; E_ARG parts that overlap or leave holes
 */
RIDGE_NODISCARD ridge_status ridge_checkpoint_commit(ridge_ctx *cx,
                                                     const ridge_checkpoint_plan *plan,
                                                     const char **path);
/** Remove the hidden folder; the message of @p cx stays. */
void ridge_checkpoint_abandon(ridge_ctx *cx, const ridge_checkpoint_plan *plan);

/* ---- reading checkpoints --------------------------------------------------------- */

/** A checkpoint of Ridge's own, memory-mapped. Immutable: threads share it, a ctx each.
 */
typedef struct ridge_checkpoint_reader ridge_checkpoint_reader;

/**
 * @param path  a step-… folder; or the folder of a run: its newest whole checkpoint
 * @owner the ctx: until it closes
 * @errors E_NOTFOUND no whole checkpoint there; E_PARSE with file and place: truncated
 *         files, parts that are missing, overlap or are not as checkpoint.json says, a
 *         version that is newer
 */
RIDGE_NODISCARD ridge_status ridge_checkpoint_reader_open(
    ridge_ctx *cx, const char *path, const ridge_checkpoint_reader **out);
/** The newest step that is whole in the folder of a run; -1: none. */
int64_t ridge_checkpoint_latest(ridge_ctx *cx, const char *dir);
/** What is wrong with the newest checkpoint of a run's folder, where it is not whole
 * and an older one, or none, counts instead. @return NULL: it is whole, or there is
 * none. Of the ctx */
const char *ridge_checkpoint_latest_fault(ridge_ctx *cx, const char *dir);

const char *ridge_checkpoint_reader_path(const ridge_checkpoint_reader *reader);
int64_t ridge_checkpoint_reader_step(const ridge_checkpoint_reader *reader);
const char *ridge_checkpoint_reader_model(const ridge_checkpoint_reader *reader);
/** As it was written, "dp=2,tp=4"; "" without one. For information. */
const char *ridge_checkpoint_reader_mesh(const ridge_checkpoint_reader *reader);
/** The caller's state; absent if none was given. */
ridge_node ridge_checkpoint_reader_state(const ridge_checkpoint_reader *reader);

/** A tensor of a checkpoint. */
typedef struct ridge_checkpoint_tensor {
    const char *name;
    int64_t layer;
    ridge_element element;
    int n_dims;
    int64_t shape[RIDGE_TENSOR_DIM_MAX];
} ridge_checkpoint_tensor;

size_t ridge_checkpoint_reader_count(const ridge_checkpoint_reader *reader);
/** Sorted by name and layer. @param index  below count */
ridge_checkpoint_tensor
ridge_checkpoint_reader_tensor(const ridge_checkpoint_reader *reader, size_t index);
bool ridge_checkpoint_reader_has(const ridge_checkpoint_reader *reader,
                                 const char *name, int64_t layer);

/**
 * Fill a buffer with a part of a tensor, from whatever files hold it. fp32 and bf16 are
 * converted into each other as asked.
 * @param want  element and strides of out; its data is not read
 * @errors E_NOTFOUND no such tensor; E_PARSE another shape; E_ARG a region beyond it,
 * or an int32 tensor asked for as another
 */
RIDGE_NODISCARD ridge_status
ridge_checkpoint_reader_read(ridge_ctx *cx, const ridge_checkpoint_reader *reader,
                             const ridge_checkpoint_part *want, void *out);

#ifdef __cplusplus
}
#endif

#endif
