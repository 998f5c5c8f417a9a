/* Rotary embedding and gathering, forward and back, against double precision. */
#include "kernel_fixture.h"

#include <math.h>

enum { ROUNDS = 12 };

/* ---- rotary ---------------------------------------------------------------------- */

typedef struct rotary_case {
    ridge__rotary r;
    kernel_array x, y;
    float *frequencies;
} rotary_case;

static rotary_case rotary_of(kernel_trial *t)
{
    rotary_case c = {.r = {.outer = kernel_pick(t, 0, 4),
                           .t = kernel_pick(t, 1, 40),
                           .inner = kernel_pick(t, 1, 6),
                           .h = kernel_pick(t, 1, 90)}};
    c.r.start = seeded_pick(&t->at, 0, 1) * seeded_pick(&t->at, 0, 4000000);
    c.r.magnitude = seeded_pick(&t->at, 0, 1) == 0 ? 1.0f : 1.25f;
    c.r.is_back = seeded_pick(&t->at, 0, 1) == 0;
    c.frequencies = kernel_words(t, c.r.h / 2);
    for (int64_t i = 0; i < c.r.h / 2; i++)
        c.frequencies[i] = powf(10000.0f, -2.0f * (float)i / (float)c.r.h);
    c.r.frequencies = c.frequencies;
    const int64_t n = c.r.outer * c.r.t * c.r.inner * c.r.h;
    c.x = kernel_random(t, t->dtype, n, 2.0);
    c.y = kernel_blank(t, t->dtype, n);
    c.r.x = c.x.a;
    c.r.y = c.y.a;
    return c;
}

static void want_turned(rotary_case *c, int64_t at)
{
    const ridge__rotary *r = &c->r;
    const int64_t i = at % r->h, token = at / (r->h * r->inner) % r->t;
    if (i == r->h - 1 && r->h % 2 == 1) {
        c->y.x[at] = c->x.x[at];
        return;
    }
    const double angle = (double)(r->start + token) * (double)c->frequencies[i / 2] *
                         (r->is_back ? -1 : 1);
    const double own = c->x.x[at], other = c->x.x[i % 2 == 0 ? at + 1 : at - 1];
    c->y.x[at] = (double)r->magnitude *
                 (own * cos(angle) + (i % 2 == 0 ? -1.0 : 1.0) * other * sin(angle));
}

static void run_rotary(kernel_trial *t)
{
    rotary_case c = rotary_of(t);
    for (int64_t at = 0; at < c.x.n; at++)
        want_turned(&c, at);
    if (seeded_pick(&t->at, 0, 1) == 0)
        c.y.a = c.r.y = c.x.a; /* in place */
    kernel_ok(t, t->d->ops->rotary(t->d, &c.r));
    kernel_check(t, &c.y, 1e-6, "turned");
}

static void rotary_matches_float64(void **state)
{
    (void)state;
    kernel_trials(run_rotary, 2 * ROUNDS);
}

static void run_back(kernel_trial *t)
{
    rotary_case c = rotary_of(t);
    c.r.magnitude = 1.0f;
    ridge__rotary back = c.r;
    back.is_back = !c.r.is_back;
    back.x = back.y = c.y.a;
    kernel_ok(t, t->d->ops->rotary(t->d, &c.r));
    kernel_ok(t, t->d->ops->rotary(t->d, &back));
    c.y.x = c.x.x;
    kernel_check(t, &c.y, t->dtype == RIDGE_DTYPE_BF16 ? 2e-2 : 1e-6, "turned back");
}

static void turned_back_is_as_before(void **state)
{
    (void)state;
    kernel_trials(run_back, ROUNDS);
}

/* ---- gather ---------------------------------------------------------------------- */

static void ids_fill(kernel_trial *t, const ridge__gather *g, int32_t *ids)
{
    for (int64_t i = 0; i < g->rows; i++) {
        const int64_t kind = seeded_pick(&t->at, 0, 9);
        ids[i] = kind == 0 ? INT32_MIN
                 : kind == 1
                     ? INT32_MAX
                     : (int32_t)(g->first + seeded_pick(&t->at, -2, g->words + 1));
    }
}

static ridge__gather gather_of(kernel_trial *t)
{
    ridge__gather g = {.rows = kernel_pick(t, 0, 60),
                       .d = kernel_pick(t, 1, 300),
                       .words = kernel_pick(t, 1, 50),
                       .first = seeded_pick(&t->at, 0, 1) * 7};
    int32_t *ids = kernel_words(t, g.rows);
    ids_fill(t, &g, ids);
    g.ids = ids;
    return g;
}

static void run_gather(kernel_trial *t)
{
    ridge__gather g = gather_of(t);
    kernel_array table = kernel_random(t, RIDGE_DTYPE_FP32, g.words * g.d, 1.0);
    kernel_array y = kernel_blank(t, t->dtype, g.rows * g.d);
    for (int64_t i = 0; i < y.n; i++) {
        const int64_t row = g.ids[i / g.d] - g.first;
        y.x[i] = row >= 0 && row < g.words ? table.x[row * g.d + i % g.d] : 0.0;
    }
    g.table = table.a;
    g.y = y.a;
    kernel_ok(t, t->d->ops->gather(t->d, &g));
    kernel_check(t, &y, 0.0, "gathered");
}

static void gather_takes_rows(void **state)
{
    (void)state;
    kernel_trials(run_gather, ROUNDS);
}

/* A table in bf16 is rounded at each addition, in the order of the rows. */
static void run_gather_back(kernel_trial *t)
{
    ridge__gather g = gather_of(t);
    g.is_backward = true;
    kernel_array y = kernel_random(t, t->dtype, g.rows * g.d, 1.0);
    kernel_array table = kernel_random(t, t->dtype, g.words * g.d, 1.0);
    kernel_array copy = kernel_blank(t, t->dtype, 1);
    for (int64_t i = 0; i < y.n; i++) {
        const int64_t row = g.ids[i / g.d] - g.first;
        if (row < 0 || row >= g.words)
            continue;
        double *sum = &table.x[row * g.d + i % g.d];
        kernel_set(copy.a, 0, (double)((float)*sum + (float)y.x[i]));
        *sum = kernel_get(copy.a, 0);
    }
    g.table = table.a;
    g.y = y.a;
    kernel_ok(t, t->d->ops->gather(t->d, &g));
    for (int64_t i = 0; i < table.n; i++)
        assert_true(kernel_get(table.a, i) == table.x[i]);
    kernel_check(t, &table, 0.0, "table");
}

static void gather_back_adds_rows_in_order(void **state)
{
    (void)state;
    kernel_trials(run_gather_back, ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotary_matches_float64),
        cmocka_unit_test(turned_back_is_as_before),
        cmocka_unit_test(gather_takes_rows),
        cmocka_unit_test(gather_back_adds_rows_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
