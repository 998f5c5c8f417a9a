/*
 * Serving plans: files of kind "serve", as written by serve and read by explain,
 * simulate and export.
 */
#ifndef RIDGE_PLAN_SERVICE_FILE_H
#define RIDGE_PLAN_SERVICE_FILE_H

#include "ridge/plan_service.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A serving plan: version 1 of "ridge-plan" with "kind": "serve". */
typedef struct ridge_service_plan {
    const char *model_name; /* as given on the command line: name or path */
    const char *slice_text;
    const char *engine_name;
    const char *draft_name; /* of a drafting model; NULL: none. The layouts' draft.model
                               is NULL until the caller has loaded it */
    ridge_service_work work;
    ridge_service_goals goals;
    ridge_service_aim aim;
    double requests_per_s;    /* 0: as many as it can */
    double usd_per_chip_hour; /* 0: not known */
    double expert_skew;
    ridge_service_choice choice;
} ridge_service_plan;

/** The JSON object of a plan with its prediction. @param draft_name  or NULL */
ridge_json *ridge_service_plan_to_json(ridge_ctx *cx,
                                       const ridge_service_request *request,
                                       const char *model_name, const char *draft_name,
                                       const ridge_service_price *price);
/** The keys of one priced deployment, as in the JSON of serve. */
ridge_json *ridge_service_price_to_json(ridge_ctx *cx,
                                        const ridge_service_request *request,
                                        const ridge_service_price *price);

/** A plan that is already parsed. @errors E_PARSE with file:line; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge_service_plan_from_json(ridge_ctx *cx,
                                                          ridge_node root,
                                                          ridge_service_plan *out);
/** @errors E_IO, E_PARSE with file:line */
RIDGE_NODISCARD ridge_status ridge_service_plan_read(ridge_ctx *cx, const char *path,
                                                     ridge_service_plan *out);

/** Whether the pools have room on a slice. @errors E_ARG */
RIDGE_NODISCARD ridge_status ridge_service_plan_check(ridge_ctx *cx,
                                                      const ridge_service_plan *plan,
                                                      const ridge_slice *slice);

/** Whether a parsed plan is of a service. */
bool ridge_plan_is_service(ridge_node root);

#ifdef __cplusplus
}
#endif

#endif
