/*
 * Slices compared by `ridge train --for`, `--deadline`, or `--on A,B`.
 */
#include "train_offer.h"

#include "money_options.h"
#include "single_options.h"

#include "ridge/report_offer.h"

#include <math.h>
#include <string.h>

enum { CHIPS_MOST = 65536 };

static const double SLACK = 0.05;

bool train_offer_is_asked(cli_run *run)
{
    static const char *const names[] = {"for", "deadline", "chips-most", "slack"};
    const char *on = cli_option_text(run, "on");
    for (size_t i = 0; i < RIDGE_COUNT_OF(names); i++) {
        if (cli_option_text(run, names[i]) != NULL)
            return true;
    }
    return on != NULL && strchr(on, ',') != NULL;
}

/* ---- what is asked ----------------------------------------------------------------
 */

static ridge_status read_slices(cli_run *run, ridge_offer_kind *kinds, int *n)
{
    const ridge_catalog *catalog;
    const char *on = cli_option_text(run, "on");
    ridge_str rest = ridge_str_of(on == NULL ? "" : on);
    if (rest.n == 0) {
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "no slices to choose from: --on h100,v5p or --on h100:32x8");
    }
    RIDGE_TRY(cli_catalog(run, &catalog));
    for (*n = 0; rest.p != NULL; ++*n) {
        const ridge_str item = ridge_str_trim(ridge_str_cut(&rest, ','));
        const char *text = ridge_str_dup(ridge_ctx_arena(run->cx), item);
        if (text == NULL)
            return ridge_fail_nomem(run->cx);
        if (*n == RIDGE_OFFER_KIND_MAX) {
            return ridge_fail(run->cx, RIDGE_E_ARG,
                              "--on: more than %d slices to choose from",
                              RIDGE_OFFER_KIND_MAX);
        }
        RIDGE_TRY(ridge_slice_parse(run->cx, catalog, text, &kinds[*n].slice));
        kinds[*n].is_open = cli_slice_is_bare(run, text);
        if (cli_option_text(run, "stack") == NULL)
            kinds[*n].stack = cli_usual_stack(catalog, kinds[*n].slice);
    }
    return RIDGE_OK;
}

ridge_status train_offer_slice(cli_run *run, const ridge_slice **out)
{
    ridge_offer_kind kinds[RIDGE_OFFER_KIND_MAX];
    int n = 0;
    RIDGE_TRY(read_slices(run, kinds, &n));
    *out = kinds[0].slice;
    return RIDGE_OK;
}

/* A price may be listed for some of the chips alone: the others have none then. */
static ridge_status read_money(cli_run *run, ridge_offer_kind *kinds, int n)
{
    ridge_status worst = RIDGE_OK;
    int priced = 0;
    for (int k = 0; k < n; k++) {
        const ridge_status st = cli_money(run, kinds[k].slice->chip, &kinds[k].money);
        if (st == RIDGE_OK) {
            priced++;
            continue;
        }
        if (cli_option_text(run, "price") == NULL)
            return st;
        worst = st;
        RIDGE_TRY(cli_money_unpriced(run, kinds[k].slice->chip, &kinds[k].money));
    }
    return priced > 0 ? RIDGE_OK : worst;
}

static ridge_status read_limits(cli_run *run, ridge_offer_request *q)
{
    const char *goal = cli_option_text(run, "for");
    const char *deadline = cli_option_text(run, "deadline");
    const char *slack = cli_option_text(run, "slack");
    double most = 0;
    if (goal != NULL) {
        RIDGE_TRY(ridge_offer_goal_parse(run->cx, goal, &q->goal));
    }
    if (deadline != NULL)
        RIDGE_TRY(ridge_duration_parse(run->cx, deadline, &q->deadline_s));
    if (deadline != NULL && !(q->deadline_s > 0))
        return ridge_fail(run->cx, RIDGE_E_ARG, "--deadline: expected more than 0");
    RIDGE_TRY(cli_option_count(run, "chips-most", CHIPS_MOST, &most));
    if (!(most >= 1 && most <= 1 << 20) || floor(most) != most)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--chips-most: expected a whole number of 1 to %d", 1 << 20);
    q->chips_most = (int64_t)most;
    if (slack == NULL)
        return RIDGE_OK;
    if (q->goal != RIDGE_OFFER_GOAL_MEMORY)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--slack is given up for memory: add --for memory");
    ridge_str share = ridge_str_of(slack);
    if (share.n > 0 && share.p[share.n - 1] == '%')
        share.n--;
    const bool is_percent = share.n < strlen(slack);
    if (!ridge_parse_double(share, &q->slack) || !(q->slack >= 0 && q->slack <= 1e3))
        return ridge_fail(run->cx, RIDGE_E_ARG, "--slack '%.40s': write 5%% or 0.05",
                          slack);
    q->slack /= is_percent ? 100 : 1;
    return RIDGE_OK;
}

static ridge_status read(cli_run *run, ridge_offer_request *q, ridge_offer_kind *kinds)
{
    RIDGE_TRY(cli_refuse_single_options(
        run, "is of one slice: choose the slice first, then ask again with --on SLICE "
             "alone"));
    RIDGE_TRY(read_slices(run, kinds, &q->n_kinds));
    RIDGE_TRY(read_money(run, kinds, q->n_kinds));
    q->kinds = kinds;
    return read_limits(run, q);
}

/* ---- the answer -------------------------------------------------------------------
 */

static ridge_status write_plan(cli_run *run, const ridge_offer_view *view)
{
    const char *path = cli_option_text(run, "plan");
    if (path == NULL || view->study->n_ranked == 0)
        return RIDGE_OK;
    const ridge_offer *best = &view->study->offers[0];
    ridge_json *plan =
        ridge_plan_to_json(run->cx, &best->request, view->model_name, &best->best);
    ridge_json_set(plan, "run", ridge_money_to_json(run->cx, &best->money));
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    RIDGE_TRY(ridge_json_write(run->cx, plan, &text));
    return ridge_file_write(run->cx, path, (ridge_str){text.p, text.n});
}

static int show(cli_run *run, const ridge_offer_view *view)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (run->html_path) {
        ridge_offer_write_html(run->cx, view, &text);
        const int code = cli_emit_html(run, &text);
        if (code)
            return code;
        ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_offer_write_json(run->cx, view, object);
        return cli_emit_json(run, object);
    }
    ridge_offer_write_text(run->cx, view, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

int train_offer_run(cli_run *run, const char *model_name, ridge_train_request *request)
{
    ridge_offer_kind kinds[RIDGE_OFFER_KIND_MAX];
    ridge_offer_request q = {
        .request = request, .goal = RIDGE_OFFER_GOAL_COST, .slack = SLACK};
    ridge_offer_study study;
    if (read(run, &q, kinds) != RIDGE_OK)
        return cli_fail(run);
    ridge_progress progress = cli_progress(run);
    request->progress = &progress;
    const ridge_status st = ridge_offer_search(run->cx, run->catalog, &q, &study);
    ridge_progress_end(&progress);
    request->progress = NULL;
    if (st != RIDGE_OK)
        return cli_fail(run);
    const ridge_offer_view view = {model_name, &q, &study, request->top};
    if (write_plan(run, &view) != RIDGE_OK)
        return cli_fail(run);
    const int code = show(run, &view);
    return code ? code : study.n_ranked > 0 ? 0 : 1;
}
