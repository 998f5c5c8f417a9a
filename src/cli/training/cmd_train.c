/*
 * ridge train: the best training layouts of a model on a slice.
 */
#include "money_options.h"
#include "requests_options.h"
#include "train_fleet.h"
#include "train_launch.h"
#include "train_offer.h"
#include "train_rivals.h"
#include "train_sweep.h"
#include "train_target.h"
#include "train_timeline.h"

#include "ridge/report.h"

#include <math.h>
#include <string.h>

/* Knobs of the command line, over those that a launch file set. */
static ridge_status read_knobs(cli_run *run, ridge_knobs *knobs)
{
    train_launch_free(run, knobs);
    for (int i = 0; i < run->n_knobs; i++) {
        RIDGE_TRY(
            ridge_knobs_set(run->cx, knobs, run->knobs[i].key, run->knobs[i].value));
    }
    const char *precision = cli_option_text(run, "precision");
    if (precision)
        RIDGE_TRY(ridge_precision_parse(run->cx, precision, &knobs->precision));
    return RIDGE_OK;
}

enum { FRONT_LAYOUTS = 16 };

/* "10%" or "0.1". */
static ridge_status read_headroom(cli_run *run, double *out)
{
    const char *text = cli_option_text(run, "headroom");
    *out = 0;
    if (!text)
        return RIDGE_OK;
    ridge_str s = ridge_str_of(text);
    const bool is_percent = s.n > 0 && s.p[s.n - 1] == '%';
    if (is_percent)
        s.n--;
    if (!ridge_parse_double(s, out) || !(*out >= 0) || !(*out < (is_percent ? 100 : 1)))
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--headroom '%s': expected a share of the memory, as in 10%%",
                          text);
    *out /= is_percent ? 100 : 1;
    return RIDGE_OK;
}

static ridge_status read_documents(cli_run *run, ridge_train_request *r)
{
    ridge_length length;
    if (!cli_option_text(run, "documents"))
        return RIDGE_OK;
    const char *sweep = cli_option_text(run, "sweep");
    if (sweep && strncmp(sweep, "seq", 3) == 0)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--documents are packed into sequences of one length: leave "
                          "out --sweep %s",
                          sweep);
    RIDGE_TRY(requests_length(run, "documents", 1, &length));
    return ridge_documents_of(run->cx, &length, r->seq_tokens, &r->documents);
}

/* The busiest rank cannot have less than the mean, and a dense model has no such ranks.
 */
static ridge_status read_imbalance(cli_run *run, ridge_train_request *r)
{
    const char *text = cli_option_text(run, "imbalance");
    RIDGE_TRY(cli_option_count(run, "imbalance", 1, &r->expert_imbalance));
    if (r->expert_imbalance < 1)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--imbalance '%.40s': the busiest rank over the mean is 1 or "
                          "more",
                          text);
    if (text != NULL && ridge_model_params(r->model).experts == 0)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--imbalance is of experts and %s has none: leave it out",
                          r->model->name);
    return RIDGE_OK;
}

/* A sequence has no part of a token; how long it may be the library says. A batch is
 * rounded to sequences. */
static ridge_status read_seq(cli_run *run, double fallback, double *out)
{
    RIDGE_TRY(cli_option_count(run, "seq", fallback, out));
    if (floor(*out) != *out)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--seq '%.40s': expected a whole number of tokens",
                          cli_option_text(run, "seq"));
    return RIDGE_OK;
}

static ridge_status read_numbers(cli_run *run, ridge_train_request *r)
{
    double top;
    const double seq = r->seq_tokens > 0 ? r->seq_tokens : 4096;
    if (!cli_option_text(run, "batch") && r->batch_tokens == 0) {
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "train needs --batch TOKENS, the tokens of one step: "
                          "--batch 4M");
    }
    RIDGE_TRY(cli_option_count(run, "batch", r->batch_tokens, &r->batch_tokens));
    RIDGE_TRY(read_seq(run, seq, &r->seq_tokens));
    RIDGE_TRY(read_documents(run, r));
    RIDGE_TRY(cli_option_count(run, "tokens", r->total_tokens, &r->total_tokens));
    RIDGE_TRY(cli_option_count(run, "top", 5, &top));
    if (top < 1 || top > RIDGE_TRAIN_TOP_MAX || floor(top) != top) {
        return ridge_fail(run->cx, RIDGE_E_ARG, "--top: expected 1 to %d",
                          RIDGE_TRAIN_TOP_MAX);
    }
    r->top = (int)top;
    RIDGE_TRY(read_headroom(run, &r->headroom));
    RIDGE_TRY(read_imbalance(run, r));
    if (cli_option_text(run, "front"))
        r->front = FRONT_LAYOUTS;
    const char *convention = cli_option_text(run, "convention");
    return convention ? ridge_convention_parse(run->cx, convention, &r->convention)
                      : RIDGE_OK;
}

/* The question: of a launch file, or of the arguments alone. */
static ridge_status read_subject(cli_run *run, ridge_train_request *r,
                                 train_launch *launch)
{
    const char *from = cli_option_text(run, "from");
    r->knobs = ridge_knobs_free();
    if (!from && run->n_args == 0) {
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "nothing to work on: ridge train %s, or --from FILE",
                          run->verb->synopsis);
    }
    if (train_offer_is_asked(run)) {
        RIDGE_TRY(train_offer_slice(run, &r->slice));
    } else {
        RIDGE_TRY(cli_slice(run, &r->slice));
    }
    return from ? train_launch_read(run, from, r, launch)
                : cli_model(run, run->args[0], &r->model);
}

/* What --stack names, else the software that a launch file is for, else what the chips
 * usually run. */
static ridge_status read_stack(cli_run *run, const train_launch *launch,
                               ridge_train_request *r)
{
    const char *name = cli_option_text(run, "stack");
    const ridge_catalog *catalog;
    if (name || train_offer_is_asked(run))
        return cli_stack(run, name, &r->stack);
    RIDGE_TRY(cli_catalog(run, &catalog));
    if (r->target != NULL) {
        r->stack = ridge_launcher_stack(r->target->launcher, catalog, r->slice->chip);
    } else if (launch->launch.path) {
        r->stack = ridge_launch_stack(&launch->launch, catalog, r->slice->chip);
    }
    if (r->stack == NULL) {
        r->stack = cli_usual_stack(catalog, r->slice);
        r->is_stack_usual = r->stack != NULL;
    }
    return RIDGE_OK;
}

static ridge_status read_terms(cli_run *run, const train_launch *launch,
                               ridge_train_request *r, ridge_money_request *money)
{
    if (!train_offer_is_asked(run)) /* each of the slices has its own */
        RIDGE_TRY(cli_money(run, r->slice->chip, money));
    r->usd_per_chip_hour = money->has_price ? money->price.usd_per_chip_hour : 0;
    RIDGE_TRY(read_numbers(run, r));
    RIDGE_TRY(ridge_layer_shelf_open(run->cx, &r->shelf));
    RIDGE_TRY(read_stack(run, launch, r));
    return read_knobs(run, &r->knobs);
}

static ridge_status find_layouts(cli_run *run, ridge_train_request *r,
                                 ridge_train_result *result)
{
    ridge_progress progress = cli_progress(run);
    r->progress = &progress;
    ridge_status st = ridge_train_search(run->cx, r, result);
    ridge_progress_end(&progress);
    r->progress = NULL;
    return st;
}

/* Sizes of a launch file are read again from where it lies, see plan_request.c. */
static const char *plan_model(cli_run *run, const char *name)
{
    static const char prefix[] = "sizes of ";
    const char *from = cli_option_text(run, "from");
    const bool is_sizes = strncmp(name, prefix, sizeof prefix - 1) == 0;
    const char *whole =
        from == NULL || !is_sizes
            ? name
            : ridge_sprintf(ridge_ctx_arena(run->cx), "%s%s", prefix, from);
    return whole == NULL ? name : whole;
}

static ridge_status write_plan(cli_run *run, const ridge_train_view *view)
{
    const char *path = cli_option_text(run, "plan");
    if (!path || view->result->n_layouts == 0)
        return RIDGE_OK;
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    const ridge_train_price *best = &view->result->layouts[0];
    const ridge_money sums = ridge_train_money(view->request, best, view->money);
    ridge_json *plan = ridge_plan_to_json(run->cx, view->request,
                                          plan_model(run, view->model_name), best);
    ridge_json_set(plan, "run", ridge_money_to_json(run->cx, &sums));
    RIDGE_TRY(ridge_json_write(run->cx, plan, &text));
    return ridge_file_write(run->cx, path, (ridge_str){text.p, text.n});
}

static int show(cli_run *run, const ridge_train_view *view, const train_launch *launch)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (run->html_path) {
        ridge_train_write_html(run->cx, view, &text);
        int code = cli_emit_html(run, &text);
        if (code)
            return code;
        ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        if (launch->launch.path)
            train_launch_json(run, view->request, launch, object);
        if (view->request->target != NULL)
            ridge_json_set_text(object, "launcher",
                                ridge_launcher_text(view->request->target->launcher));
        ridge_train_write_json(run->cx, view, object);
        return cli_emit_json(run, object);
    }
    if (launch->launch.path)
        train_launch_text(launch, &text);
    train_target_text(view->request, &text);
    ridge_train_write_text(run->cx, view, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

/* What was asked beyond the answer; what would fit is told unasked. */
static ridge_status find_reasons(cli_run *run, const ridge_train_view *view,
                                 ridge_train_reasons *out)
{
    const ridge_train_request *r = view->request;
    const ridge_train_result *result = view->result;
    const ridge_train_price *best = result->n_layouts > 0 ? &result->layouts[0] : NULL;
    const char *what_if = cli_option_text(run, "what-if");
    const ridge_catalog *catalog;
    RIDGE_TRY(cli_catalog(run, &catalog));
    if (what_if) {
        RIDGE_TRY(ridge_what_if_parse(run->cx, what_if, r->slice, &out->what_if));
        out->what_if_text = what_if;
        if (best)
            RIDGE_TRY(
                ridge_train_what_if(run->cx, r, best, &out->what_if, &out->answer));
    }
    if (!best || cli_option_text(run, "reasons")) {
        ridge_train_request shown = *r;
        ridge_progress progress = cli_progress(run);
        shown.progress = &progress;
        const ridge_status st = ridge_train_relax(
            run->cx, catalog, &shown, best, out->relaxations, &out->n_relaxations);
        ridge_progress_end(&progress);
        RIDGE_TRY(st);
    }
    if (best && cli_option_text(run, "reasons"))
        RIDGE_TRY(ridge_train_sensitivity(run->cx, r, best, out->sensitivity,
                                          &out->n_sensitivity));
    return RIDGE_OK;
}

/* Of the best layout, or of that which is nearest to fit. */
static ridge_status find_rooflines(cli_run *run, ridge_train_view *view,
                                   ridge_train_rooflines *out)
{
    const ridge_train_result *r = view->result;
    double mfu = 0.4;
    const char *text = cli_option_text(run, "mfu");
    const bool is_asked = cli_option_text(run, "rooflines") != NULL;
    if (text != NULL &&
        (!ridge_parse_fraction(ridge_str_of(text), &mfu) || !(mfu > 0 && mfu <= 1)))
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--mfu '%.40s': expected a share above 0, as in 45%%", text);
    if (!is_asked && text != NULL)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--mfu is of --rooflines: give that too, or leave it out");
    if (!is_asked || (r->n_layouts == 0 && !r->has_nearest))
        return RIDGE_OK;
    const ridge_layout *layout =
        r->n_layouts > 0 ? &r->layouts[0].layout : &r->nearest.layout;
    ridge_train_rooflines_find(view->request, layout, mfu, out);
    view->rooflines = out;
    return RIDGE_OK;
}

static int run_train(cli_run *run)
{
    ridge_train_request request = {.top = 5};
    ridge_train_result result;
    train_launch launch = {.launch.path = NULL};
    ridge_money_request money = {0};
    if (read_subject(run, &request, &launch) != RIDGE_OK)
        return cli_fail(run);
    const char *name = run->n_args > 0 ? run->args[0] : launch.launch.model_name;
    if (train_target_read(run, name, &request) != RIDGE_OK ||
        read_terms(run, &launch, &request, &money) != RIDGE_OK)
        return cli_fail(run);
    if (train_rivals_are_asked(run))
        return train_rivals_run(run, name, &request, &money);
    if (train_offer_is_asked(run))
        return train_offer_run(run, name, &request);
    if (request.slice->next != NULL)
        return train_fleet_run(run, name, &request);
    if (train_sweep_is_asked(run))
        return train_sweep_run(run, name, &request, &money);
    if (find_layouts(run, &request, &result) != RIDGE_OK ||
        train_target_explain(run, &request, &result) != RIDGE_OK ||
        train_launch_price(run, &request, &result, &launch) != RIDGE_OK)
        return cli_fail(run);
    ridge_thresholds thresholds = ridge_train_thresholds(&request);
    const bool has_money = request.total_tokens > 0 || cli_money_is_asked(run);
    ridge_train_reasons *reasons =
        ridge_new(ridge_ctx_arena(run->cx), ridge_train_reasons, 1);
    ridge_train_view view = {.model_name = name,
                             .request = &request,
                             .result = &result,
                             .thresholds = &thresholds,
                             .money = &money,
                             .has_money = has_money,
                             .reasons = reasons};
    ridge_train_rooflines rooflines;
    if (!reasons || find_reasons(run, &view, reasons) != RIDGE_OK ||
        find_rooflines(run, &view, &rooflines) != RIDGE_OK)
        return cli_fail(run);
    if (write_plan(run, &view) != RIDGE_OK ||
        cli_train_timeline(run, &view) != RIDGE_OK)
        return cli_fail(run);
    int code = show(run, &view, &launch);
    return code ? code : result.n_layouts == 0 ? 1 : 0;
}

static const cli_option options[] = {
    {"on", "SLICE[,SLICE]",
     "chips and their shape: v5p:16x20x28, h100:64x8, 2*v5p:16x16x24; pools of unlike "
     "chips: h100:32x8+a100:64x8"},
    {"from", "FILE",
     "price a launch configuration: Megatron-LM arguments, MaxText yml, torchtitan "
     "toml"},
    {"batch", "TOKENS",
     "tokens of one optimizer step: 4M, 4Mi (required without --from)"},
    {"seq", "T", "tokens of a sequence (4096)"},
    {"tokens", "N", "tokens of the whole run, for days and dollars: 15T"},
    {"precision", "POLICY",
     "bf16 (default), bf16-pure, bf16-reduce, fp16, fp8, fp8-current, fp8-blocks, "
     "fp8-weights, fp8-rows, mxfp8, fp4, tf32, fp32"},
    {"stack", "NAME",
     "training software, as in data/stacks: eager, compiled, megatron-core, ...; "
     "well-tuned: every kernel at its best (default: what the chips usually run)"},
    {"convention", "NAME",
     "how MFU counts FLOPs: causal (default), full, 6n, palm, ..."},
    {"documents", "TOKENS",
     "packed into sequences, attention inside of each: 2048, lognormal:2048:150%"},
    {"imbalance", "X",
     "load of the busiest rank of experts over the mean (1: chance alone)"},
    {"headroom", "SHARE", "of the memory that is to stay free: 10%"},
    {"top", "K", "layouts to show (5)"},
    {"front", NULL, "show which layouts trade time for memory"},
    {"reasons", NULL,
     "show what helps most, and the step's sensitivity to every number"},
    {"rooflines", NULL,
     "show the plain rooflines of the best layout, with formulas: work, memory, a "
     "layer's arithmetic against its network"},
    {"mfu", "SHARE", "of their times at an MFU: 45% (40%)"},
    {"to", "LAUNCHER",
     "search what it can be told alone, in its own software: megatron, maxtext, ... "
     "of ridge export"},
    {"what-if", "CHANGES",
     "the answer on other hardware: hbm=2x,nvlink=0.5x,flops=+10%"},
    {"plan", "FILE", "write the best layout as a plan"},
    {"timeline", "FILE", "write the step of the best layout as a trace for Perfetto"},
    {"operations", "FILE",
     "write one microbatch of it, operation by operation, as a trace (pp=1)"},
    {"sweep", "RANGE",
     "curves instead: chips=64..16384, batch=1M..16M*4, seq=4096,8192,32768"},
    {"svg", "FILE", "write the chart of a sweep"},
    {"for", "GOAL",
     "compare the slices of --on by cost (default), time, chips, energy or memory"},
    {"deadline", "TIME", "compare those that finish --tokens in time: 30d"},
    {"chips-most", "N", "of a kind named without a shape (65536)"},
    {"against", "MODEL[,MODEL]",
     "other models, each with its best layout: what a token of theirs costs"},
    {"slack", "SHARE", "of the step that --for memory may lose (5%)"},
    CLI_MONEY_OPTIONS,
    {NULL, NULL, NULL}};

const cli_verb cli_verb_train = {
    .name = "train",
    .summary = "the best training layouts: time, MFU, memory, days, dollars",
    .synopsis = "[MODEL] [KNOB=VALUE ...]",
    .detail =
        "MODEL is a name of the catalogue, a Hugging Face config.json, or its folder.\n"
        "\n"
        "The search covers every factorisation of the chips over dp, fsdp, tp, cp, pp\n"
        "(and of the experts over ep), ZeRO stages 0 to 3, microbatch sizes, "
        "pipelines\n"
        "(1f1b, interleaved; stages with fewer layers at the ends), remat policies on\n"
        "all or some layers, and the ways to lay the mesh on the network; memory is\n"
        "checked on every stage. A knob fixes one choice:\n"
        "  dp= fsdp= tp= cp= pp= ep=    degrees\n"
        "  zero=0..3  sp=0|1  cp_exchange=ring|gather|all-to-all\n"
        "  ep_dispatch=copies|once|once-fp8  how tokens reach their experts\n"
        "  microbatch=  vpp=\n"
        "  schedule=gpipe|1f1b|interleaved|zb-h1|zb-h2|zb-v|dualpipe|any\n"
        "  first_layers=  last_layers=  layers of those stages; 0: none\n"
        "  mtp=  multi-token prediction layers that are trained, beside the head\n"
        "  remat=none|elementwise|selective|matmuls|ffn|full  remat_layers=  of a "
        "stage\n"
        "  remat=up+act  operations by what they make in ridge model --program;\n"
        "  remat=operations  the search chooses them, the cheapest first\n"
        "  offload=none|optimizer+activations+weights|any  to the host\n"
        "  precision=  "
        "optimizer=adamw|adamw-bf16|adamw-8bit|adafactor|muon|momentum|sgd|lora\n"
        "  lora_rank=16  lora_targets=all|attention|mlp|qkv|q+v  adapters of "
        "optimizer=lora\n"
        "  tp_overlap= fsdp_overlap= dp_overlap= pp_overlap= ep_overlap=0|1\n"
        "  placement=any|0..  mesh axes on the network in every order, or one\n"
        "With all of them fixed one layout is priced. any: choices that frameworks do\n"
        "not make unasked are searched as well.\n"
        "\n"
        "--sweep searches each of several numbers of chips, batches or sequence "
        "lengths:\n"
        "strong and weak scaling, and where each communication bound sets in.\n"
        "\n"
        "--on takes several slices with commas, and chips without a shape (any number\n"
        "of them): --on h100,b200,v5p --deadline 30d --tokens 15T is the cheapest\n"
        "cluster that finishes in 30 days. The best layout of each slice is found, "
        "the\n"
        "slices are ranked by --for.\n"
        "\n"
        "--against compares models on one slice: work and efficiency of a token, and\n"
        "what each has to gain in quality to be worth its time.\n"
        "\n"
        "Pools of unlike chips joined by + train in one pipeline (each holds stages, "
        "layers\n"
        "are dealt out so that none waits longer than it must) or hold whole replicas\n"
        "each, with shares of the batch; both are searched.\n"
        "\n"
        "With --tokens the whole run is summed up: goodput under failures, days,\n"
        "dollars, energy, each with where it comes from.\n"
        "\n"
        "Exit code 1: nothing fits; the answer says what is nearest.",
    .example = "ridge train llama-3-70b --on v5p:16x20x28 --batch 4M --tokens 15T",
    .options = options,
    .min_args = 0,
    .max_args = 1,
    .takes_knobs = true,
    .run = run_train,
};
