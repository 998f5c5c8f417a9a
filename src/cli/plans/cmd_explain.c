/*
 * ridge explain: how a number of a plan comes about, down to the facts of the chip.
 */
#include "cli.h"
#include "explain_fleet.h"
#include "explain_model.h"
#include "explain_service.h"
#include "money_options.h"
#include "plan_request.h"
#include "service_plan.h"

#include "ridge/report.h"

#include <string.h>

/* What the explanation needs of one plan. */
typedef struct explained {
    ridge_train_request request;
    ridge_train_price price;
    ridge_explanation explanation;
    ridge_sensitivity sensitivity[RIDGE_SENSITIVITY_MAX];
    int n_sensitivity;
} explained;

static bool is_of_run(const char *quantity)
{
    const char *const *names = ridge_money_quantities();
    while (*names != NULL && strcmp(*names, quantity) != 0)
        names++;
    return *names != NULL;
}

/* Goodput, days and dollars depend on where the run takes place. */
static ridge_status explain_run(cli_run *run, const char *quantity, explained *e)
{
    ridge_money_request money;
    RIDGE_TRY(cli_money(run, e->request.slice->chip, &money));
    const double told = e->request.usd_per_chip_hour;
    const bool is_listed = money.has_price && money.price.usd_per_chip_hour == told;
    if (told > 0 && !is_listed && cli_option_text(run, "price") == NULL) {
        money.has_price = true;
        money.price = (ridge_price){.provider = "as in the plan",
                                    .region = "",
                                    .kind = "",
                                    .date = "",
                                    .usd_per_chip_hour = told};
    }
    return ridge_money_explain(run->cx, &e->request, &e->price, &money, quantity,
                               &e->explanation);
}

static ridge_status explain(cli_run *run, const char *quantity, explained *e)
{
    ridge_plan plan;
    RIDGE_TRY(ridge_plan_read(run->cx, run->args[0], &plan));
    RIDGE_TRY(cli_plan_request(run, &plan, &e->request));
    RIDGE_TRY(ridge_train_price_one(run->cx, &e->request, &plan.layout, &e->price));
    if (e->price.step_time_s <= 0) {
        return ridge_fail(run->cx, RIDGE_E_ARG, "%s: the layout is not legal: %s",
                          run->args[0], ridge_fit_text(e->price.fit));
    }
    if (is_of_run(quantity)) {
        RIDGE_TRY(explain_run(run, quantity, e));
    } else {
        RIDGE_TRY(ridge_train_explain(run->cx, &e->request, &e->price, quantity,
                                      &e->explanation));
    }
    return ridge_train_sensitivity(run->cx, &e->request, &e->price, e->sensitivity,
                                   &e->n_sensitivity);
}

static int run_explain(cli_run *run)
{
    if (explain_model_is_asked(run))
        return explain_model_run(run);
    bool is_service = false;
    if (cli_plan_is_service(run, run->args[0], &is_service) != RIDGE_OK)
        return cli_fail(run);
    if (is_service)
        return explain_service_run(run);
    bool is_fleet = false;
    if (explain_fleet_is_asked(run, &is_fleet) != RIDGE_OK)
        return cli_fail(run);
    if (is_fleet)
        return explain_fleet_run(run);
    const char *quantity = run->n_args > 1 ? run->args[1] : "step_time";
    explained *e = ridge_new(ridge_ctx_arena(run->cx), explained, 1);
    if (!e || explain(run, quantity, e) != RIDGE_OK)
        return cli_fail(run);
    const char *title =
        ridge_sprintf(ridge_ctx_arena(run->cx), "%s of %s on %s", quantity,
                      e->request.model->name, e->request.slice->text);
    ridge_explain_view view = {title ? title : quantity, &e->explanation,
                               e->sensitivity, e->n_sensitivity};
    return cli_explain_show(run, &view);
}

static const cli_option options[] = {
    CLI_MONEY_OPTIONS,
    {"seq", "T", "of a model: tokens of a sequence (4096, or its context if shorter)"},
    {NULL, NULL, NULL}};

const cli_verb cli_verb_explain = {
    .name = "explain",
    .summary = "a number's derivation, formula and values; what limits it; what if",
    .synopsis = "PLAN|MODEL [QUANTITY]",
    .detail =
        "PLAN is a file written by `ridge train ... --plan FILE`. QUANTITY is "
        "step_time\n"
        "(default), bound_step_time, mfu, memory, or a part of the step:\n"
        "matmul, attention, vector, recompute, slowdown, host, tp, cp, ep, imbalance, "
        "fsdp,\n"
        "dp, pp, bubble, optimizer, offload; or of the whole run, by the options "
        "below: goodput, days, "
        "usd.\n"
        "\n"
        "Of a plan of pools of unlike chips: step_time, bound_step_time, mfu, memory "
        "or "
        "a\n"
        "part of the step.\n"
        "\n"
        "Of a plan written by `ridge serve`: ttft (default), tpot, e2e, throughput,\n"
        "usd, blocks, memory, batch, or a part of an iteration: dense, experts, head,\n"
        "prefill_attention, decode_attention, vector, tp, ep, kv, pp, draft, launch,\n"
        "host.\n"
        "\n"
        "Of a MODEL, a name of the catalogue, a config.json or its folder: parameters\n"
        "(default), active, flops, flops_train, conventions, weights, training,\n"
        "activations, kv, or a part: attention, mlp, router, experts, embedding,\n"
        "unembedding, norm, mtp, vision, flops_attention_projections,\n"
        "flops_attention_scores, flops_mlp, flops_router, flops_experts,\n"
        "flops_unembedding.\n"
        "\n"
        "Each line says what the quantity is made of, with its numbers, down to "
        "sourced\n"
        "facts of the chip and the network. Below stands by how much the step would\n"
        "change if one number were a tenth larger.",
    .example = "ridge explain examples/plan.json step_time",
    .options = options,
    .min_args = 1,
    .max_args = 2,
    .run = run_explain,
};
