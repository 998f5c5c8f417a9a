/* A table of prices: what was put in is found, by all of its key, however much more
 * comes after it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "serving_memo.h"

enum { KINDS = 300, PLACES = 200 };

static serving_key key_of(int kind, int place)
{
    return (serving_key){.of = {100 + kind % 7, kind, 0, kind / 3, 5, -kind},
                         .at = {place * 0.25, kind % 2 == 0 ? 0 : place}};
}

static void what_is_put_is_found(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    ridge_arena *arena = ridge_ctx_arena(cx);
    serving_memo memo = {0};
    (void)state;
    for (int i = 0; i < KINDS * PLACES; i++) {
        const serving_key key = key_of(i % KINDS, i / KINDS);
        const serving_price price = {{i, 2.0 * i, 0, -1}};
        assert_null(serving_memo_find(&memo, &key));
        serving_memo_put(arena, &memo, &key, &price);
    }
    for (int i = 0; i < KINDS * PLACES; i++) {
        const serving_key key = key_of(i % KINDS, i / KINDS);
        const serving_price *price = serving_memo_find(&memo, &key);
        assert_non_null(price);
        assert_true(price->of[0] <= i && price->of[0] >= i);
    }
    ridge_ctx_close(cx);
}

static void each_word_of_a_key_counts(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    serving_memo memo = {0};
    const serving_price price = {{1}};
    const serving_key key = key_of(3, 4);
    (void)state;
    serving_memo_put(ridge_ctx_arena(cx), &memo, &key, &price);
    for (int i = 0; i < SERVING_KEY_WORDS; i++) {
        serving_key other = key;
        other.of[i]++;
        assert_null(serving_memo_find(&memo, &other));
    }
    for (int i = 0; i < 2; i++) {
        serving_key other = key;
        other.at[i] += 0.5;
        assert_null(serving_memo_find(&memo, &other));
    }
    ridge_ctx_close(cx);
}

static void a_price_takes_the_place_of_an_earlier_one(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    serving_memo memo = {0};
    const serving_key key = key_of(1, 1);
    (void)state;
    for (int i = 0; i < 3; i++) {
        const serving_price price = {{i}};
        serving_memo_put(ridge_ctx_arena(cx), &memo, &key, &price);
    }
    assert_true(serving_memo_find(&memo, &key)->of[0] > 1.5);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_is_found),
        cmocka_unit_test(each_word_of_a_key_counts),
        cmocka_unit_test(a_price_takes_the_place_of_an_earlier_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
