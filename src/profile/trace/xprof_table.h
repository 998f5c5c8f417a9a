/*
 * Tables of operations that XProf computes from a profile. Layer-internal.
 */
#ifndef RIDGE_PROFILE_XPROF_TABLE_H
#define RIDGE_PROFILE_XPROF_TABLE_H

#include "trace_store.h"

/**
 * A table of hlo_stats, roofline_model or framework_op_stats, as JSON: what each
 * operation took in all becomes as many operations as it occurred, one after the other
 * on one device, within one step. Idle time of the table ends the step.
 * @param path  of the file, plain or packed
 * @param out  initialised
 * @errors E_PARSE a table without times of operations, or none; E_IO, E_NOMEM
 * @source xprof-tables
 */
RIDGE_NODISCARD ridge_status xprof_table_read(ridge_ctx *cx, const char *path,
                                              trace_store *out);
/** The same of text in memory: for tests. */
RIDGE_NODISCARD ridge_status xprof_table_of(ridge_ctx *cx, ridge_str text,
                                            const char *path, trace_store *out);

#endif
