/* What an open file tells of itself before it is read. */
#ifndef RIDGE_BASE_FILE_KIND_H
#define RIDGE_BASE_FILE_KIND_H

#include <stddef.h>
#include <stdio.h>

/** Bytes of a regular file; 0 for a pipe or a device, which do not tell. */
size_t ridge__file_told_bytes(FILE *f);

/**
 * How much of a file is read at most: what its reader bears, and of a device no more
 * than 16 MiB: one that does not end soon, such as /dev/zero, does not end at all.
 */
size_t ridge__file_most_bytes(FILE *f, size_t most_bytes);

#endif
