/*
 * Serving plans: JSON, "format": "ridge-plan", "version": 1, "kind": "serve". A newer
 * version is refused.
 *
 *     model, slice, engine    as on the command line
 *     draft_model             optional: the model that drafts
 *     work                    {prompt_tokens, output_tokens, cached_tokens,
 *                              context_tokens}
 *     goals                   {ttft_s, tpot_s, e2e_s} null: none; quantile, 0: the mean
 *     aim, requests_per_s, usd_per_chip_hour, expert_skew
 *     mode                    aggregated, disaggregated
 *     pools[]                 one, or prefill and decode:
 *         role, servers, batch, mesh {tp, pp, ep, attention_dp; tp_d}, kv_cut,
 *         weight_gathered, placement_index, sequences, budget_tokens
 *         dtypes              {weights, experts, compute, expert_compute, activations,
 *                              cache, attention, group}
 *         draft               {kind, depth, nodes, accept[]}
 *     predicted               written, not read
 */
#include "ridge/plan_service_file.h"

#include <math.h>

enum { PLAN_VERSION = 1 };

/* clang-format off */
#define TEXT(name, text, what) text,
static const char *const cuts[] = {RIDGE_KV_CUT_LIST(TEXT)};
static const char *const drafts[] = {RIDGE_DRAFT_LIST(TEXT)};
#undef TEXT
/* clang-format on */

/* ---- writing --------------------------------------------------------------------- */

static void set_work(ridge_ctx *cx, ridge_json *o, const ridge_service_work *w)
{
    ridge_json *work = ridge_json_set_object(cx, o, "work");
    ridge_json_set_double(work, "prompt_tokens", w->prompt_tokens);
    ridge_json_set_double(work, "output_tokens", w->output_tokens);
    ridge_json_set_double(work, "cached_tokens", w->cached_tokens);
    ridge_json_set_double(work, "context_tokens", w->context_tokens);
}

static void set_goals(ridge_ctx *cx, ridge_json *o, const ridge_service_goals *g)
{
    ridge_json *goals = ridge_json_set_object(cx, o, "goals");
    ridge_json_set_double(goals, "ttft_s", g->most_s[RIDGE_SERVICE_TTFT]);
    ridge_json_set_double(goals, "tpot_s", g->most_s[RIDGE_SERVICE_TPOT]);
    ridge_json_set_double(goals, "e2e_s", g->most_s[RIDGE_SERVICE_E2E]);
    ridge_json_set_double(goals, "quantile", g->quantile);
}

static void set_formats(ridge_ctx *cx, ridge_json *o, const ridge_serving_formats *f)
{
    ridge_json *d = ridge_json_set_object(cx, o, "dtypes");
    ridge_json_set_text(d, "weights", ridge_dtype_text(f->weight));
    ridge_json_set_text(d, "experts", ridge_dtype_text(f->expert));
    ridge_json_set_text(d, "compute", ridge_dtype_text(f->compute));
    ridge_json_set_text(d, "expert_compute", ridge_dtype_text(f->expert_compute));
    ridge_json_set_text(d, "activations", ridge_dtype_text(f->activation));
    ridge_json_set_text(d, "cache", ridge_dtype_text(f->cache));
    ridge_json_set_text(d, "attention", ridge_dtype_text(f->attention));
    ridge_json_set_i64(d, "group", f->group);
}

static void set_draft(ridge_ctx *cx, ridge_json *o, const ridge_draft *d)
{
    if (d->kind == RIDGE_DRAFT_NONE)
        return;
    ridge_json *draft = ridge_json_set_object(cx, o, "draft");
    ridge_json_set_text(draft, "kind", drafts[d->kind]);
    ridge_json_set_i64(draft, "depth", d->depth);
    ridge_json_set_i64(draft, "nodes", d->nodes);
    ridge_json *accept = ridge_json_set_array(cx, draft, "accept");
    for (int64_t i = 0; i < d->depth; i++)
        ridge_json_push_double(accept, d->accept[i]);
}

static void set_mesh(ridge_ctx *cx, ridge_json *o, const ridge_serving_layout *l)
{
    ridge_json *mesh = ridge_json_set_object(cx, o, "mesh");
    ridge_json_set_i64(mesh, "tp", l->tp);
    ridge_json_set_i64(mesh, "pp", l->pp);
    ridge_json_set_i64(mesh, "ep", l->ep);
    ridge_json_set_i64(mesh, "attention_dp", l->attention_dp);
    if (l->tp_d > 1)
        ridge_json_set_i64(mesh, "tp_d", l->tp_d);
}

static void set_pools(ridge_ctx *cx, ridge_json *o, const ridge_service_choice *c)
{
    ridge_json_set_text(o, "mode", ridge_service_mode_text(c->mode));
    ridge_json *pools = ridge_json_set_array(cx, o, "pools");
    for (int i = 0; i < c->n_pools; i++) {
        const ridge_serving_layout *l = &c->pools[i].layout;
        ridge_json *p = ridge_json_push_object(cx, pools);
        ridge_json_set_text(p, "role", ridge_service_role_text(c->pools[i].role));
        ridge_json_set_i64(p, "servers", c->pools[i].servers);
        ridge_json_set_i64(p, "chips_per_server", ridge_serving_layout_chips(l));
        ridge_json_set_double(p, "batch", c->pools[i].batch);
        set_mesh(cx, p, l);
        ridge_json_set_text(p, "kv_cut", cuts[l->kv_cut]);
        ridge_json_set_bool(p, "weight_gathered", l->is_weight_gathered);
        if (l->has_two_batches)
            ridge_json_set_bool(p, "two_batches", true);
        if (l->redundant_experts > 0)
            ridge_json_set_i64(p, "redundant_experts", l->redundant_experts);
        ridge_json_set_i64(p, "placement_index", l->placement);
        ridge_json_set_i64(p, "sequences", l->sequences);
        ridge_json_set_i64(p, "budget_tokens", l->budget_tokens);
        set_formats(cx, p, &l->formats);
        set_draft(cx, p, &l->draft);
    }
}

ridge_json *ridge_service_plan_to_json(ridge_ctx *cx, const ridge_service_request *r,
                                       const char *model_name, const char *draft_name,
                                       const ridge_service_price *price)
{
    ridge_json *o = ridge_json_object(cx);
    ridge_json_set_text(o, "format", "ridge-plan");
    ridge_json_set_i64(o, "version", PLAN_VERSION);
    ridge_json_set_text(o, "kind", "serve");
    ridge_json_set_text(o, "model", model_name);
    ridge_json_set_text(o, "slice", r->slice->text);
    ridge_json_set_text(o, "engine", r->engine->name);
    if (draft_name != NULL)
        ridge_json_set_text(o, "draft_model", draft_name);
    set_work(cx, o, &r->work);
    set_goals(cx, o, &r->goals);
    ridge_json_set_text(o, "aim", ridge_service_aim_text(r->aim));
    ridge_json_set_double(o, "requests_per_s", r->requests_per_s);
    ridge_json_set_double(o, "usd_per_chip_hour", r->usd_per_chip_hour);
    ridge_json_set_double(o, "expert_skew", r->expert_skew);
    set_pools(cx, o, &price->choice);
    ridge_json_set(o, "predicted", ridge_service_price_to_json(cx, r, price));
    return o;
}

/* ---- predictions ----------------------------------------------------------------- */

static ridge_json *memory_object(ridge_ctx *cx, const ridge_serving_memory *m)
{
    ridge_json *o = ridge_json_object(cx);
    ridge_json_set_double(o, "weights_bytes", m->weights);
    ridge_json_set_double(o, "activations_bytes", m->activations);
    ridge_json_set_double(o, "reserve_bytes", m->reserve);
    ridge_json_set_double(o, "draft_bytes", m->draft);
    ridge_json_set_double(o, "cache_bytes", m->cache);
    ridge_json_set_double(o, "total_bytes", m->total);
    ridge_json_set_double(o, "cache_bytes_per_token", m->cache_bytes_per_token);
    ridge_json_set_double(o, "state_bytes_per_sequence", m->state_bytes);
    ridge_json_set_i64(o, "block_tokens", m->block_tokens);
    ridge_json_set_i64(o, "blocks", m->blocks);
    return o;
}

static void set_part(ridge_ctx *cx, ridge_json *o, int part, double value)
{
    const char *key = ridge_sprintf(ridge_ctx_arena(cx), "%s_s",
                                    ridge_serving_part_text((ridge_serving_part)part));
    ridge_json_set_double(o, key == NULL ? "?" : key, value);
}

/* Each sums to its latency. */
static void set_breakdown(ridge_ctx *cx, ridge_json *o, const ridge_service_price *p)
{
    ridge_json *all = ridge_json_set_object(cx, o, "breakdown");
    ridge_json *tpot = ridge_json_set_object(cx, all, "tpot");
    for (int i = 0; i < RIDGE_SERVING_PART_COUNT; i++)
        set_part(cx, tpot, i, ridge_service_tpot_part(p, i));
    ridge_json *prompts = ridge_json_set_object(cx, all, "tpot_by_prompts");
    for (int i = 0; i < RIDGE_SERVING_PART_COUNT; i++)
        set_part(cx, prompts, i, ridge_service_tpot_prefill(p, i));
    ridge_json *ttft = ridge_json_set_object(cx, all, "ttft");
    ridge_json_set_double(ttft, "request_s", p->wait.request_s);
    ridge_json_set_double(ttft, "queue_s", p->wait.queue_s);
    ridge_json_set_double(ttft, "iteration_s", p->wait.iteration_s);
    ridge_json_set_double(ttft, "transfer_s", p->wait.transfer_s);
    for (int i = 0; i < RIDGE_SERVING_PART_COUNT; i++)
        set_part(cx, ttft, i, ridge_service_ttft_part(p, i));
}

static void set_step(ridge_ctx *cx, ridge_json *o, const char *key,
                     const ridge_serving_step *s)
{
    if (s->expected_s <= 0)
        return;
    ridge_json *step = ridge_json_set_object(cx, o, key);
    ridge_json_set_double(step, "expected_s", s->expected_s);
    ridge_json_set_double(step, "bound_s", s->bound_s);
    ridge_json_set_text(step, "bound_by", ridge_bound_text(s->bound_by));
    ridge_json_set_double(step, "bound_flops_s", s->bound_flops_s);
    ridge_json_set_double(step, "bound_weights_s", s->bound_weights_s);
    ridge_json_set_double(step, "bound_cache_s", s->bound_cache_s);
    ridge_json_set_double(step, "bound_network_s", s->bound_network_s);
}

static void set_latencies(ridge_json *o, const ridge_service_request *r,
                          const ridge_service_price *p)
{
    static const char *const keys[][5] = {
        {"ttft_s", "bound_ttft_s", "ttft_quantile_s", "low_ttft_s", "high_ttft_s"},
        {"tpot_s", "bound_tpot_s", "tpot_quantile_s", "low_tpot_s", "high_tpot_s"},
        {"e2e_s", "bound_e2e_s", "e2e_quantile_s", "low_e2e_s", "high_e2e_s"}};
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        const ridge_range range = ridge_service_range(r, p, (ridge_service_latency)i);
        if (range.high_s > 0) {
            ridge_json_set_double(o, keys[i][3], range.low_s);
            ridge_json_set_double(o, keys[i][4], range.high_s);
        }
        ridge_json_set_double(o, keys[i][0], p->latency_s[i]);
        ridge_json_set_double(o, keys[i][1], p->bound_s[i]);
        if (r->goals.quantile > 0)
            ridge_json_set_double(o, keys[i][2], p->quantile_s[i]);
    }
}

static void set_rates(ridge_json *o, const ridge_service_price *p)
{
    ridge_json_set_double(o, "batch", p->choice.pools[p->choice.n_pools - 1].batch);
    ridge_json_set_i64(o, "chips", p->chips);
    ridge_json_set_double(o, "concurrency", p->concurrency);
    ridge_json_set_double(o, "requests_per_s", p->requests_per_s);
    ridge_json_set_double(o, "requests_per_s_per_chip",
                          p->requests_per_s / fmax(1, p->paid_chips));
    ridge_json_set_double(o, "tokens_per_s", p->tokens_per_s);
    ridge_json_set_double(o, "tokens_per_s_per_chip", p->tokens_per_s_per_chip);
    ridge_json_set_double(o, "bound_tokens_per_s_per_chip",
                          p->bound_tokens_per_s_per_chip);
    ridge_json_set_double(o, "tokens_per_s_per_user", p->user_tokens_per_s);
    ridge_json_set_positive(o, "usd_per_million_tokens", p->usd_per_million_tokens);
    ridge_json_set_double(o, "iteration_s", p->iteration_s);
    ridge_json_set_double(o, "tokens_per_iteration", p->yield);
    ridge_json_set_double(o, "mixed_iterations", p->mixed);
    ridge_json_set_double(o, "chunks_per_prompt", p->chunks);
    ridge_json_set_double(o, "prefill_use", p->use);
    ridge_json_set_double(o, "cache_use", p->cache_use);
}

static void set_energy(ridge_ctx *cx, ridge_json *o, const ridge_service_energy *e)
{
    ridge_json *energy = ridge_json_set_object(cx, o, "energy");
    ridge_json_set_text(energy, "power_source", ridge_service_power_text(e->source));
    ridge_json_set_positive(energy, "chip_watts", e->chip_watts);
    ridge_json_set_positive(energy, "host_watts", e->host_watts);
    ridge_json_set_positive(energy, "meter_watts", e->meter_watts);
    ridge_json_set_positive(energy, "joules_per_token", e->joules_per_token);
    ridge_json_set_positive(energy, "kwh_per_million_tokens",
                            e->joules_per_token * RIDGE_KWH_PER_MILLION_J);
    ridge_json_set_positive(energy, "usd_per_million_tokens",
                            e->usd_per_million_tokens);
    ridge_json_set_double(energy, "busy_share", e->busy_share);
    ridge_json_set_double(energy, "memory_share", e->memory_share);
    ridge_json_set_double(energy, "flops_share", e->flops_share);
}

static void set_played(ridge_ctx *cx, ridge_json *o, const ridge_service_played *p)
{
    static const char *const keys[][2] = {
        {"ttft_s", "ttft_p99_s"}, {"tpot_s", "tpot_p99_s"}, {"e2e_s", "e2e_p99_s"}};
    if (!p->is_played)
        return;
    ridge_json *played = ridge_json_set_object(cx, o, "played");
    ridge_json_set_i64(played, "requests", p->requests);
    ridge_json_set_double(played, "requests_per_s", p->requests_per_s);
    ridge_json_set_double(played, "tokens_per_s_per_chip", p->tokens_per_s_per_chip);
    ridge_json_set_positive(played, "usd_per_million_tokens",
                            p->usd_per_million_tokens);
    ridge_json_set_bool(played, "keeps_goals", p->is_kept);
    ridge_json_set_double(played, "good_share", p->good_share);
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        ridge_json_set_double(played, keys[i][0], p->mean_s[i]);
        ridge_json_set_double(played, keys[i][1], p->p99_s[i]);
    }
    ridge_json_set_double(played, "cache_most", p->cache_most);
    ridge_json_set_i64(played, "preemptions", p->preemptions);
}

ridge_json *ridge_service_price_to_json(ridge_ctx *cx, const ridge_service_request *r,
                                        const ridge_service_price *p)
{
    ridge_json *o = ridge_json_object(cx);
    set_pools(cx, o, &p->choice);
    const ridge_service_pool *last = &p->choice.pools[p->choice.n_pools - 1];
    set_mesh(cx, o, &last->layout);
    set_formats(cx, o, &last->layout.formats);
    ridge_json_set_bool(o, "fits", p->fit == RIDGE_SERVICE_FIT_OK);
    if (p->fit != RIDGE_SERVICE_FIT_OK)
        ridge_json_set_text(o, "why_not", ridge_service_fit_text(p->fit));
    set_latencies(o, r, p);
    set_rates(o, p);
    set_played(cx, o, &p->played);
    ridge_json_set(o, "memory", memory_object(cx, &p->memory[p->choice.n_pools - 1]));
    if (p->choice.n_pools == 2)
        ridge_json_set(o, "prefill_memory", memory_object(cx, &p->memory[0]));
    if (!p->is_detailed)
        return o;
    set_energy(cx, o, &p->energy);
    set_breakdown(cx, o, p);
    set_step(cx, o, "decode_iteration", &p->decode);
    set_step(cx, o, "prefill_iteration", &p->prefill);
    const ridge_serving_step *s = p->decode.expected_s > 0 ? &p->decode : &p->prefill;
    ridge_json_set_text(o, "bottleneck", ridge_bound_text(s->bound_by));
    return o;
}
