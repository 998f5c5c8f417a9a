/*
 * Requests to a service: what one asks for, files of them, and streams that are drawn.
 * Sources are pulled request by request; their memory does not grow with the stream.
 */
#ifndef RIDGE_SIMULATE_REQUESTS_H
#define RIDGE_SIMULATE_REQUESTS_H

#include "ridge/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a request ------------------------------------------------------------------- */

/**
 * One request. What its prompt shares with others is told in one of two ways, or not:
 * by hashes of pieces of equal length, each of which stands for all tokens up to its
 * end; or by a group, whose requests begin with the same tokens, and a session, whose
 * requests continue each other.
 */
typedef struct ridge_request {
    double arrival_s;      /* from the beginning of the stream */
    int64_t prompt_tokens; /* >= 1 */
    int64_t output_tokens; /* >= 1; with the first, which the prompt's pass makes */
    int priority;          /* smaller ones first */
    int64_t tag;           /* the source's own; given back when it is answered */

    int64_t hash_tokens;    /* of a piece */
    int64_t n_hashes;       /* whole pieces of the prompt; 0: none */
    const uint64_t *hashes; /* borrowed from the source until it is asked again */

    uint64_t group;       /* 0: none */
    int64_t group_tokens; /* that the requests of the group begin with */
    uint64_t session;     /* 0: none; all tokens behind the group's are the session's */
} ridge_request;

/** Tokens of pieces that a stream's requests are hashed by, where they are told by
 *  group and session. */
enum { RIDGE_REQUEST_PIECE_TOKENS = 16 };

/** The hash of piece @p index of a request, which ends at (index + 1) piece tokens.
 * @return 0: the piece is shared with no one, or goes beyond the prompt and, in a
 *  session, beyond the output */
uint64_t ridge_request_hash(const ridge_request *request, int64_t index);
/** Tokens of a piece of this request. */
int64_t ridge_request_piece(const ridge_request *request);

/* ---- sources --------------------------------------------------------------------- */

/**
 * Where requests come from. They come in order of arrival; a source that waits for
 * answers before it asks on (sessions, a closed loop) is told of each.
 */
typedef struct ridge_request_source {
    void *self;
    /** When the next one arrives; INFINITY: none is left, or none until an answer. */
    double (*peek_s)(void *self);
    /** Take it. Called only when peek_s is finite, and at once when @p out is to be
     *  read: hashes are the source's. @errors of what stands behind it */
    ridge_status (*take)(void *self, ridge_request *out);
    /** That a request with this tag was answered to its last token; may be NULL. */
    void (*answered)(void *self, int64_t tag, double at_s);
    /** What went wrong behind peek_s, which then gives INFINITY; may be NULL: nothing
     *  can. */
    ridge_status (*status)(void *self);
} ridge_request_source;

/* ---- files ----------------------------------------------------------------------- */

/* name, text, what */
/* clang-format off */
#define RIDGE_REQUEST_FORMAT_LIST(X)                                                       \
    X(CSV, "csv", "columns named as by Azure, BurstGPT, vidur or Splitwise")                \
    X(MOONCAKE, "mooncake", "JSON lines: timestamp (ms), input_length, output_length, hash_ids") \
    X(BAILIAN, "bailian", "JSON lines: chat_id, timestamp (s), input_length, output_length, hash_ids") \
    X(TOKENS, "tokens", "JSON lines: input_toks, output_toks, arrival_time_ns, input_tok_ids") \
    X(MEASURED, "measured", "JSON lines: input_toks, output_toks and the times of a run")
/* clang-format on */

typedef enum ridge_request_format {
#define RIDGE_REQUEST_FORMAT_ENUM(name, text, what) RIDGE_REQUEST_FORMAT_##name,
    RIDGE_REQUEST_FORMAT_LIST(RIDGE_REQUEST_FORMAT_ENUM)
#undef RIDGE_REQUEST_FORMAT_ENUM
} ridge_request_format;

/** "csv", "mooncake", … */
const char *ridge_request_format_text(ridge_request_format format);

/** How a file is read. Zeroes: as it is. */
typedef struct ridge_request_file_options {
    double speed;   /* times are divided by it; 0: 1 */
    int64_t most;   /* requests to take; 0: all */
    double most_s;  /* those that arrive later are not taken; 0: all */
    int64_t window; /* lines within which an order of arrival is mended; 0: 1,024 */
    bool refuses_disorder;  /* a line out of order is an error */
    int64_t tokens_a_piece; /* of hashes over token ids; 0: 16 */
} ridge_request_file_options;

/** What was met in a file, so far. Times of measured requests as the run says. */
typedef struct ridge_request_file_note {
    ridge_request_format format;
    const char *columns; /* "Azure", "BurstGPT", … */
    bool has_arrivals;
    int64_t lines;      /* read */
    int64_t requests;   /* taken */
    int64_t unanswered; /* lines of no output, left out */
    int64_t moved;      /* requests that stood out of order, put in order */
    int64_t measured;   /* requests with times of a run */
    const struct ridge_latency_sketch *measured_ttft, *measured_tpot, *measured_e2e;
} ridge_request_file_note;

typedef struct ridge_request_file ridge_request_file;

/**
 * Open a file of requests; its format is told by its content, and gzip and zstd are
 * unpacked. Lines are read as requests are taken. Malformed ones are errors that name
 * the line. Arrivals count from the first one. A file without arrivals gives them all
 * at 0, and is meant for ridge_request_draws.file.
 * @owner cx: until it closes
 * @errors E_IO; E_PARSE unknown content, or a malformed first line; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_request_file_open(
    ridge_ctx *cx, const char *path, const ridge_request_file_options *options,
    ridge_request_file **out);

/** The requests of a file as a source. */
ridge_request_source ridge_request_file_source(ridge_request_file *file);
const ridge_request_file_note *ridge_request_file_about(const ridge_request_file *file);

/* ---- drawn streams --------------------------------------------------------------- */

/** How long prompts or outputs are. */
typedef enum ridge_length_kind {
    RIDGE_LENGTH_FIXED,
    RIDGE_LENGTH_UNIFORM,  /* whole numbers from mean (1 - spread) to mean (1 + spread),
                              as `vllm bench serve --random-range-ratio` draws them */
    RIDGE_LENGTH_LOGNORMAL /* of that mean; spread: standard deviation over mean */
} ridge_length_kind;

typedef struct ridge_length {
    ridge_length_kind kind;
    double mean; /* tokens, >= 1 */
    double spread;
    int64_t least, most; /* clipped to; 0: 1, and no most */
} ridge_length;

/* name, text, what */
/* clang-format off */
#define RIDGE_ARRIVAL_LIST(X)                                                              \
    X(POISSON, "poisson", "independent of each other")                                      \
    X(GAMMA, "gamma", "gaps with a shape: below 1 in bunches, above 1 more even")           \
    X(CONSTANT, "constant", "one gap")                                                      \
    X(BURSTS, "bursts", "Poisson while on, none while off")                                 \
    X(ATONCE, "at-once", "all at the beginning")                                            \
    X(CLOSED, "closed", "a number of clients, each of which asks again when answered")
/* clang-format on */

typedef enum ridge_arrival_kind {
#define RIDGE_ARRIVAL_ENUM(name, text, what) RIDGE_ARRIVAL_##name,
    RIDGE_ARRIVAL_LIST(RIDGE_ARRIVAL_ENUM)
#undef RIDGE_ARRIVAL_ENUM
} ridge_arrival_kind;

/** "poisson", … */
const char *ridge_arrival_text(ridge_arrival_kind kind);

/**
 * A stream that is drawn. With turns, what arrives by the process are sessions: each of
 * their requests holds all that was said before, and comes think_s after the last
 * answer.
 */
typedef struct ridge_request_draws {
    ridge_arrival_kind arrivals;
    double rate_per_s;   /* > 0; in the mean, also of bursts */
    double shape;        /* GAMMA: 1 is Poisson, > 0 */
    double on_s, off_s;  /* BURSTS: mean lengths of both, exponential */
    int64_t concurrency; /* CLOSED: clients, >= 1 */
    double think_s;      /* between an answer and the next request, exponential; 0: at
                            once */
    int64_t requests;    /* how many in all; 0: no end, limited by most_s */
    double most_s;       /* the last may arrive; 0: no limit */
    ridge_length prompt, output;
    ridge_request_file *file; /* lengths and shared prefixes from its requests, over and
                                 over when it ends; NULL: prompt and output */

    int64_t groups;        /* prompts begin with one of so many prefixes; 0: none */
    int64_t prefix_tokens; /* of each, beside prompt */
    int64_t turns;         /* requests of a session; 0, 1: no sessions */
    double urgent_share;   /* of requests with priority 0, others have 1 */
    uint64_t seed;
} ridge_request_draws;

/**
 * @owner cx: until it closes
 * @errors E_ARG what does not make a stream: no rate, no lengths, no end; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_request_draws_open(ridge_ctx *cx,
                                                      const ridge_request_draws *draws,
                                                      ridge_request_source *out);

/* ---- latencies ------------------------------------------------------------------- */

/**
 * How often times were met, in buckets of a width of 1/256 to 1/128 of themselves: a
 * quantile is off by 0.4% at most, and memory does not grow. Seconds from 1e-9 to 3e5;
 * what is smaller or larger counts as the end.
 */
enum { RIDGE_LATENCY_OCTAVES = 48, RIDGE_LATENCY_STEPS = 128 };
enum { RIDGE_LATENCY_BUCKETS = RIDGE_LATENCY_OCTAVES * RIDGE_LATENCY_STEPS };

typedef struct ridge_latency_sketch {
    double n, sum, least, most;
    double count[RIDGE_LATENCY_BUCKETS];
} ridge_latency_sketch;

int ridge_latency_bucket(double seconds);
double ridge_latency_bucket_low(int bucket);
void ridge_latency_add(ridge_latency_sketch *sketch, double seconds, double times);
/** Times first_s, first_s + slope_s, … of which there are @p n, each met @p times. */
void ridge_latency_add_series(ridge_latency_sketch *sketch, double first_s,
                              double slope_s, int64_t n, double times);
/** @param q  0 to 1. @return seconds; 0 when nothing was met */
double ridge_latency_quantile(const ridge_latency_sketch *sketch, double q);
double ridge_latency_mean(const ridge_latency_sketch *sketch);

#ifdef __cplusplus
}
#endif

#endif
