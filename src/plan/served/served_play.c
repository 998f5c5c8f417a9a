/*
 * Requests under way, in the steady state: each client's request is generated beside
 * those of the others, and waits while their prompts are read.
 */
#include "served_price.h"

#include <math.h>

static void set(ridge_serving_row *row, ridge_serving_metric metric, double value)
{
    row->figures[metric].predicted = value;
}

/* What one more prompt adds to iterations that generate. */
static ridge_status price_beside(const priced_part *p, double sequences, double context,
                                 double tokens, double decode_s, double *out)
{
    const double chunk = fmin(tokens, (double)p->layout.budget_tokens);
    const double ranks = (double)p->layout.attention_dp;
    const ridge_serving_load load = {.decode_sequences =
                                         fmax(1, ceil(sequences / ranks)),
                                     .decode_context = context,
                                     .chunk_tokens = chunk,
                                     .chunks = 1,
                                     .chunk_context = (tokens - chunk) / 2,
                                     .finishing = 1};
    ridge_serving_step step;
    RIDGE_TRY(ridge_serving_step_price(p->desk, &p->layout, &load, &step));
    *out = fmax(0, step.expected_s - decode_s) * tokens / chunk / ranks;
    return RIDGE_OK;
}

ridge_status served_play(ridge_ctx *cx, const served_run *run,
                         const served_deployment *deployment, const priced_part *parts,
                         ridge_serving_row *out)
{
    const served_practice *practice = &deployment->practice;
    const priced_part *last = &parts[deployment->n - 1];
    const double share = (1 + practice->shortest_share) / 2;
    const double input = run->input_tokens * share;
    const double output = run->output_tokens * share;
    const double clients = run->concurrency / (double)last->part->replicas;
    if (run->mode != SERVED_CLOSED || deployment->n > 1)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "requests that come so are not predicted yet");
    if (clients < 1 || input < 1 || output < 1)
        return ridge_fail(cx, RIDGE_E_ARG, "the requests are not stated");
    double prompt, beside;
    RIDGE_TRY(priced_prompts(&parts[0], 1, input, 0, &prompt));
    RIDGE_TRY(priced_decode(last, clients, input + output / 2, &out->decode));
    RIDGE_TRY(price_beside(last, clients, input + output / 2, input,
                           out->decode.expected_s, &beside));
    const double others =
        last->part->about.engine->batching == RIDGE_BATCHING_MIXED ? beside : prompt;
    const double tpot = out->decode.expected_s + (clients - 1) / output * others;
    /* The first of all clients come at once: one in as many as a client sends. */
    const double burst = (clients - 1) / 2 * prompt / 10;
    const double ttft = last->part->about.engine->request_s + prompt +
                        out->decode.expected_s * (0.5 + practice->wait_iterations) +
                        burst;
    const double latency = ttft + tpot * (output - 1);
    set(out, RIDGE_SERVING_METRIC_TTFT, ttft);
    set(out, RIDGE_SERVING_METRIC_TPOT, tpot);
    set(out, RIDGE_SERVING_METRIC_LATENCY, latency);
    set(out, RIDGE_SERVING_METRIC_THROUGHPUT, run->concurrency * output / latency);
    return RIDGE_OK;
}
