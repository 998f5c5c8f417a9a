/* Inside of the catalogue, for the readers that fill it and the slices that use it. */
#ifndef RIDGE_CATALOG_H
#define RIDGE_CATALOG_H

#include "ridge/hardware.h"

#include "name_index.h"

struct ridge_catalog {
    ridge_chip **chips; /* sorted by name */
    size_t n_chips;
    name_index chip_names;
    ridge_system **systems; /* sorted by name */
    size_t n_systems;
    name_index system_names;
};

/** A chip by name or alias, or NULL; may be changed while the catalogue loads. */
ridge_chip *ridge__chip_lookup(const ridge_catalog *catalog, const char *name);
const name_index *ridge__chip_names(const ridge_catalog *catalog);

/** A system by its own name or alias, or NULL. */
const ridge_system *ridge__system_lookup(const ridge_catalog *catalog,
                                         const char *name);

/** Read the system of a file that is not in the catalogue. @errors E_IO, E_PARSE */
RIDGE_NODISCARD ridge_status ridge__system_open_file(ridge_ctx *cx,
                                                     const ridge_catalog *catalog,
                                                     const char *path,
                                                     const ridge_system **out);

#endif
