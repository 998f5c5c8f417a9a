/* Attention's kernels against sums in double precision: blocks and their tails, few
 * queries over a cache, windows, shared key heads, parts put together. */
#include "kernel_fixture.h"
#include "kernel_reference.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 4 };
static const double TOLERANCE = 4e-6, BACK_TOLERANCE = 2e-5;
/* A bf16 result that was rounded twice on the way. */
static const double TWICE_ROUNDED = 8e-3;

/** A case: its arrays, and the reference's view of them. */
typedef struct attention_case {
    ridge__attention a;
    reference_attention x;
    kernel_array q, k, v, o, lse, d_o, d_q, d_k, d_v;
} attention_case;

/* ---- making cases ---------------------------------------------------------------- */

static void pick_mask(kernel_trial *t, ridge__attention *a)
{
    a->is_causal = seeded_pick(&t->at, 0, 3) > 0;
    a->window = seeded_pick(&t->at, 0, 2) == 0 ? seeded_pick(&t->at, 1, 90) : 0;
    a->is_window_chunked = a->window > 0 && seeded_pick(&t->at, 0, 1) == 0;
    a->s_start = seeded_pick(&t->at, 0, 2) == 0 ? seeded_pick(&t->at, 0, 70) : 0;
    a->q_start = seeded_pick(&t->at, 0, 1) == 0 ? a->s_start + a->s - a->t
                                                : seeded_pick(&t->at, 0, 100);
    a->q_start = a->q_start < 0 ? 0 : a->q_start;
    a->s_valid =
        seeded_pick(&t->at, 0, 2) == 0 ? seeded_pick(&t->at, 0, a->s) : a->s + 3;
}

static ridge__attention pick_shape(kernel_trial *t, int64_t t_most)
{
    static const int64_t widths[] = {1, 3, 8, 16, 20, 33, 64};
    ridge__attention a = {.batch = seeded_pick(&t->at, 1, 2)};
    a.t = kernel_pick(t, 1, t_most);
    a.s = kernel_pick(t, 1, 150);
    a.kv_heads = seeded_pick(&t->at, 1, 2);
    a.heads = a.kv_heads * seeded_pick(&t->at, 1, 3);
    a.h = widths[seeded_pick(&t->at, 0, 6)];
    a.hv = seeded_pick(&t->at, 0, 1) == 0 ? a.h : widths[seeded_pick(&t->at, 0, 6)];
    a.scale = 1.0f / sqrtf((float)a.h);
    a.stride_s = a.s;
    pick_mask(t, &a);
    return a;
}

/* Documents begin behind the entry at which they are drawn, never before the last. */
static void pick_documents(kernel_trial *t, ridge__attention *a)
{
    const int64_t n = a->batch * a->t;
    int32_t *first = kernel_blank(t, RIDGE_DTYPE_FP32, n).a.p;
    for (int64_t i = 0; i < n; i++) {
        const int32_t at = (int32_t)(a->q_start + i % a->t);
        const bool begins = seeded_pick(&t->at, 0, 20) == 0;
        first[i] = i % a->t == 0 ? (int32_t)seeded_pick(&t->at, 0, at)
                   : begins      ? at
                                 : first[i - 1];
    }
    a->first_met = first;
}

static attention_case case_of(kernel_trial *t, ridge__attention a)
{
    const int64_t rows = a.batch * a.t * a.heads;
    const int64_t entries = a.batch * a.stride_s * a.kv_heads;
    attention_case c = {.a = a};
    c.q = kernel_random(t, t->dtype, rows * a.h, 3.0);
    c.k = kernel_random(t, t->dtype, entries * a.h, 3.0);
    c.v = kernel_random(t, t->dtype, entries * a.hv, 1.0);
    c.o = kernel_blank(t, t->dtype, rows * a.hv);
    c.lse = kernel_blank(t, RIDGE_DTYPE_FP32, rows);
    c.x = (reference_attention){
        .q = c.q.x, .k = c.k.x, .v = c.v.x, .o = c.o.x, .lse = c.lse.x};
    c.a.q = c.q.a;
    c.a.k = c.k.a;
    c.a.v = c.v.a;
    c.a.o = c.o.a;
    c.a.lse = c.lse.a.p;
    return c;
}

/** With what a former pass left in the gradients, if they are added to. */
static void case_backward(kernel_trial *t, attention_case *c, bool is_added)
{
    c->a.is_added = is_added;
    c->d_o = kernel_random(t, t->dtype, c->o.n, 1.0);
    c->d_q = is_added ? kernel_random(t, t->dtype, c->q.n, 1.0)
                      : kernel_blank(t, t->dtype, c->q.n);
    c->d_k = is_added ? kernel_random(t, t->dtype, c->k.n, 1.0)
                      : kernel_blank(t, t->dtype, c->k.n);
    c->d_v = is_added ? kernel_random(t, t->dtype, c->v.n, 1.0)
                      : kernel_blank(t, t->dtype, c->v.n);
    c->x.d_o = c->d_o.x;
    c->x.d_q = c->d_q.x;
    c->x.d_k = c->d_k.x;
    c->x.d_v = c->d_v.x;
    c->a.d_o = c->d_o.a;
    c->a.d_q = c->d_q.a;
    c->a.d_k = c->d_k.a;
    c->a.d_v = c->d_v.a;
}

/** Give the kernel what the reference found: backward does not answer for forward. */
static void case_settle(attention_case *c)
{
    for (int64_t i = 0; i < c->o.n; i++) {
        kernel_set(c->o.a, i, c->o.x[i]);
        c->o.x[i] = kernel_get(c->o.a, i);
    }
    for (int64_t i = 0; i < c->lse.n; i++)
        kernel_set(c->lse.a, i, c->lse.x[i]);
}

/* ---- forward --------------------------------------------------------------------- */

static void forward_once(kernel_trial *t, ridge__attention a)
{
    attention_case c = case_of(t, a);
    reference_attend(&c.a, &c.x);
    kernel_ok(t, t->d->ops->attention(t->d, &c.a));
    kernel_check(t, &c.o, TOLERANCE, "o");
    kernel_check(t, &c.lse, TOLERANCE, "lse");
}

static void run_forward(kernel_trial *t)
{
    forward_once(t, pick_shape(t, 150));
}

static void run_documents(kernel_trial *t)
{
    ridge__attention a = pick_shape(t, 150);
    pick_documents(t, &a);
    forward_once(t, a);
}

static void run_few_queries(kernel_trial *t)
{
    ridge__attention a = pick_shape(t, 4);
    a.stride_s = a.s + seeded_pick(&t->at, 0, 40);
    forward_once(t, a);
}

/* So many entries that a single sequence is shared out among threads. */
static void run_long_cache(kernel_trial *t)
{
    ridge__attention a = {.batch = 1,
                          .t = seeded_pick(&t->at, 1, 2),
                          .s = 1500,
                          .s_valid = seeded_pick(&t->at, 900, 1500),
                          .stride_s = 1500,
                          .heads = 2,
                          .kv_heads = 1,
                          .h = 20,
                          .hv = 16,
                          .q_start = 1200,
                          .is_causal = true,
                          .scale = 0.2f};
    forward_once(t, a);
}

static void forward_matches_float64(void **state)
{
    (void)state;
    kernel_trials(run_forward, ROUNDS);
    kernel_trials(run_documents, ROUNDS);
}

static void few_queries_match_float64(void **state)
{
    (void)state;
    kernel_trials(run_few_queries, ROUNDS);
}

static void a_long_cache_matches_float64(void **state)
{
    (void)state;
    kernel_trials(run_long_cache, 2);
}

/* ---- parts put together ---------------------------------------------------------- */

/** The entries from first on as a case of its own, dense. */
static attention_case part_of(kernel_trial *t, const attention_case *whole,
                              int64_t first, int64_t n)
{
    const ridge__attention *a = &whole->a;
    ridge__attention part = *a;
    part.s = part.stride_s = n;
    part.s_start = a->s_start + first;
    part.s_valid = a->s_valid - first;
    attention_case c = case_of(t, part);
    c.a.q = whole->q.a;
    c.x.q = whole->q.x;
    for (int64_t b = 0; b < a->batch; b++) {
        for (int64_t i = 0; i < n * a->kv_heads * a->h; i++)
            kernel_set(c.k.a, b * n * a->kv_heads * a->h + i,
                       whole->k.x[(b * a->s + first) * a->kv_heads * a->h + i]);
        for (int64_t i = 0; i < n * a->kv_heads * a->hv; i++)
            kernel_set(c.v.a, b * n * a->kv_heads * a->hv + i,
                       whole->v.x[(b * a->s + first) * a->kv_heads * a->hv + i]);
    }
    return c;
}

static void run_merge(kernel_trial *t)
{
    attention_case whole = case_of(t, pick_shape(t, 100));
    const ridge__attention *a = &whole.a;
    reference_attend(a, &whole.x);
    const int64_t half = a->s / 2;
    attention_case one = part_of(t, &whole, 0, half);
    attention_case two = part_of(t, &whole, half, a->s - half);
    kernel_ok(t, t->d->ops->attention(t->d, &one.a));
    kernel_ok(t, t->d->ops->attention(t->d, &two.a));
    kernel_ok(t, t->d->ops->attention_merge(t->d, one.lse.n, a->hv, one.o.a, one.a.lse,
                                            two.o.a, two.a.lse));
    one.o.x = whole.o.x;
    one.lse.x = whole.lse.x;
    kernel_check(t, &one.o, t->dtype == RIDGE_DTYPE_BF16 ? TWICE_ROUNDED : TOLERANCE,
                 "merged o");
    kernel_check(t, &one.lse, TOLERANCE, "merged lse");
}

static void two_halves_merge_to_the_whole(void **state)
{
    (void)state;
    kernel_trials(run_merge, ROUNDS);
}

/* ---- backward -------------------------------------------------------------------- */

static void run_backward(kernel_trial *t)
{
    ridge__attention a = pick_shape(t, 150);
    if (seeded_pick(&t->at, 0, 1) == 0)
        pick_documents(t, &a);
    attention_case c = case_of(t, a);
    reference_attend(&c.a, &c.x);
    case_settle(&c);
    case_backward(t, &c, seeded_pick(&t->at, 0, 1) == 0);
    reference_attend_back(&c.a, &c.x);
    kernel_ok(t, t->d->ops->attention_backward(t->d, &c.a));
    kernel_check(t, &c.d_q, BACK_TOLERANCE, "d_q");
    kernel_check(t, &c.d_k, BACK_TOLERANCE, "d_k");
    kernel_check(t, &c.d_v, BACK_TOLERANCE, "d_v");
}

static void backward_matches_float64(void **state)
{
    (void)state;
    kernel_trials(run_backward, ROUNDS);
}

static void fill_zero(kernel_array *y)
{
    for (int64_t i = 0; i < y->n; i++)
        kernel_set(y->a, i, 0.0);
}

/** What is wanted of a part's gradient: the whole's, entries from first on. */
static void want_part(kernel_array *part, const kernel_array *whole, int64_t batch,
                      int64_t skip)
{
    const int64_t n = part->n / batch, all = whole->n / batch;
    for (int64_t i = 0; i < part->n; i++)
        part->x[i] = whole->x[i / n * all + skip + i % n];
}

/** Backward over n entries from first on, d_q added to the whole's. */
static void ring_step(kernel_trial *t, const attention_case *whole, int64_t first,
                      int64_t n)
{
    attention_case c = part_of(t, whole, first, n);
    case_backward(t, &c, true);
    fill_zero(&c.d_k);
    fill_zero(&c.d_v);
    c.a.o = whole->o.a;
    c.a.lse = whole->a.lse;
    c.a.d_o = whole->a.d_o;
    c.a.d_q = whole->a.d_q;
    kernel_ok(t, t->d->ops->attention_backward(t->d, &c.a));
    if (n == 0)
        return;
    want_part(&c.d_k, &whole->d_k, c.a.batch, first * c.a.kv_heads * c.a.h);
    want_part(&c.d_v, &whole->d_v, c.a.batch, first * c.a.kv_heads * c.a.hv);
    kernel_check(t, &c.d_k, BACK_TOLERANCE, "a half's d_k");
    kernel_check(t, &c.d_v, BACK_TOLERANCE, "a half's d_v");
}

/* Ring attention: o and lse of the whole, entries in two halves, d_q added up. */
static void run_ring(kernel_trial *t)
{
    attention_case whole = case_of(t, pick_shape(t, 100));
    const ridge__attention *a = &whole.a;
    reference_attend(a, &whole.x);
    case_settle(&whole);
    case_backward(t, &whole, false);
    reference_attend_back(a, &whole.x);
    fill_zero(&whole.d_q);
    ring_step(t, &whole, 0, a->s / 2);
    ring_step(t, &whole, a->s / 2, a->s - a->s / 2);
    kernel_check(t, &whole.d_q,
                 t->dtype == RIDGE_DTYPE_BF16 ? TWICE_ROUNDED : BACK_TOLERANCE, "d_q");
}

static void two_halves_add_up_to_the_whole(void **state)
{
    (void)state;
    kernel_trials(run_ring, ROUNDS);
}

/* ---- nothing to do --------------------------------------------------------------- */

static void run_empty(kernel_trial *t)
{
    ridge__attention a = pick_shape(t, 70);
    const int64_t kind = seeded_pick(&t->at, 0, 2);
    a.s = a.stride_s = kind == 0 ? 0 : a.s;
    a.s_valid = kind == 1 ? 0 : a.s_valid;
    a.t = kind == 2 ? 0 : a.t;
    attention_case c = case_of(t, a);
    reference_attend(&c.a, &c.x);
    kernel_ok(t, t->d->ops->attention(t->d, &c.a));
    kernel_check(t, &c.o, 0.0, "o of nothing");
    kernel_check(t, &c.lse, 0.0, "lse of nothing");
    case_backward(t, &c, false);
    kernel_ok(t, t->d->ops->attention_backward(t->d, &c.a));
    kernel_check(t, &c.d_q, 0.0, "d_q of nothing");
    kernel_check(t, &c.d_k, 0.0, "d_k of nothing");
    kernel_check(t, &c.d_v, 0.0, "d_v of nothing");
}

static void nothing_met_gives_zeros(void **state)
{
    (void)state;
    kernel_trials(run_empty, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_matches_float64),
        cmocka_unit_test(few_queries_match_float64),
        cmocka_unit_test(a_long_cache_matches_float64),
        cmocka_unit_test(two_halves_merge_to_the_whole),
        cmocka_unit_test(backward_matches_float64),
        cmocka_unit_test(two_halves_add_up_to_the_whole),
        cmocka_unit_test(nothing_met_gives_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
