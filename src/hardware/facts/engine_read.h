/* One file of data/engines into a ridge_engine. */
#ifndef RIDGE_ENGINE_READ_H
#define RIDGE_ENGINE_READ_H

#include "ridge/hardware_engine.h"

/**
 * @param root  the file's object; "name" was checked
 * @param base  the engine of its "base", or NULL
 * @errors E_PARSE with file:line; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__engine_read(ridge_ctx *cx, ridge_node root,
                                                const ridge_engine *base,
                                                ridge_engine **out);

#endif
