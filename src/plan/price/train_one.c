/* Prices one layout that is given whole. */
#include <math.h>

#include "step_program.h"
#include "train_terms.h"

#include "ridge/simulate_pace.h"

static ridge_status place(ridge_ctx *cx, const train_case *tc,
                          const ridge_layout *layout, train_groups *groups,
                          bool *is_laid)
{
    if (layout->placement < 0 || layout->placement >= train_placement_most(tc->slice)) {
        return ridge_fail(cx, RIDGE_E_ARG, "placement %d: %s has 0 to %d",
                          layout->placement, tc->slice->text,
                          train_placement_most(tc->slice) - 1);
    }
    *is_laid = train_groups_place(tc->slice, layout, layout->placement, groups);
    return RIDGE_OK;
}

ridge_status train_terms_of(train_case *tc, const layer_time *layers,
                            const ridge_layout *l, const train_groups *groups,
                            train_terms *out)
{
    ridge_arena *arena = ridge_ctx_arena(tc->cx);
    size_t kinds = (size_t)tc->n_kinds;
    const train_stages *stages = train_case_stages(tc, l);
    layer_exchange *exchanges = ridge_new(arena, layer_exchange, kinds + 1);
    shard_time *shards = ridge_new(arena, shard_time, kinds);
    train_load *load = ridge_new(arena, train_load, 1);
    if (stages == NULL || exchanges == NULL || shards == NULL || load == NULL ||
        !train_load_build(tc, l->tp, l->ep, l->has_sp, load))
        return ridge_fail_nomem(tc->cx);
    step_sync *syncs = ridge_new(arena, step_sync, (size_t)stages->n);
    if (syncs == NULL)
        return ridge_fail_nomem(tc->cx);
    train_layer_exchanges(tc, groups, layers, exchanges);
    train_shard_times(tc, groups, load, shards);
    train_step_syncs(tc, groups, load, stages, l, syncs);
    *out =
        (train_terms){.stages = stages,
                      .load = load,
                      .layers = layers,
                      .exchanges = exchanges,
                      .shards = shards,
                      .syncs = syncs,
                      .send = train_send_time(tc, groups, l),
                      .imbalance = train_expert_imbalance(tc, l),
                      .is_tp_apart = !train_groups_share(&groups->tp, &groups->shards)};
    return RIDGE_OK;
}

ridge_status train_layout_price(train_case *tc, const layer_time *layers,
                                const ridge_layout *l, ridge_train_price *out)
{
    ridge_train_price price = {.layout = *l, .fit = train_layout_check(tc, l)};
    train_groups groups;
    train_terms terms;
    bool is_laid = false;
    *out = price;
    if (price.fit != RIDGE_FIT_OK)
        return RIDGE_OK;
    RIDGE_TRY(place(tc->cx, tc, l, &groups, &is_laid));
    if (!is_laid) {
        out->fit = RIDGE_FIT_PLACEMENT;
        return RIDGE_OK;
    }
    RIDGE_TRY(train_terms_of(tc, layers, l, &groups, &terms));
    price.microbatches = train_microbatches(tc, l);
    price.memory = train_peak_memory(tc, &terms, l, price.microbatches,
                                     (double)INFINITY, &price.fullest_stage);
    price.peak_memory_bytes = ridge_memory_total_bytes(&price.memory);
    if (price.peak_memory_bytes > tc->usable_bytes)
        price.fit = RIDGE_FIT_OVER_HBM;
    price.host_bytes = train_host_bytes(tc, &terms, l, price.microbatches);
    if (!train_host_holds(tc, price.host_bytes))
        price.fit = RIDGE_FIT_OVER_HOST;
    train_price_time(tc, &terms, l, &price);
    RIDGE_TRY(tc->steps->status);
    RIDGE_TRY(ridge_pacer_status(tc->pacer));
    train_price_finish(tc, &price);
    *out = price;
    return RIDGE_OK;
}

ridge_status ridge_train_price_one(ridge_ctx *cx, const ridge_train_request *request,
                                   const ridge_layout *layout, ridge_train_price *out)
{
    train_case tc;
    RIDGE_TRY(train_case_open(cx, request, &tc));
    RIDGE_TRY(train_case_set_policy(&tc, layout->precision, layout->optimizer,
                                    &layout->lora));
    train_case_set_remat(&tc, layout);
    *out = (ridge_train_price){.layout = *layout};
    out->fit = train_layout_check(&tc, layout);
    if (out->fit != RIDGE_FIT_OK)
        return RIDGE_OK;
    layer_shape shape = layer_shape_of(layout);
    const layer_time *layers = train_layer_times(&tc, &shape);
    if (layers == NULL)
        return tc.status == RIDGE_OK ? ridge_fail_nomem(cx) : tc.status;
    return train_layout_price(&tc, layers, layout, out);
}

static void put_axis(ridge_ctx *cx, const ridge_slice *slice, const char *name,
                     const ridge_group *group, ridge_buf *out)
{
    if (group->ranks <= 1)
        return;
    const char *text = ridge_group_text(cx, slice, group);
    ridge_buf_printf(out, "%s%s %lld on %s", out->n == 0 ? "" : "; ", name,
                     (long long)group->ranks, text == NULL ? "?" : text);
}

const char *ridge_placement_text(ridge_ctx *cx, const ridge_train_request *request,
                                 const ridge_layout *layout)
{
    train_groups g;
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(cx));
    if (!train_groups_place(request->slice, layout, layout->placement, &g))
        return "";
    put_axis(cx, request->slice, "tp", &g.tp, &out);
    put_axis(cx, request->slice, "cp", &g.cp, &out);
    put_axis(cx, request->slice, "ep", &g.ep, &out);
    if (layout->zero_stage > 0)
        put_axis(cx, request->slice, "fsdp", &g.shards, &out);
    put_axis(cx, request->slice, "dp", &g.replicas, &out);
    put_axis(cx, request->slice, "pp", &g.pp, &out);
    return out.n == 0 ? "one chip" : ridge_buf_text(&out);
}
