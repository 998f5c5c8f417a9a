/* Reading of what was measured on a machine: grids of rates, in chip and system files.
 */
#ifndef RIDGE_MEASURED_READ_H
#define RIDGE_MEASURED_READ_H

#include "ridge/hardware.h"

/** @errors E_PARSE with file:line and what is missing or wrong; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__measured_chip_read(ridge_ctx *cx, ridge_node node,
                                                       const ridge_measured_chip **out);
/** @param level  whose own facts were read before */
RIDGE_NODISCARD ridge_status
ridge__measured_level_read(ridge_ctx *cx, ridge_node node, const ridge_axis *level,
                           const ridge_measured_level **out);

#endif
