/* One layout of a fleet, given whole; and the sums of a run on all of its pools. */
#include "fleet_price.h"
#include "train_terms.h"

#include "ridge/simulate_pace.h"

#include <math.h>

/* ---- rates ------------------------------------------------------------------------
 */

static int largest_part(const ridge_step_parts *parts)
{
    int largest = 0;
    for (int i = 1; i < RIDGE_STEP_COUNT; i++) {
        if (ridge_step_get(parts, i) > ridge_step_get(parts, largest))
            largest = i;
    }
    return largest;
}

/* FLOPs of a token that are done again: each pool its share of the layers. */
static double again_of(const fleet_case *fc, const ridge_fleet_price *p)
{
    double flops = 0;
    for (int i = 0; i < p->layout.n_parts; i++) {
        const double share = (double)p->pools[i].layers / (double)fc->n_layers;
        flops +=
            share * ridge_model_flops_remat(fc->request->model, fc->pools[0].seq_tokens,
                                            true, p->pools[i].part.remat);
    }
    return flops;
}

static void take_memory(const fleet_case *fc, ridge_fleet_price *p)
{
    double most = -1;
    for (int i = 0; i < p->layout.n_parts; i++) {
        const ridge_fleet_pool *pool = &p->pools[i];
        const double share = pool->peak_memory_bytes /
                             ridge_chip_memory_bytes(fc->slices[pool->part.pool].chip);
        if (share <= most)
            continue;
        most = share;
        p->price.memory = pool->memory;
        p->price.peak_memory_bytes = pool->peak_memory_bytes;
        p->price.fullest_stage = (int)pool->fullest_stage;
    }
}

void fleet_price_finish(const fleet_case *fc, ridge_fleet_price *fleet)
{
    ridge_train_price *p = &fleet->price;
    const train_case *tc = &fc->pools[0];
    const ridge_layout *l = &fleet->layout.common;
    const double tokens = (double)tc->batch_seqs * tc->seq_tokens;
    const double chips = (double)fc->chips;
    const double rate = tokens / p->step_time_s;
    take_memory(fc, fleet);
    p->padded_seqs =
        p->microbatches * l->microbatch_seqs * l->dp * l->fsdp - tc->batch_seqs;
    p->tokens_per_s_per_chip = rate / chips;
    p->model_flops_per_s_per_chip = rate * train_flops_per_token(tc, l) / chips;
    p->mfu = rate * train_flops_per_token(tc, l) / fc->peak_flops_per_s;
    p->hfu = p->mfu + rate * again_of(fc, fleet) / fc->peak_flops_per_s;
    p->bottleneck = largest_part(&p->parts);
    p->has_total = fc->request->total_tokens > 0;
    if (!p->has_total)
        return;
    const double seconds = ceil(fc->request->total_tokens / tokens) * p->step_time_s;
    p->days = seconds / RIDGE_DAY_S;
    p->chip_hours = seconds / RIDGE_HOUR_S * chips;
}

/* ---- one layout -------------------------------------------------------------------
 */

static ridge_status check_parts(const fleet_case *fc, const ridge_fleet_layout *l)
{
    bool is_used[RIDGE_FLEET_POOL_MAX] = {false};
    int64_t pp = 0;
    bool is_whole = l->n_parts == fc->n;
    for (int i = 0; i < l->n_parts && is_whole; i++) {
        const ridge_fleet_part *p = &l->parts[i];
        is_whole = p->pool >= 0 && p->pool < fc->n && !is_used[p->pool] &&
                   p->stages >= 1 && p->placement >= 0 &&
                   p->placement < train_placement_count(&fc->slices[p->pool]);
        if (is_whole)
            is_used[p->pool] = true;
        pp += p->stages;
    }
    if (is_whole && pp == l->common.pp)
        return RIDGE_OK;
    return ridge_fail(fc->cx, RIDGE_E_ARG,
                      "no layout of this fleet: each of its %d pools has one part, and "
                      "their stages make up pp=%lld",
                      fc->n, (long long)l->common.pp);
}

/* A part with terms of its own. @param is_laid  out: its pool's network takes it */
static ridge_status read_part(fleet_case *fc, const ridge_layout *common,
                              const ridge_fleet_part *part, fleet_part *out,
                              bool *is_laid)
{
    ridge_arena *arena = ridge_ctx_arena(fc->cx);
    train_case *tc = &fc->pools[part->pool];
    const ridge_layout local = fleet_layout_local(fc, common, part);
    const size_t kinds = (size_t)tc->n_kinds;
    train_groups *groups = ridge_new(arena, train_groups, 1);
    train_load *load = ridge_new(arena, train_load, 1);
    layer_exchange *exchanges = ridge_new(arena, layer_exchange, kinds + 1);
    shard_time *shards = ridge_new(arena, shard_time, kinds);
    double *layer_s = ridge_new(arena, double, kinds);
    RIDGE_TRY(
        train_case_set_policy(tc, common->precision, common->optimizer, &common->lora));
    if (groups == NULL || load == NULL || exchanges == NULL || shards == NULL ||
        layer_s == NULL ||
        !train_load_build(tc, local.tp, local.ep, local.has_sp, load))
        return ridge_fail_nomem(fc->cx);
    const layer_shape shape = layer_shape_of(&local);
    const layer_time *layers = train_layer_times(tc, &shape);
    if (layers == NULL)
        return tc->status == RIDGE_OK ? ridge_fail_nomem(fc->cx) : tc->status;
    *is_laid = train_groups_place(tc->slice, &local, local.placement, groups);
    if (!*is_laid)
        return RIDGE_OK;
    train_layer_exchanges(tc, groups, layers, exchanges);
    train_shard_times(tc, groups, load, shards);
    const fleet_terms terms = {layers, load, groups, exchanges, shards};
    fleet_part_fill(fc, common, part, &terms, layer_s, out);
    return RIDGE_OK;
}

static ridge_status refuse(const ridge_fleet_layout *layout, ridge_fit fit,
                           ridge_fleet_price *out)
{
    *out = (ridge_fleet_price){.layout = *layout, .price = {.fit = fit}};
    return RIDGE_OK;
}

ridge_status fleet_layout_price(fleet_case *fc, const ridge_fleet_layout *layout,
                                fleet_sheet **on, ridge_fleet_price *out)
{
    ridge_arena *arena = ridge_ctx_arena(fc->cx);
    const ridge_layout *common = &layout->common;
    fleet_part *parts = ridge_new(arena, fleet_part, RIDGE_FLEET_POOL_MAX);
    fleet_part **order = ridge_arena_new(arena, RIDGE_FLEET_POOL_MAX, sizeof *order);
    bool is_roomy;
    fleet_sheet *sheet = fleet_sheet_open(fc);
    if (sheet == NULL || parts == NULL || order == NULL)
        return ridge_fail_nomem(fc->cx);
    *on = sheet;
    RIDGE_TRY(check_parts(fc, layout));
    for (int i = 0; i < layout->n_parts; i++) {
        const ridge_fit fit = fleet_layout_check(fc, common, &layout->parts[i]);
        bool is_laid = false;
        if (fit != RIDGE_FIT_OK)
            return refuse(layout, fit, out);
        RIDGE_TRY(read_part(fc, common, &layout->parts[i], &parts[i], &is_laid));
        if (!is_laid)
            return refuse(layout, RIDGE_FIT_PLACEMENT, out);
        order[i] = &parts[i];
    }
    if (!fleet_sheet_price(sheet, order, layout->n_parts, (double)INFINITY, &is_roomy,
                           out))
        return RIDGE_OK;
    RIDGE_TRY(ridge_pacer_status(order[0]->tc->pacer));
    fleet_price_finish(fc, out);
    return RIDGE_OK;
}

ridge_status ridge_fleet_price_one(ridge_ctx *cx, const ridge_train_request *request,
                                   const ridge_fleet_layout *layout,
                                   ridge_fleet_price *out)
{
    fleet_case *fc = NULL;
    fleet_sheet *sheet = NULL;
    RIDGE_TRY(fleet_case_check_pipeline(cx, request));
    RIDGE_TRY(fleet_case_open(cx, request, &fc));
    return fleet_layout_price(fc, layout, &sheet, out);
}

/* ---- sums of a run ----------------------------------------------------------------
 */

/* Terms of all pools as those of one: what one of them does not know, none does. */
static ridge_money_request join_terms(const ridge_fleet_result *r,
                                      const ridge_train_price *price,
                                      const ridge_money_request *money,
                                      ridge_slice *slice)
{
    ridge_money_request sum = money[0];
    double failures_per_s = 0;
    double usd = 0;
    double watts = 0;
    bool has_watts = true;
    bool has_failures = true;
    slice->chips = 0;
    slice->hosts = 0;
    for (int i = 0; i < r->n_pools; i++) {
        const ridge_slice *pool = r->requests[i].slice;
        const double chips = (double)pool->chips;
        const ridge_power power = ridge_power_of_step(pool, &money[i], price);
        const double mtbf_s = ridge_money_mtbf_s(pool, &money[i]);
        slice->chips += pool->chips;
        slice->hosts += pool->hosts;
        sum.has_price = sum.has_price && money[i].has_price;
        usd += chips * money[i].price.usd_per_chip_hour;
        has_watts = has_watts && power.chip_watts > 0;
        watts += chips * power.chip_watts;
        has_failures = has_failures && mtbf_s > 0;
        failures_per_s += mtbf_s > 0 ? 1 / mtbf_s : 0;
    }
    sum.price.usd_per_chip_hour = usd / (double)slice->chips;
    sum.watts_per_chip = has_watts ? watts / (double)slice->chips : 0;
    if (!sum.is_reliable && !(sum.has_mtbf && sum.mtbf_scope == RIDGE_MTBF_JOB)) {
        sum.failures = NULL;
        sum.has_mtbf = has_failures && failures_per_s > 0;
        sum.mtbf_scope = RIDGE_MTBF_JOB;
        sum.mtbf_s = sum.has_mtbf ? 1 / failures_per_s : 0;
    }
    return sum;
}

ridge_money ridge_fleet_money(const ridge_fleet_result *r,
                              const ridge_train_price *price,
                              const ridge_money_request *money)
{
    ridge_slice slice = *r->requests[0].slice;
    bool has_power = true;
    const ridge_money_request sum = join_terms(r, price, money, &slice);
    ridge_train_request request = r->requests[0];
    request.slice = &slice;
    ridge_money run = ridge_train_money(&request, price, &sum);
    for (int i = 0; i < r->n_pools; i++)
        has_power =
            has_power && ridge_power_of(r->requests[i].slice, &money[i]).chip_watts > 0;
    if (!has_power) {
        run.power = (ridge_power){.source = run.power.source, .pue = run.power.pue};
        run.joules_per_token = run.kwh = run.energy_usd = run.mean_watts = 0;
    }
    return run;
}
