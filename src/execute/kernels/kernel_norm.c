/* Norms over rows, forward and backward: of root mean square, or of what is left of a
 * row less its mean. */
#include "kernel_simd.h"

#include <math.h>

typedef struct norm_job {
    const ridge__norm *n;
    ridge__team *team; /* scratch of a worker: its sums of d_w [d] and d_b [d] */
    int workers;       /* that have summed */
} norm_job;

enum { GRAIN = 64 };

static int64_t chunk(int64_t at, int64_t d)
{
    return d - at < ROW ? d - at : ROW;
}

/* ---- forward --------------------------------------------------------------------- */

static float inverse_rms(const ridge__norm *n, float squares)
{
    return 1.0f / sqrtf(squares / (float)n->d + n->epsilon);
}

static float total(const float *x, int64_t n)
{
    vec sums[2] = {vec_zero(), vec_zero()};
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        sums[0] += vec_load(x + i);
        sums[1] += vec_load(x + i + LANES);
    }
    for (; i < n; i += LANES)
        sums[0] += vec_load_n(x + i, n - i < LANES ? n - i : LANES);
    return vec_sum(sums[0] + sums[1]);
}

/** What is subtracted from a row: nothing for one of root mean square. The mean is
 * taken first, and squares of what is left: their difference would lose digits. */
static float row_mean(const ridge__norm *n, int64_t row)
{
    float room[ROW], sum = 0.0f;
    if (n->kind == RIDGE_NORM_RMS)
        return 0.0f;
    for (int64_t i = 0; i < n->d; i += ROW) {
        const int64_t k = chunk(i, n->d);
        sum += total(row_read(n->x, row * n->d + i, k, room), k);
    }
    return sum / (float)n->d;
}

/** x less the mean, columns i .. i + k of a row: in place, or in room [k]. */
static const float *centred_read(const ridge__norm *n, int64_t at, int64_t k,
                                 float mean, float *room)
{
    const float *x = row_read(n->x, at, k, room);
    const vec m = vec_set(mean);
    int64_t i = 0;
    if (n->kind == RIDGE_NORM_RMS)
        return x;
    for (; i + LANES <= k; i += LANES)
        vec_store(room + i, vec_load(x + i) - m);
    if (i < k)
        vec_store_n(room + i, vec_load_n(x + i, k - i) - m, k - i);
    return room;
}

static float row_squares(const ridge__norm *n, int64_t row, float mean)
{
    float room[ROW], sum = 0.0f;
    for (int64_t i = 0; i < n->d; i += ROW) {
        const int64_t k = chunk(i, n->d);
        const float *x = centred_read(n, row * n->d + i, k, mean, room);
        sum += row_dot(x, x, k);
    }
    return sum;
}

static vec times(vec a, vec b, vec c)
{
    (void)c;
    return a * b;
}

static vec plus(vec a, vec b, vec c)
{
    (void)c;
    return a + b;
}

static vec times_plus(vec a, vec b, vec c)
{
    return a * b + c;
}

/** y = y w + b of columns i .. i + k. */
static void apply_weights(const ridge__norm *n, int64_t i, int64_t k, float *y)
{
    float w_room[ROW], b_room[ROW];
    const float *w = n->w.p == NULL ? NULL : row_read(n->w, i, k, w_room);
    const float *b = n->b.p == NULL ? NULL : row_read(n->b, i, k, b_room);
    if (w != NULL && b != NULL)
        row_map(y, w, b, y, k, times_plus);
    else if (w != NULL)
        row_map(y, w, w, y, k, times);
    else if (b != NULL)
        row_map(y, b, b, y, k, plus);
}

static void norm_row(const ridge__norm *n, int64_t row)
{
    float x_room[ROW], y_room[ROW];
    const float mean = row_mean(n, row);
    const float r = inverse_rms(n, row_squares(n, row, mean));
    for (int64_t i = 0; i < n->d; i += ROW) {
        const int64_t k = chunk(i, n->d), at = row * n->d + i;
        float *y = row_begin(n->y, at, y_room);
        row_scale(y, centred_read(n, at, k, mean, x_room), r, k);
        apply_weights(n, i, k, y);
        row_end(n->y, at, k, y);
    }
}

static void norm_part(void *payload, int worker, int workers)
{
    const norm_job *job = payload;
    const ridge__part part = ridge__part_of(job->n->rows, 1, worker, workers);
    for (int64_t row = part.first; row < part.end; row++)
        norm_row(job->n, row);
}

ridge_status RIDGE__KERNEL(norm)(ridge__device *d, const ridge__norm *n)
{
    norm_job job = {.n = n};
    work_share(d, norm_part, &job, n->rows * n->d);
    return RIDGE_OK;
}

/* ---- backward -------------------------------------------------------------------- */

/** Of a row with x less the mean: sums of x x, of w d_y x, and of w d_y (0 where no
 * mean is subtracted). */
typedef struct row_sums {
    float mean, squares, slope, level;
} row_sums;

static float dot3(const float *a, const float *b, const float *c, int64_t n)
{
    vec sums[2] = {vec_zero(), vec_zero()};
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        for (int k = 0; k < 2; k++) {
            const int64_t at = i + k * LANES;
            sums[k] += vec_load(a + at) * vec_load(b + at) * vec_load(c + at);
        }
    }
    for (; i < n; i += LANES) {
        const int64_t k = n - i < LANES ? n - i : LANES;
        sums[0] += vec_load_n(a + i, k) * vec_load_n(b + i, k) * vec_load_n(c + i, k);
    }
    return vec_sum(sums[0] + sums[1]);
}

static row_sums sums_of(const ridge__norm *n, int64_t row)
{
    float x_room[ROW], y_room[ROW], w_room[ROW];
    row_sums sums = {.mean = row_mean(n, row)};
    for (int64_t i = 0; i < n->d; i += ROW) {
        const int64_t k = chunk(i, n->d), at = row * n->d + i;
        const float *x = centred_read(n, at, k, sums.mean, x_room);
        const float *dy = row_read(n->d_y, at, k, y_room);
        const float *w = n->w.p == NULL ? NULL : row_read(n->w, i, k, w_room);
        sums.squares += row_dot(x, x, k);
        sums.slope += w == NULL ? row_dot(x, dy, k) : dot3(x, dy, w, k);
        if (n->kind == RIDGE_NORM_LAYER)
            sums.level += w == NULL ? total(dy, k) : row_dot(w, dy, k);
    }
    return sums;
}

/** dx = a (w dy - level) - c x; dw += a x dy; db += dy, with x less the mean. dx may be
 * dy or x; w, dw, db may be NULL. */
typedef struct back_row {
    const float *x, *dy, *w;
    float *dx, *dw, *db;
    float a, c, level;
} back_row;

RIDGE__INLINE void back_lanes(const back_row *r, int64_t i, int64_t n)
{
    const bool is_whole = n == LANES;
    const vec x = is_whole ? vec_load(r->x + i) : vec_load_n(r->x + i, n);
    const vec dy = is_whole ? vec_load(r->dy + i) : vec_load_n(r->dy + i, n);
    const vec slope = vec_set(r->a) * dy;
    if (r->dw != NULL)
        vec_store_n(r->dw + i, vec_load_n(r->dw + i, n) + slope * x, n);
    if (r->db != NULL)
        vec_store_n(r->db + i, vec_load_n(r->db + i, n) + dy, n);
    vec g = dy;
    if (r->w != NULL)
        g *= is_whole ? vec_load(r->w + i) : vec_load_n(r->w + i, n);
    g = vec_set(r->a) * (g - vec_set(r->level));
    vec_store_n(r->dx + i, g - vec_set(r->c) * x, n);
}

static void back_row_run(const back_row *row, int64_t n)
{
    const back_row r = *row;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        back_lanes(&r, i, LANES);
    if (i < n)
        back_lanes(&r, i, n - i);
}

static void norm_back_row(const ridge__norm *n, int64_t row, float *dw, float *db)
{
    float x_room[ROW], y_room[ROW], w_room[ROW], dx_room[ROW];
    const row_sums sums = sums_of(n, row);
    const float a = inverse_rms(n, sums.squares);
    const float c = sums.slope * a * a * a / (float)n->d;
    for (int64_t i = 0; i < n->d; i += ROW) {
        const int64_t k = chunk(i, n->d), at = row * n->d + i;
        const back_row r = {
            .x = centred_read(n, at, k, sums.mean, x_room),
            .dy = row_read(n->d_y, at, k, y_room),
            .w = n->w.p == NULL ? NULL : row_read(n->w, i, k, w_room),
            .dx = row_begin(n->d_x, at, dx_room),
            .dw = n->d_w.p == NULL ? NULL : dw + i,
            .db = n->d_b.p == NULL ? NULL : db + i,
            .a = a,
            .c = c,
            .level = sums.level / (float)n->d,
        };
        back_row_run(&r, k);
        row_end(n->d_x, at, k, r.dx);
    }
}

static void back_part(void *payload, int worker, int workers)
{
    const norm_job *job = payload;
    const ridge__norm *n = job->n;
    float *dw = ridge__team_scratch(job->team, worker), *db = dw + n->d;
    memset(dw, 0, (size_t)n->d * 2 * sizeof *dw);
    const ridge__part part = ridge__part_of(n->rows, 1, worker, workers);
    for (int64_t row = part.first; row < part.end; row++)
        norm_back_row(n, row, dw, db);
}

/** out[i ..] = the workers' sums, which stand `skip` floats into their scratch. */
static void add_workers(const norm_job *job, ridge__array out, int64_t skip, int64_t i,
                        int64_t k)
{
    float room[ROW];
    float *y = row_begin(out, i, room);
    for (int w = 0; w < job->workers; w++) {
        const float *sums = (const float *)ridge__team_scratch(job->team, w) + skip + i;
        if (w == 0)
            row_scale(y, sums, 1.0f, k);
        else
            row_add(y, sums, 1.0f, k);
    }
    row_end(out, i, k, y);
}

static void weights_part(void *payload, int worker, int workers)
{
    const norm_job *job = payload;
    const ridge__norm *n = job->n;
    const ridge__part part = ridge__part_of(n->d, GRAIN, worker, workers);
    for (int64_t i = part.first; i < part.end; i += ROW) {
        const int64_t k = chunk(i, part.end);
        if (n->d_w.p != NULL)
            add_workers(job, n->d_w, 0, i, k);
        if (n->d_b.p != NULL)
            add_workers(job, n->d_b, n->d, i, k);
    }
}

ridge_status RIDGE__KERNEL(norm_backward)(ridge__device *d, const ridge__norm *n)
{
    norm_job job = {.n = n, .team = ridge__cpu_of(d)->team};
    RIDGE_TRY(ridge__team_reserve(job.team, d->cx, (size_t)n->d * 2 * sizeof(float)));
    job.workers = work_share(d, back_part, &job, n->rows * n->d);
    if (n->d_w.p != NULL || n->d_b.p != NULL)
        work_share(d, weights_part, &job, n->d * job.workers);
    return RIDGE_OK;
}
