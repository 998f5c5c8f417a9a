/* The rate of each step, and the words of schedules and tokenizers. */
#include "near.h"

#include "ridge/execute.h"
#include "ridge/execute_text.h"

static void a_cosine_ends_at_its_least_share(void **state)
{
    (void)state;
    const ridge_learning usual = ridge_learning_usual();
    assert_near(ridge_learning_rate(&usual, 0, 1000), 3e-4, 1e-12);
    assert_near(ridge_learning_rate(&usual, 500, 1000), 3e-4 * 0.55, 1e-12);
    assert_near(ridge_learning_rate(&usual, 1000, 1000), 3e-5, 1e-9);
}

static void a_warm_up_rises_from_the_first_step(void **state)
{
    (void)state;
    ridge_learning l = ridge_learning_usual();
    l.kind = RIDGE_RATE_LINEAR;
    l.warmup = 3;
    assert_near(ridge_learning_rate(&l, 0, 103), 3e-4 / 4, 1e-12);
    assert_near(ridge_learning_rate(&l, 2, 103), 3e-4 * 3 / 4, 1e-12);
    assert_near(ridge_learning_rate(&l, 3, 103), 3e-4, 1e-12);
    assert_near(ridge_learning_rate(&l, 53, 103), 3e-4 * 0.55, 1e-12);
    l.kind = RIDGE_RATE_CONSTANT;
    assert_near(ridge_learning_rate(&l, 102, 103), 3e-4, 1e-12);
}

static void words_are_read_as_they_are_written(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    for (int k = RIDGE_RATE_CONSTANT; k <= RIDGE_RATE_LINEAR; k++) {
        ridge_rate_kind back;
        const char *text = ridge_rate_kind_text((ridge_rate_kind)k);
        assert_int_equal(ridge_rate_kind_parse(cx, text, &back), RIDGE_OK);
        assert_int_equal((int)back, k);
    }
    assert_string_equal(ridge_tokenizer_kind_text(RIDGE_TOKENIZER_LLAMA2C), "llama2.c");
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cosine_ends_at_its_least_share),
        cmocka_unit_test(a_warm_up_rises_from_the_first_step),
        cmocka_unit_test(words_are_read_as_they_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
