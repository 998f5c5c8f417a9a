/*
 * Services: the space of deployments of a model on a slice, what one of them does in
 * the steady state, the search for the best under goals, fronts and sweeps. Prices of
 * iterations come from plan_serving.h.
 */
#ifndef RIDGE_PLAN_SERVICE_H
#define RIDGE_PLAN_SERVICE_H

#include "ridge/cost_range.h"
#include "ridge/plan_serving.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what is asked --------------------------------------------------------------- */

/** Requests, alike but for chance. */
typedef struct ridge_service_work {
    double prompt_tokens;  /* P >= 1 */
    double output_tokens;  /* G >= 1; the first of them comes from the prefill */
    double cached_tokens;  /* of the prompt, found in the prefix cache: below P */
    double context_tokens; /* of every decoding sequence; 0: from P to P + G */
} ridge_service_work;

/* Latencies with goals. name, text, what */
/* clang-format off */
#define RIDGE_SERVICE_LATENCY_LIST(X)                                                      \
    X(TTFT, "ttft", "time to the first token")                                              \
    X(TPOT, "tpot", "time between tokens")                                                  \
    X(E2E, "e2e", "time to the last token")
/* clang-format on */

typedef enum ridge_service_latency {
#define RIDGE_SERVICE_LATENCY_ENUM(name, text, what) RIDGE_SERVICE_##name,
    RIDGE_SERVICE_LATENCY_LIST(RIDGE_SERVICE_LATENCY_ENUM)
#undef RIDGE_SERVICE_LATENCY_ENUM
} ridge_service_latency;

#define RIDGE_SERVICE_LATENCY_ONE(name, text, what) +1
enum {
    RIDGE_SERVICE_LATENCY_COUNT =
        0 RIDGE_SERVICE_LATENCY_LIST(RIDGE_SERVICE_LATENCY_ONE)
};
#undef RIDGE_SERVICE_LATENCY_ONE

/** "ttft" */
const char *ridge_service_latency_text(ridge_service_latency latency);
/** "time to the first token" */
const char *ridge_service_latency_what(ridge_service_latency latency);

/** Most that a latency may be. */
typedef struct ridge_service_goals {
    double most_s[RIDGE_SERVICE_LATENCY_COUNT]; /* INFINITY: no goal */
    double quantile; /* of requests that have to keep them, 0.5 to 0.999; 0: the mean */
} ridge_service_goals;

/** "ttft=500ms,tpot=30ms,p99": p50 to p99.9; without one the means.
 * @errors E_ARG: another latency (with the nearest), a time that is none, twice the
 * same */
RIDGE_NODISCARD ridge_status ridge_service_goals_parse(ridge_ctx *cx, const char *text,
                                                       ridge_service_goals *out);
/** No goal at all. */
ridge_service_goals ridge_service_goals_none(void);

/* What is wanted. name, text, what */
/* clang-format off */
#define RIDGE_SERVICE_AIM_LIST(X)                                                          \
    X(THROUGHPUT, "throughput", "most output tokens a second and chip")                     \
    X(COST, "cost", "fewest dollars a million output tokens")                               \
    X(CHIPS, "chips", "fewest chips for the request rate")                                  \
    X(LATENCY, "latency", "shortest time to the last token")                                \
    X(ENERGY, "energy", "least energy an output token")
/* clang-format on */

typedef enum ridge_service_aim {
#define RIDGE_SERVICE_AIM_ENUM(name, text, what) RIDGE_SERVICE_AIM_##name,
    RIDGE_SERVICE_AIM_LIST(RIDGE_SERVICE_AIM_ENUM)
#undef RIDGE_SERVICE_AIM_ENUM
} ridge_service_aim;

#define RIDGE_SERVICE_AIM_ONE(name, text, what) +1
enum { RIDGE_SERVICE_AIM_COUNT = 0 RIDGE_SERVICE_AIM_LIST(RIDGE_SERVICE_AIM_ONE) };
#undef RIDGE_SERVICE_AIM_ONE

const char *ridge_service_aim_text(ridge_service_aim aim);
const char *ridge_service_aim_what(ridge_service_aim aim);
/** @errors E_ARG with the names */
RIDGE_NODISCARD ridge_status ridge_service_aim_parse(ridge_ctx *cx, const char *text,
                                                     ridge_service_aim *out);

/* name, text, what */
/* clang-format off */
#define RIDGE_SERVICE_MODE_LIST(X)                                                         \
    X(ANY, "any", "either")                                                                 \
    X(AGGREGATED, "aggregated", "every server prefills and decodes")                        \
    X(DISAGGREGATED, "disaggregated", "servers that prefill send caches to servers that decode")
/* clang-format on */

typedef enum ridge_service_mode {
#define RIDGE_SERVICE_MODE_ENUM(name, text, what) RIDGE_SERVICE_MODE_##name,
    RIDGE_SERVICE_MODE_LIST(RIDGE_SERVICE_MODE_ENUM)
#undef RIDGE_SERVICE_MODE_ENUM
} ridge_service_mode;

const char *ridge_service_mode_text(ridge_service_mode mode);

enum { RIDGE_SERVICE_FREE = -1, RIDGE_SERVICE_FORMATS_MAX = 16 };

/** What a user fixes of one pool; 0 or RIDGE_SERVICE_FREE: not fixed. */
typedef struct ridge_service_pool_knobs {
    int64_t tp, pp, ep, attention_dp;
    int64_t tp_d;      /* of tp, ranks that cut D; not searched unasked */
    int64_t placement; /* plus one */
    int kv_cut;        /* of ridge_kv_cut, or RIDGE_SERVICE_FREE */
    int is_gathered;
    int has_two_batches;
    int64_t redundant; /* copies of hot experts, plus one */
    int64_t servers;
} ridge_service_pool_knobs;

/** Which pool a layout is for. */
typedef enum ridge_service_role {
    RIDGE_SERVICE_ROLE_BOTH, /* aggregated */
    RIDGE_SERVICE_ROLE_PREFILL,
    RIDGE_SERVICE_ROLE_DECODE
} ridge_service_role;

enum { RIDGE_SERVICE_ROLE_COUNT = RIDGE_SERVICE_ROLE_DECODE + 1 };

/** "server", "prefill", "decode" */
const char *ridge_service_role_text(ridge_service_role role);

typedef struct ridge_service_knobs {
    ridge_service_pool_knobs pools[RIDGE_SERVICE_ROLE_COUNT];
    ridge_service_mode mode;
    double batch;          /* decoding sequences of an attention rank's iteration */
    int64_t budget_tokens; /* of an iteration of an attention rank; 0: free */
    int64_t depth;         /* positions drafted; RIDGE_SERVICE_FREE: searched */
    ridge_draft draft;     /* depth is searched or fixed by the above; nodes: most of a
                              tree, 0: chains */
    double tree_next;      /* chance of each further candidate, from which the trees of
                              a depth are found; 0: draft.accept is the tree's own */
    int n_formats;         /* 0: as the model's checkpoint says */
    ridge_serving_formats formats[RIDGE_SERVICE_FORMATS_MAX];
    /* As they were told, until the model is known; NULL: not. */
    const char *weight_text, *expert_text, *compute_text, *cache_text, *activation_text;
} ridge_service_knobs;

ridge_service_knobs ridge_service_knobs_free(void);

/** Set a knob from KEY and VALUE of the command line: tp, pp, ep, attention_dp,
 * tp_d, placement, servers, kv_cut, gathered, overlap (with prefill_ or decode_ before
 * them: of that pool alone), mode, batch, budget, depth, weights, experts, compute,
 * cache, activations.
 * @errors E_ARG unknown key (with the nearest) or bad value */
RIDGE_NODISCARD ridge_status ridge_service_knobs_set(ridge_ctx *cx,
                                                     ridge_service_knobs *knobs,
                                                     const char *key,
                                                     const char *value);

/** Formats that the knobs leave open, of a model on a chip: fills formats.
 * Unasked weights are as in the checkpoint, arithmetic in the widest of what the chip
 * computes no slower than the weights' format, or bf16 where it has none; the cache as
 * ridge_serving_cache_of() has it. "any" of weights or cache: all formats that the chip
 * computes, and int8 and int4 in memory alone.
 * @errors E_ARG: a name that is no format, too many combinations */
RIDGE_NODISCARD ridge_status ridge_service_knobs_close(ridge_ctx *cx,
                                                       const ridge_model *model,
                                                       const ridge_chip *chip,
                                                       const ridge_engine *engine,
                                                       ridge_service_knobs *knobs);

enum {
    RIDGE_SERVICE_TOP_MAX = 32,
    RIDGE_SERVICE_FRONT_MAX = 64,
    RIDGE_SERVICE_REFUSAL_MAX = 24
};

/** What is asked. Borrowed pointers must outlive the result. */
typedef struct ridge_service_request {
    const ridge_model *model;
    const ridge_slice *slice;
    const ridge_engine *engine;
    ridge_service_work work;
    ridge_service_goals goals;
    ridge_service_aim aim;
    double requests_per_s; /* of the whole service; 0: as many as it can */
    ridge_service_knobs knobs;
    double expert_skew;       /* as ridge_experts.skew */
    double usd_per_chip_hour; /* 0: not known */
    double watts_per_chip;    /* with its share of the host; 0: modelled */
    double pue;               /* energy at the meter over that of machines; 0: 1 */
    double usd_per_kwh;       /* 0: not known */
    int top;                  /* 1 to RIDGE_SERVICE_TOP_MAX */
    int varied;               /* deployments of unlike last pools kept for plays */
    bool is_plain;            /* the best alone: no fronts */
    bool ignores_misses;      /* nothing is told of what misses the goals: the result's
                                 nearest, most and least are not all looked for */
    int workers;              /* threads; 0: one a processor */
    ridge_progress *progress; /* or NULL */
} ridge_service_request;

/* ---- what a deployment does ------------------------------------------------------ */

/** Servers of one layout. */
typedef struct ridge_service_pool {
    ridge_service_role role;
    ridge_serving_layout layout;
    int64_t servers;
    double batch; /* of an iteration and attention rank: decoding sequences, in the
                     mean; of a prefill pool: prompts at once */
} ridge_service_pool;

/** A deployment: one pool, or prefill and decode. */
typedef struct ridge_service_choice {
    ridge_service_mode mode; /* not ANY */
    int n_pools;
    ridge_service_pool pools[2];
} ridge_service_choice;

int64_t ridge_service_choice_chips(const ridge_service_choice *choice);

/* Why a deployment is no answer. name, what */
/* clang-format off */
#define RIDGE_SERVICE_FIT_LIST(X)                                                          \
    X(OK, "fits")                                                                           \
    X(LAYOUT, "the layout is not legal")                                                    \
    X(CHIPS, "more chips than the slice has")                                               \
    X(WEIGHTS, "weights, activations and reserve leave no room for one sequence")          \
    X(CACHE, "the cache of that many sequences does not fit")                               \
    X(SATURATED, "prompts come faster than iterations take them")                           \
    X(TRANSFER, "no network between the pools, or caches come faster than it takes them")   \
    X(TTFT, "misses the goal of the time to the first token")                               \
    X(TPOT, "misses the goal of the time between tokens")                                   \
    X(E2E, "misses the goal of the time to the last token")                                 \
    X(RATE, "does not reach the request rate")
/* clang-format on */

typedef enum ridge_service_fit {
#define RIDGE_SERVICE_FIT_ENUM(name, what) RIDGE_SERVICE_FIT_##name,
    RIDGE_SERVICE_FIT_LIST(RIDGE_SERVICE_FIT_ENUM)
#undef RIDGE_SERVICE_FIT_ENUM
} ridge_service_fit;

#define RIDGE_SERVICE_FIT_ONE(name, what) +1
enum { RIDGE_SERVICE_FIT_COUNT = 0 RIDGE_SERVICE_FIT_LIST(RIDGE_SERVICE_FIT_ONE) };
#undef RIDGE_SERVICE_FIT_ONE

const char *ridge_service_fit_text(ridge_service_fit fit);

/** Parts of the time to the first token; with those of the chunks' iterations they sum
 *  to it. */
typedef struct ridge_service_wait {
    double request_s;   /* of the engine, before the request queues */
    double queue_s;     /* prompts before it */
    double iteration_s; /* until the iteration under way ends; of two pools, of those
                           that decode until the first token */
    double transfer_s;  /* of the cache to the decoding pool */
} ridge_service_wait;

/** Kilowatt-hours of a million tokens of one joule each. */
#define RIDGE_KWH_PER_MILLION_J (1 / 3.6)

/** Where the watts of a service come from. */
typedef enum ridge_service_power {
    RIDGE_SERVICE_POWER_UNKNOWN,
    RIDGE_SERVICE_POWER_GIVEN,    /* by the user */
    RIDGE_SERVICE_POWER_DRAWN,    /* of the chips' load: ridge_chip_draw_watts */
    RIDGE_SERVICE_POWER_TRAINING, /* as measured of the system in training */
    RIDGE_SERVICE_POWER_RATED /* the chips' rating: an upper bound of the chips' part */
} ridge_service_power;

/** "unknown", "given", "drawn", "training", "rating" */
const char *ridge_service_power_text(ridge_service_power power);

/** What a service draws in the mean, of a paid chip; shares are of those that serve. */
typedef struct ridge_service_energy {
    ridge_service_power source;
    double busy_share;             /* of the time, iterations run */
    double memory_share;           /* of the memory's rate, while they do */
    double flops_share;            /* of the peak of their products, while they do */
    double chip_watts;             /* of the chip alone; GIVEN: host among it */
    double host_watts;             /* its share of hosts and fans; 0: not known */
    double meter_watts;            /* both, x PUE */
    double joules_per_token;       /* of output, at the meter; 0: not known */
    double usd_per_million_tokens; /* of the energy; 0: no price of it is known */
} ridge_service_energy;

/** A deployment played request by request. */
typedef struct ridge_service_played {
    bool is_played;
    bool is_kept;          /* the goals, by their share of requests, at this rate */
    double requests_per_s; /* the most that keeps the goals; or the rate that was asked;
                              without goals: a closed loop's */
    double tokens_per_s_per_chip;  /* of output and a paid chip, at that rate */
    double usd_per_million_tokens; /* of output; 0: no price is known */
    double good_share;             /* of requests that keep all goals */
    double mean_s[RIDGE_SERVICE_LATENCY_COUNT];
    double p99_s[RIDGE_SERVICE_LATENCY_COUNT];
    double cache_most; /* of the blocks, at once */
    int64_t preemptions;
    int64_t requests; /* of the last play */
} ridge_service_played;

/**
 * A deployment in the steady state: as many requests end as begin, in the mean.
 *
 *     iterations of a sequence  N = (G - 1) / tokens an iteration yields
 *     requests/s of an attention rank and stage  batch / (N x iteration)
 *     TPOT = iteration / tokens an iteration yields
 *     TTFT = wait + iterations of its own chunks
 *
 * The iteration is the mean of those that carry chunks of prompts (a share of mixed)
 * and those that do not; see docs/design/serving-search.md.
 */
typedef struct ridge_service_price {
    ridge_service_choice choice;
    ridge_service_fit fit;
    int64_t chips; /* that the servers take */
    double paid_chips;
    double latency_s[RIDGE_SERVICE_LATENCY_COUNT];  /* means */
    double quantile_s[RIDGE_SERVICE_LATENCY_COUNT]; /* at the goals' quantile */
    double bound_s[RIDGE_SERVICE_LATENCY_COUNT];    /* physics, without waiting */
    double requests_per_s;                          /* of the service */
    double tokens_per_s;                            /* of output */
    double tokens_per_s_per_chip;                   /* of paid chips */
    double bound_tokens_per_s_per_chip; /* the same batch, at the iteration's bound */
    double user_tokens_per_s;           /* 1 / TPOT */
    double concurrency;                 /* requests in the service, in the mean */
    double usd_per_million_tokens;      /* of output; 0: no price is known */
    double iteration_s;                 /* mean, of those that decode */
    double stages_s;   /* of it, what batches of a pipeline wait for longer ones */
    double yield;      /* tokens of a sequence and iteration: above 1 by drafting */
    double mixed;      /* share of the iterations that carry chunks */
    double chunks;     /* iterations that a prompt takes */
    double use;        /* of what prefill could take: prompts / capacity */
    double cache_use;  /* of the blocks, in the mean */
    double decode_use; /* disaggregated: share of its limit at which decode runs */
    ridge_service_wait wait;
    /* With priced steps alone (is_detailed): */
    bool is_detailed;
    ridge_serving_step decode;      /* an iteration that only decodes */
    ridge_serving_step prefill;     /* one that carries chunks of a prompt */
    ridge_serving_load decode_load; /* of the two */
    ridge_serving_load prefill_load;
    ridge_serving_memory memory[2]; /* of each pool */
    ridge_service_energy energy;
    ridge_service_played played;
} ridge_service_price;

/** Where eight of ten measured deployments of the engine lie; never below the bound.
 *  Both ends 0: none was measured. */
ridge_range ridge_service_range(const ridge_service_request *request,
                                const ridge_service_price *price,
                                ridge_service_latency latency);

/** Part of the mean time between tokens; they sum to it. @param part  of
 * ridge_serving_part. @return seconds of an is_detailed price */
double ridge_service_tpot_part(const ridge_service_price *price, int part);
/** What of it chunks of prompts cause. */
double ridge_service_tpot_prefill(const ridge_service_price *price, int part);
/** The same of the mean time to the first token, beside price.wait. */
double ridge_service_ttft_part(const ridge_service_price *price, int part);

/* ---- search ---------------------------------------------------------------------- */

/** Deployments refused alike. */
typedef struct ridge_service_refusal {
    ridge_service_fit fit;
    const char *why;              /* of LAYOUT: in words; else ridge_service_fit_text */
    int64_t n;                    /* deployments */
    ridge_serving_layout example; /* the first of them */
    double nearest;               /* WEIGHTS: least bytes of a chip that lack; else 0 */
} ridge_service_refusal;

typedef struct ridge_service_result {
    int n_layouts; /* best first; each layout at its best batch; 0: none */
    ridge_service_price *layouts;
    /* The best of each of the best few layouts of the last pool, beside the above: what
     * plays may put before them. */
    int n_varied;
    ridge_service_price *varied;
    bool has_other; /* the best of the other mode, where both were searched */
    ridge_service_price other;
    int n_speed_front; /* none has both a shorter TPOT and more tokens/s a chip */
    ridge_service_price *speed_front;
    int n_cost_front; /* none is both faster to the last token and cheaper */
    ridge_service_price *cost_front;
    /* Where nothing does: what comes nearest to all goals together, and to each. */
    bool has_nearest;
    ridge_service_price nearest;
    bool has_least[RIDGE_SERVICE_LATENCY_COUNT];
    ridge_service_price least[RIDGE_SERVICE_LATENCY_COUNT];
    bool has_most; /* of a request rate: what takes the most of it */
    ridge_service_price most;
    int n_refusals; /* most first */
    ridge_service_refusal refusals[RIDGE_SERVICE_REFUSAL_MAX];
    int64_t covered; /* deployments: layouts, batches, budgets, depths, ratios */
    int64_t priced;  /* whose times were computed; bounds decide the others */
    int64_t tables;  /* layouts whose iterations were priced */
    double seconds;
} ridge_service_result;

/** Positive work, goals above 0, a homogeneous slice, knobs that do not contradict each
 *  other. @errors E_ARG with the contradiction */
RIDGE_NODISCARD ridge_status ridge_service_check(ridge_ctx *cx,
                                                 const ridge_service_request *request);

/**
 * The best deployments by the aim, among those that keep the goals.
 * Knobs must be closed (ridge_service_knobs_close).
 * @owner the ctx
 * @errors E_ARG as ridge_service_check; E_NOMEM; E_CANCELLED
 */
RIDGE_NODISCARD ridge_status ridge_service_search(ridge_ctx *cx,
                                                  const ridge_service_request *request,
                                                  ridge_service_result *out);

/** One deployment with all details; one that does not do is an answer (price.fit).
 * With a request rate, batches are what it makes them.
 * @errors E_ARG, E_NOMEM */
RIDGE_NODISCARD ridge_status
ridge_service_price_one(ridge_ctx *cx, const ridge_service_request *request,
                        const ridge_service_choice *choice, ridge_service_price *out);

/** Whether the layouts of a choice can serve at all; memory aside. @errors E_ARG why
 * not; E_NOMEM */
RIDGE_NODISCARD ridge_status
ridge_service_check_layouts(ridge_ctx *cx, const ridge_service_request *request,
                            const ridge_service_choice *choice);

/** Whether @p a comes before @p b by an aim; both fit. */
bool ridge_service_is_better(ridge_service_aim aim, const ridge_service_price *a,
                             const ridge_service_price *b);

#ifdef __cplusplus
}
#endif

#endif
