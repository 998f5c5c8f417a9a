/* What happened on each rank, as a Chrome trace with the names of the predicted one. */
#ifndef RIDGE_EXECUTE_RUN_TRACE_H
#define RIDGE_EXECUTE_RUN_TRACE_H

#include "runner.h"

/** Forget what was noted, and note from now on or not. */
void ridge__trace_begin(ridge__runner *r, bool is_wanted);
/** All ranks call it; the leading one writes. @errors E_IO, E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__trace_write(ridge__runner *r, const char *path);

#endif
