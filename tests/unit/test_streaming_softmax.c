/* Softmax over chunks: joined states equal the whole, empty ones change nothing. */
#include "near.h"

#include "ridge/cost.h"

#include <math.h>

/* Scores taken one by one, chunk by chunk and in one go give the same state. */
static void chunks_agree_with_the_whole(void **state)
{
    (void)state;
    const double scores[] = {0.5, -3.0, 700.0, 699.0, 12.0};
    ridge_softmax_state all = {-(double)INFINITY, 0};
    for (size_t i = 0; i < RIDGE_COUNT_OF(scores); i++)
        all = ridge_softmax_combine(all, (ridge_softmax_state){scores[i], 1});
    double denominator = 0;
    for (size_t i = 0; i < RIDGE_COUNT_OF(scores); i++)
        denominator += exp(scores[i] - 700.0);
    assert_near(all.maximum, 700.0, 0);
    assert_near(all.denominator, denominator, 1e-15);
}

static void nothing_stays_nothing(void **state)
{
    (void)state;
    const ridge_softmax_state none = {-(double)INFINITY, 0};
    ridge_softmax_state both = ridge_softmax_combine(none, none);
    assert_near(both.denominator, 0, 0);
    assert_true(isinf(both.maximum) && both.maximum < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_agree_with_the_whole),
        cmocka_unit_test(nothing_stays_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
