/*
 * Requests under way: the stream that a row describes, played on its deployment.
 */
#include "served_price.h"

#include <math.h>
#include <string.h>

/* A source that does not say how many requests it sent is played until starting and
 * ending no longer count, or as long as is bearable. */
static const double REQUESTS_A_CLIENT = 10;
static const double REQUESTS_MOST = 200000;
static const double TURNS_OF_QUEUE = 6;
/* Lengths that a source states as one number scatter a little below it: texts are cut
 * into tokens anew, and clients answer at their own time. Of exactly equal ones whole
 * batches would end, and be prefilled, in one step for ever. */
static const double SHORTEST_USUAL = 0.98;

/* ---- the stream -------------------------------------------------------------------
 */

/* Lognormal about the stated mean, or uniform from the shortest share of the stated
 * length to it. */
static ridge_length length_of(double stated, double shortest_share, double spread,
                              double most)
{
    if (spread > 0)
        return (ridge_length){.kind = RIDGE_LENGTH_LOGNORMAL,
                              .mean = fmax(1, stated),
                              .spread = spread,
                              .most = (int64_t)most};
    if (shortest_share >= 1)
        return (ridge_length){.kind = RIDGE_LENGTH_FIXED,
                              .mean = fmax(1, round(stated))};
    return (ridge_length){.kind = RIDGE_LENGTH_UNIFORM,
                          .mean = fmax(1, stated * (1 + shortest_share) / 2),
                          .spread = (1 - shortest_share) / (1 + shortest_share)};
}

/* "500 requests; …", "… means of 1000 requests": the number before the word; 0: none */
static double requests_in(const char *note)
{
    const char *word = strstr(note, " requests");
    int64_t n;
    if (word == NULL)
        return 0;
    const char *first = word;
    while (first > note && first[-1] >= '0' && first[-1] <= '9')
        first--;
    const bool is_count =
        ridge_parse_i64((ridge_str){first, (size_t)(word - first)}, &n);
    return is_count && n > 0 ? (double)n : 0;
}

/* Sequences that run at once on all replicas, when enough of them wait. */
static double at_once(const priced_part *p, const served_run *run)
{
    const double pages = (double)p->memory.blocks * (double)p->memory.block_tokens *
                         (double)p->layout.attention_dp;
    const double held = run->input_tokens + run->output_tokens / 2;
    const double room = fmax(1, pages / fmax(1, held));
    return fmin((double)p->layout.sequences, room) * (double)p->part->replicas;
}

static double requests_of(const served_run *run, const served_practice *practice,
                          const priced_part *last)
{
    const double stated = requests_in(run->note);
    double n = 0;
    switch (run->mode) {
    case SERVED_CLOSED:
        n = practice->requests > 0
                ? practice->requests
                : run->concurrency * (practice->requests_per_client > 0
                                          ? practice->requests_per_client
                                          : REQUESTS_A_CLIENT);
        break;
    case SERVED_OPEN:
        n = stated > 0 ? stated : 1000;
        break;
    case SERVED_QUEUE:
        n = run->requests > 0        ? run->requests
            : stated > 0             ? stated
            : practice->requests > 0 ? practice->requests
                                     : TURNS_OF_QUEUE * at_once(last, run);
        break;
    case SERVED_BATCH:
    case SERVED_DECODE:
    case SERVED_PREFILL:
    case SERVED_FIT:
    case SERVED_OTHER:
        n = run->requests;
        break;
    }
    return fmax(1, fmin(ceil(n), REQUESTS_MOST));
}

static ridge_request_draws draws_of(const served_run *run,
                                    const served_practice *practice,
                                    const priced_part *last)
{
    ridge_request_draws d = {
        .arrivals = RIDGE_ARRIVAL_CLOSED,
        .concurrency = (int64_t)fmax(1, ceil(run->concurrency)),
        .requests = (int64_t)requests_of(run, practice, last),
        .prompt = length_of(run->input_tokens, practice->shortest_share,
                            practice->input_spread, practice->input_most),
        .output = length_of(run->output_tokens,
                            practice->output_share > 0 ? practice->output_share
                                                       : practice->shortest_share,
                            practice->output_spread, practice->output_most),
        .seed = 1,
    };
    if (run->mode == SERVED_CLOSED && !practice->is_known) {
        d.prompt = length_of(run->input_tokens, SHORTEST_USUAL, 0, 0);
        d.output = length_of(run->output_tokens, SHORTEST_USUAL, 0, 0);
    }
    if (run->mode == SERVED_OPEN) {
        d.arrivals = RIDGE_ARRIVAL_POISSON;
        d.rate_per_s = run->request_rate;
    } else if (run->mode == SERVED_QUEUE) {
        d.arrivals = RIDGE_ARRIVAL_ATONCE;
    }
    return d;
}

/* ---- the deployment ---------------------------------------------------------------
 */

static ridge_status add_pool(ridge_ctx *cx, const priced_part *p, double frontend_s,
                             ridge_serving_deployment *out)
{
    ridge_serving_speed *speed = ridge_new(ridge_ctx_arena(cx), ridge_serving_speed, 1);
    if (speed == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge_serving_speed_build(p->desk, &p->layout, speed));
    speed->request_s += frontend_s;
    ridge_serving_pool *pool = &out->pools[out->n_pools++];
    *pool = (ridge_serving_pool){
        .speed = speed, .rules = *p->part->about.engine, .replicas = p->part->replicas};
    pool->rules.sequences = p->layout.sequences;
    pool->rules.budget_tokens = p->layout.budget_tokens;
    pool->rules.block_tokens = speed->block_tokens;
    return RIDGE_OK;
}

static ridge_status check_stream(ridge_ctx *cx, const served_run *run)
{
    if (run->input_tokens < 1 || run->output_tokens < 1)
        return ridge_fail(cx, RIDGE_E_ARG, "the requests' lengths are not stated");
    if (run->mode == SERVED_CLOSED && run->concurrency < 1)
        return ridge_fail(cx, RIDGE_E_ARG, "how many requests run is not stated");
    if (run->mode == SERVED_OPEN && run->request_rate <= 0)
        return ridge_fail(cx, RIDGE_E_ARG, "how often requests come is not stated");
    return RIDGE_OK;
}

static void set(ridge_serving_row *row, ridge_serving_metric metric, double value)
{
    row->figures[metric].predicted = value;
}

static ridge_status price_mean(const served_run *run, const priced_part *last,
                               double decoding, ridge_serving_step *out)
{
    const double sequences = fmax(1, decoding);
    return priced_decode(last, sequences, run->input_tokens + run->output_tokens / 2,
                         out);
}

static ridge_status price_prompt(const served_run *run, const served_practice *practice,
                                 const priced_part *first, ridge_serving_step *out)
{
    const double tokens = run->input_tokens * (1 + practice->shortest_share) / 2;
    const ridge_serving_load load = {
        .chunk_tokens = fmin(tokens, (double)first->layout.budget_tokens),
        .chunks = 1,
        .finishing = 1};
    return ridge_serving_step_price(first->desk, &first->layout, &load, out);
}

ridge_status served_play(ridge_ctx *cx, const served_run *run,
                         const served_deployment *deployment, const priced_part *parts,
                         ridge_serving_row *out)
{
    const priced_part *last = &parts[deployment->n - 1];
    const served_practice *practice = &deployment->practice;
    ridge_serving_deployment played = {.router = RIDGE_ROUTER_LEAST_LOADED, .seed = 1};
    ridge_serving_summary summary;
    ridge_request_source source;
    RIDGE_TRY(check_stream(cx, run));
    const ridge_request_draws draws = draws_of(run, practice, last);
    RIDGE_TRY(ridge_request_draws_open(cx, &draws, &source));
    for (int i = 0; i < deployment->n; i++)
        RIDGE_TRY(add_pool(cx, &parts[i], practice->frontend_s, &played));
    const ridge_serving_goals goals = {0};
    RIDGE_TRY(ridge_serving_play(cx, &played, &source, &goals, NULL, &summary));
    if (summary.completed < draws.requests)
        return ridge_fail(cx, RIDGE_E_ARG, "a request is longer than the cache holds");
    RIDGE_TRY(price_mean(run, last, summary.decoding_mean, &out->decode));
    RIDGE_TRY(price_prompt(run, practice, &parts[0], &out->prompt));
    const double waits_s = practice->wait_iterations * out->decode.expected_s;
    set(out, RIDGE_SERVING_METRIC_TTFT, summary.ttft.mean + waits_s);
    set(out, RIDGE_SERVING_METRIC_TTFT_P50, summary.ttft.p50 + waits_s);
    set(out, RIDGE_SERVING_METRIC_TPOT, summary.tpot.mean);
    set(out, RIDGE_SERVING_METRIC_TPOT_P50, summary.tpot.p50);
    set(out, RIDGE_SERVING_METRIC_LATENCY, summary.e2e.mean);
    set(out, RIDGE_SERVING_METRIC_THROUGHPUT, summary.output_tokens_per_s);
    return RIDGE_OK;
}
