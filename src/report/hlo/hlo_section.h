/* Sections of a module's report, for text and pages. Layer-internal. */
#ifndef RIDGE_HLO_SECTION_H
#define RIDGE_HLO_SECTION_H

#include "section.h"

#include "ridge/report_hlo.h"

/** Ops of a study, those that take longest (move most, without a slice) first.
 *  @return their indices in the arena, n_ops of them; NULL: out of memory */
const int *ridge__hlo_rank(ridge_ctx *cx, const ridge_hlo_study *study);
/** What an op adds to the run: its time, or what of it is waited for. */
double ridge__hlo_waited_s(const ridge_hlo_op *op);

void ridge__hlo_add_summary(ridge_ctx *cx, const ridge_hlo_view *view,
                            ridge_sections *out);
void ridge__hlo_add_work(ridge_ctx *cx, const ridge_hlo_view *view,
                         ridge_sections *out);
void ridge__hlo_add_memory(ridge_ctx *cx, const ridge_hlo_view *view,
                           ridge_sections *out);
/** How it was partitioned. */
void ridge__hlo_add_partition(ridge_ctx *cx, const ridge_hlo_view *view,
                              ridge_sections *out);
void ridge__hlo_set_partition(ridge_ctx *cx, ridge_json *object,
                              const ridge_hlo_partition *p);

/** The whole report. */
ridge_sections ridge__hlo_sections(ridge_ctx *cx, const ridge_hlo_view *view);

#endif
