/*
 * Reports of HLO modules: text, JSON, a page with charts, and two modules compared.
 */
#ifndef RIDGE_REPORT_HLO_H
#define RIDGE_REPORT_HLO_H

#include "ridge/base.h"
#include "ridge/profile_hlo_partition.h"
#include "ridge/profile_hlo_study.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_hlo_view {
    const ridge_hlo_file *file;
    int module; /* of the file */
    const ridge_hlo_study *study;
    int top;                              /* rows of each list */
    const ridge_hlo_partition *partition; /* whose module it is; NULL: the file's */
} ridge_hlo_view;

void ridge_hlo_write_text(ridge_ctx *cx, const ridge_hlo_view *view, bool with_colour,
                          ridge_buf *out);
/** A whole page with charts. */
void ridge_hlo_write_html(ridge_ctx *cx, const ridge_hlo_view *view, ridge_buf *out);
/** Set the keys of `ridge hlo --json`. */
void ridge_hlo_write_json(ridge_ctx *cx, const ridge_hlo_view *view,
                          ridge_json *object);

/** One array's shape with its layout, as HLO writes it. */
typedef struct ridge_hlo_layout_view {
    const char *text;
    const ridge_hlo_shape *shape; /* an array, no tuple */
    int n_index;                  /* dims of it; 0: no element asked for */
    int64_t index[RIDGE_HLO_RANK_MAX];
} ridge_hlo_layout_view;

void ridge_hlo_layout_write_text(ridge_ctx *cx, const ridge_hlo_layout_view *view,
                                 bool with_colour, ridge_buf *out);
/** Set the keys "dims", "padded_dims", "bytes", "padded_bytes", "offset" and others. */
void ridge_hlo_layout_write_json(ridge_ctx *cx, const ridge_hlo_layout_view *view,
                                 ridge_json *object);

/** Two modules side by side: what each category, opcode and collective takes in both.
 */
typedef struct ridge_hlo_diff_view {
    const char *paths[2];
    const ridge_hlo_study *studies[2];
    int top;
} ridge_hlo_diff_view;

void ridge_hlo_diff_write_text(ridge_ctx *cx, const ridge_hlo_diff_view *view,
                               bool with_colour, ridge_buf *out);
void ridge_hlo_diff_write_html(ridge_ctx *cx, const ridge_hlo_diff_view *view,
                               ridge_buf *out);
void ridge_hlo_diff_write_json(ridge_ctx *cx, const ridge_hlo_diff_view *view,
                               ridge_json *object);

/** Modules that were timed beside what is expected of them. */
void ridge_hlo_measurements_write_text(ridge_ctx *cx, const char *path,
                                       const ridge_hlo_measurements *m,
                                       bool with_colour, ridge_buf *out);
void ridge_hlo_measurements_write_html(ridge_ctx *cx, const char *path,
                                       const ridge_hlo_measurements *m, ridge_buf *out);
void ridge_hlo_measurements_write_json(ridge_ctx *cx, const ridge_hlo_measurements *m,
                                       ridge_json *object);

#ifdef __cplusplus
}
#endif

#endif
