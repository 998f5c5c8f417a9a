/*
 * Linear attention with a state, forward. A state's columns go on by themselves, each
 * by its element of the value: two vectors of them are a panel, which stays in the
 * first cache while a chunk of tokens passes it.
 */
#include "kernel_recurrence.h"

enum { TOKENS = 64, PANEL = 2 * LANES };

typedef struct recurrence_job {
    const ridge__recurrence *r;
    ridge__team *team;
    int64_t wide, panels;
} recurrence_job;

/* A worker's room: [panels, wide, PANEL] of state, the tokens of a chunk. */
typedef struct head_room {
    float *state;
    ridge__chunk_tokens tokens;
    float *seen; /* [TOKENS, wide]: keep times k, of a delta rule */
} head_room;

static head_room open_room(const recurrence_job *job, int worker)
{
    float *room = ridge__team_scratch(job->team, worker);
    head_room h = {.state = room};
    room += job->panels * job->wide * PANEL;
    h.tokens = chunk_open(job->r, TOKENS, job->wide, room);
    h.seen = room + chunk_floats(job->r, TOKENS, job->wide);
    return h;
}

static size_t room_bytes(const recurrence_job *job)
{
    return (size_t)(job->panels * job->wide * PANEL +
                    chunk_floats(job->r, TOKENS, job->wide) + TOKENS * job->wide) *
           sizeof(float);
}

/* ---- states ---------------------------------------------------------------------- */

static int64_t columns_of(const ridge__recurrence *r, int64_t panel)
{
    const int64_t left = r->p - panel * PANEL;
    return left < PANEL ? left : PANEL;
}

/* [a, p] <-> panels, with zeros beside them. */
static void move_state(const recurrence_job *job, float *state, float *panels,
                       bool is_out)
{
    const ridge__recurrence *r = job->r;
    for (int64_t j = 0; j < job->panels; j++) {
        const size_t bytes = (size_t)columns_of(r, j) * sizeof *state;
        for (int64_t i = 0; i < r->a; i++) {
            float *inside = panels + (j * job->wide + i) * PANEL;
            float *outside = state + i * r->p + j * PANEL;
            memcpy(is_out ? outside : inside, is_out ? inside : outside, bytes);
        }
    }
}

/* ---- a token --------------------------------------------------------------------- */

typedef struct token {
    const float *k, *q, *keep, *seen;
    float step;
    vec v[2];
} token;

/* S k of the state as it is once it has decayed. */
RIDGE__INLINE void state_at_key(const float *s, const float *seen, int64_t wide,
                                vec out[2])
{
    vec even[2] = {vec_zero(), vec_zero()}, odd[2] = {vec_zero(), vec_zero()};
    for (int64_t i = 0; i < wide; i += 2, s += 2 * PANEL) {
        const vec a = vec_set(seen[i]), b = vec_set(seen[i + 1]);
        even[0] += a * vec_load(s);
        even[1] += a * vec_load(s + LANES);
        odd[0] += b * vec_load(s + PANEL);
        odd[1] += b * vec_load(s + PANEL + LANES);
    }
    out[0] = even[0] + odd[0];
    out[1] = even[1] + odd[1];
}

/* S = keep S + u k^T, o = S q */
RIDGE__INLINE void state_step(float *s, const token *x, const vec u[2], int64_t wide,
                              bool is_keyed, vec out[2])
{
    vec o[2][2] = {{vec_zero(), vec_zero()}, {vec_zero(), vec_zero()}};
    const vec all = vec_set(x->keep[0]);
    for (int64_t i = 0; i < wide; i += 2) {
        for (int64_t odd = 0; odd < 2; odd++, s += PANEL) {
            const vec k = vec_set(x->k[i + odd]), q = vec_set(x->q[i + odd]);
            const vec keep = is_keyed ? vec_set(x->keep[i + odd]) : all;
            const vec a = keep * vec_load(s) + k * u[0];
            const vec b = keep * vec_load(s + LANES) + k * u[1];
            vec_store(s, a);
            vec_store(s + LANES, b);
            o[odd][0] += q * a;
            o[odd][1] += q * b;
        }
    }
    out[0] = o[0][0] + o[1][0];
    out[1] = o[0][1] + o[1][1];
}

static void run_token(const ridge__recurrence *r, float *s, const token *x,
                      int64_t wide, vec o[2])
{
    vec u[2] = {x->v[0], x->v[1]};
    if (r->is_delta) {
        vec m[2];
        state_at_key(s, x->seen, wide, m);
        u[0] -= m[0];
        u[1] -= m[1];
    }
    u[0] *= vec_set(x->step);
    u[1] *= vec_set(x->step);
    if (r->is_decay_keyed)
        state_step(s, x, u, wide, true, o);
    else
        state_step(s, x, u, wide, false, o);
}

/* ---- a head ---------------------------------------------------------------------- */

static void read_value(const ridge__recurrence *r, int64_t at, int64_t n, vec v[2])
{
    float room[PANEL];
    const float *x = row_read(r->v, at, n, room);
    v[0] = vec_load_n(x, n < LANES ? n : LANES);
    v[1] = n > LANES ? vec_load_n(x + LANES, n - LANES) : vec_zero();
}

static void write_output(const ridge__recurrence *r, int64_t at, int64_t n,
                         const vec o[2])
{
    float both[PANEL], room[PANEL];
    vec_store(both, o[0]);
    vec_store(both + LANES, o[1]);
    float *to = row_begin(r->o, at, room);
    memcpy(to, both, (size_t)n * sizeof *to);
    row_end(r->o, at, n, to);
}

/* Keep times key of each token: what S k is of before S has decayed. */
static void find_seen(const ridge__recurrence *r, const ridge__chunk_tokens *c,
                      int64_t n, float *seen)
{
    for (int64_t t = 0; t < n; t++) {
        const float *k = c->k + t * c->wide;
        float *to = seen + t * c->wide;
        if (!r->is_decay_keyed)
            row_scale(to, k, c->keep[t], c->wide);
        for (int64_t i = 0; r->is_decay_keyed && i < c->wide; i++)
            to[i] = k[i] * c->keep[t * c->wide + i];
    }
}

static void run_panel(const recurrence_job *job, const head_room *room, int64_t panel,
                      int64_t row, int64_t n)
{
    const ridge__recurrence *r = job->r;
    const ridge__chunk_tokens *c = &room->tokens;
    const int64_t columns = columns_of(r, panel);
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = (row + i * r->heads) * r->p + panel * PANEL;
        token x = {.k = c->k + i * c->wide,
                   .q = c->q + i * c->wide,
                   .keep = c->keep + i * (r->is_decay_keyed ? c->wide : 1),
                   .seen = room->seen + i * c->wide,
                   .step = c->step[i]};
        vec o[2];
        read_value(r, at, columns, x.v);
        run_token(r, room->state + panel * c->wide * PANEL, &x, c->wide, o);
        write_output(r, at, columns, o);
    }
}

static void run_tokens(const recurrence_job *job, const head_room *room,
                       int64_t sequence, int64_t head, int64_t first, int64_t n)
{
    const ridge__recurrence *r = job->r;
    chunk_read(r, sequence, head, first, n, &room->tokens);
    if (r->is_delta)
        find_seen(r, &room->tokens, n, room->seen);
    for (int64_t j = 0; j < job->panels; j++)
        run_panel(job, room, j, (sequence * r->t + first) * r->heads + head, n);
}

static void run_head(const recurrence_job *job, const head_room *room, int64_t sequence,
                     int64_t head)
{
    const ridge__recurrence *r = job->r;
    float *kept =
        r->state ? r->state + (sequence * r->heads + head) * r->a * r->p : NULL;
    memset(room->state, 0,
           (size_t)(job->panels * job->wide * PANEL) * sizeof *room->state);
    if (kept != NULL)
        move_state(job, kept, room->state, false);
    for (int64_t t = 0; t < r->t; t += TOKENS)
        run_tokens(job, room, sequence, head, t, r->t - t < TOKENS ? r->t - t : TOKENS);
    if (kept != NULL)
        move_state(job, kept, room->state, true);
}

static void heads_part(void *payload, int worker, int workers)
{
    const recurrence_job *job = payload;
    const int64_t heads = job->r->heads;
    const ridge__part part = ridge__part_of(job->r->batch * heads, 1, worker, workers);
    const head_room room = open_room(job, worker);
    for (int64_t i = part.first; i < part.end; i++)
        run_head(job, &room, i / heads, i % heads);
}

ridge_status RIDGE__KERNEL(recurrence)(ridge__device *d, const ridge__recurrence *r)
{
    recurrence_job job = {.r = r,
                          .team = ridge__cpu_of(d)->team,
                          .wide = round_up(r->a, 2),
                          .panels = (r->p + PANEL - 1) / PANEL};
    RIDGE_TRY(ridge__team_reserve(job.team, d->cx, room_bytes(&job)));
    work_share(d, heads_part, &job, r->batch * r->t * r->heads * r->p * r->a);
    return RIDGE_OK;
}
