/* Names and values of plain rooflines, as their keys say. Layer-internal. */
#ifndef RIDGE_REPORT_ROOFLINE_CELL_H
#define RIDGE_REPORT_ROOFLINE_CELL_H

#include "ridge/base.h"

/** A value in the unit that its key ends in; "never" if it is not finite. */
ridge_text ridge__roofline_value(const char *key, double v);

/** "tokens_over_critical" as words; the unit of seconds is in the value. In the ctx's
 *  arena. */
const char *ridge__roofline_name(ridge_ctx *cx, const char *key);

#endif
