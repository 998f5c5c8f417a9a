/* The chip that a trace is of, and each operation's least time on it. */
#include "op_class.h"
#include "profile_builder.h"

#include "ridge/cost.h"

#include <math.h>
#include <string.h>

/* Drivers' names of devices: all words are in them; the first row counts. */
typedef struct device_words {
    const char *words[3];
    const char *chip;
} device_words;

static const device_words devices_known[] = {
    {{"h100", "pcie"}, "h100-pcie"},
    {{"h100", "nvl"}, "h100-nvl"},
    {{"h100", "96gb"}, "h100-96gb"},
    {{"gh200", "144"}, "gh200-144gb"},
    {{"gh200"}, "gh200"},
    {{"h100"}, "h100"},
    {{"h200"}, "h200"},
    {{"h800"}, "h800"},
    {{"h20"}, "h20"},
    {{"a100", "pcie"}, "a100-pcie"},
    {{"a100", "40gb"}, "a100-40gb"},
    {{"a100", "pg509"}, "a100-40gb"},
    {{"a100"}, "a100"},
    {{"a800"}, "a800"},
    {{"gb300"}, "gb300"},
    {{"gb200"}, "gb200"},
    {{"b300"}, "b300"},
    {{"b200"}, "b200"},
    {{"v100", "16gb"}, "v100-16gb"},
    {{"v100"}, "v100"},
    {{"a10g"}, "a10g"},
    {{"rtx a6000"}, "rtx-a6000"},
    {{"rtx 6000 ada"}, "rtx-6000-ada"},
    {{"rtx pro 6000"}, "rtx-pro-6000"},
    {{"rtx 4090"}, "rtx-4090"},
    {{"rtx 3090"}, "rtx-3090"},
    {{"l40s"}, "l40s"},
    {{"nvidia l4"}, "l4"},
    {{"tesla t4"}, "t4"},
    {{"nvidia a40"}, "a40"},
    {{"mi355x"}, "mi355x"},
    {{"mi325x"}, "mi325x"},
    {{"mi300x"}, "mi300x"},
    {{"mi250x"}, "mi250x"},
    {{"tpu v5 lite"}, "v5e"},
    {{"tpu v5e"}, "v5e"},
    {{"tpu v6"}, "v6e"},
    {{"tpu v5"}, "v5p"},
    {{"tpu v4"}, "v4"},
    {{"tpu v3"}, "v3"},
    {{"tpu v2"}, "v2"},
    {{"tpu v7"}, "v7"},
    {{"tpu7x"}, "v7"},
};

static const ridge_chip *chip_of(ridge_ctx *cx, const ridge_catalog *catalog,
                                 const char *hardware)
{
    const ridge_chip *chip = NULL;
    for (size_t i = 0; *hardware != 0 && i < RIDGE_COUNT_OF(devices_known); i++) {
        const device_words *row = &devices_known[i];
        bool has_all = true;
        for (int k = 0; k < 3 && row->words[k] != NULL; k++)
            has_all = has_all && op_class_has(hardware, row->words[k]);
        if (!has_all)
            continue;
        if (ridge_chip_find(cx, catalog, row->chip, &chip) != RIDGE_OK) {
            ridge_ctx_clear(cx);
            chip = NULL;
        }
        return chip;
    }
    return NULL;
}

/* By vendor, cores and memory, where no name is told: there is one such chip or none.
 */
static const ridge_chip *chip_like(const ridge_catalog *catalog,
                                   const ridge_profile_device *d)
{
    const ridge_chip *found = NULL;
    if (d->cores <= 0 || d->memory_bytes <= 0 || *d->hardware == 0)
        return NULL;
    for (size_t i = 0; i < ridge_catalog_chip_count(catalog); i++) {
        const ridge_chip *chip = ridge_catalog_chip(catalog, i);
        if (chip == NULL || chip->cores != (int)d->cores ||
            fabs(d->memory_bytes / chip->hbm_bytes - 1) > 0.1 ||
            strncmp(chip->vendor, d->hardware, 3) != 0)
            continue;
        if (found != NULL)
            return NULL;
        found = chip;
    }
    return found;
}

/* Devices of a trace may be cores of a chip: then each has its part of the chip. */
static double chip_devices(const ridge_chip *chip, double device_flops_per_s)
{
    const double peak = ridge_chip_peak(chip, RIDGE_DTYPE_BF16, NULL);
    if (device_flops_per_s <= 0 || peak <= 0)
        return 1;
    return fmin(chip->cores, fmax(1, floor(peak / device_flops_per_s + 0.5)));
}

/* Above what clocks and rounding may explain. */
static const double BEYOND_PEAK = 1.1;

static void op_limit_set(const ridge_chip *chip, double devices, ridge_profile_op *op)
{
    const ridge_profile_part part = ridge_profile_class_part(op->class);
    if (!ridge_profile_part_is_compute(part) || (!op->has_flops && !op->has_bytes))
        return;
    const double peak = part == RIDGE_PROFILE_PART_COMPUTE
                            ? chip->vector_flops_per_s
                            : ridge_chip_peak(chip, op->dtype, NULL);
    const double compute_s = op->has_flops && peak > 0 ? op->flops * devices / peak : 0;
    const double memory_s =
        op->has_bytes ? op->bytes * devices / chip->hbm_bytes_per_s : 0;
    /* More than the chip can do was not done: what is masked may be counted too. */
    if (compute_s > BEYOND_PEAK * 1e-9 * (double)op->time_ns)
        return;
    op->has_roofline = true;
    op->is_memory_bound = memory_s > compute_s;
    op->roofline_s = fmax(compute_s, memory_s);
    op->gap_s = fmax(0, 1e-9 * (double)op->time_ns - op->roofline_s);
}

/* ---- collectives -------------------------------------------------------------------
 */

static bool kind_of(ridge_profile_class class, ridge_collective *out)
{
    static const struct {
        ridge_profile_class class;
        ridge_collective kind;
    } rows[] = {{RIDGE_CLASS_ALL_GATHER, RIDGE_COLLECTIVE_ALL_GATHER},
                {RIDGE_CLASS_REDUCE_SCATTER, RIDGE_COLLECTIVE_REDUCE_SCATTER},
                {RIDGE_CLASS_ALL_REDUCE, RIDGE_COLLECTIVE_ALL_REDUCE},
                {RIDGE_CLASS_ALL_TO_ALL, RIDGE_COLLECTIVE_ALL_TO_ALL}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        if (rows[i].class == class) {
            *out = rows[i].kind;
            return true;
        }
    }
    return false;
}

/* V of the cost model: of an all-to-all what all ranks hold together. */
static double group_bytes(const ridge_profile_collective *c)
{
    return c->kind == RIDGE_CLASS_ALL_TO_ALL ? c->bytes * (double)c->ranks : c->bytes;
}

static void network_set(const ridge_slice *slice, ridge_profile_collective *c)
{
    ridge_collective kind;
    ridge_group group = {.ranks = 1};
    int64_t left = c->ranks;
    /* Its ranks are taken to be neighbours, innermost first: the trace does not tell.
     */
    for (int i = 0; i < slice->n_axes && left > 1; i++) {
        const int64_t size = slice->axes[i].size < left ? slice->axes[i].size : left;
        if (left % size != 0)
            return;
        group.spans[group.n_spans++] = (ridge_span){i, size, 1};
        group.ranks *= size;
        left /= size;
    }
    if (left > 1 || group.n_spans == 0)
        return;
    const ridge_axis *outer = &slice->axes[group.spans[group.n_spans - 1].axis];
    c->network_bytes_per_s = outer->bytes_per_s;
    if (c->has_bytes && kind_of(c->kind, &kind))
        c->expected_s =
            ridge_collective_price(slice, kind, group_bytes(c), &group).expected_s;
}

static const ridge_chip *device_chip(ridge_ctx *cx, const ridge_catalog *catalog,
                                     const ridge_profile_device *d)
{
    const ridge_chip *chip = chip_of(cx, catalog, d->hardware);
    return chip != NULL ? chip : chip_like(catalog, d);
}

ridge_status profile_roofline_set(ridge_ctx *cx, const ridge_profile_request *request,
                                  ridge_profile *p)
{
    p->slice = request->slice;
    p->is_chip_told = request->slice != NULL;
    p->chip = request->slice != NULL ? request->slice->chip : NULL;
    for (int i = 0; p->chip == NULL && request->catalog != NULL && i < p->n_devices;
         i++)
        p->chip = device_chip(cx, request->catalog, &p->devices[i]);
    p->chip_devices =
        p->chip != NULL ? chip_devices(p->chip, p->device_flops_per_s) : 1;
    for (int i = 0; p->chip != NULL && i < p->n_ops; i++)
        op_limit_set(p->chip, p->chip_devices, &p->ops[i]);
    const ridge_slice *slice = request->slice;
    const ridge_system *system;
    if (slice == NULL && p->chip != NULL && p->world > 1 &&
        (ridge_system_find(cx, request->catalog, p->chip->name, &system) != RIDGE_OK ||
         ridge_slice_of_chips(cx, request->catalog, system, p->world, &slice) !=
             RIDGE_OK)) {
        ridge_ctx_clear(cx);
        slice = NULL;
    }
    for (int i = 0; slice != NULL && i < p->n_collectives; i++)
        network_set(slice, &p->collectives[i]);
    return RIDGE_OK;
}
