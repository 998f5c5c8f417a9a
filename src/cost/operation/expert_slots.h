/* Slots of experts over chips: hot experts copied, and all dealt by their load. */
#ifndef RIDGE_EXPERT_SLOTS_H
#define RIDGE_EXPERT_SLOTS_H

#include "ridge/cost.h"

typedef struct expert_slots {
    double hit;  /* slots that get a row of an iteration */
    double most; /* load of the fullest chip, over the mean of chips */
} expert_slots;

/**
 * @param op  redundant > 0, experts + redundant a multiple of ways and at most
 *            RIDGE_EXPERT_SLOTS_MAX
 */
expert_slots ridge__expert_slots_find(const ridge_experts *op);

#endif
