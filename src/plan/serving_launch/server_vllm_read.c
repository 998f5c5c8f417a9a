/* vLLM's options as a pool.
 * @source vllm-2026, engine arguments; vllm-tpu-2026, sharding of tpu-inference */
#include "launch_read.h"
#include "server_read.h"

#include <inttypes.h>
#include <string.h>

static const int64_t MOST = 1000000;

static bool is_tpu(const server_reader *r)
{
    return r->server->launcher == RIDGE_SERVING_LAUNCHER_VLLM_TPU;
}

/* ---- degrees --------------------------------------------------------------------- */

/* Degrees count devices; attention's ranks are those beyond the KV heads of a page. */
static ridge_status divide_devices(server_reader *r, bool has_ranks)
{
    ridge_serving_layout *l = r->layout;
    const int64_t each = server_devices_of(r->query->slice);
    const int64_t devices = l->tp;
    if (devices % each != 0) {
        return launch_sheet_fail(&r->sheet, RIDGE_E_ARG, LAUNCH_TP,
                                 "%" PRId64 " devices are no whole chips of %" PRId64
                                 " each",
                                 devices, each);
    }
    l->tp = devices / each;
    if (l->ep > 1)
        l->ep = l->tp;
    if (!has_ranks)
        return RIDGE_OK;
    const int64_t made = server_tpu_ranks(r->model, l->formats.cache, devices);
    const int64_t ranks = made % each == 0 ? made / each : made;
    if (ranks > 1 && l->tp % ranks == 0) {
        l->attention_dp = ranks;
        l->tp /= ranks;
    }
    return RIDGE_OK;
}

static ridge_status read_tpu_attention(server_reader *r)
{
    ridge_serving_layout *l = r->layout;
    bool has_ranks = false;
    int64_t experts = 0;
    RIDGE_TRY(launch_sheet_flag(&r->sheet, LAUNCH_HAS_ATTENTION_DP, &has_ranks));
    RIDGE_TRY(launch_sheet_i64(&r->sheet, LAUNCH_STAGES, 1, MOST, &l->tp));
    RIDGE_TRY(launch_sheet_i64(&r->sheet, LAUNCH_EP, 1, MOST, &experts));
    if (experts > 1) {
        l->tp *= experts;
        l->ep = l->tp;
    }
    return divide_devices(r, has_ranks);
}

static ridge_status read_degrees(server_reader *r)
{
    ridge_serving_layout *l = r->layout;
    bool has_ep = false;
    int64_t ranks = 1;
    const bool has_experts = ridge_model_has_experts(r->model);
    RIDGE_TRY(launch_sheet_i64(&r->sheet, LAUNCH_TP, 1, MOST, &l->tp));
    RIDGE_TRY(launch_sheet_i64(&r->sheet, LAUNCH_PP, 1, MOST, &l->pp));
    RIDGE_TRY(launch_sheet_i64(&r->sheet, LAUNCH_ATTENTION_DP, 1, MOST, &ranks));
    RIDGE_TRY(launch_sheet_flag(&r->sheet, LAUNCH_EXPERT_PARALLEL, &has_ep));
    RIDGE_TRY(launch_sheet_flag(&r->sheet, LAUNCH_TWO_BATCHES, &l->has_two_batches));
    if (has_experts) {
        l->attention_dp = ranks;
    } else {
        r->pool->servers *= ranks;
    }
    if (is_tpu(r))
        RIDGE_TRY(read_tpu_attention(r));
    if (has_ep && has_experts)
        l->ep = l->tp * l->attention_dp;
    l->has_two_batches = l->has_two_batches && l->attention_dp > 1;
    RIDGE_TRY(server_read_copies(r));
    return server_read_split(r);
}

/* ---- drafts and roles ------------------------------------------------------------ */

static const launch_word methods[] = {{"ngram", RIDGE_DRAFT_NGRAM},
                                      {"[ngram]", RIDGE_DRAFT_NGRAM},
                                      {"ngram_gpu", RIDGE_DRAFT_NGRAM},
                                      {"suffix", RIDGE_DRAFT_NGRAM},
                                      {"medusa", RIDGE_DRAFT_MEDUSA},
                                      {"mlp_speculator", RIDGE_DRAFT_MEDUSA},
                                      {"eagle", RIDGE_DRAFT_EAGLE},
                                      {"eagle3", RIDGE_DRAFT_EAGLE},
                                      {"mtp", RIDGE_DRAFT_MTP},
                                      {"deepseek_mtp", RIDGE_DRAFT_MTP},
                                      {"qwen3_next_mtp", RIDGE_DRAFT_MTP},
                                      {"glm4_moe_mtp", RIDGE_DRAFT_MTP},
                                      {"mimo_mtp", RIDGE_DRAFT_MTP},
                                      {"ernie_mtp", RIDGE_DRAFT_MTP},
                                      {"longcat_flash_mtp", RIDGE_DRAFT_MTP},
                                      {"draft_model", RIDGE_DRAFT_MODEL}};

static ridge_status read_method(server_reader *r)
{
    const char *word = NULL;
    ridge_draft *d = &r->layout->draft;
    if (launch_sheet_has(&r->sheet, LAUNCH_DRAFT_METHOD))
        RIDGE_TRY(launch_sheet_text(&r->sheet, LAUNCH_DRAFT_METHOD, &word));
    if (word == NULL) { /* vLLM looks at what drafts; so does its name */
        const launch_setting *model = r->sheet.given[LAUNCH_DRAFT_MODEL];
        const char *name = model == NULL || model->value == NULL ? "" : model->value;
        const bool is_eagle =
            strstr(name, "eagle") != NULL || strstr(name, "EAGLE") != NULL;
        const bool is_medusa =
            strstr(name, "medusa") != NULL || strstr(name, "Medusa") != NULL;
        word = is_eagle ? "eagle" : is_medusa ? "medusa" : "draft_model";
    }
    const int found = launch_word_find(methods, RIDGE_COUNT_OF(methods), word);
    if (found < 0) {
        server_read_note(r, LAUNCH_DRAFT_METHOD,
                         "not known; priced without speculation");
        return RIDGE_OK;
    }
    d->kind = (ridge_draft_kind)found;
    return RIDGE_OK;
}

static bool has_speculation(const server_reader *r)
{
    return r->sheet.given[LAUNCH_DRAFT_JSON] != NULL ||
           launch_sheet_has(&r->sheet, LAUNCH_DRAFT_METHOD) ||
           launch_sheet_has(&r->sheet, LAUNCH_DRAFT_MODEL) ||
           launch_sheet_has(&r->sheet, LAUNCH_DRAFT_DEPTH);
}

static ridge_status read_speculation(server_reader *r)
{
    ridge_draft *d = &r->layout->draft;
    if (!has_speculation(r))
        return RIDGE_OK;
    if (!launch_sheet_has(&r->sheet, LAUNCH_DRAFT_DEPTH)) {
        return launch_sheet_fail(&r->sheet, RIDGE_E_PARSE, LAUNCH_DRAFT_JSON,
                                 "no JSON object with num_speculative_tokens");
    }
    RIDGE_TRY(read_method(r));
    if (d->kind == RIDGE_DRAFT_NONE)
        return RIDGE_OK;
    RIDGE_TRY(launch_sheet_i64(&r->sheet, LAUNCH_DRAFT_DEPTH, 1, RIDGE_DRAFT_DEPTH_MAX,
                               &d->depth));
    d->nodes = d->depth;
    return d->kind == RIDGE_DRAFT_MODEL ? server_read_draft_model(r) : RIDGE_OK;
}

static ridge_status read_role(server_reader *r)
{
    static const launch_word roles[] = {{"kv_producer", RIDGE_SERVICE_ROLE_PREFILL},
                                        {"kv_consumer", RIDGE_SERVICE_ROLE_DECODE},
                                        {"kv_both", RIDGE_SERVICE_ROLE_BOTH}};
    const char *word = NULL;
    if (r->sheet.given[LAUNCH_KV_JSON] != NULL &&
        !launch_sheet_has(&r->sheet, LAUNCH_KV_ROLE)) {
        return launch_sheet_fail(&r->sheet, RIDGE_E_PARSE, LAUNCH_KV_JSON,
                                 "no JSON object with kv_role");
    }
    if (!launch_sheet_has(&r->sheet, LAUNCH_KV_ROLE))
        return RIDGE_OK;
    RIDGE_TRY(launch_sheet_text(&r->sheet, LAUNCH_KV_ROLE, &word));
    const int found = launch_word_find(roles, RIDGE_COUNT_OF(roles), word);
    if (found < 0) {
        return launch_sheet_fail(
            &r->sheet, RIDGE_E_PARSE, LAUNCH_KV_ROLE,
            "'%.40s': expected kv_producer, kv_consumer or kv_both", word);
    }
    r->pool->role = (ridge_service_role)found;
    if (r->pool->role == RIDGE_SERVICE_ROLE_BOTH)
        server_read_note(r, LAUNCH_KV_ROLE,
                         "either role; priced as one that does both");
    return RIDGE_OK;
}

ridge_status server_vllm_read(server_reader *r)
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
    return read_role(r);
}
