/* Published counts of failures of a chip, as sections and JSON. */
#ifndef RIDGE_FAILURE_REPORT_H
#define RIDGE_FAILURE_REPORT_H

#include "section.h"

#include "ridge/hardware.h"

/** A table of the records that were counted on a chip; nothing when there is none. */
void ridge__failures_add(ridge_ctx *cx, const ridge_catalog *catalog,
                         const ridge_chip *chip, ridge_sections *out);
/** The key "failures" of @p object: records with rate and causes. */
void ridge__failures_set(ridge_ctx *cx, const ridge_catalog *catalog,
                         const ridge_chip *chip, ridge_json *object);

#endif
