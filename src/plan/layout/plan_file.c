/*
 * Plan files: JSON, "format": "ridge-plan", "version": 1. A newer version is refused.
 *
 *     model, slice            as on the command line
 *     batch_tokens, seq_tokens, total_tokens, convention, usd_per_chip_hour
 *     stack                   optional: of data/stacks
 *     expert_imbalance        optional: busiest rank of experts over the mean
 *     documents               optional: tokens, spread, cp_wait; see ridge_documents
 *     mesh                    {dp, fsdp, tp, cp, pp, ep}
 *     zero_stage, sp, vpp, microbatch_seqs, remat, precision, tp_overlap,
 *     placement_index
 *     schedule, first_layers, last_layers, mtp, cp_exchange, ep_dispatch, remat_layers,
 *     offload, optimizer, lora_rank, lora_targets, fsdp_overlap ... ep_overlap; these
 *     are plain when absent
 *     placement, shardings, predicted, run: written, not read. Others are refused.
 * Pools of unlike chips: "kind": "fleet", fleet_plan_file.c.
 */
#include "plan_file.h"

#include "ridge/cost_range.h"
#include "ridge/plan_fleet.h"

#include <math.h>
#include <string.h>

enum { PLAN_VERSION = 1 };

static void set_axes(ridge_ctx *cx, ridge_json *table, const char *dim, const char *a,
                     const char *b)
{
    ridge_json *axes = ridge_json_set_array(cx, table, dim);
    if (a != NULL)
        ridge_json_push_text(axes, a);
    if (b != NULL)
        ridge_json_push_text(axes, b);
}

/* Which mesh axis cuts which dimension of each group of tensors. */
static ridge_json *shardings(ridge_ctx *cx, const ridge_layout *l)
{
    ridge_json *all = ridge_json_object(cx);
    ridge_json *w = ridge_json_set_object(cx, all, "weights");
    const char *tp = l->tp > 1 ? "tp" : NULL;
    const char *fsdp = l->zero_stage == 3 ? "fsdp" : NULL;
    set_axes(cx, w, "L", l->pp > 1 ? "pp" : NULL, NULL);
    set_axes(cx, w, "D", fsdp, NULL);
    set_axes(cx, w, "F", tp, NULL);
    set_axes(cx, w, "N", tp, NULL);
    set_axes(cx, w, "K", tp, NULL);
    set_axes(cx, w, "V", tp, NULL);
    set_axes(cx, w, "E", l->ep > 1 ? "ep" : NULL, NULL);
    ridge_json *o = ridge_json_set_object(cx, all, "optimizer");
    set_axes(cx, o, "D", l->zero_stage >= 1 ? "fsdp" : NULL, NULL);
    set_axes(cx, o, "F", tp, NULL);
    ridge_json *a = ridge_json_set_object(cx, all, "activations");
    set_axes(cx, a, "B", l->dp > 1 ? "dp" : NULL, l->fsdp > 1 ? "fsdp" : NULL);
    set_axes(cx, a, "T", l->cp > 1 ? "cp" : NULL, l->has_sp ? "tp" : NULL);
    set_axes(cx, a, "F", tp, NULL);
    set_axes(cx, a, "N", tp, NULL);
    return all;
}

static void set_mesh(ridge_ctx *cx, ridge_json *o, const ridge_layout *l)
{
    ridge_json *mesh = ridge_json_set_object(cx, o, "mesh");
    ridge_json_set_i64(mesh, "dp", l->dp);
    ridge_json_set_i64(mesh, "fsdp", l->fsdp);
    ridge_json_set_i64(mesh, "tp", l->tp);
    ridge_json_set_i64(mesh, "cp", l->cp);
    ridge_json_set_i64(mesh, "pp", l->pp);
    ridge_json_set_i64(mesh, "ep", l->ep);
}

/* null: as the even deal gives. */
static void set_stage_layers(ridge_json *o, const char *key, int64_t layers)
{
    if (layers == RIDGE_STAGE_EVEN) {
        ridge_json_set_null(o, key);
    } else {
        ridge_json_set_i64(o, key, layers == RIDGE_STAGE_NONE ? 0 : layers);
    }
}

void plan_file_set_layout(ridge_ctx *cx, ridge_json *o,
                          const ridge_train_request *request, const ridge_layout *l)
{
    set_mesh(cx, o, l);
    ridge_json_set_text(o, "placement", ridge_placement_text(cx, request, l));
    ridge_json_set_i64(o, "placement_index", l->placement);
    ridge_json_set_i64(o, "zero_stage", l->zero_stage);
    ridge_json_set_bool(o, "sp", l->has_sp);
    ridge_json_set_i64(o, "vpp", l->vpp);
    ridge_json_set_text(o, "schedule",
                        l->pp == 1 ? "none"
                                   : ridge_schedule_text(ridge_layout_schedule(l)));
    set_stage_layers(o, "first_layers", l->first_layers);
    set_stage_layers(o, "last_layers", l->last_layers);
    ridge_json_set_i64(o, "mtp", l->mtp);
    ridge_json_set_text(o, "cp_exchange", ridge_cp_text(l->cp_exchange));
    ridge_json_set_text(o, "ep_dispatch", ridge_ep_dispatch_text(l->ep_dispatch));
    ridge_json_set_i64(o, "microbatch_seqs", l->microbatch_seqs);
    ridge_json_set_text(o, "remat", ridge_layout_remat_text(cx, l));
    if (l->remat_layers > 0) {
        ridge_json_set_i64(o, "remat_layers", l->remat_layers);
    } else {
        ridge_json_set_null(o, "remat_layers");
    }
    ridge_json_set_text(o, "offload", ridge_offload_text(l->offload));
    ridge_json_set_text(o, "precision", ridge_precision_policy(l->precision)->text);
    ridge_json_set_text(o, "optimizer", ridge_optimizer_text(l->optimizer));
    if (l->optimizer == RIDGE_OPTIMIZER_LORA) {
        ridge_json_set_i64(o, "lora_rank", ridge_lora_rank(&l->lora));
        ridge_json_set_text(o, "lora_targets", ridge_lora_text(cx, l->lora.targets));
    }
    for (int i = 0; i < RIDGE_OVERLAP_COUNT; i++) {
        ridge_overlap_kind kind = (ridge_overlap_kind)i;
        ridge_json_set_bool(o, ridge_overlap_kind_text(kind),
                            ridge_layout_has_overlap(l, kind));
    }
}

static void set_parts(ridge_ctx *cx, ridge_json *o, const ridge_train_price *p)
{
    ridge_json *memory = ridge_json_set_object(cx, o, "memory");
    for (int i = 0; i < RIDGE_MEMORY_COUNT; i++) {
        const char *key =
            ridge_sprintf(ridge_ctx_arena(cx), "%s_bytes", ridge_memory_part_text(i));
        ridge_json_set_double(memory, key == NULL ? "?" : key,
                              ridge_memory_part_get(&p->memory, i));
    }
    ridge_json *breakdown = ridge_json_set_object(cx, o, "breakdown");
    for (int i = 0; i < RIDGE_STEP_COUNT; i++) {
        const char *key =
            ridge_sprintf(ridge_ctx_arena(cx), "%s_s", ridge_step_text(i));
        ridge_json_set_double(breakdown, key == NULL ? "?" : key,
                              ridge_step_get(&p->parts, i));
    }
}

ridge_json *ridge_train_price_to_json(ridge_ctx *cx, const ridge_train_request *request,
                                      const ridge_train_price *p)
{
    ridge_json *o = ridge_json_object(cx);
    plan_file_set_layout(cx, o, request, &p->layout);
    ridge_json_set_bool(o, "fits", p->fit == RIDGE_FIT_OK);
    if (p->fit != RIDGE_FIT_OK)
        ridge_json_set_text(o, "why_not", ridge_fit_text(p->fit));
    ridge_json_set_double(o, "step_time_s", p->step_time_s);
    ridge_json_set_double(o, "bound_step_time_s", p->bound_step_time_s);
    const ridge_range range = ridge_train_range(request, p);
    ridge_json_set_double(o, "range_low_s", range.low_s);
    ridge_json_set_double(o, "range_high_s", range.high_s);
    ridge_json_set_double(o, "mfu", p->mfu);
    ridge_json_set_double(o, "hfu", p->hfu);
    ridge_json_set_double(o, "tokens_per_s_per_chip", p->tokens_per_s_per_chip);
    ridge_json_set_double(o, "tflops_per_chip", p->model_flops_per_s_per_chip / 1e12);
    ridge_json_set_double(o, "peak_memory_bytes", p->peak_memory_bytes);
    ridge_json_set_double(o, "host_bytes", p->host_bytes);
    ridge_json_set_i64(o, "fullest_stage", p->fullest_stage);
    set_parts(cx, o, p);
    ridge_json_set_double(o, "hidden_communication_s", p->hidden_communication_s);
    ridge_json_set_text(o, "bottleneck", ridge_step_text(p->bottleneck));
    ridge_json_set_i64(o, "microbatches", p->microbatches);
    ridge_json_set_i64(o, "padded_seqs", p->padded_seqs);
    ridge_json_set_double(o, "days", p->has_total ? p->days : nan(""));
    ridge_json_set_double(o, "chip_hours", p->has_total ? p->chip_hours : nan(""));
    ridge_json_set_double(o, "usd", p->has_usd ? p->usd : nan(""));
    return o;
}

static void set_documents(ridge_ctx *cx, ridge_json *o, const ridge_documents *d)
{
    if (d->tokens <= 0)
        return;
    ridge_json *documents = ridge_json_set_object(cx, o, "documents");
    ridge_json_set_double(documents, "tokens", d->tokens);
    ridge_json_set_double(documents, "spread", d->spread);
    ridge_json *wait = ridge_json_set_array(cx, documents, "cp_wait");
    for (int i = 0; i < RIDGE_DOCUMENTS_CP; i++)
        ridge_json_push_double(wait, d->cp_wait[i]);
}

void plan_file_set_head(ridge_ctx *cx, ridge_json *o, const ridge_train_request *r,
                        const char *model_name, const char *slice_text)
{
    ridge_json_set_text(o, "model", model_name);
    ridge_json_set_text(o, "slice", slice_text);
    ridge_json_set_double(o, "batch_tokens", r->batch_tokens);
    ridge_json_set_double(o, "seq_tokens", r->seq_tokens);
    ridge_json_set_double(o, "total_tokens", r->total_tokens);
    ridge_json_set_text(o, "convention", ridge_convention_text(r->convention));
    if (r->expert_imbalance > 1)
        ridge_json_set_double(o, "expert_imbalance", r->expert_imbalance);
    set_documents(cx, o, &r->documents);
    if (r->stack != NULL)
        ridge_json_set_text(o, "stack", r->stack->name);
}

ridge_json *ridge_plan_to_json(ridge_ctx *cx, const ridge_train_request *r,
                               const char *model_name, const ridge_train_price *price)
{
    ridge_json *o = ridge_json_object(cx);
    ridge_json_set_text(o, "format", "ridge-plan");
    ridge_json_set_i64(o, "version", PLAN_VERSION);
    plan_file_set_head(cx, o, r, model_name, r->slice->text);
    ridge_json_set_double(o, "usd_per_chip_hour", r->usd_per_chip_hour);
    plan_file_set_layout(cx, o, r, &price->layout);
    ridge_json_set(o, "shardings", shardings(cx, &price->layout));
    ridge_json_set(o, "predicted", ridge_train_price_to_json(cx, r, price));
    return o;
}

/* ---- reading --------------------------------------------------------------------- */

static ridge_status read_documents(ridge_ctx *cx, const ridge_node *root,
                                   ridge_documents *out)
{
    static const char *const known[] = {"tokens", "spread", "cp_wait"};
    const ridge_node n = ridge_json_get(root, "documents");
    *out = (ridge_documents){0};
    if (ridge_json_is_absent(n))
        return RIDGE_OK;
    RIDGE_TRY(ridge_json_only(cx, n, known, RIDGE_COUNT_OF(known)));
    RIDGE_TRY(
        ridge_json_want_double(cx, ridge_json_get(&n, "tokens"), 1, 1e9, &out->tokens));
    RIDGE_TRY(
        ridge_json_want_double(cx, ridge_json_get(&n, "spread"), 0, 1e6, &out->spread));
    const ridge_node wait = ridge_json_get(&n, "cp_wait"); /* newer than others */
    if (!ridge_json_is_absent(wait) && ridge_json_size(wait) != RIDGE_DOCUMENTS_CP)
        return ridge_json_fail(cx, wait, "expected %d shares", RIDGE_DOCUMENTS_CP);
    for (size_t i = 0; i < RIDGE_DOCUMENTS_CP && !ridge_json_is_absent(wait); i++)
        RIDGE_TRY(ridge_json_want_double(cx, ridge_json_at(&wait, i), 0, 1e6,
                                         &out->cp_wait[i]));
    return RIDGE_OK;
}

static ridge_status check_format(ridge_ctx *cx, const ridge_node *root)
{
    const char *format;
    int64_t version;
    if (!ridge_json_text(ridge_json_get(root, "format"), &format) ||
        strcmp(format, "ridge-plan") != 0) {
        return ridge_json_fail(
            cx, *root,
            "no plan: expected \"format\": \"ridge-plan\", as written "
            "by `ridge train ... --plan FILE`");
    }
    ridge_node n = ridge_json_get(root, "version");
    RIDGE_TRY(ridge_json_want_i64(cx, n, 1, 1000000, &version));
    if (version > PLAN_VERSION) {
        return ridge_json_fail(cx, n,
                               "version %lld is newer than this ridge reads (%d)",
                               (long long)version, PLAN_VERSION);
    }
    return RIDGE_OK;
}

static ridge_status read_numbers(ridge_ctx *cx, const ridge_node *root,
                                 ridge_plan *plan)
{
    ridge_node n = ridge_json_get(root, "batch_tokens");
    RIDGE_TRY(ridge_json_want_double(cx, n, 1, 1e15, &plan->batch_tokens));
    n = ridge_json_get(root, "seq_tokens");
    RIDGE_TRY(ridge_json_want_double(cx, n, 1, 1e9, &plan->seq_tokens));
    n = ridge_json_get(root, "total_tokens");
    if (!ridge_json_is_absent(n))
        RIDGE_TRY(ridge_json_want_double(cx, n, 0, 1e18, &plan->total_tokens));
    n = ridge_json_get(root, "usd_per_chip_hour");
    if (!ridge_json_is_absent(n))
        RIDGE_TRY(ridge_json_want_double(cx, n, 0, 1e6, &plan->usd_per_chip_hour));
    n = ridge_json_get(root, "expert_imbalance");
    if (!ridge_json_is_absent(n))
        RIDGE_TRY(ridge_json_want_double(cx, n, 1, 1e6, &plan->expert_imbalance));
    return RIDGE_OK;
}

ridge_status plan_file_read_head(ridge_ctx *cx, const ridge_node *root, ridge_plan *out)
{
    const char *text;
    RIDGE_TRY(check_format(cx, root));
    RIDGE_TRY(
        ridge_json_want_text(cx, ridge_json_get(root, "model"), &out->model_name));
    RIDGE_TRY(
        ridge_json_want_text(cx, ridge_json_get(root, "slice"), &out->slice_text));
    RIDGE_TRY(read_numbers(cx, root, out));
    ridge_node n = ridge_json_get(root, "convention");
    RIDGE_TRY(ridge_json_want_text(cx, n, &text));
    if (ridge_convention_parse(cx, text, &out->convention) != RIDGE_OK)
        return plan_file_fail_name(cx, n);
    RIDGE_TRY(read_documents(cx, root, &out->documents));
    n = ridge_json_get(root, "stack");
    return ridge_json_is_absent(n) ? RIDGE_OK
                                   : ridge_json_want_text(cx, n, &out->stack_name);
}

/* A key that nobody reads would change nothing, in silence. */
static ridge_status check_keys(ridge_ctx *cx, const ridge_node *root)
{
    static const char *const known[] = {
        PLAN_FILE_HEAD_KEYS, PLAN_FILE_LAYOUT_KEYS, "kind", "usd_per_chip_hour",
        "shardings",         "predicted",           "run"};
    const char *kind = "train";
    const ridge_node n = ridge_json_get(root, "kind");
    if (!ridge_json_is_absent(n) &&
        (!ridge_json_text(n, &kind) || strcmp(kind, "train") != 0))
        return ridge_json_fail(cx, n, "expected \"train\", or no kind");
    return ridge_json_only(cx, *root, known, RIDGE_COUNT_OF(known));
}

ridge_status ridge_plan_from_json(ridge_ctx *cx, ridge_node root, ridge_plan *out)
{
    ridge_plan plan = {0};
    RIDGE_TRY(check_format(cx, &root));
    if (ridge_plan_is_fleet(root))
        return ridge_json_fail(
            cx, root,
            "a plan of pools of unlike chips, which is not run or exported: ridge "
            "explain and simulate read it; plan one of its pools alone for others");
    RIDGE_TRY(check_keys(cx, &root));
    RIDGE_TRY(plan_file_read_head(cx, &root, &plan));
    RIDGE_TRY(plan_file_read_layout(cx, &root, &plan.layout));
    *out = plan;
    return RIDGE_OK;
}

ridge_status ridge_plan_read(ridge_ctx *cx, const char *path, ridge_plan *out)
{
    ridge_node root;
    RIDGE_TRY(ridge_json_read(cx, path, &root));
    return ridge_plan_from_json(cx, root, out);
}
