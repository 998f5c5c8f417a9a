/* SGLang's options as a pool.
 * @source sglang-2026, server arguments */
#include "launch_read.h"
#include "server_read.h"

#include <inttypes.h>
#include <string.h>

static const int64_t MOST = 1000000;

/* With an exchange of tokens experts are dealt over all chips, whatever ep-size is. */
static ridge_status read_exchange(server_reader *r, int64_t chips)
{
    const char *word = "none";
    bool has_exchange = false;
    RIDGE_TRY(launch_sheet_flag(&r->sheet, LAUNCH_EXPERT_PARALLEL, &has_exchange));
    if (launch_sheet_has(&r->sheet, LAUNCH_DISPATCHER))
        RIDGE_TRY(launch_sheet_text(&r->sheet, LAUNCH_DISPATCHER, &word));
    if (has_exchange || strcmp(word, "none") != 0)
        r->layout->ep = chips;
    return RIDGE_OK;
}

static ridge_status read_degrees(server_reader *r)
{
    ridge_serving_layout *l = r->layout;
    int64_t chips = 1;
    int64_t ranks = 1;
    bool has_ranks = false;
    RIDGE_TRY(launch_sheet_i64(&r->sheet, LAUNCH_TP, 1, MOST, &chips));
    RIDGE_TRY(launch_sheet_i64(&r->sheet, LAUNCH_PP, 1, MOST, &l->pp));
    RIDGE_TRY(launch_sheet_i64(&r->sheet, LAUNCH_ATTENTION_DP, 1, MOST, &ranks));
    RIDGE_TRY(launch_sheet_i64(&r->sheet, LAUNCH_EP, 1, MOST, &l->ep));
    RIDGE_TRY(launch_sheet_flag(&r->sheet, LAUNCH_HAS_ATTENTION_DP, &has_ranks));
    RIDGE_TRY(launch_sheet_flag(&r->sheet, LAUNCH_TWO_BATCHES, &l->has_two_batches));
    l->tp = chips;
    if (!has_ranks) {
        r->pool->servers *= ranks;
    } else if (chips % ranks != 0) {
        return launch_sheet_fail(&r->sheet, RIDGE_E_ARG, LAUNCH_ATTENTION_DP,
                                 "%" PRId64 " does not divide tp-size %" PRId64, ranks,
                                 chips);
    } else {
        l->attention_dp = ranks;
        l->tp = chips / ranks;
    }
    l->has_two_batches = l->has_two_batches && l->attention_dp > 1;
    RIDGE_TRY(read_exchange(r, chips));
    if (!ridge_model_has_experts(r->model))
        l->ep = 1;
    if (chips % l->ep != 0) {
        return launch_sheet_fail(&r->sheet, RIDGE_E_ARG, LAUNCH_EP,
                                 "%" PRId64 " does not divide tp-size %" PRId64, l->ep,
                                 chips);
    }
    RIDGE_TRY(server_read_copies(r));
    return server_read_split(r);
}

/* Stated for all attention ranks together. */
static ridge_status read_limits(server_reader *r)
{
    ridge_serving_layout *l = r->layout;
    const int64_t ranks = l->attention_dp;
    const launch_setting *chunk = r->sheet.given[LAUNCH_BUDGET];
    int64_t budget = r->engine->budget_tokens;
    /* Stated for all replicas of the server as well. */
    const int64_t apart =
        r->pool->servers / (r->server->replicas > 0 ? r->server->replicas : 1);
    RIDGE_TRY(server_read_count(r, LAUNCH_SEQUENCES,
                                r->engine->sequences * ranks * apart, &l->sequences));
    l->sequences = l->sequences / apart < 1 ? 1 : l->sequences / apart;
    if (chunk != NULL && chunk->value != NULL && strcmp(chunk->value, "-1") == 0) {
        r->engine->is_chunked = false;
    } else {
        RIDGE_TRY(server_read_count(r, LAUNCH_BUDGET, budget * ranks, &budget));
        budget = budget / ranks < 1 ? 1 : budget / ranks;
    }
    l->budget_tokens = budget;
    return RIDGE_OK;
}

static ridge_status read_speculation(server_reader *r)
{
    static const launch_word methods[] = {
        {"EAGLE", RIDGE_DRAFT_EAGLE}, {"EAGLE3", RIDGE_DRAFT_EAGLE},
        {"NEXTN", RIDGE_DRAFT_MTP},   {"STANDALONE", RIDGE_DRAFT_MODEL},
        {"NGRAM", RIDGE_DRAFT_NGRAM}, {"LOOKAHEAD", RIDGE_DRAFT_NGRAM}};
    ridge_draft *d = &r->layout->draft;
    const char *word = NULL;
    int64_t nodes = 0;
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
    /* EAGLE without heads of its own is the model's own prediction layers. */
    if (d->kind == RIDGE_DRAFT_EAGLE &&
        !launch_sheet_has(&r->sheet, LAUNCH_DRAFT_MODEL) && r->model->mtp_params > 0)
        d->kind = RIDGE_DRAFT_MTP;
    RIDGE_TRY(launch_sheet_want(&r->sheet, LAUNCH_DRAFT_NODES, &nodes));
    if (launch_sheet_has(&r->sheet, LAUNCH_DRAFT_DEPTH)) {
        RIDGE_TRY(launch_sheet_i64(&r->sheet, LAUNCH_DRAFT_DEPTH, 1,
                                   RIDGE_DRAFT_DEPTH_MAX, &d->depth));
    } else {
        d->depth = nodes > 1 && nodes <= RIDGE_DRAFT_DEPTH_MAX ? nodes - 1 : 3;
        launch_notes_add(r->cx, &r->launch->assumed, "speculative-num-steps %" PRId64,
                         d->depth);
    }
    if (nodes > 4096) {
        return launch_sheet_fail(&r->sheet, RIDGE_E_PARSE, LAUNCH_DRAFT_NODES,
                                 "%" PRId64 ": expected up to 4096", nodes);
    }
    d->nodes = nodes > d->depth + 1 ? nodes - 1 : d->depth;
    return d->kind == RIDGE_DRAFT_MODEL ? server_read_draft_model(r) : RIDGE_OK;
}

static ridge_status read_role(server_reader *r)
{
    static const launch_word roles[] = {{"prefill", RIDGE_SERVICE_ROLE_PREFILL},
                                        {"decode", RIDGE_SERVICE_ROLE_DECODE},
                                        {"null", RIDGE_SERVICE_ROLE_BOTH}};
    const char *word = "null";
    if (launch_sheet_has(&r->sheet, LAUNCH_ROLE))
        RIDGE_TRY(launch_sheet_text(&r->sheet, LAUNCH_ROLE, &word));
    const int found = launch_word_find(roles, RIDGE_COUNT_OF(roles), word);
    if (found < 0) {
        return launch_sheet_fail(&r->sheet, RIDGE_E_PARSE, LAUNCH_ROLE,
                                 "'%.40s': expected prefill or decode", word);
    }
    r->pool->role = (ridge_service_role)found;
    return RIDGE_OK;
}

ridge_status server_sglang_read(server_reader *r)
{
    RIDGE_TRY(server_read_common(r));
    RIDGE_TRY(server_read_schedule(r));
    RIDGE_TRY(read_degrees(r));
    RIDGE_TRY(server_read_share(r));
    RIDGE_TRY(read_limits(r));
    RIDGE_TRY(read_speculation(r));
    return read_role(r);
}
