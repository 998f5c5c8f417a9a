/* The derivation of a number: its lines, indented by depth. */
#ifndef RIDGE_REPORT_DERIVATION_SECTION_H
#define RIDGE_REPORT_DERIVATION_SECTION_H

#include "section.h"

#include "ridge/plan.h"

/** A table of quantities, values, formulas and numbers. */
void ridge__derivation_add(ridge_ctx *cx, const ridge_explanation *explanation,
                           ridge_sections *out);
/** Set the key "derivation" of @p object. */
void ridge__derivation_set(ridge_ctx *cx, const ridge_explanation *explanation,
                           ridge_json *object);

#endif
