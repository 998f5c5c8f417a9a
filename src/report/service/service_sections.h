/* Sections of the report of a service. Layer-internal. */
#ifndef RIDGE_REPORT_SERVICE_SECTIONS_H
#define RIDGE_REPORT_SERVICE_SECTIONS_H

#include "service_text.h"

/** What bounds the iterations of a deployment: "memory", and the part that is largest.
 */
const char *ridge__service_bottleneck(const ridge_service_price *price);

/** The best of each mode side by side. */
void ridge__service_modes_add(ridge_ctx *cx, const ridge_service_view *v,
                              ridge_sections *s);
/** Where TTFT and TPOT of the best deployment come from. */
void ridge__service_parts_add(ridge_ctx *cx, const ridge_service_view *v,
                              ridge_sections *s);
void ridge__service_memory_add(ridge_ctx *cx, const ridge_service_view *v,
                               ridge_sections *s);
/** Bounds of both kinds of iterations. */
void ridge__service_bounds_add(ridge_ctx *cx, const ridge_service_view *v,
                               ridge_sections *s);
void ridge__service_refusals_add(ridge_ctx *cx, const ridge_service_view *v,
                                 ridge_sections *s);
void ridge__service_fronts_add(ridge_ctx *cx, const ridge_service_view *v,
                               ridge_sections *s);
/** Which bound forbids the goals, where nothing keeps them. */
void ridge__service_nothing_add(ridge_ctx *cx, const ridge_service_view *v,
                                ridge_sections *s);

#endif
