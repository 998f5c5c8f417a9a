/* A product and the bias behind it as one call. */
#ifndef RIDGE_EXECUTE_FUSED_BIAS_H
#define RIDGE_EXECUTE_FUSED_BIAS_H

#include "machine.h"

/** Whether instruction @p index is a product whose result only the next instruction
 * reads, to add a bias to its rows, and the device does both at once. */
bool ridge__bias_follows(const ridge__machine *m, const ridge__list *list, int index);

#endif
