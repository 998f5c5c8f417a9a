/* One file of data/stacks into a ridge_stack. */
#ifndef RIDGE_STACK_READ_H
#define RIDGE_STACK_READ_H

#include "ridge/hardware_stack.h"

/**
 * @param root  the file's object; "name" was checked
 * @param base  the stack of its "base", or NULL
 * @errors E_PARSE with file:line; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__stack_read(ridge_ctx *cx, ridge_node root,
                                               const ridge_stack *base,
                                               ridge_stack **out);

#endif
