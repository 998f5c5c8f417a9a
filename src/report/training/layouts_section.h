/* The table of the best training layouts. Layer-internal. */
#ifndef RIDGE_REPORT_LAYOUTS_SECTION_H
#define RIDGE_REPORT_LAYOUTS_SECTION_H

#include "section.h"

#include "ridge/report.h"

/** A row a layout, below it the choices that no column shows, the range of the times
 * and how much was searched.
 * @param view  its result holds at least one layout */
void ridge__layouts_add(ridge_ctx *cx, const ridge_train_view *view,
                        ridge_sections *out);

#endif
