#include "serve_offer.h"

#include "serve_options.h"

#include "ridge/report_service.h"

#include <math.h>
#include <string.h>

enum { CHIPS_MOST = 64, CHIPS_LIMIT = 1 << 16 };

bool serve_offer_is_asked(cli_run *run)
{
    const char *on = cli_option_text(run, "on");
    return on != NULL &&
           (strchr(on, ',') != NULL || (*on != '\0' && cli_slice_is_bare(run, on)));
}

/* What is of one slice alone. */
static ridge_status check_options(cli_run *run)
{
    static const char *const single[] = {"from",    "sweep",   "svg",
                                         "what-if", "reasons", "rooflines",
                                         "front",   "sizes",   "speculation"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(single); i++) {
        if (cli_option_text(run, single[i]) != NULL)
            return ridge_fail(run->cx, RIDGE_E_ARG,
                              "--%s is of one slice: choose the slice first, then ask "
                              "again with --on CHIP:SHAPE alone",
                              single[i]);
    }
    return RIDGE_OK;
}

/* A price may be listed for some of the chips alone: the others have none then. */
static ridge_status read_kind(cli_run *run, const char *text, ridge_service_kind *out)
{
    const ridge_catalog *catalog;
    const ridge_slice *slice;
    ridge_price price;
    RIDGE_TRY(cli_catalog(run, &catalog));
    RIDGE_TRY(ridge_slice_parse(run->cx, catalog, text, &slice));
    RIDGE_TRY(serve_request_on(run, slice, &out->request, &price, NULL));
    if (cli_option_text(run, "for") == NULL && out->request.requests_per_s <= 0)
        out->request.aim = RIDGE_SERVICE_AIM_COST;
    out->is_open = cli_slice_is_bare(run, text);
    out->plays = serve_play_rule(run);
    return RIDGE_OK;
}

static ridge_status read_kinds(cli_run *run, ridge_service_kind *kinds, int *n)
{
    ridge_str rest = ridge_str_of(cli_option_text(run, "on"));
    bool has_usd = true;
    for (*n = 0; rest.p != NULL; ++*n) {
        const ridge_str item = ridge_str_trim(ridge_str_cut(&rest, ','));
        const char *text = ridge_str_dup(ridge_ctx_arena(run->cx), item);
        if (text == NULL)
            return ridge_fail_nomem(run->cx);
        if (*n == RIDGE_SERVICE_KIND_MAX)
            return ridge_fail(run->cx, RIDGE_E_ARG,
                              "--on: more than %d slices to choose from",
                              RIDGE_SERVICE_KIND_MAX);
        RIDGE_TRY(read_kind(run, text, &kinds[*n]));
        has_usd = has_usd && kinds[*n].request.usd_per_chip_hour > 0;
    }
    for (int i = 0; i < *n && !has_usd; i++) {
        if (kinds[i].request.aim == RIDGE_SERVICE_AIM_COST &&
            cli_option_text(run, "for") == NULL)
            kinds[i].request.aim = RIDGE_SERVICE_AIM_THROUGHPUT;
    }
    return RIDGE_OK;
}

static ridge_status read_most(cli_run *run, int64_t *out)
{
    double most;
    RIDGE_TRY(cli_option_count(run, "chips-most", CHIPS_MOST, &most));
    if (!(most >= 1 && most <= CHIPS_LIMIT) || floor(most) != most)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--chips-most: expected a whole number of 1 to %d",
                          CHIPS_LIMIT);
    *out = (int64_t)most;
    return RIDGE_OK;
}

static ridge_status write_plan(cli_run *run, const ridge_service_offer_view *v)
{
    const char *path = cli_option_text(run, "plan");
    ridge_buf text;
    if (path == NULL || v->study->n_ranked == 0)
        return RIDGE_OK;
    const ridge_service_offer *best = &v->study->offers[0];
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    RIDGE_TRY(ridge_json_write(
        run->cx,
        ridge_service_plan_to_json(run->cx, &best->request, v->model_name,
                                   serve_draft_name(run), &best->best),
        &text));
    return ridge_file_write(run->cx, path, (ridge_str){text.p, text.n});
}

static int show(cli_run *run, const ridge_service_offer_view *v)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (run->html_path) {
        ridge_service_offer_write_html(run->cx, v, &text);
        const int code = cli_emit_html(run, &text);
        if (code)
            return code;
        ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_service_offer_write_json(run->cx, v, object);
        return cli_emit_json(run, object);
    }
    ridge_service_offer_write_text(run->cx, v, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

int serve_offer_run(cli_run *run)
{
    ridge_service_kind *kinds =
        ridge_new(ridge_ctx_arena(run->cx), ridge_service_kind, RIDGE_SERVICE_KIND_MAX);
    ridge_service_offer_study study;
    int64_t most = 0;
    int n = 0;
    if (kinds == NULL || check_options(run) != RIDGE_OK ||
        read_kinds(run, kinds, &n) != RIDGE_OK || read_most(run, &most) != RIDGE_OK)
        return cli_fail(run);
    ridge_progress progress = cli_progress(run);
    for (int i = 0; i < n; i++)
        kinds[i].request.progress = &progress;
    const ridge_status st =
        ridge_service_offer_search(run->cx, run->catalog, kinds, n, most, &study);
    ridge_progress_end(&progress);
    if (st != RIDGE_OK)
        return cli_fail(run);
    const ridge_service_offer_view view = {run->args[0], kinds, n, &study,
                                           kinds[0].request.top};
    if (write_plan(run, &view) != RIDGE_OK)
        return cli_fail(run);
    const int code = show(run, &view);
    return code ? code : study.n_ranked > 0 ? 0 : 1;
}
