/* Derivations of a service's latencies, rates and costs. */
#include "service_story.h"

#include <math.h>

#define SECONDS(v) ridge_format_seconds(v).s

/* ---- iterations ------------------------------------------------------------------ */

static ridge_dtype compute_of(const service_story *s)
{
    const ridge_service_choice *c = &s->price->choice;
    return c->pools[c->n_pools - 1].layout.formats.compute;
}

static void tell_peak(service_story *s, int depth)
{
    ridge_dtype used;
    const double peak = ridge_chip_peak(s->request->slice->chip, compute_of(s), &used);
    const char *key = ridge_sprintf(ridge_ctx_arena(s->cx), "peak_flops_per_s.%s",
                                    ridge_dtype_text(used));
    service_story_fact(s, depth, key == NULL ? "peak_flops_per_s" : key,
                       ridge_format_si(peak, "FLOP/s").s);
}

static void tell_bytes(service_story *s, int depth, const char *name, double bytes,
                       double bound_s)
{
    const double rate = s->request->slice->chip->hbm_bytes_per_s;
    service_story_add(s, depth, name, "bytes a chip reads / HBM bandwidth",
                      SECONDS(bound_s), "%s / %s", ridge_format_bytes(bytes).s,
                      ridge_format_si(rate, "B/s").s);
}

static void tell_bounds(service_story *s, int depth, const ridge_serving_step *step)
{
    const ridge_chip *chip = s->request->slice->chip;
    service_story_add(s, depth, "bound", "max(cache + max(FLOPs, weights), network)",
                      SECONDS(step->bound_s), "by %s",
                      ridge_bound_text(step->bound_by));
    service_story_add(s, depth + 1, "FLOPs", "FLOPs of a chip / peak",
                      SECONDS(step->bound_flops_s), "%s",
                      ridge_format_si(step->flops, "FLOP").s);
    tell_peak(s, depth + 2);
    tell_bytes(s, depth + 1, "weights", step->weight_bytes, step->bound_weights_s);
    tell_bytes(s, depth + 1, "cache", step->cache_bytes, step->bound_cache_s);
    service_story_fact(s, depth + 2, "hbm_bytes_per_s",
                       ridge_format_si(chip->hbm_bytes_per_s, "B/s").s);
    service_story_add(s, depth + 1, "network", "bytes / bandwidth of the links",
                      SECONDS(step->bound_network_s), "%s", s->request->slice->text);
}

static void tell_parts(service_story *s, int depth, const ridge_serving_step *step)
{
    for (int i = 0; i < RIDGE_SERVING_PART_COUNT; i++) {
        if (step->parts_s[i] <= 0)
            continue;
        service_story_add(s, depth, ridge_serving_part_text((ridge_serving_part)i),
                          "part of the iteration", SECONDS(step->parts_s[i]),
                          "%s of it",
                          ridge_format_percent(step->parts_s[i] / step->expected_s).s);
    }
}

static void tell_step(service_story *s, int depth, const char *name,
                      const ridge_serving_step *step, const ridge_serving_load *load)
{
    if (step->expected_s <= 0)
        return;
    service_story_add(s, depth, name, "sum of its parts", SECONDS(step->expected_s),
                      "%s decoding sequences of %s tokens, %s prompt tokens behind %s",
                      ridge_format_double(load->decode_sequences).s,
                      ridge_format_count(load->decode_context).s,
                      ridge_format_count(load->chunk_tokens).s,
                      ridge_format_count(load->chunk_context).s);
    tell_parts(s, depth + 1, step);
    tell_bounds(s, depth + 1, step);
}

static void tell_iteration(service_story *s, int depth)
{
    const ridge_service_price *p = s->price;
    const bool is_mixed = p->prefill_load.decode_sequences > 0;
    const double m = p->mixed;
    if (p->choice.n_pools == 2) {
        service_story_add(s, depth, "iteration", "decode: prompts are served elsewhere",
                          SECONDS(p->iteration_s), " ");
    } else if (is_mixed) {
        service_story_add(s, depth, "iteration",
                          p->stages_s > 0 ? "(1 - f) decode + f mixed + stages"
                                          : "(1 - f) decode + f mixed",
                          SECONDS(p->iteration_s), "f %s: %s x %s + %s x %s",
                          ridge_format_percent(m).s, ridge_format_percent(1 - m).s,
                          SECONDS(p->decode.expected_s), ridge_format_percent(m).s,
                          SECONDS(p->prefill.expected_s));
    } else {
        const double f = m < 1 ? m / (1 - m) : 0;
        service_story_add(
            s, depth, "iteration",
            p->stages_s > 0 ? "decode + f prefill + stages" : "decode + f prefill",
            SECONDS(p->iteration_s), "%s + %.3g x %s", SECONDS(p->decode.expected_s), f,
            SECONDS(p->prefill.expected_s));
    }
    if (p->stages_s > 0)
        service_story_add(s, depth + 1, "stages",
                          "beside it: batches of a pipeline wait for longer ones",
                          SECONDS(p->stages_s), "%lld stages",
                          (long long)p->choice.pools[0].layout.pp);
    tell_step(s, depth + 1, "decode", &p->decode, &p->decode_load);
    if (p->choice.n_pools == 1)
        tell_step(s, depth + 1, is_mixed ? "mixed" : "prefill", &p->prefill,
                  &p->prefill_load);
}

/* ---- latencies ------------------------------------------------------------------- */

void service_story_tpot(service_story *s, int depth)
{
    const ridge_service_price *p = s->price;
    service_story_add(s, depth, "tpot", "iteration / tokens that it yields",
                      SECONDS(p->latency_s[RIDGE_SERVICE_TPOT]), "%s / %.3g",
                      SECONDS(p->iteration_s), p->yield);
    tell_iteration(s, depth + 1);
}

static void tell_queue(service_story *s, int depth)
{
    const ridge_service_price *p = s->price;
    const bool is_open =
        s->request->requests_per_s > 0 || s->request->goals.quantile > 0;
    service_story_add(s, depth, "queue",
                      is_open ? "rho S / 2(1 - rho): random arrivals (kingman1961)"
                              : "rho S / 2: one request begins when another ends",
                      SECONDS(p->wait.queue_s), "rho %s",
                      ridge_format_percent(p->use).s);
}

void service_story_ttft(service_story *s, int depth)
{
    const ridge_service_price *p = s->price;
    service_story_add(s, depth, "ttft",
                      "request + queue + rest of an iteration + chunks x iteration + "
                      "transfer",
                      SECONDS(p->latency_s[RIDGE_SERVICE_TTFT]),
                      "%s + %s + %s + %.3g x %s + %s", SECONDS(p->wait.request_s),
                      SECONDS(p->wait.queue_s), SECONDS(p->wait.iteration_s), p->chunks,
                      SECONDS(p->prefill.expected_s), SECONDS(p->wait.transfer_s));
    service_story_fact(s, depth + 1, "request_s", SECONDS(p->wait.request_s));
    tell_queue(s, depth + 1);
    service_story_add(s, depth + 1, "rest of an iteration",
                      "sum of t^2 / 2 sum of t, over iterations",
                      SECONDS(p->wait.iteration_s), " ");
    service_story_add(s, depth + 1, "chunks", "ceil(P / room of an iteration)",
                      ridge_format_double(p->chunks).s, "P %s, budget %lld, batch %s",
                      ridge_format_count(s->request->work.prompt_tokens).s,
                      (long long)p->choice.pools[0].layout.budget_tokens,
                      ridge_format_double(p->choice.pools[0].batch).s);
    tell_step(s, depth + 1, "iteration of a chunk", &p->prefill, &p->prefill_load);
    if (p->choice.n_pools == 2)
        service_story_add(s, depth + 1, "transfer", "start + pages x bytes / bandwidth",
                          SECONDS(p->wait.transfer_s), "%s tokens, %s a token and chip",
                          ridge_format_count(s->request->work.prompt_tokens).s,
                          ridge_format_bytes(p->memory[0].cache_bytes_per_token).s);
}

void service_story_e2e(service_story *s, int depth)
{
    const ridge_service_price *p = s->price;
    service_story_add(s, depth, "e2e", "ttft + (G - 1) tpot",
                      SECONDS(p->latency_s[RIDGE_SERVICE_E2E]), "%s + %s x %s",
                      SECONDS(p->latency_s[RIDGE_SERVICE_TTFT]),
                      ridge_format_count(s->request->work.output_tokens - 1).s,
                      SECONDS(p->latency_s[RIDGE_SERVICE_TPOT]));
    service_story_ttft(s, depth + 1);
    service_story_tpot(s, depth + 1);
}

/* ---- rates and money ------------------------------------------------------------- */

static void tell_requests(service_story *s, int depth)
{
    const ridge_service_price *p = s->price;
    const ridge_service_pool *last = &p->choice.pools[p->choice.n_pools - 1];
    const ridge_serving_layout *l = &last->layout;
    const double n = (s->request->work.output_tokens - 1) / p->yield;
    if (n <= 0) {
        service_story_add(s, depth, "requests/s", "prompts / their iterations",
                          ridge_format_double(p->requests_per_s).s, " ");
        return;
    }
    service_story_add(s, depth, "requests/s",
                      "servers x attention ranks x stages x batch / (N iteration)",
                      ridge_format_double(p->requests_per_s).s,
                      "%lld x %lld x %lld x %s / (%.4g x %s)", (long long)last->servers,
                      (long long)l->attention_dp, (long long)l->pp,
                      ridge_format_double(last->batch).s, n, SECONDS(p->iteration_s));
    service_story_add(s, depth + 1, "N", "(G - 1) / tokens an iteration yields",
                      ridge_format_double(n).s, "(%s - 1) / %.3g",
                      ridge_format_count(s->request->work.output_tokens).s, p->yield);
}

void service_story_throughput(service_story *s, int depth)
{
    const ridge_service_price *p = s->price;
    service_story_add(s, depth, "throughput", "requests/s x G / chips paid",
                      ridge_format_double(p->tokens_per_s_per_chip).s,
                      "%s x %s / %s tokens/s a chip",
                      ridge_format_double(p->requests_per_s).s,
                      ridge_format_count(s->request->work.output_tokens).s,
                      ridge_format_count(p->paid_chips).s);
    tell_requests(s, depth + 1);
    tell_iteration(s, depth + 1);
    service_story_batch(s, depth + 1);
}

void service_story_usd(service_story *s, int depth)
{
    const ridge_service_price *p = s->price;
    const ridge_chip *chip = s->request->slice->chip;
    const double price = s->request->usd_per_chip_hour;
    if (price <= 0) {
        service_story_add(s, depth, "usd", "price x chips / (3600 tokens/s)",
                          "not known", "no price of %s in data/prices: give --price",
                          chip->name);
        return;
    }
    service_story_add(s, depth, "usd", "price x chips paid / (3600 s x tokens/s) x 1e6",
                      ridge_format_usd(p->usd_per_million_tokens).s,
                      "%s x %s / (3600 x %s), a million output tokens",
                      ridge_format_usd(price).s, ridge_format_count(p->paid_chips).s,
                      ridge_format_count(p->tokens_per_s).s);
    if (chip->n_prices > 0 && chip->prices[0].usd_per_chip_hour == price)
        service_story_add(
            s, depth + 1, "price", "data/prices", ridge_format_usd(price).s,
            "%s %s %s, %s %s", chip->prices[0].provider, chip->prices[0].region,
            chip->prices[0].kind, chip->prices[0].source, chip->prices[0].date);
    else
        service_story_add(s, depth + 1, "price", "as given", ridge_format_usd(price).s,
                          "--price");
    service_story_throughput(s, depth + 1);
}

/* ---- parts ----------------------------------------------------------------------- */

void service_story_part(service_story *s, int depth, int part)
{
    const ridge_service_price *p = s->price;
    const char *name = ridge_serving_part_text((ridge_serving_part)part);
    service_story_add(s, depth, name, "of the mean time between tokens",
                      SECONDS(ridge_service_tpot_part(p, part)),
                      "%s of it because of prompts; %s of the time to the first token",
                      SECONDS(fmax(0, ridge_service_tpot_prefill(p, part))),
                      SECONDS(ridge_service_ttft_part(p, part)));
    const struct {
        const char *name;
        const ridge_serving_step *step;
    } steps[] = {{"decode", &p->decode}, {"with prompts", &p->prefill}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(steps); i++) {
        const ridge_serving_step *step = steps[i].step;
        if (step->expected_s <= 0)
            continue;
        service_story_add(
            s, depth + 1, steps[i].name, "part of an iteration",
            SECONDS(step->parts_s[part]), "%s of %s",
            ridge_format_percent(step->parts_s[part] / step->expected_s).s,
            SECONDS(step->expected_s));
        tell_bounds(s, depth + 2, step);
    }
}
