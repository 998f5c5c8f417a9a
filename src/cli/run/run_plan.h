/* What ridge run runs: a plan file, or a model with knobs; its layout and its model. */
#ifndef RIDGE_CLI_RUN_PLAN_H
#define RIDGE_CLI_RUN_PLAN_H

#include "cli.h"

#include "ridge/execute.h"
#include "ridge/plan.h"

typedef struct run_plan {
    bool is_file;    /* a plan was given, not a model */
    ridge_plan plan; /* layout, and with a file the batch and the slice */
    const ridge_model *model;
    const char *model_path; /* as given: name or path */
    ridge_numerics numerics;
    ridge_run_layout layout;
    ridge_ranks ranks;
    int threads;
    const ridge_slice *slice;            /* of --on or the plan; NULL: none */
    const ridge_measured_chip *measured; /* of the slice; NULL: nothing */
    double fp32_s, bf16_s; /* of a step, or a token, where the format was chosen by what
                              was measured; else 0 */
} run_plan;

/** Read the first argument, the knobs and the options that say how ranks run.
 * @errors those of the files; E_ARG */
RIDGE_NODISCARD ridge_status cli_run_plan(cli_run *run, run_plan *out);

/** Formats of weights and gradients under a precision. @errors E_ARG no kernels */
RIDGE_NODISCARD ridge_status cli_run_formats(cli_run *run, ridge_precision precision,
                                             ridge_run_layout *out);
/** Take fp32 or bf16, by what the slice measured of the layout's step, or of a token.
 * @errors E_ARG, E_NOMEM; what cannot be priced stays fp32 */
RIDGE_NODISCARD ridge_status cli_run_choose_format(cli_run *run, run_plan *p);
/** Why the format is what it is; NULL: it was not chosen. Of the ctx. */
const char *cli_run_format_text(cli_run *run, const run_plan *p);

/** Key "format": chosen, fp32_s, bf16_s; absent: it was not chosen. */
void cli_run_set_format(cli_run *run, const run_plan *p, ridge_json *object);

/** The price of the plan's layout on its slice.
 * @param expert_load  of the busiest rank over the mean; 0: as the plan has it
 * @return false: no plan file, or it cannot be priced there */
bool cli_run_price(cli_run *run, const run_plan *p, double expert_load,
                   ridge_train_price *out);

/** Whether this process speaks for all: the leading rank. */
bool cli_run_is_lead(void);

int cli_run_training(cli_run *run, const run_plan *p);
int cli_run_generation(cli_run *run, const run_plan *p);

#endif
