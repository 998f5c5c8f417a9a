/*
 * Plan files of fleets: JSON, "format": "ridge-plan", "version": 1, "kind": "fleet".
 *
 *     what was asked          as in a plan of one kind of chip; slice: "a:...+b:..."
 *     split                   pipeline: one over all pools; replicas: in each pool
 *     of a pipeline           the keys of a layout, of what all stages have in common;
 *                             pools[] in the order of the pipeline:
 *         pool                of the slice as written, from 0
 *         stages, remat, placement_index
 *     of replicas             pools[]: pool, batch_seqs, and the keys of a layout
 *     slice, placement, layers of a pool; predicted, run    written, not read
 * Other keys are refused.
 */
#include "plan_file.h"

#include "ridge/plan_fleet.h"

#include <string.h>

enum { POOL_SEQS_MOST = 1000000000, STAGES_MOST = 100000 };

/* ---- writing ----------------------------------------------------------------------
 */

static const char *fleet_text(ridge_ctx *cx, const ridge_fleet_result *r)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < r->n_pools; i++)
        ridge_buf_printf(&b, "%s%s", i > 0 ? "+" : "", r->requests[i].slice->text);
    return ridge_buf_text(&b);
}

static void set_pipeline(ridge_ctx *cx, ridge_json *o, const ridge_fleet_result *r)
{
    const ridge_fleet_price *p = &r->layouts[0];
    plan_file_set_layout(cx, o, &r->requests[0], &p->layout.common);
    ridge_json *pools = ridge_json_set_array(cx, o, "pools");
    for (int i = 0; i < p->layout.n_parts; i++) {
        const ridge_fleet_part *part = &p->layout.parts[i];
        ridge_json *pool = ridge_json_push_object(cx, pools);
        ridge_layout local = p->layout.common;
        local.pp = part->stages;
        local.placement = part->placement;
        ridge_json_set_i64(pool, "pool", part->pool);
        ridge_json_set_text(pool, "slice", r->requests[part->pool].slice->text);
        ridge_json_set_i64(pool, "stages", part->stages);
        ridge_json_set_i64(pool, "layers", p->pools[i].layers);
        ridge_json_set_text(pool, "remat", ridge_remat_text(part->remat));
        ridge_json_set_text(pool, "placement",
                            ridge_placement_text(cx, &r->requests[part->pool], &local));
        ridge_json_set_i64(pool, "placement_index", part->placement);
    }
}

static void set_replicas(ridge_ctx *cx, ridge_json *o, const ridge_fleet_result *r)
{
    ridge_json *pools = ridge_json_set_array(cx, o, "pools");
    for (int i = 0; i < r->replicas.n; i++) {
        const ridge_fleet_share *share = &r->replicas.shares[i];
        const ridge_train_request *alone = &r->requests[share->pool];
        ridge_json *pool = ridge_json_push_object(cx, pools);
        ridge_json_set_i64(pool, "pool", share->pool);
        ridge_json_set_text(pool, "slice", alone->slice->text);
        ridge_json_set_i64(pool, "batch_seqs", share->batch_seqs);
        plan_file_set_layout(cx, pool, alone, &share->price.layout);
    }
}

ridge_fleet_plan ridge_fleet_plan_best(const ridge_fleet_result *r)
{
    ridge_fleet_plan plan = {
        .is_replicas = r->replicas.n > 0 &&
                       (r->n_layouts == 0 || r->replicas.price.step_time_s <
                                                 r->layouts[0].price.step_time_s),
        .n_shares = r->replicas.n};
    if (!plan.is_replicas)
        plan.pipeline = r->layouts[0].layout;
    for (int i = 0; i < r->replicas.n; i++)
        plan.shares[i] = r->replicas.shares[i];
    return plan;
}

ridge_json *ridge_fleet_plan_to_json(ridge_ctx *cx, const ridge_train_request *request,
                                     const char *model_name,
                                     const ridge_fleet_result *r)
{
    ridge_json *o = ridge_json_object(cx);
    const bool is_replicas = ridge_fleet_plan_best(r).is_replicas;
    const ridge_train_price *p =
        is_replicas ? &r->replicas.price : &r->layouts[0].price;
    ridge_json_set_text(o, "format", "ridge-plan");
    ridge_json_set_i64(o, "version", 1);
    ridge_json_set_text(o, "kind", "fleet");
    plan_file_set_head(cx, o, request, model_name, fleet_text(cx, r));
    ridge_json_set_text(o, "split", is_replicas ? "replicas" : "pipeline");
    if (is_replicas)
        set_replicas(cx, o, r);
    else
        set_pipeline(cx, o, r);
    ridge_json *predicted = ridge_json_set_object(cx, o, "predicted");
    ridge_json_set_double(predicted, "step_time_s", p->step_time_s);
    ridge_json_set_double(predicted, "bound_step_time_s", p->bound_step_time_s);
    ridge_json_set_double(predicted, "mfu", p->mfu);
    return o;
}

/* ---- reading ----------------------------------------------------------------------
 */

static ridge_status read_part(ridge_ctx *cx, ridge_node pool, ridge_fleet_part *out)
{
    static const char *const known[] = {
        "pool", "slice", "stages", "layers", "remat", "placement", "placement_index"};
    int64_t index;
    int64_t placement;
    const char *text;
    RIDGE_TRY(ridge_json_only(cx, pool, known, RIDGE_COUNT_OF(known)));
    RIDGE_TRY(ridge_json_want_i64(cx, ridge_json_get(&pool, "pool"), 0,
                                  RIDGE_FLEET_POOL_MAX - 1, &index));
    RIDGE_TRY(ridge_json_want_i64(cx, ridge_json_get(&pool, "stages"), 1, STAGES_MOST,
                                  &out->stages));
    RIDGE_TRY(ridge_json_want_i64(cx, ridge_json_get(&pool, "placement_index"), 0, 11,
                                  &placement));
    const ridge_node remat = ridge_json_get(&pool, "remat");
    RIDGE_TRY(ridge_json_want_text(cx, remat, &text));
    if (ridge_remat_parse(cx, text, &out->remat) != RIDGE_OK)
        return ridge_json_fail(cx, remat, "unknown policy '%.40s'", text);
    out->pool = (int)index;
    out->placement = (int)placement;
    return RIDGE_OK;
}

static ridge_status read_share(ridge_ctx *cx, ridge_node pool, ridge_fleet_share *out)
{
    static const char *const known[] = {"pool", "slice", "batch_seqs",
                                        PLAN_FILE_LAYOUT_KEYS};
    int64_t index;
    RIDGE_TRY(ridge_json_only(cx, pool, known, RIDGE_COUNT_OF(known)));
    RIDGE_TRY(ridge_json_want_i64(cx, ridge_json_get(&pool, "pool"), 0,
                                  RIDGE_FLEET_POOL_MAX - 1, &index));
    RIDGE_TRY(ridge_json_want_i64(cx, ridge_json_get(&pool, "batch_seqs"), 1,
                                  POOL_SEQS_MOST, &out->batch_seqs));
    out->pool = (int)index;
    return plan_file_read_layout(cx, &pool, &out->price.layout);
}

static ridge_status read_split(ridge_ctx *cx, const ridge_node *root, bool *is_replicas)
{
    const char *text;
    const ridge_node n = ridge_json_get(root, "split");
    RIDGE_TRY(ridge_json_want_text(cx, n, &text));
    *is_replicas = strcmp(text, "replicas") == 0;
    return *is_replicas || strcmp(text, "pipeline") == 0
               ? RIDGE_OK
               : ridge_json_fail(cx, n, "expected \"pipeline\" or \"replicas\"");
}

static ridge_status check_keys(ridge_ctx *cx, const ridge_node *root, bool is_replicas)
{
    static const char *const known[] = {
        PLAN_FILE_HEAD_KEYS,  "kind", "split", "pools", "predicted", "run",
        PLAN_FILE_LAYOUT_KEYS};
    static const char *const layout[] = {PLAN_FILE_LAYOUT_KEYS};
    const size_t n = RIDGE_COUNT_OF(known);
    return ridge_json_only(cx, *root, known,
                           is_replicas ? n - RIDGE_COUNT_OF(layout) : n);
}

ridge_status ridge_fleet_plan_from_json(ridge_ctx *cx, ridge_node root,
                                        ridge_fleet_plan *out)
{
    ridge_fleet_plan plan = {.is_replicas = false};
    RIDGE_TRY(plan_file_read_head(cx, &root, &plan.head));
    RIDGE_TRY(read_split(cx, &root, &plan.is_replicas));
    RIDGE_TRY(check_keys(cx, &root, plan.is_replicas));
    const ridge_node pools = ridge_json_get(&root, "pools");
    const size_t n = ridge_json_size(pools);
    if (ridge_json_kind_of(pools) != RIDGE_JSON_ARRAY || n < 2 ||
        n > RIDGE_FLEET_POOL_MAX)
        return ridge_json_fail(cx, pools, "expected an array of 2 to %d pools",
                               RIDGE_FLEET_POOL_MAX);
    if (!plan.is_replicas)
        RIDGE_TRY(plan_file_read_layout(cx, &root, &plan.pipeline.common));
    plan.pipeline.n_parts = plan.n_shares = (int)n;
    for (size_t i = 0; i < n; i++) {
        const ridge_node pool = ridge_json_at(&pools, i);
        RIDGE_TRY(plan.is_replicas ? read_share(cx, pool, &plan.shares[i])
                                   : read_part(cx, pool, &plan.pipeline.parts[i]));
    }
    *out = plan;
    return RIDGE_OK;
}
