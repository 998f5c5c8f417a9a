/*
 * Attention forward, without its scores in memory: a block of queries goes over the
 * blocks of entries that it meets and keeps a running softmax. Items of work are
 * (sequence, key head, query head, block of queries), so that a worker that has laid
 * out an entry block finds it again for its next queries.
 *
 * @source dao2022, dao2023, milakov2018
 */
#include "kernel_attention_tile.h"

#include <math.h>

/** Where things lie in a worker's scratch, in floats. */
typedef struct scratch_plan {
    int64_t q, scores, o, tops, bases, worths, sums, room, tags, turned, values, total;
} scratch_plan;

typedef struct forward_job {
    const ridge__attention *a;
    ridge__team *team;
    int64_t group;  /* query heads of a key head */
    int64_t hv;     /* padded to whole vectors */
    int64_t blocks; /* of queries, of a head */
    int64_t cost;   /* of a head: entry blocks that its query blocks meet, and some */
    int64_t slots;  /* entry blocks that stay laid out */
    scratch_plan plan;
} forward_job;

enum { SLOT_BYTES_MOST = 32 << 20 }; /* of all slots of a worker */

/** One worker's view of its scratch. */
typedef struct forward_room {
    float *q;      /* [TILE][h], scaled */
    float *scores; /* [TILE][TILE] */
    float *o;      /* [TILE][hv], not yet divided */
    float *tops;   /* [TILE] */
    float *bases;  /* [TILE]: the tops, 0 for minus infinity */
    float *worths; /* [TILE]: what the sums before are worth under the tops */
    float *sums;   /* [TILE][LANES] */
    float *room;   /* [4][h] */
    float *tags;   /* [slots] int64: which entry block lies there, + 1 */
    float *turned; /* [slots][h][TILE] */
    float *values; /* [slots][TILE][hv] */
} forward_room;

/** A block of queries at work. */
typedef struct query_block {
    int64_t batch, head, first, n;
} query_block;

/** A block of entries, laid out. */
typedef struct entry_block {
    int64_t first, n;
    const float *turned, *values;
} entry_block;

/* ---- entries laid out ------------------------------------------------------------ */

static int64_t *tag_of(const forward_room *w, int64_t slot)
{
    return (int64_t *)(void *)w->tags + slot;
}

static entry_block entry_block_get(const forward_job *job, const forward_room *w,
                                   const query_block *q, int64_t index)
{
    const ridge__attention *a = job->a;
    const int64_t head = q->head / job->group, slot = index % job->slots;
    const int64_t all = (a->s + TILE - 1) / TILE;
    float *turned = w->turned + slot * a->h * TILE;
    float *values = w->values + slot * TILE * job->hv;
    entry_block e = {.first = index * TILE, .turned = turned, .values = values};
    e.n = least(TILE, a->s - e.first);
    const int64_t tag = (q->batch * a->kv_heads + head) * all + index + 1;
    if (*tag_of(w, slot) == tag)
        return e;
    *tag_of(w, slot) = tag;
    const int64_t row = entry_row(a, q->batch, e.first, head);
    const block_rows keys = {a->k, row * a->h, a->kv_heads * a->h, e.n, a->h};
    const block_rows held = {a->v, row * a->hv, a->kv_heads * a->hv, e.n, a->hv};
    block_turn(&keys, w->room, turned);
    block_copy(&held, 1.0f, job->hv, values);
    return e;
}

/* ---- a block of queries ---------------------------------------------------------- */

static void block_begin(const forward_job *job, const forward_room *w,
                        const query_block *q)
{
    const ridge__attention *a = job->a;
    const block_rows rows = {a->q, query_row(a, q->batch, q->first, q->head) * a->h,
                             a->heads * a->h, q->n, a->h};
    block_copy(&rows, a->scale * LOG2_E, a->h, w->q);
    memset(w->o, 0, (size_t)(TILE * job->hv) * sizeof *w->o);
    memset(w->sums, 0, (size_t)(TILE * LANES) * sizeof *w->sums);
    for (int i = 0; i < TILE; i++)
        w->tops[i] = -INFINITY;
}

/** The greatest score so far of each query, and what its sums are worth under it. */
static void rows_top(const forward_room *w, ridge__part rows, int64_t columns)
{
    float before[TILE + LANES];
    for (int64_t r = rows.first; r < rows.end; r++) {
        const float *scores = w->scores + r * TILE;
        vec best = vec_load(scores);
        for (int64_t c = LANES; c < columns; c += LANES)
            best = vec_max(vec_load(scores + c), best);
        before[r] = w->tops[r];
        const float after = vec_top(best);
        w->tops[r] = after > before[r] ? after : before[r];
    }
    for (int64_t r = rows.first; r < rows.end; r += LANES) {
        const int64_t n = least(LANES, rows.end - r);
        const vec top = vec_load_n(w->tops + r, n), none = vec_set(-INFINITY);
        const vec base = vec_choose(none, top, top, vec_zero());
        vec_store_n(w->bases + r, base, n);
        vec_store_n(w->worths + r, vec_exp2_below(vec_load_n(before + r, n) - base), n);
    }
}

/** Scores of one query become powers of two under the greatest so far. */
static void row_softmax(const forward_job *job, const forward_room *w, int64_t r,
                        int64_t columns)
{
    float *scores = w->scores + r * TILE;
    const vec base = vec_set(w->bases[r]);
    vec sum = vec_load(w->sums + r * LANES) * vec_set(w->worths[r]);
    for (int64_t c = 0; c < columns; c += LANES) {
        const vec p = vec_exp2_below(vec_load(scores + c) - base);
        vec_store(scores + c, p);
        sum += p;
    }
    vec_store(w->sums + r * LANES, sum);
    if (w->worths[r] < 1.0f)
        row_scale(w->o + r * job->hv, w->o + r * job->hv, w->worths[r], job->hv);
}

/** Queries first .. end of the block meet columns 0 .. columns of the entries. */
static void strip_run(const forward_job *job, const forward_room *w,
                      const entry_block *e, ridge__part rows, int64_t columns)
{
    const int64_t i = rows.first, n = rows.end - rows.first;
    rows_top(w, rows, columns);
    for (int64_t r = i; r < rows.end; r++)
        row_softmax(job, w, r, columns);
    product_run((tile_product){.a = w->scores + i * TILE,
                               .b = e->values,
                               .c = w->o + i * job->hv,
                               .a_row = TILE,
                               .a_column = 1,
                               .ldb = job->hv,
                               .ldc = job->hv,
                               .m = n,
                               .n = job->hv,
                               .k = least(columns, e->n),
                               .is_added = true});
}

static void scores_of(const forward_job *job, const forward_room *w,
                      const entry_block *e, ridge__part rows, int64_t columns)
{
    const int64_t h = job->a->h;
    product_run((tile_product){.a = w->q + rows.first * h,
                               .b = e->turned,
                               .c = w->scores + rows.first * TILE,
                               .a_row = h,
                               .a_column = 1,
                               .ldb = TILE,
                               .ldc = TILE,
                               .m = rows.end - rows.first,
                               .n = columns,
                               .k = h});
}

static bool is_met_whole(const ridge__attention *a, const query_block *q,
                         const entry_block *e)
{
    return entries_met(a, q->first).end >= e->first + TILE &&
           entries_met(a, q->first + q->n - 1).first <= e->first;
}

static void block_meet(const forward_job *job, const forward_room *w,
                       const query_block *q, const entry_block *e)
{
    const ridge__attention *a = job->a;
    if (is_met_whole(a, q, e)) {
        scores_of(job, w, e, (ridge__part){0, q->n}, TILE);
        strip_run(job, w, e, (ridge__part){0, q->n}, TILE);
        return;
    }
    for (int64_t i = 0; i < q->n; i += STRIP) {
        const ridge__part rows = {i, least(q->n, i + STRIP)};
        const int64_t end = entries_met(a, q->first + rows.end - 1).end;
        const int64_t columns = round_up(most(0, least(TILE, end - e->first)), LANES);
        if (columns == 0)
            continue;
        scores_of(job, w, e, rows, columns);
        for (int64_t r = rows.first; r < rows.end; r++)
            row_mask(w->scores + r * TILE, entries_met(a, q->first + r), e->first,
                     columns, -INFINITY);
        strip_run(job, w, e, rows, columns);
    }
}

static void block_end(const forward_job *job, const forward_room *w,
                      const query_block *q)
{
    const ridge__attention *a = job->a;
    for (int64_t i = 0; i < q->n; i++) {
        const int64_t row = query_row(a, q->batch, q->first + i, q->head);
        const float sum = vec_sum(vec_load(w->sums + i * LANES));
        float *o = w->o + i * job->hv;
        row_scale(o, o, sum > 0.0f ? 1.0f / sum : (sum == 0.0f ? 0.0f : sum), a->hv);
        row_move((ridge__array){o, RIDGE_DTYPE_FP32}, 0, a->o, row * a->hv, a->hv);
        if (a->lse != NULL)
            a->lse[row] = sum == 0.0f ? -INFINITY : (w->tops[i] + log2f(sum)) * LN_2;
    }
}

/* ---- sharing out ----------------------------------------------------------------- */

/** Entry blocks that a block of queries meets. */
static ridge__part blocks_met(const ridge__attention *a, int64_t block)
{
    const int64_t first = block * TILE, last = least(a->t, first + TILE) - 1;
    const ridge__part low = entries_met(a, first), high = entries_met(a, last);
    return (ridge__part){low.first / TILE, (high.end + TILE - 1) / TILE};
}

static int64_t block_cost(const ridge__attention *a, int64_t block)
{
    const ridge__part met = blocks_met(a, block);
    return 1 + most(0, met.end - met.first);
}

/** The first item of a worker; items of a head are its query blocks. */
static int64_t item_first(const forward_job *job, int64_t worker, int64_t workers)
{
    const ridge__attention *a = job->a;
    const int64_t heads = a->batch * a->heads;
    if (worker == workers)
        return heads * job->blocks;
    const double want =
        (double)heads * (double)job->cost * (double)worker / (double)workers;
    const int64_t head = (int64_t)(want / (double)job->cost);
    double left = want - (double)head * (double)job->cost;
    int64_t block = 0;
    for (; block < job->blocks && left > 0.5 * (double)block_cost(a, block); block++)
        left -= (double)block_cost(a, block);
    return head * job->blocks + block;
}

static void item_run(const forward_job *job, const forward_room *w, int64_t item)
{
    const ridge__attention *a = job->a;
    const int64_t row = item / job->blocks, block = item % job->blocks;
    query_block q = {.batch = row / a->heads, .head = row % a->heads};
    q.first = block * TILE;
    q.n = least(TILE, a->t - q.first);
    block_begin(job, w, &q);
    const ridge__part met = blocks_met(a, block);
    for (int64_t j = met.first; j < met.end; j++) {
        const entry_block e = entry_block_get(job, w, &q, j);
        block_meet(job, w, &q, &e);
    }
    block_end(job, w, &q);
}

static void forward_part(void *payload, int worker, int workers)
{
    const forward_job *job = payload;
    float *base = ridge__team_scratch(job->team, worker);
    const scratch_plan *p = &job->plan;
    const forward_room w = {.q = base + p->q,
                            .scores = base + p->scores,
                            .o = base + p->o,
                            .tops = base + p->tops,
                            .bases = base + p->bases,
                            .worths = base + p->worths,
                            .sums = base + p->sums,
                            .room = base + p->room,
                            .tags = base + p->tags,
                            .turned = base + p->turned,
                            .values = base + p->values};
    memset(w.tags, 0, (size_t)job->slots * sizeof(int64_t));
    const int64_t end = item_first(job, worker + 1, workers);
    for (int64_t item = item_first(job, worker, workers); item < end; item++)
        item_run(job, &w, item);
}

/* ---- planning -------------------------------------------------------------------- */

static int64_t take(int64_t *total, int64_t floats)
{
    const int64_t at = *total;
    *total += round_up(floats, LINE);
    return at;
}

static scratch_plan plan_of(const forward_job *job)
{
    const int64_t h = job->a->h;
    scratch_plan p = {.total = 0};
    p.q = take(&p.total, TILE * h);
    p.scores = take(&p.total, TILE * TILE);
    p.o = take(&p.total, TILE * job->hv);
    p.tops = take(&p.total, TILE);
    p.bases = take(&p.total, TILE);
    p.worths = take(&p.total, TILE);
    p.sums = take(&p.total, TILE * LANES);
    p.room = take(&p.total, 4 * h);
    p.tags = take(&p.total, 2 * job->slots);
    p.turned = take(&p.total, job->slots * h * TILE);
    p.values = take(&p.total, job->slots * TILE * job->hv);
    return p;
}

ridge_status RIDGE__KERNEL(attention)(ridge__device *d, const ridge__attention *a)
{
    if (a->batch <= 0 || a->heads <= 0 || a->t <= 0)
        return RIDGE_OK;
    if (is_apart(a))
        return each_sequence(d, a, RIDGE__KERNEL(attention));
    if (a->t <= DECODE_MOST)
        return RIDGE__KERNEL(attention_decode)(d, a);
    forward_job job = {.a = a, .team = ridge__cpu_of(d)->team};
    job.group = a->heads / a->kv_heads;
    job.hv = round_up(a->hv, LANES);
    job.blocks = (a->t + TILE - 1) / TILE;
    for (int64_t i = 0; i < job.blocks; i++)
        job.cost += block_cost(a, i);
    const int64_t slot_bytes = TILE * (a->h + job.hv) * (int64_t)sizeof(float);
    job.slots = most(1, least((a->s + TILE - 1) / TILE, SLOT_BYTES_MOST / slot_bytes));
    job.plan = plan_of(&job);
    RIDGE_TRY(
        ridge__team_reserve(job.team, d->cx, (size_t)job.plan.total * sizeof(float)));
    work_share(d, forward_part, &job, a->batch * a->heads * a->t * a->s);
    return RIDGE_OK;
}
