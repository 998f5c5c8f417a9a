/* Whole slices: chips, hosts, memory, peaks and network of all chips together. */
#ifndef RIDGE_REPORT_SLICE_SECTION_H
#define RIDGE_REPORT_SLICE_SECTION_H

#include "section.h"

#include "ridge/hardware.h"

/** Slices side by side. @param slices  [n], n >= 1 */
void ridge__slices_add(ridge_ctx *cx, const ridge_slice *const *slices, size_t n,
                       ridge_sections *out);
/** Set the key "totals" of @p object: a row for each slice. */
void ridge__slices_set(ridge_ctx *cx, const ridge_slice *const *slices, size_t n,
                       ridge_json *object);

#endif
