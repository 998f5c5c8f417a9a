/* The report of layouts over pools of unlike chips. */
#ifndef RIDGE_REPORT_FLEET_H
#define RIDGE_REPORT_FLEET_H

#include "ridge/plan_fleet.h"
#include "ridge/report.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_fleet_view {
    const char *model_name; /* as given */
    const ridge_train_request *request;
    const ridge_fleet_result *result;
    const ridge_money_request *money; /* [result->n_pools], as written */
    bool has_money;                   /* time, cost and goodput too */
} ridge_fleet_view;

/** Layouts, pools of the best one, where its step goes, each pool by itself. */
void ridge_fleet_write_text(ridge_ctx *cx, const ridge_fleet_view *view,
                            bool with_colour, ridge_buf *out);
void ridge_fleet_write_html(ridge_ctx *cx, const ridge_fleet_view *view,
                            ridge_buf *out);
/** Set the keys "layouts", "alone" and others. */
void ridge_fleet_write_json(ridge_ctx *cx, const ridge_fleet_view *view,
                            ridge_json *object);

#ifdef __cplusplus
}
#endif

#endif
