#include "slice_section.h"

#include "switch_section.h"

static double cores_of(const ridge_slice *s)
{
    return (double)s->chips * s->chip->cores;
}

static double price_of(const ridge_slice *s)
{
    const ridge_chip *chip = s->chip;
    return chip->n_prices ? (double)s->chips * chip->prices[0].usd_per_chip_hour : 0;
}

static double power_of(const ridge_slice *s)
{
    return (double)s->chips * s->chip->power_watts;
}

static double host_memory_of(const ridge_slice *s)
{
    return (double)s->chips * s->system->host_bytes_per_chip;
}

static double hbm_of(const ridge_slice *s)
{
    return (double)s->chips * s->chip->hbm_bytes;
}

static double hbm_rate_of(const ridge_slice *s)
{
    return (double)s->chips * s->chip->hbm_bytes_per_s;
}

static double vector_of(const ridge_slice *s)
{
    return (double)s->chips * s->chip->vector_flops_per_s;
}

static double peak_of(const ridge_slice *s, ridge_dtype dtype)
{
    return s->chip->has_peak[dtype]
               ? (double)s->chips * s->chip->peak_flops_per_s[dtype]
               : 0;
}

typedef double total_fn(const ridge_slice *slice);

static const struct {
    const char *name, *key, *unit;
    total_fn *total;
} totals[] = {
    {"HBM", "hbm_bytes", "B", hbm_of},
    {"HBM bandwidth", "hbm_bytes_per_s", "B/s", hbm_rate_of},
    {"vector units (fp32)", "vector_flops_per_s", "FLOP/s", vector_of},
    {"memory of the hosts", "host_bytes", "B", host_memory_of},
    {"bisection, one way", "bisection_bytes_per_s", "B/s",
     ridge_slice_bisection_bytes_per_s},
    {"power of the chips", "power_watts", "W", power_of},
};

/* ---- text ------------------------------------------------------------------------ */

/* "ici-x 16 ring, ici-y 8 line". */
static const char *axes_text(ridge_ctx *cx, const ridge_slice *s)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < s->n_axes; i++) {
        const ridge_axis *axis = &s->axes[i];
        const char *form = axis->kind != RIDGE_AXIS_TORUS ? ""
                           : axis->has_wraparound         ? " ring"
                                                          : " line";
        ridge_buf_printf(&b, "%s%s %lld%s", i ? ", " : "", axis->name,
                         (long long)axis->size, form);
    }
    return b.n ? ridge_buf_text(&b) : "-";
}

static void add_total(ridge_table *t, double v, const char *unit)
{
    if (v > 0)
        ridge_table_cell(t, ridge_format_si(v, unit).s);
    else
        ridge_table_cell(t, "-");
}

static void add_counts(ridge_ctx *cx, const ridge_slice *const *slices, size_t n,
                       ridge_table *t)
{
    ridge_table_cell(t, "chips");
    for (size_t i = 0; i < n; i++)
        ridge_table_cellf(t, "%lld", (long long)slices[i]->chips);
    ridge_table_cell(t, "hosts");
    for (size_t i = 0; i < n; i++)
        ridge_table_cellf(t, "%lld", (long long)slices[i]->hosts);
    ridge_table_cell(t, "cores (TensorCores, SMs, CUs)");
    for (size_t i = 0; i < n; i++)
        add_total(t, cores_of(slices[i]), "");
    ridge_table_cell(t, "network axes");
    for (size_t i = 0; i < n; i++)
        ridge_table_cell(t, axes_text(cx, slices[i]));
    ridge_table_cell(t, "farthest chips, hops");
    for (size_t i = 0; i < n; i++)
        ridge_table_cellf(t, "%lld", (long long)ridge_slice_diameter_hops(slices[i]));
}

static void add_peaks(const ridge_slice *const *slices, size_t n, ridge_table *t)
{
    for (int d = 0; d < RIDGE_DTYPE_COUNT; d++) {
        const ridge_dtype dtype = (ridge_dtype)d;
        bool is_known = false;
        for (size_t i = 0; i < n; i++)
            is_known = is_known || slices[i]->chip->has_peak[dtype];
        if (!is_known)
            continue;
        ridge_table_cellf(t, "peak, %s", ridge_dtype_text(dtype));
        for (size_t i = 0; i < n; i++)
            add_total(t, peak_of(slices[i], dtype), "FLOP/s");
    }
}

void ridge__slices_add(ridge_ctx *cx, const ridge_slice *const *slices, size_t n,
                       ridge_sections *out)
{
    ridge_buf columns;
    ridge_buf_init(&columns, ridge_ctx_arena(cx));
    for (size_t i = 0; i < n; i++)
        ridge_buf_printf(&columns, "|%s", slices[i]->text);
    ridge_table *t =
        ridge__section_add(cx, out, "All chips together", ridge_buf_text(&columns));
    add_counts(cx, slices, n, t);
    add_peaks(slices, n, t);
    for (size_t r = 0; r < RIDGE_COUNT_OF(totals); r++) {
        ridge_table_cell(t, totals[r].name);
        for (size_t i = 0; i < n; i++)
            add_total(t, totals[r].total(slices[i]), totals[r].unit);
    }
    ridge_table_cell(t, "price per hour");
    for (size_t i = 0; i < n; i++)
        ridge_table_cell(
            t, price_of(slices[i]) > 0 ? ridge_format_usd(price_of(slices[i])).s : "-");
    for (size_t i = 0; i < n; i++) {
        if (slices[i]->note)
            ridge__section_note(out, ridge_sprintf(ridge_ctx_arena(cx), "%s: %s.",
                                                   slices[i]->text, slices[i]->note));
    }
    for (size_t i = 0; i < n; i++)
        ridge__switches_add(cx, slices[i], out);
}

/* ---- JSON ------------------------------------------------------------------------ */

static void set_slice(ridge_ctx *cx, const ridge_slice *s, ridge_json *row)
{
    ridge_json_set_text(row, "slice", s->text);
    ridge_json_set_text(row, "chip", s->chip->name);
    ridge_json_set_i64(row, "chips", s->chips);
    ridge_json_set_i64(row, "hosts", s->hosts);
    ridge_json_set_double(row, "cores", cores_of(s));
    ridge_json_set_i64(row, "diameter_hops", ridge_slice_diameter_hops(s));
    ridge_json *peaks = ridge_json_set_object(cx, row, "peak_flops_per_s");
    for (int d = 0; d < RIDGE_DTYPE_COUNT; d++) {
        if (s->chip->has_peak[d])
            ridge_json_set_double(peaks, ridge_dtype_text((ridge_dtype)d),
                                  peak_of(s, (ridge_dtype)d));
    }
    for (size_t r = 0; r < RIDGE_COUNT_OF(totals); r++)
        ridge_json_set_positive(row, totals[r].key, totals[r].total(s));
    ridge_json_set_positive(row, "usd_per_hour", price_of(s));
    ridge_json *axes = ridge_json_set_array(cx, row, "axes");
    for (int i = 0; i < s->n_axes; i++) {
        ridge_json *axis = ridge_json_push_object(cx, axes);
        ridge_json_set_text(axis, "name", s->axes[i].name);
        ridge_json_set_text(axis, "kind", ridge_axis_kind_text(s->axes[i].kind));
        ridge_json_set_i64(axis, "size", s->axes[i].size);
        ridge_json_set_bool(axis, "wraps", s->axes[i].has_wraparound);
        ridge_json_set_double(axis, "bytes_per_s", s->axes[i].bytes_per_s);
    }
    ridge__switches_set(cx, s, row);
}

void ridge__slices_set(ridge_ctx *cx, const ridge_slice *const *slices, size_t n,
                       ridge_json *object)
{
    ridge_json *rows = ridge_json_set_array(cx, object, "totals");
    for (size_t i = 0; i < n; i++)
        set_slice(cx, slices[i], ridge_json_push_object(cx, rows));
}
