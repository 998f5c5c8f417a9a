/* Laws of collectives over random networks and groups; the seed is in each failure. */
#include "near.h"

#include "network_build.h"
#include "ridge/cost.h"

#include <math.h>

enum { CASES = 4000 };

/* splitmix64: every case has its own seed, so that a failure names it. */
static uint64_t next_u64(uint64_t *seed)
{
    uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int64_t pick(uint64_t *seed, int64_t low, int64_t high)
{
    return low + (int64_t)(next_u64(seed) % (uint64_t)(high - low + 1));
}

static double between(uint64_t *seed, double low, double high)
{
    return low + (high - low) * (double)(next_u64(seed) >> 11) * 0x1p-53;
}

typedef struct sample {
    ridge_slice slice;
    ridge_group group;
    ridge_collective kind;
    double bytes;
} sample;

static void random_facts(uint64_t *seed, ridge_axis *axis)
{
    axis->latency_s = between(seed, 0.0, 2e-5);
    axis->startup_s = between(seed, 0.0, 2e-5);
    axis->efficiency = between(seed, 0.3, 1.0);
    if (pick(seed, 0, 1)) {
        axis->alltoall_efficiency = between(seed, 0.3, 1.0);
        axis->reduce_efficiency = between(seed, 0.3, 1.0);
    }
    axis->half_rate_bytes = pick(seed, 0, 1) ? between(seed, 0.0, 3e7) : 0.0;
}

static void random_axes(uint64_t *seed, ridge_slice *slice)
{
    static const ridge_axis_kind inner[] = {RIDGE_AXIS_SWITCH, RIDGE_AXIS_MESH,
                                            RIDGE_AXIS_BUS};
    if (pick(seed, 0, 1)) {
        const int64_t dims = pick(seed, 1, 3);
        for (int64_t i = 0; i < dims; i++)
            test_torus(slice, pick(seed, 2, 16), pick(seed, 0, 1) != 0,
                       between(seed, 1e9, 2e11));
        if (pick(seed, 0, 1))
            test_axis(slice, RIDGE_AXIS_DCN, pick(seed, 2, 8), 5e9);
    } else {
        const ridge_axis_kind kind = inner[pick(seed, 0, 2)];
        test_axis(slice, kind, pick(seed, 2, 72), between(seed, 1e10, 1e12))
            ->can_reduce = kind == RIDGE_AXIS_SWITCH && pick(seed, 0, 1) != 0;
        const int64_t fabrics = pick(seed, 0, 2);
        for (int64_t i = 0; i < fabrics; i++)
            test_axis(slice, RIDGE_AXIS_FABRIC, pick(seed, 2, 32), 5e10)->can_reduce =
                pick(seed, 0, 3) == 0;
    }
    for (int i = 0; i < slice->n_axes; i++)
        random_facts(seed, &slice->axes[i]);
}

/* A divisor of each axis, at a stride that keeps it on the axis. */
static ridge_group random_group(uint64_t *seed, const ridge_slice *slice)
{
    ridge_group group = {.ranks = 1};
    for (int i = 0; i < slice->n_axes; i++) {
        const int64_t size = slice->axes[i].size;
        int64_t part = pick(seed, 1, size);
        while (size % part != 0)
            part--;
        if (part == 1)
            continue;
        int64_t stride = pick(seed, 1, size / part);
        while ((size / part) % stride != 0)
            stride--;
        group.spans[group.n_spans++] = (ridge_span){i, part, stride};
        group.ranks *= part;
    }
    return group;
}

static sample random_sample(uint64_t seed)
{
    sample s = {.slice = test_slice()};
    random_axes(&seed, &s.slice);
    s.group = random_group(&seed, &s.slice);
    s.kind = (ridge_collective)pick(&seed, 0, RIDGE_COLLECTIVE_COUNT - 1);
    s.bytes = exp2(between(&seed, 0.0, 36.0));
    return s;
}

static ridge_time time_of(const sample *s)
{
    return ridge_collective_time(&s->slice, s->kind, s->bytes, &s->group);
}

static void hold(bool law, uint64_t seed, const char *what)
{
    if (law)
        return;
    print_error("seed %llu: %s\n", (unsigned long long)seed, what);
    fail();
}

static bool is_at_most(double a, double b)
{
    return a <= b * (1 + 1e-12);
}

static void the_bound_is_never_above_the_expectation(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        const sample s = random_sample(seed);
        const ridge_time t = time_of(&s);
        hold(isfinite(t.expected_s) && t.bound_s >= 0.0, seed, "finite");
        hold(t.bound_s <= t.expected_s, seed, "bound <= expected");
        hold((s.group.ranks > 1) == (t.expected_s > 0.0), seed, "free for one rank");
    }
}

static void the_price_agrees_with_the_time(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        const sample s = random_sample(seed);
        const ridge_time t = time_of(&s);
        const ridge_collective_cost cost =
            ridge_collective_price(&s.slice, s.kind, s.bytes, &s.group);
        hold(cost.expected_s == t.expected_s, seed, "expected");
        hold(cost.bound_s == t.bound_s, seed, "bound");
        bool is_listed = false;
        for (int i = 0; i < cost.n_algorithms; i++) {
            const ridge_algorithm_cost *a = &cost.algorithms[i];
            hold(a->bound_s <= a->expected_s, seed, "each bound <= expected");
            hold(cost.bound_s <= a->bound_s, seed, "least bound");
            hold(fabs(a->latency_s + a->bandwidth_s - a->expected_s) <=
                     1e-12 * a->expected_s,
                 seed, "parts sum");
            is_listed = is_listed || (a->algorithm == cost.algorithm &&
                                      a->expected_s == cost.expected_s);
        }
        hold(is_listed, seed, "the cheapest is listed");
    }
}

static void more_bytes_are_never_faster(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        sample s = random_sample(seed);
        const ridge_time few = time_of(&s);
        s.bytes *= 1.5;
        const ridge_time many = time_of(&s);
        hold(is_at_most(few.bound_s, many.bound_s), seed, "bound");
        hold(is_at_most(few.expected_s, many.expected_s), seed, "expected");
        hold(is_at_most(many.expected_s, few.expected_s * 1.5), seed,
             "no more than in proportion");
    }
}

static void more_bandwidth_is_never_slower(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        sample s = random_sample(seed);
        const ridge_time slow = time_of(&s);
        ridge_axis *axis = &s.slice.axes[seed % (uint64_t)s.slice.n_axes];
        axis->bytes_per_s *= 1.5;
        const ridge_time fast = time_of(&s);
        hold(is_at_most(fast.bound_s, slow.bound_s), seed, "bound");
        hold(is_at_most(fast.expected_s, slow.expected_s), seed, "expected");
        axis->latency_s *= 0.5;
        hold(is_at_most(time_of(&s).expected_s, fast.expected_s), seed, "latency");
    }
}

static void an_all_reduce_is_a_reduce_scatter_and_a_gather(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        sample s = random_sample(seed);
        s.kind = RIDGE_COLLECTIVE_ALL_GATHER;
        const ridge_time gather = time_of(&s);
        s.kind = RIDGE_COLLECTIVE_REDUCE_SCATTER;
        const ridge_time scatter = time_of(&s);
        s.kind = RIDGE_COLLECTIVE_ALL_REDUCE;
        const ridge_time both = time_of(&s);
        hold(gather.expected_s == scatter.expected_s, seed, "gather = scatter");
        hold(is_at_most(both.bound_s, gather.bound_s + scatter.bound_s), seed,
             "bound of both");
        hold(is_at_most(both.expected_s, gather.expected_s + scatter.expected_s), seed,
             "expected of both");
        const bool is_torus = s.slice.axes[s.slice.n_axes - 1].kind == RIDGE_AXIS_TORUS;
        if (is_torus)
            hold(fabs(both.bound_s - 2.0 * gather.bound_s) <= 1e-12 * both.bound_s,
                 seed, "equal where no switch adds");
    }
}

static void the_order_of_equal_torus_axes_does_not_matter(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        uint64_t draw = seed;
        sample s = {.slice = test_slice(), .bytes = 1e8};
        sample turned = {.slice = test_slice(), .bytes = 1e8};
        const int64_t sizes[] = {pick(&draw, 2, 16), pick(&draw, 2, 16),
                                 pick(&draw, 2, 16)};
        for (int i = 0; i < 3; i++) {
            test_torus(&s.slice, sizes[i], sizes[i] % 4 == 0, 9e10);
            const int64_t size = sizes[(i + 1) % 3];
            test_torus(&turned.slice, size, size % 4 == 0, 9e10);
        }
        s.group = test_group_all(&s.slice);
        turned.group = test_group_all(&turned.slice);
        s.kind = turned.kind = (ridge_collective)pick(&draw, 0, 3);
        const ridge_time a = time_of(&s);
        const ridge_time b = time_of(&turned);
        hold(fabs(a.bound_s - b.bound_s) <= 1e-12 * a.bound_s, seed, "bound");
        hold(fabs(a.expected_s - b.expected_s) <= 1e-12 * a.expected_s, seed,
             "expected");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bound_is_never_above_the_expectation),
        cmocka_unit_test(the_price_agrees_with_the_time),
        cmocka_unit_test(more_bytes_are_never_faster),
        cmocka_unit_test(more_bandwidth_is_never_slower),
        cmocka_unit_test(an_all_reduce_is_a_reduce_scatter_and_a_gather),
        cmocka_unit_test(the_order_of_equal_torus_axes_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
