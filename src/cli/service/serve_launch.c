/* A serving engine's command as a question, and the account of what it said. */
#include "serve_launch.h"

#include "ridge/plan_speculation.h"

#include <string.h>

/* One pool's degrees as knobs of the role. */
static void fix_pool(const ridge_service_pool *pool, ridge_service_knobs *k)
{
    ridge_service_pool_knobs *to = &k->pools[pool->role];
    to->tp = pool->layout.tp;
    to->pp = pool->layout.pp;
    to->ep = pool->layout.ep;
    to->attention_dp = pool->layout.attention_dp;
    to->kv_cut = (int)pool->layout.kv_cut;
    to->is_gathered = pool->layout.is_weight_gathered ? 1 : 0;
    to->has_two_batches = pool->layout.has_two_batches ? 1 : 0;
    to->redundant = pool->layout.redundant_experts + 1;
    to->servers = pool->servers;
}

/* One budget stands for both pools: that of prompts, unless fewer tokens than the
 * decode servers have sequences. */
static int64_t budget_of(const ridge_service_choice *c)
{
    const ridge_serving_layout *last = &c->pools[c->n_pools - 1].layout;
    const int64_t prompts = c->pools[0].layout.budget_tokens;
    const int64_t drafted =
        last->draft.kind == RIDGE_DRAFT_NONE ? 0 : last->draft.nodes;
    const int64_t decoding =
        ridge_ceil_div(last->sequences, last->attention_dp * last->pp) * (1 + drafted);
    return c->n_pools > 1 && decoding > prompts ? decoding : prompts;
}

static bool has_experts(const ridge_model *m)
{
    for (int i = 0; i < m->n_layers; i++) {
        if (m->layers[i].ffn.kind == RIDGE_FFN_MOE)
            return true;
    }
    return false;
}

static void fix_knobs(const ridge_deployment *d, ridge_service_knobs *k)
{
    const ridge_serving_layout *first = &d->choice.pools[0].layout;
    const ridge_serving_formats *f = &first->formats;
    for (int i = 0; i < d->choice.n_pools; i++)
        fix_pool(&d->choice.pools[i], k);
    k->mode = d->choice.mode;
    k->budget_tokens = budget_of(&d->choice);
    k->weight_text = ridge_dtype_text(f->weight);
    k->expert_text = has_experts(d->model) ? ridge_dtype_text(f->expert) : NULL;
    k->compute_text = ridge_dtype_text(f->compute);
    k->cache_text = ridge_dtype_text(f->cache);
    k->activation_text = ridge_dtype_text(f->activation);
    k->draft = d->choice.pools[d->choice.n_pools - 1].layout.draft;
    if (k->draft.kind != RIDGE_DRAFT_NONE)
        k->depth = k->draft.depth;
}

/* The engine with the limits that are stated, on any chip. */
static ridge_status open_engine(cli_run *run, serve_launch *l, const ridge_engine **out)
{
    const ridge_serving_layout *last =
        &l->launch.deployment.choice.pools[l->launch.deployment.choice.n_pools - 1]
             .layout;
    const int64_t ranks = last->attention_dp * last->pp;
    ridge_engine *e = ridge_new(ridge_ctx_arena(run->cx), ridge_engine, 1);
    if (e == NULL)
        return ridge_fail_nomem(run->cx);
    *e = *l->launch.deployment.engine;
    e->n_limits = 0;
    e->sequences = ridge_ceil_div(last->sequences, ranks);
    e->budget_tokens = l->launch.deployment.choice.pools[0].layout.budget_tokens;
    l->most_batch = (double)e->sequences;
    *out = e;
    return RIDGE_OK;
}

static ridge_status check_length(cli_run *run, const ridge_service_work *w,
                                 const ridge_serving_launch *l)
{
    const double longest = l->deployment.longest_tokens;
    if (longest <= 0 || w->prompt_tokens + w->output_tokens <= longest)
        return RIDGE_OK;
    return ridge_fail(
        run->cx, RIDGE_E_ARG,
        "--prompt and --output are %.0f tokens, and %s takes sequences of "
        "%.0f: ask for shorter ones",
        w->prompt_tokens + w->output_tokens, l->path, longest);
}

/* Of a tree, what its levels accept. */
static ridge_status accept_tree(cli_run *run, const ridge_acceptance *usual,
                                ridge_draft *d)
{
    enum { RANKS = 4 }; /* of which something is published */
    ridge_tree *tree = ridge_new(ridge_ctx_arena(run->cx), ridge_tree, 1);
    const ridge_tree_odds odds =
        ridge_tree_odds_of(d->accept, d->depth, RANKS, usual->next);
    if (tree == NULL)
        return ridge_fail_nomem(run->cx);
    RIDGE_TRY(ridge_tree_find(run->cx, &odds, d->nodes, d->depth, tree));
    ridge_tree_acceptance(tree, &odds, d->accept);
    return RIDGE_OK;
}

/* Commands do not say how many drafts are accepted: what is published of the kind. */
static ridge_status assume_acceptance(cli_run *run, ridge_draft *d,
                                      ridge_launch_notes *assumed)
{
    const ridge_acceptance_set *set;
    const bool is_tree = d->nodes > d->depth && d->nodes <= RIDGE_TREE_NODES_MAX;
    if (d->kind == RIDGE_DRAFT_NONE || cli_option_text(run, "accept") != NULL)
        return RIDGE_OK;
    RIDGE_TRY(ridge_acceptance_set_open(run->cx, &set));
    const ridge_acceptance *usual = ridge_acceptance_default(set, d->kind);
    if (usual == NULL)
        return RIDGE_OK;
    ridge_acceptance_extend(usual->accept, usual->n_accept, d->accept);
    if (assumed->n < RIDGE_LAUNCH_NOTE_MAX)
        assumed->text[assumed->n++] = ridge_sprintf(
            ridge_ctx_arena(run->cx), "acceptance of drafts %.2f, of %s: see --accept",
            d->accept[0], usual->name);
    return is_tree && usual->next > 0 ? accept_tree(run, usual, d) : RIDGE_OK;
}

ridge_status serve_launch_read(cli_run *run, const char *from,
                               ridge_service_request *request, serve_launch *out)
{
    ridge_serving_launch_query query = {.slice = request->slice};
    RIDGE_TRY(cli_library(run, &query.library));
    RIDGE_TRY(cli_catalog(run, &query.catalog));
    if (run->n_args > 0)
        RIDGE_TRY(cli_model(run, run->args[0], &query.model));
    if (cli_option_text(run, "engine") != NULL)
        RIDGE_TRY(ridge_engine_find_on(run->cx, query.catalog,
                                       cli_option_text(run, "engine"),
                                       request->slice->chip, &query.engine));
    RIDGE_TRY(ridge_serving_launch_read(run->cx, from, &query, &out->launch));
    RIDGE_TRY(check_length(run, &request->work, &out->launch));
    request->model = out->launch.deployment.model;
    fix_knobs(&out->launch.deployment, &request->knobs);
    RIDGE_TRY(assume_acceptance(run, &request->knobs.draft, &out->launch.assumed));
    return open_engine(run, out, &request->engine);
}

ridge_status serve_launch_limit(cli_run *run, ridge_service_request *request,
                                serve_launch *launch, ridge_service_result *result)
{
    if (launch->launch.path == NULL || result->n_layouts == 0 ||
        request->knobs.batch > 0 || request->requests_per_s > 0)
        return RIDGE_OK;
    const ridge_service_choice *best = &result->layouts[0].choice;
    if (best->pools[best->n_pools - 1].batch <= launch->most_batch)
        return RIDGE_OK;
    launch->is_limited = true;
    request->knobs.batch = launch->most_batch;
    return ridge_service_search(run->cx, request, result);
}

/* ---- the account ----------------------------------------------------------------- */

static void put_notes(const char *title, const ridge_launch_notes *notes,
                      ridge_buf *out)
{
    for (int i = 0; i < notes->n; i++)
        ridge_buf_printf(out, "%s %s\n", i == 0 ? title : "           ",
                         notes->text[i]);
}

void serve_launch_text(const serve_launch *launch, ridge_buf *out)
{
    const ridge_serving_launch *l = &launch->launch;
    ridge_buf_printf(out, "%s: %s of %s; %d options read, %d change no time\n", l->path,
                     l->format, l->deployment.model_name, l->read,
                     l->ignored - l->unknown.n);
    put_notes("assumed:   ", &l->assumed, out);
    put_notes("not priced:", &l->differing, out);
    put_notes("unknown:   ", &l->unknown, out);
    if (launch->is_limited)
        ridge_buf_printf(out,
                         "It takes %.0f sequences at most, fewer than would be best.\n",
                         launch->most_batch);
    ridge_buf_puts(out, "\n");
}

static void set_notes(cli_run *run, ridge_json *object, const char *key,
                      const ridge_launch_notes *notes)
{
    ridge_json *list = ridge_json_set_array(run->cx, object, key);
    for (int i = 0; i < notes->n; i++)
        ridge_json_push_text(list, notes->text[i]);
}

void serve_launch_json(cli_run *run, const serve_launch *launch, ridge_json *object)
{
    const ridge_serving_launch *l = &launch->launch;
    ridge_json *from = ridge_json_set_object(run->cx, object, "from");
    ridge_json_set_text(from, "path", l->path);
    ridge_json_set_text(from, "format", l->format);
    ridge_json_set_text(from, "launcher", ridge_serving_launcher_text(l->launcher));
    ridge_json_set_text(from, "model", l->deployment.model_name);
    ridge_json_set_double(from, "longest_tokens", l->deployment.longest_tokens);
    ridge_json_set_double(from, "most_batch", launch->most_batch);
    ridge_json_set_bool(from, "is_limited", launch->is_limited);
    ridge_json_set_i64(from, "options_read", l->read);
    ridge_json_set_i64(from, "options_ignored", l->ignored - l->unknown.n);
    set_notes(run, from, "assumed", &l->assumed);
    set_notes(run, from, "not_priced", &l->differing);
    set_notes(run, from, "unknown", &l->unknown);
}
