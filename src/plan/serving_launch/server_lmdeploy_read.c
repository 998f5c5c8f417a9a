/* LMDeploy's options as a pool.
 * @source lmdeploy-source-2025, lmdeploy/cli/utils.py and messages.py */
#include "launch_read.h"
#include "server_read.h"

#include <inttypes.h>
#include <string.h>

static const int64_t MOST = 1000000;

/* Ranks of attention are those of models with experts; of others dp is servers. */
static ridge_status read_degrees(server_reader *r)
{
    ridge_serving_layout *l = r->layout;
    const bool has_experts = ridge_model_has_experts(r->model);
    int64_t ranks = 1;
    RIDGE_TRY(launch_sheet_i64(&r->sheet, LAUNCH_TP, 1, MOST, &l->tp));
    RIDGE_TRY(launch_sheet_i64(&r->sheet, LAUNCH_ATTENTION_DP, 1, MOST, &ranks));
    RIDGE_TRY(launch_sheet_i64(&r->sheet, LAUNCH_EP, 1, MOST, &l->ep));
    RIDGE_TRY(launch_sheet_flag(&r->sheet, LAUNCH_TWO_BATCHES, &l->has_two_batches));
    if (has_experts) {
        l->attention_dp = ranks;
    } else {
        r->pool->servers *= ranks;
        l->ep = 1;
    }
    l->has_two_batches = l->has_two_batches && l->attention_dp > 1;
    if (l->tp * l->attention_dp % l->ep != 0) {
        return launch_sheet_fail(&r->sheet, RIDGE_E_ARG, LAUNCH_EP,
                                 "%" PRId64 " does not divide the %" PRId64 " chips",
                                 l->ep, l->tp * l->attention_dp);
    }
    return RIDGE_OK;
}

static ridge_status read_cache_bits(server_reader *r)
{
    int64_t bits = 0;
    RIDGE_TRY(launch_sheet_want(&r->sheet, LAUNCH_CACHE_BITS, &bits));
    if (bits != 0 && bits != 4 && bits != 8) {
        return launch_sheet_fail(&r->sheet, RIDGE_E_PARSE, LAUNCH_CACHE_BITS,
                                 "%" PRId64 ": expected 0, 4 or 8", bits);
    }
    if (bits != 0)
        r->layout->formats.cache = bits == 4 ? RIDGE_DTYPE_INT4 : RIDGE_DTYPE_INT8;
    return RIDGE_OK;
}

static ridge_status read_role(server_reader *r)
{
    static const launch_word roles[] = {{"Hybrid", RIDGE_SERVICE_ROLE_BOTH},
                                        {"Prefill", RIDGE_SERVICE_ROLE_PREFILL},
                                        {"Decode", RIDGE_SERVICE_ROLE_DECODE}};
    const char *word = "Hybrid";
    if (launch_sheet_has(&r->sheet, LAUNCH_ROLE))
        RIDGE_TRY(launch_sheet_text(&r->sheet, LAUNCH_ROLE, &word));
    const int found = launch_word_find(roles, RIDGE_COUNT_OF(roles), word);
    if (found < 0) {
        return launch_sheet_fail(&r->sheet, RIDGE_E_PARSE, LAUNCH_ROLE,
                                 "'%.40s': expected Hybrid, Prefill or Decode", word);
    }
    r->pool->role = (ridge_service_role)found;
    return RIDGE_OK;
}

ridge_status server_lmdeploy_read(server_reader *r)
{
    const launch_setting *format = r->sheet.given[LAUNCH_QUANT];
    int64_t sequences = 0;
    if (format != NULL && format->value != NULL &&
        (strcmp(format->value, "hf") == 0 || strcmp(format->value, "llama") == 0))
        r->sheet.given[LAUNCH_QUANT] = NULL; /* where the weights lie, not how */
    RIDGE_TRY(server_read_common(r));
    RIDGE_TRY(read_degrees(r));
    RIDGE_TRY(read_cache_bits(r));
    RIDGE_TRY(server_read_share(r));
    RIDGE_TRY(server_read_count(r, LAUNCH_SEQUENCES, r->engine->sequences, &sequences));
    r->layout->sequences = sequences * r->layout->attention_dp;
    RIDGE_TRY(server_read_count(r, LAUNCH_BUDGET, r->engine->budget_tokens,
                                &r->layout->budget_tokens));
    return read_role(r);
}
