/*
 * The price of one iteration: rows of all sequences together, scores of decoding
 * sequences and of each chunk by themselves, the head for those that sample, and what
 * launches and the engine's host leave uncovered.
 */
#include "serving_bench.h"

#include <math.h>

static ridge_status check_load(ridge_ctx *cx, const ridge_serving_load *load)
{
    const double of[] = {
        load->decode_sequences, load->decode_context, load->chunk_tokens, load->chunks,
        load->chunk_context,    load->finishing,      load->fullest};
    for (size_t i = 0; i < RIDGE_COUNT_OF(of); i++) {
        if (!(of[i] >= 0 && of[i] <= 1e12))
            return ridge_fail(cx, RIDGE_E_ARG,
                              "a load of %g sequences or tokens: expected 0 to 1e12",
                              of[i]);
    }
    if (load->decode_sequences + load->chunk_tokens <= 0)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "an iteration of no tokens: give sequences "
                          "that decode, or tokens of a prompt");
    if (load->chunk_tokens > 0 && load->chunks <= 0)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "tokens of prompts, and no prompts: give their number");
    return RIDGE_OK;
}

static void add_rows(const serving_bench *b, const ridge_serving_load *load,
                     double *parts)
{
    const ridge_graph_sizes *graphs = &b->desk->about.engine->graph_sizes;
    const double decoding = load->chunk_tokens > 0
                                ? load->decode_sequences
                                : ridge_graph_padded(graphs, load->decode_sequences);
    const double rows = (decoding * b->verified + load->chunk_tokens) * b->ranks;
    const serving_rows r = serving_rows_price(b, rows);
    parts[RIDGE_SERVING_PART_DENSE] += r.dense_s;
    parts[RIDGE_SERVING_PART_VECTOR] += r.vector_s;
    parts[RIDGE_SERVING_PART_EXPERTS] += r.experts_s;
    parts[RIDGE_SERVING_PART_TP] += r.tp_s;
    parts[RIDGE_SERVING_PART_EP] += r.ep_s;
    parts[RIDGE_SERVING_PART_PP] += r.pp_s;
    parts[RIDGE_SERVING_PART_LAUNCH] += r.launch_s;
}

/* Attention ranks wait for the one with most chunks: what it does by itself beyond the
 * mean. */
static void add_uneven(const serving_bench *b, const ridge_serving_load *load,
                       double *parts)
{
    const double decoding = load->decode_sequences * b->verified;
    if (b->ranks <= 1 || load->chunks <= 0 || load->fullest <= load->chunks)
        return;
    const double most = load->chunk_tokens * load->fullest / load->chunks;
    parts[RIDGE_SERVING_PART_DENSE] +=
        fmax(0, serving_rank_rows_s(b, decoding + most) -
                    serving_rank_rows_s(b, decoding + load->chunk_tokens));
}

static void add_scores(const serving_bench *b, const ridge_serving_load *load,
                       double *parts)
{
    const double chunk =
        load->chunks > 0 ? load->chunk_tokens / load->chunks : load->chunk_tokens;
    for (int i = 0; i < b->cut->n_mixers; i++) {
        const serving_mixer *m = &b->cut->mixers[i];
        const serving_scores d =
            serving_decode_price(b, m, load->decode_sequences, load->decode_context);
        const serving_scores p = serving_chunk_price(b, m, chunk, load->chunk_context);
        parts[RIDGE_SERVING_PART_DECODE_ATTENTION] += d.s;
        parts[RIDGE_SERVING_PART_KV] += d.exchange_s;
        parts[RIDGE_SERVING_PART_PREFILL_ATTENTION] +=
            fmax(load->chunks, load->fullest) * p.s;
    }
    if (load->chunk_tokens > 0)
        parts[RIDGE_SERVING_PART_PREFILL_ATTENTION] += serving_chunk_call_s(b);
}

static double sum_of(const double *parts)
{
    double s = 0;
    for (int i = 0; i < RIDGE_SERVING_PART_COUNT; i++)
        s += parts[i];
    return s;
}

/* What the host takes for an iteration, as far as the chip does not hide it. Attention
 * ranks are processes with sequences of their own: each sequence costs its rank alone.
 */
serving_host serving_host_of(const serving_bench *b)
{
    const ridge_engine *e = b->desk->about.engine;
    const double stages = (double)b->layout->pp;
    if (stages > 1 && e->stage_host_s > 0)
        return (serving_host){.iteration_s = stages * e->stage_host_s,
                              .sequence_s = stages * e->stage_sequence_s / b->ranks,
                              .is_hidden = true};
    return (serving_host){e->host_s, e->host_sequence_s / b->ranks, e->is_host_hidden};
}

/* A host that launches one kernel after another prepares nothing meanwhile. */
static double host_s(const serving_bench *b, const ridge_serving_load *load,
                     double device_s, double eager_s)
{
    const serving_host host = serving_host_of(b);
    const double sequences = (load->decode_sequences + load->chunks) * b->ranks;
    const double s = host.iteration_s + host.sequence_s * sequences;
    return host.is_hidden ? fmax(0, eager_s + s - device_s) : s;
}

ridge_status ridge_serving_step_price(ridge_serving_desk *desk,
                                      const ridge_serving_layout *layout,
                                      const ridge_serving_load *load,
                                      ridge_serving_step *out)
{
    serving_bench b;
    RIDGE_TRY(check_load(desk->cx, load));
    RIDGE_TRY(serving_bench_open(desk, layout, &b));
    ridge_serving_step step = {0};
    double *parts = step.parts_s;
    add_rows(&b, load, parts);
    add_uneven(&b, load, parts);
    add_scores(&b, load, parts);
    const double sampled = load->decode_sequences * b.verified + load->finishing;
    parts[RIDGE_SERVING_PART_HEAD] = serving_head_price(&b, sampled * b.ranks);
    RIDGE_TRY(serving_draft_price(&b, load->decode_sequences, load->decode_context,
                                  &parts[RIDGE_SERVING_PART_DRAFT]));
    const double eager_s = load->chunk_tokens > 0 ? serving_eager_s(&b) : 0;
    parts[RIDGE_SERVING_PART_LAUNCH] += fmax(0, eager_s - sum_of(parts));
    parts[RIDGE_SERVING_PART_HOST] = host_s(&b, load, sum_of(parts), eager_s);
    step.expected_s = sum_of(parts);
    serving_bound_find(&b, load, &step);
    *out = step;
    return RIDGE_OK;
}
