/*
 * Prices that layouts share against prices of their own: a desk that has priced all
 * others before says the same of each as one that was opened for it, to the last bit.
 */
#include "serving_fixture.h"

#include <string.h>

/* Tables of a layout, as far as two desks have to agree. */
static void assert_same_curve(const ridge_curve_table *a, const ridge_curve_table *b)
{
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->x, b->x, (size_t)a->n * sizeof *a->x);
    assert_memory_equal(a->y, b->y, (size_t)a->n * sizeof *a->y);
}

static void assert_same_plane(const ridge_plane_table *a, const ridge_plane_table *b)
{
    assert_int_equal(a->n_x, b->n_x);
    assert_int_equal(a->n_y, b->n_y);
    assert_memory_equal(a->x, b->x, (size_t)a->n_x * sizeof *a->x);
    assert_memory_equal(a->y, b->y, (size_t)a->n_y * sizeof *a->y);
    assert_memory_equal(a->z, b->z, (size_t)a->n_x * (size_t)a->n_y * sizeof *a->z);
}

static void assert_same_speed(const ridge_serving_speed *a,
                              const ridge_serving_speed *b)
{
    assert_same_curve(&a->rows, &b->rows);
    assert_same_curve(&a->head, &b->head);
    assert_int_equal(a->rank_rows.n == 0, b->rank_rows.n == 0);
    if (a->rank_rows.n > 0)
        assert_same_curve(&a->rank_rows, &b->rank_rows);
    assert_int_equal(a->n_caches, b->n_caches);
    for (int i = 0; i < a->n_caches; i++) {
        assert_same_plane(&a->caches[i].decode, &b->caches[i].decode);
        assert_same_plane(&a->caches[i].prefill, &b->caches[i].prefill);
    }
}

/* All that a layout may differ in, of sixteen chips; formats beside the checkpoint's.
 */
static bool draw_layout(ridge_serving_layout *l, int number)
{
    static const int64_t degrees[][3] = {{1, 16, 1}, {2, 8, 1}, {4, 4, 1}, {8, 2, 1},
                                         {8, 1, 2},  {4, 2, 2}, {2, 2, 4}, {16, 1, 1}};
    const int64_t *d = degrees[number % 8];
    const int variant = number / 8;
    l->tp = d[0];
    l->attention_dp = d[1];
    l->pp = d[2];
    l->ep = variant % 2 == 0 ? d[0] * d[1] : d[1];
    l->has_two_batches = variant / 2 % 2 == 1;
    l->kv_cut = (ridge_kv_cut)(variant / 4 % 3);
    l->formats.cache = variant / 12 % 2 == 0 ? RIDGE_DTYPE_FP8 : RIDGE_DTYPE_BF16;
    l->formats.expert_compute = variant % 3 == 0 ? RIDGE_DTYPE_BF16 : RIDGE_DTYPE_FP8;
    l->sequences = 64 * l->attention_dp * l->pp;
    return variant < 24;
}

static void a_used_desk_prices_as_a_new_one(void **state)
{
    static const char *const models[] = {"deepseek-v2-lite", "qwen3-30b-a3b"};
    for (size_t m = 0; m < RIDGE_COUNT_OF(models); m++) {
        const serving_fixture used =
            serving_fixture_of(*state, models[m], "h200:2x8", 1);
        ridge_serving_layout l = used.layout;
        for (int i = 0; draw_layout(&l, i); i++) {
            ridge_serving_speed first, second;
            if (ridge_serving_layout_fault(used.desk, &l) != NULL)
                continue;
            assert_ok(*state, ridge_serving_speed_build(used.desk, &l, &first));
            if (i % 7 != 0)
                continue;
            ridge_ctx *cx = ridge_ctx_open();
            ridge_serving_desk *fresh = serving_desk_of(cx, used.model, used.slice);
            assert_ok(cx, ridge_serving_speed_build(fresh, &l, &second));
            assert_same_speed(&first, &second);
            ridge_ctx_close(cx);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_used_desk_prices_as_a_new_one, fixture_open,
                                        fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
