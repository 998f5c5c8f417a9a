/*
 * Reports of a calibration: what was measured on this machine.
 */
#ifndef RIDGE_REPORT_CALIBRATION_H
#define RIDGE_REPORT_CALIBRATION_H

#include "ridge/base.h"
#include "ridge/execute_calibrate.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @param path  of the system file that was written; NULL: none was */
void ridge_calibration_write_text(ridge_ctx *cx, const ridge_calibration *c,
                                  const char *path, bool with_colour, ridge_buf *out);
/** Set "engine", "ranks", "threads", "processors", "cpu", "library",
 * "peak_flops_per_s", "copy_bytes_per_s", "read_bytes_per_s", "launch_s", "wall_s" and
 * "system" (the file).
 */
void ridge_calibration_write_json(ridge_ctx *cx, const ridge_calibration *c,
                                  ridge_json *system, ridge_json *out);

#ifdef __cplusplus
}
#endif

#endif
