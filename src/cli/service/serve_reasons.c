#include "serve_reasons.h"

#include "ridge/plan_sweep.h"

static ridge_status read_sweep(cli_run *run, const ridge_service_request *r,
                               const ridge_service_choice *choice, const char *text,
                               ridge_service_reasons *out)
{
    ridge_curve_range range;
    if (*text == '\0' || ridge_str_is(ridge_str_of(text), "batch"))
        return ridge_service_sweep_own(run->cx, r, choice, out->points, &out->n_points);
    RIDGE_TRY(ridge_curve_parse(run->cx, text, &range));
    if (range.axis == RIDGE_CURVE_CHIPS)
        return ridge_fail(
            run->cx, RIDGE_E_ARG,
            "--sweep '%.40s': use batch=1..512 or seq=1024..65536; slices "
            "are compared by --on A,B",
            text);
    out->n_points = range.n;
    out->is_context = range.axis == RIDGE_CURVE_SEQ;
    return out->is_context ? ridge_service_sweep_context(
                                 run->cx, r, choice, range.values, range.n, out->points)
                           : ridge_service_sweep(run->cx, r, choice, range.values,
                                                 range.n, out->points);
}

/* Of all formats when none is told. */
static ridge_status find_sizes(cli_run *run, const ridge_service_request *r,
                               ridge_service_reasons *out)
{
    const ridge_catalog *catalog;
    ridge_service_request all = *r;
    RIDGE_TRY(cli_catalog(run, &catalog));
    if (r->knobs.weight_text == NULL && r->knobs.cache_text == NULL) {
        RIDGE_TRY(ridge_service_knobs_set(run->cx, &all.knobs, "weights", "any"));
        RIDGE_TRY(ridge_service_knobs_close(run->cx, r->model, r->slice->chip,
                                            r->engine, &all.knobs));
    }
    return ridge_service_sizes(run->cx, catalog, &all, out->sizes, &out->n_sizes);
}

/* Of the best deployment. */
static ridge_status find_own(cli_run *run, const ridge_service_request *r,
                             const ridge_service_price *best,
                             ridge_service_reasons *out)
{
    const char *sweep = cli_option_text(run, "sweep");
    out->has_limits = true;
    RIDGE_TRY(ridge_service_limits_find(run->cx, r, &best->choice, &out->limits));
    RIDGE_TRY(ridge_service_binding(run->cx, r, best, &out->binding));
    out->has_rooflines = cli_option_text(run, "rooflines") != NULL;
    if (out->has_rooflines)
        ridge_service_rooflines_find(r, &best->choice, &out->rooflines);
    if (sweep != NULL)
        RIDGE_TRY(read_sweep(run, r, &best->choice, sweep, out));
    if (out->what_if_text != NULL) {
        ridge_what_if what;
        RIDGE_TRY(ridge_what_if_parse(run->cx, out->what_if_text, r->slice, &what));
        RIDGE_TRY(ridge_service_what_if_find(run->cx, r, best, &what, &out->what_if));
    }
    if (cli_option_text(run, "reasons") != NULL)
        RIDGE_TRY(ridge_service_sensitivity_find(run->cx, r, best, out->sensitivity,
                                                 &out->n_sensitivity));
    return RIDGE_OK;
}

ridge_status serve_reasons(cli_run *run, const ridge_service_request *r,
                           const ridge_service_result *result,
                           ridge_service_reasons *out)
{
    const ridge_catalog *catalog;
    RIDGE_TRY(cli_catalog(run, &catalog));
    out->what_if_text = cli_option_text(run, "what-if");
    if (result->n_layouts > 0)
        RIDGE_TRY(find_own(run, r, &result->layouts[0], out));
    if (cli_option_text(run, "sizes") != NULL)
        RIDGE_TRY(find_sizes(run, r, out));
    const bool is_due = result->n_layouts == 0 || cli_option_text(run, "reasons");
    if (is_due && !r->is_plain)
        RIDGE_TRY(ridge_service_relax(run->cx, catalog, r, result, out->relaxations,
                                      &out->n_relaxations));
    return RIDGE_OK;
}
