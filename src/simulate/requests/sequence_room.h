/* Room in the cache for sequences: admission, growth, giving way, and leaving. */
#ifndef RIDGE_SEQUENCE_ROOM_H
#define RIDGE_SEQUENCE_ROOM_H

#include "serving_state.h"

/** A free place for a sequence. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__sequence_new(serving_play *p, int32_t *out);
void ridge__sequence_free(serving_play *p, int32_t sequence);

/** Put it into the queue of its unit and rank. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__sequence_queue(serving_play *p, int32_t sequence);
/** Take it out of that queue. */
void ridge__sequence_unqueue(serving_play *p, int32_t sequence);

/** What an iteration has room for, on a rank. */
typedef struct room_ask {
    int64_t tokens;  /* left in the iteration */
    int64_t held;    /* free blocks that decoding will take */
    double promised; /* tokens of output of those that entered just now (SGLang) */
    bool is_fresh;   /* nothing else is in the iteration yet */
} room_ask;

/** Whether the first that waits may enter a lane, and with how long a chunk of its
 *  prompt; it then has its blocks, is out of the queue and, with a chunk, in the
 *  batch. What came over from elsewhere, or from the host, has no chunk.
 * @param entered  out: the sequence; -1: none
 * @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__sequence_enter(serving_play *p, play_lane *lane,
                                                   int rank, room_ask *ask,
                                                   int32_t *entered, int64_t *chunk);

/** Blocks for so many more tokens of a prompt. @return false: there are none */
bool ridge__sequence_grow(serving_play *p, play_lane *lane, int32_t sequence,
                          int64_t tokens, int64_t held);
/** Give names to what of its prompt, or of a session's output, is in whole pieces. */
void ridge__sequence_name(serving_play *p, int32_t sequence, double tokens);
/** Give its blocks back, to its rank's pages. */
void ridge__sequence_release(serving_play *p, int32_t sequence);

/** The same of what it holds on the replica that it comes from. */
void ridge__sequence_release_source(serving_play *p, int32_t sequence);
/** Copy the hashes of its request. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__sequence_keep_hashes(serving_play *p,
                                                         int32_t sequence);
/** Out of the batch's list of prompts in the course of being computed. */
void ridge__sequence_unchunk(serving_play *p, play_lane *lane, int32_t sequence);
/** Account for the time that it decoded, up to now. */
void ridge__sequence_settle(serving_play *p, play_lane *lane, int32_t sequence,
                            double now_s);
/** Its cache is gone: what it made so far is prompt now. */
void ridge__sequence_restart(play_sequence *s);

/** Who gives way next on a rank of a lane; -1: nobody is left. */
int32_t ridge__sequence_victim(const serving_play *p, const play_lane *lane, int rank);
/** It gives its blocks up and queues again. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__sequence_give_way(serving_play *p, play_lane *lane,
                                                      int32_t sequence);

#endif
