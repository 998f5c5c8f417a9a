/*
 * ridge size: from a budget to the size of a model and its tokens.
 */
#include "money_options.h"

#include "ridge/report_sizing.h"

/* Options of which one tells what is given; parameters and tokens may stand together.
 */
static const struct {
    const char *name;
    ridge_sizing_given given;
} givens[] = {
    {"flops", RIDGE_GIVEN_FLOPS},
    {"usd", RIDGE_GIVEN_USD},
    {"chip-hours", RIDGE_GIVEN_CHIP_HOURS},
    {"days", RIDGE_GIVEN_DAYS},
    {"params", RIDGE_GIVEN_PARAMS},
    {"tokens", RIDGE_GIVEN_TOKENS},
    {"loss", RIDGE_GIVEN_LOSS},
};

static ridge_status read_given(cli_run *run, ridge_sizing_request *r)
{
    int n = 0;
    for (size_t i = 0; i < RIDGE_COUNT_OF(givens); i++) {
        double v = 0;
        if (cli_option_text(run, givens[i].name) == NULL)
            continue;
        RIDGE_TRY(cli_option_count(run, givens[i].name, 0, &v));
        if (n == 1 && r->given == RIDGE_GIVEN_PARAMS &&
            givens[i].given == RIDGE_GIVEN_TOKENS) {
            r->given = RIDGE_GIVEN_BOTH;
            r->second = v;
            continue;
        }
        r->given = givens[i].given;
        r->amount = v;
        n++;
    }
    if (n == 1)
        return RIDGE_OK;
    return ridge_fail(run->cx, RIDGE_E_ARG,
                      "%s: give one of --flops, --usd, --chip-hours, --days, --params, "
                      "--tokens and --loss, or --params with --tokens",
                      n == 0 ? "nothing to size for" : "more than one budget");
}

static ridge_status read_slice(cli_run *run, ridge_sizing_request *r,
                               ridge_money_request *money)
{
    if (cli_option_text(run, "on") == NULL) {
        if (cli_money_is_asked(run) || cli_option_text(run, "mfu") != NULL)
            return ridge_fail(
                run->cx, RIDGE_E_ARG,
                "prices, failures and MFU are of a slice: add --on SLICE");
        return RIDGE_OK;
    }
    const char *mfu = cli_option_text(run, "mfu");
    RIDGE_TRY(cli_slice(run, &r->slice));
    RIDGE_TRY(cli_money(run, r->slice->chip, money));
    r->money = money;
    if (mfu != NULL && (!ridge_parse_fraction(ridge_str_of(mfu), &r->mfu) ||
                        !(r->mfu > 0 && r->mfu <= 1))) {
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--mfu '%.40s': expected above 0, at most 1 or 100%%", mfu);
    }
    return cli_library(run, &r->library);
}

static ridge_status read_request(cli_run *run, ridge_scaling_law *law,
                                 ridge_money_request *money, ridge_sizing_request *r)
{
    const char *name = cli_option_text(run, "law");
    RIDGE_TRY(ridge_scaling_law_find(
        run->cx, name == NULL ? RIDGE_SCALING_LAW_DEFAULT : name, law));
    r->law = law;
    RIDGE_TRY(read_given(run, r));
    RIDGE_TRY(read_slice(run, r, money));
    RIDGE_TRY(cli_option_count(run, "tokens-per-param", 0, &r->tokens_per_param));
    RIDGE_TRY(cli_option_count(run, "served", 0, &r->served_tokens));
    RIDGE_TRY(cli_option_count(run, "batch", 4e6, &r->batch_tokens));
    return cli_option_count(run, "seq", 4096, &r->seq_tokens);
}

static int show(cli_run *run, const ridge_sizing_view *view)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (run->html_path) {
        ridge_buf page;
        ridge_buf_init(&page, ridge_ctx_arena(run->cx));
        ridge_sizing_write_html(run->cx, view, &page);
        int code = cli_emit_html(run, &page);
        if (code)
            return code;
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_sizing_write_json(run->cx, view, object);
        return cli_emit_json(run, object);
    }
    ridge_sizing_write_text(run->cx, view, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

static int run_size(cli_run *run)
{
    ridge_scaling_law law;
    ridge_money_request money;
    ridge_sizing_request request = {.law = NULL};
    ridge_sizing_study study;
    if (read_request(run, &law, &money, &request) != RIDGE_OK)
        return cli_fail(run);
    ridge_progress progress = cli_progress(run);
    request.progress = &progress;
    ridge_status st = ridge_sizing_study_fill(run->cx, &request, &study);
    ridge_progress_end(&progress);
    if (st != RIDGE_OK)
        return cli_fail(run);
    const ridge_sizing_view view = {&request, &study};
    return show(run, &view);
}

static const cli_option options[] = {
    {"flops", "C", "of training: 1e24"},
    {"days", "D", "on the slice of --on"},
    {"usd", "USD", "dollars on the slice of --on: 2M"},
    {"chip-hours", "H", "on the slice of --on: 1M"},
    {"params", "N", "parameters; the tokens are asked, or with --tokens the loss: 70B"},
    {"tokens", "D", "tokens; the parameters are asked: 1.4T"},
    {"loss", "L", "a loss to reach, in nats a token: 2.0"},
    {"on", "SLICE", "chips that train it, for time and money: h100:64x8"},
    {"mfu", "SHARE", "of the peak, without failures: 0.4 (that of the planner)"},
    {"batch", "TOKENS", "of a step, for the planner's MFU (4M)"},
    {"seq", "T", "tokens of a sequence, for the planner's MFU (4096)"},
    {"tokens-per-param", "R", "train longer or shorter than the law's best: 100"},
    {"served", "TOKENS", "of a lifetime of inference, to be counted too: 10T"},
    {"law", "NAME",
     "besiroglu-2024 (default), hoffmann-2022-1, -2, -3, or a .json file"},
    CLI_MONEY_OPTIONS,
    {NULL, NULL, NULL}};

const cli_verb cli_verb_size = {
    .name = "size",
    .summary = "the size of a model and its tokens for a budget",
    .synopsis = "",
    .detail =
        "One option tells what is given; the scaling law answers with parameters, "
        "tokens\n"
        "and loss. Dollars, chip-hours and days buy FLOPs on a slice, at the MFU and\n"
        "goodput of the nearest dense model of the catalogue in its best layout, or "
        "at\n"
        "--mfu. The table of other tokens a parameter shows what training longer than\n"
        "the best costs in loss; --served finds the size that costs least when a\n"
        "lifetime of inference counts too.",
    .example = "ridge size --days 30 --on h100:64x8",
    .options = options,
    .min_args = 0,
    .max_args = 0,
    .run = run_size,
};
