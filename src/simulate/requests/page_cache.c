/* The paged cache of one rank. */
#include "page_cache.h"

#include <string.h>

enum { NODES_FIRST = 256, PER_NODE = 2 };

static void empty_lists(page_cache *p)
{
    p->freed = p->host = (page_list){-1, -1, 0};
    p->spare = -1;
    p->n_nodes = 0;
    p->n_table = 0;
}

void ridge__pages_open(ridge_ctx *cx, int64_t blocks, int64_t block_tokens,
                       page_cache *out)
{
    *out = (page_cache){.cx = cx,
                        .blocks = blocks,
                        .free = blocks,
                        .loose = blocks,
                        .block_tokens = block_tokens};
    empty_lists(out);
}

void ridge__pages_reset(page_cache *pages)
{
    empty_lists(pages);
    pages->free = pages->loose = pages->blocks;
    for (int64_t i = 0; i < pages->table_room; i++)
        pages->table[i] = -1;
}

/* ---- lists ----------------------------------------------------------------------- */

static void unlink_node(page_cache *p, page_list *list, int32_t at)
{
    const page_node *node = &p->nodes[at];
    if (node->before >= 0)
        p->nodes[node->before].behind = node->behind;
    else
        list->oldest = node->behind;
    if (node->behind >= 0)
        p->nodes[node->behind].before = node->before;
    else
        list->youngest = node->before;
    list->n--;
}

static void link_youngest(page_cache *p, page_list *list, int32_t at)
{
    p->nodes[at].before = list->youngest;
    p->nodes[at].behind = -1;
    if (list->youngest >= 0)
        p->nodes[list->youngest].behind = at;
    else
        list->oldest = at;
    list->youngest = at;
    list->n++;
}

static void drop_node(page_cache *p, int32_t at)
{
    p->nodes[at].behind = p->spare;
    p->spare = at;
}

/* ---- the table ------------------------------------------------------------------- */

static int64_t home_of(const page_cache *p, uint64_t hash)
{
    return (int64_t)((hash * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (p->table_room - 1);
}

static int32_t find_node(const page_cache *p, uint64_t hash)
{
    if (p->n_table == 0)
        return -1;
    for (int64_t i = home_of(p, hash);; i = (i + 1) & (p->table_room - 1)) {
        if (p->table[i] < 0 || p->nodes[p->table[i]].hash == hash)
            return p->table[i];
    }
}

static void put_in_table(page_cache *p, int32_t at)
{
    int64_t i = home_of(p, p->nodes[at].hash);
    while (p->table[i] >= 0)
        i = (i + 1) & (p->table_room - 1);
    p->table[i] = at;
    p->n_table++;
}

/* Those behind a gap that would no longer be found move into it. */
static void take_from_table(page_cache *p, uint64_t hash)
{
    const int64_t mask = p->table_room - 1;
    int64_t gap = home_of(p, hash);
    while (p->nodes[p->table[gap]].hash != hash)
        gap = (gap + 1) & mask;
    p->table[gap] = -1;
    p->n_table--;
    for (int64_t i = (gap + 1) & mask; p->table[i] >= 0; i = (i + 1) & mask) {
        const int64_t home = home_of(p, p->nodes[p->table[i]].hash);
        if (((i - home) & mask) >= ((i - gap) & mask)) {
            p->table[gap] = p->table[i];
            p->table[i] = -1;
            gap = i;
        }
    }
}

static bool grow(page_cache *p)
{
    ridge_arena *arena = ridge_ctx_scratch(p->cx);
    const int32_t room = p->room > 0 ? 2 * p->room : NODES_FIRST;
    page_node *nodes = ridge_new(arena, page_node, (size_t)room);
    int32_t *table = ridge_new(arena, int32_t, (size_t)room * PER_NODE);
    if (nodes == NULL || table == NULL)
        return false;
    if (p->n_nodes > 0)
        memcpy(nodes, p->nodes, (size_t)p->n_nodes * sizeof *nodes);
    int32_t *const old = p->table;
    const int64_t old_room = p->table_room;
    p->nodes = nodes;
    p->table = table;
    p->room = room;
    p->table_room = (int64_t)room * PER_NODE;
    p->n_table = 0;
    for (int64_t i = 0; i < p->table_room; i++)
        table[i] = -1;
    for (int64_t i = 0; i < old_room; i++) {
        if (old[i] >= 0)
            put_in_table(p, old[i]);
    }
    return true;
}

/* @return -1: short of memory */
static int32_t new_node(page_cache *p)
{
    int32_t at = p->spare;
    if (at >= 0) {
        p->spare = p->nodes[at].behind;
    } else {
        if (p->n_nodes == p->room && !grow(p))
            return -1;
        at = p->n_nodes++;
    }
    p->nodes[at] = (page_node){.before = -1, .behind = -1};
    return at;
}

/* ---- pieces ---------------------------------------------------------------------- */

static int64_t common_multiple(int64_t a, int64_t b)
{
    int64_t x = a, y = b;
    while (y != 0) {
        const int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

ridge_status ridge__pages_prepare(page_cache *pages, int64_t tokens)
{
    if (pages->piece_tokens != 0)
        return RIDGE_OK;
    pages->piece_tokens = common_multiple(tokens, pages->block_tokens);
    pages->piece_blocks = pages->piece_tokens / pages->block_tokens;
    pages->host_pieces = pages->host_blocks / pages->piece_blocks;
    return pages->room > 0 || grow(pages) ? RIDGE_OK : ridge_fail_nomem(pages->cx);
}

uint64_t ridge__pages_hash(const page_cache *pages, const ridge_request *request,
                           int64_t piece)
{
    const int64_t own = ridge_request_piece(request);
    const int64_t end = (piece + 1) * pages->piece_tokens;
    return end % own == 0 ? ridge_request_hash(request, end / own - 1) : 0;
}

page_match ridge__pages_match(const page_cache *pages, const ridge_request *request,
                              int64_t most)
{
    page_match m = {0};
    if (pages->piece_tokens == 0 || pages->n_table == 0)
        return m;
    for (int64_t i = 0; i < most; i++) {
        const uint64_t hash = ridge__pages_hash(pages, request, i);
        const int32_t at = hash != 0 ? find_node(pages, hash) : -1;
        if (at < 0 || (m.host_pieces > 0 && !pages->nodes[at].is_on_host))
            break;
        if (pages->nodes[at].is_on_host) {
            m.host_pieces++;
            continue;
        }
        m.pieces++;
        m.idle_pieces += pages->nodes[at].users == 0 ? 1 : 0;
    }
    return m;
}

/* Neighbours that are both extents become one. */
static void join_extents(page_cache *p, int32_t a, int32_t b)
{
    if (a < 0 || b < 0 || p->nodes[a].blocks == 0 || p->nodes[b].blocks == 0)
        return;
    p->nodes[a].blocks += p->nodes[b].blocks;
    unlink_node(p, &p->freed, b);
    drop_node(p, b);
}

bool ridge__pages_hold(page_cache *pages, uint64_t hash)
{
    const int32_t at = find_node(pages, hash);
    if (at < 0)
        return false;
    page_node *node = &pages->nodes[at];
    if (node->is_on_host) {
        unlink_node(pages, &pages->host, at);
        node->is_on_host = false;
        ridge__pages_take(pages, pages->piece_blocks);
    } else if (node->users == 0) {
        const int32_t before = node->before, behind = node->behind;
        unlink_node(pages, &pages->freed, at);
        join_extents(pages, before, behind);
        pages->free -= pages->piece_blocks;
    }
    pages->nodes[at].users++;
    return true;
}

bool ridge__pages_name(page_cache *pages, uint64_t hash)
{
    int32_t at = find_node(pages, hash);
    if (at >= 0 && !pages->nodes[at].is_on_host)
        return false;
    if (at >= 0) {
        unlink_node(pages, &pages->host, at);
        pages->nodes[at].is_on_host = false;
    } else {
        at = new_node(pages);
        if (at < 0)
            return false;
        pages->nodes[at].hash = hash;
        put_in_table(pages, at);
    }
    pages->nodes[at].users = 1;
    return true;
}

void ridge__pages_release(page_cache *pages, uint64_t hash)
{
    const int32_t at = find_node(pages, hash);
    if (--pages->nodes[at].users > 0)
        return;
    link_youngest(pages, &pages->freed, at);
    pages->free += pages->piece_blocks;
}

static void forget(page_cache *p, int32_t at)
{
    take_from_table(p, p->nodes[at].hash);
    drop_node(p, at);
}

/* A piece that is evicted goes to the host's tier, whose oldest makes room. */
static void evict(page_cache *p, int32_t at)
{
    unlink_node(p, &p->freed, at);
    p->loose += p->piece_blocks;
    if (p->host_pieces == 0) {
        forget(p, at);
        return;
    }
    if (p->host.n >= p->host_pieces) {
        const int32_t oldest = p->host.oldest;
        unlink_node(p, &p->host, oldest);
        forget(p, oldest);
    }
    p->nodes[at].is_on_host = true;
    link_youngest(p, &p->host, at);
}

void ridge__pages_take(page_cache *pages, int64_t blocks)
{
    pages->free -= blocks;
    while (pages->loose < blocks) {
        const int32_t at = pages->freed.oldest;
        page_node *node = &pages->nodes[at];
        if (node->blocks == 0) {
            evict(pages, at);
            continue;
        }
        const int64_t wanted = blocks - pages->loose;
        const int64_t n = node->blocks < wanted ? node->blocks : wanted;
        node->blocks -= n;
        pages->loose += n;
        if (node->blocks == 0) {
            unlink_node(pages, &pages->freed, at);
            drop_node(pages, at);
        }
    }
    pages->loose -= blocks;
}

void ridge__pages_give(page_cache *pages, int64_t blocks)
{
    if (blocks <= 0)
        return;
    pages->free += blocks;
    if (pages->keeps_order && pages->freed.n > 0) {
        int32_t at = pages->freed.youngest;
        if (pages->nodes[at].blocks == 0) {
            at = new_node(pages);
            if (at >= 0)
                link_youngest(pages, &pages->freed, at);
        }
        if (at >= 0) {
            pages->nodes[at].blocks += blocks;
            return;
        }
    }
    pages->loose += blocks;
}
