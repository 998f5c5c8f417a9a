/* Chips as drivers, vendors and papers spell them. */
#ifndef RIDGE_CHIP_SPELLING_H
#define RIDGE_CHIP_SPELLING_H

#include "ridge/hardware.h"

/**
 * "NVIDIA H100 80GB HBM3", "Tesla V100-SXM2-16GB", "AMD Instinct MI300X", "TPU v6e
 * (Trillium)": the chip that is left when makers, sockets and kinds of memory are
 * taken away. A memory that is stated has to be the chip's.
 * @param out  NULL: none is left, or its memory is another
 * @errors of the chip's file; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__chip_of_spelling(ridge_ctx *cx,
                                                     const ridge_catalog *catalog,
                                                     const char *text,
                                                     const ridge_chip **out);

#endif
