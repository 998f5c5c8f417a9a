/*
 * The paged cache of one rank: how many blocks are free, and which pieces of prompts
 * still lie in blocks that no one uses. A piece is one block, or some that belong
 * together; what has no hash is a mere number of blocks.
 */
#ifndef RIDGE_PAGE_CACHE_H
#define RIDGE_PAGE_CACHE_H

#include "ridge/simulate_requests.h"

/** A piece, or an extent of blocks without hashes in the order of freed ones. */
typedef struct page_node {
    uint64_t hash;
    int64_t blocks;         /* of an extent; 0: a piece */
    int32_t before, behind; /* in its list; -1: the end */
    int32_t users;
    bool is_on_host;
} page_node;

/** A list by age: the oldest is taken first. */
typedef struct page_list {
    int32_t oldest, youngest;
    int64_t n;
} page_list;

typedef struct page_cache {
    ridge_ctx *cx;
    int64_t blocks; /* in all */
    int64_t free;   /* not in use: extents and pieces without users */
    int64_t loose;  /* of these, in no list: taken before any piece */
    int64_t block_tokens;
    int64_t piece_tokens; /* 0: until the first request with hashes */
    int64_t piece_blocks;
    bool keeps_order; /* freed extents wait in the list among pieces */
    bool is_on;
    int64_t host_blocks; /* of the host's tier */
    int64_t host_pieces; /* that it holds; 0: until pieces are known */
    page_list freed, host;
    page_node *nodes;
    int32_t n_nodes, room;
    int32_t spare;  /* first of the free nodes, by behind; -1: none */
    int32_t *table; /* [table_room] nodes by hash; -1: empty */
    int64_t table_room, n_table;
} page_cache;

/** What of a prompt is there. */
typedef struct page_match {
    int64_t pieces;      /* from the first on, in the cache */
    int64_t idle_pieces; /* of these, without users: using them takes free blocks */
    int64_t host_pieces; /* behind these, on the host */
} page_match;

/** @owner scratch of cx. */
void ridge__pages_open(ridge_ctx *cx, int64_t blocks, int64_t block_tokens,
                       page_cache *out);
/** Forget all; every block is free. */
void ridge__pages_reset(page_cache *pages);

/** Ready for requests with hashes of this piece. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__pages_prepare(page_cache *pages, int64_t tokens);
/** Of a piece as the cache keeps it: the hash at its end. */
uint64_t ridge__pages_hash(const page_cache *pages, const ridge_request *request,
                           int64_t piece);

/** @param most  pieces to look at */
page_match ridge__pages_match(const page_cache *pages, const ridge_request *request,
                              int64_t most);
/** Use a piece that is in the cache, or take it back from the host: into blocks that
 *  were free. @return false: it is not there any more */
bool ridge__pages_hold(page_cache *pages, uint64_t hash);
/** Name blocks that are in use. @return false: the piece is there already, these stay
 *  without a name. @errors none: short of memory it is not named */
bool ridge__pages_name(page_cache *pages, uint64_t hash);
/** Use a piece no more. */
void ridge__pages_release(page_cache *pages, uint64_t hash);

/** Take free blocks; there are as many. */
void ridge__pages_take(page_cache *pages, int64_t blocks);
/** Give blocks without names back. */
void ridge__pages_give(page_cache *pages, int64_t blocks);

#endif
