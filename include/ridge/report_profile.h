/*
 * Measured profiles as text, JSON and a page.
 */
#ifndef RIDGE_REPORT_PROFILE_H
#define RIDGE_REPORT_PROFILE_H

#include "ridge/base.h"
#include "ridge/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_profile_view {
    const ridge_profile *profile;
    ridge_profile_key key; /* operations are grouped by it */
    int rows;              /* most rows of a table; 0: the usual */
} ridge_profile_view;

void ridge_profile_write_text(ridge_ctx *cx, const ridge_profile_view *view,
                              bool with_colour, ridge_buf *out);
/** Set the keys "format", "files", "devices", "steps", "ops", "groups", "collectives",
 *  "gaps", "advice", "lost"; see docs/design/profiles.md. */
void ridge_profile_write_json(ridge_ctx *cx, const ridge_profile_view *view,
                              ridge_json *object);
/** A page with charts of the steps, the operations and the roofline. */
void ridge_profile_write_html(ridge_ctx *cx, const ridge_profile_view *view,
                              ridge_buf *out);

#ifdef __cplusplus
}
#endif

#endif
