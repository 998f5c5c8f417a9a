/* Requests of a file one after the other, over and over. */
#ifndef RIDGE_REQUEST_FILE_H
#define RIDGE_REQUEST_FILE_H

#include "ridge/simulate_requests.h"

/** The next one, whatever the time. @param has  out: false at the end
 * @errors E_PARSE, E_IO, E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__request_file_next(ridge_request_file *file,
                                                      ridge_request *out, bool *has);

/** Begin again. @errors E_PARSE a file without requests; E_IO what cannot be read
 *  twice */
RIDGE_NODISCARD ridge_status ridge__request_file_rewind(ridge_request_file *file);

#endif
