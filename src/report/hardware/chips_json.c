/*
 * Chips as JSON: the keys of `ridge chips --json`.
 */
#include "chip_network.h"
#include "failure_report.h"
#include "occupancy_section.h"
#include "slice_section.h"

#include "ridge/report.h"

static void set_peaks(ridge_ctx *cx, const ridge_chip *chip, ridge_json *object)
{
    ridge_json *peaks = ridge_json_set_object(cx, object, "peak_flops_per_s");
    ridge_json *ridges = ridge_json_set_object(cx, object, "ridge_flops_per_byte");
    for (int d = 0; d < RIDGE_DTYPE_COUNT; d++) {
        ridge_dtype dtype = (ridge_dtype)d;
        if (!chip->has_peak[dtype])
            continue;
        const char *name = ridge_dtype_text(dtype);
        ridge_json_set_double(peaks, name, chip->peak_flops_per_s[dtype]);
        ridge_json_set_double(ridges, name, ridge_chip_ridge_point(chip, dtype));
    }
}

static void set_network(ridge_ctx *cx, const ridge_chips_view *view,
                        const ridge_chip *chip, ridge_json *object)
{
    const ridge_system *system = ridge__chip_system(cx, view->catalog, chip);
    if (!system) {
        ridge_json_set_null(object, "network");
        return;
    }
    ridge_json *network = ridge_json_set_object(cx, object, "network");
    ridge_json_set_text(network, "system", system->name);
    ridge_json_set_i64(network, "torus_dims", system->torus_dims);
    ridge_json *levels = ridge_json_set_array(cx, network, "levels");
    for (int i = 0; i < ridge__system_axis_count(system); i++) {
        ridge_axis axis = ridge__system_axis(system, i);
        ridge_json *level = ridge_json_push_object(cx, levels);
        ridge_json_set_text(level, "name", axis.name);
        ridge_json_set_text(level, "kind", ridge_axis_kind_text(axis.kind));
        ridge_json_set_double(level, "bytes_per_s", axis.bytes_per_s);
        ridge_json_set_double(level, "latency_s", axis.latency_s);
        ridge_json_set_double(level, "efficiency", axis.efficiency);
        ridge_json_set_bool(level, "can_reduce", axis.can_reduce);
        ridge_json_set_double(level, "bf16_flops_per_byte",
                              ridge__axis_ridge_point(system, i, RIDGE_DTYPE_BF16));
    }
}

static void set_prices(ridge_ctx *cx, const ridge_chip *chip, ridge_json *object)
{
    ridge_json *prices = ridge_json_set_array(cx, object, "prices");
    for (size_t i = 0; i < chip->n_prices; i++) {
        const ridge_price *price = &chip->prices[i];
        ridge_json *row = ridge_json_push_object(cx, prices);
        ridge_json_set_double(row, "usd_per_chip_hour", price->usd_per_chip_hour);
        ridge_json_set_text(row, "kind", price->kind);
        ridge_json_set_text(row, "provider", price->provider);
        ridge_json_set_text(row, "region", price->region);
        ridge_json_set_text(row, "source", price->source);
        ridge_json_set_text(row, "date", price->date);
    }
}

static void set_facts(ridge_ctx *cx, const ridge_chip *chip, ridge_json *object)
{
    ridge_json *facts = ridge_json_set_array(cx, object, "facts");
    for (size_t i = 0; i < chip->n_facts; i++) {
        const ridge_fact *fact = &chip->facts[i];
        ridge_json *row = ridge_json_push_object(cx, facts);
        ridge_json_set_text(row, "key", fact->key);
        ridge_json_set_double(row, "value", fact->value);
        ridge_json_set_text(row, "source", fact->source);
        ridge_json_set_text(row, "date", fact->date);
        if (fact->note)
            ridge_json_set_text(row, "note", fact->note);
    }
}

enum { SLICE_CHIPS_MOST = 1 << 16 };

/* The slice of each power of two of chips, where there is one. */
static void set_slices(ridge_ctx *cx, const ridge_chips_view *view,
                       const ridge_chip *chip, ridge_json *object)
{
    ridge_json *slices = ridge_json_set_array(cx, object, "slices");
    const ridge_system *system = ridge__chip_system(cx, view->catalog, chip);
    for (int64_t chips = 1; system && chips <= SLICE_CHIPS_MOST; chips *= 2) {
        const ridge_slice *slice;
        if (ridge_slice_of_chips(cx, view->catalog, system, chips, &slice) != RIDGE_OK)
            continue;
        ridge_json *row = ridge_json_push_object(cx, slices);
        ridge_json_set_text(row, "slice", slice->text);
        ridge_json_set_i64(row, "chips", chips);
    }
}

static void set_chip(ridge_ctx *cx, const ridge_chips_view *view,
                     const ridge_chip *chip, ridge_json *object)
{
    ridge_json_set_text(object, "name", chip->name);
    ridge_json_set_text(object, "full_name", chip->full_name ? chip->full_name : "");
    ridge_json_set_text(object, "vendor", chip->vendor ? chip->vendor : "");
    ridge_json_set_text(object, "kind", ridge_chip_kind_text(chip->kind));
    ridge_json_set_i64(object, "year", chip->year);
    set_peaks(cx, chip, object);
    ridge_json_set_positive(object, "vector_flops_per_s", chip->vector_flops_per_s);
    ridge_json_set_positive(object, "fp32_alus", ridge_chip_fp32_alus(chip));
    ridge_json_set_positive(object, "bf16_flops_per_core_and_clock",
                            ridge_chip_core_flops_per_clock(chip, RIDGE_DTYPE_BF16));
    ridge_json_set_double(object, "hbm_bytes", chip->hbm_bytes);
    ridge_json_set_double(object, "visible_bytes", ridge_chip_memory_bytes(chip));
    ridge_json_set_double(object, "hbm_bytes_per_s", chip->hbm_bytes_per_s);
    ridge_json_set_positive(object, "l2_bytes", chip->l2_bytes);
    ridge_json_set_positive(object, "fast_bytes", chip->fast_bytes);
    ridge_json_set_positive(object, "fast_bytes_per_s", chip->fast_bytes_per_s);
    ridge_json_set_positive(object, "power_watts", chip->power_watts);
    ridge_json_set_positive(object, "usd_per_hour",
                            chip->n_prices ? chip->prices[0].usd_per_chip_hour : 0);
    ridge_json_set_positive(object, "bf16_flops_per_s_per_usd_hour",
                            chip->n_prices
                                ? ridge_chip_peak(chip, RIDGE_DTYPE_BF16, NULL) /
                                      chip->prices[0].usd_per_chip_hour
                                : 0);
    set_network(cx, view, chip, object);
    if (view->has_details) {
        set_slices(cx, view, chip, object);
        set_prices(cx, chip, object);
        ridge__failures_set(cx, view->catalog, chip, object);
        set_facts(cx, chip, object);
    }
}

void ridge_chips_write_json(ridge_ctx *cx, const ridge_chips_view *view,
                            ridge_json *object)
{
    ridge_json *chips = ridge_json_set_array(cx, object, "chips");
    for (size_t i = 0; i < view->n; i++) {
        ridge_json *chip = ridge_json_push_object(cx, chips);
        set_chip(cx, view, view->chips[i], chip);
        if (view->occupancies != NULL)
            ridge__occupancy_set(cx, &view->occupancies[i], chip);
    }
    if (view->n_slices > 0)
        ridge__slices_set(cx, view->slices, view->n_slices, object);
}
