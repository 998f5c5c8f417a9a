/* Options of trtllm-serve and keys of its YAML as a pool.
 * @source tensorrt-llm-2026, trtllm-serve and LlmArgs */
#include "launch_read.h"
#include "server_read.h"

#include <inttypes.h>
#include <string.h>

static const int64_t MOST = 1000000;

static ridge_status read_degrees(server_reader *r)
{
    ridge_serving_layout *l = r->layout;
    int64_t chips = 1;
    bool has_ranks = false;
    RIDGE_TRY(launch_sheet_i64(&r->sheet, LAUNCH_TP, 1, MOST, &chips));
    RIDGE_TRY(launch_sheet_i64(&r->sheet, LAUNCH_PP, 1, MOST, &l->pp));
    RIDGE_TRY(launch_sheet_i64(&r->sheet, LAUNCH_EP, 1, MOST, &l->ep));
    RIDGE_TRY(launch_sheet_flag(&r->sheet, LAUNCH_HAS_ATTENTION_DP, &has_ranks));
    l->attention_dp = has_ranks ? chips : 1;
    l->tp = has_ranks ? 1 : chips;
    if (!ridge_model_has_experts(r->model))
        l->ep = 1;
    if (chips % l->ep != 0) {
        return launch_sheet_fail(&r->sheet, RIDGE_E_ARG, LAUNCH_EP,
                                 "%" PRId64 " does not divide the %" PRId64
                                 " chips of a stage",
                                 l->ep, chips);
    }
    return server_read_copies(r);
}

static ridge_status read_speculation(server_reader *r)
{
    static const launch_word methods[] = {
        {"MTP", RIDGE_DRAFT_MTP},           {"Eagle", RIDGE_DRAFT_EAGLE},
        {"Eagle3", RIDGE_DRAFT_EAGLE},      {"EAGLE3", RIDGE_DRAFT_EAGLE},
        {"Medusa", RIDGE_DRAFT_MEDUSA},     {"NGram", RIDGE_DRAFT_NGRAM},
        {"Lookahead", RIDGE_DRAFT_NGRAM},   {"DraftTarget", RIDGE_DRAFT_MODEL},
        {"Draft_Target", RIDGE_DRAFT_MODEL}};
    ridge_draft *d = &r->layout->draft;
    const char *word = NULL;
    if (!launch_sheet_has(&r->sheet, LAUNCH_DRAFT_METHOD))
        return RIDGE_OK;
    RIDGE_TRY(launch_sheet_text(&r->sheet, LAUNCH_DRAFT_METHOD, &word));
    const int found = launch_word_find(methods, RIDGE_COUNT_OF(methods), word);
    if (found < 0) {
        server_read_note(r, LAUNCH_DRAFT_METHOD,
                         "not known; priced without speculation");
        return RIDGE_OK;
    }
    d->kind = (ridge_draft_kind)found;
    const launch_field depth = launch_sheet_has(&r->sheet, LAUNCH_DRAFT_LAYERS)
                                   ? LAUNCH_DRAFT_LAYERS
                                   : LAUNCH_DRAFT_DEPTH;
    if (!launch_sheet_has(&r->sheet, depth)) {
        return launch_sheet_fail(&r->sheet, RIDGE_E_PARSE, depth,
                                 "how many tokens are drafted is not stated");
    }
    RIDGE_TRY(launch_sheet_i64(&r->sheet, depth, 1, RIDGE_DRAFT_DEPTH_MAX, &d->depth));
    d->nodes = d->depth;
    return d->kind == RIDGE_DRAFT_MODEL ? server_read_draft_model(r) : RIDGE_OK;
}

static ridge_status read_eviction(server_reader *r)
{
    static const launch_word words[] = {
        {"GUARANTEED_NO_EVICT", RIDGE_PREEMPTION_RESERVE},
        {"MAX_UTILIZATION", RIDGE_PREEMPTION_RECOMPUTE},
        {"STATIC_BATCH", RIDGE_PREEMPTION_RESERVE}};
    const char *word = NULL;
    if (!launch_sheet_has(&r->sheet, LAUNCH_EVICTION))
        return RIDGE_OK;
    RIDGE_TRY(launch_sheet_text(&r->sheet, LAUNCH_EVICTION, &word));
    const int found = launch_word_find(words, RIDGE_COUNT_OF(words), word);
    if (found < 0) {
        return launch_sheet_fail(&r->sheet, RIDGE_E_PARSE, LAUNCH_EVICTION,
                                 "'%.40s': expected GUARANTEED_NO_EVICT, "
                                 "MAX_UTILIZATION or STATIC_BATCH",
                                 word);
    }
    r->engine->preemption = (ridge_engine_preemption)found;
    if (strcmp(word, "STATIC_BATCH") == 0)
        r->engine->batching = RIDGE_BATCHING_STATIC;
    return RIDGE_OK;
}

/* A configuration with a transceiver is of one of two roles: its file's name tells. */
static void read_role(server_reader *r)
{
    r->pool->role = r->server->role;
    if (r->pool->role == RIDGE_SERVICE_ROLE_BOTH ||
        strcmp(r->server->format, "trtllm-serve command") != 0)
        return;
    if (r->sheet.given[LAUNCH_TRANSFER] == NULL) {
        r->pool->role = RIDGE_SERVICE_ROLE_BOTH;
        return;
    }
    launch_notes_add(r->cx, &r->launch->assumed, "%s, by the name of its configuration",
                     r->pool->role == RIDGE_SERVICE_ROLE_PREFILL ? "context server"
                                                                 : "generation server");
}

ridge_status server_trtllm_read(server_reader *r)
{
    int64_t sequences = 0;
    RIDGE_TRY(server_read_common(r));
    RIDGE_TRY(server_read_schedule(r));
    RIDGE_TRY(read_degrees(r));
    RIDGE_TRY(server_read_share(r));
    RIDGE_TRY(server_read_count(r, LAUNCH_SEQUENCES, r->engine->sequences, &sequences));
    r->layout->sequences = sequences * r->layout->attention_dp;
    RIDGE_TRY(server_read_count(r, LAUNCH_BUDGET, r->engine->budget_tokens,
                                &r->layout->budget_tokens));
    RIDGE_TRY(read_speculation(r));
    RIDGE_TRY(read_eviction(r));
    read_role(r);
    return RIDGE_OK;
}
