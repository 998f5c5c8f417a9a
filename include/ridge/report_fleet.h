/* The report of layouts over pools of unlike chips. */
#ifndef RIDGE_REPORT_FLEET_H
#define RIDGE_REPORT_FLEET_H

#include "ridge/plan_fleet_simulation.h"

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

/** A fleet's plan played out. Borrowed pointers outlive the call. */
typedef struct ridge_fleet_played_view {
    const char *model_name;
    const ridge_train_request *request; /* of the fleet */
    const ridge_fleet_simulation *simulation;
} ridge_fleet_played_view;

/** Of a pipeline as ridge_simulation_write_text; of replicas the step and its pools,
 *  then each pool's own report. */
void ridge_fleet_played_write_text(ridge_ctx *cx, const ridge_fleet_played_view *view,
                                   bool with_colour, ridge_buf *out);
void ridge_fleet_played_write_html(ridge_ctx *cx, const ridge_fleet_played_view *view,
                                   ridge_buf *out);
/** Keys: kind ("fleet"), split, model, slice, chips, step{}, pools[] with the keys of
 *  ridge_simulation_write_json each; of a pipeline these keys and ranks[].pool. */
void ridge_fleet_played_write_json(ridge_ctx *cx, const ridge_fleet_played_view *view,
                                   ridge_json *object);

/**
 * The step as ridge_step_trace_write has it: the processes of a pipeline name the pool
 * of each stage; of replicas pool comes after pool.
 * @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_fleet_trace_write(
    ridge_ctx *cx, const ridge_fleet_played_view *view, ridge_buf *out);

#ifdef __cplusplus
}
#endif

#endif
