/* Tables and JSON of error distributions, for every kind of validation. */
#ifndef RIDGE_REPORT_ERROR_TABLE_H
#define RIDGE_REPORT_ERROR_TABLE_H

#include "section.h"

#include "ridge/plan_validation.h"

/** A table of summaries. @param first  title of the column of names */
ridge_table *ridge__error_table(ridge_ctx *cx, ridge_sections *s, const char *title,
                                const char *first);
/** One row of it: rows, median, p90, bias; dashes when there are no rows. */
void ridge__error_row(ridge_table *t, const ridge_error_summary *e);
/** "+3.1 %", "-3.1 %". */
void ridge__error_cell(ridge_table *t, double error);
/** rows, median_abs_rel_error, p90_abs_rel_error, bias. */
void ridge__error_set_json(ridge_json *o, const ridge_error_summary *e);
/** An object under @p key: those of each group by its name. */
void ridge__error_groups_set_json(ridge_ctx *cx, ridge_json *object, const char *key,
                                  const ridge_error_summary *groups, int n);

#endif
