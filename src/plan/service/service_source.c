/* Iterations by their tables. */
#include "service_source.h"

#include <math.h>

/* Tokens that a decoding sequence reads of a cache. */
static double read_tokens(const ridge_serving_cache *cache, double context)
{
    return cache->window_tokens > 0
               ? fmin(context, cache->window_tokens + cache->sink_tokens)
               : context;
}

static double attention_s(const ridge_serving_speed *speed,
                          const ridge_serving_load *load)
{
    double sum = 0;
    for (int i = 0; i < speed->n_caches; i++) {
        const ridge_serving_cache *cache = &speed->caches[i];
        if (load->decode_sequences > 0)
            sum += ridge_plane_table_at(&cache->decode, load->decode_sequences,
                                        read_tokens(cache, load->decode_context));
        if (load->chunk_tokens > 0)
            sum +=
                fmax(load->chunks, load->fullest) *
                ridge_plane_table_at(&cache->prefill, load->chunk_tokens / load->chunks,
                                     load->chunk_context);
    }
    return sum;
}

/* What the rank with most chunks does longer than in the mean. */
static double uneven_s(const ridge_serving_speed *speed, const ridge_serving_load *load)
{
    const double decoding = load->decode_sequences * (double)speed->draft.verified;
    if (speed->rank_rows.n == 0 || load->chunks <= 0 || load->fullest <= load->chunks)
        return 0;
    const double most = load->chunk_tokens * load->fullest / load->chunks;
    return fmax(
        0, ridge_curve_table_at(&speed->rank_rows, decoding + most) -
               ridge_curve_table_at(&speed->rank_rows, decoding + load->chunk_tokens));
}

double service_speed_iteration_s(const ridge_serving_speed *speed,
                                 const ridge_serving_load *load)
{
    const double ranks = (double)speed->attention_ranks;
    const double verified = (double)speed->draft.verified;
    const double decoding =
        load->chunk_tokens > 0
            ? load->decode_sequences
            : ridge_graph_padded(&speed->graph_sizes, load->decode_sequences);
    const double rows = ranks * (decoding * verified + load->chunk_tokens);
    const double sampled =
        ranks * (load->decode_sequences * verified + load->finishing);
    double device_s = ridge_curve_table_at(&speed->rows, rows) +
                      attention_s(speed, load) + uneven_s(speed, load);
    if (load->chunks > 0)
        device_s += speed->chunk_call_s;
    if (sampled > 0)
        device_s += ridge_curve_table_at(&speed->head, sampled);
    if (load->decode_sequences > 0 && verified > 1)
        device_s += ridge_curve_table_at(&speed->draft.draft, load->decode_sequences);
    const double eager_s = load->chunks > 0 ? speed->eager_s : 0;
    device_s = fmax(device_s, eager_s);
    const double host_s = speed->host_s + speed->host_sequence_s * ranks *
                                              (load->decode_sequences + load->chunks);
    return speed->is_host_hidden ? fmax(device_s, eager_s + host_s) : device_s + host_s;
}
