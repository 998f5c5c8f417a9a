/* As many fused multiply-adds as the instruction set can do, on registers alone. */
#include "kernel.h"

/* lanes of a register */
#if defined(__AVX512F__)
#    define LANES 16
#elif defined(__AVX__)
#    define LANES 8
#else
#    define LANES 4
#endif

enum {
    CHAINS = 12, /* latency times throughput, 4 x 2, and some to spare */
    LANE_FLOPS = 2
};

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

double RIDGE__KERNEL(multiply_add)(int64_t rounds, float *sink);

double RIDGE__KERNEL(multiply_add)(int64_t rounds, float *sink)
{
    lanes sum[CHAINS];
    for (int i = 0; i < CHAINS; i++)
        sum[i] = (lanes){0} + (*sink + (float)i);
    lanes by = (lanes){0} + 0.999f, more = (lanes){0} + 0.001f;
    for (int64_t n = 0; n < rounds; n++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            sum[i] = sum[i] * by + more;
    }
    float total = 0.0f;
    for (int i = 0; i < CHAINS; i++)
        for (int j = 0; j < LANES; j++)
            total += sum[i][j];
    *sink = total;
    return (double)rounds * CHAINS * LANES * LANE_FLOPS;
}
