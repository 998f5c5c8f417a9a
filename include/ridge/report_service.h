/* The report of services. */
#ifndef RIDGE_REPORT_SERVICE_H
#define RIDGE_REPORT_SERVICE_H

#include "ridge/plan_service.h"
#include "ridge/plan_service_file.h"
#include "ridge/report.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_service_view {
    const char *model_name; /* as given */
    const ridge_service_request *request;
    const ridge_service_result *result;
    const ridge_price *price; /* of a chip-hour; NULL: none is known */
    bool has_front;           /* the text shows the fronts */
} ridge_service_view;

void ridge_service_write_text(ridge_ctx *cx, const ridge_service_view *view,
                              bool with_colour, ridge_buf *out);
void ridge_service_write_html(ridge_ctx *cx, const ridge_service_view *view,
                              ridge_buf *out);
/** Set the keys "layouts", "pareto", "search" and the request's own. */
void ridge_service_write_json(ridge_ctx *cx, const ridge_service_view *view,
                              ridge_json *object);
/** One <svg> of the front of time between tokens and tokens a second. */
void ridge_service_write_svg(ridge_ctx *cx, const ridge_service_view *view,
                             ridge_buf *out);

#ifdef __cplusplus
}
#endif

#endif
