/* Rows of serving that contradict themselves, and those that do not. */
#include "near.h"
#include "served_run.h"

typedef struct figures {
    served_mode mode;
    double clients, requests_per_s, ttft_s, tpot_s, gap_s;
    ridge_contradiction why;
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
        {SERVED_CLOSED, 4, 2, 1, 0.01, 0, RIDGE_CONTRADICTION_NONE},
        {SERVED_CLOSED, 4, 2, 1, 0.02, 0, RIDGE_CONTRADICTION_CLIENTS},
        {SERVED_CLOSED, 4, 0.5, 1, 0.01, 0, RIDGE_CONTRADICTION_IDLE},
        {SERVED_CLOSED, 4, 0, 1, 0.01, 0,
         RIDGE_CONTRADICTION_NONE}, /* no rate is known */
        {SERVED_CLOSED, 4, 2, 0, 0.02, 0,
         RIDGE_CONTRADICTION_NONE}, /* nor when first tokens come */
        {SERVED_QUEUE, 4, 0.5, 1, 0.01, 0,
         RIDGE_CONTRADICTION_NONE}, /* a queue runs dry */
        {SERVED_QUEUE, 4, 4, 1, 0.01, 0, RIDGE_CONTRADICTION_CLIENTS},
        {SERVED_OPEN, 0, 9, 1, 0.01, 0, RIDGE_CONTRADICTION_NONE},
    };
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        const served_run run = run_of(&cases[i]);
        assert_int_equal(served_contradiction(&run), cases[i].why);
    }
}

static void means_over_requests_are_near_those_over_tokens(void **state)
{
    static const figures cases[] = {
        {SERVED_OPEN, 0, 9, 1, 0.033, 0.03, RIDGE_CONTRADICTION_NONE},
        {SERVED_OPEN, 0, 9, 1, 0.040, 0.03, RIDGE_CONTRADICTION_GAPS},
        {SERVED_OPEN, 0, 9, 1, 0.010, 0.03,
         RIDGE_CONTRADICTION_NONE}, /* several tokens came at once */
    };
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        const served_run run = run_of(&cases[i]);
        assert_int_equal(served_contradiction(&run), cases[i].why);
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
