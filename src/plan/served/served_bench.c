/*
 * Files of data/benches: name, full_name, source, date, note; publishers (titles of the
 * sources that print its results; with a star behind, their beginnings); shapes (pairs
 * of prompt and output tokens, by which its rows are told; absent: all rows of the
 * publishers); shortest_share (lengths are uniform from this share of the stated one to
 * it; absent: fixed); requests_per_client; expert_skew (loads of experts fall as
 * rank^-skew); requests (triples of prompt and output tokens and the number of requests
 * of that length); recipes: an array of what holds where, each with
 *
 *     engine, models, formats, chips, notes, modes    beginnings of their names;
 *                                       absent: any
 *     input_tokens, output_tokens, outputs_below, clients_least, clients_below,
 *     tp_below
 *     input_mean, output_mean, batch, weights (a format), tp    of rows that do not say
 *     shared_chips (which servers share evenly), requests (sent in all)
 *     tp_d, kv_cut, gathered    as ridge serve has them
 *     refuse    why such rows are not predicted
 *     model (the catalogue's, of the checkpoint that was served), model_tokens (of its
 *     longest sequence, as the server was told), input_spread, output_spread (lengths
 *     are lognormal, of this standard deviation over the mean), input_most, output_most
 *     (tokens that none of those exceeds), attention_dp, ep (over
 *     the chips that the row calls tp), turns (how often a queue fills the engine),
 *     ttft_s, tpot_s (which the load of a server was the most to keep, at p99)
 *     cache, budget_tokens, memory_share, wait_iterations, is_async, sequences,
 *     expert_skew, runs (the engine of the catalogue), system, output_share (as
 *     shortest_share, of outputs alone), frontend_s (of a request before the engine),
 *     handoff_s (of a request between pools, under the router that was used),
 *     balance_iterations, gather_iterations, graph_sequences (as the engine's),
 *     graph_sizes (batches of
 *     decoding that are captured as graphs, rising; those in between are padded),
 *     tunes_sizes (served_sizes.c chooses sequences and budget_tokens)
 *     settings
 *     note                              their names in the recipe
 *
 * wait_iterations: of decoding, for which a request waits before it is admitted.
 */
#include "served_bench.h"

#include <stddef.h>
#include <string.h>

extern const ridge_embedded_set ridge_bench_data;

/* clang-format off */
static const char *const members[] = {
    "name", "full_name", "source", "date", "note", "publishers", "shapes",
    "shortest_share", "requests_per_client", "expert_skew", "requests", "recipes"};
static const char *const recipe_members[] = {
    "engine", "models", "formats", "chips", "notes", "modes", "input_tokens",
    "output_tokens", "outputs_below", "clients_least", "clients_below", "tp_below",
    "cache", "model", "model_tokens", "input_spread", "output_spread", "input_most",
    "output_most", "attention_dp",
    "ep", "budget_tokens",
    "memory_share", "wait_iterations", "is_async", "sequences", "expert_skew", "runs",
    "system", "output_share", "frontend_s", "handoff_s", "balance_iterations", "gather_iterations",
    "graph_sequences", "graph_sizes", "tunes_sizes", "input_mean", "output_mean",
    "weights", "tp", "turns", "ttft_s", "tpot_s", "batch", "tp_d", "kv_cut", "gathered",
    "shared_chips", "requests", "refuse",
    "note"};
/* clang-format on */

enum { RECIPES_MOST = 256, NAMES_MOST = 64 };

/* ---- checks -----------------------------------------------------------------------
 */

static ridge_status want_names(ridge_ctx *cx, ridge_node node)
{
    if (ridge_json_is_absent(node))
        return RIDGE_OK;
    const size_t n = ridge_json_size(node);
    if (ridge_json_kind_of(node) != RIDGE_JSON_ARRAY || n > NAMES_MOST)
        return ridge_json_fail(cx, node, "an array of names is wanted");
    for (size_t i = 0; i < n; i++) {
        const char *name;
        RIDGE_TRY(ridge_json_want_text(cx, ridge_json_at(&node, i), &name));
    }
    return RIDGE_OK;
}

static ridge_status want_number(ridge_ctx *cx, const ridge_node *o, const char *key,
                                double low, double high)
{
    double v;
    const ridge_node node = ridge_json_get(o, key);
    return ridge_json_is_absent(node) ? RIDGE_OK
                                      : ridge_json_want_double(cx, node, low, high, &v);
}

static ridge_status want_triples(ridge_ctx *cx, ridge_node node)
{
    const size_t n = ridge_json_size(node);
    if (ridge_json_is_absent(node))
        return RIDGE_OK;
    if (ridge_json_kind_of(node) != RIDGE_JSON_ARRAY || n > NAMES_MOST)
        return ridge_json_fail(cx, node, "an array of triples is wanted");
    for (size_t i = 0; i < n; i++) {
        const ridge_node one = ridge_json_at(&node, i);
        double v;
        if (ridge_json_size(one) != 3)
            return ridge_json_fail(cx, one, "prompt and output tokens, and how many");
        for (size_t k = 0; k < 3; k++)
            RIDGE_TRY(ridge_json_want_double(cx, ridge_json_at(&one, k), 1, 1e9, &v));
    }
    return RIDGE_OK;
}

static ridge_status want_sizes(ridge_ctx *cx, ridge_node node)
{
    const size_t n = ridge_json_size(node);
    double least = 1;
    if (ridge_json_is_absent(node))
        return RIDGE_OK;
    if (ridge_json_kind_of(node) != RIDGE_JSON_ARRAY || n < 1 ||
        n > RIDGE_GRAPH_SIZES_MAX)
        return ridge_json_fail(cx, node, "an array of 1 to %d batches is wanted",
                               RIDGE_GRAPH_SIZES_MAX);
    for (size_t i = 0; i < n; i++) {
        double v;
        const ridge_node one = ridge_json_at(&node, i);
        RIDGE_TRY(ridge_json_want_double(cx, one, least, 1e6, &v));
        least = v;
    }
    return RIDGE_OK;
}

static ridge_status want_text(ridge_ctx *cx, const ridge_node *o, const char *key)
{
    const char *text;
    const ridge_node node = ridge_json_get(o, key);
    return ridge_json_is_absent(node) ? RIDGE_OK
                                      : ridge_json_want_text(cx, node, &text);
}

/* A number of a recipe, where it stands in what is known of a row. */
typedef struct recipe_number {
    const char *key;
    double low, high;
    size_t at; /* in served_practice */
    bool is_count;
} recipe_number;

/* clang-format off */
#define NUMBER(key, low, high) {#key, low, high, offsetof(served_practice, key), false}
#define COUNT(key, low, high) {#key, low, high, offsetof(served_practice, key), true}
/* clang-format on */

static const recipe_number recipe_numbers[] = {
    COUNT(budget_tokens, 1, 1e9),
    COUNT(sequences, 1, 1e6),
    COUNT(model_tokens, 1, 1e9),
    COUNT(attention_dp, 1, 1e6),
    COUNT(ep, 1, 1e6),
    COUNT(tp, 1, 1e6),
    COUNT(balance_iterations, 0, 1e6),
    COUNT(gather_iterations, 0, 1e6),
    NUMBER(memory_share, 0.05, 1),
    NUMBER(wait_iterations, 0, 1e4),
    NUMBER(expert_skew, 0, 4),
    NUMBER(input_spread, 0, 10),
    NUMBER(output_spread, 0, 10),
    NUMBER(input_most, 1, 1e9),
    NUMBER(output_most, 1, 1e9),
    NUMBER(input_mean, 1, 1e9),
    NUMBER(output_mean, 1, 1e9),
    NUMBER(output_share, 0.01, 1),
    NUMBER(frontend_s, 0, 10),
    NUMBER(handoff_s, 0, 10),
    NUMBER(graph_sequences, 0, 1e6),
    COUNT(tp_d, 1, 1e6),
    COUNT(shared_chips, 1, 1e6),
    NUMBER(requests, 1, 1e9),
    NUMBER(batch, 1, 1e6),
    NUMBER(turns, 1, 1e4),
    NUMBER(ttft_s, 0, 1e6),
    NUMBER(tpot_s, 0, 1e6),
};

/* By what a recipe tells its rows. */
static const recipe_number recipe_limits[] = {
    {"input_tokens", 1, 1e9, 0, false},  {"output_tokens", 1, 1e9, 0, false},
    {"outputs_below", 1, 1e9, 0, false}, {"clients_least", 1, 1e9, 0, false},
    {"clients_below", 1, 1e9, 0, false}, {"tp_below", 1, 1e6, 0, false},
};

static ridge_status want_numbers(ridge_ctx *cx, const ridge_node *recipe,
                                 const recipe_number *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        RIDGE_TRY(
            want_number(cx, recipe, numbers[i].key, numbers[i].low, numbers[i].high));
    return RIDGE_OK;
}

static ridge_status check_recipe(ridge_ctx *cx, ridge_node recipe)
{
    static const char *const lists[] = {"models", "formats", "chips", "notes", "modes"};
    static const char *const texts[] = {"runs",    "model",  "system",
                                        "weights", "kv_cut", "refuse"};
    const char *text;
    ridge_dtype cache;
    RIDGE_TRY(
        ridge_json_only(cx, recipe, recipe_members, RIDGE_COUNT_OF(recipe_members)));
    RIDGE_TRY(ridge_json_want_text(cx, ridge_json_get(&recipe, "engine"), &text));
    for (size_t i = 0; i < RIDGE_COUNT_OF(lists); i++)
        RIDGE_TRY(want_names(cx, ridge_json_get(&recipe, lists[i])));
    for (size_t i = 0; i < RIDGE_COUNT_OF(texts); i++)
        RIDGE_TRY(want_text(cx, &recipe, texts[i]));
    RIDGE_TRY(want_sizes(cx, ridge_json_get(&recipe, "graph_sizes")));
    RIDGE_TRY(
        want_numbers(cx, &recipe, recipe_numbers, RIDGE_COUNT_OF(recipe_numbers)));
    RIDGE_TRY(want_numbers(cx, &recipe, recipe_limits, RIDGE_COUNT_OF(recipe_limits)));
    const ridge_node node = ridge_json_get(&recipe, "cache");
    if (ridge_json_is_absent(node))
        return RIDGE_OK;
    RIDGE_TRY(ridge_json_want_text(cx, node, &text));
    return ridge_dtype_parse(cx, text, &cache);
}

ridge_status served_bench_check(ridge_ctx *cx, ridge_node root)
{
    const char *text;
    if (ridge_json_kind_of(root) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, root, "a bench is an object");
    RIDGE_TRY(ridge_json_only(cx, root, members, RIDGE_COUNT_OF(members)));
    RIDGE_TRY(ridge_json_want_text(cx, ridge_json_get(&root, "name"), &text));
    RIDGE_TRY(ridge_json_want_text(cx, ridge_json_get(&root, "source"), &text));
    RIDGE_TRY(want_names(cx, ridge_json_get(&root, "publishers")));
    RIDGE_TRY(want_number(cx, &root, "shortest_share", 0.01, 1));
    RIDGE_TRY(want_number(cx, &root, "requests_per_client", 1, 1e6));
    RIDGE_TRY(want_number(cx, &root, "expert_skew", 0, 4));
    RIDGE_TRY(want_triples(cx, ridge_json_get(&root, "requests")));
    const ridge_node recipes = ridge_json_get(&root, "recipes");
    const size_t n = ridge_json_size(recipes);
    if (n > RECIPES_MOST)
        return ridge_json_fail(cx, recipes, "more than %d recipes", RECIPES_MOST);
    for (size_t i = 0; i < n; i++)
        RIDGE_TRY(check_recipe(cx, ridge_json_at(&recipes, i)));
    return RIDGE_OK;
}

/* ---- which rows -------------------------------------------------------------------
 */

static double number_of(const ridge_node *o, const char *key, double otherwise)
{
    double v;
    return ridge_json_double(ridge_json_get(o, key), &v) ? v : otherwise;
}

/* "Results v4.1" is titled so, and by "Results v*" */
static bool is_titled(const char *source, const char *title)
{
    const size_t n = strlen(title);
    const bool is_open = n > 0 && title[n - 1] == '*';
    return is_open ? strncmp(source, title, n - 1) == 0 : strcmp(source, title) == 0;
}

static bool is_published(const ridge_node *root, const served_run *run)
{
    const ridge_node list = ridge_json_get(root, "publishers");
    for (size_t i = 0; i < ridge_json_size(list); i++) {
        const char *title;
        if (ridge_json_text(ridge_json_at(&list, i), &title) &&
            is_titled(run->source, title))
            return true;
    }
    return false;
}

static bool has_shape(const ridge_node *root, const served_run *run)
{
    const ridge_node shapes = ridge_json_get(root, "shapes");
    if (ridge_json_is_absent(shapes))
        return true;
    for (size_t i = 0; i < ridge_json_size(shapes); i++) {
        const ridge_node pair = ridge_json_at(&shapes, i);
        double input, output;
        if (ridge_json_double(ridge_json_at(&pair, 0), &input) &&
            ridge_json_double(ridge_json_at(&pair, 1), &output) &&
            input == run->input_tokens && output == run->output_tokens)
            return true;
    }
    return false;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool begins(const char *text, const char *word)
{
    while (*word != '\0' && lower(*text) == lower(*word)) {
        text++;
        word++;
    }
    return *word == '\0';
}

/* Whether one of a list of beginnings is that of a text; an absent list has all. */
static bool is_listed(const ridge_node *recipe, const char *key, const char *text)
{
    const ridge_node list = ridge_json_get(recipe, key);
    if (ridge_json_is_absent(list))
        return true;
    for (size_t i = 0; i < ridge_json_size(list); i++) {
        const char *word;
        if (ridge_json_text(ridge_json_at(&list, i), &word) && begins(text, word))
            return true;
    }
    return false;
}

/* Formats that a row does not name are those of 16 bits. */
static const char *format_of(const served_run *run)
{
    const char *text = run->expert_dtype[0] != '\0' ? run->expert_dtype : run->dtype;
    return text[0] == '\0' ? "bf16" : text;
}

static bool holds(const ridge_node *recipe, const served_run *run, const char *model,
                  const char *chip)
{
    const char *engine = "";
    ridge_json_text(ridge_json_get(recipe, "engine"), &engine);
    return begins(run->framework, engine) && is_listed(recipe, "models", model) &&
           is_listed(recipe, "formats", format_of(run)) &&
           is_listed(recipe, "chips", chip) && is_listed(recipe, "notes", run->note) &&
           is_listed(recipe, "modes", run->mode_words) &&
           run->output_tokens < number_of(recipe, "outputs_below", 1e18) &&
           number_of(recipe, "input_tokens", run->input_tokens) == run->input_tokens &&
           number_of(recipe, "output_tokens", run->output_tokens) ==
               run->output_tokens &&
           run->concurrency >= number_of(recipe, "clients_least", 0) &&
           run->concurrency < number_of(recipe, "clients_below", 1e18) &&
           (double)run->pools[0].tp < number_of(recipe, "tp_below", 1e18);
}

/* ---- what holds -------------------------------------------------------------------
 */

static void read_sizes(ridge_node node, ridge_graph_sizes *out)
{
    if (ridge_json_is_absent(node))
        return;
    out->n = (int)ridge_json_size(node);
    for (int i = 0; i < out->n; i++)
        ridge_json_double(ridge_json_at(&node, (size_t)i), &out->of[i]);
}

static void apply_number(const ridge_node *recipe, const recipe_number *number,
                         served_practice *out)
{
    char *at = (char *)out + number->at;
    double v;
    if (!ridge_json_double(ridge_json_get(recipe, number->key), &v))
        return;
    if (number->is_count)
        *(int64_t *)(void *)at = (int64_t)v;
    else
        *(double *)(void *)at = v;
}

static ridge_status apply(ridge_ctx *cx, const ridge_node *recipe, served_practice *out)
{
    const char *cache;
    for (size_t i = 0; i < RIDGE_COUNT_OF(recipe_numbers); i++)
        apply_number(recipe, &recipe_numbers[i], out);
    read_sizes(ridge_json_get(recipe, "graph_sizes"), &out->graph_sizes);
    ridge_json_bool(ridge_json_get(recipe, "is_async"), &out->is_async);
    ridge_json_bool(ridge_json_get(recipe, "tunes_sizes"), &out->tunes_sizes);
    ridge_json_text(ridge_json_get(recipe, "runs"), &out->engine);
    ridge_json_text(ridge_json_get(recipe, "model"), &out->model);
    ridge_json_text(ridge_json_get(recipe, "system"), &out->system);
    ridge_json_text(ridge_json_get(recipe, "weights"), &out->weights);
    ridge_json_text(ridge_json_get(recipe, "kv_cut"), &out->kv_cut);
    ridge_json_text(ridge_json_get(recipe, "refuse"), &out->refuse);
    ridge_json_bool(ridge_json_get(recipe, "gathered"), &out->is_weight_gathered);
    if (!ridge_json_text(ridge_json_get(recipe, "cache"), &cache))
        return RIDGE_OK;
    out->has_cache = true;
    return ridge_dtype_parse(cx, cache, &out->cache);
}

/* Of the row's lengths; 0: not told. */
static double requests_sent(const ridge_node *root, const served_run *run)
{
    const ridge_node all = ridge_json_get(root, "requests");
    for (size_t i = 0; i < ridge_json_size(all); i++) {
        const ridge_node one = ridge_json_at(&all, i);
        double v[3] = {0};
        for (size_t k = 0; k < RIDGE_COUNT_OF(v); k++)
            ridge_json_double(ridge_json_at(&one, k), &v[k]);
        if (v[0] == run->input_tokens && v[1] == run->output_tokens)
            return v[2];
    }
    return 0;
}

static ridge_status apply_all(ridge_ctx *cx, const ridge_node *root,
                              const served_run *run, const served_names *names,
                              served_practice *out)
{
    const ridge_node recipes = ridge_json_get(root, "recipes");
    *out = (served_practice){.is_known = true,
                             .shortest_share = number_of(root, "shortest_share", 1),
                             .expert_skew = number_of(root, "expert_skew", 0),
                             .requests_per_client =
                                 number_of(root, "requests_per_client", 0),
                             .requests = requests_sent(root, run)};
    for (size_t i = 0; i < ridge_json_size(recipes); i++) {
        const ridge_node recipe = ridge_json_at(&recipes, i);
        if (holds(&recipe, run, names->model, names->chip))
            RIDGE_TRY(apply(cx, &recipe, out));
    }
    return RIDGE_OK;
}

ridge_status served_benches_read(ridge_ctx *cx, const ridge_node **out)
{
    ridge_node *roots =
        ridge_new(ridge_ctx_arena(cx), ridge_node, ridge_bench_data.count + 1);
    if (roots == NULL)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < ridge_bench_data.count; i++) {
        const ridge_embedded *file = &ridge_bench_data.files[i];
        const ridge_str text = {file->text, file->bytes};
        RIDGE_TRY(ridge_json_parse(cx, text, file->path, &roots[i]));
        RIDGE_TRY(served_bench_check(cx, roots[i]));
    }
    *out = roots;
    return RIDGE_OK;
}

/* What the row states of its clients itself stands before what its publisher does. */
static void apply_stated(const served_run *run, served_practice *out)
{
    if (run->is_ranged) {
        out->shortest_share = run->shortest_share;
        out->output_share = 0;
        out->is_known = true;
    }
    if (run->sent > 0)
        out->requests = run->sent;
}

ridge_status served_practice_find(ridge_ctx *cx, const ridge_node *benches,
                                  const served_run *run, const served_names *names,
                                  served_practice *out)
{
    size_t i = 0;
    *out = (served_practice){.shortest_share = 1};
    while (i < ridge_bench_data.count &&
           !(is_published(&benches[i], run) && has_shape(&benches[i], run)))
        i++;
    if (i < ridge_bench_data.count)
        RIDGE_TRY(apply_all(cx, &benches[i], run, names, out));
    apply_stated(run, out);
    return RIDGE_OK;
}
