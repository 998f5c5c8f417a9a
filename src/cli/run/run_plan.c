/*
 * The way from a plan file, or a model and knobs, to a layout of the runtime.
 */
#include "run_plan.h"

#include "rank_options.h"

#include "ridge/plan_timeline.h"

#include <string.h>

bool cli_run_is_lead(void)
{
    return ridge_launched_rank() == 0;
}

static bool ends_with(const char *text, const char *tail)
{
    const size_t n = strlen(text), m = strlen(tail);
    return n >= m && strcmp(text + n - m, tail) == 0;
}

/* A plan says of itself that it is one. */
static bool is_plan(cli_run *run, const char *path)
{
    ridge_node root;
    const char *format;
    if (!ends_with(path, ".json") || ridge_path_is_dir(path))
        return false;
    const bool is_it = ridge_json_read(run->cx, path, &root) == RIDGE_OK &&
                       ridge_json_text(ridge_json_get(&root, "format"), &format) &&
                       strcmp(format, "ridge-plan") == 0;
    ridge_ctx_clear(run->cx);
    return is_it;
}

/* A catalogue name has no file to read constants from: the weights' folder may. */
static ridge_status read_numerics(cli_run *run, run_plan *p)
{
    const char *weights = cli_option_text(run, "weights");
    const char *paths[] = {p->model_path, weights};
    p->numerics = ridge_numerics_usual(p->model);
    for (int i = 0; i < 2; i++) {
        if (!paths[i] || !ridge_path_exists(paths[i]))
            continue;
        if (ridge_numerics_load(run->cx, paths[i], &p->numerics) == RIDGE_OK)
            return RIDGE_OK;
        if (i == 0)
            return RIDGE_E_PARSE;
        ridge_ctx_clear(run->cx);
    }
    return RIDGE_OK;
}

static ridge_status load_model(cli_run *run, run_plan *p)
{
    if (ridge_llama2c_is_checkpoint(p->model_path))
        return ridge_llama2c_model(run->cx, p->model_path, &p->model, &p->numerics);
    RIDGE_TRY(cli_model(run, p->model_path, &p->model));
    return read_numerics(run, p);
}

/* ---- layout ------------------------------------------------------------------------
 */

static int64_t at_least_one(int64_t n)
{
    return n < 1 ? 1 : n;
}

static ridge_schedule stored_schedule(int schedule)
{
    return schedule == RIDGE_SCHEDULE_INTERLEAVED ? RIDGE_SCHEDULE_1F1B
                                                  : (ridge_schedule)schedule;
}

/* What knobs leave free is 1, off, nothing kept back. */
static void layout_of_knobs(const ridge_knobs *k, ridge_layout *l)
{
    *l = (ridge_layout){.dp = at_least_one(k->dp),
                        .fsdp = at_least_one(k->fsdp),
                        .tp = at_least_one(k->tp),
                        .cp = at_least_one(k->cp),
                        .pp = at_least_one(k->pp),
                        .ep = at_least_one(k->ep),
                        .vpp = at_least_one(k->vpp),
                        .microbatch_seqs = at_least_one(k->microbatch_seqs),
                        .precision = RIDGE_PRECISION_FP32};
    l->zero_stage = k->zero_stage != RIDGE_ZERO_FREE ? k->zero_stage
                    : l->fsdp > 1                    ? 3
                                                     : 0;
    l->has_sp = k->has_sp == 1;
    l->schedule = k->schedule >= 0 ? stored_schedule(k->schedule) : RIDGE_SCHEDULE_1F1B;
    l->cp_exchange =
        k->cp_exchange > 0 ? (ridge_cp_exchange)k->cp_exchange : RIDGE_CP_RING;
    l->first_layers = k->first_layers;
    l->last_layers = k->last_layers;
    l->remat_layers = k->remat_layers;
    l->offload = k->offload > 0 ? (unsigned)k->offload : RIDGE_OFFLOAD_NONE;
    l->optimizer = k->optimizer;
    l->remat = k->remat != RIDGE_REMAT_FREE ? (ridge_remat)k->remat : RIDGE_REMAT_NONE;
    l->remat_ops = k->remat_ops;
}

/* Contradictions among knobs, where one that is left free is 1 or none. */
static ridge_status check_given(cli_run *run, const ridge_knobs *knobs,
                                const ridge_model *model)
{
    ridge_knobs k = *knobs;
    k.tp = at_least_one(k.tp);
    k.pp = at_least_one(k.pp);
    k.remat = k.remat == RIDGE_REMAT_FREE ? RIDGE_REMAT_NONE : k.remat;
    return ridge_knobs_check(run->cx, &k, model);
}

/* Of two stages the other one has the rest. */
static void finish_ends(const ridge_knobs *k, const ridge_model *model, ridge_layout *l)
{
    if (l->pp != 2 || k->is_first_fixed == k->is_last_fixed)
        return;
    int64_t *rest = k->is_first_fixed ? &l->last_layers : &l->first_layers;
    const int64_t given = k->is_first_fixed ? l->first_layers : l->last_layers;
    *rest = model->layer_count - (given > 0 ? given : 0);
    *rest = *rest == 0 ? RIDGE_STAGE_NONE : *rest;
}

static void change_degrees(const ridge_knobs *k, ridge_layout *l)
{
    const struct {
        int64_t given;
        int64_t *field;
    } degrees[] = {{k->dp, &l->dp},   {k->fsdp, &l->fsdp},
                   {k->tp, &l->tp},   {k->cp, &l->cp},
                   {k->pp, &l->pp},   {k->ep, &l->ep},
                   {k->vpp, &l->vpp}, {k->microbatch_seqs, &l->microbatch_seqs}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(degrees); i++) {
        if (degrees[i].given > 0)
            *degrees[i].field = degrees[i].given;
    }
    if (k->pp == 1)
        l->first_layers = l->last_layers = RIDGE_STAGE_EVEN;
}

/* Whether a knob was given whose value alone does not tell. */
static bool is_given(const cli_run *run, const char *key)
{
    for (int i = 0; i < run->n_knobs; i++) {
        if (strcmp(run->knobs[i].key, key) == 0)
            return true;
    }
    return false;
}

/* Knobs beside a plan change it. */
static void change_layout(const cli_run *run, const ridge_knobs *k, ridge_layout *l)
{
    change_degrees(k, l);
    if (k->remat != RIDGE_REMAT_FREE) {
        l->remat = (ridge_remat)k->remat;
        l->remat_ops = k->remat_ops;
        l->remat_layers = 0;
    }
    if (k->remat_layers > 0)
        l->remat_layers = k->remat_layers;
    if (k->zero_stage != RIDGE_ZERO_FREE)
        l->zero_stage = k->zero_stage;
    if (k->has_sp != RIDGE_FLAG_FREE)
        l->has_sp = k->has_sp == 1;
    if (k->offload >= 0)
        l->offload = (unsigned)k->offload;
    if (is_given(run, "optimizer"))
        l->optimizer = k->optimizer;
    if (k->schedule >= 0)
        l->schedule = stored_schedule(k->schedule);
    if (k->cp_exchange >= 0)
        l->cp_exchange = (ridge_cp_exchange)k->cp_exchange;
    if (k->is_first_fixed)
        l->first_layers = k->first_layers;
    if (k->is_last_fixed)
        l->last_layers = k->last_layers;
}

/* An option in place of the knob. */
static ridge_status take_schedule(cli_run *run, ridge_layout *l)
{
    const char *text = cli_option_text(run, "schedule");
    ridge_schedule schedule;
    if (!text)
        return RIDGE_OK;
    RIDGE_TRY(ridge_schedule_parse(run->cx, text, &schedule));
    l->schedule = stored_schedule((int)schedule);
    return RIDGE_OK;
}

static ridge_status read_knobs(cli_run *run, ridge_knobs *knobs)
{
    *knobs = ridge_knobs_free();
    for (int i = 0; i < run->n_knobs; i++) {
        RIDGE_TRY(
            ridge_knobs_set(run->cx, knobs, run->knobs[i].key, run->knobs[i].value));
    }
    return RIDGE_OK;
}

/* What is priced but does not run. */
static ridge_status check_choices(cli_run *run, const ridge_layout *l)
{
    if (l->offload != RIDGE_OFFLOAD_NONE)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "offload=%s cannot be run: here ranks compute in the host's "
                          "own memory, so that nothing would be moved out of it: plan "
                          "without offload, or cut the state over more ranks",
                          ridge_offload_text(l->offload));
    if (l->optimizer == RIDGE_OPTIMIZER_LORA)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "optimizer=lora cannot be run: ranks train all weights; name "
                          "another optimizer");
    return RIDGE_OK;
}

/* What each optimizer of plans is to a program. */
static const ridge_update UPDATE_OF[] = {
    [RIDGE_OPTIMIZER_ADAMW] = RIDGE_UPDATE_ADAM,
    [RIDGE_OPTIMIZER_ADAMW_BF16] = RIDGE_UPDATE_ADAM_BF16,
    [RIDGE_OPTIMIZER_ADAMW_8BIT] = RIDGE_UPDATE_ADAM_8BIT,
    [RIDGE_OPTIMIZER_ADAFACTOR] = RIDGE_UPDATE_ADAFACTOR,
    [RIDGE_OPTIMIZER_MUON] = RIDGE_UPDATE_MUON,
    [RIDGE_OPTIMIZER_MOMENTUM] = RIDGE_UPDATE_MOMENTUM,
    [RIDGE_OPTIMIZER_SGD] = RIDGE_UPDATE_SGD,
    [RIDGE_OPTIMIZER_LORA] = RIDGE_UPDATE_SGD}; /* check_choices refuses it */

_Static_assert(RIDGE_COUNT_OF(UPDATE_OF) == RIDGE_OPTIMIZER_COUNT,
               "one row per optimizer");

static ridge_status read_schedule(cli_run *run, const ridge_layout *l,
                                  ridge_run_layout *out)
{
    const char *context = cli_option_text(run, "context-exchange");
    out->schedule = ridge_layout_schedule(l);
    if (out->schedule == RIDGE_SCHEDULE_ZB_V ||
        out->schedule == RIDGE_SCHEDULE_DUALPIPE)
        out->vpp = 2; /* a chunk down and one up */
    if (!context)
        return RIDGE_OK;
    if (strcmp(context, "all-to-all") == 0)
        out->degrees.context = RIDGE_CONTEXT_ALL_TO_ALL;
    else if (strcmp(context, "ring") != 0)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--context-exchange '%s': expected ring or all-to-all",
                          context);
    return RIDGE_OK;
}

/* Layers of each stage as they are priced. */
static ridge_status deal_layers(cli_run *run, run_plan *p)
{
    const bool is_dual = p->layout.schedule == RIDGE_SCHEDULE_DUALPIPE;
    const int64_t stages = (int64_t)p->layout.pp * (is_dual ? 1 : p->layout.vpp);
    int64_t *layers = ridge_new(ridge_ctx_arena(run->cx), int64_t, (size_t)stages);
    if (layers == NULL)
        return ridge_fail_nomem(run->cx);
    for (int64_t s = 0; s < stages; s++)
        layers[s] =
            ridge_layout_stage_layers(&p->plan.layout, p->model->layer_count, s);
    p->layout.stage_layers = layers;
    return RIDGE_OK;
}

static ridge_status make_layout(cli_run *run, run_plan *p)
{
    const ridge_layout *l = &p->plan.layout;
    p->layout = ridge_run_layout_single();
    RIDGE_TRY(ridge_layout_parallelism(run->cx, l, &p->layout.degrees));
    if (l->pp > RIDGE_RANK_MAX || l->vpp > RIDGE_RANK_MAX)
        return ridge_fail(run->cx, RIDGE_E_ARG, "pp=%lld: at most %d ranks run",
                          (long long)l->pp, RIDGE_RANK_MAX);
    p->layout.pp = (int)l->pp;
    p->layout.vpp = (int)l->vpp;
    p->layout.microbatch_seqs = l->microbatch_seqs;
    if (l->remat_ops == 0 && (int)l->remat == RIDGE_REMAT_OPERATIONS)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "remat=operations is a search: name them, as remat=h+up+act");
    p->layout.remat_ops = l->remat_ops;
    p->layout.remat = l->remat_ops ? RIDGE_REMAT_FULL : l->remat;
    RIDGE_TRY(check_choices(run, l));
    p->layout.update = UPDATE_OF[l->optimizer];
    RIDGE_TRY(cli_run_formats(run, l->precision, &p->layout));
    p->layout.remat_layers = l->remat_layers;
    RIDGE_TRY(read_schedule(run, l, &p->layout));
    return p->layout.pp > 1 ? deal_layers(run, p) : RIDGE_OK;
}

/* ---- ranks -------------------------------------------------------------------------
 */

static ridge_status read_ranks(cli_run *run, run_plan *p)
{
    const int64_t ranks = ridge_run_layout_ranks(&p->layout);
    if (ranks > RIDGE_RANK_MAX)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "the layout takes %lld ranks: at most %d run",
                          (long long)ranks, RIDGE_RANK_MAX);
    return cli_rank_options(run, ranks, &p->ranks, &p->threads);
}

/* What was measured on the slice. A plan's own may be a file that is not here. */
static ridge_status read_slice(cli_run *run, run_plan *p)
{
    const ridge_catalog *catalog;
    const ridge_slice *slice;
    const char *on = cli_option_text(run, "on");
    if (on)
        p->plan.slice_text = on;
    if (p->plan.slice_text == NULL)
        return RIDGE_OK;
    RIDGE_TRY(cli_catalog(run, &catalog));
    const ridge_status st =
        ridge_slice_parse(run->cx, catalog, p->plan.slice_text, &slice);
    if (st == RIDGE_OK) {
        p->slice = slice;
        p->measured = slice->chip->measured;
    }
    if (st == RIDGE_OK || on)
        return st;
    ridge_ctx_clear(run->cx);
    return RIDGE_OK;
}

ridge_status cli_run_plan(cli_run *run, run_plan *out)
{
    run_plan p = {.model_path = run->args[0]};
    ridge_knobs knobs;
    RIDGE_TRY(read_knobs(run, &knobs));
    p.is_file = is_plan(run, run->args[0]);
    if (p.is_file) {
        RIDGE_TRY(ridge_plan_read(run->cx, run->args[0], &p.plan));
        p.model_path = p.plan.model_name;
        change_layout(run, &knobs, &p.plan.layout);
    } else {
        layout_of_knobs(&knobs, &p.plan.layout);
    }
    if (is_given(run, "precision"))
        p.plan.layout.precision = knobs.precision;
    if (knobs.mtp > 0 || p.plan.layout.mtp > 0)
        return ridge_fail(
            run->cx, RIDGE_E_ARG,
            "mtp=%d: ridge run trains no prediction layers: leave it out, "
            "or plan with mtp=0",
            knobs.mtp > 0 ? knobs.mtp : (int)p.plan.layout.mtp);
    RIDGE_TRY(load_model(run, &p));
    if (!p.is_file)
        RIDGE_TRY(check_given(run, &knobs, p.model));
    RIDGE_TRY(take_schedule(run, &p.plan.layout));
    finish_ends(&knobs, p.model, &p.plan.layout);
    RIDGE_TRY(make_layout(run, &p));
    RIDGE_TRY(read_ranks(run, &p));
    RIDGE_TRY(read_slice(run, &p));
    if (!p.is_file && !is_given(run, "precision") && p.measured)
        RIDGE_TRY(cli_run_choose_format(run, &p));
    *out = p;
    return RIDGE_OK;
}

/* ---- the prediction ----------------------------------------------------------------
 */

static ridge_status price(cli_run *run, const run_plan *p, double expert_load,
                          ridge_train_price *out)
{
    const ridge_catalog *catalog;
    ridge_train_request r = {.model = p->model,
                             .batch_tokens = p->plan.batch_tokens,
                             .seq_tokens = p->plan.seq_tokens,
                             .convention = p->plan.convention,
                             .knobs = ridge_knobs_free(),
                             .expert_imbalance = expert_load,
                             .documents = p->plan.documents,
                             .top = 1};
    r.knobs.precision = p->plan.layout.precision;
    RIDGE_TRY(cli_catalog(run, &catalog));
    RIDGE_TRY(ridge_slice_parse(run->cx, catalog, p->plan.slice_text, &r.slice));
    return ridge_train_price_one(run->cx, &r, &p->plan.layout, out);
}

bool cli_run_price(cli_run *run, const run_plan *p, double expert_load,
                   ridge_train_price *out)
{
    if (!p->is_file || p->plan.slice_text == NULL)
        return false;
    const double load = expert_load > 0.0 ? expert_load : p->plan.expert_imbalance;
    const bool is_priced =
        price(run, p, load, out) == RIDGE_OK && out->step_time_s > 0.0;
    if (!is_priced)
        ridge_ctx_clear(run->cx);
    return is_priced;
}
