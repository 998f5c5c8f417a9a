/* Knobs that the user fixes, from "key=value", and the formats that follow. */
#include "ridge/plan_service.h"
#include "ridge/plan_speculation.h"

#include <stddef.h>
#include <string.h>

enum { PLACEMENT_MOST = 5, DEGREE_MOST = 1 << 20, BUDGET_MOST = 1 << 24 };

ridge_service_knobs ridge_service_knobs_free(void)
{
    ridge_service_knobs k = {.mode = RIDGE_SERVICE_MODE_ANY,
                             .depth = RIDGE_SERVICE_FREE};
    for (int i = 0; i < RIDGE_SERVICE_ROLE_COUNT; i++) {
        k.pools[i].kv_cut = RIDGE_SERVICE_FREE;
        k.pools[i].is_gathered = RIDGE_SERVICE_FREE;
        k.pools[i].has_two_batches = RIDGE_SERVICE_FREE;
    }
    return k;
}

/* ---- values ---------------------------------------------------------------------- */

static ridge_status read_count(ridge_ctx *cx, const char *key, const char *value,
                               int64_t low, int64_t high, int64_t *out)
{
    int64_t v;
    if (!ridge_parse_i64(ridge_str_of(value), &v) || v < low || v > high) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s=%.40s: expected a whole number from %lld to %lld", key,
                          value, (long long)low, (long long)high);
    }
    *out = v;
    return RIDGE_OK;
}

static ridge_status read_cut(ridge_ctx *cx, const char *value, int *out)
{
#define CUT_NAME(name, text, what) text,
    static const char *const names[] = {RIDGE_KV_CUT_LIST(CUT_NAME)};
#undef CUT_NAME
    for (size_t i = 0; i < RIDGE_COUNT_OF(names); i++) {
        if (strcmp(value, names[i]) == 0) {
            *out = (int)i;
            return RIDGE_OK;
        }
    }
    return ridge_fail(cx, RIDGE_E_ARG, "kv_cut=%.40s: use heads, batch or sequence",
                      value);
}

static ridge_status read_mode(ridge_ctx *cx, const char *value, ridge_service_mode *out)
{
    for (int i = 0; i <= RIDGE_SERVICE_MODE_DISAGGREGATED; i++) {
        if (strcmp(value, ridge_service_mode_text((ridge_service_mode)i)) == 0) {
            *out = (ridge_service_mode)i;
            return RIDGE_OK;
        }
    }
    return ridge_fail(cx, RIDGE_E_ARG,
                      "mode=%.40s: use aggregated, disaggregated or any", value);
}

/* ---- keys ------------------------------------------------------------------------ */

typedef struct degree {
    const char *name;
    size_t offset; /* in ridge_service_pool_knobs */
} degree;

static const degree degrees[] = {
    {"tp", offsetof(ridge_service_pool_knobs, tp)},
    {"pp", offsetof(ridge_service_pool_knobs, pp)},
    {"ep", offsetof(ridge_service_pool_knobs, ep)},
    {"attention_dp", offsetof(ridge_service_pool_knobs, attention_dp)},
    {"tp_d", offsetof(ridge_service_pool_knobs, tp_d)},
    {"servers", offsetof(ridge_service_pool_knobs, servers)},
};

typedef struct format_word {
    const char *name;
    size_t offset; /* of a text in ridge_service_knobs */
} format_word;

static const format_word format_words[] = {
    {"weights", offsetof(ridge_service_knobs, weight_text)},
    {"experts", offsetof(ridge_service_knobs, expert_text)},
    {"compute", offsetof(ridge_service_knobs, compute_text)},
    {"cache", offsetof(ridge_service_knobs, cache_text)},
    {"activations", offsetof(ridge_service_knobs, activation_text)},
};

static const char *const names[] = {"tp",
                                    "pp",
                                    "ep",
                                    "attention_dp",
                                    "tp_d",
                                    "placement",
                                    "servers",
                                    "kv_cut",
                                    "mode",
                                    "gathered",
                                    "overlap",
                                    "redundant",
                                    "batch",
                                    "budget",
                                    "depth",
                                    "nodes",
                                    "weights",
                                    "experts",
                                    "compute",
                                    "cache",
                                    "activations",
                                    "prefill_tp",
                                    "decode_tp",
                                    "prefill_pp",
                                    "decode_pp",
                                    "prefill_ep",
                                    "decode_ep",
                                    "prefill_servers",
                                    "decode_servers",
                                    "prefill_kv_cut",
                                    "decode_kv_cut",
                                    "prefill_attention_dp",
                                    "decode_attention_dp",
                                    "prefill_gathered",
                                    "decode_gathered",
                                    "prefill_overlap",
                                    "decode_overlap",
                                    "prefill_redundant",
                                    "decode_redundant",
                                    "prefill_placement",
                                    "decode_placement",
                                    "prefill_tp_d",
                                    "decode_tp_d"};

/* "prefill.tp=4": the whole key, its part behind the pool's name, the value. */
typedef struct setting {
    const char *key, *name, *value;
} setting;

/* @return false: the key is not of a pool */
static bool set_pool(ridge_ctx *cx, ridge_service_pool_knobs *k, const setting *s,
                     ridge_status *st)
{
    const char *key = s->key, *name = s->name, *value = s->value;
    for (size_t i = 0; i < RIDGE_COUNT_OF(degrees); i++) {
        if (strcmp(name, degrees[i].name) != 0)
            continue;
        int64_t *field = (int64_t *)(void *)((char *)k + degrees[i].offset);
        *st = read_count(cx, key, value, 1, DEGREE_MOST, field);
        return true;
    }
    const bool is_redundant = strcmp(name, "redundant") == 0;
    if (is_redundant || strcmp(name, "placement") == 0) { /* kept plus one */
        int64_t *field = is_redundant ? &k->redundant : &k->placement;
        *st = read_count(cx, key, value, 0,
                         is_redundant ? RIDGE_EXPERT_SLOTS_MAX : PLACEMENT_MOST, field);
        *field += *st == RIDGE_OK;
        return true;
    }
    if (strcmp(name, "kv_cut") == 0) {
        *st = read_cut(cx, value, &k->kv_cut);
        return true;
    }
    int *const flag = strcmp(name, "gathered") == 0  ? &k->is_gathered
                      : strcmp(name, "overlap") == 0 ? &k->has_two_batches
                                                     : NULL;
    if (flag != NULL) {
        int64_t is_on = 0;
        *st = read_count(cx, key, value, 0, 1, &is_on);
        *flag = (int)is_on;
        return true;
    }
    return false;
}

static bool set_format(ridge_service_knobs *knobs, ridge_ctx *cx, const char *key,
                       const char *value, ridge_status *st)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(format_words); i++) {
        if (strcmp(key, format_words[i].name) != 0)
            continue;
        const char *copy = ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(value));
        *(const char **)(void *)((char *)knobs + format_words[i].offset) = copy;
        *st = copy == NULL ? ridge_fail_nomem(cx) : RIDGE_OK;
        return true;
    }
    return false;
}

static ridge_status fail_key(ridge_ctx *cx, const char *key)
{
    const char *why = ridge_serving_axis_fault(key);
    if (why != NULL)
        return ridge_fail(cx, RIDGE_E_ARG, "%s is no axis of generation: %s", key, why);
    const char *hint =
        ridge_suggestion(ridge_ctx_scratch(cx), key, names, RIDGE_COUNT_OF(names));
    return ridge_fail(
        cx, RIDGE_E_ARG, "unknown knob '%.40s': %s", key,
        hint != NULL && hint[0] != '\0'
            ? hint
            : "use tp, pp, ep, attention_dp, redundant, servers, kv_cut, "
              "gathered, mode, batch, budget, depth, nodes, weights, experts, compute, "
              "cache or activations");
}

/* Knobs of the service as a whole. */
static ridge_status set_whole(ridge_ctx *cx, ridge_service_knobs *knobs,
                              const char *key, const char *value)
{
    int64_t n = 0;
    ridge_status st = RIDGE_OK;
    if (strcmp(key, "mode") == 0)
        return read_mode(cx, value, &knobs->mode);
    if (strcmp(key, "batch") == 0) {
        RIDGE_TRY(read_count(cx, key, value, 1, DEGREE_MOST, &n));
        knobs->batch = (double)n;
        return RIDGE_OK;
    }
    if (strcmp(key, "budget") == 0)
        return read_count(cx, key, value, 1, BUDGET_MOST, &knobs->budget_tokens);
    if (strcmp(key, "depth") == 0)
        return read_count(cx, key, value, 0, RIDGE_DRAFT_DEPTH_MAX, &knobs->depth);
    if (strcmp(key, "nodes") == 0)
        return read_count(cx, key, value, 0, RIDGE_TREE_NODES_MAX, &knobs->draft.nodes);
    return set_format(knobs, cx, key, value, &st) ? st : fail_key(cx, key);
}

ridge_status ridge_service_knobs_set(ridge_ctx *cx, ridge_service_knobs *knobs,
                                     const char *key, const char *value)
{
    static const char *const prefixes[] = {"", "prefill_", "decode_"};
    ridge_status st = RIDGE_OK;
    for (int role = 1; role < RIDGE_SERVICE_ROLE_COUNT; role++) {
        const size_t n = strlen(prefixes[role]);
        if (strncmp(key, prefixes[role], n) == 0 &&
            set_pool(cx, &knobs->pools[role], &(setting){key, key + n, value}, &st))
            return st;
    }
    if (!set_pool(cx, &knobs->pools[0], &(setting){key, key, value}, &st))
        return set_whole(cx, knobs, key, value);
    for (int role = 1; st == RIDGE_OK && role < RIDGE_SERVICE_ROLE_COUNT; role++) {
        if (strcmp(key, "servers") != 0)
            set_pool(cx, &knobs->pools[role], &(setting){key, key, value}, &st);
    }
    return st;
}
