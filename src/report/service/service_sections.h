/* Sections of the report of a service. Layer-internal. */
#ifndef RIDGE_REPORT_SERVICE_SECTIONS_H
#define RIDGE_REPORT_SERVICE_SECTIONS_H

#include "ridge/report.h"
#include "ridge/report_service.h"

#include "section.h"

/** What bounds the iterations of a deployment: "memory", and the part that is largest.
 */
const char *ridge__service_bottleneck(const ridge_service_price *price);

#define RIDGE_SERVICE_PLAYED_HEADS                                                     \
    "layout|>req/s|>closed form|>tok/s/chip|>$/M "                                     \
    "tok|goals|>good|>TTFT|>p99|>TPOT|>p99|>E2E|>p99|>cache at most|>preempted"

/** A played deployment under RIDGE_SERVICE_PLAYED_HEADS. */
void ridge__service_played_cells(ridge_ctx *cx, ridge_table *t,
                                 const ridge_service_price *p);
/** How requests come in plays. */
const char *ridge__service_arrivals_text(const ridge_service_request *r);

/** What plays made of the best few. */
void ridge__service_played_add(ridge_ctx *cx, const ridge_service_view *v,
                               ridge_sections *s);
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

/** Critical batches, crossover, what fits, and what holds the batch back. */
void ridge__service_limits_add(ridge_ctx *cx, const ridge_service_view *v,
                               ridge_sections *s);
/** A row for each batch, or context. */
void ridge__service_points_add(ridge_ctx *cx, const ridge_service_view *v,
                               ridge_sections *s);
/** @return whether there are points enough for a chart */
bool ridge__service_chart_points(ridge_ctx *cx, const ridge_service_view *v,
                                 ridge_chart *out);
/** The smallest slice of each format. */
void ridge__service_sizes_add(ridge_ctx *cx, const ridge_service_view *v,
                              ridge_sections *s);
/** The plain rooflines, where they were asked for. */
void ridge__service_rooflines_add(ridge_ctx *cx, const ridge_service_view *v,
                                  ridge_sections *s);
/** Set the key "rooflines". */
void ridge__service_rooflines_to_json(ridge_ctx *cx, const ridge_service_rooflines *r,
                                      ridge_json *object);
void ridge__service_others_add(ridge_ctx *cx, const ridge_service_view *v,
                               ridge_sections *s);
/** What if, relaxations, sensitivity. */
void ridge__service_reasons_add(ridge_ctx *cx, const ridge_service_view *v,
                                ridge_sections *s);
/** Changes of a deployment by a tenth of each number. */
void ridge__service_sensitivities_add(ridge_ctx *cx,
                                      const ridge_service_sensitivity *all, int n,
                                      ridge_sections *s);
/** Set the key "sensitivity". */
void ridge__service_sensitivities_to_json(ridge_ctx *cx,
                                          const ridge_service_sensitivity *all, int n,
                                          ridge_json *object);
/** Set the keys of all of them. */
void ridge__service_reasons_to_json(ridge_ctx *cx, const ridge_service_view *v,
                                    ridge_json *object);

#endif
