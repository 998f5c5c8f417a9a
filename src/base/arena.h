/* An arena: chunks of memory handed out in order and freed as a whole. */
#ifndef RIDGE_BASE_ARENA_H
#define RIDGE_BASE_ARENA_H

#include "ridge/base.h"

/** What all arenas of a ctx may hold together, and what they hold. */
typedef struct ridge_budget {
    size_t limit_bytes;
    size_t used_bytes;
} ridge_budget;

typedef struct ridge_chunk {
    char *memory;
    size_t size;
} ridge_chunk;

struct ridge_arena {
    ridge_budget *budget; /* borrowed from the ctx */
    ridge_chunk *chunks;
    size_t n_chunks;
    size_t cap_chunks;
    size_t used;  /* bytes of the last chunk */
    size_t total; /* bytes handed out; for marks */
};

void ridge__arena_init(ridge_arena *arena, ridge_budget *budget);
void ridge__arena_free(ridge_arena *arena);

#endif
