/* The report of when drafting pays. */
#ifndef RIDGE_REPORT_SPECULATION_H
#define RIDGE_REPORT_SPECULATION_H

#include "ridge/plan_speculation.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_speculation_view {
    const char *model_name; /* as given */
    const char *slice_text;
    const ridge_speculation_query *query;
    const ridge_speculation_study *study;
    const ridge_engine *engine; /* that was priced */
} ridge_speculation_view;

void ridge_speculation_write_text(ridge_ctx *cx, const ridge_speculation_view *view,
                                  bool with_colour, ridge_buf *out);
void ridge_speculation_write_html(ridge_ctx *cx, const ridge_speculation_view *view,
                                  ridge_buf *out);
/** Set the key "speculation". */
void ridge_speculation_write_json(ridge_ctx *cx, const ridge_speculation_view *view,
                                  ridge_json *object);
/** One <svg> of speed-up over batch by depth. */
void ridge_speculation_write_svg(ridge_ctx *cx, const ridge_speculation_view *view,
                                 ridge_buf *out);

#ifdef __cplusplus
}
#endif

#endif
