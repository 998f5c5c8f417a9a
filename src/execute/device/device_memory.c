/*
 * Size classes, eight to each doubling, so that a request wastes at most an eighth;
 * each class has a list of blocks that no one holds. A block's class stands in front of
 * it.
 */
#define _DEFAULT_SOURCE /* madvise */
#include "device_memory.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    ALIGN = 64,
    STEPS = 8, /* classes in each doubling */
    CLASS_COUNT = 448
};
static const size_t HUGE_PAGE = (size_t)2 << 20;

/** The system promises more than it has; what is larger than all memory never fits. */
static bool is_beyond_memory(size_t bytes)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 && bytes / (size_t)page > (size_t)pages;
}

void *ridge__block_take(size_t bytes)
{
    bool is_huge = bytes >= 2 * HUGE_PAGE;
    void *p = NULL;
    if (is_huge && is_beyond_memory(bytes))
        return NULL;
    /* banned: allow posix_memalign, a device's arrays live in no arena */
    if (posix_memalign(&p, is_huge ? HUGE_PAGE : ALIGN, bytes + (bytes == 0)) != 0)
        return NULL;
    /* An advice: where it is not taken the memory is as good, only slower. */
    if (is_huge)
        (void)madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

void ridge__block_give(void *p)
{
    free(p); /* banned: allow free, the other side of posix_memalign above */
}

/* ---- size classes ---------------------------------------------------------------- */

/** In front of what the caller gets. */
typedef struct block {
    struct block *next, *before; /* all blocks of the store */
    struct block *next_free;
    size_t counted_bytes; /* 0: no one holds it */
    int class;
} block;

_Static_assert(sizeof(block) <= ALIGN, "a caller's array begins at the next line");

struct ridge__block_store {
    block *all;
    block *free[CLASS_COUNT];
};

/** Classes 0 .. 7 are 1 .. 8 lines; from there on, eight to each doubling. */
static int class_of(size_t bytes)
{
    size_t lines = bytes == 0 ? 1 : (bytes - 1) / ALIGN + 1;
    int class = (int)lines - 1;
    if (lines > STEPS) {
        int shift = 0;
        while ((lines - 1) >> shift >= 2 * STEPS)
            shift++;
        class = shift * STEPS + (int)((lines - 1) >> shift);
    }
    return class;
}

/** Lines of a class, the reverse of class_of. */
static size_t class_bytes(int class)
{
    if (class < STEPS)
        return (size_t)(class + 1) * ALIGN;
    int shift = class / STEPS - 1;
    return ((size_t)(class % STEPS + STEPS + 1) << shift) * ALIGN;
}

size_t ridge__block_bytes(size_t bytes)
{
    return bytes > SIZE_MAX / 4 ? 0
           : bytes == 0         ? ALIGN
                                : (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* ---- the store ------------------------------------------------------------------- */

ridge_status ridge__block_store_open(ridge_ctx *cx, ridge__block_store **out)
{
    ridge__block_store *store = ridge_new(ridge_ctx_arena(cx), ridge__block_store, 1);
    if (store == NULL)
        return ridge_fail_nomem(cx);
    *out = store;
    return RIDGE_OK;
}

static void unlink_block(ridge__block_store *store, block *b)
{
    if (b->next != NULL)
        b->next->before = b->before;
    if (b->before != NULL)
        b->before->next = b->next;
    else
        store->all = b->next;
}

void ridge__block_store_trim(ridge__block_store *store)
{
    for (int class = 0; class < CLASS_COUNT; class ++) {
        for (block *b = store->free[class], *next; b != NULL; b = next) {
            next = b->next_free;
            unlink_block(store, b);
            ridge__block_give(b);
        }
        store->free[class] = NULL;
    }
}

void ridge__block_store_close(ridge__block_store *store)
{
    if (store == NULL)
        return;
    for (block *b = store->all, *next; b != NULL; b = next) {
        next = b->next;
        ridge__block_give(b);
    }
    *store = (ridge__block_store){0};
}

static block *new_block(ridge__block_store *store, int class)
{
    size_t bytes = ALIGN + class_bytes(class);
    block *b = ridge__block_take(bytes);
    if (b == NULL) {
        ridge__block_store_trim(store);
        b = ridge__block_take(bytes);
    }
    if (b == NULL)
        return NULL;
    *b = (block){.next = store->all, .class = class};
    if (store->all != NULL)
        store->all->before = b;
    store->all = b;
    return b;
}

void *ridge__block_store_take(ridge__block_store *store, size_t bytes)
{
    size_t counted = ridge__block_bytes(bytes);
    if (counted == 0)
        return NULL;
    int class = class_of(bytes);
    block *b = store->free[class];
    if (b != NULL)
        store->free[class] = b->next_free;
    else
        b = new_block(store, class);
    if (b == NULL)
        return NULL;
    b->counted_bytes = counted;
    b->next_free = NULL;
    return (char *)b + ALIGN;
}

size_t ridge__block_store_give(ridge__block_store *store, void *p)
{
    block *b = (block *)(void *)((char *)p - ALIGN);
    size_t counted = b->counted_bytes;
    assert(counted > 0);
    b->counted_bytes = 0;
    b->next_free = store->free[b->class];
    store->free[b->class] = b;
    return counted;
}
