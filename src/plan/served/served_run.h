/*
 * What a measured row of serving says, in neutral terms, whether it came as CSV or as a
 * JSON object; and what follows from it: the case, the layout, the load.
 */
#ifndef RIDGE_PLAN_SERVED_RUN_H
#define RIDGE_PLAN_SERVED_RUN_H

#include "measured_csv.h"
#include "ridge/plan_serving_validation.h"

/** How requests come. */
typedef enum served_mode {
    SERVED_CLOSED,  /* clients that send again as soon as they are answered */
    SERVED_OPEN,    /* at a rate */
    SERVED_QUEUE,   /* all at once; the engine chooses how many run */
    SERVED_BATCH,   /* all at once, in one batch that runs to its last token */
    SERVED_DECODE,  /* generation alone, from a context of input_tokens */
    SERVED_PREFILL, /* prompts alone */
    SERVED_FIT,     /* whether it fits in memory, and nothing else */
    SERVED_OTHER    /* what is not simulated: mode has its words */
} served_mode;

/** Degrees of parallelism as a row has them; 0: not stated. */
typedef struct served_pool {
    int64_t workers, tp, pp, attention_dp, moe_tp, ep, batch;
} served_pool;

typedef struct served_run {
    const char *id, *source;
    const char *model, *chip, *framework; /* "" where the row is silent */
    const char *mode_words, *note;
    int line;
    int64_t chips, chips_per_node;                  /* 0: not stated */
    const char *interconnect;                       /* "" */
    const char *dtype, *expert_dtype, *cache_dtype; /* "" */
    served_mode mode;
    bool is_split;     /* prompts and generation on chips of their own */
    bool is_unsquared; /* see served_pool_unsquare */
    served_pool
        pools[2]; /* those of prompts and of generation; else all in the first */
    double concurrency, request_rate, requests;
    double input_tokens, output_tokens, cached_tokens; /* of a request */
    double output_cap;     /* that answers end before, of their own; 0: none */
    bool is_ranged;        /* lengths are uniform from a share of the stated to it */
    double shortest_share; /* which */
    double sent;           /* requests in all; 0: not stated */
    double budget_tokens;
    int64_t planned_steps; /* iterations that the host plans at once; 0: not stated */
    int64_t drafted;       /* tokens beyond the first; 0: none named */
    double weight_bytes;   /* of the file of weights; 0: not stated */
    bool is_decode_rate;   /* tokens/s of a batch are those of generation alone */
    bool fits;             /* of SERVED_FIT */
    double measured[RIDGE_SERVING_METRIC_COUNT]; /* 0: not */
    double measured_requests_per_s; /* of all clients; 0: not. Where a server's load was
                                       the most to keep its limits, that load */
    double measured_gap_s;          /* between two tokens, the mean over gaps; 0: not */
} served_run;

ridge_contradiction served_contradiction(const served_run *run);

/** Whether a CSV file is of this kind. */
bool served_csv_is_header(const measured_csv_row *header);
/** Whether a JSON row is of this kind. */
bool served_json_is_row(const ridge_node *row);

/** @param source  what such a file is called
 *  @errors E_PARSE with file:line */
RIDGE_NODISCARD ridge_status served_run_of_csv(ridge_ctx *cx, const measured_csv *csv,
                                               const measured_csv_row *header,
                                               const measured_csv_row *row,
                                               served_run *out);
/** @param where  file:line, for messages. @errors E_PARSE */
RIDGE_NODISCARD ridge_status served_run_of_json(ridge_ctx *cx, ridge_str line,
                                                const char *where, served_run *out);

/** What a row left open, as text "network, formats". */
typedef struct served_gaps {
    ridge_buf text;
} served_gaps;

void served_assume(served_gaps *gaps, const char *what);

/** What is known of how a row was run beyond what it says. */
typedef struct served_practice {
    bool is_known;
    double shortest_share; /* lengths are uniform from this share of the stated */
    double output_share;   /* of outputs alone: from this share of the stated; 0: as
                              the former */
    double frontend_s;     /* of a request before it reaches the engine's own */
    double handoff_s;      /* of a request between pools; 0: the engine's */
    double requests_per_client; /* 0: not known */
    bool has_cache;
    ridge_dtype cache;
    int64_t budget_tokens;  /* 0: the engine's */
    double memory_share;    /* 0: the engine's */
    double wait_iterations; /* of decoding, before a request is admitted */
    int64_t balance_iterations, gather_iterations; /* 0: the engine's */
    double graph_sequences;                        /* 0: the engine's */
    ridge_graph_sizes graph_sizes;                 /* n 0: the engine's */
    bool is_async;      /* the engine's form that hides its host */
    int64_t sequences;  /* at once; 0: the engine's */
    double expert_skew; /* loads of experts fall as rank^-skew */
    bool tunes_sizes;   /* sequences and budget are what trtllm-bench chooses */
    double requests;    /* sent in all; 0: not known */
    double input_spread, output_spread; /* lengths are lognormal, of this standard
                                           deviation over the mean; 0: not */
    double input_most, output_most;     /* tokens of those, at most; 0: any */
    int64_t
        model_tokens; /* longest sequence that the server was told; 0: the model's */
    int64_t attention_dp, ep; /* over the chips that the row calls tp; 0: as it says */
    /* of rows that do not say; 0, NULL: not known */
    double input_mean, output_mean, batch;
    const char *weights;
    int64_t tp, shared_chips; /* the latter: of all servers together */
    /* of the layout, as ridge serve has them; 0, NULL: not told */
    int64_t tp_d;
    const char *kv_cut;
    bool is_weight_gathered;
    const char *refuse;    /* why such runs are not predicted; NULL: they are */
    double turns;          /* how often a queue fills the engine; 0: not known */
    double ttft_s, tpot_s; /* that the load of a server was the most to keep at p99;
                              0: it was not chosen so */
    const char *model;     /* of the catalogue; NULL: that which the row names */
    const char *engine;    /* of the catalogue; NULL: that which the row names */
    const char *system;    /* of the catalogue; NULL: the chip's own */
} served_practice;

/** One group of chips that works alike: all of them, or those of prompts or of
 *  generation. */
typedef struct served_part {
    ridge_serving_case about;
    ridge_serving_layout layout;
    int64_t replicas;
    int64_t prompt_tokens, output_tokens; /* of a request */
    int64_t model_tokens;                 /* as the practice says */
    bool tunes_sizes;                     /* as the practice says */
    int64_t batch_tokens; /* of all prompts that are ever run at once; 0: not limited */
} served_part;

typedef struct served_deployment {
    served_run run; /* the row, with what its publisher's practice says beyond it */
    int n;          /* 1, or 2: prompts, generation */
    served_part parts[2];
    ridge_drafting drafting;
    const char *engine_name;
    served_practice practice;
} served_deployment;

/** The number formats of a model under what a row says of them. @errors E_NOTFOUND */
RIDGE_NODISCARD ridge_status served_formats(ridge_ctx *cx, const served_run *run,
                                            const ridge_model *model,
                                            const ridge_chip *chip,
                                            ridge_serving_formats *out);

/** A model as a file of llama.cpp's in a format of its own has it: every matrix narrow,
 *  each part with its own bits. Other formats leave it as it is.
 *  @owner cx. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status served_repack(ridge_ctx *cx, const char *format,
                                           const ridge_model **model);

/** A checkpoint's name without what it says of formats: "Qwen2.5-72B-Instruct-AWQ" is
 *  Qwen2.5-72B-Instruct. Part of the name. */
ridge_str served_name_bare(const char *name);
/** Formats of weights and cache that the checkpoint's name tells and the row does not.
 */
void served_name_complete(served_run *run);

/** What the catalogue calls a checkpoint in the row's format, behind the model's name:
 *  "-fp8"; "": as the model. Static. */
const char *served_formats_variant(const served_run *run);

/** Whether a checkpoint of the catalogue has the scales that a row says: blocks of
 * them.
 */
bool served_formats_is_variant(const served_run *run, const ridge_model *variant);

/** The engine that a row names; "other" and a gap where the catalogue does not know it.
 * @errors E_ARG: it names none */
RIDGE_NODISCARD ridge_status served_engine_find(ridge_ctx *cx,
                                                const ridge_catalog *catalog,
                                                const served_run *run,
                                                served_gaps *gaps,
                                                const ridge_engine **out);

/**
 * aiconfigurator's table has deployments twice, once as "tp 8, ep 8" on 64 chips with
 * moe_tp 8, or as attention_dp 8, tp 8 with ep 64, and once as measured: 8 chips, ep 8,
 * to the last digit the same times. Experts whose degrees multiply to the square of tp
 * or dp say so: what was multiplied with itself is counted once.
 * @return whether it was
 */
bool served_pool_unsquare(served_pool *pool);

/** The degrees of one pool, with what they imply. @errors E_ARG: why they cannot be */
RIDGE_NODISCARD ridge_status served_layout(ridge_ctx *cx, const served_run *run,
                                           const served_pool *pool,
                                           const ridge_model *model,
                                           ridge_serving_layout *out);

/** -1, 0, 1: 0 where model, chips, engine, formats and degrees are stated alike. */
int served_run_by_deployment(const served_run *a, const served_run *b);
/** The same of all that is stated: then their predictions are equal. */
int served_run_by_statement(const served_run *a, const served_run *b);

/** A desk, and the case that it was opened for. */
typedef struct served_desk {
    ridge_serving_case about;
    ridge_serving_desk *desk;
} served_desk;

enum { SERVED_DESKS_MOST = 16 };

/** What rows of one deployment share, one after another: files are read and prices
 *  found once. All of it lives in one ctx. */
typedef struct served_shared {
    const ridge_catalog *catalog;
    const ridge_library *library;
    const ridge_node *benches; /* NULL: not read yet */
    const ridge_model *model, *repacked;
    const ridge_model *practised; /* the one that a practice named last; NULL: none */
    const char *practised_name;
    int64_t n_opened;
    served_desk desks[SERVED_DESKS_MOST]; /* the last ones opened */
} served_shared;

/** The checkpoint that a row names, in its format where the catalogue has one.
 *  @owner cx. @errors E_ARG: it names none; E_NOTFOUND */
RIDGE_NODISCARD ridge_status served_model_find(ridge_ctx *cx,
                                               const ridge_library *library,
                                               const served_run *run,
                                               const ridge_model **out);

/** Model, chips, engine and layout of a row. @errors E_ARG, E_NOTFOUND: why not */
RIDGE_NODISCARD ridge_status served_deployment_find(ridge_ctx *cx,
                                                    served_shared *shared,
                                                    const served_run *stated,
                                                    served_gaps *gaps,
                                                    served_deployment *out);

/** Predict what the row measured. @errors E_ARG: what does not fit, or is not stated */
RIDGE_NODISCARD ridge_status served_predict(ridge_ctx *cx, served_shared *shared,
                                            const served_deployment *deployment,
                                            ridge_serving_row *out);

/** Rows that drafted, told by rows stated alike (RIDGE_DRAFTING_TWIN). @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status served_twins_mark(ridge_ctx *cx, const served_run *runs,
                                               ridge_serving_validation *v);

/** Errors by metric, chip, engine, source. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status served_summarise(ridge_ctx *cx,
                                              ridge_serving_validation *v);

#endif
