/*
 * Rows of JSON Lines of published serving: id, source {title}, model {name, hf_id,
 * weights_file_gb or _gib}, hardware {chip, n_chips, chips_per_node, interconnect},
 * config {framework, mode, tp, pp, ep, dp, moe_tp, batch, concurrency,
 * request_rate_per_s, burst, num_prompts, input_len, output_len, length_range_ratio
 * (lengths are uniform from this share of the stated ones), output_len_cap, cached_len,
 * dtype, moe_dtype, kv_dtype, max_batched_tokens, scheduler_steps, prefill {workers,
 * tp,
 * ...}, decode {...}}, measured {ttft_ms, tpot_ms, output_tokens_per_s, ...}, note.
 * null: the source is silent.
 */
#include "served_run.h"

#include <string.h>

bool served_json_is_row(const ridge_node *row)
{
    const ridge_node config = ridge_json_get(row, "config");
    const char *mode;
    return ridge_json_is_absent(ridge_json_get(&config, "op")) &&
           ridge_json_text(ridge_json_get(&config, "mode"), &mode);
}

/* ---- members ----------------------------------------------------------------------
 */

static double number_of(const ridge_node *object, const char *key)
{
    double v;
    const bool is_number = ridge_json_double(ridge_json_get(object, key), &v);
    return is_number && v > 0 && v < 1e15 ? v : 0;
}

static int64_t count_of(const ridge_node *object, const char *key)
{
    int64_t v;
    const bool is_count = ridge_json_i64(ridge_json_get(object, key), &v);
    return is_count && v > 0 && v < 1 << 24 ? v : 0;
}

static const char *text_of(const ridge_node *object, const char *key)
{
    const char *text;
    return ridge_json_text(ridge_json_get(object, key), &text) ? text : "";
}

static bool is_true(const ridge_node *object, const char *key)
{
    bool v;
    return ridge_json_bool(ridge_json_get(object, key), &v) && v;
}

static bool has(const char *text, const char *words)
{
    return strstr(text, words) != NULL;
}

/* ---- the mode ---------------------------------------------------------------------
 */

typedef struct mode_words {
    const char *words; /* in the row's mode */
    served_mode mode;
} mode_words;

/* The first that is found counts. */
static const mode_words modes[] = {
    {"fit in memory", SERVED_FIT},
    {"largest batch", SERVED_OTHER},
    {"MLPerf server", SERVED_OPEN},
    {"MLPerf", SERVED_QUEUE}, /* offline */
    {"production", SERVED_OTHER},
    {"prefill workers only", SERVED_OTHER},
    {"decode workers only", SERVED_OTHER},
    {"closed loop", SERVED_CLOSED},
    {"min latency", SERVED_CLOSED},
    {"open loop", SERVED_OPEN},
    {"Poisson", SERVED_OPEN},
    {"static batch", SERVED_BATCH},
    {"fixed batch", SERVED_BATCH},
    {"single request", SERVED_BATCH},
    {"chat turn", SERVED_BATCH},
    {"offline", SERVED_QUEUE},
    {"at once", SERVED_QUEUE},
    {"decode", SERVED_DECODE},
    {"prefill", SERVED_PREFILL},
};

/* By its words; where they say nothing that is known ("online", "benchmark_serving"),
 * by the load that the row states. */
static served_mode mode_of(const char *text, const ridge_node *config)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(modes); i++) {
        if (has(text, modes[i].words))
            return modes[i].mode;
    }
    return number_of(config, "request_rate_per_s") > 0 ? SERVED_OPEN
           : number_of(config, "concurrency") > 0      ? SERVED_CLOSED
           : number_of(config, "batch") > 0            ? SERVED_BATCH
                                                       : SERVED_OTHER;
}

/* "min latency, MTP 3" */
static int64_t drafted_of(const char *mode)
{
    const char *at = strstr(mode, "MTP ");
    int64_t n;
    if (at == NULL)
        return 0;
    ridge_str rest = ridge_str_of(at + strlen("MTP "));
    return ridge_parse_i64(ridge_str_cut(&rest, ' '), &n) && n > 0 && n < 32 ? n : 0;
}

/* ---- layout -----------------------------------------------------------------------
 */

static served_pool pool_of(const ridge_node *o)
{
    return (served_pool){
        .workers = count_of(o, "workers"),
        .tp = count_of(o, "tp"),
        .pp = count_of(o, "pp"),
        .attention_dp = count_of(o, "dp"),
        .moe_tp = count_of(o, "moe_tp"),
        .ep = count_of(o, "ep"),
        .batch = count_of(o, "batch"),
    };
}

static void fill_layout(const ridge_node *config, served_run *out)
{
    const ridge_node prefill = ridge_json_get(config, "prefill");
    const ridge_node decode = ridge_json_get(config, "decode");
    out->is_split = ridge_json_kind_of(prefill) == RIDGE_JSON_OBJECT &&
                    ridge_json_kind_of(decode) == RIDGE_JSON_OBJECT;
    if (out->is_split) {
        out->pools[0] = pool_of(&prefill);
        out->pools[1] = pool_of(&decode);
        return;
    }
    out->pools[0] = pool_of(config);
    out->pools[0].workers = 1;
    out->is_unsquared = served_pool_unsquare(&out->pools[0]);
    if (out->is_unsquared)
        out->chips = out->pools[0].ep;
}

/* ---- what was measured ------------------------------------------------------------
 */

/* The first of some members that is there, times its unit. */
typedef struct unit_name {
    const char *key;
    double unit;
} unit_name;

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double first_of(const ridge_node *measured, const unit_name *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double v = number_of(measured, names[i].key);
        if (v > 0)
            return v * names[i].unit;
    }
    return 0;
}

static double rate_of(const ridge_node *measured, const served_run *run)
{
    const double chips = (double)run->chips;
    const unit_name generated[] = {
        {"output_tokens_per_s", 1},
        {"decode_tokens_per_s", 1},
        {"output_tokens_per_s_per_chip", chips},
        {"total_tokens_per_s",
         run->output_tokens / (run->input_tokens + run->output_tokens)},
        {"output_tokens_per_s_per_user", run->concurrency},
    };
    const unit_name read[] = {{"prefill_tokens_per_s", 1},
                              {"input_tokens_per_s", 1},
                              {"input_tokens_per_s_per_chip", chips}};
    const double rate = run->mode == SERVED_PREFILL
                            ? first_of(measured, read, RIDGE_COUNT_OF(read))
                            : first_of(measured, generated, RIDGE_COUNT_OF(generated));
    return rate < 1e15 ? rate : 0;
}

/* Requests answered a second: as stated, or by the tokens of all of them. */
static double requests_rate_of(const ridge_node *m, const served_run *run)
{
    const unit_name tokens[] = {{"output_tokens_per_s", 1},
                                {"output_tokens_per_s_per_chip", (double)run->chips}};
    const double stated = number_of(m, "requests_per_s");
    if (stated > 0 || run->output_tokens <= 0)
        return stated;
    return first_of(m, tokens, RIDGE_COUNT_OF(tokens)) / run->output_tokens;
}

/* Benches of static batches time prompts and generation apart. */
static void fill_batch(const ridge_node *m, served_run *out)
{
    const double read = number_of(m, "prefill_tokens_per_s");
    double *first_s = &out->measured[RIDGE_SERVING_METRIC_TTFT];
    if (out->mode != SERVED_BATCH)
        return;
    out->is_decode_rate = number_of(m, "output_tokens_per_s") <= 0 &&
                          number_of(m, "decode_tokens_per_s") > 0;
    if (*first_s <= 0 && read > 0)
        *first_s = larger(out->requests, 1) * out->input_tokens / read;
}

/* Of all that was done, where the row says how much that was. */
static void fill_elapsed(double elapsed_s, served_run *out)
{
    const double requests = larger(out->requests, 1);
    double *v = out->measured;
    if (elapsed_s <= 0)
        return;
    switch (out->mode) {
    case SERVED_BATCH:
        v[RIDGE_SERVING_METRIC_LATENCY] = elapsed_s;
        break;
    case SERVED_PREFILL:
        v[RIDGE_SERVING_METRIC_TTFT] = elapsed_s;
        break;
    case SERVED_DECODE:
    case SERVED_QUEUE:
        v[RIDGE_SERVING_METRIC_THROUGHPUT] = requests * out->output_tokens / elapsed_s;
        break;
    case SERVED_CLOSED:
    case SERVED_OPEN:
    case SERVED_FIT:
    case SERVED_OTHER:
        break;
    }
}

static void fill_measured(const ridge_node *m, served_run *out)
{
    static const unit_name ttft[] = {{"ttft_ms", 1e-3}, {"ttft_ms_mean", 1e-3}};
    static const unit_name tpot[] = {
        {"tpot_ms", 1e-3}, {"tpot_ms_mean", 1e-3}, {"itl_ms_mean", 1e-3}};
    static const unit_name ttft_p50[] = {{"ttft_ms_median", 1e-3},
                                         {"ttft_ms_p50", 1e-3}};
    static const unit_name tpot_p50[] = {{"tpot_ms_median", 1e-3},
                                         {"tpot_ms_p50", 1e-3}};
    static const unit_name latency[] = {{"request_latency_ms_mean", 1e-3},
                                        {"request_latency_s_mean", 1}};
    static const unit_name elapsed[] = {{"elapsed_s", 1}};
    double *v = out->measured;
    v[RIDGE_SERVING_METRIC_TTFT] = first_of(m, ttft, RIDGE_COUNT_OF(ttft));
    v[RIDGE_SERVING_METRIC_TPOT] = first_of(m, tpot, RIDGE_COUNT_OF(tpot));
    v[RIDGE_SERVING_METRIC_LATENCY] = first_of(m, latency, RIDGE_COUNT_OF(latency));
    v[RIDGE_SERVING_METRIC_TTFT_P50] = first_of(m, ttft_p50, RIDGE_COUNT_OF(ttft_p50));
    v[RIDGE_SERVING_METRIC_TPOT_P50] = first_of(m, tpot_p50, RIDGE_COUNT_OF(tpot_p50));
    v[RIDGE_SERVING_METRIC_THROUGHPUT] = rate_of(m, out);
    out->measured_requests_per_s = requests_rate_of(m, out);
    out->measured_gap_s = number_of(m, "itl_ms_mean") * 1e-3;
    fill_batch(m, out);
    if (v[RIDGE_SERVING_METRIC_THROUGHPUT] <= 0 && v[RIDGE_SERVING_METRIC_LATENCY] <= 0)
        fill_elapsed(first_of(m, elapsed, 1), out);
}

/* ---- the row ----------------------------------------------------------------------
 */

/* A ratio of 0 is stated too: from one token on. */
static void fill_lengths(const ridge_node *config, served_run *out)
{
    double share;
    out->input_tokens = number_of(config, "input_len");
    out->output_tokens = number_of(config, "output_len");
    out->cached_tokens = number_of(config, "cached_len");
    out->output_cap = number_of(config, "output_len_cap");
    out->is_ranged =
        ridge_json_double(ridge_json_get(config, "length_range_ratio"), &share) &&
        share >= 0 && share <= 1;
    out->shortest_share = out->is_ranged ? share : 0;
}

static void fill_load(const ridge_node *config, served_run *out)
{
    out->mode_words = text_of(config, "mode");
    out->mode = mode_of(out->mode_words, config);
    out->drafted = drafted_of(out->mode_words);
    out->concurrency = larger(number_of(config, "concurrency"), 0);
    out->requests = number_of(config, "batch");
    if (out->concurrency <= 0)
        out->concurrency = out->requests;
    if (out->requests <= 0)
        out->requests = out->concurrency;
    out->request_rate = number_of(config, "request_rate_per_s");
    fill_lengths(config, out);
    out->sent = number_of(config, "num_prompts");
    out->budget_tokens = number_of(config, "max_batched_tokens");
    out->planned_steps = count_of(config, "scheduler_steps");
    if (out->mode == SERVED_OPEN && is_true(config, "burst"))
        out->mode = SERVED_QUEUE;
}

static const char *model_of(const ridge_node *model)
{
    const char *id = text_of(model, "hf_id");
    return id[0] != '\0' ? id : text_of(model, "name");
}

static ridge_status want_objects(ridge_ctx *cx, const ridge_node *root)
{
    static const char *const names[] = {"model", "hardware", "config", "measured"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(names); i++) {
        const ridge_node n = ridge_json_get(root, names[i]);
        if (ridge_json_kind_of(n) != RIDGE_JSON_OBJECT)
            return ridge_json_fail(cx, n, "an object is wanted");
    }
    return RIDGE_OK;
}

static void fill(const ridge_node *root, served_run *out)
{
    const ridge_node model = ridge_json_get(root, "model");
    const ridge_node hardware = ridge_json_get(root, "hardware");
    const ridge_node config = ridge_json_get(root, "config");
    const ridge_node measured = ridge_json_get(root, "measured");
    out->model = model_of(&model);
    out->weight_bytes = larger(number_of(&model, "weights_file_gb") * 1e9,
                               number_of(&model, "weights_file_gib") * RIDGE_GIB);
    out->chip = text_of(&hardware, "chip");
    out->chips = count_of(&hardware, "n_chips");
    out->chips_per_node = count_of(&hardware, "chips_per_node");
    out->interconnect = text_of(&hardware, "interconnect");
    out->framework = text_of(&config, "framework");
    out->dtype = text_of(&config, "dtype");
    out->expert_dtype = text_of(&config, "moe_dtype");
    out->cache_dtype = text_of(&config, "kv_dtype");
    out->note = text_of(root, "note");
    served_name_complete(out);
    fill_load(&config, out);
    fill_layout(&config, out);
    fill_measured(&measured, out);
    out->fits = is_true(&measured, "fits_in_memory");
}

ridge_status served_run_of_json(ridge_ctx *cx, ridge_str line, const char *where,
                                served_run *out)
{
    ridge_node root;
    *out = (served_run){0};
    RIDGE_TRY(ridge_json_parse(cx, line, where, &root));
    if (ridge_json_kind_of(root) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, root, "expected an object a line");
    RIDGE_TRY(ridge_json_want_text(cx, ridge_json_get(&root, "id"), &out->id));
    const ridge_node source = ridge_json_get(&root, "source");
    RIDGE_TRY(ridge_json_want_text(cx, ridge_json_get(&source, "title"), &out->source));
    RIDGE_TRY(want_objects(cx, &root));
    fill(&root, out);
    return RIDGE_OK;
}
