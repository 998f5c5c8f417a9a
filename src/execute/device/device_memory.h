/*
 * Blocks of host memory, and a store of them: what a device's caller gives back is kept
 * and handed out again, so that a training step asks the system for nothing.
 */
#ifndef RIDGE_EXECUTE_DEVICE_MEMORY_H
#define RIDGE_EXECUTE_DEVICE_MEMORY_H

#include "device.h"

/** Memory aligned to 64 bytes, large blocks to huge pages. @return NULL: none to be had
 * @owner the caller, until ridge__block_give */
void *ridge__block_take(size_t bytes);
void ridge__block_give(void *p); /* NULL: nothing */

typedef struct ridge__block_store ridge__block_store;

/** @errors E_NOMEM @owner close it before the ctx */
RIDGE_NODISCARD ridge_status ridge__block_store_open(ridge_ctx *cx,
                                                     ridge__block_store **out);
/** Give everything back to the system, what callers still hold with it. */
void ridge__block_store_close(ridge__block_store *store);

/** Bytes that a request of that many is counted with: whole lines of 64. What a block
 * has beyond them is not touched. 0: too many. */
size_t ridge__block_bytes(size_t bytes);

/** A block of at least that many bytes, aligned to 64. @return NULL: none to be had */
void *ridge__block_store_take(ridge__block_store *store, size_t bytes);
/** @param p  of this store. @return bytes that it was counted with */
size_t ridge__block_store_give(ridge__block_store *store, void *p);

/** Give blocks that no one holds back to the system. */
void ridge__block_store_trim(ridge__block_store *store);

#endif
