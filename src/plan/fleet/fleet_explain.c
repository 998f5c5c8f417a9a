/*
 * How a number of a fleet's plan comes about: which pool is waited for and why, and of
 * replicas the derivation of that pool's own step.
 */
#include "fleet_case.h"
#include "reason.h"

#include <string.h>

#define SECONDS(x) ridge_format_seconds(x).s

typedef struct fleet_story {
    ridge_ctx *cx;
    const fleet_case *fc;
    ridge_explanation *out;
} fleet_story;

static RIDGE_PRINTF(6, 7) void tell(fleet_story *s, int depth, const char *name,
                                    const char *formula, const char *result,
                                    const char *values_fmt, ...)
{
    va_list values;
    va_start(values, values_fmt);
    reason_add(s->cx, s->out, depth, name, formula, result, values_fmt, values);
    va_end(values);
}

/* Part of the step by its name; -1: another quantity. */
static int part_named(const char *quantity)
{
    int part = RIDGE_STEP_COUNT - 1;
    while (part >= 0 && strcmp(ridge_step_text(part), quantity) != 0)
        part--;
    return part;
}

static ridge_status check_quantity(ridge_ctx *cx, const char *quantity)
{
    static const char *const whole[] = {"step_time", "bound_step_time", "mfu",
                                        "memory"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(whole); i++) {
        if (strcmp(quantity, whole[i]) == 0)
            return RIDGE_OK;
    }
    if (part_named(quantity) >= 0)
        return RIDGE_OK;
    const char *hint =
        ridge_suggestion(ridge_ctx_scratch(cx), quantity, whole, RIDGE_COUNT_OF(whole));
    return ridge_fail(cx, RIDGE_E_NOTFOUND,
                      "unknown quantity '%s' of a fleet%s%s: try step_time, "
                      "bound_step_time, mfu, memory or a part of the step",
                      quantity, hint == NULL || hint[0] == '\0' ? "" : ": ",
                      hint == NULL ? "" : hint);
}

/* ---- one pipeline ------------------------------------------------------------------
 */

static void tell_stages(fleet_story *s, const ridge_fleet_price *p)
{
    for (int i = 0; i < p->layout.n_parts; i++) {
        const ridge_fleet_pool *pool = &p->pools[i];
        tell(s, 1, pool->slice->text, "slowest stage: a microbatch, with messages",
             SECONDS(pool->stage_s),
             "%lld stages of %lld to %lld layers, remat %s; it waits %s of the step",
             (long long)pool->part.stages, (long long)pool->layers_least,
             (long long)pool->layers_most, ridge_remat_text(pool->part.remat),
             ridge_format_percent(pool->waiting).s);
    }
    tell(s, 1, "between pools", "the longest message", SECONDS(p->between_s),
         "one activation to the next pool, at the slower rate");
}

static void tell_parts(fleet_story *s, const ridge_train_price *p)
{
    for (int i = 0; i < RIDGE_STEP_COUNT; i++) {
        const double part_s = ridge_step_get(&p->parts, i);
        if (part_s > 0)
            tell(s, 1, ridge_step_text(i), ridge_step_what(i), SECONDS(part_s),
                 "%s of the step", ridge_format_percent(part_s / p->step_time_s).s);
    }
}

static void tell_memory(fleet_story *s, const ridge_fleet_price *p)
{
    for (int i = 0; i < p->layout.n_parts; i++) {
        const ridge_fleet_pool *pool = &p->pools[i];
        tell(s, 1, pool->slice->text, "of its fullest stage, all parts added up",
             ridge_format_bytes(pool->peak_memory_bytes).s,
             "stage %lld of %lld, %s of its memory", (long long)pool->fullest_stage + 1,
             (long long)p->layout.common.pp,
             ridge_format_percent(pool->peak_memory_bytes /
                                  ridge_chip_memory_bytes(pool->slice->chip))
                 .s);
        for (int k = 0; k < RIDGE_MEMORY_COUNT; k++) {
            const double bytes = ridge_memory_part_get(&pool->memory, k);
            if (bytes > 0)
                tell(s, 2, ridge_memory_part_text(k), ridge_memory_part_what(k),
                     ridge_format_bytes(bytes).s, "%s of it",
                     ridge_format_percent(bytes / pool->peak_memory_bytes).s);
        }
    }
}

static void tell_mfu(fleet_story *s, const ridge_train_price *p)
{
    tell(s, 0, "mfu", "model FLOPs of a step / (step_time x peaks of all chips)",
         ridge_format_percent(p->mfu).s, "%s x %lld chips over %s",
         ridge_format_si(p->model_flops_per_s_per_chip, "FLOP/s").s,
         (long long)s->fc->chips, ridge_format_si(s->fc->peak_flops_per_s, "FLOP/s").s);
}

static void tell_pipeline(fleet_story *s, const ridge_fleet_price *p,
                          const char *quantity)
{
    const ridge_train_price *price = &p->price;
    const int part = part_named(quantity);
    const char *slowest = p->pools[p->slowest].slice->text;
    if (part >= 0) {
        tell(s, 0, quantity, ridge_step_what(part),
             SECONDS(ridge_step_get(&price->parts, part)),
             "%lld microbatches on the slowest stage, of %s",
             (long long)price->microbatches, slowest);
        tell_stages(s, p);
    } else if (strcmp(quantity, "memory") == 0) {
        tell(s, 0, "memory", "of the pool with least left",
             ridge_format_bytes(price->peak_memory_bytes).s, "%d pools",
             p->layout.n_parts);
        tell_memory(s, p);
    } else if (strcmp(quantity, "mfu") == 0) {
        tell_mfu(s, price);
    } else if (strcmp(quantity, "bound_step_time") == 0) {
        tell(s, 0, quantity,
             "max of compute and of each network at peak rates, with the bubble",
             SECONDS(price->bound_step_time_s), "%s of the expected time",
             ridge_format_percent(price->bound_step_time_s / price->step_time_s).s);
    } else {
        tell(s, 0, "step_time", "sum of the parts of the slowest stage",
             SECONDS(price->step_time_s),
             "%lld microbatches through %lld stages; %s has the slowest",
             (long long)price->microbatches, (long long)p->layout.common.pp, slowest);
        tell_parts(s, price);
        tell_stages(s, p);
    }
}

/* ---- replicas ----------------------------------------------------------------------
 */

static void tell_shares(fleet_story *s, const ridge_fleet_replicas *r)
{
    tell(s, 0, "step_time of the fleet", "max over the pools, which meet once a step",
         SECONDS(r->price.step_time_s), "replicas in each of %d pools", r->n);
    for (int i = 0; i < r->n; i++) {
        const ridge_fleet_share *share = &r->shares[i];
        tell(s, 1, s->fc->slices[share->pool].text, "its share of the batch",
             SECONDS(share->price.step_time_s),
             "%lld sequences; it waits %s of the step", (long long)share->batch_seqs,
             ridge_format_percent(share->waiting).s);
    }
}

static int fullest_of(const fleet_case *fc, const ridge_fleet_replicas *r)
{
    int fullest = 0;
    double most = 0;
    for (int i = 0; i < r->n; i++) {
        const double share =
            r->shares[i].price.peak_memory_bytes /
            ridge_chip_memory_bytes(fc->slices[r->shares[i].pool].chip);
        fullest = share > most ? i : fullest;
        most = share > most ? share : most;
    }
    return fullest;
}

static ridge_status tell_replicas(fleet_story *s, const ridge_fleet_replicas *r,
                                  const char *quantity)
{
    const bool is_memory = strcmp(quantity, "memory") == 0;
    const ridge_fleet_share *slowest =
        &r->shares[is_memory ? fullest_of(s->fc, r) : r->slowest];
    ridge_train_request own = s->fc->requests[slowest->pool];
    ridge_explanation *inner = ridge_new(ridge_ctx_arena(s->cx), ridge_explanation, 1);
    if (inner == NULL)
        return ridge_fail_nomem(s->cx);
    own.batch_tokens = (double)slowest->batch_seqs * s->fc->pools[0].seq_tokens;
    own.between = &s->fc->together[slowest->pool];
    RIDGE_TRY(ridge_train_explain(s->cx, &own, &slowest->price, quantity, inner));
    tell_shares(s, r);
    if (strcmp(quantity, "mfu") == 0)
        tell_mfu(s, &r->price);
    tell(s, 0, s->fc->slices[slowest->pool].text,
         is_memory ? "the pool with least left" : "the pool that takes longest",
         SECONDS(slowest->price.step_time_s), "%s of it:", quantity);
    for (int i = 0; i < inner->n_reasons && s->out->n_reasons < RIDGE_REASON_MAX; i++) {
        ridge_reason *line = &s->out->reasons[s->out->n_reasons++];
        *line = inner->reasons[i];
        line->depth++;
    }
    return RIDGE_OK;
}

/* ---- the call ----------------------------------------------------------------------
 */

static ridge_status fail_fit(ridge_ctx *cx, ridge_fit fit)
{
    return ridge_fail(cx, RIDGE_E_ARG, "the layout of the fleet is not legal: %s",
                      ridge_fit_text(fit));
}

ridge_status ridge_fleet_explain(ridge_ctx *cx, const ridge_train_request *request,
                                 const ridge_fleet_plan *plan, const char *quantity,
                                 ridge_explanation *out)
{
    fleet_case *fc = NULL;
    RIDGE_TRY(check_quantity(cx, quantity));
    RIDGE_TRY(fleet_case_open(cx, request, &fc));
    *out = (ridge_explanation){0};
    fleet_story s = {cx, fc, out};
    if (plan->is_replicas) {
        ridge_fleet_replicas r;
        RIDGE_TRY(
            ridge_fleet_replicas_price(cx, request, plan->shares, plan->n_shares, &r));
        return r.price.fit == RIDGE_FIT_OK ? tell_replicas(&s, &r, quantity)
                                           : fail_fit(cx, r.price.fit);
    }
    ridge_fleet_price *p = ridge_new(ridge_ctx_arena(cx), ridge_fleet_price, 1);
    if (p == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge_fleet_price_one(cx, request, &plan->pipeline, p));
    if (p->price.fit != RIDGE_FIT_OK)
        return fail_fit(cx, p->price.fit);
    tell_pipeline(&s, p, quantity);
    return RIDGE_OK;
}
