/* Host memory whose life is shorter than a ctx: of one microbatch, of one call. */
#ifndef RIDGE_EXECUTE_HOST_MEMORY_H
#define RIDGE_EXECUTE_HOST_MEMORY_H

#include <stddef.h>

/** @return n zeroed items of size bytes, or NULL; at least one. Free with
 * ridge__host_free. */
void *ridge__host_new(size_t n, size_t size);
void ridge__host_free(void *p);

#endif
