/*
 * One file of data/engines.
 *
 * Members: name, full_name, version (of the rules); base (optional: another engine,
 * whose members hold unless given again; aliases are not inherited, limits are replaced
 * whole); aliases; vendors (whose chips it runs on) and range_vendors (on whose chips
 * ttft_low and its like were measured): arrays of names; the choices batching (mixed,
 * prefill, static), preemption (recompute, swap, reserve), victim (latest, shortest),
 * memory (all, static, free); the flags is_chunked, has_prefix_cache, keeps_order,
 * pads_prompts, is_slotted, is_hybrid, cuts_sequences, cuts_tokens, gathers_weights,
 * lacks_stages, lacks_pools, lacks_attention_dp, deals_over_all, is_host_hidden,
 * splits_layers, overlaps_shared, ignores_windows, keeps_chunks, captures_decoding,
 * sums_in_fp16, decodes_first, hosts_embedding; facts of the other fields of
 * ridge_engine under their names; limits (an array of {chips, below_bytes,
 * budget_tokens, sequences}); cache_line; rules {source, date, note}: where the choices
 * and flags are written. An unknown member is an error.
 */
#include "engine_read.h"

#include <string.h>

#include "fact_read.h"

/* clang-format off */
static const char *const members[] = {
    "name", "full_name", "version", "aliases", "base", "rules", "batching",
    "preemption", "victim", "memory", "limits", "cache_line", "is_chunked",
    "has_prefix_cache", "keeps_order", "pads_prompts", "is_slotted", "is_host_hidden",
    "prompts", "block_tokens", "budget_tokens", "chunk_tokens", "sequences",
    "watermark", "reserve_share", "reserve_share_least", "reserve_steps",
    "reserve_tokens", "memory_share", "reserve_bytes", "host_s", "host_sequence_s",
    "draft_s", "draft_pass_s", "draft_token_s",
    "request_s", "graph_sequences", "launch_s", "is_hybrid", "retract_steps",
    "cuts_sequences", "cuts_tokens", "gathers_weights", "group_bytes", "lacks_stages",
    "lacks_pools", "lacks_attention_dp",
    "deals_over_all", "layer_s", "peer_layer_s", "experts_share", "experts_share_fp8",
    "experts_share_fp4", "experts_fp8_s", "handoff_s", "matmul_share", "cycle_bytes",
    "stream_bytes", "score_bytes", "splits_layers", "unpack_cycle_weights",
    "overlaps_shared", "reads_modelopt_cache", "reads_cache_scheme", "splits_batches", "replicates_experts", "shared_rows",
    "split_rows", "ttft_low", "ttft_high", "tpot_low",
    "tpot_high", "range_rows", "vendors", "range_vendors", "balance_iterations",
    "gather_iterations", "stage_host_s", "stage_sequence_s", "ignores_windows",
    "captures_decoding", "experts_share_narrow", "experts_narrow_s",
    "experts_narrow_launch_s", "sums_in_fp16", "decodes_first",
    "hosts_embedding", "planned_steps", "keeps_chunks", "waiting_share",
    "waiting_steps", "state_ratio", "state_slots"};
/* clang-format on */

static const struct {
    fact_spec spec;
    size_t offset;
} numbers[] = {
    {{"watermark", 0, 0.5}, offsetof(ridge_engine, watermark)},
    {{"reserve_share", 0, 1}, offsetof(ridge_engine, reserve_share)},
    {{"reserve_share_least", 0, 1}, offsetof(ridge_engine, reserve_share_least)},
    {{"reserve_steps", 1, 1e6}, offsetof(ridge_engine, reserve_steps)},
    {{"reserve_tokens", 1, 1e9}, offsetof(ridge_engine, reserve_tokens)},
    {{"memory_share", 0.05, 1}, offsetof(ridge_engine, memory_share)},
    {{"reserve_bytes", 0, 1e11}, offsetof(ridge_engine, reserve_bytes)},
    {{"group_bytes", 0, 1e11}, offsetof(ridge_engine, group_bytes)},
    {{"host_s", 0, 1}, offsetof(ridge_engine, host_s)},
    {{"host_sequence_s", 0, 1e-2}, offsetof(ridge_engine, host_sequence_s)},
    {{"stage_host_s", 0, 1}, offsetof(ridge_engine, stage_host_s)},
    {{"stage_sequence_s", 0, 1e-2}, offsetof(ridge_engine, stage_sequence_s)},
    {{"draft_s", 0, 1}, offsetof(ridge_engine, draft_s)},
    {{"draft_pass_s", 0, 1e-1}, offsetof(ridge_engine, draft_pass_s)},
    {{"draft_token_s", 0, 1e-2}, offsetof(ridge_engine, draft_token_s)},
    {{"request_s", 0, 10}, offsetof(ridge_engine, request_s)},
    {{"experts_share", 0.05, 1}, offsetof(ridge_engine, experts_share)},
    {{"peer_layer_s", 0, 1e-2}, offsetof(ridge_engine, peer_layer_s)},
    {{"experts_share_fp8", 0.05, 1}, offsetof(ridge_engine, experts_share_fp8)},
    {{"experts_share_fp4", 0.05, 1}, offsetof(ridge_engine, experts_share_fp4)},
    {{"experts_fp8_s", 0, 1e-2}, offsetof(ridge_engine, experts_fp8_s)},
    {{"experts_share_narrow", 0.05, 1}, offsetof(ridge_engine, experts_share_narrow)},
    {{"experts_narrow_s", 0, 1e-2}, offsetof(ridge_engine, experts_narrow_s)},
    {{"experts_narrow_launch_s", 0, 1},
     offsetof(ridge_engine, experts_narrow_launch_s)},
    {{"handoff_s", 0, 10}, offsetof(ridge_engine, handoff_s)},
    {{"matmul_share", 0.05, 1}, offsetof(ridge_engine, matmul_share)},
    {{"cycle_bytes", 0, 1e4}, offsetof(ridge_engine, cycle_bytes)},
    {{"unpack_cycle_weights", 0, 1e4}, offsetof(ridge_engine, unpack_cycle_weights)},
    {{"stream_bytes", 0, 1e4}, offsetof(ridge_engine, stream_bytes)},
    {{"score_bytes", 0, 1e4}, offsetof(ridge_engine, score_bytes)},
    {{"shared_rows", 0, 1e6}, offsetof(ridge_engine, shared_rows)},
    {{"split_rows", 0, 1e6}, offsetof(ridge_engine, split_rows)},
    {{"layer_s", 0, 1e-2}, offsetof(ridge_engine, layer_s)},
    {{"graph_sequences", 0, 1e6}, offsetof(ridge_engine, graph_sequences)},
    {{"launch_s", 0, 1e-3}, offsetof(ridge_engine, launch_s)},
    {{"waiting_share", 0, 100}, offsetof(ridge_engine, waiting_share)},
    {{"state_ratio", 0, 100}, offsetof(ridge_engine, state_ratio)},
    {{"ttft_low", 0.05, 20}, offsetof(ridge_engine, ttft_low)},
    {{"ttft_high", 0.05, 20}, offsetof(ridge_engine, ttft_high)},
    {{"tpot_low", 0.05, 20}, offsetof(ridge_engine, tpot_low)},
    {{"tpot_high", 0.05, 20}, offsetof(ridge_engine, tpot_high)},
};

static const struct {
    fact_spec spec;
    size_t offset;
} counts[] = {
    {{"planned_steps", 0, 1e4}, offsetof(ridge_engine, planned_steps)},
    {{"waiting_steps", 0, 1e6}, offsetof(ridge_engine, waiting_steps)},
    {{"state_slots", 1, 100}, offsetof(ridge_engine, state_slots)},
    {{"prompts", 0, 1e6}, offsetof(ridge_engine, prompts)},
    {{"block_tokens", 1, 1e6}, offsetof(ridge_engine, block_tokens)},
    {{"budget_tokens", 1, 1e9}, offsetof(ridge_engine, budget_tokens)},
    {{"chunk_tokens", 0, 1e9}, offsetof(ridge_engine, chunk_tokens)},
    {{"sequences", 1, 1e6}, offsetof(ridge_engine, sequences)},
    {{"retract_steps", 0, 1e6}, offsetof(ridge_engine, retract_steps)},
    {{"balance_iterations", 0, 1e6}, offsetof(ridge_engine, balance_iterations)},
    {{"gather_iterations", 0, 1e6}, offsetof(ridge_engine, gather_iterations)},
    {{"range_rows", 0, 1e6}, offsetof(ridge_engine, range_rows)},
};

static const struct {
    const char *key;
    size_t offset;
} flags[] = {
    {"is_chunked", offsetof(ridge_engine, is_chunked)},
    {"has_prefix_cache", offsetof(ridge_engine, has_prefix_cache)},
    {"keeps_order", offsetof(ridge_engine, keeps_order)},
    {"pads_prompts", offsetof(ridge_engine, pads_prompts)},
    {"is_slotted", offsetof(ridge_engine, is_slotted)},
    {"is_hybrid", offsetof(ridge_engine, is_hybrid)},
    {"cuts_sequences", offsetof(ridge_engine, cuts_sequences)},
    {"cuts_tokens", offsetof(ridge_engine, cuts_tokens)},
    {"gathers_weights", offsetof(ridge_engine, gathers_weights)},
    {"lacks_stages", offsetof(ridge_engine, lacks_stages)},
    {"lacks_pools", offsetof(ridge_engine, lacks_pools)},
    {"lacks_attention_dp", offsetof(ridge_engine, lacks_attention_dp)},
    {"deals_over_all", offsetof(ridge_engine, deals_over_all)},
    {"splits_batches", offsetof(ridge_engine, splits_batches)},
    {"replicates_experts", offsetof(ridge_engine, replicates_experts)},
    {"is_host_hidden", offsetof(ridge_engine, is_host_hidden)},
    {"splits_layers", offsetof(ridge_engine, splits_layers)},
    {"ignores_windows", offsetof(ridge_engine, ignores_windows)},
    {"keeps_chunks", offsetof(ridge_engine, keeps_chunks)},
    {"captures_decoding", offsetof(ridge_engine, captures_decoding)},
    {"decodes_first", offsetof(ridge_engine, decodes_first)},
    {"hosts_embedding", offsetof(ridge_engine, hosts_embedding)},
    {"sums_in_fp16", offsetof(ridge_engine, sums_in_fp16)},
    {"overlaps_shared", offsetof(ridge_engine, overlaps_shared)},
    {"reads_modelopt_cache", offsetof(ridge_engine, reads_modelopt_cache)},
    {"reads_cache_scheme", offsetof(ridge_engine, reads_cache_scheme)},
};

static const char *const batching_texts[] = {"mixed", "prefill", "static"};
static const char *const preemption_texts[] = {"recompute", "swap", "reserve"};
static const char *const victim_texts[] = {"latest", "shortest"};
static const char *const memory_texts[] = {"all", "static", "free"};

enum {
    FACT_ROOM =
        RIDGE_COUNT_OF(numbers) + RIDGE_COUNT_OF(counts) + 2 * RIDGE_ENGINE_LIMITS_MAX
};

const char *ridge_engine_batching_text(ridge_engine_batching batching)
{
    return batching_texts[batching];
}

const char *ridge_engine_preemption_text(ridge_engine_preemption preemption)
{
    return preemption_texts[preemption];
}

const char *ridge_engine_victim_text(ridge_engine_victim victim)
{
    return victim_texts[victim];
}

const char *ridge_engine_memory_text(ridge_engine_memory memory)
{
    return memory_texts[memory];
}

static ridge_status read_choice(ridge_ctx *cx, const ridge_node *root, const char *key,
                                const char *const *texts, size_t n, size_t *out)
{
    const ridge_node node = ridge_json_get(root, key);
    return ridge_json_is_absent(node) ? RIDGE_OK
                                      : ridge__choice_read(cx, node, texts, n, out);
}

#define READ_CHOICE(key, texts, type)                                                  \
    do {                                                                               \
        size_t at = (size_t)e->key;                                                    \
        RIDGE_TRY(read_choice(cx, root, #key, texts, RIDGE_COUNT_OF(texts), &at));     \
        e->key = (type)at;                                                             \
    } while (0)

static ridge_status read_choices(ridge_ctx *cx, const ridge_node *root, ridge_engine *e)
{
    READ_CHOICE(batching, batching_texts, ridge_engine_batching);
    READ_CHOICE(preemption, preemption_texts, ridge_engine_preemption);
    READ_CHOICE(victim, victim_texts, ridge_engine_victim);
    READ_CHOICE(memory, memory_texts, ridge_engine_memory);
    for (size_t i = 0; i < RIDGE_COUNT_OF(flags); i++) {
        bool *field = (bool *)(void *)((char *)e + flags[i].offset);
        const ridge_node node = ridge_json_get(root, flags[i].key);
        if (!ridge_json_is_absent(node) && !ridge_json_bool(node, field))
            return ridge_json_fail(cx, node, "expected true or false");
    }
    return RIDGE_OK;
}

static ridge_status read_rules(ridge_ctx *cx, const ridge_node *root, bool has_base)
{
    static const char *const known[] = {"source", "date", "note"};
    const char *source, *date;
    const ridge_node node = ridge_json_get(root, "rules");
    if (ridge_json_is_absent(node)) {
        return has_base ? RIDGE_OK
                        : ridge_json_fail(cx, *root,
                                          "no \"rules\": say where the engine's "
                                          "rules are written");
    }
    RIDGE_TRY(ridge_json_only(cx, node, known, RIDGE_COUNT_OF(known)));
    return ridge__source_read(cx, &node, &source, &date);
}

static ridge_status read_numbers(ridge_ctx *cx, const ridge_node *root,
                                 fact_list *facts, ridge_engine *e)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(numbers); i++) {
        const ridge_node node = ridge_json_get(root, numbers[i].spec.key);
        double *field = (double *)(void *)((char *)e + numbers[i].offset);
        if (!ridge_json_is_absent(node))
            RIDGE_TRY(ridge__fact_read(cx, node, &numbers[i].spec, facts, field));
    }
    for (size_t i = 0; i < RIDGE_COUNT_OF(counts); i++) {
        const ridge_node node = ridge_json_get(root, counts[i].spec.key);
        int64_t *field = (int64_t *)(void *)((char *)e + counts[i].offset);
        if (!ridge_json_is_absent(node))
            RIDGE_TRY(ridge__count_read(cx, node, &counts[i].spec, facts, field));
    }
    return RIDGE_OK;
}

static ridge_status read_limit_count(ridge_ctx *cx, const ridge_node *node, size_t at,
                                     const char *key, fact_list *facts, int64_t *out)
{
    const ridge_node value = ridge_json_get(node, key);
    if (ridge_json_is_absent(value))
        return RIDGE_OK;
    const char *name = ridge_sprintf(ridge_ctx_arena(cx), "limits.%d.%s", (int)at, key);
    if (name == NULL)
        return ridge_fail_nomem(cx);
    const fact_spec spec = {name, 1, 1e9};
    return ridge__count_read(cx, value, &spec, facts, out);
}

static ridge_status read_limit(ridge_ctx *cx, ridge_node node, size_t at,
                               fact_list *facts, ridge_engine *e)
{
    static const char *const known[] = {"chips", "below_bytes", "budget_tokens",
                                        "sequences"};
    ridge_engine_limit *limit = &e->limits[at];
    *limit = (ridge_engine_limit){.budget_tokens = e->budget_tokens,
                                  .sequences = e->sequences};
    RIDGE_TRY(ridge_json_only(cx, node, known, RIDGE_COUNT_OF(known)));
    RIDGE_TRY(ridge__aliases_read(cx, ridge_json_get(&node, "chips"), &limit->chips));
    const ridge_node below = ridge_json_get(&node, "below_bytes");
    if (!ridge_json_is_absent(below))
        RIDGE_TRY(ridge_json_want_double(cx, below, 1, 1e15, &limit->below_bytes));
    RIDGE_TRY(
        read_limit_count(cx, &node, at, "budget_tokens", facts, &limit->budget_tokens));
    return read_limit_count(cx, &node, at, "sequences", facts, &limit->sequences);
}

static ridge_status read_limits(ridge_ctx *cx, const ridge_node *root, fact_list *facts,
                                ridge_engine *e)
{
    const ridge_node node = ridge_json_get(root, "limits");
    if (ridge_json_is_absent(node))
        return RIDGE_OK;
    const size_t n = ridge_json_size(node);
    if (ridge_json_kind_of(node) != RIDGE_JSON_ARRAY || n > RIDGE_ENGINE_LIMITS_MAX)
        return ridge_json_fail(cx, node, "an array of at most %d limits is wanted",
                               RIDGE_ENGINE_LIMITS_MAX);
    ridge__facts_drop(facts, "limits");
    e->n_limits = 0;
    for (size_t i = 0; i < n; i++) {
        RIDGE_TRY(read_limit(cx, ridge_json_at(&node, i), i, facts, e));
        e->n_limits++;
    }
    return RIDGE_OK;
}

static ridge_status check_whole(ridge_ctx *cx, const ridge_node *root,
                                const ridge_engine *e)
{
    static const struct {
        const char *key;
        size_t offset;
    } wanted[] = {{"block_tokens", offsetof(ridge_engine, block_tokens)},
                  {"budget_tokens", offsetof(ridge_engine, budget_tokens)},
                  {"sequences", offsetof(ridge_engine, sequences)}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(wanted); i++) {
        const int64_t *field =
            (const int64_t *)(const void *)((const char *)e + wanted[i].offset);
        if (*field == 0)
            return ridge_json_fail(cx, *root, "no \"%s\"", wanted[i].key);
    }
    if (e->memory_share == 0)
        return ridge_json_fail(cx, *root, "no \"memory_share\"");
    if (e->reserve_share < e->reserve_share_least ||
        (e->reserve_share > 0 && (e->reserve_steps == 0 || e->reserve_tokens == 0)))
        return ridge_json_fail(cx, *root,
                               "reserve_share needs reserve_share_least, no larger, "
                               "reserve_steps and reserve_tokens");
    if (e->range_rows > 0 && (e->ttft_low == 0 || e->ttft_high < e->ttft_low ||
                              e->tpot_low == 0 || e->tpot_high < e->tpot_low))
        return ridge_json_fail(cx, *root,
                               "range_rows needs ttft_low, tpot_low and a ttft_high, "
                               "tpot_high no smaller");
    return RIDGE_OK;
}

/* A list that is not there stays the base's. */
static ridge_status read_names(ridge_ctx *cx, const ridge_node *root, const char *key,
                               const char *const **out)
{
    const ridge_node node = ridge_json_get(root, key);
    return ridge_json_is_absent(node) ? RIDGE_OK : ridge__aliases_read(cx, node, out);
}

static ridge_status read_texts(ridge_ctx *cx, const ridge_node *root, ridge_engine *e)
{
    RIDGE_TRY(ridge__name_read(cx, ridge_json_get(root, "name"), &e->name));
    RIDGE_TRY(ridge__text_read(cx, root, "full_name", NULL, &e->full_name));
    RIDGE_TRY(ridge__text_read(cx, root, "version", e->version, &e->version));
    RIDGE_TRY(ridge__aliases_read(cx, ridge_json_get(root, "aliases"), &e->aliases));
    RIDGE_TRY(read_names(cx, root, "vendors", &e->vendors));
    RIDGE_TRY(read_names(cx, root, "range_vendors", &e->range_vendors));
    return ridge__text_read(cx, root, "cache_line",
                            e->cache_line ? e->cache_line : "{blocks} blocks",
                            &e->cache_line);
}

ridge_status ridge__engine_read(ridge_ctx *cx, ridge_node root,
                                const ridge_engine *base, ridge_engine **out)
{
    fact_list facts;
    ridge_engine *e = ridge_new(ridge_ctx_arena(cx), ridge_engine, 1);
    if (e == NULL)
        return ridge_fail_nomem(cx);
    if (base != NULL)
        *e = *base;
    e->base = base != NULL ? base->name : NULL;
    if (ridge_json_kind_of(root) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, root, "an engine is an object");
    RIDGE_TRY(ridge_json_only(cx, root, members, RIDGE_COUNT_OF(members)));
    RIDGE_TRY(ridge__facts_open(cx, e->facts, e->n_facts, FACT_ROOM, &facts));
    RIDGE_TRY(read_texts(cx, &root, e));
    RIDGE_TRY(read_rules(cx, &root, base != NULL));
    RIDGE_TRY(read_choices(cx, &root, e));
    RIDGE_TRY(read_numbers(cx, &root, &facts, e));
    RIDGE_TRY(read_limits(cx, &root, &facts, e));
    RIDGE_TRY(check_whole(cx, &root, e));
    e->facts = facts.items;
    e->n_facts = facts.n;
    *out = e;
    return RIDGE_OK;
}
