/*
 * A pool as SGLang's options. tp-size counts all chips of a stage; with
 * enable-dp-attention they are dp-size groups of attention, and chunks and sequences
 * are stated for all groups together.
 *
 * @source sglang-2026, server arguments, expert parallelism, PD disaggregation
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
    if (l->attention_dp > 1) {
        launch_draft_i64(&d->sheet, LAUNCH_ATTENTION_DP, l->attention_dp);
        launch_draft_text(&d->sheet, LAUNCH_HAS_ATTENTION_DP, "");
    }
    if (l->has_two_batches)
        launch_draft_text(&d->sheet, LAUNCH_TWO_BATCHES, "");
    if (ridge_model_has_experts(d->model) && l->ep > 1)
        launch_draft_i64(&d->sheet, LAUNCH_EP, l->ep);
    if (l->redundant_experts > 0) {
        launch_draft_text(&d->sheet, LAUNCH_HAS_REPLICAS, "");
        launch_draft_i64(&d->sheet, LAUNCH_REPLICAS, l->redundant_experts);
    }
    const int64_t heads = server_kv_heads(d->model);
    if (heads == 0 || l->tp <= heads || l->kv_cut == RIDGE_KV_CUT_HEADS)
        return RIDGE_OK;
    if (l->kv_cut == RIDGE_KV_CUT_BATCH) {
        return launch_draft_refuse(&d->sheet,
                                   "does not cut a cache by sequences: plan with "
                                   "kv_cut=heads or attention_dp");
    }
    launch_draft_i64(&d->sheet, LAUNCH_KV_SPLIT, l->tp / heads);
    return RIDGE_OK;
}

static void draft_nodes(server_draft *d)
{
    if (d->nodes == 1)
        return;
    launch_draft_i64(&d->sheet, LAUNCH_NODES, d->nodes);
    launch_draft_text(&d->sheet, LAUNCH_NODE_RANK, "$RANK");
    launch_draft_text(&d->sheet, LAUNCH_HEAD_ADDRESS, "$HEAD:5000");
    launch_draft_note(&d->sheet,
                      "a server spans %" PRId64
                      " nodes: start it on each, RANK its number, HEAD the first's "
                      "address",
                      d->nodes);
}

static ridge_status draft_speculation(server_draft *d)
{
    const ridge_draft *s = &d->layout->draft;
    static const char *const methods[] = {[RIDGE_DRAFT_MODEL] = "STANDALONE",
                                          [RIDGE_DRAFT_EAGLE] = "EAGLE3",
                                          [RIDGE_DRAFT_MTP] = "NEXTN",
                                          [RIDGE_DRAFT_NGRAM] = "NGRAM"};
    if (s->kind == RIDGE_DRAFT_NONE)
        return RIDGE_OK;
    if (s->kind == RIDGE_DRAFT_MEDUSA) {
        return launch_draft_refuse(&d->sheet, "has no Medusa heads: plan with "
                                              "--draft eagle");
    }
    launch_draft_text(&d->sheet, LAUNCH_DRAFT_METHOD, methods[s->kind]);
    if (s->kind == RIDGE_DRAFT_MODEL || s->kind == RIDGE_DRAFT_EAGLE)
        launch_draft_text(&d->sheet, LAUNCH_DRAFT_MODEL, server_draft_model_name(d));
    const bool is_tree = s->nodes > s->depth;
    const int64_t nodes = is_tree ? s->nodes : s->depth;
    launch_draft_i64(&d->sheet, LAUNCH_DRAFT_NODES, nodes + 1);
    if (s->kind == RIDGE_DRAFT_NGRAM)
        return RIDGE_OK;
    launch_draft_i64(&d->sheet, LAUNCH_DRAFT_DEPTH, s->depth);
    launch_draft_i64(&d->sheet, LAUNCH_DRAFT_WIDTH,
                     is_tree ? ridge_ceil_div(s->nodes, s->depth) : 1);
    if (is_tree)
        launch_draft_note(&d->sheet, "SGLang grows the tree by the drafts' own "
                                     "confidence: its levels are not the plan's");
    return RIDGE_OK;
}

static void draft_role(server_draft *d)
{
    const bool is_prefill = d->pool->role == RIDGE_SERVICE_ROLE_PREFILL;
    if (d->pool->role == RIDGE_SERVICE_ROLE_BOTH)
        return;
    launch_draft_text(&d->sheet, LAUNCH_ROLE, is_prefill ? "prefill" : "decode");
    launch_draft_text(&d->sheet, LAUNCH_TRANSFER, "nixl");
    launch_draft_text(&d->sheet, LAUNCH_PORT, is_prefill ? "30100" : "30200");
}

ridge_status server_sglang_write(server_draft *d)
{
    ridge_buf *b = &d->sheet.out->text;
    const ridge_engine *e = d->engine;
    const int64_t ranks = d->layout->attention_dp;
    RIDGE_TRY(draft_degrees(d));
    draft_nodes(d);
    RIDGE_TRY(server_draft_formats(d));
    server_draft_limits(d, ranks);
    launch_draft_i64(&d->sheet, LAUNCH_BUDGET,
                     e->is_chunked ? d->layout->budget_tokens * ranks : -1);
    server_draft_share(d);
    launch_draft_flag(&d->sheet, LAUNCH_NO_PREFIX_CACHE, !e->has_prefix_cache);
    launch_draft_flag(&d->sheet, LAUNCH_NO_GRAPHS,
                      d->is_own && e->graph_sequences == 0);
    launch_draft_flag(&d->sheet, LAUNCH_NO_OVERLAP, d->is_own && !e->is_host_hidden);
    if (d->is_own && e->graph_sequences > 0 && e->graph_sequences <= 8192)
        launch_draft_i64(&d->sheet, LAUNCH_GRAPH_SEQS, (int64_t)e->graph_sequences);
    RIDGE_TRY(draft_speculation(d));
    draft_role(d);
    server_draft_heading(d);
    ridge_buf_printf(b, "python -m sglang.launch_server --model-path %s",
                     d->sheet.model_name);
    server_draft_put_flags(d, server_sglang_options);
    return RIDGE_OK;
}

void server_sglang_put_front(server_draft *d)
{
    ridge_buf_puts(&d->sheet.out->text,
                   "\n# in front of them: one --prefill and one --decode a server\n"
                   "python -m sglang_router.launch_router --pd-disaggregation \\\n"
                   "  --prefill http://$PREFILL:30100 --decode http://$DECODE:30200\n");
}
