/*
 * The time of iterations that only decode, many at once: between the knots of its
 * tables it is linear in the step, so that their sum is an arithmetic series.
 */
#ifndef RIDGE_DECODE_WALK_H
#define RIDGE_DECODE_WALK_H

#include "serving_state.h"

/** Plan up to so many steps of decoding of a lane: its pieces and steps are set.
 * @return seconds of them; at least one step is planned */
double ridge__walk_decoding(play_unit *unit, play_lane *lane, int64_t most);

/** Where a walk stops short. */
typedef enum walk_stop {
    WALK_BEYOND, /* at the first step that ends at or after the time */
    WALK_BEFORE  /* at the last that ends at or before it */
} walk_stop;

/** Cut what was planned. @param within_s  from its beginning
 * @return seconds of what is left */
double ridge__walk_cut(play_lane *lane, double within_s, walk_stop stop);

/** Seconds of what is planned in which the chip waits for the host. */
double ridge__walk_host(const play_lane *lane);

/** The chip's time of rows, head and draft of so many decoding sequences. */
double ridge__rows_of_decoding(play_unit *unit, int64_t sequences);
/** Attention of a batch, seconds, at its present step. */
double ridge__attention_of_decoding(const play_unit *unit, const play_batch *b);
/** The host's time of an iteration with so many sequences. */
double ridge__host_time(const play_unit *unit, int64_t sequences);

#endif
