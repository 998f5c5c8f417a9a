/*
 * Tokens to rows of experts and back. Rows of an expert are in the order of their
 * tokens, so a token's rows are found by walking all experts' lists side by side, and
 * are summed in the order of the experts whatever the number of threads.
 */
#include "kernel_simd.h"

typedef struct experts_job {
    const ridge__experts *e;
    ridge__team *team; /* scratch of a worker: cursors [experts], then a row [d] */
    bool is_gated;
} experts_job;

/* ---- order ----------------------------------------------------------------------- */

static bool is_chosen(const ridge__expert_order *o, int64_t token, int64_t expert)
{
    const float gate =
        element_read(o->gates, token * o->all_experts + o->first_expert + expert);
    return gate > 0.0f || gate < 0.0f; /* neither 0 nor NaN */
}

typedef struct order_job {
    const ridge__expert_order *o;
    int64_t tokens;
    int64_t *next; /* [experts]: rows counted, then where the next one goes */
    bool is_counting;
} order_job;

/** Each worker has experts of its own. */
static void order_part(void *payload, int worker, int workers)
{
    const order_job *job = payload;
    const ridge__expert_order *o = job->o;
    const ridge__part part = ridge__part_of(o->experts, 1, worker, workers);
    for (int64_t token = 0; token < job->tokens && part.first < part.end; token++) {
        for (int64_t e = part.first; e < part.end; e++) {
            if (!is_chosen(o, token, e))
                continue;
            if (!job->is_counting)
                o->token[job->next[e]] = (int32_t)token;
            job->next[e]++;
        }
    }
}

ridge_status RIDGE__KERNEL(expert_order)(ridge__device *d, const ridge__expert_order *o)
{
    ridge__team *team = ridge__cpu_of(d)->team;
    RIDGE_TRY(ridge__team_reserve_shared(team, d->cx,
                                         ((size_t)o->experts + 1) * sizeof(int64_t)));
    order_job job = {.o = o, .next = ridge__team_shared(team), .is_counting = true};
    job.tokens = o->valid < o->tokens ? o->valid : o->tokens;
    memset(job.next, 0, (size_t)o->experts * sizeof *job.next);
    work_share(d, order_part, &job, job.tokens * o->experts);
    int64_t rows = 0;
    for (int e = 0; e < o->experts; e++) {
        const int64_t counted = job.next[e];
        o->offsets[e] = job.next[e] = rows;
        rows += counted;
    }
    o->offsets[o->experts] = rows;
    job.is_counting = false;
    work_share(d, order_part, &job, job.tokens * o->experts);
    return RIDGE_OK;
}

/* ---- rows, each by itself -------------------------------------------------------- */

static int64_t rows_of(const ridge__experts *e)
{
    return e->offsets[e->experts];
}

/** The token of a row; -1: it names none. */
static int64_t token_of(const ridge__experts *e, int64_t row)
{
    const int64_t token = e->token[row];
    return token >= 0 && token < e->tokens ? token : -1;
}

static void dispatch_part(void *payload, int worker, int workers)
{
    const ridge__experts *e = ((const experts_job *)payload)->e;
    const ridge__part part = ridge__part_of(rows_of(e), 1, worker, workers);
    for (int64_t row = part.first; row < part.end; row++) {
        const int64_t token = token_of(e, row);
        if (token < 0)
            row_zero(e->rows, row * e->d, e->d);
        else
            row_move(e->x, token * e->d, e->rows, row * e->d, e->d);
    }
}

ridge_status RIDGE__KERNEL(dispatch)(ridge__device *d, const ridge__experts *e)
{
    experts_job job = {.e = e};
    work_share(d, dispatch_part, &job, rows_of(e) * e->d);
    return RIDGE_OK;
}

/** d_rows and d_gates of one row; @param gate  index of its gate */
static void combine_back_row(const ridge__experts *e, int64_t row, int64_t token,
                             int64_t gate)
{
    float row_room[ROW], y_room[ROW], d_room[ROW], slope = 0.0f;
    const float by = element_read(e->gates, gate);
    for (int64_t i = 0; i < e->d; i += ROW) {
        const int64_t n = e->d - i < ROW ? e->d - i : ROW, at = row * e->d + i;
        const float *dy = row_read(e->d_y, token * e->d + i, n, y_room);
        slope += row_dot(row_read(e->rows, at, n, row_room), dy, n);
        float *d_row = row_begin(e->d_rows, at, d_room);
        row_scale(d_row, dy, by, n);
        row_end(e->d_rows, at, n, d_row);
    }
    element_write(e->d_gates, gate, slope);
}

static void combine_back_part(void *payload, int worker, int workers)
{
    const ridge__experts *e = ((const experts_job *)payload)->e;
    const ridge__part part = ridge__part_of(rows_of(e), 1, worker, workers);
    int64_t expert = 0;
    for (int64_t row = part.first; row < part.end; row++) {
        while (row >= e->offsets[expert + 1])
            expert++;
        const int64_t token = token_of(e, row);
        if (token < 0)
            row_zero(e->d_rows, row * e->d, e->d);
        else
            combine_back_row(e, row, token,
                             token * e->all_experts + e->first_expert + expert);
    }
}

static void zero_gates_part(void *payload, int worker, int workers)
{
    const ridge__experts *e = ((const experts_job *)payload)->e;
    const ridge__part part =
        ridge__part_of(e->tokens * e->all_experts, 64, worker, workers);
    row_zero(e->d_gates, part.first, part.end - part.first);
}

ridge_status RIDGE__KERNEL(combine_backward)(ridge__device *d, const ridge__experts *e)
{
    experts_job job = {.e = e};
    work_share(d, zero_gates_part, &job, e->tokens * e->all_experts);
    work_share(d, combine_back_part, &job, rows_of(e) * e->d);
    return RIDGE_OK;
}

/* ---- sums of a token's rows ------------------------------------------------------ */

/** The first row of an expert whose token is not below `token`. */
static int64_t row_from(const ridge__experts *e, int64_t expert, int64_t token)
{
    int64_t low = e->offsets[expert], high = e->offsets[expert + 1];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (e->token[middle] < token)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/** sum += gate rows[row] of one expert, all columns. */
static void add_row(const experts_job *job, int64_t row, float by, float *sum)
{
    const ridge__experts *e = job->e;
    const ridge__array rows = job->is_gated ? e->rows : e->d_rows;
    float room[ROW];
    for (int64_t i = 0; i < e->d; i += ROW) {
        const int64_t n = e->d - i < ROW ? e->d - i : ROW;
        row_add(sum + i, row_read(rows, row * e->d + i, n, room), by, n);
    }
}

static void token_sum(const experts_job *job, int64_t token, int64_t *cursors,
                      float *sum)
{
    const ridge__experts *e = job->e;
    memset(sum, 0, (size_t)e->d * sizeof *sum);
    for (int64_t expert = 0; expert < e->experts; expert++) {
        const int64_t row = cursors[expert];
        if (row >= e->offsets[expert + 1] || e->token[row] != token)
            continue;
        const int64_t gate = token * e->all_experts + e->first_expert + expert;
        add_row(job, row, job->is_gated ? element_read(e->gates, gate) : 1.0f, sum);
        cursors[expert]++;
    }
}

static void sum_part(void *payload, int worker, int workers)
{
    const experts_job *job = payload;
    const ridge__experts *e = job->e;
    const ridge__array out = job->is_gated ? e->y : e->d_x;
    int64_t *cursors = ridge__team_scratch(job->team, worker);
    float *sum = (float *)(cursors + e->experts);
    const ridge__part part = ridge__part_of(e->tokens, 1, worker, workers);
    for (int64_t expert = 0; expert < e->experts; expert++)
        cursors[expert] = row_from(e, expert, part.first);
    for (int64_t token = part.first; token < part.end; token++) {
        token_sum(job, token, cursors, sum);
        row_move((ridge__array){sum, RIDGE_DTYPE_FP32}, 0, out, token * e->d, e->d);
    }
}

static ridge_status sum_run(ridge__device *d, const ridge__experts *e, bool is_gated)
{
    experts_job job = {.e = e, .team = ridge__cpu_of(d)->team, .is_gated = is_gated};
    const size_t bytes =
        (size_t)e->experts * sizeof(int64_t) + (size_t)e->d * sizeof(float);
    RIDGE_TRY(ridge__team_reserve(job.team, d->cx, bytes));
    work_share(d, sum_part, &job, (e->tokens + rows_of(e)) * e->d);
    return RIDGE_OK;
}

ridge_status RIDGE__KERNEL(dispatch_backward)(ridge__device *d, const ridge__experts *e)
{
    return sum_run(d, e, false);
}

ridge_status RIDGE__KERNEL(combine)(ridge__device *d, const ridge__experts *e)
{
    return sum_run(d, e, true);
}
