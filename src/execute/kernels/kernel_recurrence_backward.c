/*
 * Linear attention with a state, backward. A state's rows, one for each element of the
 * value, go on by themselves here: a few of them pass a chunk of tokens forward, which
 * keeps the state of each token, and then back. States at the beginnings of chunks are
 * made by a pass over all tokens before. Gradients of keys and queries are sums over
 * the rows of all heads that share them: a worker sums those of its heads, in order.
 */
#include "kernel_recurrence.h"

enum { TOKENS = 32, ROWS = 4 };

/* Heads of one key head are dealt to slots, each with sums of its own. */
typedef struct backward_job {
    const ridge__recurrence *r;
    ridge__team *team;
    int64_t wide, chunks, rows; /* rows: p, rounded up */
    int64_t slots;
    float *d_q, *d_k, *d_keep; /* [slots, batch, t, keys, wide] */
    int64_t sum_floats;        /* of one slot */
} backward_job;

/* A worker's room. */
typedef struct head_room {
    float *begins;          /* [chunks, rows, wide]: states before each chunk */
    float *d_state;         /* [rows, wide] */
    float *past;            /* [TOKENS + 1, ROWS, wide]: states of the rows at hand */
    float *v, *d_o;         /* [TOKENS, rows] */
    float *d_v;             /* [TOKENS, rows] */
    float *d_keep, *d_step; /* [TOKENS] */
    ridge__chunk_tokens tokens;
} head_room;

static int64_t room_floats(const backward_job *job)
{
    return (job->chunks + 1) * job->rows * job->wide + (TOKENS + 1) * ROWS * job->wide +
           3 * TOKENS * job->rows + 2 * TOKENS +
           chunk_floats(job->r, TOKENS, job->wide);
}

static head_room open_room(const backward_job *job, int worker)
{
    float *at = ridge__team_scratch(job->team, worker);
    head_room h = {.begins = at};
    h.d_state = h.begins + job->chunks * job->rows * job->wide;
    h.past = h.d_state + job->rows * job->wide;
    h.v = h.past + (TOKENS + 1) * ROWS * job->wide;
    h.d_o = h.v + TOKENS * job->rows;
    h.d_v = h.d_o + TOKENS * job->rows;
    h.d_keep = h.d_v + TOKENS * job->rows;
    h.d_step = h.d_keep + TOKENS;
    h.tokens = chunk_open(job->r, TOKENS, job->wide, h.d_step + TOKENS);
    return h;
}

/* One head of one sequence. */
typedef struct head_job {
    const backward_job *job;
    const head_room *room;
    int64_t sequence, head, slot;
} head_job;

/* ---- a token of some rows -------------------------------------------------------- */

/* Sums of the lanes of each row. */
RIDGE__INLINE void rows_sum(const vec *x, float *out)
{
    for (int r = 0; r < ROWS; r++)
        out[r] = vec_sum(x[r]);
}

/* keep S k of each row. */
RIDGE__INLINE void rows_at_key(const float *s, const float *k, const float *keep,
                               int64_t wide, bool is_keyed, float *out)
{
    vec sums[ROWS];
    for (int r = 0; r < ROWS; r++)
        sums[r] = vec_zero();
    for (int64_t i = 0; i < wide; i += LANES) {
        const vec by = is_keyed ? vec_load(keep + i) : vec_set(keep[0]);
        const vec x = by * vec_load(k + i);
        for (int r = 0; r < ROWS; r++)
            sums[r] += vec_load(s + r * wide + i) * x;
    }
    rows_sum(sums, out);
}

/* What goes into the state along the key: step v, or of a delta rule what is left of it
 * once what the state has there is taken out. @param rest  out: that, without the step
 */
static inline void rows_input(const head_job *h, const float *s, int64_t i, int64_t row,
                              float *rest, float *u)
{
    const ridge__recurrence *r = h->job->r;
    const ridge__chunk_tokens *c = &h->room->tokens;
    const float *k = c->k + i * c->wide;
    float seen[ROWS] = {0};
    if (r->is_delta && r->is_decay_keyed)
        rows_at_key(s, k, c->keep + i * c->wide, c->wide, true, seen);
    else if (r->is_delta)
        rows_at_key(s, k, c->keep + i, c->wide, false, seen);
    for (int j = 0; j < ROWS; j++) {
        rest[j] = h->room->v[i * h->job->rows + row + j] - seen[j];
        u[j] = c->step[i] * rest[j];
    }
}

/* to = keep S + u k^T */
RIDGE__INLINE void rows_step(const float *s, float *to, const float *k,
                             const float *keep, const float *u, int64_t wide,
                             bool is_keyed)
{
    for (int64_t i = 0; i < wide; i += LANES) {
        const vec by = is_keyed ? vec_load(keep + i) : vec_set(keep[0]);
        const vec x = vec_load(k + i);
        for (int r = 0; r < ROWS; r++)
            vec_store(to + r * wide + i,
                      by * vec_load(s + r * wide + i) + vec_set(u[r]) * x);
    }
}

static void rows_forward(const head_job *h, const float *s, float *to, int64_t i,
                         int64_t row)
{
    const ridge__chunk_tokens *c = &h->room->tokens;
    const float *k = c->k + i * c->wide;
    float rest[ROWS], u[ROWS];
    rows_input(h, s, i, row, rest, u);
    if (h->job->r->is_decay_keyed)
        rows_step(s, to, k, c->keep + i * c->wide, u, c->wide, true);
    else
        rows_step(s, to, k, c->keep + i, u, c->wide, false);
}

/* dS += dO q; d_q += dO S; du = dS k */
RIDGE__INLINE void rows_output_back(const float *s, float *d_s, const float *q,
                                    const float *k, float *d_q, const float *d_o,
                                    int64_t wide, float *d_u)
{
    vec sums[ROWS];
    for (int r = 0; r < ROWS; r++)
        sums[r] = vec_zero();
    for (int64_t i = 0; i < wide; i += LANES) {
        const vec x = vec_load(q + i), y = vec_load(k + i);
        vec total = vec_load(d_q + i);
        for (int r = 0; r < ROWS; r++) {
            const vec by = vec_set(d_o[r]);
            const vec g = vec_load(d_s + r * wide + i) + by * x;
            vec_store(d_s + r * wide + i, g);
            total += by * vec_load(s + r * wide + i);
            sums[r] += g * y;
        }
        vec_store(d_q + i, total);
    }
    rows_sum(sums, d_u);
}

/* What a step of the rows is turned back with. */
typedef struct step_back {
    const float *s; /* states before it */
    float *d_s;
    const float *k, *keep;
    float *d_k, *d_keep;  /* d_keep of a keyed decay; its last is NULL otherwise */
    const float *u, *d_m; /* [ROWS]; d_m: gradient of S k */
} step_back;

/* d_k += u dS + d_m keep S; dS += d_m k; d_keep += dS S; dS *= keep.
 * @return the sum of dS S */
RIDGE__INLINE float rows_step_back(const step_back *b, int64_t wide, bool is_keyed)
{
    vec all = vec_zero();
    for (int64_t i = 0; i < wide; i += LANES) {
        const vec keep = is_keyed ? vec_load(b->keep + i) : vec_set(b->keep[0]);
        const vec k = vec_load(b->k + i);
        vec d_k = vec_load(b->d_k + i), d_keep = vec_zero();
        for (int r = 0; r < ROWS; r++) {
            const vec s = vec_load(b->s + r * wide + i), m = vec_set(b->d_m[r]);
            vec g = vec_load(b->d_s + r * wide + i);
            d_k += vec_set(b->u[r]) * g + m * keep * s;
            g += m * k;
            d_keep += g * s;
            vec_store(b->d_s + r * wide + i, keep * g);
        }
        vec_store(b->d_k + i, d_k);
        if (is_keyed)
            vec_store(b->d_keep + i, vec_load(b->d_keep + i) + d_keep);
        all += d_keep;
    }
    return vec_sum(all);
}

/* Where sums of a token begin. */
static int64_t sum_at(const head_job *h, int64_t token)
{
    const backward_job *job = h->job;
    const ridge__recurrence *r = job->r;
    return h->slot * job->sum_floats +
           ((h->sequence * r->t + token) * r->keys + key_of(r, h->head)) * job->wide;
}

/* Token i of the chunk that begins at first. */
static void token_back(const head_job *h, int64_t first, int64_t i, int64_t row)
{
    const backward_job *job = h->job;
    const ridge__recurrence *r = job->r;
    const head_room *room = h->room;
    const ridge__chunk_tokens *c = &room->tokens;
    const int64_t wide = job->wide, at = sum_at(h, first + i);
    const float *s = room->past + i * ROWS * wide, *next = s + ROWS * wide;
    float *d_s = room->d_state + row * wide;
    float rest[ROWS], u[ROWS], d_u[ROWS], d_m[ROWS];
    rows_input(h, s, i, row, rest, u);
    rows_output_back(next, d_s, c->q + i * wide, c->k + i * wide, job->d_q + at,
                     room->d_o + i * job->rows + row, wide, d_u);
    for (int j = 0; j < ROWS; j++) {
        room->d_v[i * job->rows + row + j] = c->step[i] * d_u[j];
        room->d_step[i] += d_u[j] * rest[j];
        d_m[j] = r->is_delta ? -c->step[i] * d_u[j] : 0.0f;
    }
    const step_back b = {.s = s,
                         .d_s = d_s,
                         .k = c->k + i * wide,
                         .keep = c->keep + i * (r->is_decay_keyed ? wide : 1),
                         .d_k = job->d_k + at,
                         .d_keep = r->is_decay_keyed ? job->d_keep + at : NULL,
                         .u = u,
                         .d_m = d_m};
    room->d_keep[i] += r->is_decay_keyed ? rows_step_back(&b, wide, true)
                                         : rows_step_back(&b, wide, false);
}

/* ---- a head ---------------------------------------------------------------------- */

static void read_rows(const head_job *h, ridge__array from, int64_t first, int64_t n,
                      float *to)
{
    const ridge__recurrence *r = h->job->r;
    const ridge__array all = {to, RIDGE_DTYPE_FP32};
    memset(to, 0, (size_t)(n * h->job->rows) * sizeof *to);
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = (h->sequence * r->t + first + i) * r->heads + h->head;
        row_move(from, row * r->p, all, i * h->job->rows, r->p);
    }
}

static int64_t chunk_length(const ridge__recurrence *r, int64_t first)
{
    return r->t - first < TOKENS ? r->t - first : TOKENS;
}

static void read_chunk(const head_job *h, int64_t first)
{
    const ridge__recurrence *r = h->job->r;
    const int64_t n = chunk_length(r, first);
    chunk_read(r, h->sequence, h->head, first, n, &h->room->tokens);
    read_rows(h, r->v, first, n, h->room->v);
}

/* States before each chunk. */
static void find_begins(const head_job *h)
{
    const backward_job *job = h->job;
    const int64_t state = job->rows * job->wide;
    memset(h->room->begins, 0, (size_t)state * sizeof(float));
    for (int64_t c = 0; c + 1 < job->chunks; c++) {
        read_chunk(h, c * TOKENS);
        for (int64_t row = 0; row < job->rows; row += ROWS) {
            const float *from = h->room->begins + c * state + row * job->wide;
            float *to = h->room->begins + (c + 1) * state + row * job->wide;
            for (int64_t i = 0; i < TOKENS; i++)
                rows_forward(h, i == 0 ? from : to, to, i, row);
        }
    }
}

static void rows_back(const head_job *h, int64_t chunk, int64_t row)
{
    const backward_job *job = h->job;
    const int64_t first = chunk * TOKENS, n = chunk_length(job->r, first);
    const int64_t step = ROWS * job->wide;
    memcpy(h->room->past, h->room->begins + (chunk * job->rows + row) * job->wide,
           (size_t)step * sizeof(float));
    for (int64_t i = 0; i < n; i++)
        rows_forward(h, h->room->past + i * step, h->room->past + (i + 1) * step, i,
                     row);
    for (int64_t i = n; i-- > 0;)
        token_back(h, first, i, row);
}

/* Gradients that are this head's alone. */
static void write_chunk(const head_job *h, int64_t first, int64_t n)
{
    const ridge__recurrence *r = h->job->r;
    const head_room *room = h->room;
    const ridge__array d_v = {room->d_v, RIDGE_DTYPE_FP32};
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = (h->sequence * r->t + first + i) * r->heads + h->head;
        if (r->d_v.p != NULL)
            row_move(d_v, i * h->job->rows, r->d_v, row * r->p, r->p);
        if (r->d_step.p != NULL)
            element_write(r->d_step, row, room->d_step[i]);
        if (r->d_decay.p != NULL && !r->is_decay_keyed)
            element_write(r->d_decay, row, -room->tokens.keep[i] * room->d_keep[i]);
    }
}

static void head_back(const head_job *h)
{
    const backward_job *job = h->job;
    const ridge__recurrence *r = job->r;
    find_begins(h);
    memset(h->room->d_state, 0, (size_t)(job->rows * job->wide) * sizeof(float));
    for (int64_t c = job->chunks; c-- > 0;) {
        const int64_t n = chunk_length(r, c * TOKENS);
        read_chunk(h, c * TOKENS);
        read_rows(h, r->d_o, c * TOKENS, n, h->room->d_o);
        memset(h->room->d_keep, 0, 2 * TOKENS * sizeof(float)); /* and d_step */
        for (int64_t row = 0; row < job->rows; row += ROWS)
            rows_back(h, c, row);
        write_chunk(h, c * TOKENS, n);
    }
}

/* ---- all ------------------------------------------------------------------------- */

/* Heads of a slot: those of its key head that are dealt to it. */
static void slot_back(const backward_job *job, const head_room *room, int64_t task)
{
    const ridge__recurrence *r = job->r;
    const int64_t slot = task % job->slots, key = task / job->slots % r->keys;
    int64_t nth = 0;
    for (int64_t head = 0; head < r->heads; head++) {
        if (key_of(r, head) != key)
            continue;
        if (nth++ % job->slots == slot) {
            const head_job h = {job, room, task / job->slots / r->keys, head, slot};
            head_back(&h);
        }
    }
}

static void heads_part(void *payload, int worker, int workers)
{
    const backward_job *job = payload;
    const ridge__part part =
        ridge__part_of(job->r->batch * job->r->keys * job->slots, 1, worker, workers);
    const head_room room = open_room(job, worker);
    for (int64_t i = part.first; i < part.end; i++)
        slot_back(job, &room, i);
}

static void add_slots(const backward_job *job, float *sums, int64_t at)
{
    for (int64_t s = 1; s < job->slots; s++)
        row_add(sums + at, sums + s * job->sum_floats + at, 1.0f, job->wide);
}

/* Through x / |x| by: d_x = (by / |x|) (d_y - y (y . d_y)) with y = x / |x|. */
static void unit_back(const ridge__recurrence *r, ridge__array from, int64_t row,
                      float by, float *d, float *x)
{
    const ridge__array room = {x, RIDGE_DTYPE_FP32};
    row_move(from, row * r->a, room, 0, r->a);
    const float factor = unit_factor(x, r->a);
    row_scale(x, x, factor, r->a);
    row_add(d, x, -row_dot(x, d, r->a), r->a);
    row_scale(d, d, factor * by, r->a);
}

static void write_vector(const backward_job *job, float *sums, int64_t row,
                         ridge__array of, ridge__array out, float by, float *room)
{
    const ridge__recurrence *r = job->r;
    const ridge__array from = {sums, RIDGE_DTYPE_FP32};
    if (out.p == NULL)
        return;
    add_slots(job, sums, row * job->wide);
    if (r->is_delta)
        unit_back(r, of, row, by, sums + row * job->wide, room);
    row_move(from, row * job->wide, out, row * r->a, r->a);
}

/* d_decay = - keep d_keep */
static void write_keyed_decay(const backward_job *job, int64_t row)
{
    const ridge__recurrence *r = job->r;
    add_slots(job, job->d_keep, row * job->wide);
    const bool is_new = begins_document(r, row / r->keys);
    for (int64_t i = 0; i < r->a; i++) {
        const float keep =
            is_new ? 0.0f : expf(-element_read(r->decay, row * r->a + i));
        element_write(r->d_decay, row * r->a + i,
                      -keep * job->d_keep[row * job->wide + i]);
    }
}

static void sums_part(void *payload, int worker, int workers)
{
    const backward_job *job = payload;
    const ridge__recurrence *r = job->r;
    const ridge__part part =
        ridge__part_of(r->batch * r->t * r->keys, 1, worker, workers);
    float *room = ridge__team_scratch(job->team, worker);
    for (int64_t row = part.first; row < part.end; row++) {
        write_vector(job, job->d_q, row, r->q, r->d_q, query_factor(r), room);
        write_vector(job, job->d_k, row, r->k, r->d_k, 1.0f, room);
        if (r->is_decay_keyed && r->d_decay.p != NULL)
            write_keyed_decay(job, row);
    }
}

/* Sums for more heads at a time where there are more workers than key heads. */
static int64_t slots_of(const ridge__recurrence *r, int workers)
{
    const int64_t tasks = r->batch * r->keys;
    const int64_t wanted = (workers + tasks - 1) / tasks;
    return wanted < r->group ? wanted : r->group;
}

ridge_status RIDGE__KERNEL(recurrence_backward)(ridge__device *d,
                                                const ridge__recurrence *r)
{
    ridge__team *team = ridge__cpu_of(d)->team;
    backward_job job = {.r = r,
                        .team = team,
                        .wide = round_up(r->a, LANES),
                        .chunks = (r->t + TOKENS - 1) / TOKENS,
                        .rows = round_up(r->p, ROWS),
                        .slots = 1};
    if (r->batch * r->keys < 1)
        return RIDGE_OK;
    job.slots = slots_of(r, ridge__team_workers(team));
    job.sum_floats = r->batch * r->t * r->keys * job.wide;
    const size_t all = (size_t)(job.slots * job.sum_floats);
    const size_t arrays = r->is_decay_keyed ? 3 : 2;
    RIDGE_TRY(
        ridge__team_reserve(team, d->cx, (size_t)room_floats(&job) * sizeof(float)));
    RIDGE_TRY(ridge__team_reserve_shared(team, d->cx, arrays * all * sizeof(float)));
    job.d_q = ridge__team_shared(team);
    job.d_k = job.d_q + all;
    job.d_keep = job.d_k + all;
    memset(job.d_q, 0, arrays * all * sizeof(float));
    work_share(d, heads_part, &job, r->batch * r->t * r->heads * r->p * r->a);
    work_share(d, sums_part, &job, job.sum_floats);
    return RIDGE_OK;
}
