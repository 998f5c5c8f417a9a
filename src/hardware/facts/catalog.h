/* Inside of the catalogue, for the readers that fill it and the slices that use it. */
#ifndef RIDGE_CATALOG_H
#define RIDGE_CATALOG_H

#include "ridge/hardware.h"

#include "device_read.h"
#include "name_index.h"

const name_index *ridge__chip_names(const ridge_catalog *catalog);

/** A chip by name or alias; NULL when no chip is called that. @errors of its file */
RIDGE_NODISCARD ridge_status ridge__chip_lookup(ridge_ctx *cx,
                                                const ridge_catalog *catalog,
                                                const char *name,
                                                const ridge_chip **out);

/** A system by its own name or alias, or NULL. @errors of its file */
RIDGE_NODISCARD ridge_status ridge__system_lookup(ridge_ctx *cx,
                                                  const ridge_catalog *catalog,
                                                  const char *name,
                                                  const ridge_system **out);

/** PCI ids, links and NICs. @owner the catalogue @errors of their files */
RIDGE_NODISCARD ridge_status ridge__catalog_devices(ridge_ctx *cx,
                                                    const ridge_catalog *catalog,
                                                    const device_list **out);

/** Read the system of a file that is not in the catalogue. @errors E_IO, E_PARSE */
RIDGE_NODISCARD ridge_status ridge__system_open_file(ridge_ctx *cx,
                                                     const ridge_catalog *catalog,
                                                     const char *path,
                                                     const ridge_system **out);

#endif
