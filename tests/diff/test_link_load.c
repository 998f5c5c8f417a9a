/*
 * Closed-form link loads against counting: every chunk of a collective is walked over a
 * small torus link by link, and the busiest link must carry what the formula says.
 */
#include "near.h"

#include "network_build.h"
#include "ridge/cost.h"

#include <math.h>
#include <stdlib.h>

enum { DIMS = 3, CHIPS_MAX = 256 };

/* Load of each chip's outgoing link by axis and direction (0: up, 1: down). */
typedef struct links {
    int n_dims;
    int size[DIMS];
    bool has_wraparound[DIMS];
    double load[CHIPS_MAX][DIMS][2];
} links;

static int chip_count(const links *net)
{
    int chips = 1;
    for (int i = 0; i < net->n_dims; i++)
        chips *= net->size[i];
    return chips;
}

static int place_of(const links *net, int chip, int dim)
{
    for (int i = 0; i < dim; i++)
        chip /= net->size[i];
    return chip % net->size[dim];
}

static int stride_of(const links *net, int dim)
{
    int stride = 1;
    for (int i = 0; i < dim; i++)
        stride *= net->size[i];
    return stride;
}

/* Walk @p hops links in one direction, adding @p amount to each. @return the chip there
 */
static int walk(links *net, int chip, int dim, int direction, int hops, double amount)
{
    const int stride = stride_of(net, dim);
    for (int i = 0; i < hops; i++) {
        const int at = place_of(net, chip, dim);
        const int next = (at + (direction ? net->size[dim] - 1 : 1)) % net->size[dim];
        assert_true(net->has_wraparound[dim] || next == at + (direction ? -1 : 1));
        net->load[chip][dim][direction] += amount;
        chip += (next - at) * stride;
    }
    return chip;
}

/* Send along one axis to @p place, by the shorter way; halves both ways if they tie. */
static int send_along(links *net, int chip, int dim, int place, double amount)
{
    const int n = net->size[dim];
    const int up = (place - place_of(net, chip, dim) + n) % n;
    if (!net->has_wraparound[dim]) {
        const int at = place_of(net, chip, dim);
        return walk(net, chip, dim, place < at, abs(place - at), amount);
    }
    if (2 * up == n)
        walk(net, chip, dim, 1, up, amount / 2);
    if (2 * up > n)
        return walk(net, chip, dim, 1, n - up, amount);
    return walk(net, chip, dim, 0, up, 2 * up == n ? amount / 2 : amount);
}

static double busiest(const links *net)
{
    double most = 0.0;
    for (int c = 0; c < chip_count(net); c++)
        for (int d = 0; d < net->n_dims; d++)
            most = fmax(most, fmax(net->load[c][d][0], net->load[c][d][1]));
    return most;
}

/* The same net as a slice with links of one byte per second and free hops. */
static ridge_slice slice_of(const links *net)
{
    ridge_slice slice = test_slice();
    for (int i = 0; i < net->n_dims; i++)
        test_torus(&slice, net->size[i], net->has_wraparound[i], 1.0)->latency_s = 0.0;
    return slice;
}

static links net_of(int n_dims, const int *sizes, unsigned wraps)
{
    links net = {.n_dims = n_dims};
    for (int i = 0; i < n_dims; i++) {
        net.size[i] = sizes[i];
        net.has_wraparound[i] = (wraps >> i & 1u) != 0;
    }
    return net;
}

static double algorithm_bound(const ridge_slice *slice, ridge_collective kind,
                              const ridge_group *group, ridge_algorithm algorithm)
{
    const ridge_collective_cost cost = ridge_collective_price(slice, kind, 1.0, group);
    for (int i = 0; i < cost.n_algorithms; i++)
        if (cost.algorithms[i].algorithm == algorithm)
            return cost.algorithms[i].bound_s;
    return (double)NAN;
}

/* Each rank's chunk goes half of the ring up and the rest down, or to both ends. */
static void gather_both_ways(links *net, int stride)
{
    const int n = net->size[0] / stride;
    for (int c = 0; c < net->size[0]; c++) {
        const int rank = c / stride;
        const int up = net->has_wraparound[0] ? n / 2 : n - 1 - rank;
        walk(net, c, 0, 0, up * stride, 1.0 / n);
        walk(net, c, 0, 1, (n - 1 - up) * stride, 1.0 / n);
    }
}

static void gathers_on_one_axis_load_links_as_counted(void **state)
{
    (void)state;
    for (int n = 2; n <= 17; n++) {
        for (unsigned wraps = 0; wraps < 2; wraps++) {
            links net = net_of(1, &n, wraps);
            gather_both_ways(&net, 1);
            const ridge_slice slice = slice_of(&net);
            const ridge_group group = test_group_all(&slice);
            assert_near(algorithm_bound(&slice, RIDGE_COLLECTIVE_ALL_GATHER, &group,
                                        wraps ? RIDGE_ALGORITHM_RING_BIDIRECTIONAL
                                              : RIDGE_ALGORITHM_LINE),
                        busiest(&net), 1e-12);
        }
    }
}

static void a_ring_used_one_way_is_loaded_as_counted(void **state)
{
    (void)state;
    for (int n = 2; n <= 17; n++) {
        links gather = net_of(1, &n, 1);
        links alltoall = net_of(1, &n, 1);
        for (int c = 0; c < n; c++) {
            walk(&gather, c, 0, 0, n - 1, 1.0 / n);
            for (int hops = 1; hops < n; hops++)
                walk(&alltoall, c, 0, 0, hops, 1.0 / (n * n));
        }
        const ridge_slice slice = slice_of(&gather);
        const ridge_group group = test_group_all(&slice);
        assert_near(algorithm_bound(&slice, RIDGE_COLLECTIVE_ALL_GATHER, &group,
                                    RIDGE_ALGORITHM_RING),
                    busiest(&gather), 1e-12);
        assert_near(algorithm_bound(&slice, RIDGE_COLLECTIVE_ALL_TO_ALL, &group,
                                    RIDGE_ALGORITHM_RING),
                    busiest(&alltoall), 1e-12);
    }
}

static void interleaved_groups_load_links_together(void **state)
{
    (void)state;
    for (int n = 3; n <= 8; n++) {
        for (int stride = 2; stride <= 4; stride++) {
            const int chips = n * stride;
            links net = net_of(1, &chips, 1);
            gather_both_ways(&net, stride);
            const ridge_slice slice = slice_of(&net);
            const ridge_group group = test_group_part(0, n, stride);
            assert_near(algorithm_bound(&slice, RIDGE_COLLECTIVE_ALL_GATHER, &group,
                                        RIDGE_ALGORITHM_RING_BIDIRECTIONAL),
                        busiest(&net), 1e-12);
        }
    }
}

/* Each chip to each, along the axes in turn. */
static void send_to_all(links *net)
{
    const int chips = chip_count(net);
    const double amount = 1.0 / ((double)chips * chips);
    for (int from = 0; from < chips; from++) {
        for (int to = 0; to < chips; to++) {
            int at = from;
            for (int d = 0; d < net->n_dims; d++)
                at = send_along(net, at, d, place_of(net, to, d), amount);
            assert_int_equal(at, to);
        }
    }
}

static void alltoall_loads_a_torus_as_counted(void **state)
{
    (void)state;
    static const struct {
        int n_dims, size[DIMS];
    } shapes[] = {{1, {2}},       {1, {7}},       {1, {8}},       {1, {16}},
                  {2, {4, 4}},    {2, {2, 8}},    {2, {3, 5}},    {2, {16, 4}},
                  {3, {2, 3, 4}}, {3, {4, 4, 4}}, {3, {2, 2, 8}}, {3, {5, 2, 6}}};
    for (size_t s = 0; s < RIDGE_COUNT_OF(shapes); s++) {
        for (unsigned wraps = 0; wraps < 1u << shapes[s].n_dims; wraps++) {
            links net = net_of(shapes[s].n_dims, shapes[s].size, wraps);
            send_to_all(&net);
            const ridge_slice slice = slice_of(&net);
            const ridge_group group = test_group_all(&slice);
            const ridge_time t =
                ridge_collective_time(&slice, RIDGE_COLLECTIVE_ALL_TO_ALL, 1.0, &group);
            assert_near(t.bound_s, busiest(&net), 1e-12);
        }
    }
}

/*
 * Parts of the array visit the axes in rotated orders. The formula is the limit of
 * long axes: counting may exceed it by the short first phases, never fall below what
 * a chip must receive.
 */
static void rotated_gathers_approach_the_torus_formula(void **state)
{
    (void)state;
    for (int n_dims = 2; n_dims <= DIMS; n_dims++) {
        for (int n = 4; n <= 32; n += 2) {
            double load = 0.0;
            double held = 1.0 / pow(n, n_dims);
            for (int phase = 0; phase < n_dims; phase++) {
                load += held * floor(n / 2.0) / n_dims;
                held *= n;
            }
            const int sizes[DIMS] = {n, n, n};
            ridge_slice slice = test_slice();
            for (int i = 0; i < n_dims; i++)
                test_torus(&slice, sizes[i], true, 1.0)->latency_s = 0.0;
            const ridge_group group = test_group_all(&slice);
            const ridge_time t =
                ridge_collective_time(&slice, RIDGE_COLLECTIVE_ALL_GATHER, 1.0, &group);
            assert_true(t.bound_s <= load * (1 + 1e-12));
            assert_true(load <= t.bound_s * n / (n - 1.0) * (1 + 1e-12));
            assert_true(t.bound_s >= (1.0 - pow(n, -n_dims)) / (2.0 * n_dims));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gathers_on_one_axis_load_links_as_counted),
        cmocka_unit_test(a_ring_used_one_way_is_loaded_as_counted),
        cmocka_unit_test(interleaved_groups_load_links_together),
        cmocka_unit_test(alltoall_loads_a_torus_as_counted),
        cmocka_unit_test(rotated_gathers_approach_the_torus_formula),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
