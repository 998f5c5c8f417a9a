/* A roofline for people: what bounds the operation and why, its times, its shape, and
 * the size from which it is compute bound. */
#include "roofline_chart.h"
#include "section.h"

#include "ridge/cost_range.h"

#include <math.h>

enum { CHART_WIDTH = 76, CHART_HEIGHT = 20, SVG_WIDTH = 720, SVG_HEIGHT = 420 };
enum { SWEEP_ROWS_MOST = 24 };

/* Sums so short that the addition which a sum saves shows: k below 100. */
static const double EXACT_FROM = 0.005;

/* A ratio: four digits, or a whole number where that is longer. */
static ridge_text ratio_text(double v)
{
    return v >= 1e4 && v < 1e15 ? ridge_format_exact((int64_t)v)
                                : ridge_format_double(v);
}

static const char *unit_name(const ridge_roofline *r)
{
    return r->is_matmul ? "the matrix unit" : "the vector unit";
}

/* One line: what bounds it and why. */
static const char *verdict(ridge_ctx *cx, const ridge_roofline *r)
{
    const ridge_op_cost *c = &r->cost;
    ridge_arena *arena = ridge_ctx_arena(cx);
    const ridge_text intensity = ratio_text(c->intensity_flops_per_byte);
    const ridge_text ridge = ratio_text(r->ridge_flops_per_byte);
    const char *memory = ridge_memory_text(r->op.memory);
    if (r->flops <= 0)
        return ridge_sprintf(arena, "Memory bound: it only moves bytes.");
    if (c->bytes <= 0)
        return ridge_sprintf(arena, "Compute bound: it moves no bytes.");
    switch (c->bound_by) {
    case RIDGE_BOUND_COMPUTE:
        return ridge_sprintf(arena,
                             "Compute bound: %s FLOPs for each byte of %s, and the "
                             "chip needs only %s to keep %s busy.",
                             intensity.s, memory, ridge.s, unit_name(r));
    case RIDGE_BOUND_MEMORY:
        return ridge_sprintf(arena,
                             "Memory bound: %s FLOPs for each byte of %s, and the "
                             "chip needs %s to keep %s busy.",
                             intensity.s, memory, ridge.s, unit_name(r));
    case RIDGE_BOUND_VECTOR:
    case RIDGE_BOUND_LATENCY:
    case RIDGE_BOUND_NETWORK:
        break;
    }
    return ridge_sprintf(arena,
                         "Vector bound: %s of vector work take longer than the "
                         "matmuls and the memory.",
                         ridge_format_si(c->vector_flops, "FLOP").s);
}

static const char *critical_note(ridge_ctx *cx, const ridge_roofline *r)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    const char *things = r->op.kind == RIDGE_OP_ATTENTION ? "tokens" : "rows";
    if (r->op.kind == RIDGE_OP_WORK && r->critical_dim) {
        return ridge_sprintf(arena, "So many bytes are compute bound from %s on.",
                             ridge_format_si(r->critical_size, "FLOP").s);
    }
    if (!r->critical_dim) {
        return r->op.kind == RIDGE_OP_ATTENTION
                   ? "No batch makes decode compute bound: each sequence has a cache "
                     "of "
                     "its own."
                   : "No size makes it compute bound: its intensity does not grow.";
    }
    if (isinf(r->critical_size) && r->critical_limit > 0) {
        return ridge_sprintf(arena,
                             "Never compute bound: with this %s the activations "
                             "alone take longer than the arithmetic (with much larger "
                             "ones it would be from %s = %.0f rows on).",
                             r->critical_others, r->critical_dim,
                             ceil(r->critical_limit));
    }
    if (isinf(r->critical_size))
        return "Never compute bound: the window keeps the intensity below the ridge.";
    if (r->critical_limit <= 0) {
        return ridge_sprintf(arena, "Compute bound from %s = %.0f %s on.",
                             r->critical_dim, ceil(r->critical_size), things);
    }
    return ridge_sprintf(
        arena, "Compute bound from %s = %.0f rows on (%.0f if %s were much larger).",
        r->critical_dim, ceil(r->critical_size), ceil(r->critical_limit),
        r->critical_others);
}

static const char *rate_of(ridge_ctx *cx, const ridge_roofline *r, double seconds)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    const double rate = r->flops / seconds;
    if (r->flops <= 0 || r->peak_flops_per_s <= 0) {
        return ridge_sprintf(arena, "%s",
                             ridge_format_si(r->cost.bytes / seconds, "B/s").s);
    }
    if (!r->is_matmul) {
        return ridge_sprintf(
            arena, "%s, %s of the bandwidth",
            ridge_format_si(r->cost.bytes / seconds, "B/s").s,
            ridge_format_percent(r->cost.bytes / seconds / r->bytes_per_s).s);
    }
    return ridge_sprintf(arena, "%s, %s of the peak", ridge_format_si(rate, "FLOP/s").s,
                         ridge_format_percent(rate / r->peak_flops_per_s).s);
}

static void add_time(ridge_ctx *cx, ridge_table *t, const char *name, double seconds,
                     const char *what)
{
    ridge_table_cell(t, name);
    ridge_table_cell(
        t, ridge_sprintf(ridge_ctx_arena(cx), "%s", ridge_format_seconds(seconds).s));
    ridge_table_cell(t, what);
}

/* The sizes that the operation's text does not show, or NULL. */
static const char *sizes_text(ridge_ctx *cx, const ridge_op *op)
{
    const ridge_attention *a = &op->attention;
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    if (op->kind == RIDGE_OP_EINSUM) {
        for (int i = 0; i < op->einsum.n_dims; i++) {
            ridge_buf_printf(&b, "%s%c=%lld", i ? " " : "", op->einsum.letters[i],
                             (long long)op->einsum.sizes[i]);
        }
    } else if (op->kind == RIDGE_OP_ATTENTION) {
        ridge_buf_printf(&b, "b=%.0f t=%.0f s=%.0f n=%.0f k=%.0f h=%.0f v=%.0f",
                         a->batch, a->query_tokens, a->context_tokens, a->heads,
                         a->kv_heads, a->head_dim, a->v_head_dim);
        if (a->window > 0)
            ridge_buf_printf(&b, " w=%.0f", a->window);
        ridge_buf_puts(&b, a->is_causal ? ", causal" : ", no mask");
    }
    return b.n ? ridge_buf_text(&b) : NULL;
}

/* What a reader would take for granted and is not so. */
static void add_caveats(ridge_ctx *cx, const ridge_roofline *r, ridge_sections *out)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    const ridge_dtype wanted = r->op.formats.compute;
    if (r->is_matmul && wanted != r->compute) {
        ridge__section_note(out, ridge_sprintf(arena,
                                               "%s has no arithmetic in %s: it is "
                                               "computed in %s.",
                                               r->chip->name, ridge_dtype_text(wanted),
                                               ridge_dtype_text(r->compute)));
    }
    const double room = ridge_memory_bytes(r->chip, r->op.memory);
    const bool is_hbm = r->op.memory == RIDGE_MEMORY_HBM;
    if (room > 0 && r->op.kind != RIDGE_OP_WORK && r->cost.bytes > room) {
        ridge__section_note(
            out,
            ridge_sprintf(arena,
                          "More than %sone %s holds (%s): the times are as if it did, "
                          "%s.",
                          is_hbm ? "" : "the fast memory of ", r->chip->name,
                          ridge_format_bytes(room).s,
                          is_hbm ? "shard it" : "a part at a time is less intense"));
    }
}

static void add_work(ridge_ctx *cx, const ridge_roofline *r, ridge_sections *out)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    const ridge_op_cost *c = &r->cost;
    const char *sizes = sizes_text(cx, &r->op);
    if (sizes)
        ridge__section_note(out, sizes);
    ridge_table *t = ridge__section_add(cx, out, "Work", "|>");
    ridge__table_pair(t, "FLOPs",
                      ridge_sprintf(arena, "%s", ridge_format_si(r->flops, "FLOP").s));
    if (r->flops - r->flops_exact > EXACT_FROM * r->flops) {
        ridge__table_pair(
            t, "without first additions",
            ridge_sprintf(arena, "%s", ridge_format_si(r->flops_exact, "FLOP").s));
    }
    if (r->is_matmul && c->vector_flops > 0) {
        ridge__table_pair(
            t, "vector FLOPs",
            ridge_sprintf(arena, "%s", ridge_format_si(c->vector_flops, "FLOP").s));
    }
    ridge__table_pair(t, "bytes",
                      ridge_sprintf(arena, "%s", ridge_format_bytes(c->bytes).s));
    if (c->bytes > 0) {
        ridge__table_pair(t, "intensity",
                          ridge_sprintf(arena, "%s FLOP/B",
                                        ratio_text(c->intensity_flops_per_byte).s));
    }
    ridge__table_pair(
        t, "ridge of the chip",
        ridge_sprintf(arena, "%s FLOP/B", ratio_text(r->ridge_flops_per_byte).s));
    add_caveats(cx, r, out);
}

static void add_times(ridge_ctx *cx, const ridge_roofline *r, ridge_sections *out)
{
    const ridge_op_cost *c = &r->cost;
    ridge_table *t = ridge__section_add(cx, out, "Time", "|>|");
    add_time(cx, t, "expected", c->expected_s, rate_of(cx, r, c->expected_s));
    add_time(cx, t, "bound", c->bound_s, rate_of(cx, r, c->bound_s));
    add_time(cx, t, "nothing overlapped", c->serial_s, "");
    ridge_table_rule(t);
    if (r->is_matmul)
        add_time(cx, t, "compute", c->compute_s, ridge_dtype_text(r->compute));
    add_time(cx, t, "memory", c->memory_s, ridge_memory_text(r->op.memory));
    if (c->vector_s > 0)
        add_time(cx, t, "vector", c->vector_s, "");
    const ridge_measured what = ridge_measured_of_op(&r->op);
    const ridge_range range =
        ridge_range_of(what, (ridge_time){c->bound_s, c->expected_s});
    const char *launch = c->expected_bound_by == RIDGE_BOUND_LATENCY
                             ? " Expected: the launch takes longer than the work."
                             : "";
    ridge__section_note(out, ridge_sprintf(ridge_ctx_arena(cx), "%s%s",
                                           ridge_range_text(cx, what, range), launch));
}

static void add_shape(ridge_ctx *cx, const ridge_roofline *r, ridge_sections *out)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    const ridge_matmul_shape *s = &r->shape;
    if (!r->is_matmul || r->op.kind == RIDGE_OP_WORK)
        return;
    ridge_table *t = ridge__section_add(cx, out, "Shape", "|>|");
    const char *layout = "";
    if (s->tile_m > 0) {
        layout =
            ridge_sprintf(arena, "tiles of %.0f x %.0f, computed as %.0f x %.0f x %.0f",
                          s->tile_m, s->tile_n, s->padded_m, s->padded_k, s->padded_n);
    } else if (s->padded_m > 0) {
        layout = ridge_sprintf(arena, "computed as %.0f x %.0f x %.0f", s->padded_m,
                               s->padded_k, s->padded_n);
    }
    ridge_buf waves;
    ridge_buf_init(&waves, arena);
    if (s->waves > 0) {
        ridge_buf_printf(&waves, "%.0f tiles, %.0f waves over %d SMs", s->tiles,
                         s->waves, r->chip->cores);
    }
    if (s->split_k > 1)
        ridge_buf_printf(&waves, ", K split in %.0f", s->split_k);
    ridge_table_cell(t, "padding");
    ridge_table_cellf(t, "%s", ridge_format_percent(r->cost.tile_efficiency).s);
    ridge_table_cell(t, layout);
    ridge_table_cell(t, "waves and start");
    ridge_table_cellf(t, "%s", ridge_format_percent(r->cost.wave_efficiency).s);
    ridge_table_cell(t, ridge_buf_text(&waves));
}

static void add_sweep(ridge_ctx *cx, const ridge_roofline *r, ridge_sections *out)
{
    if (!r->sweep_dim)
        return;
    const char *columns =
        ridge_sprintf(ridge_ctx_arena(cx),
                      ">%s|>expected|>bound|>rate|>intensity|bound by", r->sweep_dim);
    ridge_table *t = ridge__section_add(cx, out, "Sweep", columns ? columns : "");
    const size_t stride = (r->n_points + SWEEP_ROWS_MOST - 1) / SWEEP_ROWS_MOST;
    for (size_t i = 0; i < r->n_points; i += stride) {
        const ridge_op_cost *c = &r->points[i].cost;
        const double flops = r->is_matmul ? c->matmul_flops : c->vector_flops;
        ridge_table_cellf(t, "%.0f", r->points[i].size);
        ridge_table_cellf(t, "%s", ridge_format_seconds(c->expected_s).s);
        ridge_table_cellf(t, "%s", ridge_format_seconds(c->bound_s).s);
        ridge_table_cellf(t, "%s", ridge_format_si(flops / c->expected_s, "FLOP/s").s);
        ridge_table_cellf(t, "%s", ratio_text(c->intensity_flops_per_byte).s);
        ridge_table_cell(t, ridge_bound_text(c->expected_bound_by));
    }
}

static const char *title_of(ridge_ctx *cx, const ridge_roofline *r)
{
    if (r->flops <= 0) {
        return ridge_sprintf(ridge_ctx_arena(cx), "%s on one %s", r->op.text,
                             r->chip->name);
    }
    return ridge_sprintf(ridge_ctx_arena(cx), "%s in %s on one %s", r->op.text,
                         ridge_dtype_text(r->compute), r->chip->name);
}

static ridge_sections sections_of(ridge_ctx *cx, const ridge_roofline_view *view)
{
    const ridge_roofline *r = view->roofline;
    ridge_sections out = {.title = title_of(cx, r), .subtitle = verdict(cx, r)};
    add_work(cx, r, &out);
    add_times(cx, r, &out);
    add_shape(cx, r, &out);
    if (r->op.kind != RIDGE_OP_WORK || r->critical_dim) {
        ridge__section_add(cx, &out, "Critical size", "");
        ridge__section_note(&out, critical_note(cx, r));
    }
    if (r->op.memory == RIDGE_MEMORY_HOST && r->critical_limit > 0) {
        ridge__section_note(&out,
                            "Every operand streams from the host; with activations "
                            "kept on the chip the larger-k-and-n figure holds.");
    }
    if (view->slice->chips > 1) {
        ridge__section_note(
            &out, "One chip of the slice does it all: nothing is sharded here.");
    }
    add_sweep(cx, r, &out);
    return out;
}

void ridge_roofline_write_text(ridge_ctx *cx, const ridge_roofline_view *view,
                               bool with_colour, ridge_buf *out)
{
    const ridge_sections sections = sections_of(cx, view);
    ridge__sections_write_text(&sections, with_colour, out);
    ridge_chart chart;
    if (ridge__roofline_chart_sweep(cx, view->roofline, &chart)) {
        ridge_buf_puts(out, "\n");
        ridge_chart_write_text(&chart, CHART_WIDTH, CHART_HEIGHT, with_colour, out);
    }
}

void ridge_roofline_write_html(ridge_ctx *cx, const ridge_roofline_view *view,
                               ridge_buf *out)
{
    const ridge_sections sections = sections_of(cx, view);
    ridge_chart chart;
    ridge__page_begin(&sections, out);
    if (ridge__roofline_chart_roof(cx, view->roofline, &chart))
        ridge_html_chart(out, &chart);
    if (ridge__roofline_chart_sweep(cx, view->roofline, &chart))
        ridge_html_chart(out, &chart);
    ridge__page_end(&sections, out);
}
