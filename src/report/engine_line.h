/* What an engine prints of its cache, in one line. */
#ifndef RIDGE_REPORT_ENGINE_LINE_H
#define RIDGE_REPORT_ENGINE_LINE_H

#include "ridge/hardware_engine.h"

/** Its lines behind each other, joined by "; ", without a line end.
 * @param longest_tokens  of a sequence */
const char *ridge__engine_line(ridge_ctx *cx, const ridge_engine *engine,
                               int64_t blocks, int64_t block_tokens,
                               int64_t longest_tokens);

#endif
