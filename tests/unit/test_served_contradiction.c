/* Rows of serving that contradict themselves, and those that do not. */
#include "near.h"
#include "served_run.h"

#include <string.h>

typedef struct figures {
    served_mode mode;
    double clients, requests_per_s, ttft_s, tpot_s, gap_s;
    const char *why; /* NULL: none */
} figures;

/* Answers of 101 tokens, so that one takes TTFT + 100 TPOT. */
static served_run run_of(const figures *f)
{
    served_run run = {.mode = f->mode,
                      .concurrency = f->clients,
                      .output_tokens = 101,
                      .measured_requests_per_s = f->requests_per_s,
                      .measured_gap_s = f->gap_s};
    run.measured[RIDGE_SERVING_METRIC_TTFT] = f->ttft_s;
    run.measured[RIDGE_SERVING_METRIC_TPOT] = f->tpot_s;
    return run;
}

/* Four clients that are answered twice a second, each in 2 s, are in flight. */
static void requests_in_flight_are_as_little_says(void **state)
{
    static const figures cases[] = {
        {SERVED_CLOSED, 4, 2, 1, 0.01, 0, NULL},
        {SERVED_CLOSED, 4, 2, 1, 0.02, 0, "more requests in flight"},
        {SERVED_CLOSED, 4, 0.5, 1, 0.01, 0, "half of its clients idle"},
        {SERVED_CLOSED, 4, 0, 1, 0.01, 0, NULL},  /* no rate is known */
        {SERVED_CLOSED, 4, 2, 0, 0.02, 0, NULL},  /* nor when first tokens come */
        {SERVED_QUEUE, 4, 0.5, 1, 0.01, 0, NULL}, /* a queue runs dry */
        {SERVED_QUEUE, 4, 4, 1, 0.01, 0, "more requests in flight"},
        {SERVED_OPEN, 0, 9, 1, 0.01, 0, NULL},
    };
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        const served_run run = run_of(&cases[i]);
        const char *why = served_contradiction(&run);
        assert_int_equal(why == NULL, cases[i].why == NULL);
        assert_true(why == NULL || strstr(why, cases[i].why) != NULL);
    }
}

static void means_over_requests_are_near_those_over_tokens(void **state)
{
    static const figures cases[] = {
        {SERVED_OPEN, 0, 9, 1, 0.033, 0.03, NULL},
        {SERVED_OPEN, 0, 9, 1, 0.040, 0.03, "far above its gaps"},
        {SERVED_OPEN, 0, 9, 1, 0.010, 0.03, NULL}, /* several tokens came at once */
    };
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        const served_run run = run_of(&cases[i]);
        const char *why = served_contradiction(&run);
        assert_int_equal(why == NULL, cases[i].why == NULL);
        assert_true(why == NULL || strstr(why, cases[i].why) != NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_in_flight_are_as_little_says),
        cmocka_unit_test(means_over_requests_are_near_those_over_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
