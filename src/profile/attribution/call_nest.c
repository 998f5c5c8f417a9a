/* One walk over each thread with a stack of open calls. */
#include "call_nest.h"

#include "op_class.h"

#include <string.h>

enum { NEST_MOST = 512 };

static int compare_calls(const void *a, const void *b)
{
    const trace_call *x = a;
    const trace_call *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    const int64_t x_end = trace_call_end(x);
    const int64_t y_end = trace_call_end(y);
    if (x_end != y_end)
        return x_end > y_end ? -1 : 1;
    return x->host_op < y->host_op ? -1 : x->host_op > y->host_op;
}

static int compare_launches(const void *a, const void *b)
{
    const trace_launch *x = a;
    const trace_launch *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->link < y->link ? -1 : x->link > y->link;
}

static int compare_sequences(const void *a, const void *b)
{
    const trace_sequence *x = a;
    const trace_sequence *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* ---- contexts -------------------------------------------------------------------- */

/* "nn.Module: Qwen3DecoderLayer_17": the module's name, its number of its kind. */
static void module_read(trace_store *store, const char *name, trace_context *c)
{
    static const char *const layers[] = {"layer", "block"};
    const char *text = strchr(name, ' ') == NULL ? name : strchr(name, ' ') + 1;
    const char *bar = strrchr(text, '_');
    int64_t number = -1;
    size_t n = strlen(text);
    if (bar != NULL && ridge_parse_i64(ridge_str_of(bar + 1), &number))
        n = (size_t)(bar - text);
    c->module = trace_store_name(store, (ridge_str){text, n});
    const char *module = trace_store_text(store, c->module);
    for (size_t i = 0; number >= 0 && number < UINT32_MAX && i < 2; i++) {
        const size_t word = strlen(layers[i]);
        const size_t all = strlen(module);
        /* At the name's end: LayerNorm_3 is no layer. */
        if (all >= word && op_class_has(module + all - word, layers[i]))
            c->layer = (uint32_t)number + 1;
    }
}

/* What a call adds to the context of what it is within. */
static trace_context context_within(trace_store *store, trace_context c,
                                    uint32_t host_op)
{
    const trace_host_key *key = trace_store_host_key(store, host_op);
    const char *name = trace_store_text(store, key->name);
    switch ((trace_call_kind)key->kind) {
    case TRACE_CALL_OP:
        c.host_op = host_op;
        if (op_class_has(name, "scaled_dot_product") ||
            op_class_has(name, "flash_attention"))
            c.within |= TRACE_WITHIN_ATTENTION;
        break;
    case TRACE_CALL_MODULE:
        module_read(store, name, &c);
        break;
    case TRACE_CALL_SOURCE:
        c.source = key->name;
        break;
    case TRACE_CALL_NOTE:
        if (strncmp(name, "Optimizer.step", 14) == 0)
            c.within |= TRACE_WITHIN_OPTIMIZER;
        break;
    case TRACE_CALL_SYNC:
        break;
    }
    return c;
}

static uint32_t context_number(trace_store *store, const trace_context *c)
{
    const uint32_t n =
        name_table_put(&store->contexts, (ridge_str){(const char *)c, sizeof *c});
    if (n == NAME_NONE)
        store->is_short = true;
    return n;
}

const trace_context *call_nest_context(const trace_store *store, uint32_t context)
{
    static const trace_context none;
    const ridge_str bytes = name_table_get(&store->contexts, context);
    return bytes.n == sizeof none && context > 1 ? (const void *)bytes.p : &none;
}

/* ---- the walk -------------------------------------------------------------------- */

typedef struct open_call {
    int64_t end_ns;
    trace_context context;
    uint32_t number; /* of the context, or 0: not asked yet */
} open_call;

/* Where a forward operation was called; by its number in autograd. */
typedef struct called_in {
    uint32_t module, layer;
} called_in;

typedef struct nesting {
    trace_store *store;
    open_call open[NEST_MOST];
    int n;
    const record_list *sequences; /* of the thread */
    size_t at;                    /* the next of them */
    called_in *forward;           /* from number first on; NULL: not numbered */
    uint32_t first, n_forward;
} nesting;

static void close_before(nesting *s, int64_t at_ns)
{
    while (s->n > 0 && s->open[s->n - 1].end_ns <= at_ns)
        s->n--;
}

/* The number of a call, if autograd gave it one: calls and numbers come in order. */
static const trace_sequence *sequence_of(nesting *s, const trace_call *c)
{
    for (; s->at < s->sequences->n; s->at++) {
        const trace_sequence *q = record_list_at(s->sequences, s->at);
        if (q->start_ns >= c->start_ns)
            return q->start_ns == c->start_ns ? q : NULL;
    }
    return NULL;
}

/* A forward operation leaves where it was called, its backward takes that. */
static void sequence_take(nesting *s, const trace_sequence *q, trace_context *c)
{
    if (q->number < s->first || q->number - s->first >= s->n_forward)
        return;
    called_in *in = &s->forward[q->number - s->first];
    if (!q->is_backward && c->module != 0) {
        *in = (called_in){c->module, c->layer};
    } else if (q->is_backward && c->module == 0) {
        c->module = in->module;
        c->layer = in->layer;
    }
}

static void open_add(nesting *s, const trace_call *c)
{
    close_before(s, c->start_ns);
    if (s->n == NEST_MOST)
        return;
    trace_context context = s->n == 0 ? (trace_context){0} : s->open[s->n - 1].context;
    context = context_within(s->store, context, c->host_op);
    const trace_sequence *q = s->forward == NULL ? NULL : sequence_of(s, c);
    if (q != NULL)
        sequence_take(s, q, &context);
    s->open[s->n++] = (open_call){trace_call_end(c), context, 0};
}

static uint32_t context_of_open(nesting *s)
{
    if (s->n == 0)
        return 0;
    open_call *top = &s->open[s->n - 1];
    if (top->number == 0)
        top->number = context_number(s->store, &top->context);
    return top->number;
}

static void thread_walk(nesting *s, trace_thread *t)
{
    size_t c = 0;
    s->n = 0;
    s->sequences = &t->sequences;
    s->at = 0;
    for (size_t i = 0; i < t->launches.n; i++) {
        trace_launch *l = record_list_at(&t->launches, i);
        for (; c < t->calls.n; c++) {
            const trace_call *call = record_list_at(&t->calls, c);
            if (call->start_ns > l->start_ns)
                break;
            open_add(s, call);
        }
        close_before(s, l->start_ns);
        l->context = context_of_open(s);
    }
}

/* Every call of a thread that numbered forward operations, for where they were called.
 */
static void forward_walk(nesting *s, trace_thread *t)
{
    s->n = 0;
    s->sequences = &t->sequences;
    s->at = 0;
    for (size_t c = 0; c < t->calls.n && t->sequences.n > 0; c++)
        open_add(s, record_list_at(&t->calls, c));
}

/* Room for the numbers, where they lie close enough together. */
static ridge_status forward_prepare(nesting *s)
{
    uint32_t last = 0;
    size_t n = 0;
    s->first = UINT32_MAX;
    for (size_t i = 0; i < s->store->threads.n; i++) {
        const record_list *q = &trace_store_thread_at(s->store, i)->sequences;
        for (size_t k = 0; k < q->n; k++, n++) {
            const trace_sequence *one = record_list_at(q, k);
            s->first = one->number < s->first ? one->number : s->first;
            last = one->number > last ? one->number : last;
        }
    }
    if (n == 0 || last - s->first > 8 * n + 1024)
        return RIDGE_OK;
    s->n_forward = last - s->first + 1;
    s->forward = ridge_new(ridge_ctx_arena(s->store->cx), called_in, s->n_forward);
    return s->forward == NULL ? ridge_fail_nomem(s->store->cx) : RIDGE_OK;
}

static ridge_status threads_walk(nesting *s)
{
    const trace_store *store = s->store;
    RIDGE_TRY(forward_prepare(s));
    for (size_t i = 0; i < store->threads.n; i++) {
        trace_thread *t = trace_store_thread_at(store, i);
        record_list_sort(&t->calls, compare_calls);
        record_list_sort(&t->launches, compare_launches);
        record_list_sort(&t->sequences, compare_sequences);
        if (s->forward != NULL)
            forward_walk(s, t);
    }
    for (size_t i = 0; i < store->threads.n; i++)
        thread_walk(s, trace_store_thread_at(store, i));
    return RIDGE_OK;
}

ridge_status call_nest_build(trace_store *store)
{
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_arena(store->cx));
    nesting *s = ridge_new(ridge_ctx_arena(store->cx), nesting, 1);
    if (s == NULL)
        return ridge_fail_nomem(store->cx);
    s->store = store;
    RIDGE_TRY(threads_walk(s));
    ridge_arena_rewind(ridge_ctx_arena(store->cx), mark);
    return store->is_short ? ridge_fail_nomem(store->cx) : RIDGE_OK;
}

/* ---- what the host did -------------------------------------------------------------
 */

const trace_call *call_nest_at(const trace_store *store, uint32_t thread, int64_t at_ns)
{
    enum { LOOKED_AT = 4096 };
    const record_list *calls = &trace_store_thread_at(store, thread)->calls;
    size_t low = 0;
    size_t high = calls->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const trace_call *c = record_list_at(calls, middle);
        if (c->start_ns <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i-- > 0 && low - i < LOOKED_AT;) {
        const trace_call *c = record_list_at(calls, i);
        if (trace_call_end(c) > at_ns)
            return c;
    }
    return NULL;
}

/* ---- launches by number ------------------------------------------------------------
 */

static uint32_t spread(uint32_t link)
{
    return link * 0x9e3779b1u;
}

static const trace_launch *launch_at(const launch_index *index, uint32_t number,
                                     uint32_t *thread)
{
    uint32_t low = 0;
    uint32_t high = (uint32_t)index->store->threads.n;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (index->first[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    *thread = low;
    return record_list_at(&trace_store_thread_at(index->store, low)->launches,
                          number - index->first[low]);
}

static void index_add(launch_index *index, uint32_t link, uint32_t number)
{
    uint32_t at = spread(link) & index->mask;
    while (index->slots[at] != 0)
        at = (at + 1) & index->mask;
    index->slots[at] = number + 1;
}

ridge_status launch_index_build(trace_store *store, launch_index *out)
{
    launch_index index = {.store = store};
    size_t n = 0;
    uint32_t slots = 16;
    for (size_t i = 0; i < store->threads.n; i++)
        n += trace_store_thread_at(store, i)->launches.n;
    while (slots < n + n / 2 && slots < (uint32_t)1 << 31)
        slots *= 2;
    index.slots = ridge_new(store->arena, uint32_t, slots);
    index.first = ridge_new(store->arena, uint32_t, store->threads.n + 1);
    if (index.slots == NULL || index.first == NULL || n >= slots)
        return ridge_fail_nomem(store->cx);
    index.mask = slots - 1;
    uint32_t number = 0;
    for (size_t i = 0; i < store->threads.n; i++) {
        const record_list *launches = &trace_store_thread_at(store, i)->launches;
        index.first[i] = number;
        for (size_t k = 0; k < launches->n; k++) {
            const trace_launch *l = record_list_at(launches, k);
            index_add(&index, l->link, number++);
        }
    }
    index.first[store->threads.n] = number;
    *out = index;
    return RIDGE_OK;
}

const trace_launch *launch_index_find(const launch_index *index, uint32_t link,
                                      uint32_t *thread)
{
    if (link == 0 || index->store->threads.n == 0)
        return NULL;
    for (uint32_t at = spread(link) & index->mask; index->slots[at] != 0;
         at = (at + 1) & index->mask) {
        const trace_launch *l = launch_at(index, index->slots[at] - 1, thread);
        if (l->link == link)
            return l;
    }
    return NULL;
}
