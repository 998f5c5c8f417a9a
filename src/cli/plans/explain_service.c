#include "explain_service.h"
#include "service_plan.h"

#include "ridge/plan_service_reasons.h"
#include "ridge/report_service.h"

typedef struct explained {
    ridge_service_request request;
    ridge_service_price price;
    ridge_explanation explanation;
    ridge_service_sensitivity sensitivity[RIDGE_SERVICE_SENSITIVITY_MAX];
    int n_sensitivity;
} explained;

static ridge_status explain(cli_run *run, const char *quantity, explained *e)
{
    ridge_service_plan plan;
    RIDGE_TRY(cli_service_plan_price(run, &plan, &e->request, &e->price));
    if (!e->price.is_detailed || e->price.fit == RIDGE_SERVICE_FIT_RATE)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "%s: the deployment has no steady state: %s", run->args[0],
                          ridge_service_fit_text(e->price.fit));
    RIDGE_TRY(ridge_service_explain(run->cx, &e->request, &e->price, quantity,
                                    &e->explanation));
    return ridge_service_sensitivity_find(run->cx, &e->request, &e->price,
                                          e->sensitivity, &e->n_sensitivity);
}

int explain_service_run(cli_run *run)
{
    const char *quantity = run->n_args > 1 ? run->args[1] : "ttft";
    explained *e = ridge_new(ridge_ctx_arena(run->cx), explained, 1);
    if (e == NULL || explain(run, quantity, e) != RIDGE_OK)
        return cli_fail(run);
    const char *title =
        ridge_sprintf(ridge_ctx_arena(run->cx), "%s of %s on %s", quantity,
                      e->request.model->name, e->request.slice->text);
    const ridge_service_explain_view view = {title == NULL ? quantity : title,
                                             &e->explanation, e->sensitivity,
                                             e->n_sensitivity};
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (run->html_path) {
        ridge_service_explain_write_html(run->cx, &view, &text);
        const int code = cli_emit_html(run, &text);
        if (code)
            return code;
        ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_service_explain_write_json(run->cx, &view, object);
        return cli_emit_json(run, object);
    }
    ridge_service_explain_write_text(run->cx, &view, run->has_colour, &text);
    return cli_emit_text(run, &text);
}
