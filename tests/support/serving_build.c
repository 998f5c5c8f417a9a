/* Deployments whose times are made up. */
#include "serving_build.h"

#include "near.h"

#include <string.h>

static const double row_tokens[] = {1, 64, 128, 256, 512, 2048, 8192, 16384};
static const double row_times[] = {6e-3,  6.2e-3, 6.6e-3, 8e-3,
                                   12e-3, 40e-3,  150e-3, 300e-3};

void built_speed_open(built_speed *out)
{
    static const double sequences[] = {1, 8, 32, 128, 256, 1024};
    static const double reads[] = {1, 256, 1024, 4096, 8192, 16384, 65536, 262144};
    static const double chunk[] = {1, 256, 1024, 4096, 16384};
    static const double before[] = {0, 1024, 4096, 16384, 65536};
    memset(out, 0, sizeof *out);
    memcpy(out->rows_x, row_tokens, sizeof row_tokens);
    memcpy(out->rows_y, row_times, sizeof row_times);
    memcpy(out->sequences, sequences, sizeof sequences);
    memcpy(out->reads, reads, sizeof reads);
    memcpy(out->chunk, chunk, sizeof chunk);
    memcpy(out->before, before, sizeof before);
    for (int i = 0; i < 4; i++) {
        out->head_x[i] = (double)(1 << (3 * i));
        out->head_y[i] = 4e-4 + 1e-6 * out->head_x[i];
    }
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 8; j++)
            out->decode_z[0][i * 8 + j] =
                1e-4 + 4e-8 * sequences[i] * reads[j] / (1 + sequences[i] / 500);
    }
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 5; j++)
            out->prefill_z[0][i * 5 + j] =
                5e-5 + 2e-9 * chunk[i] * (before[j] + chunk[i] / 2);
    }
    out->speed = (ridge_serving_speed){
        .rows = {8, out->rows_x, out->rows_y},
        .head = {4, out->head_x, out->head_y},
        .n_caches = 1,
        .caches = {{.bytes_per_token = 131072,
                    .decode = {6, 8, out->sequences, out->reads, out->decode_z[0]},
                    .prefill = {5, 5, out->chunk, out->before, out->prefill_z[0]}}},
        .draft = {.verified = 1},
        .host_s = 1e-3,
        .host_sequence_s = 1e-5,
        .request_s = 2e-3,
        .attention_ranks = 1,
        .stages = 1,
        .blocks = 20000,
        .block_tokens = 16,
        .block_bytes = 16 * 131072.0,
        .swap_bytes_per_s = 25e9,
        .transfer_bytes_per_s = 50e9,
        .transfer_s = 1e-3,
        .chips = 1,
        .usd_per_hour = 3};
}

void built_speed_window(built_speed *speed, double window_tokens)
{
    for (int i = 0; i < 48; i++)
        speed->decode_z[1][i] = speed->decode_z[0][i] / 2;
    for (int i = 0; i < 25; i++)
        speed->prefill_z[1][i] = speed->prefill_z[0][i] / 3;
    speed->speed.caches[1] = speed->speed.caches[0];
    speed->speed.caches[1].window_tokens = window_tokens;
    speed->speed.caches[1].sink_tokens = 4;
    speed->speed.caches[1].decode.z = speed->decode_z[1];
    speed->speed.caches[1].prefill.z = speed->prefill_z[1];
    speed->speed.n_caches = 2;
}

void built_speed_draft(built_speed *speed, int depth, double accept)
{
    for (int i = 0; i < depth && i < 4; i++)
        speed->accept[i] = accept;
    speed->draft_x[0] = 1;
    speed->draft_x[1] = 256;
    speed->draft_y[0] = 5e-4;
    speed->draft_y[1] = 2e-3;
    speed->speed.draft =
        (ridge_serving_draft){.verified = depth + 1,
                              .lookahead = depth,
                              .n_accept = depth,
                              .accept = speed->accept,
                              .draft = {2, speed->draft_x, speed->draft_y}};
}

ridge_engine built_rules(const char *name)
{
    ridge_engine r = {.name = name,
                      .full_name = name,
                      .version = "1",
                      .batching = RIDGE_BATCHING_MIXED,
                      .preemption = RIDGE_PREEMPTION_RECOMPUTE,
                      .is_chunked = true,
                      .has_prefix_cache = true,
                      .keeps_order = true,
                      .block_tokens = 16,
                      .budget_tokens = 2048,
                      .sequences = 256,
                      .cache_line = "{blocks}"};
    if (strcmp(name, "sglang") == 0) {
        r.batching = RIDGE_BATCHING_PREFILL;
        r.victim = RIDGE_VICTIM_SHORTEST;
        r.keeps_order = false;
        r.reserve_share = 0.7;
        r.reserve_share_least = 0.1;
        r.reserve_steps = 600;
        r.reserve_tokens = 4096;
        r.retract_steps = 20;
    } else if (strcmp(name, "trtllm") == 0) {
        r.preemption = RIDGE_PREEMPTION_RESERVE;
        r.is_chunked = false;
        r.keeps_order = false;
        r.budget_tokens = 8192;
    } else if (strcmp(name, "jetstream") == 0) {
        r.batching = RIDGE_BATCHING_PREFILL;
        r.preemption = RIDGE_PREEMPTION_RESERVE;
        r.is_chunked = r.has_prefix_cache = r.keeps_order = false;
        r.pads_prompts = r.is_slotted = true;
        r.prompts = 1;
        r.budget_tokens = 1 << 20;
        r.sequences = 32;
    } else if (strcmp(name, "static") == 0) {
        r.batching = RIDGE_BATCHING_STATIC;
        r.preemption = RIDGE_PREEMPTION_RESERVE;
        r.is_chunked = r.has_prefix_cache = r.keeps_order = false;
        r.is_slotted = true;
        r.budget_tokens = 1 << 20;
        r.sequences = 16;
    } else if (strcmp(name, "vllm-v0") == 0 || strcmp(name, "swap") == 0) {
        r.batching = RIDGE_BATCHING_PREFILL;
        r.is_chunked = r.has_prefix_cache = r.keeps_order = false;
        r.budget_tokens = 16384;
        r.watermark = 0.01;
        if (strcmp(name, "swap") == 0)
            r.preemption = RIDGE_PREEMPTION_SWAP;
    }
    return r;
}

ridge_serving_deployment built_deployment(const built_speed *speed, const char *rules)
{
    ridge_serving_deployment d = {.n_pools = 1, .seed = 1};
    d.pools[0] = (ridge_serving_pool){&speed->speed, built_rules(rules), 1};
    if (d.pools[0].rules.is_slotted)
        d.longest_tokens = 8192;
    return d;
}

ridge_engine data_rules(const char *name, int64_t block_tokens, int64_t budget_tokens)
{
    static const char *const none[] = {NULL};
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_catalog *catalog;
    const ridge_engine *found = NULL;
    if (ridge_catalog_open(cx, NULL, &catalog) != RIDGE_OK ||
        ridge_engine_find(cx, catalog, name, &found) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    ridge_engine rules = *found;
    rules.block_tokens = block_tokens;
    rules.budget_tokens = budget_tokens;
    /* texts go with the catalogue */
    rules.name = rules.full_name = rules.version = rules.cache_line = "of data";
    rules.aliases = none;
    rules.n_limits = 0;
    rules.facts = NULL;
    rules.n_facts = 0;
    ridge_ctx_close(cx);
    return rules;
}
