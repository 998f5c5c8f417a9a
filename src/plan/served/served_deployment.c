/*
 * The model, chips and engine that a measured row names, by the catalogue's names; what
 * it does not name exactly is said to be assumed, what the catalogue lacks is refused.
 */
#include "served_bench.h"
#include "served_run.h"

#include "ridge/model_release.h"

#include <math.h>
#include <string.h>

/* Of the lengths of answers, over their mean: those of Llama 2 to the questions of
 * OpenOrca. @source mlperf-inference-2024 */
static const double SPREAD_USUAL = 0.6;

/* What all parts of a deployment have in common. */
typedef struct common {
    const ridge_catalog *catalog;
    served_shared *shared;
    const served_run *run;
    const ridge_system *system;
    const ridge_model *model;
    const ridge_engine *engine;
    const served_practice *practice;
    served_gaps *gaps;
} common;

/* ---- the model --------------------------------------------------------------------
 */

/* A checkpoint of the catalogue in the row's format, if there is one. */
static bool find_variant(ridge_ctx *cx, const ridge_library *library,
                         const ridge_model *model, const char *variant,
                         const ridge_model **out)
{
    const char *name = ridge_sprintf(ridge_ctx_arena(cx), "%s%s", model->name, variant);
    return variant[0] != '\0' && name != NULL &&
           ridge_model_load(cx, library, name, out) == RIDGE_OK;
}

/* By the name as it is; by what is left of it without words for formats; and without
 * the date of a release, which has the shapes of its model. */
static bool load_named(ridge_ctx *cx, const ridge_library *library, const char *name,
                       const ridge_model **out)
{
    if (ridge_model_load(cx, library, name, out) == RIDGE_OK)
        return true;
    ridge_str bare = served_name_bare(name);
    const char *text = ridge_str_dup(ridge_ctx_arena(cx), bare);
    if (bare.n < strlen(name) && text != NULL &&
        ridge_model_load(cx, library, text, out) == RIDGE_OK)
        return true;
    if (!ridge_model_name_undated(&bare))
        return false;
    text = ridge_str_dup(ridge_ctx_arena(cx), bare);
    return text != NULL && ridge_model_load(cx, library, text, out) == RIDGE_OK;
}

ridge_status served_model_find(ridge_ctx *cx, const ridge_library *library,
                               const served_run *run, const ridge_model **out)
{
    const ridge_model *variant;
    if (run->model[0] == '\0')
        return ridge_fail(cx, RIDGE_E_ARG, "the model is not named");
    if (ridge_path_exists(run->model) || !load_named(cx, library, run->model, out))
        return ridge_fail(cx, RIDGE_E_NOTFOUND, "the catalogue has no model '%s'",
                          run->model);
    /* MiniMax-M2.5 is M2 with other weights; its 4-bit release has its own name. */
    const char *word = served_formats_variant(run);
    if (find_variant(cx, library, *out, word, &variant) &&
        served_formats_is_variant(run, variant))
        *out = variant;
    const char *slash = strrchr(run->model, '/');
    const ridge_model named = {.name = slash == NULL ? run->model : slash + 1};
    if (find_variant(cx, library, &named, word, &variant) &&
        served_formats_is_variant(run, variant))
        *out = variant;
    return RIDGE_OK;
}

/* The checkpoint that a practice names; rows of one follow one another. */
static ridge_status practise_model(ridge_ctx *cx, common *c)
{
    served_shared *shared = c->shared;
    const char *name = c->practice->model;
    if (name == NULL)
        return RIDGE_OK;
    if (shared->practised_name == NULL || strcmp(shared->practised_name, name) != 0)
        RIDGE_TRY(ridge_model_load(cx, shared->library, name, &shared->practised));
    shared->practised_name = name;
    c->model = shared->practised;
    return RIDGE_OK;
}

/* Engines with files of their own narrow every matrix. */
static ridge_status repack_model(ridge_ctx *cx, common *c)
{
    if (!c->engine->splits_layers)
        return RIDGE_OK;
    if (c->shared->repacked == NULL) {
        RIDGE_TRY(served_repack(cx, c->run->dtype, &c->model));
        c->shared->repacked = c->model;
    }
    c->model = c->shared->repacked;
    return RIDGE_OK;
}

/* ---- chips ------------------------------------------------------------------------
 */

static ridge_status find_chip(ridge_ctx *cx, const ridge_catalog *catalog,
                              const served_run *run, served_gaps *gaps,
                              const ridge_chip **out)
{
    if (run->chip[0] == '\0')
        return ridge_fail(cx, RIDGE_E_ARG, "the chip is not named");
    if (strstr(run->chip, "not stated") != NULL)
        served_assume(gaps, "chip variant");
    if (ridge_chip_find(cx, catalog, run->chip, out) == RIDGE_OK)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_NOTFOUND, "the catalogue has no chip '%s'",
                      run->chip);
}

/* The practice's system, the chip's default, or one with the row's chips in a node. */
static ridge_status find_system(ridge_ctx *cx, const common *c, const ridge_chip *chip,
                                const ridge_system **out)
{
    const ridge_catalog *catalog = c->catalog;
    const served_run *run = c->run;
    if (c->practice->system != NULL)
        return ridge_system_find(cx, catalog, c->practice->system, out);
    RIDGE_TRY(ridge_system_find(cx, catalog, chip->default_system, out));
    const bool is_rack = (*out)->chips_per_node > 8;
    if (run->chips_per_node == 0 || run->chips_per_node == (*out)->chips_per_node ||
        is_rack)
        return RIDGE_OK;
    for (size_t i = 0; i < ridge_catalog_system_count(catalog); i++) {
        const ridge_system *s = ridge_catalog_system(catalog, i);
        if (s != NULL && s->chip == chip && s->chips_per_node == run->chips_per_node) {
            *out = s;
            return RIDGE_OK;
        }
    }
    return RIDGE_OK;
}

/* ---- the engine -------------------------------------------------------------------
 */

static void set_sequences(int64_t sequences, ridge_engine *engine)
{
    engine->sequences = sequences;
    for (int i = 0; i < engine->n_limits; i++)
        engine->limits[i].sequences = sequences;
}

/* The engine as the practice sets it. */
static ridge_status adjust_engine(ridge_ctx *cx, const ridge_catalog *catalog,
                                  const served_practice *practice,
                                  int64_t planned_steps, const ridge_engine **engine)
{
    if (practice->is_async && !(*engine)->is_host_hidden) {
        const char *name =
            ridge_sprintf(ridge_ctx_arena(cx), "%s-async", (*engine)->name);
        if (name == NULL)
            return ridge_fail_nomem(cx);
        RIDGE_TRY(ridge_engine_find(cx, catalog, name, engine));
    }
    if (practice->memory_share <= 0 && practice->sequences <= 0 &&
        practice->balance_iterations <= 0 && practice->graph_sequences <= 0 &&
        practice->graph_sizes.n == 0 && planned_steps <= 0)
        return RIDGE_OK;
    ridge_engine *own = ridge_new(ridge_ctx_arena(cx), ridge_engine, 1);
    if (own == NULL)
        return ridge_fail_nomem(cx);
    *own = **engine;
    if (practice->memory_share > 0)
        own->memory_share = practice->memory_share;
    if (practice->sequences > 0)
        set_sequences(practice->sequences, own);
    if (practice->balance_iterations > 0) {
        own->balance_iterations = practice->balance_iterations;
        own->gather_iterations = practice->gather_iterations;
    }
    if (planned_steps > 0)
        own->planned_steps = planned_steps;
    if (practice->graph_sequences > 0)
        own->graph_sequences = practice->graph_sequences;
    if (practice->graph_sizes.n > 0)
        own->graph_sizes = practice->graph_sizes;
    *engine = own;
    return RIDGE_OK;
}

/* ---- parts ------------------------------------------------------------------------
 */

static double longest_of(const served_run *run)
{
    const double tokens = run->cached_tokens + run->input_tokens + run->output_tokens;
    return tokens < 1 ? 1 : tokens;
}

/* Single streams and static batches hold no more rows than they are given; where
 * generation alone is timed, those of its sequences. */
static int64_t batch_tokens(const served_run *run)
{
    const bool is_batch = run->mode == SERVED_BATCH || run->mode == SERVED_DECODE ||
                          run->mode == SERVED_PREFILL;
    const double prompt = run->mode == SERVED_DECODE ? 1 : fmax(1, run->input_tokens);
    const double tokens = fmax(1, run->requests) * prompt;
    return is_batch ? (int64_t)fmin(tokens, 1e9) : 0;
}

/* Heads, where a practice says nothing or has a word of its own. */
static ridge_kv_cut kv_cut_of(const char *text)
{
    if (text == NULL)
        return RIDGE_KV_CUT_HEADS;
    return strcmp(text, ridge_kv_cut_text(RIDGE_KV_CUT_BATCH)) == 0 ? RIDGE_KV_CUT_BATCH
           : strcmp(text, ridge_kv_cut_text(RIDGE_KV_CUT_SEQUENCE)) == 0
               ? RIDGE_KV_CUT_SEQUENCE
               : RIDGE_KV_CUT_HEADS;
}

static void follow_practice(const common *c, ridge_serving_layout *layout)
{
    if (c->practice->has_cache && c->run->cache_dtype[0] == '\0')
        layout->formats.cache = c->practice->cache;
    if (layout->budget_tokens <= 0)
        layout->budget_tokens = c->practice->budget_tokens;
    layout->tp_d = c->practice->tp_d;
    layout->is_weight_gathered = c->practice->is_weight_gathered;
    layout->kv_cut = kv_cut_of(c->practice->kv_cut);
}

/* A degree that a row calls tp is that of the stages where an engine knows no other. */
static void split_layers(ridge_serving_layout *layout)
{
    layout->pp *= layout->tp;
    layout->tp = 1;
}

/* Degrees that a recipe sets over the chips that the row calls tp. */
static served_pool practise_pool(const served_practice *practice,
                                 const served_pool *stated)
{
    served_pool p = *stated;
    const int64_t dp = practice->attention_dp;
    if (dp > 1 && p.attention_dp == 0 && p.tp % dp == 0) {
        p.attention_dp = dp;
        p.tp /= dp;
    }
    if (practice->ep > 1 && p.ep == 0)
        p.ep = practice->ep;
    return p;
}

static ridge_status find_part(ridge_ctx *cx, const common *c, const served_pool *pool,
                              served_part *out)
{
    const served_run *run = c->run;
    *out = (served_part){.about = {.model = c->model,
                                   .engine = c->engine,
                                   .longest_tokens = longest_of(run),
                                   .expert_skew = c->practice->expert_skew}};
    const served_pool meant = practise_pool(c->practice, pool);
    RIDGE_TRY(served_layout(cx, run, &meant, c->model, &out->layout));
    if (c->engine->splits_layers)
        split_layers(&out->layout);
    RIDGE_TRY(served_formats(cx, run, c->model, c->system->chip, &out->layout.formats));
    if (out->layout.ep > 1 && pool->ep <= 1)
        served_assume(c->gaps, "experts dealt out: they cannot be cut so");
    follow_practice(c, &out->layout);
    const int64_t chips = ridge_serving_layout_chips(&out->layout);
    RIDGE_TRY(
        ridge_slice_of_chips(cx, c->catalog, c->system, chips, &out->about.slice));
    out->prompt_tokens = (int64_t)fmin(run->input_tokens, 1e9);
    out->output_tokens = (int64_t)fmin(run->output_tokens, 1e9);
    out->model_tokens = c->practice->model_tokens;
    out->tunes_sizes = c->practice->tunes_sizes && run->mode == SERVED_QUEUE;
    out->batch_tokens = batch_tokens(run);
    out->replicas = pool->workers > 0 ? pool->workers : 1;
    if (!run->is_split && run->chips > chips && run->chips % chips == 0)
        out->replicas = run->chips / chips;
    return RIDGE_OK;
}

/* ---- drafting ---------------------------------------------------------------------
 */

static ridge_drafting drafting_of(const served_run *run, const ridge_model *model)
{
    if (run->drafted > 0)
        return RIDGE_DRAFTING_STATED;
    return model->mtp_params > 0 ? RIDGE_DRAFTING_UNSTATED : RIDGE_DRAFTING_NONE;
}

static ridge_status find_parts(ridge_ctx *cx, const common *c, served_deployment *out)
{
    for (int i = 0; i < out->n; i++) {
        const served_pool *pool = &c->run->pools[i];
        if (c->run->is_split && pool->workers == 0)
            return ridge_fail(cx, RIDGE_E_ARG,
                              "how many workers there are is not stated");
        RIDGE_TRY(find_part(cx, c, pool, &out->parts[i]));
    }
    return RIDGE_OK;
}

/* Files of models and benches are read for the first row of a deployment. */
static ridge_status read_shared(ridge_ctx *cx, served_shared *shared,
                                const served_run *run)
{
    if (shared->benches == NULL)
        RIDGE_TRY(served_benches_read(cx, &shared->benches));
    return shared->model != NULL
               ? RIDGE_OK
               : served_model_find(cx, shared->library, run, &shared->model);
}

static ridge_status find_practice(ridge_ctx *cx, common *c, const ridge_chip *chip,
                                  served_deployment *out)
{
    const served_names names = {c->model->name, chip->name};
    RIDGE_TRY(
        served_practice_find(cx, c->shared->benches, c->run, &names, &out->practice));
    c->practice = &out->practice;
    if (c->practice->engine != NULL)
        RIDGE_TRY(ridge_engine_find(cx, c->catalog, c->practice->engine, &c->engine));
    else
        RIDGE_TRY(served_engine_find(cx, c->catalog, c->run, c->gaps, &c->engine));
    out->engine_name = c->engine->name;
    return RIDGE_OK;
}

static int64_t tp_told(const served_practice *p, const served_run *run)
{
    const int64_t servers = run->pools[0].workers + run->pools[1].workers;
    const bool is_shared = run->is_split && servers > 0 && p->shared_chips > 0;
    return is_shared && p->shared_chips % servers == 0 ? p->shared_chips / servers
                                                       : p->tp;
}

/* A single request whose first token and rate are told says nothing of how long it went
 * on; rates hardly depend on it. */
static void complete_answer(served_run *run, served_gaps *gaps)
{
    if (run->mode != SERVED_BATCH || run->output_tokens >= 1 || run->input_tokens < 1)
        return;
    run->output_tokens = run->input_tokens;
    run->is_decode_rate = true;
    served_assume(gaps, "length of the answer");
}

/* Means of answers that end where the model ends them: how they spread is told by few.
 */
static void complete_spread(const served_run *run, served_practice *p,
                            served_gaps *gaps)
{
    if (run->output_cap <= run->output_tokens || p->output_spread > 0)
        return;
    p->output_spread = SPREAD_USUAL;
    p->output_most = run->output_cap;
    served_assume(gaps, "spread of answers");
}

/* What the row leaves open and the practice of its publisher tells. A server's load
 * that was the most to keep its limits is what it completed. */
static void complete_run(const served_practice *p, served_run *run)
{
    const double tokens_per_s = run->measured[RIDGE_SERVING_METRIC_THROUGHPUT];
    if (run->input_tokens < 1)
        run->input_tokens = p->input_mean;
    if (run->output_tokens < 1)
        run->output_tokens = p->output_mean;
    if (run->requests < 1 && p->batch > 0)
        run->requests = run->concurrency = p->batch;
    if (run->dtype[0] == '\0' && p->weights != NULL)
        run->dtype = p->weights;
    for (int i = 0; i < 2; i++) {
        if (run->pools[i].tp == 0)
            run->pools[i].tp = tp_told(p, run);
    }
    if (run->mode != SERVED_OPEN || run->request_rate > 0 || p->ttft_s <= 0)
        return;
    run->request_rate = run->measured_requests_per_s > 0
                            ? run->measured_requests_per_s
                            : tokens_per_s / run->output_tokens;
}

ridge_status served_deployment_find(ridge_ctx *cx, served_shared *shared,
                                    const served_run *stated, served_gaps *gaps,
                                    served_deployment *out)
{
    const ridge_chip *chip;
    const ridge_catalog *catalog = shared->catalog;
    const served_run *run = &out->run;
    common c = {.catalog = catalog, .shared = shared, .run = run, .gaps = gaps};
    *out = (served_deployment){.run = *stated, .n = stated->is_split ? 2 : 1};
    RIDGE_TRY(find_chip(cx, catalog, run, gaps, &chip));
    RIDGE_TRY(read_shared(cx, shared, run));
    c.model = shared->model;
    out->drafting = drafting_of(run, c.model);
    RIDGE_TRY(find_practice(cx, &c, chip, out));
    if (c.practice->refuse != NULL)
        return ridge_fail(cx, RIDGE_E_ARG, "%s", c.practice->refuse);
    complete_run(&out->practice, &out->run);
    complete_answer(&out->run, gaps);
    complete_spread(run, &out->practice, gaps);
    RIDGE_TRY(practise_model(cx, &c));
    RIDGE_TRY(repack_model(cx, &c));
    RIDGE_TRY(find_system(cx, &c, chip, &c.system));
    if (run->is_unsquared)
        served_assume(gaps, "degrees that are multiplied with themselves count once");
    RIDGE_TRY(
        adjust_engine(cx, catalog, &out->practice, run->planned_steps, &c.engine));
    return find_parts(cx, &c, out);
}
