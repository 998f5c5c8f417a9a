#include "service_sections.h"
#include "engine_line.h"
#include "service_text.h"

#include <math.h>

/* ---- plays ------------------------------------------------------------------------
 */

void ridge__service_played_cells(ridge_ctx *cx, ridge_table *t,
                                 const ridge_service_price *p)
{
    const ridge_service_played *d = &p->played;
    ridge_table_cell(t, ridge__service_choice_text(cx, &p->choice));
    ridge_table_cell(t, ridge_format_double(d->requests_per_s).s);
    ridge_table_cell(t, ridge_format_double(p->requests_per_s).s);
    ridge_table_cell(t, ridge_format_count(d->tokens_per_s_per_chip).s);
    ridge_table_cell(t, d->usd_per_million_tokens > 0
                            ? ridge_format_usd(d->usd_per_million_tokens).s
                            : "-");
    ridge_table_cell(t, d->is_kept ? "kept" : "missed");
    ridge_table_cell(t, ridge_format_percent(d->good_share).s);
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        ridge_table_cell(t, ridge_format_seconds(d->mean_s[i]).s);
        ridge_table_cell(t, ridge_format_seconds(d->p99_s[i]).s);
    }
    ridge_table_cell(t, ridge_format_percent(d->cache_most).s);
    ridge_table_cell(t, ridge_format_exact(d->preemptions).s);
}

const char *ridge__service_arrivals_text(const ridge_service_request *r)
{
    if (r->requests_per_s > 0)
        return "at the rate, Poisson";
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        if (isfinite(r->goals.most_s[i]))
            return "at the largest rate of Poisson arrivals that keeps the goals";
    }
    return "of a closed loop";
}

void ridge__service_played_add(ridge_ctx *cx, const ridge_service_view *v,
                               ridge_sections *s)
{
    const ridge_service_result *r = v->result;
    if (r->n_layouts == 0 || !r->layouts[0].played.is_played)
        return;
    ridge_table *t = ridge__section_add(cx, s, "Played request by request",
                                        ">#|" RIDGE_SERVICE_PLAYED_HEADS);
    for (int i = 0; i < r->n_layouts; i++) {
        if (!r->layouts[i].played.is_played)
            continue;
        ridge_table_cellf(t, "%d", i + 1);
        ridge__service_played_cells(cx, t, &r->layouts[i]);
    }
    ridge__section_note(
        s,
        ridge_sprintf(
            ridge_ctx_arena(cx),
            "%s requests %s. The order above is that of these plays; `ridge simulate` "
            "plays a plan with other lengths, arrivals and files.",
            ridge_format_exact(r->layouts[0].played.requests).s,
            ridge__service_arrivals_text(v->request)));
}

/* ---- modes ------------------------------------------------------------------------
 */

static int largest_part(const ridge_service_price *p)
{
    int largest = 0;
    for (int i = 1; i < RIDGE_SERVING_PART_COUNT; i++) {
        if (ridge_service_tpot_part(p, i) > ridge_service_tpot_part(p, largest))
            largest = i;
    }
    return largest;
}

const char *ridge__service_bottleneck(const ridge_service_price *p)
{
    return p->is_detailed ? ridge_serving_part_text((ridge_serving_part)largest_part(p))
                          : "-";
}

void ridge__service_modes_add(ridge_ctx *cx, const ridge_service_view *v,
                              ridge_sections *s)
{
    const ridge_service_result *r = v->result;
    if (!r->has_other)
        return;
    const ridge_service_price *both[] = {&r->layouts[0], &r->other};
    ridge_table *t = ridge__section_add(
        cx, s, "One pool or two",
        "mode|layout|>TTFT|>TPOT|>tok/s/chip|>prefill in use|>decode in use|>transfer");
    for (int i = 0; i < 2; i++) {
        const ridge_service_price *p = both[i];
        const bool is_two = p->choice.n_pools == 2;
        ridge_table_cell(t, ridge_service_mode_text(p->choice.mode));
        ridge_table_cell(t, ridge__service_choice_text(cx, &p->choice));
        ridge_table_cell(t, ridge_format_seconds(p->latency_s[RIDGE_SERVICE_TTFT]).s);
        ridge_table_cell(t, ridge_format_seconds(p->latency_s[RIDGE_SERVICE_TPOT]).s);
        ridge_table_cell(t, ridge_format_count(p->tokens_per_s_per_chip).s);
        ridge_table_cell(t, ridge_format_percent(p->use).s);
        ridge_table_cell(t, is_two ? ridge_format_percent(p->decode_use).s : "-");
        ridge_table_cell(t, is_two ? ridge_format_seconds(p->wait.transfer_s).s : "-");
    }
}

/* ---- parts ------------------------------------------------------------------------
 */

static const char *const part_whats[RIDGE_SERVING_PART_COUNT] = {
    [RIDGE_SERVING_PART_DENSE] = "products of attention and dense feed-forwards",
    [RIDGE_SERVING_PART_EXPERTS] = "feed-forwards of experts, and routing",
    [RIDGE_SERVING_PART_HEAD] = "unembedding and sampling",
    [RIDGE_SERVING_PART_PREFILL_ATTENTION] = "scores of prompts",
    [RIDGE_SERVING_PART_DECODE_ATTENTION] = "reads of the cache",
    [RIDGE_SERVING_PART_VECTOR] = "norms, rotary, quantisation, embedding",
    [RIDGE_SERVING_PART_TP] = "collectives of dense layers",
    [RIDGE_SERVING_PART_EP] = "dispatch and combine of experts",
    [RIDGE_SERVING_PART_KV] = "collectives of a cut cache",
    [RIDGE_SERVING_PART_PP] = "sends between stages",
    [RIDGE_SERVING_PART_DRAFT] = "drafting",
    [RIDGE_SERVING_PART_STAGES] = "batches of a pipeline wait for longer ones",
    [RIDGE_SERVING_PART_LAUNCH] = "launches that nothing hides",
    [RIDGE_SERVING_PART_HOST] = "the engine's host, where it is not hidden"};

/* A part of both latencies, and of TPOT what chunks of prompts take of it. */
typedef struct part_row {
    const char *name;
    double ttft_s, tpot_s, prompts_s;
    const char *what;
} part_row;

static void seconds_cell(ridge_table *t, double s, double least)
{
    ridge_table_cell(t, s > least ? ridge_format_seconds(s).s : "-");
}

static void add_row(ridge_table *t, const part_row *r)
{
    ridge_table_cell(t, r->name);
    seconds_cell(t, r->ttft_s, 0);
    seconds_cell(t, r->tpot_s, 0);
    seconds_cell(t, r->prompts_s, 1e-9);
    ridge_table_cell(t, r->what);
}

static void add_parts(ridge_table *t, const ridge_service_price *p)
{
    for (int i = 0; i < RIDGE_SERVING_PART_COUNT; i++) {
        const double ttft_s = ridge_service_ttft_part(p, i);
        const double tpot_s = ridge_service_tpot_part(p, i);
        if (ttft_s <= 0 && tpot_s <= 0)
            continue;
        add_row(t,
                &(part_row){ridge_serving_part_text((ridge_serving_part)i), ttft_s,
                            tpot_s, ridge_service_tpot_prefill(p, i), part_whats[i]});
    }
}

/* Of the iterations, those with chunks. Of a request at a time they come before those
 * that decode. */
static double mixed_share(const ridge_service_request *r, const ridge_service_price *p)
{
    if (p->choice.n_pools == 2)
        return 0;
    const bool is_alone = p->mixed <= 0 && p->choice.pools[0].batch < 1;
    const double decoding = (r->work.output_tokens - 1) / p->yield;
    return is_alone ? p->chunks / (p->chunks + decoding) : p->mixed;
}

void ridge__service_parts_add(ridge_ctx *cx, const ridge_service_view *v,
                              ridge_sections *s)
{
    const ridge_service_price *p = &v->result->layouts[0];
    const ridge_service_wait *w = &p->wait;
    double prompts_s = 0;
    for (int i = 0; i < RIDGE_SERVING_PART_COUNT; i++)
        prompts_s += ridge_service_tpot_prefill(p, i);
    ridge_table *t = ridge__section_add(cx, s, "Latencies of the best deployment",
                                        "part|>TTFT|>TPOT|>of it by prompts|what");
    add_row(t, &(part_row){"request", w->request_s, 0, 0,
                           "the engine, before the request queues"});
    if (w->queue_s > 0)
        add_row(t, &(part_row){"queue", w->queue_s, 0, 0, "prompts before it"});
    if (w->iteration_s > 0)
        add_row(t, &(part_row){"iteration", w->iteration_s, 0, 0,
                               p->choice.n_pools == 2
                                   ? "of those that decode, until the first token"
                                   : "until the iteration under way ends"});
    add_parts(t, p);
    if (w->transfer_s > 0)
        add_row(t, &(part_row){"transfer", w->transfer_s, 0, 0,
                               "of the cache to the decoding server"});
    ridge_table_rule(t);
    add_row(t, &(part_row){"sum", p->latency_s[RIDGE_SERVICE_TTFT],
                           p->latency_s[RIDGE_SERVICE_TPOT], prompts_s, ""});
    add_row(t, &(part_row){"bound", p->bound_s[RIDGE_SERVICE_TTFT],
                           p->bound_s[RIDGE_SERVICE_TPOT], 0,
                           "perfect overlap, peak rates, no waiting"});
    ridge__section_note(
        s, ridge_sprintf(
               ridge_ctx_arena(cx),
               "A prompt takes %s iteration%s; %s of the iterations carry prompts. An "
               "iteration yields %s token%s of a sequence. %s requests are in the "
               "service, each at %s tokens/s.",
               ridge_format_double(p->chunks).s, p->chunks == 1 ? "" : "s",
               ridge_format_percent(mixed_share(v->request, p)).s,
               ridge_format_double(p->yield).s, p->yield == 1 ? "" : "s",
               ridge_format_double(p->concurrency).s,
               ridge_format_double(p->user_tokens_per_s).s));
}

/* ---- memory -----------------------------------------------------------------------
 */

static void add_bytes(ridge_table *t, const char *name, double bytes, double hbm_bytes,
                      const char *what)
{
    if (bytes <= 0)
        return;
    ridge_table_cell(t, name);
    ridge_table_cell(t, ridge_format_bytes(bytes).s);
    ridge_table_cell(t, ridge_format_percent(bytes / hbm_bytes).s);
    ridge_table_cell(t, what);
}

static void add_cache_note(ridge_ctx *cx, const ridge_service_view *v,
                           const ridge_service_price *p, int pool, ridge_sections *s)
{
    const ridge_serving_memory *m = &p->memory[pool];
    const double longest =
        v->request->work.context_tokens > 0
            ? v->request->work.context_tokens
            : v->request->work.prompt_tokens + v->request->work.output_tokens;
    ridge__section_note(
        s,
        ridge_sprintf(
            ridge_ctx_arena(cx),
            "%s blocks of %lld tokens on an attention rank, %s a token and chip; at "
            "most %s sequences at once; %s in use in the mean. The engine prints: %s.",
            ridge_format_exact(m->blocks).s, (long long)m->block_tokens,
            ridge_format_bytes(m->cache_bytes_per_token).s,
            ridge_format_exact(p->choice.pools[pool].layout.sequences).s,
            ridge_format_percent(p->cache_use).s,
            ridge__engine_line(cx, v->request->engine, m->blocks, m->block_tokens,
                               (int64_t)longest)));
}

static void add_pool_memory(ridge_ctx *cx, const ridge_service_view *v, int pool,
                            ridge_sections *s)
{
    const ridge_service_price *p = &v->result->layouts[0];
    const ridge_serving_memory *m = &p->memory[pool];
    const double hbm_bytes = ridge_chip_memory_bytes(v->request->slice->chip);
    const char *title = "Memory of a chip";
    if (p->choice.n_pools == 2)
        title = pool == 0 ? "Memory of a chip that prefills"
                          : "Memory of a chip that decodes";
    ridge_table *t = ridge__section_add(cx, s, title, "part|>bytes|>of HBM|what");
    add_bytes(t, "weights", m->weights, hbm_bytes, "of the fullest stage");
    add_bytes(t, "draft", m->draft, hbm_bytes, "weights that draft");
    add_bytes(t, "activations", m->activations, hbm_bytes,
              "of the largest iteration, logits among them");
    add_bytes(t, "reserve", m->reserve, hbm_bytes, "context, graphs, collectives");
    add_bytes(t, "cache", m->cache, hbm_bytes, "pages of keys and values");
    ridge_table_rule(t);
    add_bytes(t, "engine", m->total, hbm_bytes, "of HBM that the engine may take");
    add_cache_note(cx, v, p, pool, s);
}

void ridge__service_memory_add(ridge_ctx *cx, const ridge_service_view *v,
                               ridge_sections *s)
{
    for (int i = 0; i < v->result->layouts[0].choice.n_pools; i++)
        add_pool_memory(cx, v, i, s);
}

/* ---- bounds -----------------------------------------------------------------------
 */

static void add_step(ridge_table *t, const char *name, const ridge_serving_step *step,
                     const ridge_serving_load *load)
{
    if (step->expected_s <= 0)
        return;
    ridge_table_cell(t, name);
    ridge_table_cell(t, ridge__batch_text(load->decode_sequences).s);
    ridge_table_cell(t, ridge_format_exact((int64_t)round(load->chunk_tokens)).s);
    ridge_table_cell(t, ridge_format_seconds(step->expected_s).s);
    ridge_table_cell(t, ridge_format_seconds(step->bound_s).s);
    ridge_table_cell(t, ridge_format_seconds(step->bound_flops_s).s);
    ridge_table_cell(t, ridge_format_seconds(step->bound_weights_s).s);
    ridge_table_cell(t, ridge_format_seconds(step->bound_cache_s).s);
    ridge_table_cell(t, ridge_format_seconds(step->bound_network_s).s);
    ridge_table_cell(t, ridge_bound_text(step->bound_by));
}

void ridge__service_bounds_add(ridge_ctx *cx, const ridge_service_view *v,
                               ridge_sections *s)
{
    const ridge_service_price *p = &v->result->layouts[0];
    ridge_table *t = ridge__section_add(
        cx, s, "What bounds its iterations",
        "iteration|>sequences|>prompt tokens|>expected|>bound|>FLOPs|>weights|>cache|"
        ">network|bound by");
    add_step(t, "decode", &p->decode, &p->decode_load);
    add_step(t,
             p->prefill_load.decode_sequences > 0 ? "decode with prompts" : "prefill",
             &p->prefill, &p->prefill_load);
    ridge__section_note(s,
                        "FLOPs at the peak of their format; weights and cache read "
                        "once from HBM at its bandwidth; the network's bytes at its "
                        "links' rate. The bound is the cache's and the longer of FLOPs "
                        "and weights, or the network's if that is longer.");
}

/* ---- refusals ---------------------------------------------------------------------
 */

enum { REFUSALS_SHOWN = 8 };

void ridge__service_refusals_add(ridge_ctx *cx, const ridge_service_view *v,
                                 ridge_sections *s)
{
    const ridge_service_result *r = v->result;
    if (r->n_refusals == 0)
        return;
    ridge_table *t = ridge__section_add(cx, s, "Layouts refused", ">layouts|as|why");
    for (int i = 0; i < r->n_refusals && i < REFUSALS_SHOWN; i++) {
        const ridge_service_refusal *f = &r->refusals[i];
        ridge_table_cell(t, ridge_format_exact(f->n).s);
        ridge_table_cell(t, ridge__serving_layout_text(cx, &f->example));
        if (f->fit == RIDGE_SERVICE_FIT_WEIGHTS && f->nearest > 0)
            ridge_table_cellf(t, "%s: %s a chip too much at best", f->why,
                              ridge_format_bytes(f->nearest).s);
        else
            ridge_table_cell(t, f->why);
    }
}

/* ---- fronts -----------------------------------------------------------------------
 */

static void add_front(ridge_ctx *cx, const ridge_service_view *v, bool is_cost,
                      ridge_sections *s)
{
    const ridge_service_result *r = v->result;
    const ridge_service_price *front = is_cost ? r->cost_front : r->speed_front;
    const int n = is_cost ? r->n_cost_front : r->n_speed_front;
    const char *title = is_cost ? "Latency against cost"
                                : "Speed of a user against throughput of a chip";
    if (n == 0)
        return;
    ridge_table *t = ridge__section_add(
        cx, s, title,
        ">tok/s of a user|>TPOT|>TTFT|>E2E|>tok/s/chip|>$/M tok|>kWh/M "
        "tok|>batch|layout");
    for (int i = 0; i < n; i++) {
        const ridge_service_price *p = &front[i];
        const ridge_service_pool *last = &p->choice.pools[p->choice.n_pools - 1];
        ridge_table_cell(t, ridge_format_double(p->user_tokens_per_s).s);
        ridge_table_cell(t, ridge_format_seconds(p->latency_s[RIDGE_SERVICE_TPOT]).s);
        ridge_table_cell(t, ridge_format_seconds(p->latency_s[RIDGE_SERVICE_TTFT]).s);
        ridge_table_cell(t, ridge_format_seconds(p->latency_s[RIDGE_SERVICE_E2E]).s);
        ridge_table_cell(t, ridge_format_count(p->tokens_per_s_per_chip).s);
        ridge_table_cell(t, p->usd_per_million_tokens > 0
                                ? ridge_format_usd(p->usd_per_million_tokens).s
                                : "-");
        ridge_table_cell(t, ridge__kwh_text(p).s);
        ridge_table_cell(t, ridge__batch_text(last->batch).s);
        ridge_table_cell(t, ridge__service_choice_named(cx, v->request, &p->choice));
    }
    ridge__section_note(
        s, is_cost
               ? "None is both faster to the last token and cheaper than one of these."
               : "No deployment gives both a user and a chip more tokens a second "
                 "than one of these, whatever the goals.");
}

void ridge__service_fronts_add(ridge_ctx *cx, const ridge_service_view *v,
                               ridge_sections *s)
{
    add_front(cx, v, false, s);
    add_front(cx, v, true, s);
}
