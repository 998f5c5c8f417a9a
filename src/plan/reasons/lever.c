#include "lever.h"

#include "ridge/cost.h"

#include <string.h>

static void pull_flops(ridge_chip *chip, ridge_slice *slice, double factor)
{
    const ridge_chip measured = *chip;
    (void)slice;
    for (int i = 0; i < RIDGE_DTYPE_COUNT; i++)
        chip->peak_flops_per_s[i] *= factor;
    chip->achievable.attention = ridge_attention_share(chip, &measured);
}

static void pull_hbm(ridge_chip *chip, ridge_slice *slice, double factor)
{
    (void)slice;
    chip->hbm_bytes_per_s *= factor;
}

static void pull_hbm_bytes(ridge_chip *chip, ridge_slice *slice, double factor)
{
    (void)slice;
    chip->hbm_bytes *= factor;
    chip->visible_bytes *= factor;
}

static void pull_vector(ridge_chip *chip, ridge_slice *slice, double factor)
{
    const ridge_chip measured = *chip;
    (void)slice;
    chip->vector_flops_per_s *= factor;
    chip->achievable.attention = ridge_attention_share(chip, &measured);
}

static void pull_network(ridge_chip *chip, ridge_slice *slice, double factor)
{
    (void)chip;
    for (int i = 0; i < slice->n_axes; i++)
        slice->axes[i].bytes_per_s *= factor;
}

static void pull_inner(ridge_chip *chip, ridge_slice *slice, double factor)
{
    (void)chip;
    if (slice->n_axes > 0)
        slice->axes[0].bytes_per_s *= factor;
}

static void pull_outer(ridge_chip *chip, ridge_slice *slice, double factor)
{
    (void)chip;
    for (int i = 1; i < slice->n_axes; i++)
        slice->axes[i].bytes_per_s *= factor;
}

static void pull_latency(ridge_chip *chip, ridge_slice *slice, double factor)
{
    (void)chip;
    for (int i = 0; i < slice->n_axes; i++) {
        slice->axes[i].latency_s *= factor;
        slice->axes[i].startup_s *= factor;
    }
}

static void pull_host(ridge_chip *chip, ridge_slice *slice, double factor)
{
    (void)slice;
    chip->pcie_bytes_per_s *= factor;
    chip->host_link_bytes_per_s *= factor;
}

const lever levers[LEVER_COUNT] = {
    {"flops", "peak FLOP/s", pull_flops, false},
    {"hbm", "HBM bandwidth", pull_hbm, false},
    {"hbm_bytes", "HBM capacity", pull_hbm_bytes, false},
    {"vector", "vector FLOP/s", pull_vector, false},
    {"network", "network bandwidth, all levels", pull_network, false},
    {"inner", "network bandwidth, innermost level", pull_inner, false},
    {"outer", "network bandwidth, outer levels", pull_outer, false},
    {"latency", "network latency", pull_latency, true},
    {"host", "bandwidth to the host", pull_host, false},
};

const lever *lever_find(const char *name)
{
    for (int i = 0; i < LEVER_COUNT; i++) {
        if (strcmp(levers[i].name, name) == 0)
            return &levers[i];
    }
    return NULL;
}

int lever_pull_axes(ridge_slice *slice, const char *prefix, double factor)
{
    int n = 0;
    for (int i = 0; i < slice->n_axes; i++) {
        if (strncmp(slice->axes[i].name, prefix, strlen(prefix)) != 0)
            continue;
        slice->axes[i].bytes_per_s *= factor;
        n++;
    }
    return n;
}
