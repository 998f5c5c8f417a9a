/* What a command says of the engine's scheduler. */
#include "server_read.h"

#include <string.h>

static const int64_t MOST = 1000000;

/* Iterations of decoding between which no prompt enters: vLLM's of version 0, where
 * prompts have iterations of their own, and SGLang's. */
static ridge_status read_planned(server_reader *r)
{
    int64_t steps = 1;
    RIDGE_TRY(launch_sheet_want(&r->sheet, LAUNCH_PLANNED, &steps));
    if (steps > 10000)
        return launch_sheet_fail(&r->sheet, RIDGE_E_PARSE, LAUNCH_PLANNED,
                                 "%lld iterations: expected up to 10000",
                                 (long long)steps);
    if (steps > 1 && r->engine->batching != RIDGE_BATCHING_PREFILL)
        server_read_note(r, LAUNCH_PLANNED,
                         "several iterations planned at once; this engine has prompts "
                         "beside decoding and plans one");
    else if (steps > 1)
        r->engine->planned_steps = steps;
    return RIDGE_OK;
}

/* 0, and -1 of some: no bound. */
static ridge_status read_prompts(server_reader *r)
{
    RIDGE_TRY(launch_sheet_want(&r->sheet, LAUNCH_CHUNK, &r->engine->chunk_tokens));
    return launch_sheet_want(&r->sheet, LAUNCH_PROMPTS_MOST, &r->engine->prompts);
}

/* A share of the longest output is kept free for each request; this is what it starts
 * with and what it falls to, times as much. @source sglang-source-2025 */
static ridge_status read_reserve(server_reader *r)
{
    double times = 1;
    if (!launch_sheet_has(&r->sheet, LAUNCH_RESERVE))
        return RIDGE_OK;
    RIDGE_TRY(launch_sheet_double(&r->sheet, LAUNCH_RESERVE, 0, 1e6, &times));
    const double share = r->engine->reserve_share * times;
    r->engine->reserve_share_least *= times;
    r->engine->reserve_share = share < 1 ? share : 1;
    if (r->engine->reserve_share_least > r->engine->reserve_share)
        r->engine->reserve_share_least = r->engine->reserve_share;
    return RIDGE_OK;
}

/* Ranks of attention that wait for each other's prompts.
 * @source tensorrt-llm-docs-2025, attention_dp_config */
static ridge_status read_balance(server_reader *r)
{
    enum { WAIT_USUAL = 50, GATHER_USUAL = 10 };
    bool is_on = false;
    int64_t wait = WAIT_USUAL;
    int64_t gather = GATHER_USUAL;
    RIDGE_TRY(launch_sheet_flag(&r->sheet, LAUNCH_BALANCE, &is_on));
    RIDGE_TRY(launch_sheet_want(&r->sheet, LAUNCH_BALANCE_WAIT, &wait));
    RIDGE_TRY(launch_sheet_want(&r->sheet, LAUNCH_GATHER_WAIT, &gather));
    if (is_on && wait <= MOST && gather <= MOST) {
        r->engine->balance_iterations = wait;
        r->engine->gather_iterations = gather;
    }
    return RIDGE_OK;
}

static ridge_status read_mixing(server_reader *r)
{
    bool is_mixed = false;
    RIDGE_TRY(launch_sheet_flag(&r->sheet, LAUNCH_MIXED, &is_mixed));
    if (is_mixed)
        r->engine->batching = RIDGE_BATCHING_MIXED;
    return RIDGE_OK;
}

static ridge_status read_capture(server_reader *r)
{
    const char *mode = NULL;
    if (r->sheet.given[LAUNCH_GRAPH_MODE] == NULL)
        return RIDGE_OK;
    RIDGE_TRY(launch_sheet_word(&r->sheet, LAUNCH_GRAPH_MODE, &mode));
    if (mode != NULL && (strcmp(mode, "NONE") == 0 || strcmp(mode, "0") == 0))
        r->engine->graph_sequences = 0;
    return RIDGE_OK;
}

ridge_status server_read_schedule(server_reader *r)
{
    RIDGE_TRY(read_mixing(r));
    RIDGE_TRY(read_planned(r));
    RIDGE_TRY(read_prompts(r));
    RIDGE_TRY(read_reserve(r));
    RIDGE_TRY(read_balance(r));
    return read_capture(r);
}
