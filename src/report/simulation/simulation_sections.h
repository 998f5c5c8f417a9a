/* The sections of a training step played out, which a fleet's report has for each pool.
 */
#ifndef RIDGE_REPORT_SIMULATION_SECTIONS_H
#define RIDGE_REPORT_SIMULATION_SECTIONS_H

#include "section.h"

#include "ridge/report_simulation.h"

/** Title, subtitle and sections of one simulation, into empty @p sections. */
void ridge__simulation_sections(ridge_ctx *cx, const ridge_simulation_view *view,
                                ridge_sections *sections);

/** A run with failures, into @p sections; the same as key "run" of an object. */
void ridge__run_section(ridge_ctx *cx, const ridge_run_simulation *run,
                        ridge_sections *sections);
void ridge__run_set_json(ridge_ctx *cx, const ridge_run_simulation *run,
                         ridge_json *object);

#endif
