/* Decoding sequences of a lane on a rank: who is in, what they read, how many blocks
 * they come to take. */
#ifndef RIDGE_DECODE_BATCH_H
#define RIDGE_DECODE_BATCH_H

#include "serving_state.h"

/** Tokens of a decoding sequence in the cache at a step of its batch. */
double ridge__sequence_tokens(const play_sequence *s, int64_t step);
/** Blocks that a sequence with so many tokens in the cache has. */
int64_t ridge__blocks_of(const play_unit *unit, double tokens);

/** Iterations of decoding that make so many tokens; drawn when tokens are drafted. */
int64_t ridge__decode_steps(play_unit *unit, int64_t tokens);

/** A sequence whose prompt is in the cache begins to decode.
 * @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__batch_join(serving_play *p, play_lane *lane,
                                               int32_t sequence);
/** It leaves, at the present step; cached and made are brought up to it. */
void ridge__batch_leave(serving_play *p, play_lane *lane, int32_t sequence);
/** It ends, but its slot stays in the batch (static batches). @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__batch_haunt(serving_play *p, play_lane *lane,
                                                int32_t sequence);
/** All have ended: slots are free again. */
void ridge__batch_clear(play_batch *b, int64_t block_tokens);

/** So many steps later. */
void ridge__batch_advance(const serving_play *p, const play_unit *unit, play_batch *b,
                          int64_t steps);
/** Blocks that so many steps take beyond those in use. */
int64_t ridge__batch_need(const serving_play *p, const play_unit *unit,
                          const play_batch *b, int64_t steps);
/** The most steps, of @p most, that free blocks allow. */
int64_t ridge__batch_fit(const serving_play *p, const play_unit *unit,
                         const play_batch *b, int64_t free, int64_t most);
/** Steps until something changes: a sequence ends, or fills a window. */
int64_t ridge__batch_quiet(const play_batch *b, int n_caches);

#endif
