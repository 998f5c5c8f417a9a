/* The report of slices compared. */
#ifndef RIDGE_REPORT_OFFER_H
#define RIDGE_REPORT_OFFER_H

#include "ridge/plan_offer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_offer_view {
    const char *model_name; /* as given */
    const ridge_offer_request *request;
    const ridge_offer_study *study;
    int top; /* rows of the ranking */
} ridge_offer_view;

/** The ranking, the best of each goal and kind, what was left out, and a chart. */
void ridge_offer_write_text(ridge_ctx *cx, const ridge_offer_view *view,
                            bool with_colour, ridge_buf *out);
void ridge_offer_write_html(ridge_ctx *cx, const ridge_offer_view *view,
                            ridge_buf *out);
/** Set the keys "objective", "slices", "best" and others. */
void ridge_offer_write_json(ridge_ctx *cx, const ridge_offer_view *view,
                            ridge_json *object);

#ifdef __cplusplus
}
#endif

#endif
