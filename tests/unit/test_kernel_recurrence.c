/* Linear attention with a state, and convolutions, against double precision; gradients
 * against finite differences of it. */
#include "kernel_fixture.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 5 };

/* ---- recurrences ----------------------------------------------------------------- */

enum { Q, K, V, DECAY, STEP, INPUTS };

typedef struct recurrence_case {
    ridge__recurrence r;
    kernel_array in[INPUTS];
    kernel_array o, state;
} recurrence_case;

/* Documents of a few tokens. */
static int32_t *documents_of(kernel_trial *t, int64_t batch, int64_t tokens)
{
    int32_t *first = kernel_words(t, batch * tokens);
    for (int64_t i = 0; i < batch * tokens; i++) {
        const int64_t at = i % tokens;
        first[i] = at == 0 || kernel_pick(t, 0, 3) == 0 ? (int32_t)at : first[i - 1];
    }
    return first;
}

static int64_t length_of(const ridge__recurrence *r, int input)
{
    const int64_t rows = r->batch * r->t;
    const bool is_key = input <= K || (input == DECAY && r->is_decay_keyed);
    return is_key       ? rows * r->keys * r->a
           : input == V ? rows * r->heads * r->p
                        : rows * r->heads;
}

static recurrence_case recurrence_of(kernel_trial *t, int64_t most)
{
    const int64_t group = kernel_pick(t, 1, 3), keys = kernel_pick(t, 1, 2);
    recurrence_case c = {.r = {.batch = kernel_pick(t, 1, 2),
                               .t = kernel_pick(t, 1, most),
                               .heads = group * keys,
                               .keys = keys,
                               .a = kernel_pick(t, 1, 37),
                               .p = kernel_pick(t, 1, 37),
                               .group = group,
                               .is_delta = kernel_pick(t, 0, 1) == 1,
                               .is_decay_keyed = kernel_pick(t, 0, 1) == 1}};
    static const double SIZES[] = {1.0, 1.0, 1.0, 0.5, 1.0};
    for (int i = 0; i < INPUTS; i++) {
        c.in[i] = kernel_random(t, t->dtype, length_of(&c.r, i), SIZES[i]);
        for (int64_t k = 0; i >= DECAY && k < c.in[i].n; k++) { /* not below 0 */
            kernel_set(c.in[i].a, k, fabs(c.in[i].x[k]));
            c.in[i].x[k] = kernel_get(c.in[i].a, k);
        }
    }
    c.r.q = c.in[Q].a;
    c.r.k = c.in[K].a;
    c.r.v = c.in[V].a;
    c.r.decay = c.in[DECAY].a;
    c.r.step = c.in[STEP].a;
    if (kernel_pick(t, 0, 1) == 1)
        c.r.first_met = documents_of(t, c.r.batch, c.r.t);
    return c;
}

static void unit_vector(const ridge__recurrence *r, const double *x, double *y)
{
    double squares = 1e-6;
    for (int64_t i = 0; i < r->a; i++)
        squares += x[i] * x[i];
    for (int64_t i = 0; i < r->a; i++)
        y[i] = r->is_delta ? x[i] / sqrt(squares) : x[i];
}

/* One token of one head: state [a, p] and o [p] go on. */
static void token_forward(const recurrence_case *c, int64_t row, int64_t head,
                          double *state, double *o)
{
    const ridge__recurrence *r = &c->r;
    const int64_t key = head / r->group, at = (row * r->keys + key) * r->a;
    const double step = c->in[STEP].x[row * r->heads + head];
    const bool is_new = r->first_met != NULL && r->first_met[row] == row % r->t;
    double q[64], k[64];
    unit_vector(r, c->in[Q].x + at, q);
    unit_vector(r, c->in[K].x + at, k);
    for (int64_t j = 0; j < r->p; j++) {
        double seen = 0.0;
        for (int64_t i = 0; i < r->a; i++) {
            const double decay = r->is_decay_keyed
                                     ? c->in[DECAY].x[at + i]
                                     : c->in[DECAY].x[row * r->heads + head];
            state[i * r->p + j] *= is_new ? 0.0 : exp(-decay);
            seen += r->is_delta ? state[i * r->p + j] * k[i] : 0.0;
        }
        const double v = c->in[V].x[(row * r->heads + head) * r->p + j];
        o[j] = 0.0;
        for (int64_t i = 0; i < r->a; i++) {
            state[i * r->p + j] += k[i] * step * (v - seen);
            o[j] += state[i * r->p + j] * q[i];
        }
        o[j] /= r->is_delta ? sqrt((double)r->a) : 1.0;
    }
}

/* @param state  [batch, heads, a, p], in and out */
static void reference(const recurrence_case *c, double *state, double *o)
{
    const ridge__recurrence *r = &c->r;
    for (int64_t s = 0; s < r->batch; s++) {
        for (int64_t head = 0; head < r->heads; head++) {
            double *own = state + (s * r->heads + head) * r->a * r->p;
            for (int64_t t = 0; t < r->t; t++)
                token_forward(c, s * r->t + t, head, own,
                              o + ((s * r->t + t) * r->heads + head) * r->p);
        }
    }
}

static void run_forward(kernel_trial *t)
{
    recurrence_case c = recurrence_of(t, 70);
    const int64_t states = c.r.batch * c.r.heads * c.r.a * c.r.p;
    c.o = kernel_blank(t, t->dtype, length_of(&c.r, V));
    c.state = kernel_random(t, RIDGE_DTYPE_FP32, states, 1.0);
    c.r.o = c.o.a;
    if (kernel_pick(t, 0, 1) == 1) {
        c.r.state = c.state.a.p;
        reference(&c, c.state.x, c.o.x);
    } else {
        reference(&c, kernel_doubles(t, states), c.o.x);
    }
    kernel_ok(t, t->d->ops->recurrence(t->d, &c.r));
    kernel_check(t, &c.o, 2e-5, "o");
    if (c.r.state != NULL)
        kernel_check(t, &c.state, 2e-5, "state");
}

static double slope_at(kernel_trial *t, recurrence_case *c, double *x,
                       const double *d_o)
{
    const double was = *x, small = 1e-5;
    double sums[2] = {0.0, 0.0};
    for (int side = 0; side < 2; side++) {
        const ridge_mark mark = ridge_arena_mark(ridge_ctx_arena(t->cx));
        double *o = kernel_doubles(t, length_of(&c->r, V));
        *x = was + (side == 0 ? -small : small);
        reference(c, kernel_doubles(t, c->r.batch * c->r.heads * c->r.a * c->r.p), o);
        for (int64_t i = 0; i < length_of(&c->r, V); i++)
            sums[side] += o[i] * d_o[i];
        ridge_arena_rewind(ridge_ctx_arena(t->cx), mark);
    }
    *x = was;
    return (sums[1] - sums[0]) / (2.0 * small);
}

/* Gradients that are held against differences; each at a few elements. */
static void check_slopes(kernel_trial *t, recurrence_case *c, const kernel_array *d_o,
                         const kernel_array *d)
{
    static const char *const NAMES[] = {"d_q", "d_k", "d_v", "d_decay", "d_step"};
    for (int i = 0; i < INPUTS; i++) {
        for (int probe = 0; probe < 6; probe++) {
            const int64_t at = kernel_pick(t, 0, c->in[i].n - 1);
            const double want = slope_at(t, c, &c->in[i].x[at], d_o->x);
            const double got = kernel_get(d[i].a, at);
            const double off = t->dtype == RIDGE_DTYPE_BF16 ? 6e-3 : 3e-4;
            if (!(fabs(got - want) <= off * (1.0 + fabs(want))))
                fail_msg("%s[%d]: %g, but the difference is %g", NAMES[i], (int)at, got,
                         want);
        }
    }
}

static void run_backward(kernel_trial *t)
{
    recurrence_case c = recurrence_of(t, 70);
    const kernel_array d_o = kernel_random(t, t->dtype, length_of(&c.r, V), 1.0);
    kernel_array d[INPUTS];
    for (int i = 0; i < INPUTS; i++)
        d[i] = kernel_blank(t, t->dtype, c.in[i].n);
    c.r.d_o = d_o.a;
    c.r.d_q = d[Q].a;
    c.r.d_k = d[K].a;
    c.r.d_v = d[V].a;
    c.r.d_decay = d[DECAY].a;
    c.r.d_step = d[STEP].a;
    kernel_ok(t, t->d->ops->recurrence_backward(t->d, &c.r));
    check_slopes(t, &c, &d_o, d);
}

static void states_go_on_token_by_token(void **state)
{
    (void)state;
    kernel_trials(run_forward, ROUNDS);
}

static void recurrences_have_gradients(void **state)
{
    (void)state;
    kernel_trials(run_backward, 2);
}

/* ---- convolutions ---------------------------------------------------------------- */

typedef struct taps_case {
    ridge__convolution c;
    kernel_array x, w, bias, tail;
} taps_case;

static taps_case taps_of(kernel_trial *t)
{
    taps_case k = {.c = {.batch = kernel_pick(t, 1, 3),
                         .t = kernel_pick(t, 1, 20),
                         .channels = kernel_pick(t, 1, 600),
                         .taps = kernel_pick(t, 1, 5)}};
    const int64_t channels = k.c.channels;
    k.x = kernel_random(t, t->dtype, k.c.batch * k.c.t * channels, 1.0);
    k.w = kernel_random(t, t->dtype, channels * k.c.taps, 1.0);
    k.bias = kernel_random(t, t->dtype, channels, 1.0);
    k.tail = kernel_random(t, t->dtype, k.c.batch * channels * (k.c.taps - 1), 1.0);
    k.c.x = k.x.a;
    k.c.w = k.w.a;
    k.c.bias = k.bias.a;
    if (kernel_pick(t, 0, 2) == 0)
        k.c.first_met = documents_of(t, k.c.batch, k.c.t);
    return k;
}

/* Input at a token that may stand before the first. */
static double input_at(const taps_case *k, int64_t s, int64_t t, int64_t channel)
{
    const int64_t kept = k->c.taps - 1;
    if (k->c.first_met != NULL && t < 0)
        return 0.0;
    if (t >= 0)
        return k->x.x[(s * k->c.t + t) * k->c.channels + channel];
    return k->c.tail.p ? k->tail.x[(s * k->c.channels + channel) * kept + kept + t]
                       : 0.0;
}

/* Whether a row's token is of the document of another of its sequence. */
static bool is_met(const taps_case *k, int64_t row, int64_t from)
{
    return k->c.first_met == NULL || from >= k->c.first_met[row];
}

static void run_taps(kernel_trial *t)
{
    taps_case k = taps_of(t);
    kernel_array y = kernel_blank(t, t->dtype, k.x.n);
    if (k.c.first_met == NULL && kernel_pick(t, 0, 1) == 1)
        k.c.tail = k.tail.a;
    k.c.y = y.a;
    for (int64_t i = 0; i < y.n; i++) {
        const int64_t channel = i % k.c.channels, row = i / k.c.channels;
        y.x[i] = k.bias.x[channel];
        for (int64_t j = 0; j < k.c.taps; j++) {
            const int64_t from = row % k.c.t - k.c.taps + 1 + j;
            if (is_met(&k, row, from))
                y.x[i] += k.w.x[channel * k.c.taps + j] *
                          input_at(&k, row / k.c.t, from, channel);
        }
    }
    const int64_t kept = k.c.taps - 1;
    double *tail = kernel_doubles(t, k.tail.n);
    for (int64_t i = 0; i < k.tail.n; i++)
        tail[i] = input_at(&k, i / kept / k.c.channels, k.c.t - kept + i % kept,
                           i / kept % k.c.channels);
    kernel_ok(t, t->d->ops->convolution(t->d, &k.c));
    kernel_check(t, &y, 1e-6, "y");
    if (k.c.tail.p != NULL) {
        memcpy(k.tail.x, tail, (size_t)k.tail.n * sizeof *tail);
        kernel_check(t, &k.tail, 0.0, "tail");
    }
}

static void run_taps_backward(kernel_trial *t)
{
    taps_case k = taps_of(t);
    const int64_t channels = k.c.channels, taps = k.c.taps;
    const kernel_array d_y = kernel_random(t, t->dtype, k.x.n, 1.0);
    kernel_array d_x = kernel_blank(t, t->dtype, k.x.n);
    kernel_array d_w = kernel_blank(t, t->dtype, k.w.n);
    kernel_array d_bias = kernel_blank(t, t->dtype, channels);
    for (int64_t i = 0; i < k.x.n; i++) {
        const int64_t channel = i % channels, row = i / channels;
        d_bias.x[channel] += d_y.x[i];
        for (int64_t j = 0; j < taps; j++) {
            const int64_t from = row % k.c.t - taps + 1 + j;
            if (from < 0 || !is_met(&k, row, from))
                continue;
            const int64_t at = i - (taps - 1 - j) * channels;
            d_w.x[channel * taps + j] += d_y.x[i] * k.x.x[at];
            d_x.x[at] += d_y.x[i] * k.w.x[channel * taps + j];
        }
    }
    k.c.d_y = d_y.a;
    k.c.d_x = d_x.a;
    k.c.d_w = d_w.a;
    k.c.d_bias = d_bias.a;
    kernel_ok(t, t->d->ops->convolution_backward(t->d, &k.c));
    kernel_check(t, &d_x, 2e-6, "d_x");
    kernel_check(t, &d_w, 2e-5, "d_w");
    kernel_check(t, &d_bias, 2e-5, "d_bias");
}

static void convolutions_go_on_behind_a_tail(void **state)
{
    (void)state;
    kernel_trials(run_taps, ROUNDS);
}

static void convolutions_have_gradients(void **state)
{
    (void)state;
    kernel_trials(run_taps_backward, ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_go_on_token_by_token),
        cmocka_unit_test(recurrences_have_gradients),
        cmocka_unit_test(convolutions_go_on_behind_a_tail),
        cmocka_unit_test(convolutions_have_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
