/* The time of one iteration with chunks of prompts in it. */
#ifndef RIDGE_ITERATION_PRICE_H
#define RIDGE_ITERATION_PRICE_H

#include "serving_state.h"

/** Set device_s and decode_s of a lane, and own_s of its chunks. decode_s is 0 where
 *  decoding sequences do not advance. @return seconds, the host's with them */
double ridge__iteration_price(play_unit *unit, play_lane *lane);

#endif
