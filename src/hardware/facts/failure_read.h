/* Published counts of failures, of data/failures. */
#ifndef RIDGE_FAILURE_READ_H
#define RIDGE_FAILURE_READ_H

#include "ridge/hardware_site.h"

#include "name_index.h"

/** @param chips  names of the chips that a record may be of; NULL: any
 * @errors E_PARSE with file:line; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__failure_read(ridge_ctx *cx, ridge_node root,
                                                 const name_index *chips,
                                                 ridge_failure_record **out);

#endif
