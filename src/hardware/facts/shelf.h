/* One kind of thing in the catalogue: its files, their names, what was read so far. */
#ifndef RIDGE_SHELF_H
#define RIDGE_SHELF_H

#include "ridge/hardware.h"

#include "data_files.h"
#include "name_index.h"

/** Turns a parsed file into its thing; @p base is that of its "base", or NULL. */
typedef ridge_status shelf_read(ridge_ctx *cx, ridge_catalog *catalog,
                                const data_file *file, const void *base, void **out);

typedef struct shelf {
    data_set set;
    name_index names; /* items are positions in the set */
    shelf_read *read;
} shelf;

/** Gather the files and index their names. @errors E_PARSE, E_IO, E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__shelf_open(ridge_ctx *cx, const data_roots *roots,
                                               data_kind kind, shelf_read *read,
                                               shelf *out);

/** Read what was not read yet: the thing and its bases. @errors E_PARSE, E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__shelf_get(ridge_ctx *cx, ridge_catalog *catalog,
                                              const shelf *from, size_t item,
                                              void **out);

/** Read everything of @p layer or a stronger one. */
RIDGE_NODISCARD ridge_status ridge__shelf_read_from(ridge_ctx *cx,
                                                    ridge_catalog *catalog,
                                                    const shelf *from, int layer);

#endif
