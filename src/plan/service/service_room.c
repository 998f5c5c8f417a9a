/* Derivations of a service's memory: blocks, what is left for them, and batches. */
#include "service_story.h"

#include "ridge/plan_service_reasons.h"

#include <math.h>

static int last_pool(const service_story *s)
{
    return s->price->choice.n_pools - 1;
}

/* What one more token of a sequence takes on a chip. */
static void tell_token(service_story *s, int depth)
{
    const ridge_serving_memory *m = &s->price->memory[last_pool(s)];
    const ridge_serving_layout *l = &s->price->choice.pools[last_pool(s)].layout;
    const ridge_kv kv = ridge_model_kv(s->request->model, l->formats.cache);
    service_story_add(s, depth, "bytes of a token",
                      "bytes of the model's caches / (tp pp), heads copied where tp "
                      "exceeds them",
                      ridge_format_bytes(m->cache_bytes_per_token).s,
                      "%s of the model in %s, tp %lld, pp %lld, cut by %s",
                      ridge_format_bytes(kv.bytes_per_token).s,
                      ridge_dtype_text(l->formats.cache), (long long)l->tp,
                      (long long)l->pp, ridge_kv_cut_text(l->kv_cut));
}

void service_story_memory(service_story *s, int depth)
{
    const ridge_serving_memory *m = &s->price->memory[last_pool(s)];
    const ridge_chip *chip = s->request->slice->chip;
    const double memory_bytes = ridge_chip_memory_bytes(chip);
    const ridge_engine *e = s->request->engine;
    const ridge_serving_layout *l = &s->price->choice.pools[last_pool(s)].layout;
    service_story_add(s, depth, "cache",
                      "what the engine may take - weights - activations - reserve - "
                      "draft",
                      ridge_format_bytes(m->cache).s, "%s - %s - %s - %s - %s",
                      ridge_format_bytes(m->total).s, ridge_format_bytes(m->weights).s,
                      ridge_format_bytes(m->activations).s,
                      ridge_format_bytes(m->reserve).s, ridge_format_bytes(m->draft).s);
    service_story_add(s, depth + 1, "may take", "share x HBM",
                      ridge_format_bytes(m->total).s, "%s of %s",
                      ridge_format_percent(m->total / memory_bytes).s,
                      ridge_format_bytes(memory_bytes).s);
    service_story_fact(s, depth + 2, "memory_share",
                       ridge_format_percent(e->memory_share).s);
    service_story_fact(s, depth + 2,
                       chip->visible_bytes > 0 ? "visible_bytes" : "hbm_bytes",
                       ridge_format_bytes(memory_bytes).s);
    service_story_add(s, depth + 1, "weights",
                      "of the fullest stage, cut over its chips",
                      ridge_format_bytes(m->weights).s,
                      "%s in the checkpoint's own formats; %s here, tp %lld, ep %lld, "
                      "pp %lld",
                      ridge_format_bytes(ridge_model_weight_bytes(s->request->model)).s,
                      ridge_dtype_text(l->formats.weight), (long long)l->tp,
                      (long long)l->ep, (long long)l->pp);
    service_story_add(s, depth + 1, "activations", "of the largest iteration",
                      ridge_format_bytes(m->activations).s,
                      "%lld tokens, %lld sequences", (long long)l->budget_tokens,
                      (long long)l->sequences);
    service_story_fact(s, depth + 1, "reserve_bytes", ridge_format_bytes(m->reserve).s);
}

void service_story_blocks(service_story *s, int depth)
{
    const ridge_serving_memory *m = &s->price->memory[last_pool(s)];
    service_story_add(s, depth, "blocks", "floor(cache / (tokens of a block x bytes))",
                      ridge_format_exact(m->blocks).s, "%s / (%lld x %s)",
                      ridge_format_bytes(m->cache).s, (long long)m->block_tokens,
                      ridge_format_bytes(m->cache_bytes_per_token).s);
    service_story_fact(s, depth + 1, "block_tokens",
                       ridge_format_exact(s->request->engine->block_tokens).s);
    tell_token(s, depth + 1);
    service_story_memory(s, depth + 1);
}

void service_story_batch(service_story *s, int depth)
{
    const ridge_service_price *p = s->price;
    const ridge_service_pool *pool = &p->choice.pools[last_pool(s)];
    ridge_service_fit next;
    const char *why = "the aim: a larger one serves no better";
    const double batch = pool->batch;
    if (ridge_service_binding(s->cx, s->request, p, &next) == RIDGE_OK &&
        next != RIDGE_SERVICE_FIT_OK)
        why = ridge_service_fit_text(next);
    if (s->request->requests_per_s > 0)
        why = "the request rate makes it";
    service_story_add(s, depth, "batch", "sequences of an attention rank's iteration",
                      ridge_format_double(batch).s, "held back by: %s", why);
    service_story_add(s, depth + 1, "cache in use",
                      "sequences x (P + G / 2), in the mean",
                      ridge_format_percent(p->cache_use).s, "%s blocks of %lld tokens",
                      ridge_format_exact(p->memory[last_pool(s)].blocks).s,
                      (long long)p->memory[last_pool(s)].block_tokens);
}
