/*
 * Generation: a prompt in chunks through the decode program, whose caches then grow by
 * a token a step. Each stage of a pipeline passes the stream on; the last one's logits
 * are put together, and every rank takes the same token. Replicas repeat the same text.
 */
#include "runner.h"
#include "sampler.h"

#include <string.h>

enum { CHUNK_TOKENS = 512, RUNNERS_MOST = 3 };

typedef struct generation {
    const ridge_generate_run *run;
    ridge_run_layout layout;
    ridge_generate_report report;
} generation;

typedef struct decoding {
    const generation *g;
    ridge_ctx *cx;
    ridge_comm *world;
    ridge__runner *runners[RUNNERS_MOST]; /* the first lends weights and caches */
    int64_t tokens[RUNNERS_MOST];         /* T of each */
    int n_runners;
    const int32_t *feed;
    int64_t n_feed, position;
    float *logits; /* [V], device memory */
    float *host;   /* [V] */
    int64_t vocab;
    ridge__sampler *sampler;
    int32_t token;
} decoding;

static ridge_status feed(void *payload, ridge__runner *r, ridge__chunk *c,
                         int microbatch, ridge__flight *flight)
{
    const decoding *d = payload;
    const ridge__device_ops *ops = r->device->ops;
    (void)microbatch;
    if (c->tokens < 0)
        return RIDGE_OK;
    ridge__value *v = &flight->values[c->m->unrolled.first_value[c->tokens]];
    RIDGE_TRY(ridge__value_make(c->m, v, c->tokens));
    const size_t bytes = (size_t)d->n_feed * sizeof *d->feed;
    for (int64_t at = 0; at + d->n_feed <= v->elements; at += d->n_feed)
        RIDGE_TRY(ops->upload(r->device, (int32_t *)v->p + at, d->feed, bytes));
    return RIDGE_OK;
}

/* The last token's logits of the first sequence: this rank's words into the row. */
static ridge_status take_logits(void *payload, ridge__runner *r, ridge__chunk *c,
                                int microbatch, ridge__flight *flight)
{
    decoding *d = payload;
    const ridge__tensor_part *part = &c->m->parts[c->logits];
    const ridge__value *v = &flight->values[c->m->unrolled.first_value[c->logits]];
    const ridge__span words = part->spans[part->n_dims - 1];
    const int64_t last = part->spans[1].length - 1;
    (void)microbatch;
    if (!ridge__tensor_is_mine(c->m, c->logits) || part->spans[0].start != 0)
        return RIDGE_OK;
    const ridge__array from = {(char *)v->p + last * words.length *
                                                  (int64_t)ridge_dtype_bytes(v->dtype),
                               v->dtype};
    const ridge__copy copy = {.n_dims = 1,
                              .sizes = {words.valid},
                              .x_strides = {1},
                              .y_strides = {1},
                              .x = from,
                              .y = {d->logits + words.start, RIDGE_DTYPE_FP32}};
    return r->device->ops->copy(r->device, &copy);
}

/* ---- a pass ------------------------------------------------------------------------
 */

static ridge_status run_pass(decoding *d, int index)
{
    ridge__runner *r = d->runners[index];
    const ridge__step_hooks hooks = {
        .feed = feed, .result = take_logits, .payload = d, .is_forward_only = true};
    const size_t bytes = (size_t)d->vocab * sizeof(float);
    ridge_pending pending;
    for (int i = 0; i < r->n_chunks; i++)
        r->chunks[i].m->position = d->position;
    RIDGE_TRY(r->device->ops->zero(r->device, d->logits, bytes));
    RIDGE_TRY(ridge__runner_passes(r, &hooks));
    d->position += d->n_feed;
    RIDGE_TRY(r->device->ops->finish(r->device));
    RIDGE_TRY(ridge_all_reduce_start(d->cx, d->world, RIDGE_ELEMENT_F32,
                                     RIDGE_REDUCE_SUM, d->vocab, d->logits, d->logits,
                                     &pending));
    RIDGE_TRY(ridge_comm_wait(d->cx, &pending));
    RIDGE_TRY(r->device->ops->download(r->device, d->host, d->logits, bytes));
    return RIDGE_OK;
}

static int runner_of(const decoding *d, int64_t tokens)
{
    for (int i = 0; i < d->n_runners; i++) {
        if (d->tokens[i] == tokens)
            return i;
    }
    return -1;
}

static ridge_status read_prompt(decoding *d)
{
    const ridge_generate_run *run = d->g->run;
    for (int64_t at = 0; at < run->n_prompt; at += d->n_feed) {
        const int64_t left = run->n_prompt - at;
        d->n_feed = left < CHUNK_TOKENS ? left : CHUNK_TOKENS;
        d->feed = run->prompt + at;
        RIDGE_TRY(run_pass(d, runner_of(d, d->n_feed)));
    }
    d->token = ridge__sampler_take(d->sampler, d->host);
    return RIDGE_OK;
}

static ridge_status next_token(decoding *d)
{
    const int32_t token = d->token;
    d->feed = &token;
    d->n_feed = 1;
    RIDGE_TRY(run_pass(d, runner_of(d, 1)));
    d->token = ridge__sampler_take(d->sampler, d->host);
    return RIDGE_OK;
}

/* ---- opening -----------------------------------------------------------------------
 */

static int64_t context_of(const ridge_generate_run *run)
{
    return run->context > 0 ? run->context : run->n_prompt + run->n_new;
}

static int64_t chunk_of(const ridge_generate_run *run)
{
    return run->n_prompt < CHUNK_TOKENS ? run->n_prompt : CHUNK_TOKENS;
}

static ridge_status open_runner(decoding *d, int64_t tokens)
{
    const generation *g = d->g;
    const int ranks = g->run->ranks.ranks;
    const int share = ridge_processor_count() / (ranks > 0 ? ranks : 1);
    ridge__runner_options options = {
        .model = g->run->model,
        .numerics = &g->run->numerics,
        .layout = &g->layout,
        .lowering = {.phase = RIDGE_PHASE_DECODE,
                     .sequences = ridge_run_layout_sequences(&g->layout),
                     .query_tokens = tokens,
                     .context_tokens = context_of(g->run),
                     .cache_query_tokens = chunk_of(g->run),
                     .weight = g->layout.weight,
                     .activation = g->layout.weight,
                     .cache = g->layout.weight},
        .threads = g->run->threads > 0 ? g->run->threads
                   : share > 0         ? share
                                       : 1,
        .measured = g->run->measured,
        .microbatches = 1,
        .lender = d->n_runners > 0 ? d->runners[0] : NULL};
    if (runner_of(d, tokens) >= 0)
        return RIDGE_OK;
    d->tokens[d->n_runners] = tokens;
    ridge__runner **at = &d->runners[d->n_runners++];
    return ridge__runner_open(d->cx, d->world, &options, at);
}

static ridge_status open_runners(decoding *d)
{
    const int64_t n = d->g->run->n_prompt;
    RIDGE_TRY(open_runner(d, 1));
    if (n >= CHUNK_TOKENS)
        RIDGE_TRY(open_runner(d, CHUNK_TOKENS));
    return n % CHUNK_TOKENS > 0 ? open_runner(d, n % CHUNK_TOKENS) : RIDGE_OK;
}

static ridge_status read_weights(decoding *d)
{
    const ridge_generate_run *run = d->g->run;
    ridge__runner *r = d->runners[0];
    if (run->checkpoint) {
        const ridge_checkpoint_reader *reader;
        RIDGE_TRY(ridge_checkpoint_reader_open(d->cx, run->checkpoint, &reader));
        return ridge__runner_read_checkpoint(r, reader, false);
    }
    const ridge_weight_source *source;
    RIDGE_TRY(ridge_weight_source_open(d->cx, run->weights, run->model, &run->numerics,
                                       &source));
    return ridge__runner_read_source(r, source, &run->numerics);
}

static ridge_status open_rank(decoding *d)
{
    void *logits;
    RIDGE_TRY(open_runners(d));
    RIDGE_TRY(read_weights(d));
    d->vocab = d->g->run->model->vocab;
    ridge__device *device = d->runners[0]->device;
    RIDGE_TRY(device->ops->alloc(device, (size_t)d->vocab * sizeof(float), &logits));
    d->logits = logits;
    d->host = ridge_new(ridge_ctx_arena(d->cx), float, (size_t)d->vocab);
    if (d->host == NULL)
        return ridge_fail_nomem(d->cx);
    return ridge__sampler_open(d->cx, &d->g->run->sampling, d->vocab, &d->sampler);
}

/* ---- the loop ----------------------------------------------------------------------
 */

/* The leading rank's watcher decides for all whether to go on. */
static ridge_status take_token(decoding *d, generation *g, bool *is_done)
{
    const ridge_generate_run *run = g->run;
    double stop = 0.0, all;
    if (ridge_comm_rank(d->world) == 0) {
        g->report.tokens[g->report.n++] = d->token;
        if (run->watch && !run->watch(run->payload, d->token))
            stop = 1.0;
    }
    RIDGE_TRY(ridge__share_sum(d->runners[0], stop, &all));
    *is_done = all > 0.0 || d->token == run->stop;
    return RIDGE_OK;
}

static ridge_status generate(decoding *d, generation *g)
{
    const bool is_lead = ridge_comm_rank(d->world) == 0;
    double start_s = ridge_clock_s();
    bool is_done = false;
    RIDGE_TRY(read_prompt(d));
    if (is_lead)
        g->report.prefill_s = ridge_clock_s() - start_s;
    start_s = ridge_clock_s();
    for (int64_t i = 0; i < g->run->n_new; i++) {
        if (i > 0)
            RIDGE_TRY(next_token(d));
        RIDGE_TRY(take_token(d, g, &is_done));
        if (is_done)
            break;
    }
    if (is_lead)
        g->report.decode_s = ridge_clock_s() - start_s;
    return RIDGE_OK;
}

static ridge_status generate_rank(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    generation *g = payload;
    decoding d = {.g = g, .cx = cx, .world = world};
    ridge_status st = open_rank(&d);
    st = st == RIDGE_OK ? generate(&d, g) : st;
    if (st != RIDGE_OK)
        ridge_comm_abandon(world);
    for (int i = d.n_runners - 1; i >= 0; i--)
        ridge__runner_close(d.runners[i]);
    return st;
}

static ridge_status check(ridge_ctx *cx, const ridge_generate_run *run)
{
    if (run->n_prompt < 1 || run->n_new < 1)
        return ridge_fail(cx, RIDGE_E_ARG, "a text begins with at least one token");
    if ((run->weights == NULL) == (run->checkpoint == NULL))
        return ridge_fail(cx, RIDGE_E_ARG, "give weights or a checkpoint, one of them");
    if (run->layout.degrees.cp > 1)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "a token at a time cannot be cut over cp=%lld: generate with "
                          "cp=1",
                          (long long)run->layout.degrees.cp);
    if (run->n_prompt + run->n_new > context_of(run))
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "%lld tokens of prompt and %lld new ones exceed the context of "
            "%lld",
            (long long)run->n_prompt, (long long)run->n_new, (long long)run->context);
    for (int64_t i = 0; i < run->n_prompt; i++) {
        if (run->prompt[i] < 0 || run->prompt[i] >= run->model->vocab)
            return ridge_fail(cx, RIDGE_E_ARG,
                              "token %d of the prompt is not among the model's %lld",
                              run->prompt[i], (long long)run->model->vocab);
    }
    return RIDGE_OK;
}

ridge_status ridge_run_generate(ridge_ctx *cx, const ridge_generate_run *run,
                                ridge_generate_report *out)
{
    generation g = {.run = run, .layout = run->layout};
    RIDGE_TRY(check(cx, run));
    g.layout.degrees.is_sequence_parallel = false; /* one token cannot be cut */
    g.layout.microbatch_seqs = 1;
    if (ridge__layout_copies(&g.layout) > 1) { /* one goes one way alone */
        g.layout.schedule = RIDGE_SCHEDULE_1F1B;
        g.layout.vpp = 1;
    }
    g.report.tokens = ridge_new(ridge_ctx_arena(cx), int32_t, (size_t)run->n_new);
    if (g.report.tokens == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge_ranks_run(cx, &run->ranks, generate_rank, &g));
    *out = g.report;
    return RIDGE_OK;
}
