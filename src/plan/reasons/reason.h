/* A line of a derivation, whoever tells it. */
#ifndef RIDGE_PLAN_REASON_H
#define RIDGE_PLAN_REASON_H

#include "ridge/plan.h"

#include <stdarg.h>

/** Append a line; texts are copied, values are made by the printf arguments. A line for
 *  which there is no room is left out. @param formula  borrowed: a constant */
void reason_add(ridge_ctx *cx, ridge_explanation *out, int depth, const char *name,
                const char *formula, const char *result, const char *values_fmt,
                va_list values) RIDGE_PRINTF(7, 0);

#endif
