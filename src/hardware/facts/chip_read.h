/* One file of data/chips into a ridge_chip. */
#ifndef RIDGE_CHIP_READ_H
#define RIDGE_CHIP_READ_H

#include "ridge/hardware.h"

/**
 * @param root  the file's object; "name" was checked
 * @param base  the chip of its "base", or NULL
 * @param out   a chip without prices, in the ctx's arena
 * @errors E_PARSE with file:line; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__chip_read(ridge_ctx *cx, ridge_node root,
                                              const ridge_chip *base, ridge_chip **out);

#endif
