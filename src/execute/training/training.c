/* Training: batches, steps, evaluation, checkpoints, and what the watcher is told. */
#include "device_cpu.h"
#include "rows_load.h"
#include "run_trace.h"
#include "training_batch.h"

#include <math.h>
#include <stdlib.h>

/* ---- learning ----------------------------------------------------------------------
 */

ridge_learning ridge_learning_usual(void)
{
    return (ridge_learning){.kind = RIDGE_RATE_COSINE,
                            .rate = 3e-4,
                            .least = 0.1,
                            .beta1 = 0.9,
                            .beta2 = 0.95,
                            .epsilon = 1e-8,
                            .momentum = 0.95,
                            .factor_power = 0.8,
                            .decay = 0.1,
                            .clip = 1.0};
}

double ridge_learning_rate(const ridge_learning *l, int64_t step, int64_t steps)
{
    if (step < l->warmup)
        return l->rate * (double)(step + 1) / (double)(l->warmup + 1);
    const double span = (double)(steps - l->warmup);
    const double at = span > 1.0 ? (double)(step - l->warmup) / span : 0.0;
    const double done = at < 0.0 ? 0.0 : at > 1.0 ? 1.0 : at;
    switch (l->kind) {
    case RIDGE_RATE_CONSTANT:
        return l->rate;
    case RIDGE_RATE_COSINE:
        return l->rate * (l->least + (1.0 - l->least) * 0.5 *
                                         (1.0 + cos(3.141592653589793 * done)));
    case RIDGE_RATE_LINEAR:
        return l->rate * (1.0 - (1.0 - l->least) * done);
    }
    return l->rate;
}

/* ---- one rank ----------------------------------------------------------------------
 */

typedef struct training {
    const ridge_train_run *run;
    ridge_train_report *report;
    ridge_ctx *caller; /* of whom the report is */
} training;

static int64_t microbatch_count(const ridge_train_run *run)
{
    return ridge_ceil_div(run->batch_seqs, ridge_run_layout_sequences(&run->layout));
}

/* Losses of the rank's tokens, each counted once over the mesh. */
static ridge_status add_loss(void *payload, ridge__runner *r, ridge__chunk *c,
                             int microbatch, ridge__flight *flight)
{
    ridge__rank_state *s = payload;
    const ridge__value *v = &flight->values[c->m->unrolled.first_value[c->loss]];
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(r->cx));
    float *loss = ridge_new(ridge_ctx_scratch(r->cx), float, (size_t)v->elements);
    double sum = 0.0;
    (void)microbatch;
    if (loss == NULL)
        return ridge_fail_nomem(r->cx);
    RIDGE_TRY(r->device->ops->download(r->device, loss, v->p,
                                       (size_t)v->elements * sizeof *loss));
    for (int64_t i = 0; i < v->elements; i++)
        sum += (double)loss[i];
    s->loss_sum += sum / (double)ridge__tensor_replicas(c->m, c->loss);
    ridge_arena_rewind(ridge_ctx_scratch(r->cx), mark);
    return RIDGE_OK;
}

static ridge_status run_passes(ridge__rank_state *s, double *loss)
{
    const ridge__step_hooks hooks = {.feed = ridge__batch_feed,
                                     .result = add_loss,
                                     .payload = s,
                                     .is_forward_only = s->is_evaluation};
    double sum;
    s->loss_sum = 0.0;
    RIDGE_TRY(ridge__runner_passes(s->r, &hooks));
    RIDGE_TRY(ridge__share_sum(s->r, s->loss_sum, &sum));
    *loss = sum / s->tokens;
    return RIDGE_OK;
}

static void tell(const ridge__rank_state *s, const ridge_run_event *event)
{
    if (s->run->watch && ridge_comm_rank(s->r->world) == 0)
        s->run->watch(s->run->payload, event);
}

/* ---- steps -------------------------------------------------------------------------
 */

static ridge__optimizer optimizer_of(const ridge__rank_state *s)
{
    const ridge_learning *l = &s->run->learning;
    const double n = (double)s->step + 1.0;
    return (ridge__optimizer){.rate =
                                  (float)ridge_learning_rate(l, s->step, s->run->steps),
                              .beta1 = (float)l->beta1,
                              .beta2 = (float)l->beta2,
                              .epsilon = (float)l->epsilon,
                              .decay = (float)l->decay,
                              .correction1 = (float)(1.0 - pow(l->beta1, n)),
                              .correction2 = (float)(1.0 - pow(l->beta2, n)),
                              .momentum = (float)l->momentum,
                              .factor_decay = (float)(1.0 - pow(n, -l->factor_power)),
                              .scale = (float)(1.0 / s->tokens)};
}

static ridge_status run_step(ridge__rank_state *s, ridge_run_event *event)
{
    const double start_s = ridge_clock_s();
    s->is_evaluation = false;
    s->tokens = (double)s->run->batch_seqs * (double)s->run->seq_tokens;
    const ridge__optimizer optimizer = optimizer_of(s);
    RIDGE_TRY(run_passes(s, &event->loss));
    RIDGE_TRY(ridge__runner_update(s->r, &optimizer, s->run->learning.clip,
                                   &event->gradient_norm));
    RIDGE_TRY(s->r->device->ops->finish(s->r->device));
    if (!isfinite(event->loss) || !isfinite(event->gradient_norm))
        return ridge_fail(s->r->cx, RIDGE_E_ARG,
                          "step %lld: the loss is not finite: a lower --rate may help",
                          (long long)s->step + 1);
    event->step = s->step + 1;
    event->rate = (double)optimizer.rate;
    event->step_s = ridge_clock_s() - start_s;
    event->tokens_per_s = s->tokens / event->step_s;
    s->step_s[s->n_steps++] = event->step_s;
    return RIDGE_OK;
}

/* The mean loss of windows that no step has seen, in batches of the usual size. */
static ridge_status evaluate(ridge__rank_state *s, double *loss)
{
    const ridge_train_run *run = s->run;
    const int64_t windows =
        ridge_token_data_windows(run->data, RIDGE_DATA_EVAL, run->seq_tokens);
    const int64_t batch =
        microbatch_count(run) * ridge_run_layout_sequences(&run->layout);
    const int64_t wanted = run->eval_seqs < windows ? run->eval_seqs : windows;
    double sum = 0.0;
    s->is_evaluation = true;
    for (s->eval_first = 0; s->eval_first < wanted; s->eval_first += batch) {
        double mean;
        s->tokens = 1.0;
        RIDGE_TRY(run_passes(s, &mean));
        sum += mean;
    }
    s->is_evaluation = false;
    *loss = wanted > 0 ? sum / ((double)wanted * (double)run->seq_tokens) : nan("");
    return RIDGE_OK;
}

static ridge_status save(ridge__rank_state *s, const char **path)
{
    const ridge_train_run *run = s->run;
    ridge_json *state = ridge_json_object(s->r->cx);
    ridge_json_set_i64(state, "seed", (int64_t)run->seed);
    ridge_json_set_i64(state, "batch_seqs", run->batch_seqs);
    ridge_json_set_i64(state, "seq_tokens", run->seq_tokens);
    ridge_json_set_i64(state, "steps", run->steps);
    const ridge_checkpoint_plan plan = {.dir = run->checkpoint_dir,
                                        .step = s->step + 1,
                                        .ranks = ridge_comm_size(s->r->world),
                                        .model = run->model->name,
                                        .mesh = &s->r->mesh,
                                        .state = state,
                                        .keep = run->keep};
    return ridge__runner_write(s->r, &plan, path);
}

static bool is_due(int64_t every, const ridge__rank_state *s)
{
    const int64_t done = s->step + 1;
    return every > 0 && (done % every == 0 || done == s->run->steps);
}

static ridge_status after_step(ridge__rank_state *s, ridge_train_report *report)
{
    ridge_run_event event = {.step = s->step + 1};
    if (s->run->eval_seqs > 0 && is_due(s->run->eval_every, s)) {
        event.is_evaluation = true;
        RIDGE_TRY(evaluate(s, &event.loss));
        report->eval_loss = event.loss;
        tell(s, &event);
    }
    if (s->run->checkpoint_dir && is_due(s->run->checkpoint_every, s)) {
        ridge_run_event saved = {.step = s->step + 1};
        RIDGE_TRY(save(s, &saved.checkpoint));
        if (saved.checkpoint)
            tell(s, &saved);
    }
    return RIDGE_OK;
}

/* ---- weights to begin with ----------------------------------------------------------
 */

static ridge_status check_state(ridge__rank_state *s,
                                const ridge_checkpoint_reader *reader)
{
    const ridge_node state = ridge_checkpoint_reader_state(reader);
    int64_t seed;
    if (ridge_json_i64(ridge_json_get(&state, "seed"), &seed) &&
        (uint64_t)seed != s->run->seed)
        return ridge_fail(s->r->cx, RIDGE_E_ARG,
                          "%s was trained with --seed %lld: resume with the same",
                          ridge_checkpoint_reader_path(reader), (long long)seed);
    s->step = ridge_checkpoint_reader_step(reader);
    if (s->step >= s->run->steps)
        return ridge_fail(s->r->cx, RIDGE_E_ARG,
                          "%s has all %lld steps: ask for more with --steps",
                          ridge_checkpoint_reader_path(reader), (long long)s->step);
    return RIDGE_OK;
}

static ridge_status resume(ridge__rank_state *s)
{
    const ridge_checkpoint_reader *reader;
    RIDGE_TRY(ridge_checkpoint_reader_open(s->r->cx, s->run->checkpoint_dir, &reader));
    RIDGE_TRY(check_state(s, reader));
    return ridge__runner_read_checkpoint(s->r, reader, true);
}

static ridge_status begin(ridge__rank_state *s)
{
    const ridge_train_run *run = s->run;
    const ridge_weight_source *source;
    if (run->is_resumed && run->checkpoint_dir &&
        (ridge_checkpoint_latest(s->r->cx, run->checkpoint_dir) >= 0 ||
         ridge_checkpoint_latest_fault(s->r->cx, run->checkpoint_dir) != NULL))
        return resume(s);
    if (run->weights == NULL)
        return ridge__runner_init(s->r, run->seed, run->init_scale);
    RIDGE_TRY(ridge_weight_source_open(s->r->cx, run->weights, run->model,
                                       &run->numerics, &source));
    return ridge__runner_read_source(s->r, source, &run->numerics);
}

static int threads_of(const ridge_train_run *run)
{
    const int ranks = run->ranks.ranks < 1 ? 1 : run->ranks.ranks;
    const int share = ridge_processor_count() / ranks;
    return run->threads > 0 ? run->threads : share > 0 ? share : 1;
}

/* What a thread has of a processor: more threads than processors take turns, and the
 * fastest moment of each, which a peak is, would count some processors twice. */
static double processor_share(const ridge_train_run *run)
{
    const int here = run->ranks.engine == RIDGE_ENGINE_MPI ? ridge_launched_here()
                                                           : run->ranks.ranks;
    const double threads = (double)here * (double)threads_of(run);
    return fmin(1.0, (double)ridge_processor_count() / threads);
}

/* All ranks measure at once; the best of all times counts. */
static ridge_status measure_peak(ridge__rank_state *s)
{
    double own = 0.0, all = 0.0;
    if (!s->run->is_peak_measured ||
        ridge_comm_engine(s->r->world) == RIDGE_ENGINE_CUDA)
        return RIDGE_OK;
    RIDGE_TRY(ridge_barrier(s->r->cx, s->r->world));
    own = ridge__peak_flops_per_s(s->r->device) * processor_share(s->run);
    RIDGE_TRY(ridge__share_sum(s->r, own, &all));
    s->peak_flops_per_s = fmax(s->peak_flops_per_s, all);
    return RIDGE_OK;
}

/* A machine that was busy at the start would show shares above its peak: behind steps
 * 1, 2, 4, 8 and so on it is measured again. */
static ridge_status measure_peak_again(ridge__rank_state *s, ridge_run_event *event)
{
    if ((s->n_steps & (s->n_steps - 1)) == 0)
        RIDGE_TRY(measure_peak(s));
    event->peak_flops_per_s = s->peak_flops_per_s;
    return RIDGE_OK;
}

/* ---- the report --------------------------------------------------------------------
 */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(const ridge__rank_state *s)
{
    const int64_t skip = s->n_steps > 4 ? 2 : 0, n = s->n_steps - skip;
    double *from = s->step_s + skip;
    if (n < 1)
        return 0.0;
    qsort(from, (size_t)n, sizeof *from, compare);
    return n % 2 ? from[n / 2] : 0.5 * (from[n / 2 - 1] + from[n / 2]);
}

static ridge_status finish_report(ridge__rank_state *s, training *t,
                                  ridge_train_report *report)
{
    const int ranks = ridge_comm_size(s->r->world);
    const double own[] = {(double)s->r->device->memory.peak_bytes,
                          ridge__runner_fixed_bytes(s->r)};
    double all[2 * RIDGE_RANK_MAX];
    RIDGE_TRY(ridge__share_doubles(s->r, s->r->world, own, 2, all));
    RIDGE_TRY(ridge__rows_load(s->r, &report->expert_load));
    report->last_step = s->step;
    report->peak_flops_per_s = s->peak_flops_per_s;
    report->median_step_s = median(s);
    report->tokens_per_s =
        (double)s->run->batch_seqs * (double)s->run->seq_tokens / report->median_step_s;
    if (ridge_comm_rank(s->r->world) != 0)
        return RIDGE_OK;
    report->peak_memory_bytes = t->report->peak_memory_bytes;
    report->weight_bytes = t->report->weight_bytes;
    report->ranks = ranks;
    for (int i = 0; i < ranks; i++) {
        report->peak_memory_bytes[i] = all[2 * i];
        report->weight_bytes[i] = all[2 * i + 1];
    }
    *t->report = *report;
    return RIDGE_OK;
}

static ridge_status run_steps(ridge__rank_state *s, training *t)
{
    ridge_train_report report = {.first_step = s->step + 1, .eval_loss = nan("")};
    for (; s->step < s->run->steps; s->step++) {
        ridge_run_event event = {.step = 0};
        const bool is_last = s->step + 1 == s->run->steps;
        ridge__trace_begin(s->r, s->run->trace != NULL && is_last);
        RIDGE_TRY(run_step(s, &event));
        if (s->run->trace != NULL && is_last)
            RIDGE_TRY(ridge__trace_write(s->r, s->run->trace));
        if (s->n_steps == 1)
            report.first_loss = event.loss;
        report.last_loss = event.loss;
        RIDGE_TRY(measure_peak_again(s, &event));
        tell(s, &event);
        RIDGE_TRY(after_step(s, &report));
    }
    return finish_report(s, t, &report);
}

static ridge_status train_rank(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    enum { TRACE_MOST = 200000 };
    training *t = payload;
    const ridge_train_run *run = t->run;
    ridge__rank_state s = {.run = run};
    const ridge__runner_options options = {
        .model = run->model,
        .numerics = &run->numerics,
        .layout = &run->layout,
        .lowering = {.phase = RIDGE_PHASE_TRAIN,
                     .sequences = ridge_run_layout_sequences(&run->layout),
                     .query_tokens = run->seq_tokens,
                     .context_tokens = run->seq_tokens,
                     .weight = run->layout.weight,
                     .activation = run->layout.weight,
                     .cache = run->layout.weight,
                     .update = run->layout.update},
        .threads = threads_of(run),
        .measured = run->measured,
        .microbatches = (int)microbatch_count(run),
        .trace_most = run->trace ? TRACE_MOST : 0,
        .documents = run->has_documents ? ridge__batch_documents : NULL,
        .documents_payload = &s};
    s.step_s = ridge_new(ridge_ctx_arena(cx), double, (size_t)run->steps + 1);
    if (s.step_s == NULL)
        return ridge_fail_nomem(cx);
    ridge_status st = ridge__runner_open(cx, world, &options, &s.r);
    st = st == RIDGE_OK ? measure_peak(&s) : st;
    st = st == RIDGE_OK ? begin(&s) : st;
    st = st == RIDGE_OK ? run_steps(&s, t) : st;
    if (st != RIDGE_OK)
        ridge_comm_abandon(world);
    ridge__runner_close(s.r);
    return st;
}

/* ---- the call ----------------------------------------------------------------------
 */

static ridge_status check(ridge_ctx *cx, const ridge_train_run *run)
{
    if (run->steps < 1 || run->seq_tokens < 1 || run->batch_seqs < 1)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "a run takes at least one step of one sequence of one token");
    if (microbatch_count(run) > 4096)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%lld microbatches a step: take larger ones (at most 4096)",
                          (long long)microbatch_count(run));
    if (run->ranks.ranks != ridge_run_layout_ranks(&run->layout))
        return ridge_fail(cx, RIDGE_E_ARG, "the layout takes %lld ranks, and %d run",
                          (long long)ridge_run_layout_ranks(&run->layout),
                          run->ranks.ranks);
    RIDGE_TRY(ridge_token_data_check(cx, run->data, RIDGE_DATA_TRAIN, run->seq_tokens));
    if (run->eval_seqs > 0)
        return ridge_token_data_check(cx, run->data, RIDGE_DATA_EVAL, run->seq_tokens);
    return RIDGE_OK;
}

ridge_status ridge_run_train(ridge_ctx *cx, const ridge_train_run *run,
                             ridge_train_report *out)
{
    ridge_train_report report = {.eval_loss = nan("")};
    training t = {.run = run, .report = &report, .caller = cx};
    RIDGE_TRY(check(cx, run));
    const size_t n = (size_t)run->ranks.ranks;
    report.peak_memory_bytes = ridge_new(ridge_ctx_arena(cx), double, n);
    report.weight_bytes = ridge_new(ridge_ctx_arena(cx), double, n);
    if (!report.peak_memory_bytes || !report.weight_bytes)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge_ranks_run(cx, &run->ranks, train_rank, &t));
    *out = report;
    return RIDGE_OK;
}
