/* Layouts over pools of unlike chips, as JSON. */
#include "ridge/report_fleet.h"

static void set_mesh(ridge_ctx *cx, const ridge_layout *l, ridge_json *o)
{
    ridge_json *mesh = ridge_json_set_object(cx, o, "mesh");
    ridge_json_set_i64(mesh, "dp", l->dp);
    ridge_json_set_i64(mesh, "fsdp", l->fsdp);
    ridge_json_set_i64(mesh, "tp", l->tp);
    ridge_json_set_i64(mesh, "cp", l->cp);
    ridge_json_set_i64(mesh, "pp", l->pp);
    ridge_json_set_i64(mesh, "ep", l->ep);
    ridge_json_set_i64(o, "zero_stage", l->zero_stage);
    ridge_json_set_bool(o, "sp", l->has_sp);
    ridge_json_set_text(o, "schedule", ridge_schedule_text(l->schedule));
    ridge_json_set_i64(o, "microbatch_seqs", l->microbatch_seqs);
    ridge_json_set_text(o, "cp_exchange", ridge_cp_text(l->cp_exchange));
    ridge_json_set_text(o, "ep_dispatch", ridge_ep_dispatch_text(l->ep_dispatch));
    ridge_json_set_text(o, "precision", ridge_precision_policy(l->precision)->text);
    ridge_json_set_text(o, "optimizer", ridge_optimizer_text(l->optimizer));
}

static void set_memory(ridge_ctx *cx, const ridge_memory_parts *m, ridge_json *o)
{
    ridge_json *memory = ridge_json_set_object(cx, o, "memory");
#define SET_MEMORY(name, text, what)                                                   \
    ridge_json_set_double(memory, #name "_bytes", m->name##_bytes);
    RIDGE_MEMORY_LIST(SET_MEMORY)
#undef SET_MEMORY
}

static void set_breakdown(ridge_ctx *cx, const ridge_step_parts *p, ridge_json *o)
{
    ridge_json *parts = ridge_json_set_object(cx, o, "breakdown");
#define SET_PART(name, text, what)                                                     \
    ridge_json_set_double(parts, #name "_s", p->name##_s);
    RIDGE_STEP_LIST(SET_PART)
#undef SET_PART
}

static void set_pool(ridge_ctx *cx, const ridge_fleet_view *v,
                     const ridge_fleet_price *price, int index, int64_t first,
                     ridge_json *o)
{
    const ridge_fleet_pool *p = &price->pools[index];
    const ridge_train_request *alone = &v->result->requests[p->part.pool];
    ridge_layout local = price->layout.common;
    local.pp = p->part.stages;
    local.placement = p->part.placement;
    ridge_json_set_text(o, "slice", alone->slice->text);
    ridge_json_set_i64(o, "chips", alone->slice->chips);
    ridge_json_set_i64(o, "first_stage", first);
    ridge_json_set_i64(o, "stages", p->part.stages);
    ridge_json_set_i64(o, "layers", p->layers);
    ridge_json_set_i64(o, "layers_least", p->layers_least);
    ridge_json_set_i64(o, "layers_most", p->layers_most);
    ridge_json_set_text(o, "remat", ridge_remat_text(p->part.remat));
    ridge_json_set_text(o, "placement", ridge_placement_text(cx, alone, &local));
    ridge_json_set_i64(o, "placement_index", p->part.placement);
    ridge_json_set_double(o, "stage_time_s", p->stage_s);
    ridge_json_set_double(o, "waiting", p->waiting);
    ridge_json_set_double(o, "peak_memory_bytes", p->peak_memory_bytes);
    ridge_json_set_i64(o, "fullest_stage", p->fullest_stage);
    set_memory(cx, &p->memory, o);
}

static void set_layout(ridge_ctx *cx, const ridge_fleet_view *v,
                       const ridge_fleet_price *price, ridge_json *o)
{
    const ridge_train_price *p = &price->price;
    int64_t first = 0;
    set_mesh(cx, &price->layout.common, o);
    ridge_json_set_double(o, "step_time_s", p->step_time_s);
    ridge_json_set_double(o, "bound_step_time_s", p->bound_step_time_s);
    ridge_json_set_double(o, "mfu", p->mfu);
    ridge_json_set_double(o, "hfu", p->hfu);
    ridge_json_set_double(o, "tokens_per_s_per_chip", p->tokens_per_s_per_chip);
    ridge_json_set_i64(o, "microbatches", p->microbatches);
    ridge_json_set_i64(o, "padded_seqs", p->padded_seqs);
    set_breakdown(cx, &p->parts, o);
    ridge_json_set_double(o, "hidden_communication_s", p->hidden_communication_s);
    ridge_json_set_text(o, "bottleneck", ridge_step_text(p->bottleneck));
    ridge_json_set_double(o, "between_s", price->between_s);
    ridge_json_set_text(o, "slowest_pool", price->pools[price->slowest].slice->text);
    ridge_json *pools = ridge_json_set_array(cx, o, "pools");
    for (int i = 0; i < price->layout.n_parts; i++) {
        set_pool(cx, v, price, i, first, ridge_json_push_object(cx, pools));
        first += price->pools[i].part.stages;
    }
    const ridge_money run = ridge_fleet_money(v->result, p, v->money);
    ridge_json_set(o, "run", ridge_money_to_json(cx, &run));
}

/* The same keys as a layout of one kind of chip for each pool. */
static void set_replicas(ridge_ctx *cx, const ridge_fleet_view *v, ridge_json *o)
{
    const ridge_fleet_replicas *r = &v->result->replicas;
    const ridge_train_price *p = &r->price;
    ridge_json_set_double(o, "step_time_s", p->step_time_s);
    ridge_json_set_double(o, "bound_step_time_s", p->bound_step_time_s);
    ridge_json_set_double(o, "mfu", p->mfu);
    ridge_json_set_double(o, "hfu", p->hfu);
    ridge_json_set_double(o, "tokens_per_s_per_chip", p->tokens_per_s_per_chip);
    ridge_json_set_i64(o, "padded_seqs", p->padded_seqs);
    ridge_json_set_text(o, "slowest_pool",
                        v->result->requests[r->shares[r->slowest].pool].slice->text);
    ridge_json *pools = ridge_json_set_array(cx, o, "pools");
    for (int i = 0; i < r->n; i++) {
        const ridge_fleet_share *share = &r->shares[i];
        const ridge_train_request *alone = &v->result->requests[share->pool];
        ridge_json *pool = ridge_train_price_to_json(cx, alone, &share->price);
        ridge_json_set_text(pool, "slice", alone->slice->text);
        ridge_json_set_i64(pool, "chips", alone->slice->chips);
        ridge_json_set_i64(pool, "batch_seqs", share->batch_seqs);
        ridge_json_set_double(pool, "waiting", share->waiting);
        ridge_json_push(pools, pool);
    }
    const ridge_money run = ridge_fleet_money(v->result, p, v->money);
    ridge_json_set(o, "run", ridge_money_to_json(cx, &run));
}

static void set_alone(const ridge_fleet_view *v, int index, ridge_json *o)
{
    const ridge_fleet_result *r = v->result;
    ridge_json_set_text(o, "slice", r->requests[index].slice->text);
    ridge_json_set_bool(o, "fits", r->has_alone[index]);
    if (!r->has_alone[index])
        return;
    const double step_s = r->alone[index].step_time_s;
    ridge_json_set_double(o, "step_time_s", step_s);
    ridge_json_set_double(o, "mfu", r->alone[index].mfu);
    if (r->n_layouts > 0)
        ridge_json_set_double(o, "gain", step_s / r->layouts[0].price.step_time_s);
}

void ridge_fleet_write_json(ridge_ctx *cx, const ridge_fleet_view *v,
                            ridge_json *object)
{
    const ridge_fleet_result *r = v->result;
    ridge_json_set_text(object, "model", v->model_name);
    ridge_json *fleet = ridge_json_set_array(cx, object, "fleet");
    for (int i = 0; i < r->n_pools; i++)
        ridge_json_push_text(fleet, r->requests[i].slice->text);
    ridge_json_set_i64(object, "chips", r->chips);
    ridge_json_set_double(object, "batch_tokens", r->batch_tokens);
    ridge_json *layouts = ridge_json_set_array(cx, object, "layouts");
    for (int i = 0; i < r->n_layouts; i++)
        set_layout(cx, v, &r->layouts[i], ridge_json_push_object(cx, layouts));
    if (r->replicas.n > 0) {
        set_replicas(cx, v, ridge_json_set_object(cx, object, "replicas"));
    } else {
        ridge_json_set_null(object, "replicas");
    }
    ridge_json *alone = ridge_json_set_array(cx, object, "alone");
    for (int i = 0; i < r->n_pools; i++)
        set_alone(v, i, ridge_json_push_object(cx, alone));
    ridge_json *search = ridge_json_set_object(cx, object, "search");
    ridge_json_set_i64(search, "covered", r->covered);
    ridge_json_set_i64(search, "priced", r->priced);
    ridge_json_set_double(search, "seconds", r->seconds);
}
