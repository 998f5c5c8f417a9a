/* Norms whose weight's elements are several runs, each divided by its own mean. */
#ifndef RIDGE_EXECUTE_GROUP_NORM_H
#define RIDGE_EXECUTE_GROUP_NORM_H

#include "machine.h"

/** A norm with norm_groups above 1, forward or backward. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__call_group_norm(ridge__call *c);

#endif
