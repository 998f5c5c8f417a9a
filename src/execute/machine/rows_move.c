/*
 * Rows of experts between ranks. An all-to-all over E is a ragged exchange: an owner
 * gets the rows of its experts. A gather over C gives each rank the rows of all; its
 * reverse adds up what they made of them. Who has how many is found with the first move
 * of a dispatch; all later ones of the microbatch, forward and backward, go by it.
 */
#include "host_memory.h"
#include "machine.h"

#include <string.h>

/* ---- layouts -----------------------------------------------------------------------
 */

static bool axes_equal(const ridge_dim_axes *a, const ridge_dim_axes *b)
{
    return a->n == b->n && memcmp(a->axes, b->axes, (size_t)a->n * sizeof(int)) == 0;
}

static int layout_find(const ridge__call *c, int tensor)
{
    const ridge_sharding *s = &c->m->partition->shardings[tensor];
    const ridge__routing *r = c->side->routing;
    for (int i = 0; i < r->n_layouts; i++) {
        if (axes_equal(&r->layouts[i].experts, &s->dims[0]) &&
            axes_equal(&r->layouts[i].places, &s->dims[1]))
            return i;
    }
    return -1;
}

bool ridge__rows_are_alike(const ridge__call *c, int a, int b)
{
    const ridge_sharding *x = &c->m->partition->shardings[a];
    const ridge_sharding *y = &c->m->partition->shardings[b];
    return axes_equal(&x->dims[0], &y->dims[0]) && axes_equal(&x->dims[1], &y->dims[1]);
}

const int64_t *ridge__rows_offsets(const ridge__call *c, int tensor, int *groups)
{
    const int at = layout_find(c, tensor);
    const ridge__rows_layout *l = &c->side->routing->layouts[at < 0 ? 0 : at];
    *groups = (int)l->n;
    return l->offsets;
}

ridge_status ridge__rows_layout_add(ridge__call *c, int tensor, int *out)
{
    ridge__routing *r = c->side->routing;
    const ridge_sharding *s = &c->m->partition->shardings[tensor];
    if (r->n_layouts == RIDGE__ROWS_LAYOUTS)
        return ridge_fail(c->m->cx, RIDGE_E_ARG,
                          "%s: rows of experts lie in more than %d ways", c->op->name,
                          RIDGE__ROWS_LAYOUTS);
    ridge__rows_layout l = {.experts = s->dims[0],
                            .places = s->dims[1],
                            .n = c->m->parts[tensor].spans[0].length};
    l.offsets = ridge__host_new((size_t)l.n + 1, sizeof *l.offsets);
    if (l.offsets == NULL)
        return ridge_fail_nomem(c->m->cx);
    *out = r->n_layouts;
    r->layouts[r->n_layouts++] = l;
    return RIDGE_OK;
}

/* ---- opening a move ----------------------------------------------------------------
 */

typedef struct counting {
    ridge__call *c;
    ridge_comm *group;
    ridge__rows_move *move;
    const ridge__rows_layout *from;
    ridge__rows_layout *to;
    int32_t *out, *in; /* host, [ranks, experts of to]: rows for and from each rank */
} counting;

/* Rows of an expert of the source; those beyond its last are none. */
static int32_t rows_of(const ridge__rows_layout *l, int64_t expert)
{
    return expert < l->n ? (int32_t)(l->offsets[expert + 1] - l->offsets[expert]) : 0;
}

/* Own counts to the others, through the device's memory, where collectives work. */
static ridge_status exchange_counts(counting *k)
{
    ridge__device *d = k->c->m->device;
    const size_t n = (size_t)k->move->ranks * (size_t)k->to->n;
    const size_t bytes = n * sizeof(int32_t);
    ridge_pending pending;
    void *src, *dst;
    RIDGE_TRY(d->ops->alloc(d, bytes, &src));
    RIDGE_TRY(d->ops->alloc(d, bytes, &dst));
    RIDGE_TRY(d->ops->upload(d, src, k->out, bytes));
    RIDGE_TRY(d->ops->finish(d));
    RIDGE_TRY(ridge_all_to_all_start(k->c->m->cx, k->group, RIDGE_ELEMENT_I32, k->to->n,
                                     src, dst, &pending));
    RIDGE_TRY(ridge_comm_wait(k->c->m->cx, &pending));
    RIDGE_TRY(d->ops->download(d, k->in, dst, bytes));
    d->ops->release(d, src);
    d->ops->release(d, dst);
    return RIDGE_OK;
}

static void count_rows(const counting *k)
{
    ridge__rows_move *m = k->move;
    const int64_t n = k->to->n;
    for (int rank = 0; rank < m->ranks; rank++) {
        for (int64_t e = 0; e < n; e++) {
            m->send[rank] += k->out[rank * n + e];
            m->receive[rank] += k->in[rank * n + e];
            k->to->offsets[e + 1] += k->in[rank * n + e];
        }
    }
    for (int64_t e = 0; e < n; e++)
        k->to->offsets[e + 1] += k->to->offsets[e];
}

static ridge_status upload_order(ridge__call *c, const int32_t *from, int64_t n,
                                 int32_t **out)
{
    void *p;
    ridge__device *d = c->m->device;
    RIDGE_TRY(d->ops->alloc(d, (size_t)n * sizeof(int32_t), &p));
    *out = p;
    return d->ops->upload(d, p, from, (size_t)n * sizeof(int32_t));
}

/* Rows arrive by rank, then by expert; they are wanted by expert, then by rank. */
static void order_rows(const counting *k, int32_t *order, int32_t *back)
{
    const int64_t n = k->to->n;
    int32_t from = 0;
    for (int rank = 0; rank < k->move->ranks; rank++) {
        for (int64_t e = 0; e < n; e++) {
            int64_t to = k->to->offsets[e];
            for (int before = 0; before < rank; before++)
                to += k->in[before * n + e];
            for (int32_t i = 0; i < k->in[rank * n + e]; i++, to++, from++) {
                order[to] = from;
                back[from] = (int32_t)to;
            }
        }
    }
}

static ridge_status sort_arrivals(counting *k)
{
    const int64_t total = k->to->offsets[k->to->n];
    int32_t *order = ridge__host_new((size_t)(2 * total), sizeof *order);
    if (order == NULL)
        return ridge_fail_nomem(k->c->m->cx);
    order_rows(k, order, order + total);
    ridge_status st = upload_order(k->c, order, total, &k->move->arrival);
    st = st == RIDGE_OK ? upload_order(k->c, order + total, total, &k->move->resort)
                        : st;
    ridge__host_free(order);
    return st;
}

static ridge_status count_move(counting *k)
{
    const bool is_gather = k->move->kind == RIDGE_STEP_ALL_GATHER;
    const int64_t n = k->to->n;
    for (int rank = 0; rank < k->move->ranks; rank++) {
        for (int64_t e = 0; e < n; e++)
            k->out[rank * n + e] = rows_of(k->from, is_gather ? e : rank * n + e);
    }
    RIDGE_TRY(exchange_counts(k));
    count_rows(k);
    return sort_arrivals(k);
}

static ridge_status move_open(ridge__call *c, int from, int to, ridge__rows_move **out)
{
    ridge__routing *r = c->side->routing;
    ridge_comm *group = c->m->groups[c->at->op];
    ridge__rows_move *m = &r->moves[r->n_moves++];
    const size_t ranks = (size_t)ridge_comm_size(group);
    const size_t n = ranks * (size_t)r->layouts[to].n;
    *m = (ridge__rows_move){.from = from,
                            .to = to,
                            .kind = (ridge_step_kind)c->op->collective,
                            .axis = c->op->n_axes == 1 ? c->op->axes[0] : -1,
                            .ranks = (int)ranks,
                            .send = ridge__host_new(ranks, sizeof(int32_t)),
                            .receive = ridge__host_new(ranks, sizeof(int32_t))};
    int32_t *counts = ridge__host_new(2 * n, sizeof *counts);
    counting k = {.c = c,
                  .group = group,
                  .move = m,
                  .from = &r->layouts[from],
                  .to = &r->layouts[to],
                  .out = counts,
                  .in = counts + n};
    const bool is_short = !counts || !m->send || !m->receive;
    const ridge_status st = is_short ? ridge_fail_nomem(c->m->cx) : count_move(&k);
    ridge__host_free(counts);
    *out = m;
    return st;
}

/* The move between two layouts, forward or back; found or opened. */
static ridge_status move_find(ridge__call *c, ridge__rows_move **out, bool *is_back)
{
    ridge__routing *r = c->side->routing;
    const int from = layout_find(c, c->op->inputs[0]);
    int to = layout_find(c, c->op->outputs[0]);
    for (int i = 0; i < r->n_moves && to >= 0; i++) {
        *is_back = r->moves[i].to == from && r->moves[i].from == to;
        *out = &r->moves[i];
        if (*is_back || (r->moves[i].from == from && r->moves[i].to == to))
            return RIDGE_OK;
    }
    const bool is_outward = c->op->code == RIDGE_OPCODE_COLLECTIVE &&
                            (c->op->collective == RIDGE_STEP_ALL_TO_ALL ||
                             c->op->collective == RIDGE_STEP_ALL_GATHER);
    if (!is_outward || to >= 0 || r->n_moves == RIDGE__ROWS_LAYOUTS)
        return ridge_fail(c->m->cx, RIDGE_E_ARG,
                          "%s moves rows of experts in a way that cannot be run",
                          c->op->name);
    RIDGE_TRY(ridge__rows_layout_add(c, c->op->outputs[0], &to));
    *is_back = false;
    return move_open(c, from, to, out);
}

/* ---- moving ------------------------------------------------------------------------
 */

typedef struct moving {
    ridge__call *c;
    const ridge__rows_move *move;
    ridge_comm *group;
    ridge__array x, y;
    int64_t d, total; /* elements of a row; rows of the outer layout */
} moving;

/* rows[i] = x[order[i]] */
static ridge_status reorder(const moving *v, int64_t n, const int32_t *order,
                            ridge__array x, ridge__array rows)
{
    const int64_t offsets[] = {0, n};
    const ridge__experts e = {.tokens = v->total,
                              .d = v->d,
                              .all_experts = 1,
                              .experts = 1,
                              .offsets = offsets,
                              .token = order,
                              .x = x,
                              .rows = rows};
    return v->c->m->device->ops->dispatch(v->c->m->device, &e);
}

static ridge_status exchange(const moving *v, bool is_back, ridge__array src,
                             ridge__array dst)
{
    const ridge__rows_move *m = v->move;
    ridge_pending pending;
    RIDGE_TRY(v->c->m->device->ops->finish(v->c->m->device));
    RIDGE_TRY(ridge_all_to_all_ragged_start(
        v->c->m->cx, v->group, ridge__element_of(src.dtype), v->d,
        is_back ? m->receive : m->send, is_back ? m->send : m->receive, src.p, dst.p,
        &pending));
    return ridge_comm_wait(v->c->m->cx, &pending);
}

/* Each rank's rows to all, one broadcast a rank. */
static ridge_status gather(const moving *v, ridge__array src, ridge__array dst)
{
    const int64_t bytes = (int64_t)ridge_dtype_bytes(dst.dtype);
    ridge_pending pending[RIDGE_PENDING_MAX];
    char *to = dst.p;
    if (v->move->ranks > RIDGE_PENDING_MAX)
        return ridge_fail(v->c->m->cx, RIDGE_E_ARG,
                          "rows of experts of more than %d ranks are gathered",
                          RIDGE_PENDING_MAX);
    RIDGE_TRY(v->c->m->device->ops->finish(v->c->m->device));
    for (int r = 0; r < v->move->ranks; r++) {
        const int64_t n = v->move->receive[r] * v->d;
        RIDGE_TRY(ridge_broadcast_start(v->c->m->cx, v->group,
                                        ridge__element_of(src.dtype), n, r, src.p, to,
                                        &pending[r]));
        to += n * bytes;
    }
    for (int r = 0; r < v->move->ranks; r++)
        RIDGE_TRY(ridge_comm_wait(v->c->m->cx, &pending[r]));
    return RIDGE_OK;
}

static ridge_status move_out(const moving *v, ridge__array arrived)
{
    RIDGE_TRY(v->move->kind == RIDGE_STEP_ALL_GATHER
                  ? gather(v, v->x, arrived)
                  : exchange(v, false, v->x, arrived));
    return reorder(v, v->total, v->move->arrival, arrived, v->y);
}

/* What all ranks made of this rank's rows, added up. */
static ridge_status scatter_sum(const moving *v, ridge__array sorted)
{
    const int me = ridge_comm_rank(v->group), ranks = v->move->ranks;
    const int64_t own = v->move->receive[me];
    int32_t *same = ridge__host_new((size_t)ranks, sizeof *same);
    ridge__array parts;
    if (same == NULL)
        return ridge_fail_nomem(v->c->m->cx);
    for (int r = 0; r < ranks; r++)
        same[r] = (int32_t)own;
    ridge_status st = ridge__scratch_take(v->c, ranks * own * v->d, v->x.dtype, &parts);
    ridge_pending pending;
    if (st == RIDGE_OK)
        st = ridge_all_to_all_ragged_start(
            v->c->m->cx, v->group, ridge__element_of(v->x.dtype), v->d,
            v->move->receive, same, sorted.p, parts.p, &pending);
    st = st == RIDGE_OK ? ridge_comm_wait(v->c->m->cx, &pending) : st;
    ridge__host_free(same);
    RIDGE_TRY(st);
    const ridge__sum sum = {
        .outer = 1, .middle = ranks, .inner = own * v->d, .x = parts, .y = v->y};
    st = v->c->m->device->ops->sum(v->c->m->device, &sum);
    ridge__scratch_give(v->c, &parts);
    return st;
}

/* Where the rows of this rank begin among those that have arrived. */
static int64_t own_first(const moving *v)
{
    int64_t first = 0;
    for (int r = 0; r < ridge_comm_rank(v->group); r++)
        first += v->move->receive[r];
    return first;
}

static ridge_status move_back(const moving *v, ridge__array sorted)
{
    RIDGE_TRY(reorder(v, v->total, v->move->resort, v->x, sorted));
    RIDGE_TRY(v->c->m->device->ops->finish(v->c->m->device));
    return v->move->kind == RIDGE_STEP_ALL_GATHER ? scatter_sum(v, sorted)
                                                  : exchange(v, true, sorted, v->y);
}

static moving moving_of(ridge__call *c, const ridge__rows_move *m)
{
    const ridge__rows_layout *outer = &c->side->routing->layouts[m->to];
    return (moving){.c = c,
                    .move = m,
                    .group = c->m->groups[c->at->op],
                    .x = ridge__in_array(c, 0),
                    .y = ridge__out_array(c, 0),
                    .d = ridge__in_part(c, 0)->elements,
                    .total = outer->offsets[outer->n]};
}

/* A slice keeps this rank's rows of those that all have. */
static ridge_status slice(ridge__call *c, const ridge__rows_move *m)
{
    moving v = moving_of(c, m);
    if (m->axis < 0)
        return ridge_fail(c->m->cx, RIDGE_E_ARG,
                          "%s slices rows of experts over several axes at once",
                          c->op->name);
    v.group = c->m->axis_groups[m->axis];
    const int64_t first = own_first(&v);
    return reorder(&v, m->receive[ridge_comm_rank(v.group)], m->resort + first, v.x,
                   v.y);
}

ridge_status ridge__call_rows_move(ridge__call *c)
{
    ridge__rows_move *m = NULL;
    ridge__array between;
    bool is_back = false;
    RIDGE_TRY(move_find(c, &m, &is_back));
    RIDGE_TRY(ridge__rows_make(c, 0));
    if (c->op->code != RIDGE_OPCODE_COLLECTIVE)
        return slice(c, m);
    const moving v = moving_of(c, m);
    RIDGE_TRY(ridge__scratch_take(c, v.total * v.d, v.x.dtype, &between));
    const ridge_status st = is_back ? move_back(&v, between) : move_out(&v, between);
    ridge__scratch_give(c, &between);
    return st;
}

/* Rows of experts have a size only once tokens have been routed. */
ridge_status ridge__rows_make(ridge__call *c, int output)
{
    ridge__value *v = c->out[output];
    const int tensor = c->op->outputs[output];
    int groups;
    if (v->p != NULL)
        return RIDGE_OK;
    ridge__value made = {.dtype = ridge__tensor_format(c->m, tensor)};
    made.elements =
        c->m->parts[tensor].elements * ridge__rows_offsets(c, tensor, &groups)[groups];
    RIDGE_TRY(c->m->device->ops->alloc(
        c->m->device, (size_t)made.elements * (size_t)ridge_dtype_bytes(made.dtype),
        &made.p));
    *v = made;
    return RIDGE_OK;
}

int ridge__call_sizes(const ridge__call *c, bool is_output, int index, int64_t *sizes)
{
    const int tensor = is_output ? c->op->outputs[index] : c->op->inputs[index];
    const ridge__tensor_part *part = &c->m->parts[tensor];
    int n = 0, groups;
    if (part->is_rows)
        sizes[n++] = ridge__rows_offsets(c, tensor, &groups)[groups];
    for (int i = part->is_rows ? 2 : 0; i < part->n_dims; i++)
        sizes[n++] = part->spans[i].length;
    return n;
}
