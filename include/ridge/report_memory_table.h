/* Memory of a module at its peak, as text, a page and JSON. */
#ifndef RIDGE_REPORT_MEMORY_TABLE_H
#define RIDGE_REPORT_MEMORY_TABLE_H

#include "ridge/hardware.h"
#include "ridge/profile_memory_table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_memory_table_view {
    const char *path;
    const ridge_memory_table *table;
    const ridge_chip *chip; /* whose memory it is; NULL: not told */
    int top;                /* arrays shown */
} ridge_memory_table_view;

void ridge_memory_table_write_text(ridge_ctx *cx, const ridge_memory_table_view *view,
                                   bool with_colour, ridge_buf *out);
void ridge_memory_table_write_html(ridge_ctx *cx, const ridge_memory_table_view *view,
                                   ridge_buf *out);
/** Set the keys "module", "peak_memory_bytes" and the rest of @p object. */
void ridge_memory_table_write_json(ridge_ctx *cx, const ridge_memory_table_view *view,
                                   ridge_json *object);

#ifdef __cplusplus
}
#endif
#endif
