#include "network_build.h"

static const ridge_chip test_chip = {
    .name = "test",
    .kind = RIDGE_CHIP_ACCELERATOR,
    .has_peak[RIDGE_DTYPE_BF16] = true,
    .peak_flops_per_s[RIDGE_DTYPE_BF16] = 1e15,
};

ridge_slice test_slice(void)
{
    return (ridge_slice){
        .text = "test",
        .chip = &test_chip,
        .chips = 1,
        .hosts = 1,
        .slices = 1,
        .shape = {1, 1, 1},
    };
}

ridge_axis *test_axis(ridge_slice *slice, ridge_axis_kind kind, int64_t size,
                      double bytes_per_s)
{
    static const char *const names[RIDGE_AXIS_MAX] = {"a", "b", "c", "d", "e", "f"};
    ridge_axis *axis = &slice->axes[slice->n_axes];
    *axis = (ridge_axis){
        .name = names[slice->n_axes],
        .kind = kind,
        .size = size,
        .bytes_per_s = bytes_per_s,
        .efficiency = 1.0,
    };
    slice->n_axes++;
    slice->chips *= size;
    return axis;
}

ridge_axis *test_torus(ridge_slice *slice, int64_t size, bool has_wraparound,
                       double link_bytes_per_s)
{
    ridge_axis *axis = test_axis(slice, RIDGE_AXIS_TORUS, size, link_bytes_per_s);
    axis->has_wraparound = has_wraparound;
    axis->latency_s = 1e-6;
    return axis;
}

ridge_group test_group_all(const ridge_slice *slice)
{
    ridge_group group = {.ranks = slice->chips};
    for (int i = 0; i < slice->n_axes; i++)
        group.spans[group.n_spans++] = (ridge_span){i, slice->axes[i].size, 1};
    return group;
}

ridge_group test_group_part(int axis, int64_t size, int64_t stride)
{
    return (ridge_group){
        .n_spans = 1,
        .spans = {{.axis = axis, .size = size, .stride = stride}},
        .ranks = size,
    };
}
