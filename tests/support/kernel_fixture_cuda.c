/*
 * The trials of kernels on a GPU in place of the CPU: the same tests, arrays in memory
 * that both can reach. Without a GPU they are skipped.
 */
#define kernel_trials kernel_trials_cpu
#define kernel_ok     kernel_ok_cpu
#define kernel_check  kernel_check_cpu
#define malloc        managed_take
#define free          managed_give
#include "kernel_fixture.c"
#undef kernel_trials
#undef kernel_ok
#undef kernel_check
#undef malloc
#undef free

#include <cuda_runtime.h>

#include "device_cuda.h"

void kernel_trials(kernel_run *run, int rounds);
void kernel_ok(kernel_trial *t, ridge_status status);
void kernel_check(kernel_trial *t, const kernel_array *got, double tolerance,
                  const char *what);

void *managed_take(size_t bytes)
{
    void *p = NULL;
    assert_int_equal(cudaMallocManaged(&p, bytes, cudaMemAttachGlobal), cudaSuccess);
    return p;
}

void managed_give(void *p)
{
    assert_int_equal(cudaFree(p), cudaSuccess);
}

void kernel_ok(kernel_trial *t, ridge_status status)
{
    kernel_ok_cpu(t, status);
    kernel_ok_cpu(t, t->d->ops->finish(t->d)); /* the host reads it next */
}

void kernel_check(kernel_trial *t, const kernel_array *got, double tolerance,
                  const char *what)
{
    for (int64_t i = 0; i < got->n; i++) {
        const double value = kernel_get(got->a, i);
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        t->bits = (t->bits ^ bits) * 0x100000001b3u;
        if (!is_near(value, got->x[i], tolerance, got->a.dtype))
            fail_msg("%s: %s[%lld] of %lld is %.9g, not %.9g",
                     t->dtype == RIDGE_DTYPE_BF16 ? "bf16" : "fp32", what, (long long)i,
                     (long long)got->n, value, got->x[i]);
    }
}

void kernel_trials(kernel_run *run, int rounds)
{
    if (ridge__cuda_count(NULL) == 0)
        skip();
    kernel_trial t = {.cx = ridge_ctx_open()};
    assert_non_null(t.cx);
    if (ridge__device_open_cuda(t.cx, 0, &t.d) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(t.cx));
    const int most = rounds < RIDGE_TEST_ROUNDS ? rounds : RIDGE_TEST_ROUNDS;
    for (int i = 0; i < 2 * most; i++) {
        t.dtype = i % 2 == 0 ? RIDGE_DTYPE_FP32 : RIDGE_DTYPE_BF16;
        const uint64_t bits = trial_run(&t, run, (uint64_t)i);
        for (int again = 0; again < RIDGE_TEST_REPEATS; again++)
            if (trial_run(&t, run, (uint64_t)i) != bits)
                fail_msg("seed %d: another run differs", i);
    }
    assert_int_equal(t.d->memory.live_bytes, 0);
    ridge__device_close(t.d);
    ridge_ctx_close(t.cx);
}
