/*
 * Readies a mixed fleet. How pools are joined: as slices of one kind are, by the
 * outermost network of each (its DCN; without one the outermost fabric); a message from
 * a chip of one to a chip of the other goes at the rate of the slower, and waits for
 * the latency of the one that has more.
 */
#include "fleet_case.h"

#include <math.h>

/* ---- what joins pools -------------------------------------------------------------
 */

static const ridge_axis *outer_of(const ridge_system *system)
{
    if (system->has_dcn)
        return &system->dcn;
    for (int i = system->n_levels - 1; i >= 0; i--) {
        if (system->levels[i].axis.kind == RIDGE_AXIS_FABRIC)
            return &system->levels[i].axis;
    }
    return NULL;
}

static double rate_of(const ridge_axis *axis)
{
    return axis->bytes_per_s * (axis->efficiency > 0 ? axis->efficiency : 1);
}

static ridge_status join(ridge_ctx *cx, const ridge_slice *a, const ridge_slice *b,
                         ridge_slice *out)
{
    const ridge_axis *outer_a = outer_of(a->system);
    const ridge_axis *outer_b = outer_of(b->system);
    if (outer_a == NULL || outer_b == NULL) {
        const ridge_slice *lonely = outer_a == NULL ? a : b;
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s: system %s has no network to other pools: take it alone",
                          lonely->text, lonely->system->name);
    }
    const bool is_a = rate_of(outer_a) <= rate_of(outer_b);
    *out = is_a ? *a : *b;
    out->next = NULL;
    out->chips = 2;
    out->hosts = 2;
    out->slices = 1;
    out->n_axes = 1;
    out->axes[0] = is_a ? *outer_a : *outer_b;
    out->axes[0].size = 2;
    out->axes[0].latency_s = fmax(outer_a->latency_s, outer_b->latency_s);
    out->axes[0].startup_s = fmax(outer_a->startup_s, outer_b->startup_s);
    return RIDGE_OK;
}

/* A rank of pool i with its peers. All pools hold the same gradients, each chip its
 * part of them: the pool whose chips together send least sets the pace of all. */
static void join_all(fleet_case *fc, int i)
{
    ridge_slice *out = &fc->together[i];
    double least = (double)INFINITY;
    double latency_s = 0;
    double startup_s = 0;
    for (int p = 0; p < fc->n; p++) {
        const ridge_axis *outer = outer_of(fc->slices[p].system);
        least = fmin(least, (double)fc->slices[p].chips * rate_of(outer));
        latency_s = fmax(latency_s, outer->latency_s);
        startup_s = fmax(startup_s, outer->startup_s);
    }
    *out = fc->between[i][i];
    out->chips = out->hosts = out->axes[0].size = fc->n;
    out->axes[0].bytes_per_s *=
        least / ((double)fc->slices[i].chips * rate_of(&out->axes[0]));
    out->axes[0].latency_s = latency_s;
    out->axes[0].startup_s = startup_s;
}

/* ---- checks -----------------------------------------------------------------------
 */

static ridge_status fail_knob(ridge_ctx *cx, const char *knob, const char *why)
{
    return ridge_fail(cx, RIDGE_E_ARG, "%s: pools of unlike chips %s", knob, why);
}

ridge_status fleet_case_check(ridge_ctx *cx, const ridge_train_request *r)
{
    const ridge_knobs *k = &r->knobs;
    int pools = 0;
    for (const ridge_slice *s = r->slice; s != NULL; s = s->next) {
        pools++;
        RIDGE_TRY(ridge_stack_check(cx, r->stack, s->chip));
        if (!ridge_chip_is_overlapped(s->chip))
            return ridge_fail(cx, RIDGE_E_ARG,
                              "%s: its software overlaps nothing, which fleets of "
                              "unlike chips are not priced for: take it alone",
                              s->text);
    }
    if (pools < 2 || pools > RIDGE_FLEET_POOL_MAX)
        return ridge_fail(cx, RIDGE_E_ARG, "a fleet of %d pools: expected 2 to %d",
                          pools, RIDGE_FLEET_POOL_MAX);
    return ridge_knobs_check(cx, k, r->model);
}

ridge_status fleet_case_check_pipeline(ridge_ctx *cx, const ridge_train_request *r)
{
    const ridge_knobs *k = &r->knobs;
    int pools = 0;
    for (const ridge_slice *s = r->slice; s != NULL; s = s->next)
        pools++;
    if (k->pp > 0 && k->pp < pools)
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "pp=%lld: %d pools of unlike chips are stages of one pipeline: "
            "use pp=%d or more",
            (long long)k->pp, pools, pools);
    if (k->schedule == RIDGE_SCHEDULE_ZB_V || k->schedule == RIDGE_SCHEDULE_DUALPIPE)
        return fail_knob(cx, "schedule",
                         "run 1f1b, gpipe, interleaved, zb-h1 or zb-h2: what folds has "
                         "stages of two chips on a rank");
    if (k->mtp > 0)
        return fail_knob(cx, "mtp", "price no prediction layers: leave it out");
    if (k->is_first_fixed || k->is_last_fixed)
        return fail_knob(cx, "first_layers, last_layers",
                         "have layers dealt out by their speed: leave them out");
    if (k->remat == RIDGE_REMAT_OPERATIONS)
        return fail_knob(cx, "remat",
                         "follow one policy: use one of them, as "
                         "remat=selective");
    if (k->remat_layers > 0)
        return fail_knob(cx, "remat_layers",
                         "compute whole stages again: leave it out");
    if (k->placement != RIDGE_KNOB_FREE)
        return fail_knob(cx, "placement", "lie in the usual orders: leave it out");
    return RIDGE_OK;
}

/* ---- pools ------------------------------------------------------------------------
 */

static ridge_status open_pool(fleet_case *fc, const ridge_slice *slice)
{
    const int i = fc->n++;
    fc->slices[i] = *slice;
    fc->slices[i].next = NULL;
    fc->requests[i] = *fc->request;
    fc->requests[i].slice = &fc->slices[i];
    fc->requests[i].usd_per_chip_hour = 0;
    fc->requests[i].knobs.pp = 0; /* it is of all pools */
    RIDGE_TRY(train_case_open(fc->cx, &fc->requests[i], &fc->pools[i]));
    fc->chips += slice->chips;
    fc->peak_flops_per_s +=
        (double)slice->chips *
        ridge_policy_mfu_peak(fc->pools[i].policy, slice->chip, NULL);
    return RIDGE_OK;
}

static ridge_status read_layers(fleet_case *fc)
{
    const ridge_model *model = fc->request->model;
    fc->kinds = ridge_new(ridge_ctx_arena(fc->cx), int, (size_t)model->layer_count);
    fc->one_layer = ridge_new(ridge_ctx_arena(fc->cx), double, (size_t)model->n_layers);
    fc->starts = ridge_new(ridge_ctx_arena(fc->cx), int, (size_t)model->layer_count);
    if (fc->kinds == NULL || fc->starts == NULL || fc->one_layer == NULL)
        return ridge_fail_nomem(fc->cx);
    for (int r = 0; r < model->n_runs; r++) {
        for (int64_t i = 0; i < model->runs[r].count; i++)
            fc->kinds[fc->n_layers++] = model->runs[r].layer;
    }
    for (int i = 1; i < fc->n_layers; i++)
        fc->starts[i] = fc->kinds[i] == fc->kinds[i - 1] ? fc->starts[i - 1] : i;
    return RIDGE_OK;
}

ridge_status fleet_case_open(ridge_ctx *cx, const ridge_train_request *request,
                             fleet_case **out)
{
    RIDGE_TRY(fleet_case_check(cx, request));
    fleet_case *fc = ridge_new(ridge_ctx_arena(cx), fleet_case, 1);
    if (fc == NULL)
        return ridge_fail_nomem(cx);
    fc->cx = cx;
    fc->request = request;
    for (const ridge_slice *s = request->slice; s != NULL; s = s->next)
        RIDGE_TRY(open_pool(fc, s));
    for (int a = 0; a < fc->n; a++) {
        for (int b = 0; b < fc->n; b++)
            RIDGE_TRY(join(cx, &fc->slices[a], &fc->slices[b], &fc->between[a][b]));
    }
    for (int i = 0; i < fc->n; i++)
        join_all(fc, i);
    RIDGE_TRY(read_layers(fc));
    *out = fc;
    return RIDGE_OK;
}
