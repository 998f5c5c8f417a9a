/*
 * A pool as vLLM's options, its YAML, or those of its extension for TPUs.
 *
 * Dense models: replicas of a node are its --data-parallel-size. Models with experts:
 * that is the attention ranks of one server, which share the experts.
 *
 * @source vllm-2026, engine arguments, data-parallel and disaggregated deployment;
 *         vllm-tpu-2026, sharding of tpu-inference
 */
#include "server_draft.h"

#include <inttypes.h>
#include <string.h>

static bool is_tpu(const server_draft *d)
{
    return d->launcher == RIDGE_SERVING_LAUNCHER_VLLM_TPU;
}

/* ---- degrees --------------------------------------------------------------------- */

static ridge_status draft_experts(server_draft *d)
{
    const ridge_serving_layout *l = d->layout;
    const int64_t ranks = l->tp * l->attention_dp;
    if (!ridge_model_has_experts(d->model) || l->ep == 1)
        return RIDGE_OK;
    if (l->ep != ranks) {
        return launch_draft_refuse(
            &d->sheet,
            "deals experts over all %" PRId64
            " ranks or cuts each over them: plan with ep=%" PRId64 " or ep=1",
            ranks, ranks);
    }
    launch_draft_text(&d->sheet, LAUNCH_EXPERT_PARALLEL, "");
    if (l->redundant_experts == 0)
        return RIDGE_OK;
    launch_draft_text(&d->sheet, LAUNCH_HAS_REPLICAS, "");
    launch_draft_text(&d->sheet, LAUNCH_REPLICAS_JSON,
                      ridge_sprintf(ridge_ctx_arena(d->sheet.cx),
                                    "{\"num_redundant_experts\": %" PRId64 "}",
                                    l->redundant_experts));
    return RIDGE_OK;
}

/* Of chips with several devices each, tensor parallelism and ranks count devices. */
static ridge_status draft_tpu_attention(server_draft *d)
{
    const ridge_serving_layout *l = d->layout;
    const int64_t each = server_devices_of(d->deployment->slice);
    const int64_t devices = l->tp * l->attention_dp * each;
    launch_draft_i64(&d->sheet, LAUNCH_TP, devices);
    if (each > 1)
        launch_draft_note(&d->sheet,
                          "a chip is %" PRId64 " devices: degrees count them", each);
    if (l->attention_dp == 1)
        return RIDGE_OK;
    const int64_t made = server_tpu_ranks(d->model, l->formats.cache, devices);
    const int64_t ranks = made % each == 0 ? made / each : made;
    if (ranks != l->attention_dp) {
        return launch_draft_refuse(&d->sheet,
                                   "makes %" PRId64 " attention ranks of %" PRId64
                                   " chips: plan with attention_dp=%" PRId64 " or 1",
                                   ranks, devices / each, ranks);
    }
    launch_draft_text(&d->sheet, LAUNCH_SHARDING_JSON,
                      "{\"sharding\": {\"sharding_strategy\": "
                      "{\"enable_dp_attention\": true}}}");
    return RIDGE_OK;
}

static ridge_status draft_attention(server_draft *d)
{
    const ridge_serving_layout *l = d->layout;
    if (is_tpu(d))
        return draft_tpu_attention(d);
    launch_draft_i64(&d->sheet, LAUNCH_TP, l->tp);
    if (l->attention_dp == 1)
        return RIDGE_OK;
    if (!ridge_model_has_experts(d->model)) {
        return launch_draft_refuse(&d->sheet, "has attention ranks for models with "
                                              "experts alone: plan with attention_dp=1 "
                                              "and more servers");
    }
    launch_draft_i64(&d->sheet, LAUNCH_ATTENTION_DP, l->attention_dp);
    if (l->has_two_batches)
        launch_draft_text(&d->sheet, LAUNCH_TWO_BATCHES, "");
    return RIDGE_OK;
}

/* The cache beyond the KV heads. */
static ridge_status draft_cache_cut(server_draft *d)
{
    const ridge_serving_layout *l = d->layout;
    const int64_t heads = server_kv_heads(d->model);
    if (heads == 0 || l->tp <= heads || l->kv_cut == RIDGE_KV_CUT_HEADS)
        return RIDGE_OK;
    if (l->kv_cut == RIDGE_KV_CUT_BATCH || is_tpu(d)) {
        return launch_draft_refuse(
            &d->sheet, "does not cut a cache by %s: plan with kv_cut=heads%s",
            l->kv_cut == RIDGE_KV_CUT_BATCH ? "sequences" : "tokens",
            is_tpu(d) ? "" : " or sequence, or attention_dp");
    }
    launch_draft_i64(&d->sheet, LAUNCH_KV_SPLIT, l->tp / heads);
    return RIDGE_OK;
}

/* Replicas of a dense model on one node are ranks of one server. */
static bool has_ranked_replicas(const server_draft *d)
{
    const ridge_slice *s = d->deployment->slice;
    const bool fits =
        s != NULL && s->hosts > 0 && d->pool->servers * d->chips <= s->chips / s->hosts;
    return d->pool->servers > 1 && fits && !is_tpu(d) &&
           !ridge_model_has_experts(d->model);
}

static void draft_nodes(server_draft *d)
{
    if (has_ranked_replicas(d))
        launch_draft_i64(&d->sheet, LAUNCH_ATTENTION_DP, d->pool->servers);
    if (d->nodes == 1)
        return;
    const int64_t rank = d->layout->tp * d->layout->pp;
    const int64_t node = ridge_ceil_div(d->chips, d->nodes);
    if (d->layout->attention_dp > 1 && rank <= node && !is_tpu(d)) {
        launch_draft_i64(&d->sheet, LAUNCH_RANKS_LOCAL, node / rank);
        launch_draft_text(&d->sheet, LAUNCH_RANKS_BY, "ray");
    } else {
        launch_draft_text(&d->sheet, LAUNCH_LAUNCHED_BY, "ray");
    }
    launch_draft_note(&d->sheet,
                      "a server spans %" PRId64
                      " nodes: join them as one Ray cluster first",
                      d->nodes);
}

/* ---- the rest -------------------------------------------------------------------- */

static ridge_status draft_speculation(server_draft *d)
{
    const ridge_draft *s = &d->layout->draft;
    ridge_arena *arena = ridge_ctx_arena(d->sheet.cx);
    static const char *const methods[] = {[RIDGE_DRAFT_MODEL] = "draft_model",
                                          [RIDGE_DRAFT_MEDUSA] = "medusa",
                                          [RIDGE_DRAFT_EAGLE] = "eagle3",
                                          [RIDGE_DRAFT_MTP] = "mtp",
                                          [RIDGE_DRAFT_NGRAM] = "ngram"};
    const char *rest = "";
    if (s->kind == RIDGE_DRAFT_NONE)
        return RIDGE_OK;
    RIDGE_TRY(server_draft_check_chain(d));
    if (s->kind == RIDGE_DRAFT_NGRAM) {
        rest = ", \"prompt_lookup_max\": 4";
    } else if (s->kind != RIDGE_DRAFT_MTP) {
        rest = ridge_sprintf(arena, ", \"model\": \"%s\"", server_draft_model_name(d));
    }
    launch_draft_text(&d->sheet, LAUNCH_DRAFT_JSON,
                      ridge_sprintf(arena,
                                    "{\"method\": \"%s\", \"num_speculative_tokens\": "
                                    "%" PRId64 "%s}",
                                    methods[s->kind], s->depth,
                                    rest == NULL ? "" : rest));
    return RIDGE_OK;
}

static void draft_role(server_draft *d)
{
    const char *role =
        d->pool->role == RIDGE_SERVICE_ROLE_PREFILL ? "kv_producer" : "kv_consumer";
    const char *connector = is_tpu(d)
                                ? "\"TPUConnector\", \"kv_connector_module_path\": "
                                  "\"tpu_inference.distributed.tpu_connector\""
                                : "\"NixlConnector\"";
    if (d->pool->role == RIDGE_SERVICE_ROLE_BOTH)
        return;
    launch_draft_text(&d->sheet, LAUNCH_KV_JSON,
                      ridge_sprintf(ridge_ctx_arena(d->sheet.cx),
                                    "{\"kv_connector\": %s, \"kv_role\": \"%s\"}",
                                    connector, role));
    launch_draft_text(&d->sheet, LAUNCH_PORT,
                      d->pool->role == RIDGE_SERVICE_ROLE_PREFILL ? "8100" : "8200");
}

static void draft_switches(server_draft *d)
{
    const ridge_engine *e = d->engine;
    launch_draft_flag(&d->sheet, LAUNCH_PREFIX_CACHE, e->has_prefix_cache);
    launch_draft_flag(&d->sheet, LAUNCH_NO_PREFIX_CACHE, !e->has_prefix_cache);
    launch_draft_flag(&d->sheet, LAUNCH_NO_CHUNKED, !e->is_chunked);
    launch_draft_flag(&d->sheet, LAUNCH_NO_GRAPHS,
                      d->is_own && e->graph_sequences == 0 && !is_tpu(d));
    launch_draft_flag(&d->sheet, LAUNCH_OVERLAP,
                      d->is_own && e->is_host_hidden && !is_tpu(d));
}

static void put_command(server_draft *d, const launch_option *options)
{
    ridge_buf *b = &d->sheet.out->text;
    if (!has_ranked_replicas(d))
        server_draft_heading(d);
    ridge_buf_printf(b, "vllm serve %s", d->sheet.model_name);
    server_draft_put_flags(d, options);
}

ridge_status server_vllm_write(server_draft *d)
{
    RIDGE_TRY(draft_attention(d));
    if (d->layout->pp > 1)
        launch_draft_i64(&d->sheet, LAUNCH_PP, d->layout->pp);
    RIDGE_TRY(draft_experts(d));
    RIDGE_TRY(draft_cache_cut(d));
    draft_nodes(d);
    RIDGE_TRY(server_draft_formats(d));
    server_draft_limits(d, 1);
    launch_draft_i64(&d->sheet, LAUNCH_BUDGET, d->layout->budget_tokens);
    server_draft_share(d);
    draft_switches(d);
    RIDGE_TRY(draft_speculation(d));
    draft_role(d);
    if (d->launcher == RIDGE_SERVING_LAUNCHER_VLLM_YAML) {
        launch_draft_text(&d->sheet, LAUNCH_MODEL_NAME, d->sheet.model_name);
        launch_draft_note(&d->sheet, "start it with vllm serve --config FILE");
        server_draft_put_yaml(d, server_vllm_options, 0);
        return RIDGE_OK;
    }
    put_command(d, is_tpu(d) ? server_vllm_tpu_options : server_vllm_options);
    return RIDGE_OK;
}

void server_vllm_put_front(server_draft *d)
{
    launch_draft_note(&d->sheet, "a proxy that is yours to add hands each request to a "
                                 "prefill server, then to a decode server: vLLM has "
                                 "one in examples/online_serving/"
                                 "disaggregated_serving");
}
