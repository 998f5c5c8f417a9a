/* The report of sizes for a budget. */
#ifndef RIDGE_REPORT_SIZING_H
#define RIDGE_REPORT_SIZING_H

#include "ridge/plan_sizing.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_sizing_view {
    const ridge_sizing_request *request;
    const ridge_sizing_study *study;
} ridge_sizing_view;

void ridge_sizing_write_text(ridge_ctx *cx, const ridge_sizing_view *view,
                             bool with_colour, ridge_buf *out);
/** A whole page, with the loss over tokens a parameter as a chart. */
void ridge_sizing_write_html(ridge_ctx *cx, const ridge_sizing_view *view,
                             ridge_buf *out);
/** Set the keys "law", "best", "served", "ratios", "laws", "speed". */
void ridge_sizing_write_json(ridge_ctx *cx, const ridge_sizing_view *view,
                             ridge_json *object);

#ifdef __cplusplus
}
#endif

#endif
