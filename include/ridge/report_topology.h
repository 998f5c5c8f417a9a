/*
 * What was understood of topology files, for `ridge chips FILE`.
 */
#ifndef RIDGE_REPORT_TOPOLOGY_H
#define RIDGE_REPORT_TOPOLOGY_H

#include "ridge/hardware_topology.h"

#ifdef __cplusplus
extern "C" {
#endif

void ridge_topology_write_text(ridge_ctx *cx, const ridge_topology_reading *reading,
                               bool with_colour, ridge_buf *out);
void ridge_topology_write_html(ridge_ctx *cx, const ridge_topology_reading *reading,
                               ridge_buf *out);
/** Set the keys "topologies" and "system" of @p object. */
void ridge_topology_write_json(ridge_ctx *cx, const ridge_topology_reading *reading,
                               ridge_json *object);

#ifdef __cplusplus
}
#endif

#endif
