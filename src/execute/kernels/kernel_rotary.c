/* Rotary embedding: pairs of neighbours turned by angles that grow with the position.
 */
#include "kernel_simd.h"

#include <math.h>

enum { TURNS = 256 }; /* pairs whose turns are made at a time */

/** Of a token: what elements 2i and 2i + 1 are multiplied by, and what their swapped
 * neighbours are. */
typedef struct turns {
    float own[2 * TURNS], other[2 * TURNS];
} turns;

/**
 * Sine and cosine of any angle below 2^50: the angle is brought to a quarter of a turn
 * in double precision, which keeps positions in the millions exact to fp32.
 */
RIDGE__INLINE void turn_of(double angle, float *sine, float *cosine)
{
    const double magic = 0x1.8p52; /* leaves a whole number in the lowest bits */
    const double shifted = angle * 0x1.45f306dc9c883p-1 + magic, n = shifted - magic;
    const float r =
        (float)((angle - n * 0x1.921fb54442d18p+0) - n * 0x1.1a62633145c07p-54);
    uint64_t q;
    memcpy(&q, &shifted, sizeof q);
    const float s = r * r;
    const float sp =
        ((0x1.6dad02p-19f * s - 0x1.a01372p-13f) * s + 0x1.11110ep-7f) * s -
        0x1.555556p-3f;
    const float cp = (0x1.9bc70ap-16f * s - 0x1.6c12b2p-10f) * s + 0x1.555554p-5f;
    const float sin0 = r + r * s * sp, cos0 = 1.0f - 0.5f * s + s * s * cp;
    const float a = (q & 1) != 0 ? cos0 : sin0, b = (q & 1) != 0 ? sin0 : cos0;
    *sine = (q & 2) != 0 ? -a : a;
    *cosine = ((q + 1) & 2) != 0 ? -b : b;
}

static void make_turns(const ridge__rotary *r, int64_t token, int64_t first, int64_t n,
                       turns *out)
{
    const double position = (double)(r->start + token);
    const float back = r->is_back ? -r->magnitude : r->magnitude;
    for (int64_t i = 0; i < n; i++) {
        float sine, cosine;
        turn_of(position * (double)r->frequencies[first + i], &sine, &cosine);
        out->own[2 * i] = out->own[2 * i + 1] = cosine * r->magnitude;
        out->other[2 * i] = -sine * back;
        out->other[2 * i + 1] = sine * back;
    }
}

/** y = x turned, n elements, n even. */
static void turn_row(const float *x, const turns *t, float *y, int64_t n)
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const vec v = vec_load(x + i);
        vec_store(y + i,
                  v * vec_load(t->own + i) + vec_swap(v) * vec_load(t->other + i));
    }
    if (i < n) {
        const vec v = vec_load_n(x + i, n - i);
        vec_store_n(y + i,
                    v * vec_load_n(t->own + i, n - i) +
                        vec_swap(v) * vec_load_n(t->other + i, n - i),
                    n - i);
    }
}

/** Pairs first .. first + n of one token, in all its heads. */
static void turn_token(const ridge__rotary *r, int64_t at, const turns *t,
                       ridge__part pairs)
{
    float x_room[2 * TURNS], y_room[2 * TURNS];
    const int64_t n = 2 * (pairs.end - pairs.first);
    for (int64_t head = 0; head < r->inner; head++) {
        const int64_t i = (at * r->inner + head) * r->h + 2 * pairs.first;
        float *y = row_begin(r->y, i, y_room);
        turn_row(row_read(r->x, i, n, x_room), t, y, n);
        row_end(r->y, i, n, y);
    }
}

/** An odd last element stays. */
static void keep_odd(const ridge__rotary *r, int64_t at)
{
    for (int64_t head = 0; head < r->inner && r->h % 2 != 0; head++) {
        const int64_t i = (at * r->inner + head) * r->h + r->h - 1;
        element_write(r->y, i, element_read(r->x, i));
    }
}

static void rotary_part(void *payload, int worker, int workers)
{
    const ridge__rotary *r = payload;
    const bool is_outer = r->t < workers; /* few tokens: share out the sequences */
    const ridge__part all_t = {0, r->t}, all_outer = {0, r->outer};
    const ridge__part t = is_outer ? all_t : ridge__part_of(r->t, 1, worker, workers);
    const ridge__part outer =
        is_outer ? ridge__part_of(r->outer, 1, worker, workers) : all_outer;
    turns table;
    for (int64_t token = t.first; token < t.end && outer.first < outer.end; token++) {
        for (int64_t i = 0; i < r->h / 2; i += TURNS) {
            const int64_t n = r->h / 2 - i < TURNS ? r->h / 2 - i : TURNS;
            make_turns(r, token, i, n, &table);
            for (int64_t o = outer.first; o < outer.end; o++)
                turn_token(r, o * r->t + token, &table, (ridge__part){i, i + n});
        }
        for (int64_t o = outer.first; o < outer.end; o++)
            keep_odd(r, o * r->t + token);
    }
}

ridge_status RIDGE__KERNEL(rotary)(ridge__device *d, const ridge__rotary *r)
{
    ridge__rotary job = *r;
    work_share(d, rotary_part, &job, r->outer * r->t * r->inner * r->h);
    return RIDGE_OK;
}
