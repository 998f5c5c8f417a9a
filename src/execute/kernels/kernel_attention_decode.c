/*
 * Attention of few queries over many entries, as in generation: keys and values are
 * read once, as they lie, and decide the time. Items of work are (sequence, key head,
 * span of entries); what the spans gave is put together at the end.
 *
 * @source dao2023decode
 */
#include "kernel_attention_tile.h"

#include <math.h>

enum { SPAN_LEAST = 4 * TILE }; /* entries that are worth an item */

/* Of an item's row: the greatest score, the sum, and o [hv], not yet divided. */
enum { TOP = 0, SUM = 1, VALUES = LINE };

typedef struct decode_job {
    const ridge__attention *a;
    ridge__team *team; /* scratch of a worker: a row of q, k and v, scores */
    int64_t group;     /* query heads of a key head */
    int64_t rows;      /* queries of a key head: t group */
    int64_t spans;     /* of a sequence's entries */
    int64_t row_floats;
} decode_job;

/** One worker's view of its scratch. */
typedef struct decode_room {
    float *q;      /* [rows][h], scaled */
    float *entry;  /* [h or hv] */
    float *scores; /* [rows][TILE] */
} decode_room;

/** Row r of a key head is query r % t of query head r / t in its group. */
static float *partial_of(const decode_job *job, int64_t item, int64_t r)
{
    float *all = ridge__team_shared(job->team);
    return all + (item * job->rows + r) * job->row_floats;
}

/* ---- a span of entries ----------------------------------------------------------- */

static void scores_make(const decode_job *job, const decode_room *w, int64_t key_row,
                        int64_t n)
{
    const ridge__attention *a = job->a;
    for (int64_t j = 0; j < n; j++) {
        const float *k =
            row_read(a->k, (key_row + j * a->kv_heads) * a->h, a->h, w->entry);
        for (int64_t r = 0; r < job->rows; r++)
            w->scores[r * TILE + j] = row_dot(w->q + r * a->h, k, a->h);
    }
}

/** Scores of columns 0 .. n become weights; what was before is scaled to match. */
static void scores_weigh(const decode_job *job, float *scores, int64_t n, float *row)
{
    float top = row[TOP], sum = 0.0f;
    for (int64_t j = 0; j < n; j++)
        top = scores[j] > top ? scores[j] : top;
    const float base = top > -INFINITY ? top : 0.0f;
    for (int64_t j = 0; j < TILE; j += LANES)
        vec_store(scores + j, vec_exp2(vec_load(scores + j) - vec_set(base)));
    for (int64_t j = 0; j < n; j++)
        sum += scores[j];
    const float worth = row[TOP] < top ? exp2f(row[TOP] - base) : 1.0f;
    if (worth < 1.0f)
        row_scale(row + VALUES, row + VALUES, worth, job->a->hv);
    row[SUM] = row[SUM] * worth + sum;
    row[TOP] = top;
}

static void values_add(const decode_job *job, const decode_room *w, int64_t value_row,
                       int64_t n, int64_t item)
{
    const ridge__attention *a = job->a;
    for (int64_t j = 0; j < n; j++) {
        const float *v =
            row_read(a->v, (value_row + j * a->kv_heads) * a->hv, a->hv, w->entry);
        for (int64_t r = 0; r < job->rows; r++)
            row_add(partial_of(job, item, r) + VALUES, v, w->scores[r * TILE + j],
                    a->hv);
    }
}

static void block_run(const decode_job *job, const decode_room *w, int64_t item,
                      int64_t first, int64_t n)
{
    const ridge__attention *a = job->a;
    const int64_t head = item / job->spans;
    const int64_t row = entry_row(a, head / a->kv_heads, first, head % a->kv_heads);
    scores_make(job, w, row, n);
    for (int64_t r = 0; r < job->rows; r++) {
        float *scores = w->scores + r * TILE;
        row_mask(scores, entries_met(a, r % a->t), first, n, -INFINITY);
        row_mask(scores, (ridge__part){first, first + n}, first, TILE, -INFINITY);
        scores_weigh(job, scores, n, partial_of(job, item, r));
    }
    values_add(job, w, row, n, item);
}

static void queries_read(const decode_job *job, const decode_room *w, int64_t item)
{
    const ridge__attention *a = job->a;
    const int64_t head = item / job->spans;
    for (int64_t r = 0; r < job->rows; r++) {
        float *q = w->q + r * a->h;
        const int64_t row = query_row(a, head / a->kv_heads, r % a->t,
                                      head % a->kv_heads * job->group + r / a->t);
        row_scale(q, row_read(a->q, row * a->h, a->h, q), a->scale * LOG2_E, a->h);
        float *partial = partial_of(job, item, r);
        memset(partial, 0, (size_t)job->row_floats * sizeof *partial);
        partial[TOP] = -INFINITY;
    }
}

static void span_part(void *payload, int worker, int workers)
{
    const decode_job *job = payload;
    const ridge__attention *a = job->a;
    float *base = ridge__team_scratch(job->team, worker);
    decode_room w = {.q = base, .scores = base + round_up(job->rows * a->h, LINE)};
    w.entry = w.scores + job->rows * TILE;
    const ridge__part low = entries_met(a, 0), high = entries_met(a, a->t - 1);
    const int64_t blocks = (most(0, high.end - low.first) + TILE - 1) / TILE;
    const ridge__part items =
        ridge__part_of(a->batch * a->kv_heads * job->spans, 1, worker, workers);
    for (int64_t item = items.first; item < items.end; item++) {
        queries_read(job, &w, item);
        const ridge__part part =
            ridge__part_of(blocks, 1, (int)(item % job->spans), (int)job->spans);
        for (int64_t j = part.first; j < part.end; j++) {
            const int64_t first = low.first + j * TILE;
            block_run(job, &w, item, first, least(TILE, high.end - first));
        }
    }
}

/* ---- putting spans together ------------------------------------------------------ */

static void row_finish(const decode_job *job, int64_t head, int64_t r)
{
    const ridge__attention *a = job->a;
    float *whole = partial_of(job, head * job->spans, r), top = -INFINITY, sum = 0.0f;
    for (int64_t i = 0; i < job->spans; i++) {
        const float here = partial_of(job, head * job->spans + i, r)[TOP];
        top = here > top ? here : top;
    }
    for (int64_t i = 0; i < job->spans; i++) {
        const float *part = partial_of(job, head * job->spans + i, r);
        const float worth = part[TOP] == top ? 1.0f : exp2f(part[TOP] - top);
        sum += worth * part[SUM];
        if (i == 0)
            row_scale(whole + VALUES, part + VALUES, worth, a->hv);
        else
            row_add(whole + VALUES, part + VALUES, worth, a->hv);
    }
    row_scale(whole + VALUES, whole + VALUES,
              sum > 0.0f ? 1.0f / sum : (sum == 0.0f ? 0.0f : sum), a->hv);
    const int64_t row = query_row(a, head / a->kv_heads, r % a->t,
                                  head % a->kv_heads * job->group + r / a->t);
    row_move((ridge__array){whole + VALUES, RIDGE_DTYPE_FP32}, 0, a->o, row * a->hv,
             a->hv);
    if (a->lse != NULL)
        a->lse[row] = sum == 0.0f ? -INFINITY : (top + log2f(sum)) * LN_2;
}

static void finish_part(void *payload, int worker, int workers)
{
    const decode_job *job = payload;
    const ridge__attention *a = job->a;
    const ridge__part heads =
        ridge__part_of(a->batch * a->kv_heads, 1, worker, workers);
    for (int64_t head = heads.first; head < heads.end; head++) {
        for (int64_t r = 0; r < job->rows; r++)
            row_finish(job, head, r);
    }
}

ridge_status RIDGE__KERNEL(attention_decode)(ridge__device *d,
                                             const ridge__attention *a)
{
    decode_job job = {.a = a, .team = ridge__cpu_of(d)->team};
    job.group = a->heads / a->kv_heads;
    job.rows = job.group * a->t;
    job.row_floats = VALUES + round_up(a->hv, LINE);
    const int64_t heads = a->batch * a->kv_heads;
    const int64_t workers = ridge__team_workers(job.team);
    job.spans = heads >= workers ? 1 : (workers + heads - 1) / heads;
    job.spans = most(1, least(job.spans, a->s / SPAN_LEAST));
    const int64_t scratch =
        round_up(job.rows * a->h, LINE) + job.rows * TILE + most(a->h, a->hv);
    RIDGE_TRY(ridge__team_reserve(job.team, d->cx, (size_t)scratch * sizeof(float)));
    RIDGE_TRY(ridge__team_reserve_shared(
        job.team, d->cx,
        (size_t)(heads * job.spans * job.rows * job.row_floats) * sizeof(float)));
    work_share(d, span_part, &job, heads * a->s * (a->h + a->hv));
    work_share(d, finish_part, &job, heads * job.spans * job.rows * a->hv);
    return RIDGE_OK;
}
