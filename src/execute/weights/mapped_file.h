/* Whole files as memory, read only. */
#ifndef RIDGE_MAPPED_FILE_H
#define RIDGE_MAPPED_FILE_H

#include "ridge/base.h"

typedef struct ridge__mapped_file {
    const char *path; /* of its own */
    const unsigned char *p;
    size_t n;
} ridge__mapped_file;

/**
 * @owner the ctx: until it closes. A file that is cut meanwhile ends the process.
 * @errors E_IO with the path and the reason; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__mapped_file_open(ridge_ctx *cx, const char *path,
                                                     ridge__mapped_file *out);

#endif
