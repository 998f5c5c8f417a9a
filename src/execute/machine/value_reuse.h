/* Results in the array of an operand that dies. */
#ifndef RIDGE_EXECUTE_VALUE_REUSE_H
#define RIDGE_EXECUTE_VALUE_REUSE_H

#include "machine.h"

/** Give outputs that have no array yet that of an input that dies, where the operation
 * allows it. Until ridge__values_hand_over both have it. */
void ridge__values_take_over(ridge__call *c, const ridge__list *list);
/** The call is over, well or badly: such an array is the output's alone. */
void ridge__values_hand_over(ridge__call *c);

#endif
