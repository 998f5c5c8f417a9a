/* Which resource bounds an operation: names of bounds and memories, and the maximum
 * over compute, vector work and memory that all operations share. */
#include "bound.h"

#include <math.h>
#include <string.h>

const char *ridge_bound_text(ridge_bound bound)
{
    switch (bound) {
    case RIDGE_BOUND_COMPUTE:
        return "compute";
    case RIDGE_BOUND_MEMORY:
        return "memory";
    case RIDGE_BOUND_VECTOR:
        return "vector";
    case RIDGE_BOUND_LATENCY:
        return "latency";
    case RIDGE_BOUND_NETWORK:
        return "network";
    }
    return "unknown";
}

const char *ridge_memory_text(ridge_memory memory)
{
    switch (memory) {
    case RIDGE_MEMORY_HBM:
        return "hbm";
    case RIDGE_MEMORY_FAST:
        return "fast";
    case RIDGE_MEMORY_HOST:
        return "pcie";
    }
    return "unknown";
}

ridge_status ridge_memory_parse(ridge_ctx *cx, const char *text, ridge_memory *out)
{
    static const struct {
        const char *name;
        ridge_memory memory;
    } names[] = {
        {"hbm", RIDGE_MEMORY_HBM},   {"fast", RIDGE_MEMORY_FAST},
        {"vmem", RIDGE_MEMORY_FAST}, {"smem", RIDGE_MEMORY_FAST},
        {"pcie", RIDGE_MEMORY_HOST}, {"host", RIDGE_MEMORY_HOST},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(names); i++) {
        if (strcmp(text, names[i].name) == 0) {
            *out = names[i].memory;
            return RIDGE_OK;
        }
    }
    return ridge_fail(cx, RIDGE_E_NOTFOUND,
                      "unknown memory '%.40s': it is hbm, fast or pcie", text);
}

double ridge_memory_bytes_per_s(const ridge_chip *chip, ridge_memory memory)
{
    switch (memory) {
    case RIDGE_MEMORY_HBM:
        return chip->hbm_bytes_per_s;
    case RIDGE_MEMORY_FAST:
        return chip->fast_bytes_per_s;
    case RIDGE_MEMORY_HOST:
        return chip->host_link_bytes_per_s > 0 ? chip->host_link_bytes_per_s
                                               : chip->pcie_bytes_per_s;
    }
    return 0;
}

double ridge_memory_bytes(const ridge_chip *chip, ridge_memory memory)
{
    switch (memory) {
    case RIDGE_MEMORY_HBM:
        return chip->hbm_bytes;
    case RIDGE_MEMORY_FAST:
        return chip->fast_bytes;
    case RIDGE_MEMORY_HOST:
        break;
    }
    return 0;
}

double ridge__stream_bytes_per_s(const ridge_chip *chip, ridge_memory memory)
{
    const double bytes_per_s = ridge_memory_bytes_per_s(chip, memory);
    return bytes_per_s > 0 ? bytes_per_s : chip->hbm_bytes_per_s;
}

double ridge__share(double efficiency)
{
    return efficiency > 0 && efficiency <= 1 ? efficiency : 1;
}

/* A stream that moves this much has reached its rate. */
static const double STREAM_START_BYTES = 4e6;

/* Fitted on fp8 products of serving engines with and without quantisation. */
static const double BESIDE_SHARE = 0.7;

double ridge__stream_s(const ridge_chip *chip, ridge_memory memory, double bytes)
{
    const double bytes_per_s = ridge__stream_bytes_per_s(chip, memory);
    if (memory != RIDGE_MEMORY_HBM)
        return bytes / bytes_per_s;
    return bytes / (bytes_per_s * ridge__share(chip->achievable.memory)) +
           chip->achievable.stream_start_s * fmin(1, bytes / STREAM_START_BYTES);
}

double ridge__beside_stream_s(const ridge_chip *chip, double bytes)
{
    return bytes / (chip->hbm_bytes_per_s * ridge__share(chip->achievable.memory) *
                    BESIDE_SHARE);
}

double ridge__block_start_s(const ridge_chip *chip)
{
    enum { TRIPS = 2, TRIP_CYCLES = 480 };
    const double clock_hz =
        chip->boost_clock_hz > 0 ? chip->boost_clock_hz : chip->clock_hz;
    return clock_hz > 0 ? TRIPS * TRIP_CYCLES / clock_hz : 0;
}

/* The largest of the three; the earlier one when they are equal. */
static double slowest(double compute_s, double memory_s, double vector_s,
                      ridge_bound *which)
{
    double most = compute_s;
    *which = RIDGE_BOUND_COMPUTE;
    if (memory_s > most) {
        most = memory_s;
        *which = RIDGE_BOUND_MEMORY;
    }
    if (vector_s > most) {
        most = vector_s;
        *which = RIDGE_BOUND_VECTOR;
    }
    return most;
}

/* Two that overlap, the better the less equal they are: (a^3 + b^3)^(1/3). */
static double together(double a, double b)
{
    const double most = fmax(a, b);
    const double least = fmin(a, b);
    if (least <= 0)
        return most;
    const double share = least / most;
    return most * cbrt(1 + share * share * share);
}

ridge_op_cost ridge__op_cost_make(const op_load *load)
{
    ridge_op_cost c = {
        .matmul_flops = load->matmul_flops,
        .vector_flops = load->vector_flops,
        .bytes = load->bytes,
        .memory_s = load->bytes / load->bytes_per_s,
        .tile_efficiency = load->tile_efficiency,
        .wave_efficiency = load->wave_efficiency,
        .shape_efficiency = load->tile_efficiency * load->wave_efficiency,
    };
    if (load->matmul_flops > 0)
        c.compute_s = load->matmul_flops / load->matmul_flops_per_s;
    if (load->vector_flops_per_s > 0)
        c.vector_s = load->vector_flops / load->vector_flops_per_s;
    const double flops = load->matmul_flops > 0 ? c.matmul_flops : c.vector_flops;
    c.intensity_flops_per_byte = c.bytes > 0 ? flops / c.bytes : HUGE_VAL;
    c.bound_s = slowest(c.compute_s, c.memory_s, c.vector_s, &c.bound_by);
    c.serial_s = c.compute_s + c.memory_s + c.vector_s;
    const double compute_s = fmax(c.compute_s, load->expected_matmul_s);
    const double memory_s = fmax(c.memory_s, load->expected_memory_s);
    double busy_s = slowest(compute_s, memory_s, c.vector_s, &c.expected_bound_by);
    if (!load->is_prefetched)
        busy_s = fmax(busy_s, together(compute_s, memory_s));
    if (load->launch_s + load->beside_s > busy_s)
        c.expected_bound_by = RIDGE_BOUND_LATENCY;
    c.expected_s = load->launch_s + load->beside_s + busy_s;
    return c;
}

ridge_operation_time ridge__time_of_cost(const ridge_op_cost *cost)
{
    return (ridge_operation_time){
        .bound_s = cost->bound_s,
        .expected_s = fmax(cost->expected_s, cost->bound_s),
        .matmul_flops = cost->matmul_flops,
        .vector_flops = cost->vector_flops,
        .bytes = cost->bytes,
        .bound_by = cost->bound_by,
    };
}
