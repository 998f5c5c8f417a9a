/*
 * Chips for people: the list of all, and all that is known of a few side by side, as
 * text and as a page. The JSON is in chips_json.c.
 */
#include "chip_network.h"
#include "failure_report.h"
#include "occupancy_section.h"
#include "section.h"
#include "slice_section.h"

#include "ridge/report.h"

#include <math.h>
#include <string.h>

/** "-" for what is not known, or found no memory. */
static const char *or_dash(const char *text)
{
    return text ? text : "-";
}

static const char *known(ridge_ctx *cx, double v, const char *unit)
{
    if (v <= 0)
        return "-";
    return or_dash(
        ridge_sprintf(ridge_ctx_arena(cx), "%s", ridge_format_si(v, unit).s));
}

static const char *whole(ridge_ctx *cx, double v)
{
    return v > 0 ? or_dash(ridge_sprintf(ridge_ctx_arena(cx), "%.0f", v)) : "-";
}

static const char *price_text(ridge_ctx *cx, const ridge_chip *chip)
{
    if (!chip->n_prices)
        return "-";
    return ridge_sprintf(ridge_ctx_arena(cx), "%s",
                         ridge_format_usd(chip->prices[0].usd_per_chip_hour).s);
}

static const char *own_peak(ridge_ctx *cx, const ridge_chip *chip, ridge_dtype dtype,
                            const char *unit)
{
    return chip->has_peak[dtype] ? known(cx, chip->peak_flops_per_s[dtype], unit) : "-";
}

static const char *network_text(ridge_ctx *cx, const ridge_system *system)
{
    if (!system)
        return "-";
    ridge_arena *arena = ridge_ctx_arena(cx);
    ridge_axis axis = ridge__system_axis(system, 0);
    ridge_text rate = ridge_format_si(axis.bytes_per_s, "B/s");
    if (system->torus_dims)
        return ridge_sprintf(arena, "%dD torus, %s", system->torus_dims, rate.s);
    return ridge_sprintf(arena, "%s, %s", axis.name, rate.s);
}

/* ---- the list -------------------------------------------------------------------- */

static void add_list(ridge_ctx *cx, const ridge_chips_view *view, ridge_sections *out)
{
    ridge_table *t = ridge__section_add(
        cx, out, "",
        "chip|kind|>year|>bf16|>fp8|>HBM|>HBM rate|>ridge|>fast|network|>$/h");
    for (size_t i = 0; i < view->n; i++) {
        const ridge_chip *chip = view->chips[i];
        const ridge_system *system = ridge__chip_system(cx, view->catalog, chip);
        ridge_table_cell(t, chip->name);
        ridge_table_cell(t, ridge_chip_kind_text(chip->kind));
        ridge_table_cell(t, whole(cx, chip->year));
        ridge_table_cell(t,
                         known(cx, ridge_chip_peak(chip, RIDGE_DTYPE_BF16, NULL), ""));
        ridge_table_cell(t, own_peak(cx, chip, RIDGE_DTYPE_FP8, ""));
        ridge_table_cell(t, known(cx, chip->hbm_bytes, "B"));
        ridge_table_cell(t, known(cx, chip->hbm_bytes_per_s, "B/s"));
        ridge_table_cell(t, whole(cx, ridge_chip_ridge_point(chip, RIDGE_DTYPE_BF16)));
        ridge_table_cell(t, known(cx, chip->fast_bytes, "B"));
        ridge_table_cell(t, network_text(cx, system));
        ridge_table_cell(t, price_text(cx, chip));
    }
    ridge__section_note(
        out, "Dense peaks in FLOP/s; bf16 by the nearest format that the chip has. "
             "ridge: bf16 FLOPs per HBM byte. fast: VMEM, or shared memory of all SMs. "
             "Network: one chip or torus link, one way.");
}

/* ---- a few, side by side --------------------------------------------------------- */

typedef const char *chip_row_fn(ridge_ctx *cx, const ridge_chip *chip);

static const char *row_name(ridge_ctx *cx, const ridge_chip *chip)
{
    (void)cx;
    return chip->full_name ? chip->full_name : "-";
}

static const char *row_vendor(ridge_ctx *cx, const ridge_chip *chip)
{
    return ridge_sprintf(ridge_ctx_arena(cx), "%s, %s, %d",
                         chip->vendor ? chip->vendor : "-",
                         ridge_chip_kind_text(chip->kind), chip->year);
}

static const char *row_aliases(ridge_ctx *cx, const ridge_chip *chip)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (size_t i = 0; chip->aliases && chip->aliases[i]; i++)
        ridge_buf_printf(&b, "%s%s", i ? ", " : "", chip->aliases[i]);
    return b.n ? ridge_buf_text(&b) : "-";
}

static const char *row_hbm(ridge_ctx *cx, const ridge_chip *chip)
{
    return known(cx, chip->hbm_bytes, "B");
}

static const char *row_hbm_rate(ridge_ctx *cx, const ridge_chip *chip)
{
    return known(cx, chip->hbm_bytes_per_s, "B/s");
}

static const char *row_l2(ridge_ctx *cx, const ridge_chip *chip)
{
    return known(cx, chip->l2_bytes, "B");
}

static const char *row_fast(ridge_ctx *cx, const ridge_chip *chip)
{
    return known(cx, chip->fast_bytes, "B");
}

static const char *row_fast_rate(ridge_ctx *cx, const ridge_chip *chip)
{
    return known(cx, chip->fast_bytes_per_s, "B/s");
}

static const char *row_registers(ridge_ctx *cx, const ridge_chip *chip)
{
    return known(cx, chip->register_bytes, "B");
}

static const char *row_vector(ridge_ctx *cx, const ridge_chip *chip)
{
    return known(cx, chip->vector_flops_per_s, "FLOP/s");
}

/* "16,896"; "-" for nothing. */
static const char *exact(ridge_ctx *cx, double n)
{
    return n > 0 ? ridge_sprintf(ridge_ctx_arena(cx), "%s",
                                 ridge_format_exact((int64_t)n).s)
                 : "-";
}

static const char *row_alus(ridge_ctx *cx, const ridge_chip *chip)
{
    const double alus = ridge_chip_fp32_alus(chip);
    return exact(cx, alus);
}

static const char *row_clocked(ridge_ctx *cx, const ridge_chip *chip)
{
    const double flops = ridge_chip_core_flops_per_clock(chip, RIDGE_DTYPE_BF16);
    return exact(cx, flops);
}

static const char *row_bargain(ridge_ctx *cx, const ridge_chip *chip)
{
    if (chip->n_prices == 0)
        return "-";
    return known(cx,
                 ridge_chip_peak(chip, RIDGE_DTYPE_BF16, NULL) /
                     chip->prices[0].usd_per_chip_hour,
                 "FLOP/s");
}

static const char *row_cores(ridge_ctx *cx, const ridge_chip *chip)
{
    return whole(cx, chip->cores);
}

static const char *row_units(ridge_ctx *cx, const ridge_chip *chip)
{
    if (!chip->matmul_rows)
        return whole(cx, chip->matmul_units);
    return ridge_sprintf(ridge_ctx_arena(cx), "%d of %d x %d", chip->matmul_units,
                         chip->matmul_rows, chip->matmul_cols);
}

static const char *row_clock(ridge_ctx *cx, const ridge_chip *chip)
{
    if (chip->boost_clock_hz <= 0)
        return known(cx, chip->clock_hz, "Hz");
    return ridge_sprintf(ridge_ctx_arena(cx), "%s, boost %s",
                         known(cx, chip->clock_hz, "Hz"),
                         known(cx, chip->boost_clock_hz, "Hz"));
}

static const char *row_power(ridge_ctx *cx, const ridge_chip *chip)
{
    return known(cx, chip->power_watts, "W");
}

static const char *row_host(ridge_ctx *cx, const ridge_chip *chip)
{
    double rate = chip->host_link_bytes_per_s > 0 ? chip->host_link_bytes_per_s
                                                  : chip->pcie_bytes_per_s;
    return known(cx, rate, "B/s");
}

static const struct {
    const char *name;
    chip_row_fn *text;
} chip_rows[] = {
    {"name", row_name},
    {"vendor, kind, year", row_vendor},
    {"also called", row_aliases},
    {"HBM", row_hbm},
    {"HBM bandwidth", row_hbm_rate},
    {"L2", row_l2},
    {"fast memory (VMEM, SMEM)", row_fast},
    {"fast memory bandwidth", row_fast_rate},
    {"registers", row_registers},
    {"vector unit (fp32)", row_vector},
    {"fp32 ALUs", row_alus},
    {"cores (TensorCores, SMs, CUs)", row_cores},
    {"matrix units", row_units},
    {"clock", row_clock},
    {"bf16 FLOPs a core and clock", row_clocked},
    {"power", row_power},
    {"to the host, one way", row_host},
    {"price per chip and hour", price_text},
    {"bf16 for a dollar an hour", row_bargain},
};

/** A first column and one for each chip. */
static const char *columns_of(ridge_ctx *cx, const ridge_chips_view *view,
                              const char *first)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_puts(&b, first);
    for (size_t i = 0; i < view->n; i++)
        ridge_buf_printf(&b, "|%s", view->chips[i]->name);
    return ridge_buf_text(&b);
}

static const char *row_text(ridge_ctx *cx, size_t row, const ridge_chip *chip)
{
    return or_dash(chip_rows[row].text(cx, chip));
}

static void add_overview(ridge_ctx *cx, const ridge_chips_view *view,
                         ridge_sections *out)
{
    ridge_table *t = ridge__section_add(cx, out, "Chip", columns_of(cx, view, ""));
    for (size_t r = 0; r < RIDGE_COUNT_OF(chip_rows); r++) {
        bool is_known = false;
        for (size_t i = 0; i < view->n; i++)
            is_known = is_known || strcmp(row_text(cx, r, view->chips[i]), "-") != 0;
        if (!is_known)
            continue;
        ridge_table_cell(t, chip_rows[r].name);
        for (size_t i = 0; i < view->n; i++)
            ridge_table_cell(t, row_text(cx, r, view->chips[i]));
    }
}

static void add_peaks(ridge_ctx *cx, const ridge_chips_view *view, ridge_sections *out)
{
    ridge_table *t = ridge__section_add(
        cx, out, "Peaks (dense), and FLOPs per HBM byte at the ridge",
        columns_of(cx, view, "dtype"));
    for (int d = 0; d < RIDGE_DTYPE_COUNT; d++) {
        ridge_dtype dtype = (ridge_dtype)d;
        bool is_known = false;
        for (size_t i = 0; i < view->n; i++)
            is_known = is_known || view->chips[i]->has_peak[dtype];
        if (!is_known)
            continue;
        ridge_table_cell(t, ridge_dtype_text(dtype));
        for (size_t i = 0; i < view->n; i++) {
            const ridge_chip *chip = view->chips[i];
            if (chip->has_peak[dtype]) {
                ridge_table_cellf(t, "%s, ridge %.0f",
                                  own_peak(cx, chip, dtype, "FLOP/s"),
                                  ridge_chip_ridge_point(chip, dtype));
            } else {
                ridge_table_cell(t, "-");
            }
        }
    }
}

/* ---- details of each ------------------------------------------------------------- */

static void add_network(ridge_ctx *cx, const ridge_chips_view *view,
                        const ridge_chip *chip, ridge_sections *out)
{
    const ridge_system *system = ridge__chip_system(cx, view->catalog, chip);
    if (!system)
        return;
    ridge_arena *arena = ridge_ctx_arena(cx);
    const char *title =
        ridge_sprintf(arena, "Network of %s: %s", chip->name,
                      system->full_name ? system->full_name : system->name);
    ridge_table *t =
        ridge__section_add(cx, out, title ? title : "Network",
                           "level|kind|>per chip, one way|>latency|>reached|"
                           ">bf16 FLOPs per byte|reduces");
    for (int i = 0; i < ridge__system_axis_count(system); i++) {
        ridge_axis axis = ridge__system_axis(system, i);
        ridge_table_cell(t, axis.name);
        ridge_table_cell(t, ridge_axis_kind_text(axis.kind));
        ridge_table_cell(t, ridge_format_si(axis.bytes_per_s, "B/s").s);
        ridge_table_cell(t, ridge_format_seconds(axis.latency_s).s);
        ridge_table_cell(t, ridge_format_percent(axis.efficiency).s);
        ridge_table_cellf(t, "%.0f",
                          ridge__axis_ridge_point(system, i, RIDGE_DTYPE_BF16));
        ridge_table_cell(t, axis.can_reduce ? "in network" : "-");
    }
    if (system->torus_dims) {
        ridge__section_note(
            out, ridge_sprintf(arena,
                               "Torus of %d axes; the ridge counts both ways of "
                               "a ring on one axis.",
                               system->torus_dims));
    }
}

static void add_prices(ridge_ctx *cx, const ridge_chip *chip, ridge_sections *out)
{
    if (!chip->n_prices)
        return;
    const char *title = ridge_sprintf(ridge_ctx_arena(cx),
                                      "Prices of %s per chip and hour", chip->name);
    ridge_table *t = ridge__section_add(cx, out, title ? title : "Prices",
                                        ">price|kind|provider|region|source|date");
    for (size_t i = 0; i < chip->n_prices; i++) {
        const ridge_price *price = &chip->prices[i];
        ridge_table_cell(t, ridge_format_usd(price->usd_per_chip_hour).s);
        ridge_table_cell(t, price->kind);
        ridge_table_cell(t, price->provider);
        ridge_table_cell(t, price->region);
        ridge_table_cell(t, price->source);
        ridge_table_cell(t, price->date);
    }
}

static void add_facts(ridge_ctx *cx, const char *name, const ridge_fact *facts,
                      size_t n, ridge_sections *out)
{
    if (!n)
        return;
    const char *title = ridge_sprintf(ridge_ctx_arena(cx), "Sources of %s", name);
    ridge_table *t = ridge__section_add(cx, out, title ? title : "Sources",
                                        "fact|>value|source|date|note");
    for (size_t i = 0; i < n; i++) {
        ridge_table_cell(t, facts[i].key);
        ridge_table_cell(t, ridge_format_double(facts[i].value).s);
        ridge_table_cell(t, facts[i].source);
        ridge_table_cell(t, facts[i].date);
        ridge_table_cell(t, facts[i].note ? facts[i].note : "");
    }
}

static ridge_sections sections_of(ridge_ctx *cx, const ridge_chips_view *view)
{
    ridge_sections out = {.n = 0};
    if (!view->has_details) {
        add_list(cx, view, &out);
        return out;
    }
    if (view->occupancies != NULL) {
        ridge__occupancies_add(cx, view->chips, view->occupancies, view->n, &out);
        return out;
    }
    if (view->n_slices > 0)
        ridge__slices_add(cx, view->slices, view->n_slices, &out);
    add_overview(cx, view, &out);
    add_peaks(cx, view, &out);
    for (size_t i = 0; i < view->n; i++)
        add_network(cx, view, view->chips[i], &out);
    for (size_t i = 0; i < view->n; i++)
        add_prices(cx, view->chips[i], &out);
    for (size_t i = 0; i < view->n; i++)
        ridge__failures_add(cx, view->catalog, view->chips[i], &out);
    if (view->n > 1)
        return out;
    const ridge_chip *chip = view->chips[0];
    const ridge_system *system = ridge__chip_system(cx, view->catalog, chip);
    add_facts(cx, chip->name, chip->facts, chip->n_facts, &out);
    if (system)
        add_facts(cx, system->name, system->facts, system->n_facts, &out);
    return out;
}

void ridge_chips_write_text(ridge_ctx *cx, const ridge_chips_view *view,
                            bool with_colour, ridge_buf *out)
{
    ridge_sections sections = sections_of(cx, view);
    ridge__sections_write_text(&sections, with_colour, out);
}

void ridge_chips_write_html(ridge_ctx *cx, const ridge_chips_view *view, ridge_buf *out)
{
    ridge_sections sections = sections_of(cx, view);
    bool is_one = view->has_details && view->n == 1;
    ridge_html_begin(out, is_one ? view->chips[0]->full_name : "Chips",
                     "Peaks, memory, network and price of chips");
    ridge__page_end(&sections, out);
}
