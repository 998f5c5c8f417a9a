/*
 * One layout on a desk: its cut, formats and groups of chips, and the prices of an
 * iteration's pieces under it. All times are of the whole model, all stages.
 */
#ifndef RIDGE_PLAN_SERVING_BENCH_H
#define RIDGE_PLAN_SERVING_BENCH_H

#include "serving_desk.h"

/** Groups of chips that exchange with each other. */
typedef struct serving_groups {
    ridge_group tp;     /* all of tp */
    ridge_group kv;     /* the part of tp that cuts KV heads */
    ridge_group copies; /* the rest of tp */
    ridge_group shared; /* ranks that would hold the same cache */
    ridge_group attention_dp;
    ridge_group all;  /* tp and attention_dp: all chips of a stage */
    ridge_group d, f; /* of tp, the ranks that cut D and those that cut F */
    ridge_group pp;
} serving_groups;

typedef struct serving_bench {
    ridge_serving_desk *desk;
    const ridge_serving_layout *layout;
    const serving_cut *cut; /* that of one chip where weights are gathered */
    serving_format_set formats;
    int64_t formats_key; /* what rows depend on, of formats */
    int64_t scores_key;  /* what scores depend on */
    serving_groups groups;
    int64_t tp_key;      /* the same for the same groups within tp */
    int64_t ranks_key;   /* the same for the same attention ranks */
    double verified;     /* rows of a decoding sequence */
    double ranks;        /* attention_dp */
    double expert_width; /* ways in which each expert is cut */
    double batch_ways;   /* ranks that share the sequences of a cache */
    double token_ways;   /* ranks that share the tokens of a sequence */
    double processors;   /* share of a chip's that products have; the others exchange
                            rows meanwhile */
    double row_ways; /* chips that share an attention rank's rows: where weights come
                        to them */
} serving_bench;

/** @errors E_ARG an illegal layout; E_NOMEM */
RIDGE_NODISCARD ridge_status serving_bench_open(ridge_serving_desk *desk,
                                                const ridge_serving_layout *layout,
                                                serving_bench *out);

/** What a server of so many chips sees of a slice: all of it where they divide its
 * chips, else, on switches, its own chips: whole inner levels, and a part of the next.
 * @return false: such a server has no place */
bool serving_slice_cut(const ridge_slice *slice, int64_t chips, ridge_slice *out);

/** Lay a layout's groups on the slice. @return false: they do not factor over it */
bool serving_groups_place(const ridge_slice *slice, const ridge_serving_layout *layout,
                          int64_t kv_ways, serving_groups *out);

/** Number groups, so that prices are shared by layouts that have them alike: stages
 * around them do not change an exchange. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status serving_groups_number(serving_bench *b);

/** Whether some layer caches latents (MLA). */
bool serving_has_latents(const ridge_model *model);
/** Fewest KV heads of any layer that attends; 1 where latents serve all heads; 0: none
 *  attends. */
int64_t serving_kv_heads(const ridge_model *model);
/** How a rank's share of the KV heads leaves sequences or tokens to share. */
int64_t serving_shared_ways(const ridge_model *model,
                            const ridge_serving_layout *layout);

/** Rows of a decoding sequence: itself, and what is verified. */
double serving_verified_rows(const ridge_draft *draft);

/** What rows cost, whatever their sequences. */
typedef struct serving_rows {
    double dense_s, vector_s, experts_s, tp_s, ep_s, pp_s;
    double eager_s;  /* that the host takes to launch what is not captured */
    double launch_s; /* of it, beyond the others */
} serving_rows;

/** @param rows  of all attention ranks together */
serving_rows serving_rows_price(const serving_bench *b, double rows);

/** Of a rate of products, what the engine's own kernels reach of it. */
double serving_own_share(const serving_bench *b, double rows);
/** A product by the engine's kernels. */
double serving_product_s(const serving_bench *b, const ridge_matmul *p);
/** What kernels that are not fused add to all layers. @param rows  of a chip */
double serving_unfused_s(const serving_bench *b, double rows);
/** What attention that stores its scores adds to a chunk. */
double serving_stored_scores_s(const serving_bench *b, const ridge_attention *a);

/** Their sum, with what launches add. */
double serving_rows_total_s(const serving_bench *b, double rows);
/** Launches of an iteration with prompts, where graphs hold decoding alone: it takes
 * that long at least. */
double serving_eager_s(const serving_bench *b);
/** What an iteration takes of the host, of all stages one after another. */
typedef struct serving_host {
    double iteration_s, sequence_s; /* the latter for each sequence in it */
    bool is_hidden;                 /* behind the chip, if that takes longer */
} serving_host;

serving_host serving_host_of(const serving_bench *b);
/** Of it what an attention rank does by itself, with so many rows of its own. */
double serving_rank_rows_s(const serving_bench *b, double rows);

/** Unembedding and sampling. @param sampled  rows of all ranks. */
double serving_head_price(const serving_bench *b, double sampled);

/** What the layers of one mixer read and compute. */
typedef struct serving_scores {
    double s;          /* attention, or the state's work */
    double exchange_s; /* of a cut cache */
} serving_scores;

/** Of one iteration's decoding sequences of a rank. @param context  of each */
serving_scores serving_decode_price(const serving_bench *b, const serving_mixer *m,
                                    double sequences, double context);
/** Of one chunk of a prompt, but for what each call costs beside its work.
 * @param before  tokens in the cache */
serving_scores serving_chunk_price(const serving_bench *b, const serving_mixer *m,
                                   double tokens, double before);
/** Of an iteration that has chunks: what each layer's call costs beside its work. */
double serving_chunk_call_s(const serving_bench *b);

/** Tokens of the source that cross-attention meets. */
double serving_source_tokens(const serving_bench *b);
/** Entries of a cache that a query meets in the mean. */
double serving_met_tokens(const ridge_mixer *m, double context);

/** Whether the part of an expert is filled up to whole blocks of its format. */
bool serving_pads_experts(const ridge_model *model);
/** What products reach of a rate of which a share is left under load: all of it for few
 *  rows, the share for many. @param share  0: no such limit */
double serving_rate_share(double share, double rows);

/** What launching the kernels that unpack experts takes beside others, outside of a
 *  graph: of an iteration. */
double serving_experts_launch_s(const serving_bench *b);

/** One layer's routed experts. @param rows  of all ranks */
ridge_op_cost serving_experts_cost(const serving_bench *b, const ridge_ffn *ffn,
                                   double rows);
/** Width of what an expert reads: D, or a latent. */
double serving_expert_input(const serving_bench *b, const ridge_ffn *ffn);
/** One layer's rows on their way to experts and back. @param rows  of all ranks */
ridge_time serving_dispatch_time(const serving_bench *b, const ridge_ffn *ffn,
                                 double rows);
/** Experts of all layers, with the way of rows to them and back.
 * @param ep_s  out. @param kernels  out */
double serving_experts_price(const serving_bench *b, double rows, double *ep_s,
                             double *kernels);

/** An exchange by the engine's own kernels. */
double serving_exchange_s(const serving_bench *b, ridge_collective kind, double bytes,
                          const ridge_group *group);
/** A product of a dense feed-forward with D cut too. */
void serving_stationary_set(const serving_bench *b, int format, ridge_matmul *p);
/** What cutting D of dense feed-forwards adds to the exchanges of tp, or saves.
 *  @param rows  of a rank */
double serving_stationary_s(const serving_bench *b, double rows);

/** Activations of an iteration handed from stage to stage. @param rows  of a rank */
double serving_send_s(const serving_bench *b, double rows);

/** Drafting for that many sequences of a rank. @errors E_ARG, E_NOMEM */
RIDGE_NODISCARD ridge_status serving_draft_price(const serving_bench *b,
                                                 double sequences, double context,
                                                 double *out);

/** The engine's own work of an iteration that drafts, beside kernels.
 * @param sequences  of all attention ranks */
double serving_draft_engine_s(const ridge_engine *engine, const ridge_draft *draft,
                              double sequences);

/** Parameters that drafting adds to the model's own. */
double serving_draft_params(const ridge_model *model, const ridge_draft *draft);

/** The plain rooflines of an iteration. */
void serving_bound_find(const serving_bench *b, const ridge_serving_load *load,
                        ridge_serving_step *out);

#endif
