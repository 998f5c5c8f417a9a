/* Models compared by `ridge train A --against B,C`. */
#include "train_rivals.h"

#include "single_options.h"
#include "train_offer.h"

#include "ridge/report_rivals.h"

bool train_rivals_are_asked(cli_run *run)
{
    return cli_option_text(run, "against") != NULL;
}

static ridge_status read_rivals(cli_run *run, ridge_rival *rivals, int *n)
{
    ridge_str rest = ridge_str_of(cli_option_text(run, "against"));
    while (rest.p != NULL) {
        const ridge_str item = ridge_str_trim(ridge_str_cut(&rest, ','));
        const char *name = ridge_str_dup(ridge_ctx_arena(run->cx), item);
        if (name == NULL)
            return ridge_fail_nomem(run->cx);
        if (*n == RIDGE_RIVAL_MAX)
            return ridge_fail(run->cx, RIDGE_E_ARG,
                              "--against: at most %d models, ask again with the others",
                              RIDGE_RIVAL_MAX - 1);
        rivals[*n].name = name;
        RIDGE_TRY(cli_model(run, name, &rivals[*n].model));
        ++*n;
    }
    return RIDGE_OK;
}

static ridge_status check(cli_run *run, const ridge_train_request *request)
{
    static const char *const what =
        "is of one model: choose it first, then ask again without --against";
    RIDGE_TRY(cli_refuse_single_options(run, what));
    if (cli_option_text(run, "plan") != NULL)
        return ridge_fail(run->cx, RIDGE_E_ARG, "--plan %s", what);
    if (train_offer_is_asked(run))
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--against compares models on one slice: leave out --for, "
                          "--deadline and other slices");
    if (request->slice->next != NULL)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--against compares models on chips of one kind: --on %s",
                          request->slice->chip->name);
    return RIDGE_OK;
}

static int show(cli_run *run, const ridge_rivals_view *view)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (run->html_path) {
        ridge_rivals_write_html(run->cx, view, &text);
        const int code = cli_emit_html(run, &text);
        if (code)
            return code;
        ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_rivals_write_json(run->cx, view, object);
        return cli_emit_json(run, object);
    }
    ridge_rivals_write_text(run->cx, view, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

int train_rivals_run(cli_run *run, const char *model_name, ridge_train_request *request,
                     const ridge_money_request *money)
{
    ridge_rival rivals[RIDGE_RIVAL_MAX] = {{model_name, request->model}};
    ridge_rival_answer answers[RIDGE_RIVAL_MAX];
    ridge_scaling_law law;
    int n = 1, fitting = 0;
    if (check(run, request) != RIDGE_OK || read_rivals(run, rivals, &n) != RIDGE_OK ||
        ridge_scaling_law_find(run->cx, RIDGE_SCALING_LAW_DEFAULT, &law) != RIDGE_OK)
        return cli_fail(run);
    ridge_progress progress = cli_progress(run);
    request->progress = &progress;
    const ridge_status st =
        ridge_rivals_compare(run->cx, request, rivals, n, money, &law, answers);
    ridge_progress_end(&progress);
    request->progress = NULL;
    if (st != RIDGE_OK)
        return cli_fail(run);
    for (int i = 0; i < n; i++)
        fitting += answers[i].why_not == NULL;
    const ridge_rivals_view view = {request, n, rivals, answers, &law};
    const int code = show(run, &view);
    return code ? code : fitting > 0 ? 0 : 1;
}
