/*
 * The "measured" member of a chip, and of a level of a system.
 *
 * Of both: source, date. Of a chip: fuses, overlaps, balances (true, or
 * false: whether its software runs neighbours as one kernel, collectives beside
 * compute, and deals a causal sequence out so that ranks meet equal scores);
 * processor_share (1: a rank has its processors to itself);
 * matmul_flops_per_s {format: grid over m, k, n}, attention_flops_per_s
 * {"forward.format": grid over context, head_dim}, stream_bytes_per_s
 * {"operation.format": grid over bytes}. Of a level: collective_bytes_per_s {kind: grid
 * over ranks, bytes}. A grid has an ascending array for each of its axes, and "rates",
 * row-major. An unknown member is an error.
 */
#include "measured_read.h"

#include "fact_read.h"

static const double SIZE_MOST = 1e15, RATE_LEAST = 1e-3, RATE_MOST = 1e18;
enum { GRID_MOST = 64 };

static ridge_status read_numbers(ridge_ctx *cx, ridge_node node, size_t n, double least,
                                 const double **out)
{
    if (ridge_json_kind_of(node) != RIDGE_JSON_ARRAY || ridge_json_size(node) != n ||
        n < 1)
        return ridge_json_fail(cx, node, "an array of %zu numbers is wanted", n);
    double *v = ridge_new(ridge_ctx_arena(cx), double, n);
    if (v == NULL)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < n; i++) {
        const double most = least < 1.0 ? RATE_MOST : SIZE_MOST;
        RIDGE_TRY(
            ridge_json_want_double(cx, ridge_json_at(&node, i), least, most, &v[i]));
    }
    *out = v;
    return RIDGE_OK;
}

static ridge_status read_axis(ridge_ctx *cx, ridge_node node, int axis, ridge_grid *out)
{
    const size_t n = ridge_json_size(node);
    if (n < 1 || n > RIDGE_GRID_SIZE_MAX)
        return ridge_json_fail(cx, node, "an array of 1 to %d sizes is wanted",
                               RIDGE_GRID_SIZE_MAX);
    RIDGE_TRY(read_numbers(cx, node, n, 1.0, &out->axes[axis]));
    for (size_t i = 1; i < n; i++) {
        if (out->axes[axis][i] <= out->axes[axis][i - 1])
            return ridge_json_fail(cx, node, "the sizes of a grid ascend");
    }
    out->sizes[axis] = (int)n;
    return RIDGE_OK;
}

/* @param axes  n names, and "rates" behind them */
static ridge_status read_grid(ridge_ctx *cx, ridge_node node, const char *const *axes,
                              int n, ridge_grid *out)
{
    ridge_grid grid = {.n_axes = n};
    size_t rates = 1;
    if (ridge_json_kind_of(node) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, node, "a grid of rates is an object");
    RIDGE_TRY(ridge_json_only(cx, node, axes, (size_t)n + 1));
    for (int i = 0; i < n; i++) {
        const ridge_node axis = ridge_json_get(&node, axes[i]);
        if (ridge_json_is_absent(axis))
            return ridge_json_fail(cx, node, "no \"%s\"", axes[i]);
        RIDGE_TRY(read_axis(cx, axis, i, &grid));
        rates *= (size_t)grid.sizes[i];
    }
    const ridge_node values = ridge_json_get(&node, axes[n]);
    if (ridge_json_is_absent(values))
        return ridge_json_fail(cx, node, "no \"%s\"", axes[n]);
    RIDGE_TRY(read_numbers(cx, values, rates, RATE_LEAST, &grid.rates));
    *out = grid;
    return RIDGE_OK;
}

static ridge_status read_list(ridge_ctx *cx, ridge_node node, const char *const *axes,
                              int n_axes, ridge_grid_list *out)
{
    const size_t n = ridge_json_size(node);
    if (ridge_json_is_absent(node))
        return RIDGE_OK;
    if (ridge_json_kind_of(node) != RIDGE_JSON_OBJECT || n > GRID_MOST)
        return ridge_json_fail(cx, node, "an object of at most %d grids is wanted",
                               GRID_MOST);
    ridge_named_grid *items = ridge_new(ridge_ctx_arena(cx), ridge_named_grid, n + 1);
    if (items == NULL)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < n; i++) {
        const ridge_node item = ridge_json_member(&node, i);
        items[i].name = item.key;
        RIDGE_TRY(read_grid(cx, item, axes, n_axes, &items[i].grid));
    }
    *out = (ridge_grid_list){(int)n, items};
    return RIDGE_OK;
}

static ridge_status read_flag(ridge_ctx *cx, const ridge_node *parent, const char *key,
                              bool *out)
{
    const ridge_node node = ridge_json_get(parent, key);
    if (!ridge_json_is_absent(node) && !ridge_json_bool(node, out))
        return ridge_json_fail(cx, node, "true or false is wanted");
    return RIDGE_OK;
}

ridge_status ridge__measured_chip_read(ridge_ctx *cx, ridge_node node,
                                       const ridge_measured_chip **out)
{
    static const char *const members[] = {"source",
                                          "date",
                                          "note",
                                          "fuses",
                                          "overlaps",
                                          "balances",
                                          "processor_share",
                                          "matmul_flops_per_s",
                                          "attention_flops_per_s",
                                          "stream_bytes_per_s"};
    static const char *const matmul[] = {"m", "k", "n", "rates"};
    static const char *const attention[] = {"context", "head_dim", "rates"};
    static const char *const stream[] = {"bytes", "rates"};
    ridge_measured_chip m = {.is_fused = true,
                             .is_overlapped = true,
                             .is_balanced = true,
                             .processor_share = 1.0};
    if (ridge_json_kind_of(node) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, node, "an object is wanted");
    RIDGE_TRY(ridge_json_only(cx, node, members, RIDGE_COUNT_OF(members)));
    RIDGE_TRY(ridge__source_read(cx, &node, &m.source, &m.date));
    RIDGE_TRY(read_flag(cx, &node, "fuses", &m.is_fused));
    RIDGE_TRY(read_flag(cx, &node, "overlaps", &m.is_overlapped));
    RIDGE_TRY(read_flag(cx, &node, "balances", &m.is_balanced));
    const ridge_node share = ridge_json_get(&node, "processor_share");
    if (!ridge_json_is_absent(share))
        RIDGE_TRY(ridge_json_want_double(cx, share, 1e-4, 1.0, &m.processor_share));
    RIDGE_TRY(read_list(cx, ridge_json_get(&node, "matmul_flops_per_s"), matmul, 3,
                        &m.matmul));
    RIDGE_TRY(read_list(cx, ridge_json_get(&node, "attention_flops_per_s"), attention,
                        2, &m.attention));
    RIDGE_TRY(read_list(cx, ridge_json_get(&node, "stream_bytes_per_s"), stream, 1,
                        &m.stream));
    ridge_measured_chip *made = ridge_new(ridge_ctx_arena(cx), ridge_measured_chip, 1);
    if (made == NULL)
        return ridge_fail_nomem(cx);
    *made = m;
    *out = made;
    return RIDGE_OK;
}

ridge_status ridge__measured_level_read(ridge_ctx *cx, ridge_node node,
                                        const ridge_axis *level,
                                        const ridge_measured_level **out)
{
    static const char *const members[] = {"source", "date", "note",
                                          "collective_bytes_per_s"};
    static const char *const axes[] = {"ranks", "bytes", "rates"};
    ridge_measured_level m = {.bytes_per_s = level->bytes_per_s,
                              .latency_s = level->latency_s};
    if (ridge_json_kind_of(node) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, node, "an object is wanted");
    RIDGE_TRY(ridge_json_only(cx, node, members, RIDGE_COUNT_OF(members)));
    RIDGE_TRY(ridge__source_read(cx, &node, &m.source, &m.date));
    RIDGE_TRY(read_list(cx, ridge_json_get(&node, "collective_bytes_per_s"), axes, 2,
                        &m.collective));
    ridge_measured_level *made =
        ridge_new(ridge_ctx_arena(cx), ridge_measured_level, 1);
    if (made == NULL)
        return ridge_fail_nomem(cx);
    *made = m;
    *out = made;
    return RIDGE_OK;
}
