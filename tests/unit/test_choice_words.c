/* Every choice has words of its own, and every quantity that can be explained a name.
 */
#include "near.h"

#include "ridge/plan_launch_serving.h"
#include "ridge/plan_service_reasons.h"

#include <string.h>

static void assert_apart(const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_true(words[i] != NULL && words[i][0] != '\0');
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(words[i], words[k]);
    }
}

/* What `what` says of each of `count` choices of that type. */
#define CHECK_WHATS(type, what, count)                                                 \
    do {                                                                               \
        const char *words[count];                                                      \
        for (int i = 0; i < (count); i++)                                              \
            words[i] = what((type)i);                                                  \
        assert_apart(words, RIDGE_COUNT_OF(words));                                    \
    } while (0)

static void choices_of_a_layout_are_told_apart(void **state)
{
    (void)state;
    CHECK_WHATS(ridge_optimizer, ridge_optimizer_what, RIDGE_OPTIMIZER_COUNT);
    CHECK_WHATS(ridge_overlap_kind, ridge_overlap_kind_what, RIDGE_OVERLAP_COUNT);
    CHECK_WHATS(ridge_ep_dispatch, ridge_ep_dispatch_what, RIDGE_DISPATCH_COUNT);
}

static void choices_of_a_service_are_told_apart(void **state)
{
    (void)state;
    CHECK_WHATS(ridge_kv_cut, ridge_kv_cut_what, RIDGE_KV_CUT_SEQUENCE + 1);
    CHECK_WHATS(ridge_service_latency, ridge_service_latency_what,
                RIDGE_SERVICE_LATENCY_COUNT);
    CHECK_WHATS(ridge_serving_launcher, ridge_serving_launcher_what,
                RIDGE_SERVING_LAUNCHER_COUNT);
}

static void quantities_of_a_service_have_names(void **state)
{
    (void)state;
    const char *const *names = ridge_service_quantities();
    size_t n = 0;
    while (names[n] != NULL)
        n++;
    assert_true(n > RIDGE_SERVING_PART_COUNT);
    assert_apart(names, n);
    assert_string_equal(names[0], "ttft");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choices_of_a_layout_are_told_apart),
        cmocka_unit_test(choices_of_a_service_are_told_apart),
        cmocka_unit_test(quantities_of_a_service_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
