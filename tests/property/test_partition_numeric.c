/*
 * A partitioned program computes what the whole one computes: random programs over
 * random meshes under random rules, every tensor compared, padding and all.
 */
#include "near.h"
#include "partition_compare.h"
#include "seeded_program.h"

enum { TRIALS_WHOLE = 500, TRIALS_REAL = 500, TRIALS_TRAIN = 300, RULES_MOST = 8 };

/* What is drawn. */
typedef enum kind { WHOLE_NUMBERS, REAL_NUMBERS, WITH_BACKWARD } kind;

static void run_trial(uint64_t seed, kind what)
{
    ridge_ctx *cx = ridge_ctx_open();
    assert_non_null(cx);
    seeded at = seed;
    partition_case c = {
        .name = "seeded", .seed = seed, .is_whole = what == WHOLE_NUMBERS};
    ridge_rule rules[RULES_MOST];
    c.program = seeded_program(ridge_ctx_arena(cx), &at, c.is_whole);
    if (what == WITH_BACKWARD &&
        ridge_program_backward(cx, c.program, &c.program) != RIDGE_OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, ridge_ctx_message(cx));
    const ridge_mesh mesh = seeded_mesh(&at);
    const int n = seeded_rules(&at, c.program, &mesh, RULES_MOST, rules);
    if (ridge_partition_build(cx, c.program, &mesh, rules, n, NULL, NULL,
                              &c.partition) != RIDGE_OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, ridge_ctx_message(cx));
    partition_compare(cx, &c);
    ridge_ctx_close(cx);
}

static void whole_numbers_come_out_exactly(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < TRIALS_WHOLE; i++)
        run_trial(1000 + i, WHOLE_NUMBERS);
}

static void real_numbers_come_out_alike(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < TRIALS_REAL; i++)
        run_trial(5000 + i, REAL_NUMBERS);
}

static void gradients_come_out_alike(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < TRIALS_TRAIN; i++)
        run_trial(9000 + i, WITH_BACKWARD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_come_out_exactly),
        cmocka_unit_test(real_numbers_come_out_alike),
        cmocka_unit_test(gradients_come_out_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
