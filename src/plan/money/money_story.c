/* Derivations of a run's goodput, days and dollars, down to failures per chip-hour, the
 * site's storage and the price. */
#include "ridge/plan_money.h"

#include "explain_story.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A run being told. */
typedef struct run_story {
    story s;
    const ridge_train_request *request;
    const ridge_train_price *price;
    const ridge_money_request *money;
    ridge_money run;
} run_story;

#define SECONDS(v) ridge_format_seconds(v).s

static const char *const names[] = {"goodput", "days", "usd", NULL};

const char *const *ridge_money_quantities(void)
{
    return names;
}

/* ---- sources ----------------------------------------------------------------------
 */

static void tell_site(run_story *r, int depth, const char *key, const char *shown)
{
    const ridge_fact *f = ridge_site_fact(r->money->site, key);
    story_add(&r->s, depth, key, "fact of the site", shown, "%s%s%s%s%s",
              r->money->site->name, f == NULL ? "" : ", ", f == NULL ? "" : f->source,
              f == NULL ? "" : " ", f == NULL ? "" : f->date);
}

static void tell_mtbf(run_story *r, int depth)
{
    static const char *const scopes[] = {[RIDGE_MTBF_JOB] = "the job",
                                         [RIDGE_MTBF_NODE] = "a node",
                                         [RIDGE_MTBF_CHIP] = "a chip"};
    const ridge_money_request *m = r->money;
    const ridge_slice *slice = r->request->slice;
    const double mtbf_s = ridge_money_mtbf_s(slice, m);
    if (m->is_reliable) {
        story_add(&r->s, depth, "mtbf", "left out as asked", "no failures", "%s",
                  "--failures none");
        return;
    }
    if (m->has_mtbf) {
        story_add(&r->s, depth, "mtbf", "as told, over how many there are",
                  SECONDS(mtbf_s), "%s of %s; %lld nodes, %lld chips",
                  SECONDS(m->mtbf_s), scopes[m->mtbf_scope], (long long)slice->hosts,
                  (long long)slice->chips);
        return;
    }
    if (m->failures == NULL) {
        story_add(&r->s, depth, "mtbf", "1 / (chips x failures per chip-hour)",
                  "not known", "no failures of %s are published: --mtbf TIME",
                  slice->chip->name);
        return;
    }
    story_add(&r->s, depth, "mtbf", "1 / (chips x failures per chip-hour)",
              SECONDS(mtbf_s), "1 / (%lld x %.3g)", (long long)slice->chips,
              m->failures->failures_per_chip_hour);
    char shown[32];
    snprintf(shown, sizeof shown, "%.3g", m->failures->failures_per_chip_hour);
    story_add(&r->s, depth + 1, "failures per chip-hour", "record of failures", shown,
              "%s, %s %s", m->failures->name, m->failures->source, m->failures->date);
}

/* Bytes over the rate of the storage, one's own or the site's. */
static void tell_transfer(run_story *r, int depth, const char *name, double seconds,
                          bool is_write)
{
    const ridge_money_request *m = r->money;
    const double nodes = (double)r->request->slice->hosts;
    const double rate = m->storage_bytes_per_s > 0 ? m->storage_bytes_per_s
                        : is_write ? ridge_site_write_bytes_per_s(m->site, nodes)
                                   : ridge_site_read_bytes_per_s(m->site, nodes);
    if (!(seconds > 0)) {
        story_add(&r->s, depth, name, "checkpoint bytes / rate of the storage",
                  "not known", "%s: --storage BYTES", m->site->name);
        return;
    }
    story_add(&r->s, depth, name, "checkpoint bytes / rate of the storage",
              SECONDS(seconds), "%s / %s",
              ridge_format_bytes(r->run.checkpoint_bytes).s,
              ridge_format_si(rate, "B/s").s);
    if (m->storage_bytes_per_s > 0)
        return;
    const double whole =
        is_write ? m->site->write_bytes_per_s : m->site->read_bytes_per_s;
    const bool is_whole = whole > 0 && rate >= whole;
    const char *key =
        is_write   ? is_whole ? "write_bytes_per_s" : "write_bytes_per_s_per_node"
        : is_whole ? "read_bytes_per_s"
                   : "read_bytes_per_s_per_node";
    tell_site(r, depth + 1, key, "");
}

/* ---- goodput ----------------------------------------------------------------------
 */

static void tell_interval(run_story *r, int depth)
{
    const ridge_reliability *job = &r->run.job;
    if (isinf(job->interval_s)) {
        story_add(&r->s, depth, "interval", "best: none", "no checkpoints", "%s",
                  "the job does not fail");
        return;
    }
    story_add(&r->s, depth, "interval",
              r->money->has_interval ? "as told, in whole steps"
                                     : "root of (1 - x) e^x = e^(-blocked / M), x = "
                                       "interval / M, in whole steps",
              SECONDS(job->interval_s), "%.0f steps x %s; by Young %s",
              r->run.interval_steps, SECONDS(r->price->step_time_s),
              SECONDS(r->run.young_s));
}

static void tell_checkpoint(run_story *r, int depth)
{
    const ridge_policy policy = ridge_policy_with_optimizer(
        ridge_precision_policy(r->price->layout.precision), r->price->layout.optimizer);
    const bool is_beside = r->run.job.lag_s > 0;
    story_add(&r->s, depth, "blocked",
              is_beside ? "the copy to the hosts; writing goes on beside the work"
                        : "writing a checkpoint",
              SECONDS(r->run.job.blocked_s), "%s",
              is_beside ? "asynchronous" : "synchronous");
    tell_transfer(r, depth + 1, "write", r->run.write_s, true);
    story_add(&r->s, depth + 2, "checkpoint bytes", "parameters x bytes of state",
              ridge_format_bytes(r->run.checkpoint_bytes).s, "%s x %g",
              ridge_format_count((double)ridge_model_params(r->request->model).total).s,
              ridge_policy_state_bytes(&policy));
}

static void tell_restart(run_story *r, int depth)
{
    const double start_s = r->run.job.restart_s - r->run.load_s;
    story_add(&r->s, depth, "restart", "until the job starts again + load",
              SECONDS(r->run.job.restart_s), "%s + %s", SECONDS(start_s),
              SECONDS(r->run.load_s));
    if (!r->money->has_restart)
        tell_site(r, depth + 1, "restart_s", SECONDS(start_s));
    tell_transfer(r, depth + 1, "load", r->run.load_s, false);
}

static void tell_unknown(run_story *r, int depth)
{
    story_add(&r->s, depth, "goodput", "useful x share of time with spares enough",
              "not known", "%s", "failures, storage and restart are needed; as 1 here");
    tell_mtbf(r, depth + 1);
    tell_transfer(r, depth + 1, "write", r->run.write_s, true);
    if (!r->money->has_restart && !(r->money->site->restart_s > 0))
        story_add(&r->s, depth + 1, "restart", "until the job starts again",
                  "not known", "%s: --restart TIME", r->money->site->name);
}

static void tell_goodput(run_story *r, int depth)
{
    const ridge_money *run = &r->run;
    const ridge_reliability *job = &run->job;
    if (!run->has_goodput) {
        tell_unknown(r, depth);
        return;
    }
    story_add(&r->s, depth, "goodput", "useful x share of time with spares enough",
              ridge_format_percent(run->goodput).s, "%.5f x %.5f", run->share.useful,
              run->spare_availability);
    story_add(
        &r->s, depth + 1, "useful",
        "interval / (M e^((restart + lag) / M) (e^((interval + blocked) / M) - 1))",
        ridge_format_percent(run->share.useful).s,
        "interval %s, blocked %s, restart %s, lag %s, M %s", SECONDS(job->interval_s),
        SECONDS(job->blocked_s), SECONDS(job->restart_s), SECONDS(job->lag_s),
        isinf(job->mtbf_s) ? "infinite" : SECONDS(job->mtbf_s));
    story_add(&r->s, depth + 1, "the rest", "checkpoints + work lost + restarts",
              ridge_format_percent(1 - run->share.useful).s, "%s + %s + %s",
              ridge_format_percent(run->share.checkpoint).s,
              ridge_format_percent(run->share.lost).s,
              ridge_format_percent(run->share.restart).s);
    tell_mtbf(r, depth + 2);
    tell_interval(r, depth + 2);
    tell_checkpoint(r, depth + 2);
    tell_restart(r, depth + 2);
}

/* ---- days and dollars -------------------------------------------------------------
 */

/* The step down to the chip, as far as there is room. */
static ridge_status tell_step(run_story *r, int depth)
{
    ridge_explanation *step = ridge_new(ridge_ctx_arena(r->s.cx), ridge_explanation, 1);
    if (step == NULL)
        return ridge_fail_nomem(r->s.cx);
    RIDGE_TRY(ridge_train_explain(r->s.cx, r->request, r->price, "step_time", step));
    ridge_explanation *out = r->s.out;
    for (int i = 0; i < step->n_reasons && out->n_reasons < RIDGE_REASON_MAX; i++) {
        out->reasons[out->n_reasons] = step->reasons[i];
        out->reasons[out->n_reasons++].depth += depth;
    }
    return RIDGE_OK;
}

static ridge_status tell_days(run_story *r, int depth)
{
    const ridge_train_price *p = r->price;
    if (!p->has_total) {
        story_add(&r->s, depth, "days", "steps x step_time / goodput", "not asked",
                  "%s", "the plan has no total of tokens: give --tokens to train");
        return RIDGE_OK;
    }
    if (r->run.is_stuck) {
        story_add(&r->s, depth, "days", "steps x step_time / goodput", "never", "%s",
                  "it fails too often to get on");
    } else {
        story_add(&r->s, depth, "days", "steps x step_time / goodput",
                  SECONDS(r->run.days * RIDGE_DAY_S), "%.0f steps x %s / %.5f",
                  round(p->days * RIDGE_DAY_S / p->step_time_s),
                  SECONDS(p->step_time_s), r->run.goodput);
    }
    tell_goodput(r, depth + 1);
    return tell_step(r, depth + 1);
}

static ridge_status tell_usd(run_story *r, int depth)
{
    const ridge_money_request *m = r->money;
    const bool is_known = r->run.usd > 0;
    story_add(&r->s, depth, "usd", "days x 24 x chips that are paid x price",
              is_known ? ridge_format_usd(r->run.usd).s : "not known",
              "%.4g x 24 x %.0f x %s", r->run.days, r->run.paid_chips,
              m->has_price ? ridge_format_usd(m->price.usd_per_chip_hour).s
                           : "a price that is not listed");
    if (m->has_price)
        story_add(&r->s, depth + 1, "price", "a chip-hour",
                  ridge_format_usd(m->price.usd_per_chip_hour).s, "%s",
                  ridge_price_text(r->s.cx, &m->price));
    return tell_days(r, depth + 1);
}

ridge_status ridge_money_explain(ridge_ctx *cx, const ridge_train_request *request,
                                 const ridge_train_price *price,
                                 const ridge_money_request *money, const char *quantity,
                                 ridge_explanation *out)
{
    run_story r = {.s = {.cx = cx, .request = request, .price = price, .out = out},
                   .request = request,
                   .price = price,
                   .money = money,
                   .run = ridge_train_money(request, price, money)};
    out->n_reasons = 0;
    if (strcmp(quantity, "goodput") == 0) {
        tell_goodput(&r, 0);
        return RIDGE_OK;
    }
    if (strcmp(quantity, "days") == 0)
        return tell_days(&r, 0);
    if (strcmp(quantity, "usd") == 0)
        return tell_usd(&r, 0);
    return ridge_fail(cx, RIDGE_E_NOTFOUND,
                      "unknown quantity '%.40s' of a run: try goodput, days or usd",
                      quantity);
}
