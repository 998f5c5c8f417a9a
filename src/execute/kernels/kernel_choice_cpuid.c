/* Which kernels an x86-64 CPU can run, as it says itself. */
#include "device_cpu.h"

extern const ridge__kernel_table ridge__kernel_table_base, ridge__kernel_table_v3,
    ridge__kernel_table_v4;

static bool has_v3(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

static bool has_v4(void)
{
    return has_v3() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

const ridge__kernel_table *ridge__kernel_choose(int place)
{
    const ridge__kernel_table *tables[] = {
        &ridge__kernel_table_v4, &ridge__kernel_table_v3, &ridge__kernel_table_base};
    int at = place + (has_v4() ? 0 : has_v3() ? 1 : 2);
    return at < 3 ? tables[at] : NULL;
}
