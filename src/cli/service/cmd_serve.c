/*
 * ridge serve: the best deployments of a model on a slice, under goals.
 */
#include "serve_offer.h"
#include "serve_options.h"
#include "serve_reasons.h"
#include "serve_speculation.h"

#include "ridge/plan_service_play.h"

static ridge_status find(cli_run *run, ridge_service_request *r,
                         ridge_service_result *result)
{
    ridge_progress progress = cli_progress(run);
    r->progress = &progress;
    const ridge_status st = ridge_service_search(run->cx, r, result);
    ridge_progress_end(&progress);
    r->progress = NULL;
    return st;
}

static ridge_status write_plan(cli_run *run, const ridge_service_view *v,
                               const serve_launch *launch)
{
    const char *path = cli_option_text(run, "plan");
    const char *draft = serve_draft_name(run);
    ridge_buf text;
    if (draft == NULL && launch->launch.path != NULL)
        draft = launch->launch.deployment.draft_name;
    if (path == NULL || v->result->n_layouts == 0)
        return RIDGE_OK;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    RIDGE_TRY(
        ridge_json_write(run->cx,
                         ridge_service_plan_to_json(run->cx, v->request, v->model_name,
                                                    draft, &v->result->layouts[0]),
                         &text));
    return ridge_file_write(run->cx, path, (ridge_str){text.p, text.n});
}

static ridge_status write_svg(cli_run *run, const ridge_service_view *v)
{
    const char *path = cli_option_text(run, "svg");
    ridge_buf text;
    if (path == NULL)
        return RIDGE_OK;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    ridge_service_write_svg(run->cx, v, &text);
    return ridge_file_write(run->cx, path, (ridge_str){text.p, text.n});
}

static int show(cli_run *run, const ridge_service_view *v, const serve_launch *launch)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (run->html_path) {
        ridge_service_write_html(run->cx, v, &text);
        const int code = cli_emit_html(run, &text);
        if (code)
            return code;
        ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        if (launch->launch.path != NULL)
            serve_launch_json(run, launch, object);
        ridge_service_write_json(run->cx, v, object);
        return cli_emit_json(run, object);
    }
    if (launch->launch.path != NULL)
        serve_launch_text(launch, &text);
    ridge_service_write_text(run->cx, v, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

/* What says nothing, or two things. */
static ridge_status check_options(cli_run *run)
{
    if (cli_option_text(run, "play") != NULL && cli_option_text(run, "no-play") != NULL)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--play and --no-play: leave one of them out");
    if (cli_option_text(run, "chips-most") != NULL && !serve_offer_is_asked(run))
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--chips-most is of chips named without a shape: --on h100 "
                          "--chips-most 16");
    return RIDGE_OK;
}

static int run_serve(cli_run *run)
{
    if (check_options(run) != RIDGE_OK)
        return cli_fail(run);
    if (serve_offer_is_asked(run))
        return serve_offer_run(run);
    ridge_service_request request;
    ridge_service_result *result =
        ridge_new(ridge_ctx_arena(run->cx), ridge_service_result, 1);
    ridge_service_reasons *reasons =
        ridge_new(ridge_ctx_arena(run->cx), ridge_service_reasons, 1);
    serve_launch *launch = ridge_new(ridge_ctx_arena(run->cx), serve_launch, 1);
    ridge_price price;
    if (result == NULL || reasons == NULL || launch == NULL ||
        serve_request(run, &request, &price, launch) != RIDGE_OK)
        return cli_fail(run);
    if (find(run, &request, result) != RIDGE_OK ||
        serve_launch_limit(run, &request, launch, result) != RIDGE_OK ||
        ridge_service_play_by(run->cx, &request, serve_play_rule(run), result) !=
            RIDGE_OK ||
        serve_reasons(run, &request, result, reasons) != RIDGE_OK)
        return cli_fail(run);
    const ridge_service_view view = {
        .model_name = run->n_args > 0 ? run->args[0] : launch->launch.loaded_name,
        .request = &request,
        .result = result,
        .price = request.usd_per_chip_hour > 0 ? &price : NULL,
        .has_front = cli_option_text(run, "front") != NULL,
        .reasons = reasons};
    if (cli_option_text(run, "speculation") != NULL && result->n_layouts > 0)
        return serve_speculation_run(run, &request, result, view.model_name);
    if (write_plan(run, &view, launch) != RIDGE_OK || write_svg(run, &view) != RIDGE_OK)
        return cli_fail(run);
    const int code = show(run, &view, launch);
    return code ? code : result->n_layouts == 0 ? 1 : 0;
}

static const cli_option options[] = {
    {"on", "SLICE[,SLICE]",
     "chips and their shape: v5e:4x4, h100:1x8, b200:9x8; several are compared"},
    {"from", "FILE",
     "price what a command of vllm serve, sglang.launch_server, trtllm-serve, "
     "text-generation-launcher, lmdeploy serve or maxengine_server starts: a script, "
     "a pod, yaml, or the command itself"},
    {"prompt", "P", "tokens of a prompt (1024)"},
    {"output", "G", "tokens of an answer (256)"},
    {"cached", "N", "tokens of the prompt found in the prefix cache (0)"},
    {"context", "S",
     "tokens in the cache of every decoding sequence (those of P and G)"},
    {"slo", "GOALS", "ttft=500ms,tpot=30ms,e2e=20s,p99: at most, at a percentile"},
    {"for", "AIM", "throughput (default), cost, chips (with --rate), latency, energy"},
    {"rate", "R", "requests a second that the service takes"},
    {"engine", "NAME",
     "vllm-v1, sglang, trtllm, jetstream, ... (vllm-tpu on TPUs, else vllm-v1)"},
    {"skew", "X", "exponent of a power law of expert loads (0: equal but for chance)"},
    {"draft", "KIND", "speculation: mtp, eagle, medusa, ngram, model:NAME"},
    {"accept", "A",
     "chance that a drafted token is accepted: 0.8, or 0.9,0.8,0.7, or a published "
     "one"},
    {"speculation", "S",
     "when drafting pays, over batch and depth: mtp, eagle,depth=6,accept=0.8/0.7, "
     "medusa,nodes=63, model=NAME, ngram"},
    {"price", "PRICE", "dollars a chip-hour, or a listed price: 2.5, aws, spot"},
    {"watts", "W", "a chip draws, host among it (by its load, where data know it)"},
    {"pue", "RATIO", "energy at the meter over that of the machines (1.56: the mean)"},
    {"kwh-price", "USD", "dollars a kilowatt-hour, for the cost of the energy"},
    {"top", "K", "deployments to show (5)"},
    {"play", NULL,
     "play the best few request by request and rank them by it (unasked where goals "
     "have a percentile)"},
    {"no-play", NULL, "rank by the closed form alone"},
    {"chips-most", "N", "of a kind named without a shape (64)"},
    {"front", NULL, "show which deployments trade latency for throughput and cost"},
    {"sweep", "RANGE",
     "the best deployment at other batches or contexts: batch=1..512, seq=1024..65536"},
    {"sizes", NULL, "show the smallest slice for each format of weights"},
    {"rooflines", NULL,
     "show the plain rooflines of the best deployment, with formulas: a step, a "
     "prompt, "
     "sampling without a cache, where tp stops"},
    {"reasons", NULL, "show what helps most, and the sensitivity to every number"},
    {"brief", NULL,
     "the best deployments alone, sooner: no fronts, no plays, not what would help"},
    {"what-if", "CHANGES", "the answer on other hardware: hbm=2x,ici=0.5x,flops=+10%"},
    {"plan", "FILE", "write the best deployment as a plan"},
    {"svg", "FILE", "write the chart of the sweep, or of the front"},
    {NULL, NULL, NULL}};

const cli_verb cli_verb_serve = {
    .name = "serve",
    .summary = "the best serving layouts: TTFT, TPOT, throughput, cost per token",
    .synopsis = "[MODEL] [KNOB=VALUE ...]",
    .detail =
        "MODEL is a name of the catalogue, a Hugging Face config.json, or its folder.\n"
        "\n"
        "The search covers servers of every size that divides the slice, cut over tp,\n"
        "pp, ep and attention_dp, ways to cut the cache, token budgets of an "
        "iteration,\n"
        "batches, depths of drafts, and pools: servers that prefill and decode, or\n"
        "prefill servers that send caches to decode servers, in every ratio. A knob\n"
        "fixes one choice:\n"
        "  tp= pp= ep= attention_dp= servers=    degrees (prefill_tp=, decode_tp=, "
        "...:\n"
        "      of one pool)\n"
        "  tp_d=     of tp, ranks that cut D of feed-forwards    placement=0..5  order "
        "of axes\n"
        "  redundant=     copies of hot experts of a layer, placed by load; ep "
        "divides\n"
        "      experts and these\n"
        "  kv_cut=heads|batch|sequence  gathered=0|1  overlap=0|1  "
        "mode=aggregated|disaggregated|any\n"
        "  batch=    decoding sequences of an attention rank's iteration\n"
        "  budget=   tokens of an iteration    depth=    of drafts    nodes=   most of "
        "a "
        "tree\n"
        "  weights= experts= compute= cache= activations=    formats: bf16, fp8, "
        "int8,\n"
        "      int4, fp4; any (weights, cache): all are searched\n"
        "\n"
        "Without --slo and --rate a request begins when another ends. With a "
        "percentile\n"
        "or a rate requests come at random, and queues count.\n"
        "\n"
        "Where goals have a percentile the best few are played request by request, as\n"
        "`ridge simulate` does: the largest rate at which that share of the requests\n"
        "keeps all goals ranks them.\n"
        "\n"
        "--on takes several slices with commas, and chips without a shape (any number "
        "of\n"
        "them): --on h100,b200,v5e --slo tpot=30ms is the cheapest of all. The best\n"
        "deployment of each slice is found, the slices are ranked by --for (cost).\n"
        "\n"
        "Exit code 1: no deployment keeps the goals; the answer says which bound "
        "forbids\n"
        "them.",
    .example = "ridge serve llama-3-70b --on v5e:4x4 --prompt 8192 --output 512",
    .options = options,
    .min_args = 0,
    .max_args = 1,
    .takes_knobs = true,
    .run = run_serve,
};
