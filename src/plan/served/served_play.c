/*
 * Requests under way: the stream that a row describes, played on its deployment.
 */
#include "ridge/plan_requests.h"
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
/* Limits are of p99; a rate to one in a hundred is nearer than any was measured. */
enum { PARTS_OF_STREAM = 2 };
static const ridge_capacity_aim MOST_ASKED = {.share = 0.99, .precision = 0.01};

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
        n = stated > 0               ? stated
            : practice->requests > 0 ? practice->requests
            : practice->turns > 0    ? practice->turns * at_once(last, run)
                                     : 1000;
        break;
    case SERVED_QUEUE:
        n = run->requests > 0        ? run->requests
            : stated > 0             ? stated
            : practice->requests > 0 ? practice->requests
            : practice->turns > 0    ? practice->turns * at_once(last, run)
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

/* Caches go from pool to pool over the outermost level of the chips of all pools: that
 * of a replica alone is a smaller one, and a chip has none. NULL: one pool. */
static ridge_status find_link(ridge_ctx *cx, const ridge_catalog *catalog,
                              const served_deployment *deployment,
                              const ridge_axis **out)
{
    const ridge_system *system = deployment->parts[0].about.slice->system;
    const ridge_slice *all;
    int64_t chips = 0;
    *out = NULL;
    for (int i = 0; i < deployment->n; i++) {
        const served_part *part = &deployment->parts[i];
        chips += part->replicas * ridge_serving_layout_chips(&part->layout);
    }
    if (deployment->n < 2)
        return RIDGE_OK;
    RIDGE_TRY(ridge_slice_of_chips(cx, catalog, system, chips, &all));
    *out = &all->axes[all->n_axes - 1];
    return RIDGE_OK;
}

static ridge_status add_pool(ridge_ctx *cx, const priced_part *p,
                             const served_practice *practice, const ridge_axis *link,
                             ridge_serving_deployment *out)
{
    ridge_serving_speed *speed = ridge_new(ridge_ctx_arena(cx), ridge_serving_speed, 1);
    if (speed == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge_serving_speed_build(p->desk, &p->layout, speed));
    speed->request_s += practice->frontend_s;
    if (practice->handoff_s > 0)
        speed->handoff_s = practice->handoff_s;
    if (link != NULL) {
        speed->transfer_bytes_per_s =
            link->bytes_per_s * link->efficiency * (double)p->layout.tp;
        speed->transfer_s = link->startup_s + link->latency_s;
    }
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

/* Whether the load was chosen: the most that keeps what the practice promises. */
static bool is_most_asked(const served_deployment *deployment)
{
    return deployment->run.mode == SERVED_OPEN && deployment->practice.ttft_s > 0;
}

static ridge_status play_stated(ridge_ctx *cx, const ridge_serving_deployment *played,
                                const ridge_request_draws *draws,
                                ridge_serving_summary *out)
{
    const ridge_serving_goals goals = {0};
    ridge_request_source source;
    RIDGE_TRY(ridge_request_draws_open(cx, draws, &source));
    RIDGE_TRY(ridge_serving_play(cx, played, &source, &goals, NULL, out));
    if (out->completed < draws->requests)
        return ridge_fail(cx, RIDGE_E_ARG, "a request is longer than the cache holds");
    return RIDGE_OK;
}

/* Throughput is that of the largest rate which keeps the promises at p99. Times are
 * those at the load that was run, or at that rate where the load would be beyond it:
 * queues would grow as long as the stream lasts. */
static ridge_status play_most(ridge_ctx *cx, const served_deployment *deployment,
                              const ridge_serving_deployment *played,
                              const ridge_request_draws *draws,
                              ridge_serving_summary *out)
{
    const ridge_serving_goals goals = {.ttft_s = deployment->practice.ttft_s,
                                       .tpot_s = deployment->practice.tpot_s};
    ridge_service_capacity most;
    ridge_request_draws part = *draws; /* as much as tells p99 from the load */
    part.requests = draws->requests / PARTS_OF_STREAM + 1;
    RIDGE_TRY(
        ridge_service_capacity_find(cx, played, &part, &goals, &MOST_ASKED, &most));
    if (most.requests_per_s < draws->rate_per_s)
        *out = most.summary;
    else
        RIDGE_TRY(play_stated(cx, played, draws, out));
    out->output_tokens_per_s = most.requests_per_s * deployment->run.output_tokens;
    return RIDGE_OK;
}

static void set_summary(const ridge_serving_summary *s, double waits_s,
                        ridge_serving_row *out)
{
    set(out, RIDGE_SERVING_METRIC_TTFT, s->ttft.mean + waits_s);
    set(out, RIDGE_SERVING_METRIC_TTFT_P50, s->ttft.p50 + waits_s);
    set(out, RIDGE_SERVING_METRIC_TPOT, s->tpot.mean);
    set(out, RIDGE_SERVING_METRIC_TPOT_P50, s->tpot.p50);
    set(out, RIDGE_SERVING_METRIC_LATENCY, s->e2e.mean);
    set(out, RIDGE_SERVING_METRIC_THROUGHPUT, s->output_tokens_per_s);
}

ridge_status served_play(ridge_ctx *cx, const ridge_catalog *catalog,
                         const served_deployment *deployment, const priced_part *parts,
                         ridge_serving_row *out)
{
    const served_run *run = &deployment->run;
    const priced_part *last = &parts[deployment->n - 1];
    const served_practice *practice = &deployment->practice;
    ridge_serving_deployment played = {.router = RIDGE_ROUTER_LEAST_LOADED, .seed = 1};
    ridge_serving_summary summary;
    const ridge_axis *link;
    RIDGE_TRY(check_stream(cx, run));
    RIDGE_TRY(find_link(cx, catalog, deployment, &link));
    const ridge_request_draws draws = draws_of(run, practice, last);
    for (int i = 0; i < deployment->n; i++)
        RIDGE_TRY(add_pool(cx, &parts[i], practice, link, &played));
    RIDGE_TRY(is_most_asked(deployment)
                  ? play_most(cx, deployment, &played, &draws, &summary)
                  : play_stated(cx, &played, &draws, &summary));
    RIDGE_TRY(price_mean(run, last, summary.decoding_mean, &out->decode));
    RIDGE_TRY(price_prompt(run, practice, &parts[0], &out->prompt));
    set_summary(&summary, practice->wait_iterations * out->decode.expected_s, out);
    return RIDGE_OK;
}
