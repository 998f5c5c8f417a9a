/*
 * Charts in a terminal: Braille lines, a glyph on the points of each series so that
 * they differ without colour too, box-drawing axes. Layout, top to bottom: title,
 * legend, y label, plot, axis, tick labels, x label.
 */
#include "chart_axis.h"
#include "chart_canvas.h"

#include <string.h>

enum { WIDTH_LEAST = 30, WIDTH_MOST = 400, HEIGHT_LEAST = 8, HEIGHT_MOST = 200 };
enum { PEN_DIM = -2, PEN_PLAIN = -1 };
enum { GLYPH_DISTANCE = 5 }; /* columns between the glyphs of one series */

static const char *const glyphs[RIDGE_SERIES_MAX] = {"●", "■", "▲", "◆", "○", "□",
                                                     "△", "◇", "▼", "★", "▽", "☆"};

typedef struct text_chart {
    const ridge_chart *chart;
    int width;
    int gutter; /* columns of the y labels, with the axis line */
    bool with_colour;
    ridge_chart_axis x, y;
    ridge_canvas plot;
    ridge_buf *out;
} text_chart;

static int clamp(int v, int low, int high)
{
    return v < low ? low : v > high ? high : v;
}

/** Text cut to a width, with an ellipsis where something is lost. */
static void write_cut(ridge_buf *out, const char *text, int columns)
{
    bool is_cut = ridge_text_width(text) > (size_t)columns;
    for (int left = is_cut ? columns - 1 : columns; *text && left > 0; left--) {
        size_t n = ridge__canvas_character(text);
        if ((unsigned char)*text < ' ') {
            ridge_buf_puts(out, " ");
        } else {
            ridge_buf_add(out, (ridge_str){text, n});
        }
        text += n;
    }
    if (is_cut && columns > 0)
        ridge_buf_puts(out, "…");
}

static int column_of(const text_chart *t, double place)
{
    return (int)(place * (t->plot.columns - 1) + 0.5);
}

static int row_of(const text_chart *t, double place)
{
    return (int)((1 - place) * (t->plot.rows - 1) + 0.5);
}

static void draw_marker_line(text_chart *t, const ridge_marker *marker)
{
    const ridge_chart_axis *axis = marker->is_vertical ? &t->x : &t->y;
    if (!ridge__chart_axis_takes(axis->is_log, marker->at))
        return;
    double place = ridge__chart_axis_place(axis, marker->at);
    if (marker->is_vertical) {
        for (int row = 0; row < t->plot.rows; row++)
            ridge__canvas_glyph(&t->plot, column_of(t, place), row, "┊", PEN_DIM);
    } else {
        for (int column = 0; column < t->plot.columns; column++)
            ridge__canvas_glyph(&t->plot, column, row_of(t, place), "┄", PEN_DIM);
    }
}

/* Labels go where nothing is drawn. A vertical line's stands beside it, as high as
 * possible; a horizontal one's above or below an end, or on the line at the last. */
static bool place_label(text_chart *t, int column, int row, const char *label)
{
    if (!ridge__canvas_is_free(&t->plot, column, row, (int)ridge_text_width(label)))
        return false;
    ridge__canvas_text(&t->plot, column, row, label, PEN_PLAIN);
    return true;
}

static void label_vertical(text_chart *t, int column, const char *label)
{
    int n = (int)ridge_text_width(label);
    for (int row = 0; row < t->plot.rows; row++) {
        if (place_label(t, column + 1, row, label) ||
            place_label(t, column - n, row, label))
            return;
    }
}

static void label_horizontal(text_chart *t, int row, const char *label)
{
    int right = t->plot.columns - (int)ridge_text_width(label);
    if (place_label(t, right, row - 1, label) || place_label(t, 1, row - 1, label) ||
        place_label(t, right, row + 1, label) || place_label(t, 1, row + 1, label))
        return;
    ridge__canvas_text(&t->plot, right, row, label, PEN_PLAIN);
}

static void draw_marker_label(text_chart *t, const ridge_marker *marker)
{
    const char *label = ridge__chart_label(marker->label);
    const ridge_chart_axis *axis = marker->is_vertical ? &t->x : &t->y;
    if (!*label || ridge_text_width(label) > (size_t)t->plot.columns ||
        !ridge__chart_axis_takes(axis->is_log, marker->at))
        return;
    double place = ridge__chart_axis_place(axis, marker->at);
    if (marker->is_vertical) {
        label_vertical(t, column_of(t, place), label);
    } else {
        label_horizontal(t, row_of(t, place), label);
    }
}

static ridge_canvas_dot dot_of(const text_chart *t, double x, double y)
{
    double px = ridge__chart_axis_place(&t->x, x);
    double py = ridge__chart_axis_place(&t->y, y);
    return (ridge_canvas_dot){(int)(px * (2 * t->plot.columns - 1) + 0.5),
                              (int)((1 - py) * (4 * t->plot.rows - 1) + 0.5)};
}

static bool can_draw(const text_chart *t, const ridge_series *series, size_t i)
{
    return ridge__chart_axis_takes(t->x.is_log, series->x[i]) &&
           ridge__chart_axis_takes(t->y.is_log, series->y[i]);
}

static void draw_series_lines(text_chart *t, int pen)
{
    const ridge_series *series = &t->chart->series[pen];
    bool has_last = false;
    ridge_canvas_dot last = {0, 0};
    for (size_t i = 0; i < series->n; i++) {
        bool is_drawn = can_draw(t, series, i);
        if (is_drawn) {
            ridge_canvas_dot here = dot_of(t, series->x[i], series->y[i]);
            ridge__canvas_line(&t->plot, has_last ? last : here, here, pen);
            last = here;
        }
        has_last = is_drawn;
    }
}

static void draw_series_glyphs(text_chart *t, int pen)
{
    const ridge_series *series = &t->chart->series[pen];
    int next = 0;
    for (size_t i = 0; i < series->n; i++) {
        if (!can_draw(t, series, i))
            continue;
        ridge_canvas_dot here = dot_of(t, series->x[i], series->y[i]);
        if (here.x / 2 < next)
            continue;
        ridge__canvas_glyph(&t->plot, here.x / 2, here.y / 4, glyphs[pen], pen);
        next = here.x / 2 + GLYPH_DISTANCE;
    }
}

static void draw_plot(text_chart *t)
{
    const ridge_chart *chart = t->chart;
    for (int m = 0; m < ridge__chart_marker_count(chart); m++)
        draw_marker_line(t, &chart->markers[m]);
    for (int s = 0; s < ridge__chart_series_count(chart); s++)
        draw_series_lines(t, s);
    for (int s = 0; s < ridge__chart_series_count(chart); s++)
        draw_series_glyphs(t, s);
    for (int m = 0; m < ridge__chart_marker_count(chart); m++)
        draw_marker_label(t, &chart->markers[m]);
}

/** Legend lines, at most @p most; names that find no room are left out with "…". */
static void write_legend(text_chart *t, int most)
{
    int n = ridge__chart_series_count(t->chart);
    int line = 0;
    int used = 0;
    for (int s = 0; s < n && most > 0; s++) {
        const char *name = ridge__chart_label(t->chart->series[s].name);
        int need = clamp((int)ridge_text_width(name) + 2, 2, t->width);
        if (used && used + 2 + need > t->width - (line == most - 1 ? 2 : 0)) {
            if (line == most - 1) {
                ridge_buf_puts(t->out, " …");
                break;
            }
            ridge_buf_puts(t->out, "\n");
            line++;
            used = 0;
        }
        ridge_buf_pad(t->out, ' ', used ? 2 : 0);
        ridge_buf_printf(t->out, "%s%s%s ", ridge__canvas_colour(s, t->with_colour),
                         glyphs[s], ridge__canvas_plain(t->with_colour));
        write_cut(t->out, name, need - 2);
        used += need + (used ? 2 : 0);
    }
    if (n && most > 0)
        ridge_buf_puts(t->out, "\n");
}

static void write_plot_rows(text_chart *t)
{
    for (int row = 0; row < t->plot.rows; row++) {
        const char *label = "";
        for (int i = 0; i < t->y.n_ticks; i++) {
            if (row_of(t, t->y.ticks[i].place) == row)
                label = t->y.ticks[i].text.s;
        }
        size_t room = (size_t)t->gutter - 2;
        size_t n = ridge_text_width(label);
        ridge_buf_pad(t->out, ' ', room > n ? room - n : 0);
        ridge_buf_printf(t->out, "%s %s", label, *label ? "┤" : "│");
        ridge__canvas_write_row(&t->plot, row, t->with_colour, t->out);
        ridge_buf_puts(t->out, "\n");
    }
}

static void write_x_axis(text_chart *t)
{
    ridge_canvas axis;
    if (!ridge__canvas_new(t->out->arena, t->width, 2, &axis)) {
        t->out->is_short = true;
        return;
    }
    ridge__canvas_glyph(&axis, t->gutter - 1, 0, "└", PEN_PLAIN);
    for (int column = t->gutter; column < t->width; column++)
        ridge__canvas_glyph(&axis, column, 0, "─", PEN_PLAIN);
    for (int i = 0; i < t->x.n_ticks; i++) {
        const char *label = t->x.ticks[i].text.s;
        int n = (int)ridge_text_width(label);
        int column = t->gutter + column_of(t, t->x.ticks[i].place);
        int start = clamp(column - n / 2, 0, t->width - n);
        ridge__canvas_glyph(&axis, column, 0, "┴", PEN_PLAIN);
        int before = start > 0 ? 1 : 0;
        if (ridge__canvas_is_free(&axis, start - before, 1, n + before))
            ridge__canvas_text(&axis, start, 1, label, PEN_PLAIN);
    }
    for (int row = 0; row < 2; row++) {
        ridge__canvas_write_row(&axis, row, false, t->out);
        ridge_buf_puts(t->out, "\n");
    }
}

static int gutter_of(const ridge_chart_axis *y)
{
    size_t widest = 1;
    for (int i = 0; i < y->n_ticks; i++) {
        size_t n = ridge_text_width(y->ticks[i].text.s);
        widest = n > widest ? n : widest;
    }
    return (int)widest + 2;
}

void ridge_chart_write_text(const ridge_chart *chart, int width, int height,
                            bool with_colour, ridge_buf *out)
{
    width = clamp(width, WIDTH_LEAST, WIDTH_MOST);
    height = clamp(height, HEIGHT_LEAST, HEIGHT_MOST);
    int legend_lines = clamp(height / 6, 1, 3);
    int rows = height - 5 - legend_lines; /* title, y label, axis, ticks, x label */
    text_chart t = {.chart = chart,
                    .width = width,
                    .with_colour = with_colour,
                    .y = ridge__chart_axis_fit(chart, false, clamp(rows / 2, 2, 10)),
                    .x = ridge__chart_axis_fit(chart, true, clamp(width / 9, 2, 12)),
                    .out = out};
    t.gutter = gutter_of(&t.y);
    if (!ridge__canvas_new(out->arena, width - t.gutter, rows, &t.plot)) {
        out->is_short = true;
        return;
    }
    draw_plot(&t);
    write_cut(out, ridge__chart_label(chart->title), width);
    ridge_buf_puts(out, "\n");
    write_legend(&t, legend_lines);
    write_cut(out, ridge__chart_label(chart->y_label), width);
    ridge_buf_puts(out, "\n");
    write_plot_rows(&t);
    write_x_axis(&t);
    const char *x_label = ridge__chart_label(chart->x_label);
    size_t n = ridge_text_width(x_label);
    ridge_buf_pad(out, ' ', n < (size_t)width ? (size_t)width - n : 0);
    write_cut(out, x_label, width);
    ridge_buf_puts(out, "\n");
}
