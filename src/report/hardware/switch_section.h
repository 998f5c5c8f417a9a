/* The switches of a slice's network: tiers, counts, cables. */
#ifndef RIDGE_REPORT_SWITCH_SECTION_H
#define RIDGE_REPORT_SWITCH_SECTION_H

#include "section.h"

#include "ridge/hardware.h"

/** A section, where the system says what its switches are; none otherwise. */
void ridge__switches_add(ridge_ctx *cx, const ridge_slice *slice, ridge_sections *out);
/** Set the key "switches" of a slice's row: a row for each tier, innermost first. */
void ridge__switches_set(ridge_ctx *cx, const ridge_slice *slice, ridge_json *row);

#endif
