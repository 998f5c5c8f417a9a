/*
 * Scaling curves of `ridge train --sweep`, as text, JSON, SVG and a page.
 */
#include "train_sweep.h"

#include "money_options.h"

#include "ridge/report_sweep.h"

bool train_sweep_is_asked(const cli_run *run)
{
    return cli_option_text(run, "sweep") != NULL || cli_option_text(run, "svg") != NULL;
}

/* What shows or writes one answer. */
static ridge_status check_options(cli_run *run)
{
    static const char *const single[] = {"plan",      "timeline", "operations",
                                         "what-if",   "reasons",  "front",
                                         "rooflines", "mfu",      "top"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(single); i++) {
        if (cli_option_text(run, single[i]) != NULL)
            return ridge_fail(
                run->cx, RIDGE_E_ARG,
                "--%s is of one answer and --sweep asks for many: choose a "
                "point first, then ask again without --sweep",
                single[i]);
    }
    return RIDGE_OK;
}

static ridge_status fill(cli_run *run, ridge_train_request *request,
                         const ridge_money_request *money, ridge_curve_study *study)
{
    ridge_curve_range range;
    const char *text = cli_option_text(run, "sweep");
    if (text == NULL) {
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--svg writes the chart of a sweep: add --sweep "
                          "chips=64..16384");
    }
    RIDGE_TRY(check_options(run));
    RIDGE_TRY(ridge_curve_parse(run->cx, text, &range));
    ridge_progress progress = cli_progress(run);
    request->progress = &progress;
    ridge_status st =
        ridge_train_sweep(run->cx, run->catalog, request, money, &range, study);
    ridge_progress_end(&progress);
    request->progress = NULL;
    return st;
}

static ridge_status write_svg(cli_run *run, const ridge_curve_view *view)
{
    const char *path = cli_option_text(run, "svg");
    if (path == NULL)
        return RIDGE_OK;
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    ridge_curve_write_svg(run->cx, view, &text);
    return ridge_file_write(run->cx, path, (ridge_str){text.p, text.n});
}

static int write_page(cli_run *run, const ridge_curve_view *view)
{
    ridge_buf page;
    ridge_buf_init(&page, ridge_ctx_arena(run->cx));
    ridge_curve_write_html(run->cx, view, &page);
    return cli_emit_html(run, &page);
}

static int show(cli_run *run, const ridge_curve_view *view)
{
    const int code = run->html_path ? write_page(run, view) : 0;
    if (code)
        return code;
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_curve_write_json(run->cx, view, object);
        return cli_emit_json(run, object);
    }
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    ridge_curve_write_text(run->cx, view, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

static bool has_answer(const ridge_curve_study *study)
{
    for (int i = 0; i < study->curves[0].n; i++) {
        if (study->curves[0].points[i].why_not == NULL)
            return true;
    }
    return false;
}

int train_sweep_run(cli_run *run, const char *model_name, ridge_train_request *request,
                    const ridge_money_request *money)
{
    ridge_curve_study *study =
        ridge_new(ridge_ctx_arena(run->cx), ridge_curve_study, 1);
    ridge_status st =
        study == NULL ? ridge_fail_nomem(run->cx) : fill(run, request, money, study);
    if (st != RIDGE_OK)
        return cli_fail(run);
    const ridge_curve_view view = {model_name, request, study, money,
                                   request->total_tokens > 0 ||
                                       cli_money_is_asked(run)};
    if (write_svg(run, &view) != RIDGE_OK)
        return cli_fail(run);
    const int code = show(run, &view);
    return code ? code : has_answer(study) ? 0 : 1;
}
