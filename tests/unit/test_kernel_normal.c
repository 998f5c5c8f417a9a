/* Normal numbers by counter: against the library's log and cos, alike however a row is
 * cut, and spread as normal numbers are, on every instruction set of this CPU. */
#include "near.h"

#include "counter_bits.h"
#include "device_cpu.h"

#include <math.h>

enum { COUNT = 100000 };

static const uint64_t key = 0x5eed;

/* @source box1958, with 53 random bits each. */
static double reference(int64_t place)
{
    const uint64_t at = key + 2 * (uint64_t)place;
    const double u = ((double)(ridge__counter_bits(at) >> 11) + 1.0) * 0x1p-53;
    const double v = (double)(ridge__counter_bits(at + 1) >> 11) * 0x1p-53;
    return sqrt(-2.0 * log(u)) * cos(2.0 * acos(-1.0) * v);
}

static void match_float64(void **state)
{
    static float out[COUNT];
    (void)state;
    for (int at = 0; ridge__kernel_choose(at) != NULL; at++) {
        ridge__kernel_choose(at)->normals(key, 7, COUNT, 1.0F, out);
        for (int i = 0; i < COUNT; i++)
            assert_true(fabs((double)out[i] - reference(7 + i)) < 5e-7);
    }
}

static void each_depends_on_its_place_alone(void **state)
{
    float whole[100], part[100];
    (void)state;
    for (int at = 0; ridge__kernel_choose(at) != NULL; at++) {
        const ridge__kernel_table *t = ridge__kernel_choose(at);
        t->normals(key, 1000, 100, 0.02F, whole);
        for (int first = 0; first < 100; first += 7) {
            t->normals(key, 1000 + first, 100 - first, 0.02F, part);
            for (int i = first; i < 100; i++)
                assert_float_equal(part[i - first], whole[i], 1e-8);
        }
    }
}

/* Moments of the standard normal distribution, to five deviations of their means. */
static void are_spread_as_normal_numbers(void **state)
{
    static float out[COUNT];
    double sums[5] = {0};
    (void)state;
    ridge__kernel_choose(0)->normals(key, 0, COUNT, 1.0F, out);
    for (int i = 0; i < COUNT; i++) {
        for (int k = 1; k < 5; k++)
            sums[k] += pow((double)out[i], k) / COUNT;
    }
    const double each = 5.0 / sqrt(COUNT);
    assert_true(fabs(sums[1]) < each);
    assert_true(fabs(sums[2] - 1.0) < each * sqrt(2.0));
    assert_true(fabs(sums[3]) < each * sqrt(15.0));
    assert_true(fabs(sums[4] - 3.0) < each * sqrt(96.0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(match_float64),
        cmocka_unit_test(each_depends_on_its_place_alone),
        cmocka_unit_test(are_spread_as_normal_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
