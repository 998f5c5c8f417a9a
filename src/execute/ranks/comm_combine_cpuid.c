/* Which instruction set's sums an x86-64 CPU can run, as it says itself. */
#include "comm_combine.h"

extern ridge__combine_fn ridge__combine_base, ridge__combine_v3, ridge__combine_v4;

ridge__combine_fn *ridge__combine_choose(void)
{
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return ridge__combine_v4;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
        return ridge__combine_v3;
    return ridge__combine_base;
}
