/* Which part of a model a module's name belongs to, for formats that differ by part. */
#ifndef RIDGE_MODEL_QUANT_PART_H
#define RIDGE_MODEL_QUANT_PART_H

#include "config.h"

/** @return a ridge_quant_part, or -1: never quantised, or not of the language model. */
int ridge__quant_part_of(const char *module);

/**
 * Parts that a list of modules leaves as they are. A part is, if they cover a quarter
 * of the layers or more (hybrid models have it in few), or name no layer.
 * @param kept  [RIDGE_QUANT_PART_COUNT], set where kept
 */
void ridge__quant_kept(const ridge__config *c, ridge_node list, bool *kept);

#endif
