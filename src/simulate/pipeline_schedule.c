/*
 * The order of passes on each rank, by kind of schedule. Each kind is written down as
 * its authors drew it; what such an order costs is for pipeline_memory.c and
 * pipeline_play.c to say.
 */
#include "pipeline_write.h"

#include <assert.h>

typedef ridge__rank_order order;

static void forward(order *o, int chunk, int microbatch)
{
    ridge__rank_act(o, RIDGE_PASS_FORWARD, chunk, microbatch);
}

static void backward(order *o, int chunk, int microbatch)
{
    ridge__rank_act(o, RIDGE_PASS_BACKWARD, chunk, microbatch);
}

static void backward_input(order *o, int chunk, int microbatch)
{
    ridge__rank_act(o, RIDGE_PASS_BACKWARD_INPUT, chunk, microbatch);
}

static void backward_weight(order *o, int chunk, int microbatch)
{
    ridge__rank_act(o, RIDGE_PASS_BACKWARD_WEIGHT, chunk, microbatch);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* ---- one chunk ----------------------------------------------------------------- */

/* Warm-up with some forward passes, then one forward, one backward; what is left of
 * the backward passes comes last. */
static void write_one_by_one(order *o, int warm)
{
    const int m = o->pipeline->microbatches;
    warm = least(warm, m);
    for (int i = 0; i < warm; i++)
        forward(o, 0, i);
    for (int i = 0; i < m; i++) {
        forward(o, 0, warm + i);
        backward(o, 0, i);
    }
}

/*
 * As 1f1b, with depth times as long a warm-up, and with weights depth x rank
 * microbatches behind the inputs: later ranks, who hold less, hold back more, so that
 * all hold depth (p - 1) + 1 microbatches. In the warm-up that lets gradients of inputs
 * go up without waiting for those of weights; at the end the weights left over fill the
 * time in which gradients of inputs come down the ranks.
 */
static void write_zero_bubble(order *o, int depth)
{
    const int m = o->pipeline->microbatches;
    const int warm = least(m, depth * (o->pipeline->ranks - 1 - o->rank));
    const int behind = least(m, depth * o->rank);
    for (int i = 0; i < warm; i++)
        forward(o, 0, i);
    for (int i = 0; i < m; i++) {
        forward(o, 0, warm + i);
        backward_input(o, 0, i);
        if (i >= behind)
            backward_weight(o, 0, i - behind);
    }
    for (int i = m - behind; i < m; i++)
        backward_weight(o, 0, i);
}

/* ---- chunks in turn ------------------------------------------------------------ */

/* Microbatches in groups of p or a few more, none smaller: a group goes through chunk
 * after chunk, and its first microbatch must be back at the first rank by then. */
typedef struct grouping {
    int size;     /* of a group */
    int n_larger; /* the first ones have one more */
    int n;        /* microbatches, at least p */
} grouping;

static grouping group(const ridge_pipeline *p)
{
    if (p->microbatches < p->ranks)
        return (grouping){.size = p->ranks, .n = p->ranks};
    const int groups = p->microbatches / p->ranks;
    return (grouping){.size = p->microbatches / groups,
                      .n_larger = p->microbatches % groups,
                      .n = p->microbatches};
}

/* The at-th forward pass. */
static ridge_action forward_at(const ridge_pipeline *p, const grouping *g, int at)
{
    const int of_larger = (g->size + 1) * g->n_larger; /* microbatches */
    const bool is_larger = at < of_larger * p->chunks;
    const int size = is_larger ? g->size + 1 : g->size;
    const int base = is_larger ? 0 : of_larger;
    at -= base * p->chunks;
    const int within = at % (size * p->chunks);
    return (ridge_action){.chunk = within / size,
                          .microbatch =
                              base + at / (size * p->chunks) * size + within % size};
}

/* Megatron-LM's: twice the warm-up of 1f1b, behind the first chunks of a first group;
 * then the at-th backward pass, from the last chunk on, follows the forward pass that
 * is as far ahead as the warm-up was long. */
static void write_interleaved(order *o)
{
    const ridge_pipeline *p = o->pipeline;
    const grouping g = group(p);
    const int below = p->ranks - 1 - o->rank;
    const int n = g.n * p->chunks;
    const int warm = p->chunks == 1
                         ? below
                         : 2 * below + (p->chunks - 1) * (g.size + (g.n_larger > 0));
    for (int at = -warm; at < n; at++) {
        if (at + warm < n) {
            const ridge_action f = forward_at(p, &g, at + warm);
            forward(o, f.chunk, f.microbatch);
        }
        if (at >= 0) {
            const ridge_action b = forward_at(p, &g, at);
            backward(o, p->chunks - 1 - b.chunk, b.microbatch);
        }
    }
}

/* ---- two chunks, down and up --------------------------------------------------- */

/* Forward passes of the first chunk fill the time until the first microbatch comes back
 * up; up to 2 p (chunk, microbatch) pairs are held from then on. Drawn for n
 * microbatches. */
static void write_v_warm_up(order *o)
{
    const int from_end = o->pipeline->ranks - o->rank;
    const int first = 2 * from_end - 1;
    for (int i = 0; i < first; i++)
        forward(o, 0, i);
    for (int i = 0; i < o->rank; i++) {
        forward(o, 1, i);
        forward(o, 0, first + i);
    }
    for (int i = 0; i < from_end; i++) {
        forward(o, 1, o->rank + i);
        backward_input(o, 1, i);
        backward_weight(o, 1, i);
    }
}

/* What is left of the backward passes, weights last. */
static void write_v_cool_down(order *o, int n)
{
    const int from_end = o->pipeline->ranks - o->rank;
    for (int i = 0; i < o->rank; i++) {
        backward_input(o, 0, n - o->pipeline->ranks + i);
        backward_input(o, 1, n - o->rank + i);
    }
    for (int i = 0; i < from_end; i++) {
        backward_input(o, 0, n - from_end + i);
        backward_weight(o, 0, n - o->pipeline->ranks + i);
    }
    for (int chunk = 1; chunk >= 0; chunk--) {
        for (int i = n - o->rank; i < n; i++)
            backward_weight(o, chunk, i);
    }
}

/* In between, six passes again and again, none of which waits when all take equally
 * long. */
static void write_v(order *o)
{
    const int p = o->pipeline->ranks;
    const int m = o->pipeline->microbatches;
    const int n = m < 2 * p - 1 ? 2 * p - 1 : m;
    write_v_warm_up(o);
    for (int i = 0; i < n - p; i++) {
        forward(o, 0, 2 * p - o->rank - 1 + i);
        backward_input(o, 0, i);
        backward_weight(o, 0, i);
        forward(o, 1, p + i);
        backward_input(o, 1, p - o->rank + i);
        backward_weight(o, 1, p - o->rank + i);
    }
    write_v_cool_down(o, n);
}

/* ---- schedules ----------------------------------------------------------------- */

static void write_order(order *o)
{
    switch (o->pipeline->kind) {
    case RIDGE_SCHEDULE_GPIPE:
        write_one_by_one(o, o->pipeline->microbatches);
        return;
    case RIDGE_SCHEDULE_1F1B:
        write_one_by_one(o, o->pipeline->ranks - 1 - o->rank);
        return;
    case RIDGE_SCHEDULE_INTERLEAVED:
        write_interleaved(o);
        return;
    case RIDGE_SCHEDULE_ZB_H1:
        write_zero_bubble(o, 1);
        return;
    case RIDGE_SCHEDULE_ZB_H2:
        write_zero_bubble(o, 2);
        return;
    case RIDGE_SCHEDULE_ZB_V:
        write_v(o);
        return;
    case RIDGE_SCHEDULE_DUALPIPE:
        ridge__rank_write_dual(o);
        return;
    }
}

ridge_status ridge_pipeline_schedule_make(ridge_ctx *cx, const ridge_pipeline *pipeline,
                                          ridge_pipeline_schedule *out)
{
    RIDGE_TRY(ridge_pipeline_check(cx, pipeline));
    ridge_arena *arena = ridge_ctx_arena(cx);
    const int passes = ridge_schedule_is_split(pipeline->kind) ? 3 : 2;
    const int n = passes * pipeline->chunks * pipeline->microbatches;
    ridge_action_list *ranks =
        ridge_new(arena, ridge_action_list, (size_t)pipeline->ranks);
    if (ranks == NULL)
        return ridge_fail_nomem(cx);
    for (int rank = 0; rank < pipeline->ranks; rank++) {
        order o = {.pipeline = pipeline,
                   .rank = rank,
                   .actions = ridge_new(arena, ridge_action, (size_t)n)};
        if (o.actions == NULL)
            return ridge_fail_nomem(cx);
        write_order(&o);
        assert(pipeline->kind == RIDGE_SCHEDULE_DUALPIPE ? o.n < n : o.n == n);
        ranks[rank] = (ridge_action_list){.actions = o.actions, .n = o.n};
    }
    *out = (ridge_pipeline_schedule){.pipeline = *pipeline, .ranks = ranks};
    return RIDGE_OK;
}
