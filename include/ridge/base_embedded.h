/* Files of data/ built into the binary. */
#ifndef RIDGE_BASE_EMBEDDED_H
#define RIDGE_BASE_EMBEDDED_H

#include <stddef.h>

typedef struct ridge_embedded {
    const char *path; /* "chips/h100.json" */
    const char *text; /* not NUL-terminated by contract; use bytes */
    size_t bytes;
} ridge_embedded;

typedef struct ridge_embedded_set {
    const ridge_embedded *files; /* sorted by path */
    size_t count;
} ridge_embedded_set;

#endif
