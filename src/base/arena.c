/*
 * Memory of one request. In a debug build (RIDGE_ARENA_DEBUG) every allocation is a
 * malloc of its own, so that a sanitizer sees each overrun and each use after rewind.
 */
#include "arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#ifdef RIDGE_ARENA_DEBUG
enum { HAS_OWN_MALLOCS = true };
#else
enum { HAS_OWN_MALLOCS = false };
#endif

enum { FIRST_CHUNK_BYTES = 64 * 1024, MOST_CHUNK_BYTES = 16 * 1024 * 1024 };

void ridge__arena_init(ridge_arena *arena, ridge_budget *budget)
{
    *arena = (ridge_arena){.budget = budget};
}

static void drop_last_chunk(ridge_arena *arena)
{
    ridge_chunk *last = &arena->chunks[--arena->n_chunks];
    arena->budget->used_bytes -= last->size;
    free(last->memory);
}

void ridge__arena_free(ridge_arena *arena)
{
    while (arena->n_chunks > 0)
        drop_last_chunk(arena);
    free(arena->chunks);
    ridge__arena_init(arena, arena->budget);
}

static bool add_chunk(ridge_arena *arena, size_t size)
{
    ridge_budget *budget = arena->budget;
    if (size > budget->limit_bytes - budget->used_bytes)
        return false;
    if (arena->n_chunks == arena->cap_chunks) {
        size_t cap = arena->cap_chunks == 0 ? 16 : 2 * arena->cap_chunks;
        ridge_chunk *grown = realloc(arena->chunks, cap * sizeof *grown);
        if (grown == NULL)
            return false;
        arena->chunks = grown;
        arena->cap_chunks = cap;
    }
    char *memory = malloc(size);
    if (memory == NULL)
        return false;
    ridge_chunk *last = &arena->chunks[arena->n_chunks++];
    last->memory = memory;
    last->size = size;
    budget->used_bytes += size;
    arena->used = 0;
    return true;
}

static size_t chunk_size_for(const ridge_arena *arena, size_t need)
{
    if (HAS_OWN_MALLOCS)
        return need;
    size_t size = FIRST_CHUNK_BYTES;
    if (arena->n_chunks > 0)
        size = 2 * arena->chunks[arena->n_chunks - 1].size;
    if (size > MOST_CHUNK_BYTES)
        size = MOST_CHUNK_BYTES;
    /* The last chunk is what the budget leaves. */
    const size_t left = arena->budget->limit_bytes - arena->budget->used_bytes;
    if (size > left)
        size = left;
    return size < need ? need : size;
}

static bool has_room(const ridge_arena *arena, size_t need)
{
    return !HAS_OWN_MALLOCS && arena->n_chunks > 0 &&
           need <= arena->chunks[arena->n_chunks - 1].size - arena->used;
}

void *ridge_arena_new(ridge_arena *arena, size_t n, size_t size)
{
    const size_t align = alignof(max_align_t);
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX - align)
        return NULL;
    bytes = bytes == 0 ? 1 : bytes;
    size_t rounded = (bytes + align - 1) / align * align;
    if (!has_room(arena, rounded)) {
        if (HAS_OWN_MALLOCS)
            rounded = bytes; /* exact, so that one byte too far is seen */
        if (!add_chunk(arena, chunk_size_for(arena, rounded)))
            return NULL;
    }
    char *p = arena->chunks[arena->n_chunks - 1].memory + arena->used;
    arena->used += rounded;
    arena->total += rounded;
    memset(p, 0, bytes);
    return p;
}

ridge_mark ridge_arena_mark(const ridge_arena *arena)
{
    return (ridge_mark){arena->n_chunks, arena->used, arena->total};
}

void ridge_arena_rewind(ridge_arena *arena, ridge_mark mark)
{
    while (arena->n_chunks > mark.chunk)
        drop_last_chunk(arena);
    arena->used = mark.used;
    arena->total = mark.total;
}
