/*
 * What a measured deployment should have shown: single streams, static batches and
 * prompts from the prices of their iterations; requests under way from the simulator.
 */
#include "served_price.h"

#include <math.h>

static void set(ridge_serving_row *row, ridge_serving_metric metric, double value)
{
    row->figures[metric].predicted = value;
}

static ridge_status predict_prefill(ridge_ctx *cx, const served_run *run,
                                    const priced_part *p, ridge_serving_row *out)
{
    double time;
    const double prompts = fmax(1, run->requests);
    if (run->input_tokens < 1)
        return ridge_fail(cx, RIDGE_E_ARG, "the prompt's length is not stated");
    RIDGE_TRY(priced_prompts(p, prompts, run->input_tokens, run->cached_tokens, &time));
    set(out, RIDGE_SERVING_METRIC_TTFT, time);
    set(out, RIDGE_SERVING_METRIC_THROUGHPUT, prompts * run->input_tokens / time);
    return RIDGE_OK;
}

static ridge_status predict_decode(ridge_ctx *cx, const served_run *run,
                                   const priced_part *p, ridge_serving_row *out)
{
    const double batch = fmax(1, run->requests);
    if (run->input_tokens + run->output_tokens < 1)
        return ridge_fail(cx, RIDGE_E_ARG, "the context's length is not stated");
    const double before = run->input_tokens + run->cached_tokens;
    const double context = fmax(1, before + run->output_tokens / 2);
    RIDGE_TRY(priced_decode(p, batch, context, &out->decode));
    set(out, RIDGE_SERVING_METRIC_TPOT, out->decode.expected_s);
    set(out, RIDGE_SERVING_METRIC_THROUGHPUT, batch / out->decode.expected_s);
    return RIDGE_OK;
}

static ridge_status predict_batch(ridge_ctx *cx, const served_run *run,
                                  const priced_part *p, ridge_serving_row *out)
{
    double first;
    const double batch = run->requests / (double)p->part->replicas;
    if (batch <= 0)
        return ridge_fail(cx, RIDGE_E_ARG, "the batch is not stated");
    if (run->input_tokens < 1 || run->output_tokens < 1)
        return ridge_fail(cx, RIDGE_E_ARG, "the requests' lengths are not stated");
    RIDGE_TRY(priced_prompts(p, batch, run->input_tokens, run->cached_tokens, &first));
    const double steps = run->output_tokens - 1;
    if (steps >= 1) {
        const double context =
            run->cached_tokens + run->input_tokens + run->output_tokens / 2;
        RIDGE_TRY(priced_decode(p, batch, context, &out->decode));
    }
    const double last = first + steps * out->decode.expected_s;
    set(out, RIDGE_SERVING_METRIC_TTFT, first);
    set(out, RIDGE_SERVING_METRIC_TTFT_P50, first);
    set(out, RIDGE_SERVING_METRIC_TPOT, out->decode.expected_s);
    set(out, RIDGE_SERVING_METRIC_TPOT_P50, out->decode.expected_s);
    set(out, RIDGE_SERVING_METRIC_LATENCY, last);
    set(out, RIDGE_SERVING_METRIC_THROUGHPUT,
        run->is_decode_rate ? run->requests / out->decode.expected_s
                            : run->requests * run->output_tokens / last);
    return RIDGE_OK;
}

static ridge_status predict_fit(ridge_ctx *cx, served_shared *shared,
                                const served_deployment *deployment,
                                ridge_serving_row *out)
{
    out->fits_predicted = true;
    for (int i = 0; i < deployment->n; i++) {
        priced_part part;
        RIDGE_TRY(priced_part_size(cx, shared, &deployment->parts[i], &part));
        out->fits_predicted = out->fits_predicted && part.memory.fits;
    }
    return RIDGE_OK;
}

ridge_status served_predict(ridge_ctx *cx, served_shared *shared,
                            const served_deployment *deployment, ridge_serving_row *out)
{
    const served_run *run = &deployment->run;
    priced_part parts[2];
    if (run->mode == SERVED_FIT)
        return predict_fit(cx, shared, deployment, out);
    for (int i = 0; i < deployment->n; i++)
        RIDGE_TRY(priced_part_open(cx, shared, &deployment->parts[i], &parts[i]));
    switch (run->mode) {
    case SERVED_PREFILL:
        return predict_prefill(cx, run, &parts[0], out);
    case SERVED_DECODE:
        return predict_decode(cx, run, &parts[0], out);
    case SERVED_BATCH:
        return predict_batch(cx, run, &parts[0], out);
    case SERVED_CLOSED:
    case SERVED_OPEN:
    case SERVED_QUEUE:
    case SERVED_FIT:
    case SERVED_OTHER:
        break;
    }
    return served_play(cx, shared->catalog, deployment, parts, out);
}
