/* Measured serving beside its prediction, as text, HTML and JSON. */
#ifndef RIDGE_REPORT_SERVING_VALIDATION_H
#define RIDGE_REPORT_SERVING_VALIDATION_H

#include "ridge/base.h"
#include "ridge/plan_serving_validation.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_serving_validation_view {
    const char *path;
    const ridge_serving_validation *validation;
    bool has_rows; /* list every row, not only the summaries */
} ridge_serving_validation_view;

void ridge_serving_validation_write_text(ridge_ctx *cx,
                                         const ridge_serving_validation_view *view,
                                         bool with_colour, ridge_buf *out);
void ridge_serving_validation_write_html(ridge_ctx *cx,
                                         const ridge_serving_validation_view *view,
                                         ridge_buf *out);
void ridge_serving_validation_write_json(ridge_ctx *cx,
                                         const ridge_serving_validation_view *view,
                                         ridge_json *object);

#ifdef __cplusplus
}
#endif

#endif
