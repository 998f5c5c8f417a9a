/* What a kernel keeps resident on the cores of chips, side by side. */
#ifndef RIDGE_REPORT_OCCUPANCY_SECTION_H
#define RIDGE_REPORT_OCCUPANCY_SECTION_H

#include "section.h"

#include "ridge/hardware_occupancy.h"

/** @param occupancies  [n] of the chips */
void ridge__occupancies_add(ridge_ctx *cx, const ridge_chip *const *chips,
                            const ridge_occupancy *occupancies, size_t n,
                            ridge_sections *out);
/** Set the key "occupancy" of a chip's object. */
void ridge__occupancy_set(ridge_ctx *cx, const ridge_occupancy *o, ridge_json *chip);

#endif
