/*
 * Sizes that a benchmark chooses for its engine by itself: how many sequences run at
 * once and how many tokens an iteration holds, from the room for the requests' caches.
 */
#include "served_price.h"

#include <math.h>

/* trtllm-bench's limits: of sequences for buffers of the decoder, of tokens for
 * activations; fewer are rounded up.
 * @source trtllm-bench-2025, build/tuning.py: calc_engine_setting, finetune_setting */
static const double SEQUENCES_MOST = 4096, SEQUENCES_LEAST = 64;
static const double TOKENS_MOST = 32768, TOKENS_LEAST = 2048;
static const double ROOM_SHARE = 0.95;

static double rounded_up(double x, double step)
{
    return step * ceil(x / step);
}

static double tuned_sequences(double raw)
{
    if (raw < 256)
        return fmax(SEQUENCES_LEAST, rounded_up(raw, 32));
    return rounded_up(raw, raw < 1024 ? 128 : 256);
}

static double tuned_tokens(double raw)
{
    if (raw < 4096)
        return fmax(TOKENS_LEAST, rounded_up(raw, 256));
    return rounded_up(raw, raw < 8192 ? 512 : 1024);
}

/* Requests of the mean length whose caches all chips have room for. */
static double requests_held(const priced_part *p)
{
    const served_part *part = p->part;
    const ridge_serving_memory *m = &p->memory;
    const double tokens = (double)(part->prompt_tokens + part->output_tokens);
    const double request = m->cache_bytes_per_token * tokens + m->state_bytes;
    const double room = ROOM_SHARE * (m->total - m->weights);
    return room / fmax(1, request) * (double)p->layout.attention_dp;
}

void served_sizes_tune(priced_part *p)
{
    const served_part *part = p->part;
    const double stages = (double)p->layout.pp;
    const double raw = fmin(requests_held(p), SEQUENCES_MOST) / stages;
    const double prompts_a_token =
        (double)part->prompt_tokens / fmax(1, (double)part->output_tokens);
    const double tokens = fmin(raw * (1 + prompts_a_token), TOKENS_MOST);
    p->layout.sequences = (int64_t)(tuned_sequences(raw) * stages);
    p->layout.budget_tokens = (int64_t)tuned_tokens(tokens);
}
