/* Limits taken away one at a time, each searched again: which costs most, or what is
 * the mildest change with which anything does. */
#include "service_variant.h"

#include "ridge/plan_service_reasons.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct relaxer {
    ridge_ctx *cx;
    const ridge_catalog *catalog;
    const ridge_service_request *request;
    const ridge_service_result *result;
    bool is_mended; /* nothing does */
    int n;
    service_variant variants[RIDGE_SERVICE_RELAXATION_MAX];
} relaxer;

enum { HALVINGS = 10, PROMPT_LEAST = 256 };

static const char SHORTER[] = "a shorter prompt";

/* @return NULL: no room */
static service_variant *add(relaxer *r, const char *name, const char *what)
{
    if (r->n == RIDGE_SERVICE_RELAXATION_MAX || name == NULL)
        return NULL;
    service_variant *v = &r->variants[r->n++];
    *v = (service_variant){.request = *r->request, .name = name, .what = what};
    return v;
}

/* ---- goals ----------------------------------------------------------------------- */

/* As much as is needed, rounded up to two digits. */
static double rounded_up(double v)
{
    const double unit = pow(10, floor(log10(v)) - 1);
    return ceil(v / unit - 1e-9) * unit;
}

static double judged_s(const ridge_service_request *r, const ridge_service_price *p,
                       int latency)
{
    return r->goals.quantile > 0 ? p->quantile_s[latency] : p->latency_s[latency];
}

/* Where nothing keeps them: each goal at what is nearest, then all of them. */
static void add_goals(relaxer *r)
{
    const ridge_service_goals *g = &r->request->goals;
    const ridge_service_price *near = &r->result->nearest;
    service_variant *all = NULL;
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        if (!isfinite(g->most_s[i]))
            continue;
        const char *text = ridge_service_latency_text((ridge_service_latency)i);
        double to = 2 * g->most_s[i];
        if (r->is_mended && r->result->has_least[i])
            to = rounded_up(fmax(judged_s(r->request, &r->result->least[i], i),
                                 judged_s(r->request, near, i)) *
                            1.02);
        service_variant *v = add(r,
                                 ridge_sprintf(ridge_ctx_arena(r->cx), "%s=%s", text,
                                               ridge_format_seconds(to).s),
                                 "a looser goal");
        if (v != NULL)
            v->request.goals.most_s[i] = to;
        if (!r->is_mended || !r->result->has_nearest)
            continue;
        if (all == NULL)
            all = add(r, "all goals", "as loose as the nearest needs");
        if (all != NULL)
            all->request.goals.most_s[i] =
                fmax(g->most_s[i], 1.02 * judged_s(r->request, near, i));
    }
    if (g->quantile > 0) {
        service_variant *v =
            add(r, "mean", "goals of the mean instead of a percentile");
        if (v != NULL)
            v->request.goals.quantile = 0;
    }
}

/* ---- work ------------------------------------------------------------------------
 */

/* As little as is needed, rounded down to two digits. */
static double rounded_down(double v)
{
    const double unit = pow(10, floor(log10(v)) - 1);
    return floor(v / unit + 1e-9) * unit;
}

/* What the whole slice takes, where more was asked for. */
static void add_rate(relaxer *r)
{
    if (!r->is_mended || !r->result->has_most || r->request->requests_per_s <= 0)
        return;
    const double rate = rounded_down(0.98 * r->result->most.requests_per_s);
    if (!(rate > 0 && rate < r->request->requests_per_s))
        return;
    service_variant *v = add(
        r,
        ridge_sprintf(ridge_ctx_arena(r->cx), "rate=%s", ridge_format_double(rate).s),
        "fewer requests");
    if (v != NULL)
        v->request.requests_per_s = rate;
}

/* Where not one sequence has room: halved until one has. */
static void add_prompts(relaxer *r)
{
    double tokens = r->request->work.prompt_tokens;
    if (!r->is_mended || r->result->has_nearest)
        return;
    for (int i = 0; i < HALVINGS; i++) {
        tokens = floor(tokens / 2);
        if (tokens < PROMPT_LEAST || tokens <= r->request->work.cached_tokens)
            return;
        service_variant *v = add(
            r, ridge_sprintf(ridge_ctx_arena(r->cx), "prompt=%.0f", tokens), SHORTER);
        if (v == NULL)
            return;
        v->request.work.prompt_tokens = tokens;
        v->request.work.context_tokens = 0;
        v->request.is_plain = true;
    }
}

/* ---- knobs ----------------------------------------------------------------------- */

static bool is_any_fixed(const ridge_service_pool_knobs *k)
{
    return k->tp_d > 0 || k->placement > 0 || k->tp > 0 || k->pp > 0 || k->ep > 0 ||
           k->attention_dp > 0 || k->servers > 0 || k->kv_cut != RIDGE_SERVICE_FREE ||
           k->is_gathered != RIDGE_SERVICE_FREE ||
           k->has_two_batches != RIDGE_SERVICE_FREE || k->redundant > 0;
}

static void add_knobs(relaxer *r)
{
    const ridge_service_knobs *k = &r->request->knobs;
    const ridge_service_knobs free = ridge_service_knobs_free();
    service_variant *v;
    bool is_layout = false;
    for (int i = 0; i < RIDGE_SERVICE_ROLE_COUNT; i++)
        is_layout = is_layout || is_any_fixed(&k->pools[i]);
    if (is_layout && (v = add(r, "layout", "degrees left to the search")) != NULL)
        memcpy(v->request.knobs.pools, free.pools, sizeof free.pools);
    if (k->mode != RIDGE_SERVICE_MODE_ANY &&
        (v = add(r, "mode=any", "one pool or two")) != NULL)
        v->request.knobs.mode = RIDGE_SERVICE_MODE_ANY;
    if (k->batch > 0 && (v = add(r, "batch", "left to the search")) != NULL)
        v->request.knobs.batch = 0;
    if (k->budget_tokens > 0 && (v = add(r, "budget", "left to the search")) != NULL)
        v->request.knobs.budget_tokens = 0;
}

/* A format that was not told and that the chip knows. */
static bool is_narrower(const relaxer *r, const char *key, ridge_dtype to)
{
    const ridge_service_knobs *k = &r->request->knobs;
    const bool is_cache = strcmp(key, "cache") == 0;
    const bool has_fp8 = r->request->slice->chip->has_peak[RIDGE_DTYPE_FP8];
    if ((is_cache ? k->cache_text : k->weight_text) != NULL || k->n_formats == 0)
        return false;
    if ((to == RIDGE_DTYPE_FP8 && !has_fp8) || (to == RIDGE_DTYPE_INT8 && has_fp8))
        return false;
    const ridge_dtype now = is_cache ? k->formats[0].cache : k->formats[0].weight;
    return ridge_dtype_bytes(to) < ridge_dtype_bytes(now);
}

/* Narrower numbers where they were left to the checkpoint. */
static void add_formats(relaxer *r)
{
    static const struct {
        const char *key, *name;
        ridge_dtype to;
    } tries[] = {{"weights", "weights=fp8", RIDGE_DTYPE_FP8},
                 {"weights", "weights=int8", RIDGE_DTYPE_INT8},
                 {"weights", "weights=int4", RIDGE_DTYPE_INT4},
                 {"cache", "cache=fp8", RIDGE_DTYPE_FP8},
                 {"cache", "cache=int8", RIDGE_DTYPE_INT8}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(tries); i++) {
        ridge_service_knobs k = r->request->knobs;
        if (!is_narrower(r, tries[i].key, tries[i].to))
            continue;
        if (ridge_service_knobs_set(r->cx, &k, tries[i].key,
                                    ridge_dtype_text(tries[i].to)) != RIDGE_OK ||
            ridge_service_knobs_close(r->cx, r->request->model, r->request->slice->chip,
                                      r->request->engine, &k) != RIDGE_OK) {
            ridge_ctx_clear(r->cx);
            continue;
        }
        service_variant *v = add(r, tries[i].name, "narrower numbers");
        if (v != NULL)
            v->request.knobs = k;
    }
}

/* ---- hardware -------------------------------------------------------------------- */

/* What is told of a machine in one number scales time by no more than that number. */
static const double LEVER_SLACK = 1.02;

/* No machine with one number this much better keeps a goal that nothing comes near.
 * More memory makes room for other layouts, of which nothing is known. */
static bool is_out_of_reach(const relaxer *r, const ridge_change *change)
{
    const double factor = fmax(change->factor, 1 / change->factor) * LEVER_SLACK;
    if (!r->is_mended || strcmp(change->name, "hbm_bytes") == 0)
        return false;
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        if (r->result->has_least[i] && judged_s(r->request, &r->result->least[i], i) >
                                           factor * r->request->goals.most_s[i])
            return true;
    }
    return false;
}

static ridge_status add_hardware(relaxer *r)
{
    static const struct {
        ridge_change change;
        const char *name, *what;
    } tries[] = {{{"hbm_bytes", 1.25}, "hbm_bytes=1.25x", "more memory"},
                 {{"hbm", 1.25}, "hbm=1.25x", "faster memory"},
                 {{"flops", 1.25}, "flops=1.25x", "faster arithmetic"},
                 {{"network", 2}, "network=2x", "a faster network"},
                 {{"latency", 0.5}, "latency=0.5x", "a quicker network"}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(tries); i++) {
        const ridge_what_if what = {.n = 1, .changes = {tries[i].change}};
        if (is_out_of_reach(r, &tries[i].change))
            continue;
        service_variant *v = add(r, tries[i].name, tries[i].what);
        if (v != NULL)
            RIDGE_TRY(
                ridge_slice_change(r->cx, r->request->slice, &what, &v->request.slice));
    }
    return RIDGE_OK;
}

static void add_slices(relaxer *r)
{
    static const int64_t times[] = {2, 4, 8, 16};
    const ridge_slice *slice = r->request->slice;
    for (size_t i = 0; r->is_mended && i < RIDGE_COUNT_OF(times); i++) {
        const ridge_slice *larger;
        int64_t chips;
        if (slice->system == NULL || !ridge_mul_i64(slice->chips, times[i], &chips))
            return;
        if (ridge_slice_of_chips(r->cx, r->catalog, slice->system, chips, &larger) !=
            RIDGE_OK) {
            ridge_ctx_clear(r->cx);
            continue;
        }
        service_variant *v = add(r, larger->text, "a larger slice");
        if (v != NULL)
            v->request.slice = larger;
    }
}

/* ---- answers --------------------------------------------------------------------- */

static double number_of(const relaxer *r, const ridge_service_price *p)
{
    if (r->request->aim == RIDGE_SERVICE_AIM_LATENCY)
        return 1 / p->latency_s[RIDGE_SERVICE_E2E];
    return p->tokens_per_s_per_chip;
}

static int by_change(const void *a, const void *b)
{
    const ridge_service_relaxation *x = a;
    const ridge_service_relaxation *y = b;
    if (x->change != y->change)
        return x->change > y->change ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Of the slices only the smallest is told, of prompts the longest. */
static int collect(const relaxer *r, ridge_service_relaxation *out)
{
    int n = 0;
    bool has_slice = false;
    bool has_prompt = false;
    for (int i = 0; i < r->n; i++) {
        const service_variant *v = &r->variants[i];
        const bool is_slice = v->request.slice->chips != r->request->slice->chips;
        const bool is_prompt = v->what == SHORTER;
        if (!v->has_best || (is_slice && has_slice) || (is_prompt && has_prompt))
            continue;
        has_slice = has_slice || is_slice;
        has_prompt = has_prompt || is_prompt;
        out[n] = (ridge_service_relaxation){
            .name = v->name, .what = v->what, .best = v->best};
        if (!r->is_mended)
            out[n].change =
                number_of(r, &v->best) / number_of(r, &r->result->layouts[0]) - 1;
        n++;
    }
    if (!r->is_mended)
        qsort(out, (size_t)n, sizeof *out, by_change);
    return n;
}

ridge_status ridge_service_relax(ridge_ctx *cx, const ridge_catalog *catalog,
                                 const ridge_service_request *request,
                                 const ridge_service_result *result,
                                 ridge_service_relaxation *out, int *n)
{
    relaxer *r = ridge_new(ridge_ctx_arena(cx), relaxer, 1);
    if (r == NULL)
        return ridge_fail_nomem(cx);
    r->cx = cx;
    r->catalog = catalog;
    r->request = request;
    r->result = result;
    r->is_mended = result->n_layouts == 0;
    add_goals(r);
    add_rate(r);
    add_knobs(r);
    add_formats(r);
    RIDGE_TRY(add_hardware(r));
    add_slices(r);
    add_prompts(r);
    RIDGE_TRY(service_variants_run(cx, r->variants, r->n));
    *n = collect(r, out);
    return RIDGE_OK;
}
