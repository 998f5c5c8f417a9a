/* The report of a deployment played on a stream of requests. */
#ifndef RIDGE_REPORT_REQUESTS_H
#define RIDGE_REPORT_REQUESTS_H

#include "ridge/plan_requests.h"
#include "ridge/simulate_course.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Borrowed pointers outlive the call. */
typedef struct ridge_requests_view {
    const char *model_name; /* as given */
    const char *slice_text;
    const char *stream; /* in words */
    const ridge_service_deployment *deployment;
    const ridge_serving_summary *summary;
    const ridge_serving_goals *goals;
    const ridge_service_capacity *capacity; /* that was looked for; NULL: was not */
    const ridge_request_file_note *note;    /* of a file of requests; NULL: drawn */
    const ridge_course *course;
    double wall_s;   /* that the play took */
    bool has_charts; /* the text shows them */
    bool is_in_step; /* clients of a closed loop whose answers are all as long */
} ridge_requests_view;

void ridge_requests_write_text(ridge_ctx *cx, const ridge_requests_view *view,
                               bool with_colour, ridge_buf *out);
/** A page with charts: latencies, what they are made of, the course over time. */
void ridge_requests_write_html(ridge_ctx *cx, const ridge_requests_view *view,
                               ridge_buf *out);
/** Keys: requests, completed, refused, ttft_s{}, tpot_s{}, itl_s{}, e2e_s{}, split{},
 * goodput_requests_per_s, output_tokens_per_s, kv{}, engine{}, cost, simulated_s,
 * wall_s, measured{}, and capacity{} where a rate was looked for; see
 * docs/design/requests.md. */
void ridge_requests_write_json(ridge_ctx *cx, const ridge_requests_view *view,
                               ridge_json *object);
/** One <svg> of how latencies spread. */
void ridge_requests_write_svg(ridge_ctx *cx, const ridge_requests_view *view,
                              ridge_buf *out);

/**
 * A Chrome trace that Perfetto opens: a process for each replica with its iterations,
 * counters of sequences, waiting requests and blocks in use, and a track for each of
 * the first requests with its phases. What was kept of the course is drawn.
 * @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_requests_write_trace(ridge_ctx *cx,
                                                        const ridge_requests_view *view,
                                                        ridge_buf *out);
/** The requests that were kept, a line of JSON each. */
void ridge_requests_write_lines(ridge_ctx *cx, const ridge_requests_view *view,
                                ridge_buf *out);

#ifdef __cplusplus
}
#endif

#endif
