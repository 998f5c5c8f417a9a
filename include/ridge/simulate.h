/*
 * Pipeline schedules as data: the order of passes on each rank, what it holds in
 * memory, and how it runs in time. Knows numbers of stages, chunks and microbatches
 * alone: nothing of models, programs or real processes.
 */
#ifndef RIDGE_SIMULATE_H
#define RIDGE_SIMULATE_H

#include "ridge/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- kinds of schedules -------------------------------------------------------- */

/* name, text, what */
/* clang-format off */
#define RIDGE_SCHEDULE_LIST(X)                                                          \
    X(1F1B, "1f1b", "one forward, one backward, as soon as there is one")               \
    X(GPIPE, "gpipe", "all forward passes, then all backward passes")                   \
    X(INTERLEAVED, "interleaved", "1f1b over several chunks of layers a rank")          \
    X(ZB_H1, "zb-h1", "weight gradients late: a third of the bubble in the memory of 1f1b") \
    X(ZB_H2, "zb-h2", "weight gradients later: no bubble, twice the memory of 1f1b")    \
    X(ZB_V, "zb-v", "two chunks a rank, the second back up: no bubble, the memory of 1f1b") \
    X(DUALPIPE, "dualpipe", "both ways at once, two copies of the stages: half the ranks' bubble")
/* clang-format on */

typedef enum ridge_schedule {
#define RIDGE_SCHEDULE_ENUM(name, text, what) RIDGE_SCHEDULE_##name,
    RIDGE_SCHEDULE_LIST(RIDGE_SCHEDULE_ENUM)
#undef RIDGE_SCHEDULE_ENUM
} ridge_schedule;

#define RIDGE_SCHEDULE_ONE(name, text, what) +1
enum { RIDGE_SCHEDULE_COUNT = 0 RIDGE_SCHEDULE_LIST(RIDGE_SCHEDULE_ONE) };
#undef RIDGE_SCHEDULE_ONE

/** @return the name, static; never NULL. */
const char *ridge_schedule_text(ridge_schedule kind);
const char *ridge_schedule_what(ridge_schedule kind);
/** @errors E_NOTFOUND with the nearest names */
RIDGE_NODISCARD ridge_status ridge_schedule_parse(ridge_ctx *cx, const char *text,
                                                  ridge_schedule *out);

/** Whether the gradient of the input and those of the weights are passes of their own.
 */
bool ridge_schedule_is_split(ridge_schedule kind);

/* ---- where stages lie ---------------------------------------------------------- */

/** A pipeline: p ranks with v chunks of layers each, so p v virtual stages in the order
 * of the layers, and the m microbatches of a step. On dualpipe there are two copies of
 * p stages, one in each chunk: stages 0 .. p - 1 down the ranks, p .. 2 p - 1 up them;
 * the first half of the microbatches goes down, the other up. */
typedef struct ridge_pipeline {
    ridge_schedule kind;
    int ranks;        /* p >= 1 */
    int chunks;       /* v >= 1 */
    int microbatches; /* m >= 1 */
} ridge_pipeline;

/** Most virtual stages of a pipeline. */
enum { RIDGE_PIPELINE_STAGES_MAX = 32768 };

/** A chunk of a rank. */
typedef struct ridge_pipeline_place {
    int rank;
    int chunk;
} ridge_pipeline_place;

/**
 * Whether there is such a pipeline.
 * @errors E_ARG a number below 1; chunks other than 1 on gpipe, 1f1b, zb-h1 and zb-h2;
 *         other than 2 on zb-v and dualpipe; on dualpipe an odd number of ranks or of
 *         microbatches, or fewer than 2 p of these; too many stages; INT_MAX / 3 or
 * more chunks times microbatches
 */
RIDGE_NODISCARD ridge_status ridge_pipeline_check(ridge_ctx *cx,
                                                  const ridge_pipeline *pipeline);

/**
 * The virtual stage, 0 .. p v - 1, that a chunk of a rank holds: chunk p + rank; on
 * zb-v and dualpipe the second chunk runs back up, 2 p - 1 - rank, so that the first
 * rank holds the first stage and the last.
 * @param place  within a checked pipeline. Cannot fail.
 * @source narayanan2021 section 2.2; qi2023-zero-bubble, ZB-V; qi2024-v-schedules;
 *         deepseek-v3-2024 section 3.2.1
 */
int ridge_pipeline_stage_of(const ridge_pipeline *pipeline, ridge_pipeline_place place);
/** The inverse. @param stage  0 .. p v - 1 */
ridge_pipeline_place ridge_pipeline_place_of(const ridge_pipeline *pipeline, int stage);

/** Microbatches first .. first + n - 1. */
typedef struct ridge_microbatch_range {
    int first, n;
} ridge_microbatch_range;

/** Those that go through a chunk: all; on dualpipe half. */
ridge_microbatch_range ridge_pipeline_range_of(const ridge_pipeline *pipeline,
                                               int chunk);

/* ---- schedules
 * ------------------------------------------------------------------------ */

/* name, letter, what */
/* clang-format off */
#define RIDGE_PASS_LIST(X)                                                              \
    X(FORWARD, "F", "forward")                                                          \
    X(BACKWARD, "B", "backward, for the input and for the weights")                     \
    X(BACKWARD_INPUT, "I", "backward, for the input alone")                             \
    X(BACKWARD_WEIGHT, "W", "backward, for the weights alone")
/* clang-format on */

/** What a rank does with a chunk and a microbatch. */
typedef enum ridge_pass {
#define RIDGE_PASS_ENUM(name, letter, what) RIDGE_PASS_##name,
    RIDGE_PASS_LIST(RIDGE_PASS_ENUM)
#undef RIDGE_PASS_ENUM
} ridge_pass;

#define RIDGE_PASS_ONE(name, letter, what) +1
enum { RIDGE_PASS_COUNT = 0 RIDGE_PASS_LIST(RIDGE_PASS_ONE) };
#undef RIDGE_PASS_ONE

/** "F", "B", "I", "W"; static. */
const char *ridge_pass_letter(ridge_pass pass);
const char *ridge_pass_what(ridge_pass pass);

/** The stage that takes what a pass of a stage makes: of F the next one, of B and I the
 * one before. -1: there is none, or nothing is made. */
int ridge_pipeline_target_of(const ridge_pipeline *pipeline, int stage,
                             ridge_pass pass);
/** The stage whose pass makes what one needs; -1: it needs nothing of another. */
int ridge_pipeline_source_of(const ridge_pipeline *pipeline, int stage,
                             ridge_pass pass);
/** Whether two stages lie on different ranks. */
bool ridge_pipeline_is_remote(const ridge_pipeline *pipeline, int stage, int other);

typedef struct ridge_action {
    ridge_pass pass;
    int chunk;
    int microbatch;
} ridge_action;

/** What a rank does, one after the other. */
typedef struct ridge_action_list {
    const ridge_action *actions;
    int n;
} ridge_action_list;

typedef struct ridge_pipeline_schedule {
    ridge_pipeline pipeline;
    const ridge_action_list *ranks; /* [p] */
} ridge_pipeline_schedule;

/**
 * The order of passes on each rank. Each chunk has each of its microbatches once
 * forward and once backward (B, or I and later W; on dualpipe some B, some I and W). Of
 * a chunk, each kind of pass takes the microbatches in ascending order: gradients are
 * added up in one order under every schedule, and messages between two stages arrive in
 * the order in which they are wanted. No rank waits in a circle when messages are sent
 * without waiting (ridge_pipeline_pending says with how many under way).
 *
 * Interleaved: m need not be a multiple of p; microbatches go through the chunks in
 * floor(m / p) groups as even as can be, none below p. Where m < p, and on zb-v where
 * m < 2 p - 1, the order is that of so many microbatches without the ones that are not
 * there.
 *
 * @owner the ctx: until it closes
 * @errors as ridge_pipeline_check; E_NOMEM
 * @source huang2019-gpipe (gpipe); narayanan2021 section 2.2 (1f1b, interleaved);
 *         qi2023-zero-bubble, ZB-H1, ZB-H2, ZB-V; deepseek-v3-2024 figure 5 (dualpipe)
 */
RIDGE_NODISCARD ridge_status ridge_pipeline_schedule_make(
    ridge_ctx *cx, const ridge_pipeline *pipeline, ridge_pipeline_schedule *out);

/**
 * Whether any order, however it was made, is a schedule: each chunk of each rank has
 * each of its microbatches once forward, then once backward (B, or I and then W), and
 * no ranks wait for each other in a circle.
 * @errors E_ARG with the rank and the action; E_NOMEM
 */
RIDGE_NODISCARD ridge_status
ridge_pipeline_schedule_check(ridge_ctx *cx, const ridge_pipeline_schedule *schedule);

/* ---- memory
 * ---------------------------------------------------------------------------- */

/**
 * The most (chunk, microbatch) pairs whose activations a rank holds at once: from the
 * start of F to the end of B, or of W. Divided by v, in microbatches of a whole rank.
 *
 *     gpipe m; 1f1b p - rank; interleaved 2 (p - rank - 1) + (v - 1) g + 1
 *     for groups of up to g, v = 1: p - rank; zb-h1 p; zb-h2 2 p - 1; zb-v 2 p;
 *     dualpipe p + 1, each of a whole stage of its own; never more than v m, and less
 * where m is small
 *
 * @param rank  0 .. p - 1. Cannot fail.
 */
int ridge_pipeline_in_flight(const ridge_pipeline_schedule *schedule, int rank);

/** Bytes that a virtual stage holds of a microbatch. */
typedef struct ridge_pipeline_held {
    double forward_bytes; /* from the start of F to the end of B or I */
    double weight_bytes;  /* between I and the end of W */
} ridge_pipeline_held;

/**
 * The most bytes of activations that a rank holds at once, without what a pass needs
 * for itself alone.
 * @param stages  [p v]. Cannot fail.
 * @source qi2023-zero-bubble section 2
 */
double ridge_pipeline_peak_bytes(const ridge_pipeline_schedule *schedule, int rank,
                                 const ridge_pipeline_held *stages);

/* ---- time
 * --------------------------------------------------------------------------------- */

/** What the passes of a virtual stage take; B takes both of the backward ones. */
typedef struct ridge_stage_time {
    double forward_s;
    double backward_input_s;
    double backward_weight_s;
} ridge_stage_time;

/** All times are >= 0 and finite. */
typedef struct ridge_pipeline_times {
    const ridge_stage_time *stages; /* [p v] */
    double send_s;                  /* between two ranks, while both may compute */
    /* Whether a rank may have at most pending_most messages of one stage under way in
     * one direction, not yet received, before it waits. 0: it waits for each. Without
     * limit messages are kept for the receiver. */
    bool has_pending_limit;
    int pending_most;
} ridge_pipeline_times;

/** When an action ran. */
typedef struct ridge_action_time {
    double start_s;
    double end_s;
} ridge_action_time;

typedef struct ridge_rank_time {
    const ridge_action_time *actions; /* [n], as the rank's list */
    double start_s;                   /* of its first action */
    double end_s;                     /* of its last */
    double busy_s;
    double bubble_s; /* makespan - busy */
} ridge_rank_time;

typedef struct ridge_pipeline_timeline {
    const ridge_rank_time *ranks; /* [p] */
    double makespan_s;            /* from the first start, at 0, to the last end */
    double span_s; /* the longest from a rank's first start to its last end */
} ridge_pipeline_timeline;

/**
 * Play a schedule in time: each rank takes its actions in order, each when what it
 * needs has arrived. F needs the F of the stage before; B and I that of the stage
 * behind, and their own F; W its own I. Between two ranks that takes send_s, one
 * message at a time from each stage in each direction; both ranks may compute
 * meanwhile. Within a rank it takes nothing.
 *
 * Nothing ends later when anything takes less long. Where all ranks end a step together
 * (a global gradient norm) steps follow each other every makespan_s; where the
 * optimizer waits for nobody, every span_s at best: ranks of zero-bubble schedules
 * start and end one behind the other, and a next step fills the corners.
 *
 * @param schedule  made, or checked by ridge_pipeline_schedule_check
 * @owner the ctx: until it closes
 * @errors E_ARG a time below 0 or not finite, or ranks that wait for each other: some
 *         messages are not received with so few pending; E_NOMEM
 * @note  Messages of different stages do not slow each other, nor compute. No
 * optimizer.
 * @source qi2023-zero-bubble section 5 (cost is the longest span of a rank)
 */
RIDGE_NODISCARD ridge_status
ridge_pipeline_play(ridge_ctx *cx, const ridge_pipeline_schedule *schedule,
                    const ridge_pipeline_times *times, ridge_pipeline_timeline *out);

/**
 * The fewest messages of a stage in a direction that must be allowed under way for the
 * schedule to run through: send buffers that a runtime needs. 0: it runs even when each
 * rank waits for the receiver after each pass.
 * @errors E_ARG ranks that wait for each other however many are allowed; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_pipeline_pending(
    ridge_ctx *cx, const ridge_pipeline_schedule *schedule, int *out);

#ifdef __cplusplus
}
#endif

#endif
