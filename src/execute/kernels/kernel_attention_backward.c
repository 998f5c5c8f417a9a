/*
 * Attention backward: scores are made again from q, k and the kept logarithms of their
 * sums. Items of work are (sequence, key head, share of the entry blocks): an item owns
 * the gradients of its entries, so that no two workers add to one place. Where a key
 * head is shared out, each share has its own gradient of the queries, and these are
 * added in their order.
 *
 * @source dao2022, dao2023
 */
#include "kernel_attention_tile.h"

#include <math.h>

/** Where things lie in a worker's scratch, in floats. */
typedef struct scratch_plan {
    int64_t q, d_o, d_q, lse, slope, turned_k, k, turned_v, d_k, d_v, scores, d_scores,
        room, total;
} scratch_plan;

typedef struct backward_job {
    const ridge__attention *a;
    ridge__team *team;
    int64_t group;  /* query heads of a key head */
    int64_t h, hv;  /* padded to whole vectors */
    int64_t blocks; /* of entries */
    int64_t shares; /* of a key head's entry blocks: block j is of share j % shares */
    float *d_q;     /* [shares][batch, t, heads, a->h] if there are several */
    scratch_plan plan;
} backward_job;

enum { SHARES_MOST = 16 };

/** One worker's view of its scratch: a query head at work, and an item's entries. */
typedef struct backward_room {
    float *q;                 /* [t][h], scaled */
    float *d_o;               /* [t][hv] */
    float *d_q;               /* [t][h] */
    float *lse;               /* [t], of powers of two */
    float *slope;             /* [t]: d_o . o */
    float *turned_k, *k;      /* [a->h][TILE], [TILE][h] */
    float *turned_v;          /* [a->hv][TILE] */
    float *d_k, *d_v;         /* [blocks of a share][TILE][h], [..][hv] */
    float *scores, *d_scores; /* [TILE][TILE] */
    float *room;
} backward_room;

/** An item with its query head. */
typedef struct work_item {
    int64_t batch, kv_head, share, head;
} work_item;

/** Queries rows.first .. rows.end, of all t, meet columns 0 .. columns of the n entries
 * from first on, whose gradients are d_k and d_v. */
typedef struct strip {
    ridge__part rows;
    int64_t first, n, columns;
    bool is_masked;
    float *d_k, *d_v;
} strip;

/* ---- a strip of queries ---------------------------------------------------------- */

/** Scores become weights, and gradients of weights those of scores. */
static void row_slopes(float *p, float *dp, int64_t n, float lse, float slope)
{
    const vec under = vec_set(lse), less = vec_set(slope);
    for (int64_t c = 0; c < n; c += LANES) {
        const vec weight = vec_exp2_below(vec_load(p + c) - under);
        vec_store(p + c, weight);
        vec_store(dp + c, weight * (vec_load(dp + c) - less));
    }
}

static void strip_slopes(const backward_job *job, const backward_room *w,
                         const strip *s)
{
    for (int64_t r = 0; r < s->rows.end - s->rows.first; r++) {
        const int64_t i = s->rows.first + r;
        float *p = w->scores + r * TILE;
        if (s->is_masked)
            row_mask(p, entries_met(job->a, i), s->first, s->columns, -INFINITY);
        row_slopes(p, w->d_scores + r * TILE, s->columns, w->lse[i], w->slope[i]);
    }
}

/** Rows [t][ld] of queries beside entries laid out in columns [k][TILE]. */
typedef struct facing {
    const float *rows;
    int64_t ld, k;
    const float *turned;
} facing;

/** Scores, or the gradients of the weights: out = rows turned, of the strip. */
static void strip_scores(const strip *s, facing f, float *out)
{
    product_run((tile_product){.a = f.rows + s->rows.first * f.ld,
                               .b = f.turned,
                               .c = out,
                               .a_row = f.ld,
                               .a_column = 1,
                               .ldb = TILE,
                               .ldc = TILE,
                               .m = s->rows.end - s->rows.first,
                               .n = s->columns,
                               .k = f.k});
}

/** An entry's gradient: out [columns, n] += p^T rows, rows of n floats from queries. */
static void strip_entries(const strip *s, const float *p, const float *rows, int64_t n,
                          float *out)
{
    product_run((tile_product){.a = p,
                               .b = rows + s->rows.first * n,
                               .c = out,
                               .a_row = 1,
                               .a_column = TILE,
                               .ldb = n,
                               .ldc = n,
                               .m = s->columns,
                               .n = n,
                               .k = s->rows.end - s->rows.first,
                               .is_added = true});
}

static void strip_run(const backward_job *job, const backward_room *w, const strip *s)
{
    const ridge__attention *a = job->a;
    strip_scores(s, (facing){w->q, job->h, a->h, w->turned_k}, w->scores);
    strip_scores(s, (facing){w->d_o, job->hv, a->hv, w->turned_v}, w->d_scores);
    strip_slopes(job, w, s);
    strip_entries(s, w->scores, w->d_o, job->hv, s->d_v);
    strip_entries(s, w->d_scores, w->q, job->h, s->d_k);
    product_run((tile_product){.a = w->d_scores,
                               .b = w->k,
                               .c = w->d_q + s->rows.first * job->h,
                               .a_row = TILE,
                               .a_column = 1,
                               .ldb = job->h,
                               .ldc = job->h,
                               .m = s->rows.end - s->rows.first,
                               .n = job->h,
                               .k = least(s->columns, s->n),
                               .is_added = true});
}

/** A block of queries from `first` on meets the entries of s. */
static void block_meet(const backward_job *job, const backward_room *w, int64_t first,
                       strip s)
{
    const ridge__attention *a = job->a;
    const int64_t end = least(a->t, first + TILE);
    const ridge__part low = entries_met(a, first), high = entries_met(a, end - 1);
    if (high.end <= s.first || low.first >= s.first + s.n)
        return;
    s.is_masked = low.end < s.first + TILE || high.first > s.first;
    for (int64_t i = first; i < end; i = s.rows.end) {
        s.rows = (ridge__part){i, s.is_masked ? least(end, i + STRIP) : end};
        const int64_t met = entries_met(a, s.rows.end - 1).end - s.first;
        s.columns = round_up(most(0, least(TILE, met)), LANES);
        if (s.columns > 0)
            strip_run(job, w, &s);
    }
}

/* ---- a query head ---------------------------------------------------------------- */

static void head_begin(const backward_job *job, const backward_room *w,
                       const work_item *item)
{
    const ridge__attention *a = job->a;
    const int64_t row = query_row(a, item->batch, 0, item->head);
    const block_rows q = {a->q, row * a->h, a->heads * a->h, a->t, a->h};
    const block_rows d_o = {a->d_o, row * a->hv, a->heads * a->hv, a->t, a->hv};
    block_copy(&q, a->scale * LOG2_E, job->h, w->q);
    block_copy(&d_o, 1.0f, job->hv, w->d_o);
    memset(w->d_q, 0, (size_t)(a->t * job->h) * sizeof *w->d_q);
    for (int64_t i = 0; i < a->t; i++) {
        const int64_t at = row + i * a->heads;
        const float *o = row_read(a->o, at * a->hv, a->hv, w->room);
        w->slope[i] = row_dot(o, w->d_o + i * job->hv, a->hv);
        w->lse[i] = a->lse[at] == -INFINITY ? 0.0f : a->lse[at] * LOG2_E;
    }
}

static void entries_begin(const backward_job *job, const backward_room *w,
                          const work_item *item, const strip *s)
{
    const ridge__attention *a = job->a;
    const int64_t row = entry_row(a, item->batch, s->first, item->kv_head);
    const block_rows k = {a->k, row * a->h, a->kv_heads * a->h, s->n, a->h};
    const block_rows v = {a->v, row * a->hv, a->kv_heads * a->hv, s->n, a->hv};
    block_turn(&k, w->room, w->turned_k);
    block_copy(&k, 1.0f, job->h, w->k);
    block_turn(&v, w->room, w->turned_v);
}

/** y[first ..] = by x, n elements, or added to it; x is consumed. */
static void row_give(ridge__array y, bool is_added, float *x, float by, int64_t n)
{
    row_scale(x, x, by, n);
    RIDGE__KERNEL(convert)((ridge__array){x, RIDGE_DTYPE_FP32}, y, n, is_added);
}

static void head_end(const backward_job *job, const backward_room *w,
                     const work_item *item)
{
    const ridge__attention *a = job->a;
    for (int64_t i = 0; i < a->t; i++) {
        const int64_t at = query_row(a, item->batch, i, item->head) * a->h;
        float *d_q = w->d_q + i * job->h;
        if (job->shares == 1)
            row_give(ridge__array_at(a->d_q, at), a->is_added, d_q, a->scale, a->h);
        else
            row_scale(job->d_q + item->share * a->batch * a->t * a->heads * a->h + at,
                      d_q, a->scale, a->h);
    }
}

static void head_run(const backward_job *job, const backward_room *w,
                     const work_item *item)
{
    const ridge__attention *a = job->a;
    head_begin(job, w, item);
    for (int64_t j = item->share, n = 0; j < job->blocks; j += job->shares, n++) {
        strip s = {.first = j * TILE,
                   .d_k = w->d_k + n * TILE * job->h,
                   .d_v = w->d_v + n * TILE * job->hv};
        s.n = least(TILE, a->s - s.first);
        entries_begin(job, w, item, &s);
        for (int64_t i = 0; i < a->t; i += TILE)
            block_meet(job, w, i, s);
    }
    head_end(job, w, item);
}

/* ---- items ----------------------------------------------------------------------- */

static int64_t blocks_of_share(const backward_job *job)
{
    return (job->blocks + job->shares - 1) / job->shares;
}

static void item_run(const backward_job *job, const backward_room *w, work_item item)
{
    const ridge__attention *a = job->a;
    const int64_t rows = blocks_of_share(job) * TILE;
    memset(w->d_k, 0, (size_t)(rows * job->h) * sizeof *w->d_k);
    memset(w->d_v, 0, (size_t)(rows * job->hv) * sizeof *w->d_v);
    for (int64_t g = 0; g < job->group; g++) {
        item.head = item.kv_head * job->group + g;
        head_run(job, w, &item);
    }
    for (int64_t j = 0; j < a->s; j++) {
        const int64_t block = j / TILE;
        if (block % job->shares != item.share)
            continue;
        const int64_t at = block / job->shares * TILE + j % TILE;
        const int64_t row = entry_row(a, item.batch, j, item.kv_head);
        row_give(ridge__array_at(a->d_k, row * a->h), a->is_added, w->d_k + at * job->h,
                 LN_2, a->h);
        row_give(ridge__array_at(a->d_v, row * a->hv), a->is_added,
                 w->d_v + at * job->hv, 1.0f, a->hv);
    }
}

static void backward_part(void *payload, int worker, int workers)
{
    const backward_job *job = payload;
    const ridge__attention *a = job->a;
    float *base = ridge__team_scratch(job->team, worker);
    const scratch_plan *p = &job->plan;
    const backward_room w = {.q = base + p->q,
                             .d_o = base + p->d_o,
                             .d_q = base + p->d_q,
                             .lse = base + p->lse,
                             .slope = base + p->slope,
                             .turned_k = base + p->turned_k,
                             .k = base + p->k,
                             .turned_v = base + p->turned_v,
                             .d_k = base + p->d_k,
                             .d_v = base + p->d_v,
                             .scores = base + p->scores,
                             .d_scores = base + p->d_scores,
                             .room = base + p->room};
    const ridge__part items =
        ridge__part_of(a->batch * a->kv_heads * job->shares, 1, worker, workers);
    for (int64_t i = items.first; i < items.end; i++) {
        const int64_t head = i / job->shares;
        item_run(job, &w,
                 (work_item){.batch = head / a->kv_heads,
                             .kv_head = head % a->kv_heads,
                             .share = i % job->shares});
    }
}

/** d_q from its shares. */
static void shares_part(void *payload, int worker, int workers)
{
    const backward_job *job = payload;
    const ridge__attention *a = job->a;
    const int64_t all = a->batch * a->t * a->heads * a->h;
    const ridge__part part = ridge__part_of(all, LINE, worker, workers);
    for (int64_t i = part.first; i < part.end; i += ROW) {
        const int64_t n = least(ROW, part.end - i);
        for (int64_t share = 1; share < job->shares; share++)
            row_add(job->d_q + i, job->d_q + share * all + i, 1.0f, n);
        RIDGE__KERNEL(convert)
        ((ridge__array){job->d_q + i, RIDGE_DTYPE_FP32}, ridge__array_at(a->d_q, i), n,
         a->is_added);
    }
}

/* ---- planning -------------------------------------------------------------------- */

static int64_t take(int64_t *total, int64_t floats)
{
    const int64_t at = *total;
    *total += round_up(floats, LINE);
    return at;
}

static scratch_plan plan_of(const backward_job *job)
{
    const ridge__attention *a = job->a;
    const int64_t rows = blocks_of_share(job) * TILE;
    scratch_plan p = {.total = 0};
    p.q = take(&p.total, a->t * job->h);
    p.d_o = take(&p.total, a->t * job->hv);
    p.d_q = take(&p.total, a->t * job->h);
    p.lse = take(&p.total, a->t);
    p.slope = take(&p.total, a->t);
    p.turned_k = take(&p.total, a->h * TILE);
    p.k = take(&p.total, TILE * job->h);
    p.turned_v = take(&p.total, a->hv * TILE);
    p.d_k = take(&p.total, rows * job->h);
    p.d_v = take(&p.total, rows * job->hv);
    p.scores = take(&p.total, TILE * TILE);
    p.d_scores = take(&p.total, TILE * TILE);
    p.room = take(&p.total, 4 * most(a->h, a->hv));
    return p;
}

/** The fewest shares of a key head that keep 9 of 10 workers busy. */
static int64_t shares_for(const backward_job *job)
{
    const int64_t workers = ridge__team_workers(job->team);
    int64_t shares = 1;
    for (; shares < least(job->blocks, SHARES_MOST); shares++) {
        const int64_t items = job->a->batch * job->a->kv_heads * shares;
        if (10 * items >= 9 * round_up(items, workers))
            break;
    }
    return shares;
}

ridge_status RIDGE__KERNEL(attention_backward)(ridge__device *d,
                                               const ridge__attention *what)
{
    ridge__attention a = *what;
    a.stride_s = a.s;
    if (a.batch <= 0 || a.heads <= 0)
        return RIDGE_OK;
    if (is_apart(&a))
        return each_sequence(d, &a, RIDGE__KERNEL(attention_backward));
    backward_job job = {.a = &a, .team = ridge__cpu_of(d)->team};
    job.group = a.heads / a.kv_heads;
    job.h = round_up(a.h, LANES);
    job.hv = round_up(a.hv, LANES);
    job.blocks = (a.s + TILE - 1) / TILE;
    job.shares = shares_for(&job);
    job.plan = plan_of(&job);
    RIDGE_TRY(
        ridge__team_reserve(job.team, d->cx, (size_t)job.plan.total * sizeof(float)));
    const int64_t shared = job.shares * a.batch * a.t * a.heads * a.h;
    if (job.shares > 1) {
        RIDGE_TRY(ridge__team_reserve_shared(job.team, d->cx,
                                             (size_t)shared * sizeof(float)));
        job.d_q = ridge__team_shared(job.team);
    }
    const int64_t work = a.batch * a.heads * a.t * a.s;
    work_share(d, backward_part, &job, work);
    if (job.shares > 1)
        work_share(d, shares_part, &job, work);
    return RIDGE_OK;
}
