/*
 * What mixing tokens costs beside its projections: attention scores, and the scan of a
 * state. Used by the FLOP counts, the conventions and remat.
 */
#ifndef RIDGE_MODEL_SCORES_H
#define RIDGE_MODEL_SCORES_H

#include "ridge/model.h"

/** Tokens between the states that a chunked scan writes: the kernels' usual sizes. */
enum { RIDGE__DELTA_CHUNK = 64, RIDGE__LIGHTNING_CHUNK = 256, RIDGE__SSM_CHUNK = 256 };

/** Whether the mixer compares tokens pairwise (attention of any form). */
bool ridge__mixer_has_scores(const ridge_mixer *mixer);

/** FLOPs of scores and values over a full square of T, windows ignored: what the
 * printed formulas count. 0 for layers that compare no tokens. */
double ridge__layer_square_flops(const ridge_layer *layer, double seq_tokens);

#endif
