/*
 * Collective matmuls. Gathered: each rank multiplies the chunk that it has while the
 * next ones come around the ring, from both sides. Scattered: sums travel around the
 * ring to their owner, and each rank adds its product on the way. Reduced: tiles of the
 * result are summed while later ones are multiplied.
 */
#include "machine.h"

/* A ring around which chunks of a dim go. */
typedef struct ring {
    ridge__call *c;
    ridge_comm *group;
    int ranks, me;
    int dim;
    int64_t chunk, whole; /* lengths of the dim on one rank, and on all */
    ridge__piece piece;   /* arrays as the call's */
} ring;

/* One of the two ways around. */
typedef struct way {
    int shift; /* 1 or -1 */
    int hops;
    ridge__array now, next;
    ridge_pending pending;
} way;

static int rank_at(const ring *r, int distance)
{
    return (r->me + distance % r->ranks + r->ranks) % r->ranks;
}

/* Entries of the chunk of a rank; the last ones are shorter, or empty. */
static int64_t length_of(const ring *r, int rank)
{
    const int64_t left = r->whole - rank * r->chunk;
    return left < 0 ? 0 : left < r->chunk ? left : r->chunk;
}

static ridge_status start_hop(ring *r, way *w, int64_t elements)
{
    return ridge_permute_start(r->c->m->cx, r->group, ridge__element_of(w->now.dtype),
                               elements, w->shift, w->now.p, w->next.p, &w->pending);
}

static ridge_status wait_hop(ring *r, way *w)
{
    return ridge_comm_wait(r->c->m->cx, &w->pending);
}

static ridge_status take(ring *r, const ridge__value *like, ridge__array *out)
{
    return ridge__scratch_take(r->c, like->elements, like->dtype, out);
}

static int64_t local_length(const ridge__tensor_part *part, const ridge_tensor *t,
                            int dim)
{
    const int at = ridge__tensor_position(t, dim);
    return at < 0 ? 0 : part->spans[at].length;
}

static ring ring_of(ridge__call *c, int dim)
{
    ring r = {.c = c, .group = c->m->groups[c->at->op], .dim = dim};
    r.ranks = ridge_comm_size(r.group);
    r.me = ridge_comm_rank(r.group);
    r.piece = (ridge__piece){.dim = dim,
                             .arrays = {ridge__in_array(c, 0), ridge__in_array(c, 1),
                                        ridge__out_array(c, 0)}};
    return r;
}

static ridge_status zero(ring *r, ridge__array a, int64_t elements)
{
    ridge__device *d = r->c->m->device;
    return d->ops->zero(d, a.p, (size_t)elements * (size_t)ridge_dtype_bytes(a.dtype));
}

/* y += x, element by element. */
static ridge_status add(ring *r, ridge__array x, ridge__array y, int64_t n)
{
    ridge__device *d = r->c->m->device;
    const ridge__copy copy = {.n_dims = 1,
                              .sizes = {n},
                              .x_strides = {1},
                              .y_strides = {1},
                              .x = x,
                              .y = y,
                              .is_added = true};
    return d->ops->copy(d, &copy);
}

/* ---- gathered -----------------------------------------------------------------------
 */

typedef struct gathering {
    ring r;
    int input;      /* whose chunks go around */
    bool is_summed; /* the dim is not in the result: chunks add up */
    bool has_begun;
    way ways[2];
} gathering;

/* The chunk of a rank, that lies in an array, multiplied. */
static ridge_status multiply_chunk(gathering *g, int rank, ridge__array chunk)
{
    ridge__piece piece = g->r.piece;
    const int64_t first = rank * g->r.chunk;
    piece.length = length_of(&g->r, rank);
    piece.arrays[g->input] = chunk;
    piece.first[1 - g->input] = piece.first[2] = first;
    piece.is_added = g->r.c->adds[0] || (g->is_summed && g->has_begun);
    if (piece.length == 0)
        return RIDGE_OK;
    g->has_begun = true;
    return ridge__call_einsum_piece(g->r.c, &piece);
}

/* The factor that the gather's axes cut goes around. */
static bool is_cut(const ridge__call *c, int input, int dim)
{
    const int at = ridge__tensor_position(ridge__in_tensor(c, input), dim);
    const ridge_sharding *s = &c->m->partition->shardings[c->op->inputs[input]];
    for (int i = 0; at >= 0 && i < s->dims[at].n; i++) {
        if (s->dims[at].axes[i] == c->op->axes[0])
            return true;
    }
    return false;
}

static gathering gathering_of(ridge__call *c)
{
    const int dim = c->op->dim_from;
    gathering g = {.r = ring_of(c, dim), .input = is_cut(c, 0, dim) ? 0 : 1};
    const int other = 1 - g.input;
    const int64_t kept =
        local_length(ridge__out_part(c, 0), ridge__out_tensor(c, 0), dim);
    g.is_summed = kept == 0;
    g.r.whole = g.is_summed ? local_length(ridge__in_part(c, other),
                                           ridge__in_tensor(c, other), dim)
                            : kept;
    g.r.chunk =
        local_length(ridge__in_part(c, g.input), ridge__in_tensor(c, g.input), dim);
    g.ways[0] = (way){.shift = 1, .hops = g.r.ranks / 2};
    g.ways[1] = (way){.shift = -1, .hops = (g.r.ranks - 1) / 2};
    return g;
}

/* Two buffers a way: one is multiplied and sent on while the other fills. */
static ridge_status take_buffers(gathering *g, ridge__array *buffers)
{
    for (int i = 0; i < 4; i++) {
        const bool is_used = g->ways[i / 2].hops > i % 2;
        if (is_used)
            RIDGE_TRY(take(&g->r, g->r.c->in[g->input], &buffers[i]));
    }
    return RIDGE_OK;
}

/* Hop number t of each way, beside the products of what the last one brought. */
static ridge_status gather_round(gathering *g, ridge__array *buffers, int t)
{
    ring *r = &g->r;
    ridge__device *d = r->c->m->device;
    for (int i = 0; i < 2; i++) {
        way *w = &g->ways[i];
        w->now = t == 0 ? ridge__in_array(r->c, g->input) : w->next;
        w->next = buffers[2 * i + t % 2];
        if (t < w->hops)
            RIDGE_TRY(start_hop(r, w, r->c->in[g->input]->elements));
    }
    for (int i = 0; i < 2; i++) {
        const way *w = &g->ways[i];
        if (t <= w->hops && (t > 0 || i == 0))
            RIDGE_TRY(multiply_chunk(g, rank_at(r, -t * w->shift), w->now));
    }
    for (int i = 0; i < 2; i++) {
        if (t < g->ways[i].hops)
            RIDGE_TRY(wait_hop(r, &g->ways[i]));
    }
    return d->ops->finish(d);
}

static ridge_status run_gathered(ridge__call *c)
{
    gathering g = gathering_of(c);
    ridge__array buffers[4] = {{.p = NULL}};
    RIDGE_TRY(take_buffers(&g, buffers));
    for (int t = 0; t <= g.ways[0].hops; t++)
        RIDGE_TRY(gather_round(&g, buffers, t));
    for (int i = 0; i < 4; i++)
        ridge__scratch_give(c, &buffers[i]);
    return RIDGE_OK;
}

/* ---- scattered ----------------------------------------------------------------------
 */

/* The product for the chunk of a rank, into an array or added to what it holds. */
static ridge_status multiply_for(ring *r, int rank, ridge__array into, bool is_added)
{
    ridge__piece piece = r->piece;
    piece.length = length_of(r, rank);
    piece.arrays[2] = into;
    piece.first[0] = piece.first[1] = rank * r->chunk;
    piece.is_added = is_added;
    if (piece.length < r->chunk && !is_added)
        RIDGE_TRY(zero(r, into, r->c->out[0]->elements));
    return ridge__call_einsum_piece(r->c, &piece);
}

/* Hop t of a way: what has come for a rank farther on, this rank's product added. */
static ridge_status send_sum(ring *r, way *w, int t)
{
    ridge__device *d = r->c->m->device;
    const int target = rank_at(r, w->shift * (w->hops - t));
    if (t > 0) {
        RIDGE_TRY(wait_hop(r, w));
        const ridge__array swap = w->now;
        w->now = w->next;
        w->next = swap;
    }
    RIDGE_TRY(multiply_for(r, target, w->now, t > 0));
    RIDGE_TRY(d->ops->finish(d));
    return start_hop(r, w, r->c->out[0]->elements);
}

static ridge_status take_sums(ring *r, way *w)
{
    if (w->hops == 0)
        return RIDGE_OK;
    RIDGE_TRY(take(r, r->c->out[0], &w->now));
    return take(r, r->c->out[0], &w->next);
}

/* The two ways alternate: one's sums travel while the other's are multiplied; its own
 * product while the last ones do. */
static ridge_status run_scattered(ridge__call *c)
{
    ring r = ring_of(c, c->op->dim_to);
    r.chunk = local_length(ridge__out_part(c, 0), ridge__out_tensor(c, 0), r.dim);
    for (int i = 0; i < 2; i++) {
        const int64_t n =
            local_length(ridge__in_part(c, i), ridge__in_tensor(c, i), r.dim);
        r.whole = n > r.whole ? n : r.whole;
    }
    way ways[2] = {{.shift = 1, .hops = r.ranks / 2},
                   {.shift = -1, .hops = (r.ranks - 1) / 2}};
    for (int i = 0; i < 2; i++)
        RIDGE_TRY(take_sums(&r, &ways[i]));
    for (int t = 0; t < ways[0].hops; t++) {
        for (int i = 0; i < 2; i++) {
            if (t < ways[i].hops)
                RIDGE_TRY(send_sum(&r, &ways[i], t));
        }
    }
    RIDGE_TRY(multiply_for(&r, r.me, ridge__out_array(c, 0), c->adds[0]));
    for (int i = 0; i < 2 && ways[i].hops > 0; i++) {
        RIDGE_TRY(wait_hop(&r, &ways[i]));
        RIDGE_TRY(add(&r, ways[i].next, ridge__out_array(c, 0), c->out[0]->elements));
        RIDGE_TRY(c->m->device->ops->finish(c->m->device));
        ridge__scratch_give(c, &ways[i].now);
        ridge__scratch_give(c, &ways[i].next);
    }
    return RIDGE_OK;
}

/* ---- reduced ------------------------------------------------------------------------
 */

enum { TILES_MOST = 8 };

/* The outermost dim of more than one entry: its tiles lie one behind the other. */
static int tiled_position(const ridge__tensor_part *part)
{
    for (int i = 0; i < part->n_dims; i++) {
        if (part->spans[i].length > 1)
            return i;
    }
    return -1;
}

static ridge_status reduce_tile(ring *r, ridge__array into, int tile, int64_t row,
                                ridge_pending *pending)
{
    ridge__device *d = r->c->m->device;
    const int64_t first = tile * r->chunk, n = length_of(r, tile) * row;
    ridge__piece piece = r->piece;
    piece.length = length_of(r, tile);
    piece.arrays[2] = into;
    for (int i = 0; i < 3; i++)
        piece.first[i] = first;
    RIDGE_TRY(ridge__call_einsum_piece(r->c, &piece));
    RIDGE_TRY(d->ops->finish(d));
    char *at = (char *)into.p + first * row * (int64_t)ridge_dtype_bytes(into.dtype);
    return ridge_all_reduce_start(r->c->m->cx, r->group, ridge__element_of(into.dtype),
                                  RIDGE_REDUCE_SUM, n, at, at, pending);
}

static ridge_status reduce_tiles(ring *r, int at, ridge__array into)
{
    const ridge__tensor_part *part = ridge__out_part(r->c, 0);
    ridge_pending pending[TILES_MOST];
    const int wanted = r->ranks < 2 ? 2 : r->ranks < TILES_MOST ? r->ranks : TILES_MOST;
    r->whole = at < 0 ? 1 : part->spans[at].length;
    r->chunk = ridge_ceil_div(r->whole, wanted);
    const int tiles = (int)ridge_ceil_div(r->whole, r->chunk);
    const int64_t row = r->c->out[0]->elements / r->whole;
    for (int t = 0; t < tiles; t++)
        RIDGE_TRY(reduce_tile(r, into, t, row, &pending[t]));
    for (int t = 0; t < tiles; t++)
        RIDGE_TRY(ridge_comm_wait(r->c->m->cx, &pending[t]));
    return RIDGE_OK;
}

static ridge_status run_reduced(ridge__call *c)
{
    const int at = tiled_position(ridge__out_part(c, 0));
    ring r = ring_of(c, at < 0 ? -1 : ridge__out_tensor(c, 0)->dims[at]);
    ridge__array sum;
    if (!c->adds[0])
        return reduce_tiles(&r, at, ridge__out_array(c, 0));
    RIDGE_TRY(take(&r, c->out[0], &sum));
    RIDGE_TRY(reduce_tiles(&r, at, sum));
    RIDGE_TRY(add(&r, sum, ridge__out_array(c, 0), c->out[0]->elements));
    RIDGE_TRY(c->m->device->ops->finish(c->m->device));
    ridge__scratch_give(c, &sum);
    return RIDGE_OK;
}

ridge_status ridge__call_ring_product(ridge__call *c)
{
    RIDGE_TRY(c->m->device->ops->finish(c->m->device));
    switch (c->op->collective) {
    case RIDGE_STEP_ALL_GATHER:
        return run_gathered(c);
    case RIDGE_STEP_REDUCE_SCATTER:
        return run_scattered(c);
    case RIDGE_STEP_ALL_REDUCE:
        return run_reduced(c);
    default:
        return ridge_fail(c->m->cx, RIDGE_E_INTERNAL, "%s takes over no collective",
                          c->op->name);
    }
}
