/* Bytes of a layout's weights and caches on one chip. */
#ifndef RIDGE_PLAN_SERVING_WEIGHTS_H
#define RIDGE_PLAN_SERVING_WEIGHTS_H

#include "serving_bench.h"

/** Layers of each kind on a stage, and its ends. */
typedef struct serving_stage {
    double layers[RIDGE_LAYER_KIND_MAX];
    bool is_first, is_last;
} serving_stage;

/** Stage s of pp runs layers L s / pp to L (s + 1) / pp, rounded down. Engines that
 * split by layers count the head as one more, and round up. @source llama-cpp-2025 */
serving_stage serving_stage_of(const serving_bench *b, int64_t s);

/** Weights of one layer of a kind on a chip. */
double serving_layer_bytes(const serving_bench *b, int kind);
/** Weights of a stage on a chip, with its tables. */
double serving_stage_bytes(const serving_bench *b, const serving_stage *stage);

/** What a kind of layer keeps on one chip. */
typedef struct serving_kept {
    double token_bytes; /* of one more token of a sequence, while no window is full */
    double grow_bytes;  /* the same beyond the window: 0, or compressed entries */
    double window;      /* tokens that it keeps whole; 0: all */
    double state_bytes; /* of a sequence, whatever its length */
} serving_kept;

serving_kept serving_layer_kept(const serving_bench *b, int kind);

/** Of one more token of a sequence, all stages and each chip once: what moves when the
 *  sequence does. Copies of KV heads do not. */
double serving_token_bytes(const serving_bench *b);
/** The same on one chip of all stages, copies of heads with it. */
double serving_kept_bytes(const serving_bench *b);

#endif
