/* The report of services. */
#ifndef RIDGE_REPORT_SERVICE_H
#define RIDGE_REPORT_SERVICE_H

#include "ridge/plan_service.h"
#include "ridge/plan_service_file.h"
#include "ridge/plan_service_offer.h"
#include "ridge/plan_service_reasons.h"
#include "ridge/plan_service_rooflines.h"
#include "ridge/plan_service_study.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What was asked beyond the answer. */
typedef struct ridge_service_reasons {
    bool has_limits;
    ridge_service_limits limits;
    int n_points; /* batches of the best deployment */
    ridge_service_point points[RIDGE_SERVICE_SWEEP_MAX];
    bool is_context; /* the points are contexts instead */
    int n_sizes;
    ridge_service_size sizes[RIDGE_SERVICE_FORMATS_MAX];
    bool has_rooflines; /* of the best deployment */
    ridge_service_rooflines rooflines;
    ridge_service_fit binding;
    const char *what_if_text; /* NULL: not asked */
    ridge_service_what_if what_if;
    int n_relaxations;
    ridge_service_relaxation relaxations[RIDGE_SERVICE_RELAXATION_MAX];
    int n_sensitivity;
    ridge_service_sensitivity sensitivity[RIDGE_SERVICE_SENSITIVITY_MAX];
} ridge_service_reasons;

typedef struct ridge_service_view {
    const char *model_name; /* as given */
    const ridge_service_request *request;
    const ridge_service_result *result;
    const ridge_price *price;             /* of a chip-hour; NULL: none is known */
    bool has_front;                       /* the text shows the fronts */
    const ridge_service_reasons *reasons; /* NULL: none */
} ridge_service_view;

void ridge_service_write_text(ridge_ctx *cx, const ridge_service_view *view,
                              bool with_colour, ridge_buf *out);
void ridge_service_write_html(ridge_ctx *cx, const ridge_service_view *view,
                              ridge_buf *out);
/** Set the keys "layouts", "pareto", "search" and the request's own. */
void ridge_service_write_json(ridge_ctx *cx, const ridge_service_view *view,
                              ridge_json *object);
/** One <svg>: throughput over the points of a sweep, or the front of a user's speed. */
void ridge_service_write_svg(ridge_ctx *cx, const ridge_service_view *view,
                             ridge_buf *out);

typedef struct ridge_service_explain_view {
    const char *title;
    const ridge_explanation *explanation;
    const ridge_service_sensitivity *sensitivity; /* n of them */
    int n_sensitivity;
} ridge_service_explain_view;

void ridge_service_explain_write_text(ridge_ctx *cx,
                                      const ridge_service_explain_view *view,
                                      bool with_colour, ridge_buf *out);
void ridge_service_explain_write_html(ridge_ctx *cx,
                                      const ridge_service_explain_view *view,
                                      ridge_buf *out);
void ridge_service_explain_write_json(ridge_ctx *cx,
                                      const ridge_service_explain_view *view,
                                      ridge_json *object);

typedef struct ridge_service_offer_view {
    const char *model_name; /* as given */
    const ridge_service_kind *kinds;
    int n_kinds;
    const ridge_service_offer_study *study;
    int top; /* rows of the ranking */
} ridge_service_offer_view;

/** The ranking, the best by each aim, what was left out, and the fronts of all. */
void ridge_service_offer_write_text(ridge_ctx *cx, const ridge_service_offer_view *view,
                                    bool with_colour, ridge_buf *out);
void ridge_service_offer_write_html(ridge_ctx *cx, const ridge_service_offer_view *view,
                                    ridge_buf *out);
/** Set the keys "slices", "best" and others. */
void ridge_service_offer_write_json(ridge_ctx *cx, const ridge_service_offer_view *view,
                                    ridge_json *object);

#ifdef __cplusplus
}
#endif

#endif
