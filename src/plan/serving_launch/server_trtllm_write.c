/*
 * A pool as trtllm-serve with its YAML. tensor_parallel_size counts all chips of a
 * stage; attention is cut over all of them, or each has sequences of its own, and
 * max_batch_size is then that of one.
 *
 * @source tensorrt-llm-2026, trtllm-serve, LlmArgs, disaggregated serving
 */
#include "server_draft.h"

#include <inttypes.h>
#include <string.h>

static ridge_status draft_degrees(server_draft *d)
{
    const ridge_serving_layout *l = d->layout;
    launch_draft_i64(&d->sheet, LAUNCH_TP, l->tp * l->attention_dp);
    if (l->pp > 1)
        launch_draft_i64(&d->sheet, LAUNCH_PP, l->pp);
    if (ridge_model_has_experts(d->model) && l->ep > 1)
        launch_draft_i64(&d->sheet, LAUNCH_EP, l->ep);
    if (l->redundant_experts > 0) {
        launch_draft_i64(&d->sheet, LAUNCH_REPLICAS,
                         server_experts(d->model) + l->redundant_experts);
        launch_draft_i64(&d->sheet, LAUNCH_REPLICAS_JSON, 1);
    }
    if (l->attention_dp > 1) {
        if (l->tp > 1) {
            return launch_draft_refuse(
                &d->sheet,
                "gives each chip sequences of its own or none: plan with tp=1 "
                "attention_dp=%" PRId64 ", or attention_dp=1",
                l->tp * l->attention_dp);
        }
        launch_draft_text(&d->sheet, LAUNCH_HAS_ATTENTION_DP, "");
    }
    const int64_t heads = server_kv_heads(d->model);
    if (heads == 0 || l->tp <= heads || l->kv_cut == RIDGE_KV_CUT_HEADS)
        return RIDGE_OK;
    return launch_draft_refuse(&d->sheet, "cuts a cache by heads: plan with "
                                          "kv_cut=heads");
}

static ridge_status draft_speculation(server_draft *d)
{
    const ridge_draft *s = &d->layout->draft;
    static const char *const methods[] = {[RIDGE_DRAFT_MODEL] = "Draft_Target",
                                          [RIDGE_DRAFT_EAGLE] = "Eagle3",
                                          [RIDGE_DRAFT_MTP] = "MTP",
                                          [RIDGE_DRAFT_NGRAM] = "NGram"};
    if (s->kind == RIDGE_DRAFT_NONE)
        return RIDGE_OK;
    if (s->kind == RIDGE_DRAFT_MEDUSA) {
        return launch_draft_refuse(&d->sheet, "runs no Medusa heads on PyTorch: plan "
                                              "with --draft eagle");
    }
    RIDGE_TRY(server_draft_check_chain(d));
    launch_draft_text(&d->sheet, LAUNCH_DRAFT_METHOD, methods[s->kind]);
    launch_draft_i64(&d->sheet,
                     s->kind == RIDGE_DRAFT_MTP ? LAUNCH_DRAFT_LAYERS
                                                : LAUNCH_DRAFT_DEPTH,
                     s->depth);
    if (s->kind == RIDGE_DRAFT_MODEL || s->kind == RIDGE_DRAFT_EAGLE)
        launch_draft_text(&d->sheet, LAUNCH_DRAFT_MODEL, server_draft_model_name(d));
    if (s->kind == RIDGE_DRAFT_NGRAM)
        launch_draft_text(&d->sheet, LAUNCH_DRAFT_LOOKUP, "4");
    return RIDGE_OK;
}

static void draft_switches(server_draft *d)
{
    const ridge_engine *e = d->engine;
    launch_draft_text(&d->sheet, LAUNCH_PREFIX_CACHE,
                      e->has_prefix_cache ? "true" : "false");
    launch_draft_text(&d->sheet, LAUNCH_CHUNKED, e->is_chunked ? "true" : NULL);
    launch_draft_flag(&d->sheet, LAUNCH_NO_OVERLAP, d->is_own && !e->is_host_hidden);
    if (d->is_own && e->graph_sequences > 0 && e->graph_sequences <= 8192)
        launch_draft_i64(&d->sheet, LAUNCH_GRAPH_SEQS, (int64_t)e->graph_sequences);
    launch_draft_text(&d->sheet, LAUNCH_EVICTION,
                      !d->is_own || e->preemption == RIDGE_PREEMPTION_RESERVE
                          ? NULL
                          : "MAX_UTILIZATION");
    if (d->pool->role != RIDGE_SERVICE_ROLE_BOTH)
        launch_draft_text(&d->sheet, LAUNCH_TRANSFER, "DEFAULT");
}

static const char *file_of(const server_draft *d)
{
    switch (d->pool->role) {
    case RIDGE_SERVICE_ROLE_PREFILL:
        return "context";
    case RIDGE_SERVICE_ROLE_DECODE:
        return "generation";
    case RIDGE_SERVICE_ROLE_BOTH:
        break;
    }
    return "serve";
}

/* Several nodes: one process a chip, under what starts them. */
static const char *starter(server_draft *d)
{
    if (d->nodes == 1)
        return "";
    launch_draft_note(&d->sheet,
                      "a server spans %" PRId64
                      " nodes: start it under mpirun or srun, "
                      "one process a chip",
                      d->nodes);
    return "trtllm-llmapi-launch ";
}

ridge_status server_trtllm_write(server_draft *d)
{
    ridge_buf *b = &d->sheet.out->text;
    const char *file = file_of(d);
    static const char *const ports[] = {[RIDGE_SERVICE_ROLE_BOTH] = "8000",
                                        [RIDGE_SERVICE_ROLE_PREFILL] = "8001",
                                        [RIDGE_SERVICE_ROLE_DECODE] = "8002"};
    RIDGE_TRY(draft_degrees(d));
    RIDGE_TRY(server_draft_formats(d));
    server_draft_limits(d, 1);
    launch_draft_i64(&d->sheet, LAUNCH_BUDGET, d->layout->budget_tokens);
    server_draft_share(d);
    draft_switches(d);
    RIDGE_TRY(draft_speculation(d));
    server_draft_heading(d);
    ridge_buf_printf(b, "cat > %s.yaml <<'EOF'\n", file);
    server_draft_put_yaml(d, server_trtllm_options, 0);
    ridge_buf_puts(b, "EOF\n");
    ridge_buf_printf(b,
                     "%strtllm-serve %s --backend pytorch --port %s "
                     "--extra_llm_api_options %s.yaml\n",
                     starter(d), d->sheet.model_name, ports[d->pool->role], file);
    return RIDGE_OK;
}

void server_trtllm_put_front(server_draft *d)
{
    ridge_buf *b = &d->sheet.out->text;
    static const char *const names[] = {
        [RIDGE_SERVICE_ROLE_BOTH] = "context_servers",
        [RIDGE_SERVICE_ROLE_PREFILL] = "context_servers",
        [RIDGE_SERVICE_ROLE_DECODE] = "generation_servers"};
    ridge_buf_puts(b,
                   "\n# in front of them; HOST0, HOST1, ...: where each server runs\n"
                   "cat > disaggregated.yaml <<EOF\n"
                   "hostname: 0.0.0.0\nport: 8000\nbackend: pytorch\n");
    int64_t host = 0;
    for (int i = 0; i < d->deployment->choice.n_pools; i++) {
        const ridge_service_pool *p = &d->deployment->choice.pools[i];
        ridge_buf_printf(b, "%s:\n  num_instances: %" PRId64 "\n  urls:\n",
                         names[p->role], p->servers);
        for (int64_t k = 0; k < p->servers; k++)
            ridge_buf_printf(b, "    - \"$HOST%" PRId64 ":%s\"\n", host++,
                             p->role == RIDGE_SERVICE_ROLE_DECODE ? "8002" : "8001");
    }
    ridge_buf_puts(b, "EOF\ntrtllm-serve disaggregated -c disaggregated.yaml\n");
}
