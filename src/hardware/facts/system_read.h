/* One file of data/systems into a ridge_system. */
#ifndef RIDGE_SYSTEM_READ_H
#define RIDGE_SYSTEM_READ_H

#include "ridge/hardware.h"

/** Longest axis of a torus that a file may describe: legal shapes are enumerated. */
enum { TORUS_AXIS_LENGTH_MAX = 128 };

/**
 * @param root     the file's object
 * @param catalog  where its chip is looked up; systems need not be loaded
 * @param base     the system of its "base", or NULL
 * @errors E_PARSE with file:line; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__system_read(ridge_ctx *cx, ridge_node root,
                                                const ridge_catalog *catalog,
                                                const ridge_system *base,
                                                ridge_system **out);

#endif
