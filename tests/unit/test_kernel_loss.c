/* The softmax loss against float64: whole, over parts of the vocabulary, backward; and
 * the exponential in it over the range of fp32. */
#include "kernel_fixture.h"
#include "kernel_reference.h"

#include <math.h>

enum { ROUNDS = 10, PARTS_MOST = 3 };

typedef struct loss_case {
    int64_t rows, words, stride, first; /* of the whole */
    kernel_array logits;                /* [rows, stride] */
    int32_t *labels;
    kernel_array loss, lse;
} loss_case;

static loss_case case_of(kernel_trial *t)
{
    loss_case c = {.rows = kernel_pick(t, 0, 20), .words = kernel_pick(t, 1, 3000)};
    c.stride = c.words + seeded_pick(&t->at, 0, 1) * seeded_pick(&t->at, 1, 70);
    c.logits = kernel_random(t, t->dtype, c.rows * c.stride, 30.0);
    c.labels = kernel_words(t, c.rows);
    c.loss = kernel_blank(t, RIDGE_DTYPE_FP32, c.rows);
    c.lse = kernel_blank(t, RIDGE_DTYPE_FP32, c.rows);
    for (int64_t i = 0; i < c.rows; i++) {
        const bool has_label = seeded_pick(&t->at, 0, 4) > 0;
        c.labels[i] = has_label ? (int32_t)seeded_pick(&t->at, 0, c.words - 1) : -1;
        const double *row = c.logits.x + i * c.stride;
        c.lse.x[i] = reference_log_sum(row, c.words);
        c.loss.x[i] = has_label ? c.lse.x[i] - row[c.labels[i]] : 0.0;
    }
    return c;
}

static ridge__loss part_of(kernel_trial *t, const loss_case *c, int64_t first,
                           int64_t end)
{
    return (ridge__loss){
        .rows = c->rows,
        .words = end - first,
        .stride = c->stride,
        .first = first,
        .logits = ridge__array_at(c->logits.a, first),
        .labels = c->labels,
        .top = kernel_words(t, c->rows),
        .sum = kernel_words(t, c->rows),
        .picked = kernel_words(t, c->rows),
        .lse = c->lse.a.p,
        .loss = c->loss.a,
    };
}

/** Bring the sums of n parts to the top of all, and add them up in the first. */
static void parts_join(kernel_trial *t, ridge__loss *parts, int n)
{
    float *tops = kernel_words(t, PARTS_MOST * parts[0].rows);
    for (int64_t i = 0; i < parts[0].rows; i++) {
        float top = -INFINITY;
        for (int p = 0; p < n; p++) {
            tops[p * parts[0].rows + i] = parts[p].top[i];
            top = fmaxf(top, parts[p].top[i]);
        }
        for (int p = 0; p < n; p++)
            parts[p].top[i] = top;
    }
    for (int p = 0; p < n; p++)
        kernel_ok(t,
                  t->d->ops->loss_rescale(t->d, &parts[p], tops + p * parts[0].rows));
    for (int64_t i = 0; i < parts[0].rows; i++) {
        for (int p = 1; p < n; p++) {
            parts[0].sum[i] += parts[p].sum[i];
            parts[0].picked[i] += parts[p].picked[i];
        }
    }
}

static void run_forward(kernel_trial *t)
{
    loss_case c = case_of(t);
    const int n = (int)seeded_pick(&t->at, 1, PARTS_MOST);
    ridge__loss parts[PARTS_MOST];
    for (int p = 0; p < n; p++) {
        parts[p] = part_of(t, &c, c.words * p / n, c.words * (p + 1) / n);
        kernel_ok(t, t->d->ops->loss_partial(t->d, &parts[p]));
    }
    parts_join(t, parts, n);
    kernel_ok(t, t->d->ops->loss_finish(t->d, &parts[0]));
    kernel_check(t, &c.lse, 1e-6, "lse");
    kernel_check(t, &c.loss, 2e-6, "loss");
}

static void parts_give_the_loss_of_the_whole(void **state)
{
    (void)state;
    kernel_trials(run_forward, ROUNDS);
}

static void run_backward(kernel_trial *t)
{
    loss_case c = case_of(t);
    ridge__loss l = part_of(t, &c, 0, c.words);
    kernel_array d_loss = kernel_random(t, t->dtype, c.rows, 2.0);
    kernel_array d_logits = kernel_blank(t, t->dtype, c.rows * c.stride);
    const bool has_slope = seeded_pick(&t->at, 0, 1) == 0;
    for (int64_t i = 0; i < c.rows * c.stride; i++) {
        const int64_t row = i / c.stride, word = i % c.stride;
        const double by = has_slope ? d_loss.x[row] : 1.0;
        const double p = exp(c.logits.x[i] - c.lse.x[row]);
        d_logits.x[i] = c.labels[row] < 0 || word >= c.words
                            ? 0.0
                            : by * (p - (word == c.labels[row] ? 1.0 : 0.0));
    }
    for (int64_t i = 0; i < c.rows; i++)
        kernel_set(c.lse.a, i, c.lse.x[i]);
    l.d_logits = d_logits.a;
    if (has_slope)
        l.d_loss = d_loss.a;
    kernel_ok(t, t->d->ops->loss_backward(t->d, &l));
    kernel_check(t, &d_logits, 4e-6, "d_logits");
}

static void backward_matches_float64(void **state)
{
    (void)state;
    kernel_trials(run_backward, ROUNDS);
}

/* ---- the exponential ------------------------------------------------------------- */

/* d_logits = exp(logit - 0): where that is a normal number, to 2 units in the last
 * place; below, to one of the smallest numbers that there are. */
static void run_exponential(kernel_trial *t)
{
    enum { N = 20000 };
    kernel_array logits = kernel_random(t, RIDGE_DTYPE_FP32, N, 104.0);
    kernel_array d_logits = kernel_blank(t, RIDGE_DTYPE_FP32, N);
    int32_t label = N; /* in no part */
    float lse = 0.0f;
    const ridge__loss l = {.rows = 1,
                           .words = N,
                           .stride = N,
                           .logits = logits.a,
                           .d_logits = d_logits.a,
                           .labels = &label,
                           .lse = &lse};
    kernel_ok(t, t->d->ops->loss_backward(t->d, &l));
    for (int64_t i = 0; i < N; i++) {
        const double want = exp(logits.x[i]), got = kernel_get(d_logits.a, i);
        if (want > 0x1.fffffep127)
            assert_true(isinf(got));
        else if (fabs(got - want) > 2.0 * want * 0x1p-23 + 0x1p-149)
            fail_msg("exp(%.9g) is %.9g, not %.9g", logits.x[i], got, want);
    }
}

static void exponentials_are_exact_to_two_units(void **state)
{
    (void)state;
    kernel_trials(run_exponential, 1);
}

/* ---- odd logits ------------------------------------------------------------------ */

static void run_odd(kernel_trial *t)
{
    enum { ROWS = 4, WORDS = 37 };
    kernel_array logits = kernel_random(t, t->dtype, ROWS * WORDS, 1.0);
    kernel_array sum = kernel_blank(t, RIDGE_DTYPE_FP32, ROWS);
    float top[ROWS], picked[ROWS];
    int32_t labels[ROWS] = {0, 36, 2000000000, -7};
    for (int i = 0; i < WORDS; i++) {
        kernel_set(logits.a, i, i == 20 ? (double)NAN : 0.0);
        kernel_set(logits.a, WORDS + i, i == 36 ? 2.0 : -(double)INFINITY);
        kernel_set(logits.a, 2 * WORDS + i, -INFINITY);
        kernel_set(logits.a, 3 * WORDS + i, 1.0);
    }
    const ridge__loss l = {.rows = ROWS,
                           .words = WORDS,
                           .stride = WORDS,
                           .logits = logits.a,
                           .labels = labels,
                           .top = top,
                           .sum = sum.a.p,
                           .picked = picked};
    kernel_ok(t, t->d->ops->loss_partial(t->d, &l));
    sum.x[0] = NAN;
    sum.x[1] = 1.0;
    sum.x[2] = 0.0;
    sum.x[3] = WORDS;
    kernel_check(t, &sum, 1e-6, "sum");
    assert_near((double)picked[1], 2.0, 0.0);
    assert_near((double)picked[2], 0.0, 0.0);
    assert_near((double)picked[3], 0.0, 0.0);
}

static void odd_logits_stay_in_their_rows(void **state)
{
    (void)state;
    kernel_trials(run_odd, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_give_the_loss_of_the_whole),
        cmocka_unit_test(backward_matches_float64),
        cmocka_unit_test(exponentials_are_exact_to_two_units),
        cmocka_unit_test(odd_logits_stay_in_their_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
