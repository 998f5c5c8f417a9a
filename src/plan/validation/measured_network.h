/* The slice over which a measured collective ran. */
#ifndef RIDGE_PLAN_MEASURED_NETWORK_H
#define RIDGE_PLAN_MEASURED_NETWORK_H

#include "measured_op.h"
#include "ridge/hardware.h"

/** The row's chip. @param name  out: as the row has it. @errors E_ARG, E_NOTFOUND */
RIDGE_NODISCARD ridge_status measured_chip(ridge_ctx *cx, const ridge_catalog *catalog,
                                           const measured_record *r,
                                           const ridge_chip **out);

/**
 * Chips of the row's kind, in as many nodes as it says, joined as it says: by the
 * system whose name or network it tells, else by the chip's default one.
 * @errors E_ARG, E_NOTFOUND: why no such slice is known
 */
RIDGE_NODISCARD ridge_status measured_network(ridge_ctx *cx,
                                              const ridge_catalog *catalog,
                                              const measured_record *r,
                                              const measured_collective *c,
                                              const ridge_slice **out);

#endif
