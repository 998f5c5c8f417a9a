/* The numbers of one network level, link or DCN in a file of data/systems. */
#ifndef RIDGE_AXIS_READ_H
#define RIDGE_AXIS_READ_H

#include "fact_read.h"

/** Numbers of one axis that have facts: bytes_per_s and its companions, its switches.
 */
enum { AXIS_FACT_MAX = 12 };

/**
 * A level of a switched system: name, kind, size and the numbers of a link.
 * @param axis  out; size 0: no limit
 */
RIDGE_NODISCARD ridge_status ridge__level_read(ridge_ctx *cx, ridge_node node,
                                               fact_list *facts, ridge_axis *axis);

/**
 * A link of a torus, or a DCN: bytes_per_s, latency_s, startup_s, efficiency,
 * half_rate_bytes, and the optional rest.
 * @param prefix  of the facts' keys: "torus.link", "dcn"
 * @param axis    in: what the members that are absent inherit, bytes_per_s 0 for none
 */
RIDGE_NODISCARD ridge_status ridge__link_read(ridge_ctx *cx, ridge_node node,
                                              const char *prefix, fact_list *facts,
                                              ridge_axis *axis);

#endif
