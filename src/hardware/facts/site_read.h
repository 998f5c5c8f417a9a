/* Sites of data/sites. */
#ifndef RIDGE_SITE_READ_H
#define RIDGE_SITE_READ_H

#include "ridge/hardware_site.h"

/** @param base  what holds where the file is silent, or NULL
 * @errors E_PARSE with file:line; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__site_read(ridge_ctx *cx, ridge_node root,
                                              const ridge_site *base, ridge_site **out);

#endif
