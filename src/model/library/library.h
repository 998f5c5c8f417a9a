/* Entries of the model library: where each lies, and how its config is made. */
#ifndef RIDGE_MODEL_LIBRARY_H
#define RIDGE_MODEL_LIBRARY_H

#include "ridge/model.h"

typedef struct ridge__entry {
    const char *name;               /* of the file, without ".json" */
    const ridge_embedded *built_in; /* or NULL */
    const char *path;               /* of a file that adds or overrides, or NULL */
} ridge__entry;

struct ridge_library {
    ridge__entry *entries; /* sorted by name */
    size_t n;
};

/** @return the entry of that very name (loosely spelt), or NULL */
const ridge__entry *ridge__library_find(const ridge_library *library, ridge_str name);

/** Parse an entry's file and check its keys. @errors E_PARSE, E_IO */
RIDGE_NODISCARD ridge_status ridge__entry_parse(ridge_ctx *cx,
                                                const ridge__entry *entry,
                                                ridge_node *out);

/** Whether an alias of an entry, or its part behind the "/", is @p name. */
bool ridge__entry_has_alias(const ridge_node *root, ridge_str name);

/** The model that an entry describes; "base" is another entry that it changes.
 * @errors E_PARSE, E_IO, E_NOTFOUND for an unknown base */
RIDGE_NODISCARD ridge_status ridge__entry_model(ridge_ctx *cx,
                                                const ridge_library *library,
                                                const ridge__entry *entry,
                                                const ridge_model **out);

#endif
