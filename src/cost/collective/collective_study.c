/* A collective looked at from all sides, and over sizes: what a report shows. */
#include "network_reach.h"

#include "ridge/cost.h"

#include <math.h>

static const char how[] = "write 1KiB..4GiB (powers of two) or 1MB..1GB*10";

static bool read_size(ridge_str text, double *out)
{
    return ridge_parse_bytes(ridge_str_trim(text), out);
}

/* "4GiB", "1GB*10": the end and the factor that leads there. */
static bool read_end(ridge_str text, ridge_bytes_range *range)
{
    const ridge_str end = ridge_str_cut(&text, '*');
    range->factor = 2.0;
    if (text.p && !ridge_parse_count(ridge_str_trim(text), &range->factor))
        return false;
    return read_size(end, &range->to);
}

ridge_status ridge_bytes_range_parse(ridge_ctx *cx, const char *text,
                                     ridge_bytes_range *out)
{
    ridge_bytes_range range = {0};
    const ridge_str all = ridge_str_of(text);
    size_t dots = 0;
    while (dots + 1 < all.n && !(all.p[dots] == '.' && all.p[dots + 1] == '.'))
        dots++;
    if (dots + 1 >= all.n)
        return ridge_fail(cx, RIDGE_E_PARSE, "sweep '%.60s': no '..': %s", text, how);
    const ridge_str from = {all.p, dots};
    const ridge_str end = {all.p + dots + 2, all.n - dots - 2};
    if (!read_size(from, &range.from) || !read_end(end, &range)) {
        return ridge_fail(cx, RIDGE_E_PARSE, "sweep '%.60s': not a size: %s", text,
                          how);
    }
    if (range.from < 1.0 || range.to < range.from || range.to > 1e18 ||
        range.factor < 1.01) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "sweep '%.60s': it must start at a byte or more and rise",
                          text);
    }
    const double steps = log(range.to / range.from) / log(range.factor);
    if (steps + 2.0 > RIDGE_COLLECTIVE_POINT_MAX) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "sweep '%.60s': more than %d sizes: take a larger factor",
                          text, RIDGE_COLLECTIVE_POINT_MAX - 1);
    }
    *out = range;
    return RIDGE_OK;
}

/* nccl-tests count an all-to-all's size by rank, all others' as we do. */
static double algorithm_bytes(const ridge_collective_study *study)
{
    if (study->kind == RIDGE_COLLECTIVE_ALL_TO_ALL)
        return study->bytes / (double)study->group.ranks;
    return study->bytes;
}

static double bound_bus_rate(const ridge_collective_cost *cost)
{
    if (cost->bound_s <= 0.0)
        return 0.0;
    return cost->bus_bytes_per_s * cost->expected_s / cost->bound_s;
}

/* To a switch that adds, the array goes once.
 * @source scaling-book-2025, chapter 12, cross-node collectives: V (D - 1) / (D W) */
static double sent_by_unit(const ridge_collective_study *study,
                           const ridge__level *level)
{
    const double others = (level->members - 1.0) / level->members;
    const double unit = level->unit_chips / (double)study->group.ranks;
    switch (study->kind) {
    case RIDGE_COLLECTIVE_ALL_GATHER:
    case RIDGE_COLLECTIVE_REDUCE_SCATTER:
        return study->bytes * others;
    case RIDGE_COLLECTIVE_ALL_REDUCE:
        return level->facts->can_reduce ? study->bytes : 2.0 * study->bytes * others;
    case RIDGE_COLLECTIVE_ALL_TO_ALL:
        return study->bytes * unit * (1.0 - unit);
    case RIDGE_COLLECTIVE_BROADCAST:
    case RIDGE_COLLECTIVE_SEND_RECV:
        break;
    }
    return nan("");
}

static void fill_levels(ridge_collective_study *study)
{
    ridge__reach reach;
    ridge__reach_of(study->slice, &study->group, &reach);
    for (int i = 0; i < study->group.n_spans; i++) {
        ridge_collective_level *out = &study->levels[i];
        *out = (ridge_collective_level){.unit_sent_bytes = nan(""), .bound_s = nan("")};
        for (int k = reach.n_torus; k < reach.n; k++) {
            const ridge__level *level = &reach.level[k];
            if (level->axis != study->group.spans[i].axis)
                continue;
            out->unit_chips = level->unit_chips;
            out->unit_bytes_per_s = level->unit_bytes_per_s;
            out->unit_sent_bytes = sent_by_unit(study, level);
            out->bound_s = out->unit_sent_bytes / level->unit_bytes_per_s;
        }
    }
}

void ridge_collective_study_fill(ridge_collective_study *study, ridge_dtype dtype,
                                 const ridge_bytes_range *range)
{
    const ridge_slice *slice = study->slice;
    const ridge_group *group = &study->group;
    study->cost = ridge_collective_price(slice, study->kind, study->bytes, group);
    study->critical_bytes = ridge_collective_critical_bytes(slice, study->kind, group);
    study->bound_critical_bytes =
        ridge_collective_bound_critical_bytes(slice, study->kind, group);
    study->ridge_flops_per_byte = ridge_group_ridge_point(slice, group, dtype);
    const ridge_collective_cost *cost = &study->cost;
    study->algorithm_bytes_per_s =
        cost->expected_s > 0.0 ? algorithm_bytes(study) / cost->expected_s : 0.0;
    study->bound_bus_bytes_per_s = bound_bus_rate(cost);
    fill_levels(study);
    study->n_points = 0;
    if (!range)
        return;
    const double last = range->to * (1.0 + 1e-9);
    for (double bytes = range->from;
         bytes <= last && study->n_points < RIDGE_COLLECTIVE_POINT_MAX;
         bytes *= range->factor) {
        ridge_collective_point *point = &study->points[study->n_points++];
        point->bytes = bytes;
        point->cost = ridge_collective_price(slice, study->kind, bytes, group);
        point->bound_bus_bytes_per_s = bound_bus_rate(&point->cost);
    }
}
