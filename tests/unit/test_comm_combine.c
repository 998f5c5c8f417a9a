/* Sums and copies of collectives: the best instruction set and the plainest one give
 * the bits of the definition, at every offset, in place and past the caches. */
#include "comm_combine.h"
#include "comm_data.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern ridge__combine_fn ridge__combine_base;

enum { SOURCES = 5, N = 5000 };

/** What a case is about, and its arrays. */
typedef struct combine_case {
    ridge_ctx *cx;
    ridge__combine c;
    const void *sources[SOURCES];
    void *places[2];
    void *wanted;
} combine_case;

static void prepare(combine_case *t, int n_sources)
{
    for (int s = 0; s < SOURCES; s++)
        t->sources[s] = comm_data_new(t->cx, t->c.element, N, 11, s);
    for (int p = 0; p < 2; p++)
        t->places[p] = comm_data_room(t->cx, t->c.element, N);
    t->wanted = comm_data_room(t->cx, t->c.element, N);
    assert_non_null(t->wanted);
    t->c.n_sources = n_sources;
    t->c.n_places = 2;
    t->c.sources = t->sources;
    t->c.places = t->places;
}

static void run(combine_case *t, ridge__combine_fn *combine)
{
    comm_data_sum sum = {t->c.element, t->c.reduce, t->c.n_sources, t->sources};
    for (int64_t i = 0; i < t->c.n; i++)
        comm_data_reduce(&sum, t->c.from + i, t->wanted, t->c.to + i);
    combine(&t->c);
    ridge__stream_end();
    for (int p = 0; p < 2; p++) /* what lies around is untouched too */
        assert_int_equal(
            comm_data_compare(t->cx, "sum", t->c.element, t->places[p], t->wanted, N),
            RIDGE_OK);
}

/** All elements, reductions and numbers of sources, at some offsets and lengths. */
static void run_all(ridge__combine_fn *combine)
{
    static const int64_t spans[][3] = {{0, 0, N},   {1, 3, 2048}, {7, 0, 2049},
                                       {0, 5, 17},  {3, 3, 0},    {100, 1, 4200},
                                       {16, 16, 64}};
    for (unsigned k = 0; k < 3 * 2 * SOURCES * 2; k++) {
        for (size_t i = 0; i < RIDGE_COUNT_OF(spans); i++) {
            combine_case t = {.cx = ridge_ctx_open(),
                              .c = {.element = (ridge_element)(k % 3),
                                    .reduce = (ridge_reduce)(k / 3 % 2),
                                    .is_streamed = k / 6 % 2 == 1,
                                    .from = spans[i][0],
                                    .to = spans[i][1],
                                    .n = spans[i][2]}};
            prepare(&t, 1 + (int)(k / 12));
            run(&t, combine);
            ridge_ctx_close(t.cx);
        }
    }
}

static void test_best(void **unused)
{
    (void)unused;
    run_all(ridge__combine_choose());
}

static void test_plainest(void **unused)
{
    (void)unused;
    run_all(ridge__combine_base);
}

/** A NaN of any rank is in the sum and is the largest. */
static void test_nan(void **unused)
{
    (void)unused;
    for (int at = 0; at < 3; at++) {
        float x[3][70] = {0};
        float out[70];
        const void *sources[] = {x[0], x[1], x[2]};
        void *place = out;
        x[at][33] = NAN;
        for (int reduce = 0; reduce < 2; reduce++) {
            ridge__combine c = {.reduce = (ridge_reduce)reduce,
                                .n_sources = 3,
                                .n_places = 1,
                                .sources = sources,
                                .places = &place,
                                .n = 70};
            ridge__combine_choose()(&c);
            for (int i = 0; i < 70; i++)
                assert_int_equal(isnan(out[i]) != 0, i == 33);
        }
    }
}

/** In place: the first source is a place. */
static void test_in_place(void **unused)
{
    (void)unused;
    for (int element = 0; element < 3; element++) {
        combine_case t = {.cx = ridge_ctx_open(),
                          .c = {.element = (ridge_element)element, .n = N}};
        prepare(&t, 3);
        void *first = comm_data_new(t.cx, t.c.element, N, 11, 0);
        t.places[1] = first;
        comm_data_sum sum = {t.c.element, t.c.reduce, 3, t.sources};
        for (int64_t i = 0; i < N; i++)
            comm_data_reduce(&sum, i, t.wanted, i);
        t.sources[0] = first;
        ridge__combine_choose()(&t.c);
        assert_int_equal(
            comm_data_compare(t.cx, "sum", t.c.element, first, t.wanted, N), RIDGE_OK);
        ridge_ctx_close(t.cx);
    }
}

/** Copies at every alignment, streamed and not. */
static void test_copies(void **unused)
{
    (void)unused;
    unsigned char from[400], to[400];
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)(i * 7 + 1);
    for (size_t start = 0; start < 70; start++) {
        for (size_t n = 0; n < 300; n += 13) {
            memset(to, 0, sizeof to);
            ridge__stream_copy(to + start, from + start / 2, n, true);
            ridge__stream_end();
            assert_memory_equal(to + start, from + start / 2, n);
            assert_int_equal(to[start + n], 0);
        }
    }
    ridge__rows rows = {.rows = 3, .row_bytes = 5, .dst_bytes = 11, .src_bytes = 7};
    memset(to, 0, sizeof to);
    ridge__rows_copy(to, from, &rows);
    assert_memory_equal(to + 11, from + 7, 5);
    assert_int_equal(to[11 + 5], 0);
    ridge__rows_zero(to, &rows);
    assert_int_equal(to[22 + 4], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best),   cmocka_unit_test(test_plainest),
        cmocka_unit_test(test_nan),    cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
