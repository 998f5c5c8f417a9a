/* Words of a played deployment, for text, pages and charts. Layer-internal. */
#ifndef RIDGE_REQUESTS_TEXT_H
#define RIDGE_REQUESTS_TEXT_H

#include "ridge/report.h"
#include "ridge/report_requests.h"

/** "2 servers of tp 4, vllm-v1"; in the ctx's arena. */
const char *ridge__requests_servers(ridge_ctx *cx, const ridge_service_deployment *d);

/** Of ttft, tpot and e2e: which share was no longer than x. @return false: nothing was
 *  met, or the budget is spent */
bool ridge__requests_chart_spread(ridge_ctx *cx, const ridge_requests_view *view,
                                  ridge_chart *out);
/** Sequences that decode, and requests that wait, over time. */
bool ridge__requests_chart_load(ridge_ctx *cx, const ridge_requests_view *view,
                                ridge_chart *out);
/** Tokens a second over time: of prompts and of output. */
bool ridge__requests_chart_tokens(ridge_ctx *cx, const ridge_requests_view *view,
                                  ridge_chart *out);
/** The share of the cache in use over time. */
bool ridge__requests_chart_cache(ridge_ctx *cx, const ridge_requests_view *view,
                                 ridge_chart *out);

#endif
