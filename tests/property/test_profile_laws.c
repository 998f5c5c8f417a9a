/* Laws of attribution over random traces: parts sum to steps, and what is read does not
 * depend on the window, nor on the order of the events. */
#include "seeded.h"
#include "trace_text.h"

#include <string.h>

enum { TRIALS = 60, KERNELS_MOST = 40 };

static int setup(void **state)
{
    static trace_fixture f;
    trace_fixture_open(&f, "profile_laws");
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    trace_fixture_close(*state);
    return 0;
}

typedef struct kernel {
    int name, stream;
    long long start_ns, length_ns;
    int link; /* 0: no launch */
} kernel;

static const char *const names[] = {"gemm",
                                    "flash_fwd",
                                    "elementwise",
                                    "Memcpy HtoD",
                                    "ncclDevKernel_AllGather_RING(x)",
                                    "ncclDevKernel_AllReduce(x)"};

static int kernels_make(seeded *r, kernel *out)
{
    const int n = (int)seeded_pick(r, 1, KERNELS_MOST);
    for (int i = 0; i < n; i++)
        out[i] = (kernel){(int)seeded_pick(r, 0, 5), (int)seeded_pick(r, 1, 4),
                          seeded_pick(r, 0, 20000), seeded_pick(r, 0, 4000),
                          (int)seeded_pick(r, 0, 1) * (i + 1)};
    return n;
}

static void launch_write(ridge_buf *b, const kernel *k, long long before_ns)
{
    const long long at = k->start_ns > before_ns ? k->start_ns - before_ns : 0;
    ridge_buf_printf(b,
                     "%s{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": "
                     "\"cudaLaunchKernel\", \"pid\": 1, \"tid\": 1, \"ts\": "
                     "%lld.%03lld, \"dur\": 0.1, \"args\": {\"correlation\": %d}}",
                     b->n > 0 ? ", " : "", at / 1000, at % 1000, k->link);
}

/* The same events, from another one on. */
static const char *events_write(trace_fixture *f, const kernel *kernels, int n,
                                int first)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(f->cx));
    for (int i = 0; i < n; i++) {
        const kernel *k = &kernels[(i + first) % n];
        char args[64];
        snprintf(args, sizeof args, ", \"args\": {\"correlation\": %d}", k->link);
        if (k->link > 0)
            launch_write(&b, k, 100 * (k->link % 20));
        trace_kernel(&b, names[k->name], k->stream, k->start_ns, k->length_ns, args);
    }
    return ridge_buf_text(&b);
}

static void assert_same(const ridge_profile *a, const ridge_profile *b)
{
    assert_int_equal(a->n_devices, b->n_devices);
    assert_int_equal(a->n_ops, b->n_ops);
    assert_memory_equal(&a->times, &b->times, sizeof a->times);
    assert_int_equal(a->devices[0].kernel_union_ns, b->devices[0].kernel_union_ns);
    assert_int_equal(a->devices[0].exposed_ns, b->devices[0].exposed_ns);
}

static void parts_sum_whatever_overlaps(void **state)
{
    trace_fixture *f = *state;
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        kernel kernels[KERNELS_MOST];
        seeded r = seed;
        const int n = kernels_make(&r, kernels);
        trace_profile_events(f, events_write(f, kernels, n, 0));
    }
}

static void the_order_of_events_does_not_matter(void **state)
{
    trace_fixture *f = *state;
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        kernel kernels[KERNELS_MOST];
        seeded r = seed;
        const int n = kernels_make(&r, kernels);
        trace_profile_events(f, events_write(f, kernels, n, 0));
        const ridge_profile first = f->profile;
        trace_profile_events(f, events_write(f, kernels, n, n / 2));
        assert_same(&first, &f->profile);
    }
}

/* What is computed alone, and what is communicated, by a line of marks. */
static void unions_are_those_of_intervals(void **state)
{
    enum { LINE_NS = 25000 };
    static bool busy[LINE_NS];
    static bool computing[LINE_NS];
    trace_fixture *f = *state;
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        kernel kernels[KERNELS_MOST];
        seeded r = seed;
        const int n = kernels_make(&r, kernels);
        int64_t all = 0;
        int64_t exposed = 0;
        memset(busy, 0, sizeof busy);
        memset(computing, 0, sizeof computing);
        for (int i = 0; i < n; i++) {
            for (long long t = 0; t < kernels[i].length_ns; t++) {
                busy[kernels[i].start_ns + t] = true;
                computing[kernels[i].start_ns + t] |= kernels[i].name < 4;
            }
        }
        for (int t = 0; t < LINE_NS; t++) {
            all += busy[t];
            exposed += busy[t] && !computing[t];
        }
        trace_profile_events(f, events_write(f, kernels, n, 0));
        assert_int_equal(f->profile.devices[0].kernel_union_ns, all);
        assert_int_equal(f->profile.devices[0].exposed_ns, exposed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_sum_whatever_overlaps),
        cmocka_unit_test(the_order_of_events_does_not_matter),
        cmocka_unit_test(unions_are_those_of_intervals),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
