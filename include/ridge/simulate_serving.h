/*
 * How long an engine's iteration takes, as tables: the planner fills them from priced
 * programs, the request simulator reads them. Knows nothing of models or chips.
 */
#ifndef RIDGE_SIMULATE_SERVING_H
#define RIDGE_SIMULATE_SERVING_H

#include "ridge/base.h"
#include "ridge/hardware_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/** y over x, linear between knots and beyond the ends. */
typedef struct ridge_curve_table {
    int n;           /* >= 1; with one knot it is constant */
    const double *x; /* ascending */
    const double *y;
} ridge_curve_table;

/** z over x and y, bilinear between knots and beyond the ends. */
typedef struct ridge_plane_table {
    int n_x, n_y;
    const double *x, *y; /* ascending */
    const double *z;     /* [n_x][n_y] */
} ridge_plane_table;

double ridge_curve_table_at(const ridge_curve_table *table, double x);
double ridge_plane_table_at(const ridge_plane_table *table, double x, double y);

enum { RIDGE_SERVING_CACHE_MAX = 8 };

/** Layers that read their cache in one way: all of it, a window of it, or a state whose
 *  size does not depend on the context. Times are those of all such layers. */
typedef struct ridge_serving_cache {
    double window_tokens;   /* 0: the whole context */
    double sink_tokens;     /* read beside the window */
    double bytes_per_token; /* on one chip, of all such layers; 0: a state */
    double state_bytes;     /* of a sequence on one chip, whatever its length */
    ridge_plane_table
        decode;                /* seconds: x decoding sequences, y tokens that one of
                                  them  reads in the mean, min(context, window + sinks) */
    ridge_plane_table prefill; /* seconds of one chunk: x its tokens, y those of its
                                  prompt that are in the cache before it */
} ridge_serving_cache;

/** Drafted tokens that one iteration verifies. */
typedef struct ridge_serving_draft {
    int64_t verified;     /* tokens of a sequence in an iteration, 1: no speculation */
    int64_t lookahead;    /* cache slots held beyond the context: one for each node
                             of a tree */
    int n_accept;         /* positions */
    const double *accept; /* [n_accept] chance that position i is accepted when those
                             before it are */
    ridge_curve_table draft; /* seconds of drafting over sequences */
} ridge_serving_draft;

/**
 * One replica of a deployment.
 *
 *     device_s = rows(tokens) + head(sampled) + (chunks > 0 ? chunk_call_s : 0)
 *              + sum over caches [ decode(sequences, mean read) + sum over chunks
 *                                  prefill(chunk, before) ]
 *              + draft(sequences)
 *     iteration_s = host hidden ? max(device_s, host) : device_s + host,
 *     host        = host_s + host_sequence_s sequences
 *
 * tokens are all rows of the iteration: decoding ones times verified, and chunks; where
 * sizes of graphs are known, batches without chunks are padded to the next. With
 * attention ranks each has sequences and caches of its own and attention takes as long
 * as its longest; rows and head are those of all ranks together, and where a rank has
 * more of an iteration's rows than the mean, rank_rows at its rows less rank_rows at
 * the mean is added. With pipeline stages the times are those of all stages: one
 * iteration takes device_s from end to end, and as many iterations of disjoint
 * sequences run at once as there are stages.
 */
typedef struct ridge_serving_speed {
    ridge_curve_table rows;      /* everything but attention and head: x tokens */
    ridge_curve_table head;      /* x sequences that sample */
    ridge_curve_table rank_rows; /* of rows, what an attention rank does by itself: x
                                    its own tokens; n 0: all of it is done together */
    double chunk_call_s;         /* of an iteration with chunks, however many */
    double eager_s; /* that one takes at least: its kernels launched one by one */
    int n_caches;
    ridge_serving_cache caches[RIDGE_SERVING_CACHE_MAX];
    ridge_serving_draft draft;
    ridge_graph_sizes graph_sizes; /* of an attention rank */
    double host_s, host_sequence_s;
    bool is_host_hidden;
    double request_s;        /* of a request before it queues */
    double handoff_s;        /* more where its cache goes to another pool */
    int64_t attention_ranks; /* 1: all chips of the replica share each sequence */
    int64_t stages;          /* of a pipeline; 1: none */
    int64_t blocks;          /* pages of the cache of an attention rank */
    int64_t block_tokens;
    int64_t sequence_blocks; /* that a sequence holds beside those of its tokens: its
                                windows and states */
    double block_bytes; /* of a page, on all chips of an attention rank: for swaps and
                           transfers */
    double swap_bytes_per_s;     /* of an attention rank to the host; 0: no swap */
    double transfer_bytes_per_s; /* of an attention rank to another pool; 0: none */
    double transfer_s;           /* of a transfer, beside its bytes */
    double chips;                /* of the replica */
    double usd_per_hour;         /* of the replica; 0: unknown */
} ridge_serving_speed;

#ifdef __cplusplus
}
#endif

#endif
