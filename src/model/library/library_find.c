/* What an open library holds, by position and by name. */
#include "library.h"

#include "model_name.h"

size_t ridge_library_count(const ridge_library *library)
{
    return library->n;
}

const char *ridge_library_name(const ridge_library *library, size_t index)
{
    return index < library->n ? library->entries[index].name : NULL;
}

const ridge__entry *ridge__library_find(const ridge_library *library, ridge_str name)
{
    for (size_t i = 0; i < library->n; i++) {
        if (ridge__model_name_equal(ridge_str_of(library->entries[i].name), name))
            return &library->entries[i];
    }
    return NULL;
}
