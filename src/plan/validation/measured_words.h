/*
 * What the words of a published plan mean. Sources write freely ("ZeRO-1", "zero 1",
 * "distributed optimizer"): capitals, spaces, dashes and underscores do not count, and
 * words that mean nothing to Ridge are said to be unknown, not guessed.
 */
#ifndef RIDGE_PLAN_MEASURED_WORDS_H
#define RIDGE_PLAN_MEASURED_WORDS_H

#include "ridge/base.h"

/** Each is false for NULL and for text without a known word; then @p out stays. */

/** "bf16 mixed", "fp8 (Transformer Engine)", ...: an ridge_precision. */
bool measured_precision_word(const char *text, int *out);
/** "full", "Selective (core attention)", "off", ...: a ridge_remat. */
bool measured_remat_word(const char *text, int *out);
/** "decoupled AdamW", "Muon", "8-bit AdamW", "AdamW in bf16": a ridge_optimizer. */
bool measured_optimizer_word(const char *text, int *out);
/** "flash-attention 2", "no flash": a ridge_attention_kernel. */
bool measured_attention_word(const char *text, int *out);
/** The ZeRO stage, 0 to 3. */
bool measured_zero_word(const char *text, int *out);
/** "HSDP", "hybrid shard": shards within a node, replicas across. */
bool measured_is_hybrid(const char *text);
/** "yes", "true", "on", "1" and their opposites, and nothing beside them. */
bool measured_switch_word(const char *text, bool *out);

/** What a source says of a network. */
typedef struct measured_rate {
    double bytes_per_s;
    bool is_of_node; /* of all chips of a node together; else of each */
} measured_rate;

/**
 * "8x HDR InfiniBand 200 Gbit/s per node", "RDMA 400 Gb/s per GPU", "3.2 Tbps EFA",
 * "NDR InfiniBand". Of a number of links the rate is a node's; a rate that says neither
 * is each chip's, unless no chip has as much.
 * @return false: no rate is stated
 */
bool measured_rate_words(const char *text, measured_rate *out);

#endif
