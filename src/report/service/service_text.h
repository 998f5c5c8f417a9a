/* Deployments in words, and their charts. Layer-internal. */
#ifndef RIDGE_REPORT_SERVICE_TEXT_H
#define RIDGE_REPORT_SERVICE_TEXT_H

#include "ridge/report.h"
#include "ridge/report_service.h"

/** "tp 8 ep 8", degrees above 1; "one chip". In the ctx's arena. */
const char *ridge__serving_layout_text(ridge_ctx *cx,
                                       const ridge_serving_layout *layout);
/** "2 x tp 8", or "3 x tp 4 > 1 x tp 8": prefill and decode. */
const char *ridge__service_choice_text(ridge_ctx *cx,
                                       const ridge_service_choice *choice);
/** The same with its formats where the request searches several: "2 x tp 8, fp8, cache
 *  bf16". */
const char *ridge__service_choice_named(ridge_ctx *cx,
                                        const ridge_service_request *request,
                                        const ridge_service_choice *choice);
/** The same as knobs: "tp=8 servers=2". */
const char *ridge__service_choice_words(ridge_ctx *cx,
                                        const ridge_service_choice *choice);
/** "bf16, cache bf16" */
const char *ridge__serving_formats_text(ridge_ctx *cx,
                                        const ridge_serving_formats *formats);
/** "3" or "3.25": batches are means. */
ridge_text ridge__batch_text(double batch);

/** Kilowatt-hours of a million output tokens; "-": not known. */
ridge_text ridge__kwh_text(const ridge_service_price *price);

/** @return whether there are points enough for a chart */
bool ridge__service_chart_speed(ridge_ctx *cx, const ridge_service_view *view,
                                ridge_chart *out);
bool ridge__service_chart_cost(ridge_ctx *cx, const ridge_service_view *view,
                               ridge_chart *out);

#endif
