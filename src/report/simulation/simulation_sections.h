/* The sections of a training step played out, which a fleet's report has for each pool.
 */
#ifndef RIDGE_REPORT_SIMULATION_SECTIONS_H
#define RIDGE_REPORT_SIMULATION_SECTIONS_H

#include "section.h"

#include "ridge/report_simulation.h"

/** Title, subtitle and sections of one simulation, into empty @p sections. */
void ridge__simulation_sections(ridge_ctx *cx, const ridge_simulation_view *view,
                                ridge_sections *sections);

#endif
