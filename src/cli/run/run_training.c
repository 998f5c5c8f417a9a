/*
 * Training from the command line: options, what is told while it runs, the report.
 */
#include "run_plan.h"

#include "ridge/report_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What the watcher needs; it is called in the thread of the leading rank. */
typedef struct watching {
    cli_run *run;
    const ridge_train_run *training;
    double flops_per_token;
    double start_s;
    int64_t first_step, every;
    ridge_json *steps; /* --json; touched once the run is over */
    ridge_run_event *events;
    int64_t n_events, most;
} watching;

static void say_step(const watching *w, const ridge_run_event *e)
{
    const double done = (double)(e->step - w->first_step + 1);
    const double left = (double)(w->training->steps - e->step);
    const double eta_s = (ridge_clock_s() - w->start_s) / done * left;
    printf("step %lld/%lld  loss %.4f  norm %.3f  rate %.2e  %s  %s",
           (long long)e->step, (long long)w->training->steps, e->loss, e->gradient_norm,
           e->rate, ridge_format_seconds(e->step_s).s,
           ridge_format_si(e->tokens_per_s, "tokens/s").s);
    if (e->peak_flops_per_s > 0.0)
        printf("  MFU %s", ridge_format_percent(e->tokens_per_s * w->flops_per_token /
                                                e->peak_flops_per_s)
                               .s);
    printf("  left %s\n", ridge_format_seconds(eta_s).s);
}

static void note_event(watching *w, const ridge_run_event *e)
{
    if (w->n_events < w->most)
        w->events[w->n_events++] = *e;
}

static void watch(void *payload, const ridge_run_event *e)
{
    watching *w = payload;
    if (w->first_step == 0)
        w->first_step = e->step;
    note_event(w, e);
    if (w->run->is_json)
        return;
    if (e->checkpoint)
        printf("step %lld/%lld  wrote %s\n", (long long)e->step,
               (long long)w->training->steps, e->checkpoint);
    else if (e->is_evaluation)
        printf("step %lld/%lld  evaluation loss %.4f  perplexity %.2f\n",
               (long long)e->step, (long long)w->training->steps, e->loss,
               exp(e->loss));
    else if (e->step % w->every == 0 || e->step == w->first_step ||
             e->step == w->training->steps)
        say_step(w, e);
    fflush(stdout);
}

/* ---- options -----------------------------------------------------------------------
 */

static ridge_status whole(cli_run *run, const char *name, double fallback, int64_t *out)
{
    double v;
    RIDGE_TRY(cli_option_count(run, name, fallback, &v));
    if (floor(v) != v || v > 9e15)
        return ridge_fail(run->cx, RIDGE_E_ARG, "--%s: a whole number is wanted", name);
    *out = (int64_t)v;
    return RIDGE_OK;
}

static ridge_status read_learning(cli_run *run, ridge_learning *l)
{
    const char *kind = cli_option_text(run, "rate-schedule");
    *l = ridge_learning_usual();
    RIDGE_TRY(cli_option_count(run, "rate", l->rate, &l->rate));
    RIDGE_TRY(cli_option_count(run, "rate-least", l->least, &l->least));
    RIDGE_TRY(whole(run, "warmup", 0, &l->warmup));
    RIDGE_TRY(cli_option_count(run, "decay", l->decay, &l->decay));
    RIDGE_TRY(cli_option_count(run, "clip", l->clip, &l->clip));
    if (!(l->rate > 0.0) || l->rate > 1.0)
        return ridge_fail(run->cx, RIDGE_E_ARG, "--rate %g: above 0, at most 1",
                          l->rate);
    if (l->least > 1.0)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--rate-least %g: a part of the peak, "
                          "0 to 1",
                          l->least);
    return kind ? ridge_rate_kind_parse(run->cx, kind, &l->kind) : RIDGE_OK;
}

static ridge_status read_sizes(cli_run *run, const run_plan *p, ridge_train_run *t)
{
    double batch = p->plan.batch_tokens, seq = p->plan.seq_tokens;
    const double own = (double)ridge_run_layout_sequences(&p->layout);
    RIDGE_TRY(cli_option_count(run, "seq", p->is_file ? seq : 256, &seq));
    RIDGE_TRY(cli_option_count(run, "batch", p->is_file ? batch : own * seq, &batch));
    t->seq_tokens = (int64_t)seq;
    if (t->seq_tokens < 1)
        return ridge_fail(run->cx, RIDGE_E_ARG, "--seq: at least one token");
    t->batch_seqs = (int64_t)floor(batch / (double)t->seq_tokens + 0.5);
    if (t->batch_seqs < 1)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--batch %.0f is less than a sequence of %lld tokens", batch,
                          (long long)t->seq_tokens);
    RIDGE_TRY(whole(run, "steps", 100, &t->steps));
    RIDGE_TRY(whole(run, "eval-every", 0, &t->eval_every));
    RIDGE_TRY(whole(run, "eval-sequences", 64, &t->eval_seqs));
    RIDGE_TRY(whole(run, "checkpoint-every", 100, &t->checkpoint_every));
    if (t->eval_every == 0)
        t->eval_seqs = 0;
    int64_t keep = 0, seed = 1;
    RIDGE_TRY(whole(run, "keep", 0, &keep));
    RIDGE_TRY(whole(run, "seed", 1, &seed));
    t->keep = (int)keep;
    t->seed = (uint64_t)seed;
    return RIDGE_OK;
}

static ridge_status read_documents(cli_run *run, const run_plan *p,
                                   const ridge_tokenizer *tokenizer, ridge_train_run *t)
{
    const char *text = cli_option_text(run, "documents");
    int64_t id = ridge_tokenizer_eos(tokenizer);
    if (!text)
        return RIDGE_OK;
    const bool is_eos = strcmp(text, "eos") == 0;
    if (is_eos && id < 0)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--documents eos: the tokenizer has no token that ends a "
                          "text: give its id");
    if (!is_eos &&
        (!ridge_parse_i64(ridge_str_of(text), &id) || id < 0 || id >= p->model->vocab))
        return ridge_fail(
            run->cx, RIDGE_E_ARG,
            "--documents '%s': expected eos, or a token id from 0 to %lld", text,
            (long long)p->model->vocab - 1);
    t->has_documents = true;
    t->document_end = (int32_t)id;
    return RIDGE_OK;
}

static ridge_status open_data(cli_run *run, const run_plan *p, ridge_train_run *t)
{
    const char *path = cli_option_text(run, "data");
    const char *tokens = cli_option_text(run, "tokenizer");
    const ridge_tokenizer *tokenizer;
    const ridge_data_options options = {.eval_fraction = t->eval_seqs > 0 ? 0.1 : 0.0,
                                        .vocab = p->model->vocab};
    if (!path)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "a run needs --data FILE, text to train on, or --generate");
    RIDGE_TRY(ridge_tokenizer_open(run->cx, tokens ? tokens : "bytes", p->model->vocab,
                                   &tokenizer));
    RIDGE_TRY(read_documents(run, p, tokenizer, t));
    return ridge_token_data_open(run->cx, tokenizer, &path, 1, &options, &t->data);
}

static ridge_status read_run(cli_run *run, const run_plan *p, ridge_train_run *t)
{
    *t = (ridge_train_run){.model = p->model,
                           .numerics = p->numerics,
                           .layout = p->layout,
                           .ranks = p->ranks,
                           .threads = p->threads,
                           .measured = p->measured,
                           .is_peak_measured = true};
    RIDGE_TRY(read_learning(run, &t->learning));
    RIDGE_TRY(read_sizes(run, p, t));
    RIDGE_TRY(open_data(run, p, t));
    t->checkpoint_dir = cli_option_text(run, "checkpoint");
    t->is_resumed = cli_option_text(run, "resume") != NULL;
    t->weights = cli_option_text(run, "weights");
    t->trace = cli_option_text(run, "trace");
    if (t->is_resumed && !t->checkpoint_dir)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--resume needs --checkpoint DIR, where the run wrote");
    return RIDGE_OK;
}

/* ---- the run -----------------------------------------------------------------------
 */

static int emit_report(cli_run *run, const run_plan *p, const ridge_run_view *view)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (run->html_path) {
        ridge_run_write_html(run->cx, view, &text);
        const int code = cli_emit_html(run, &text);
        if (code)
            return code;
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_run_write_json(run->cx, view, object);
        cli_run_set_format(run, p, object);
        return cli_emit_json(run, object);
    }
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    ridge_run_write_text(run->cx, view, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

/* Which checkpoint a run goes on from, if its newest is not whole. */
static void tell_start(cli_run *run, const ridge_train_run *t)
{
    const char *dir = t->checkpoint_dir;
    if (!t->is_resumed || !cli_run_is_lead())
        return;
    const char *fault = ridge_checkpoint_latest_fault(run->cx, dir);
    const long long step = (long long)ridge_checkpoint_latest(run->cx, dir);
    if (fault != NULL && step >= 0)
        fprintf(stderr, "ridge: %s: going on from step %lld instead\n", fault, step);
}

static ridge_status train(cli_run *run, const run_plan *p, watching *w,
                          ridge_train_run *t, ridge_train_report *report)
{
    RIDGE_TRY(read_run(run, p, t));
    *w = (watching){.run = run, .training = t, .start_s = ridge_clock_s()};
    RIDGE_TRY(whole(run, "log-every", t->steps <= 20 ? 1 : 10, &w->every));
    w->every = w->every < 1 ? 1 : w->every;
    w->most = 3 * t->steps;
    w->events = ridge_new(ridge_ctx_arena(run->cx), ridge_run_event, (size_t)w->most);
    if (w->events == NULL)
        return ridge_fail_nomem(run->cx);
    w->flops_per_token = ridge_model_flops_train(p->model, (double)t->seq_tokens,
                                                 RIDGE_CONVENTION_MATMUL_CAUSAL);
    t->watch = watch;
    t->payload = w;
    tell_start(run, t);
    const char *format = cli_run_format_text(run, p);
    if (format && !run->is_json && cli_run_is_lead())
        printf("%s\n", format);
    return ridge_run_train(run->cx, t, report);
}

int cli_run_training(cli_run *run, const run_plan *p)
{
    ridge_train_run t;
    ridge_train_report report;
    ridge_train_price price, loaded;
    watching w;
    if (train(run, p, &w, &t, &report) != RIDGE_OK)
        return cli_fail(run);
    if (!cli_run_is_lead())
        return 0;
    const bool has_price = cli_run_price(run, p, 0.0, &price);
    /* Machines that measured themselves are priced with even loads: nothing to tell. */
    const bool has_loaded = has_price && report.expert_load > 0.0 &&
                            cli_run_price(run, p, report.expert_load, &loaded) &&
                            loaded.step_time_s != price.step_time_s;
    const ridge_run_view view = {.run = &t,
                                 .report = &report,
                                 .price = has_price ? &price : NULL,
                                 .loaded = has_loaded ? &loaded : NULL,
                                 .events = w.events,
                                 .n_events = w.n_events,
                                 .flops_per_token = w.flops_per_token};
    return emit_report(run, p, &view);
}
