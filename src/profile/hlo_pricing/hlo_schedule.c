#include "hlo_schedule.h"
#include "hlo_builder.h"

#include <math.h>

/** Kernels that read what a kernel writes. */
typedef struct edges {
    int *first; /* [n + 1] into to */
    int *to;
} edges;

typedef struct scheduler {
    ridge_ctx *cx;
    const hlo_kernels *k;
    const hlo_task *tasks;
    hlo_slot *slots;
    edges out;
    int *waits;                  /* [n] feeders that are not done yet */
    double *there_s;             /* [n] when the inputs are there */
    int *maker;                  /* [n] asynchronous feeder that comes last; -1: none */
    bool *is_leading;            /* [n] leads to an asynchronous kernel */
    int *ended;                  /* [n] room for finish() */
    int *later, n_later;         /* heap by there_s: inputs are on their way */
    int *available, n_available; /* heap by rank: inputs are there */
    double axis_free_s[RIDGE_AXIS_MAX], copy_free_s;
} scheduler;

/* ---- who feeds whom ---------------------------------------------------------------
 */

typedef struct feed {
    int from, to;
} feed;

/** A walk over what one kernel reads. */
typedef struct feed_walk {
    const hlo_kernels *k;
    int *stamp, *stack;
    int n;
} feed_walk;

static void push_node(feed_walk *w, int kernel, int node)
{
    if (w->stamp[node] != kernel + 1) {
        w->stamp[node] = kernel + 1;
        w->stack[w->n++] = node;
    }
}

/* @return false: out of memory */
static bool find_feeds(ridge_arena *arena, feed_walk *w, int kernel, hlo_list *feeds)
{
    const hlo_kernel *x = &w->k->kernels[kernel];
    w->n = 0;
    for (int r = 0; r < x->n_roots; r++)
        push_node(w, kernel, w->k->roots[x->first_root + r]);
    for (int at = 0; at < w->n; at++) {
        const hlo_node *node = &w->k->graph->nodes[w->stack[at]];
        const int own = w->k->kernel_of[w->stack[at]];
        if (own >= 0 && own != kernel) {
            feed *f = hlo_list_push(arena, feeds);
            if (f == NULL)
                return false;
            *f = (feed){own, kernel};
            continue;
        }
        for (int i = 0; i < node->n_inputs; i++)
            push_node(w, kernel, node->inputs[i]);
    }
    return true;
}

/* Kernels that feed a later one of theirs are not told apart here: joined kernels stand
 * where the last of their results does, so a feed may point back only within one. */
static ridge_status find_edges(scheduler *s)
{
    ridge_arena *scratch = ridge_ctx_scratch(s->cx);
    const size_t n = (size_t)s->k->n, nodes = (size_t)s->k->graph->n;
    hlo_list feeds = {.size = sizeof(feed)};
    feed_walk w = {.k = s->k,
                   .stamp = ridge_new(scratch, int, nodes),
                   .stack = ridge_new(scratch, int, nodes)};
    if (!w.stamp || !w.stack)
        return ridge_fail_nomem(s->cx);
    for (int kernel = 0; kernel < s->k->n; kernel++) {
        if (!find_feeds(scratch, &w, kernel, &feeds))
            return ridge_fail_nomem(s->cx);
    }
    const feed *all = (const feed *)(const void *)feeds.items;
    s->out.first = ridge_new(scratch, int, n + 2);
    s->out.to = ridge_new(scratch, int, (size_t)feeds.n);
    if (!s->out.first || !s->out.to)
        return ridge_fail_nomem(s->cx);
    for (int f = 0; f < feeds.n; f++)
        s->out.first[all[f].from + 2]++;
    for (size_t kernel = 2; kernel < n + 2; kernel++)
        s->out.first[kernel] += s->out.first[kernel - 1];
    for (int f = 0; f < feeds.n; f++) {
        s->out.to[s->out.first[all[f].from + 1]++] = all[f].to;
        s->waits[all[f].to]++;
    }
    return RIDGE_OK;
}

/* From the back: a kernel leads when it is asynchronous or feeds one that leads. */
static void find_leading(scheduler *s)
{
    for (int k = s->k->n - 1; k >= 0; k--) {
        s->is_leading[k] = s->tasks[k].is_async;
        for (int e = s->out.first[k]; e < s->out.first[k + 1]; e++)
            s->is_leading[k] |= s->is_leading[s->out.to[e]];
    }
}

/* ---- heaps ------------------------------------------------------------------------
 */

static bool is_sooner(const scheduler *s, int a, int b)
{
    if (s->there_s[a] != s->there_s[b])
        return s->there_s[a] < s->there_s[b];
    return a < b;
}

static bool is_before(const scheduler *s, int a, int b)
{
    if (s->is_leading[a] != s->is_leading[b])
        return s->is_leading[a];
    return a < b;
}

typedef bool order_fn(const scheduler *s, int a, int b);

static void heap_push(const scheduler *s, order_fn *first, int *heap, int *n, int item)
{
    int at = (*n)++;
    for (; at > 0 && first(s, item, heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = item;
}

static int heap_pop(const scheduler *s, order_fn *first, int *heap, int *n)
{
    const int top = heap[0], last = heap[--*n];
    int at = 0;
    for (;;) {
        int child = 2 * at + 1;
        if (child >= *n)
            break;
        if (child + 1 < *n && first(s, heap[child + 1], heap[child]))
            child++;
        if (!first(s, heap[child], last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return top;
}

/* ---- running ----------------------------------------------------------------------
 */

static double free_at(const scheduler *s, unsigned axes)
{
    double free_s = axes ? 0 : s->copy_free_s;
    for (int a = 0; a < RIDGE_AXIS_MAX; a++) {
        if (axes & 1u << a)
            free_s = fmax(free_s, s->axis_free_s[a]);
    }
    return free_s;
}

static void start_async(scheduler *s, int kernel)
{
    const unsigned axes = s->tasks[kernel].axes;
    hlo_slot *slot = &s->slots[kernel];
    slot->start_s = fmax(s->there_s[kernel], free_at(s, axes));
    slot->end_s = slot->start_s + s->tasks[kernel].took_s;
    if (axes == 0)
        s->copy_free_s = slot->end_s;
    for (int a = 0; a < RIDGE_AXIS_MAX; a++) {
        if (axes & 1u << a)
            s->axis_free_s[a] = slot->end_s;
    }
}

/* What a kernel's end makes ready: asynchronous ones start at once, and since it is
 * then known when they end, so does what follows them. */
static void finish(scheduler *s, int kernel)
{
    int n = 0;
    s->ended[n++] = kernel;
    while (n > 0) {
        const int done = s->ended[--n];
        const double end_s = s->slots[done].end_s;
        for (int e = s->out.first[done]; e < s->out.first[done + 1]; e++) {
            const int next = s->out.to[e];
            if (end_s >= s->there_s[next]) {
                s->there_s[next] = end_s;
                s->maker[next] = s->tasks[done].is_async ? done : -1;
            }
            if (--s->waits[next] > 0)
                continue;
            if (s->tasks[next].is_async) {
                start_async(s, next);
                s->ended[n++] = next;
            } else {
                heap_push(s, is_sooner, s->later, &s->n_later, next);
            }
        }
    }
}

static void become_ready(scheduler *s, int kernel)
{
    if (s->tasks[kernel].is_async) {
        start_async(s, kernel);
        finish(s, kernel);
    } else {
        heap_push(s, is_sooner, s->later, &s->n_later, kernel);
    }
}

static void run_all(scheduler *s, double *now_s)
{
    while (s->n_later > 0 || s->n_available > 0) {
        while (s->n_later > 0 && s->there_s[s->later[0]] <= *now_s) {
            const int ready = heap_pop(s, is_sooner, s->later, &s->n_later);
            heap_push(s, is_before, s->available, &s->n_available, ready);
        }
        const bool has_to_wait = s->n_available == 0;
        const int kernel = has_to_wait
                               ? heap_pop(s, is_sooner, s->later, &s->n_later)
                               : heap_pop(s, is_before, s->available, &s->n_available);
        if (has_to_wait) {
            if (s->maker[kernel] >= 0)
                s->slots[s->maker[kernel]].waited_s += s->there_s[kernel] - *now_s;
            *now_s = fmax(*now_s, s->there_s[kernel]);
        }
        s->slots[kernel].start_s = *now_s;
        *now_s += s->tasks[kernel].took_s;
        s->slots[kernel].end_s = *now_s;
        finish(s, kernel);
    }
}

static ridge_status open_room(scheduler *s)
{
    ridge_arena *scratch = ridge_ctx_scratch(s->cx);
    const size_t n = (size_t)s->k->n;
    s->waits = ridge_new(scratch, int, n);
    s->there_s = ridge_new(scratch, double, n);
    s->maker = ridge_new(scratch, int, n);
    s->is_leading = ridge_new(scratch, bool, n);
    s->ended = ridge_new(scratch, int, n);
    s->later = ridge_new(scratch, int, n);
    s->available = ridge_new(scratch, int, n);
    const bool is_whole = s->waits && s->there_s && s->maker && s->is_leading &&
                          s->ended && s->later && s->available;
    return is_whole ? RIDGE_OK : ridge_fail_nomem(s->cx);
}

ridge_status hlo_schedule_find(ridge_ctx *cx, const hlo_kernels *kernels,
                               const hlo_task *tasks, hlo_slot *slots, double *total_s)
{
    scheduler s = {.cx = cx, .k = kernels, .tasks = tasks, .slots = slots};
    double now_s = 0, last_s = 0;
    int last = -1;
    RIDGE_TRY(open_room(&s));
    RIDGE_TRY(find_edges(&s));
    find_leading(&s);
    for (int k = 0; k < kernels->n; k++)
        s.maker[k] = -1;
    /* what waits for nothing, taken before anything runs: readiness is counted down */
    int *roots = ridge_new(ridge_ctx_scratch(cx), int, (size_t)kernels->n);
    int n_roots = 0;
    if (roots == NULL)
        return ridge_fail_nomem(cx);
    for (int k = 0; k < kernels->n; k++) {
        if (s.waits[k] == 0)
            roots[n_roots++] = k;
    }
    for (int k = 0; k < n_roots; k++)
        become_ready(&s, roots[k]);
    run_all(&s, &now_s);
    for (int k = 0; k < kernels->n; k++) {
        if (slots[k].end_s > last_s) {
            last_s = slots[k].end_s;
            last = k;
        }
    }
    if (last >= 0 && tasks[last].is_async && last_s > now_s)
        slots[last].waited_s += last_s - now_s;
    *total_s = fmax(now_s, last_s);
    return RIDGE_OK;
}
