/*
 * Charts as one SVG element: scales with its container, light and dark by the reader's
 * preference, names and values in <title> for screen readers and on hover.
 */
#include "svg_marker.h"

#include "html_text.h"

#include <math.h>

enum { WIDTH_LEAST = 240, HEIGHT_LEAST = 160, SIZE_MOST = 10000 };
enum { HOVER_POINTS_MOST = 48 }; /* denser series have a line alone */
static const double LEGEND_LINE_PX = 20;

static void write_style(ridge_buf *out)
{
    ridge_buf_puts(out, "<style>.ridge-chart{");
    ridge__palette_write(out, false);
    ridge_buf_puts(out, "font:12px system-ui,-apple-system,'Segoe UI',sans-serif}"
                        "@media (prefers-color-scheme:dark){.ridge-chart{");
    ridge__palette_write(out, true);
    ridge_buf_puts(out,
                   "}}.ridge-chart text{fill:var(--dim)}"
                   ".ridge-chart .title{fill:var(--fg);font-size:14px;font-weight:600}"
                   ".ridge-chart .grid{stroke:var(--grid);stroke-width:1}"
                   ".ridge-chart .axis{stroke:var(--dim);stroke-width:1}"
                   ".ridge-chart .marker{stroke:var(--dim);stroke-dasharray:4 4}"
                   ".ridge-chart .label{paint-order:stroke;stroke:var(--ground);"
                   "stroke-width:3px;stroke-linejoin:round}"
                   ".ridge-chart .line{fill:none;stroke-width:2;stroke-linejoin:round;"
                   "stroke-linecap:round}"
                   ".ridge-chart .point{stroke:var(--ground);stroke-width:1}"
                   ".ridge-chart .ground{fill:var(--ground)}</style>\n");
}

static void write_x_axis(const ridge_svg_chart *c)
{
    double free_from = 0;
    for (int i = 0; i < c->x.n_ticks; i++) {
        double x = ridge__svg_x_px(c, c->x.ticks[i].place);
        double half = ridge__svg_text_px(c->x.ticks[i].text.s) / 2;
        ridge__svg_upright(c, "grid", x);
        if (x - half < free_from)
            continue;
        ridge__svg_text(c, (ridge_svg_point){x, c->bottom + 18},
                        "text-anchor=\"middle\"", c->x.ticks[i].text.s);
        free_from = x + half + ridge__svg_text_px(" ");
    }
    ridge__svg_level(c, "axis", c->bottom);
    ridge__svg_text(c, (ridge_svg_point){(c->left + c->right) / 2, c->bottom + 38},
                    "text-anchor=\"middle\"", ridge__chart_label(c->chart->x_label));
}

static void write_y_axis(const ridge_svg_chart *c)
{
    for (int i = 0; i < c->y.n_ticks; i++) {
        double y = ridge__svg_y_px(c, c->y.ticks[i].place);
        ridge__svg_level(c, "grid", y);
        ridge__svg_text(c, (ridge_svg_point){c->left - 8, y + 4}, "text-anchor=\"end\"",
                        c->y.ticks[i].text.s);
    }
    ridge__svg_upright(c, "axis", c->left);
    ridge__svg_text(c, (ridge_svg_point){12, c->top - 10}, "",
                    ridge__chart_label(c->chart->y_label));
}

static void write_path(const ridge_svg_chart *c, int s)
{
    const ridge_series *series = &c->chart->series[s];
    bool is_open = false;
    ridge_buf_printf(c->out, "<path class=\"line\" style=\"stroke:var(--s%d)\" d=\"",
                     s);
    for (size_t i = 0; i < series->n; i++) {
        bool is_drawn = ridge__svg_can_draw(c, series, i);
        if (is_drawn) {
            ridge_buf_printf(
                c->out, "%s%.1f %.1f", is_open ? "L" : "M",
                ridge__svg_x_px(c, ridge__chart_axis_place(&c->x, series->x[i])),
                ridge__svg_y_px(c, ridge__chart_axis_place(&c->y, series->y[i])));
        }
        is_open = is_drawn;
    }
    ridge__html_element(c->out, "\"><title>", ridge__chart_label(series->name),
                        "</title></path>\n");
}

static void write_points(const ridge_svg_chart *c, int s)
{
    const ridge_series *series = &c->chart->series[s];
    for (size_t i = 0; i < series->n && series->n <= HOVER_POINTS_MOST; i++) {
        if (!ridge__svg_can_draw(c, series, i))
            continue;
        ridge_buf_printf(
            c->out,
            "<circle class=\"point\" style=\"fill:var(--s%d)\" "
            "cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"><title>",
            s, ridge__svg_x_px(c, ridge__chart_axis_place(&c->x, series->x[i])),
            ridge__svg_y_px(c, ridge__chart_axis_place(&c->y, series->y[i])));
        ridge_html_text(c->out, ridge__chart_label(series->name));
        ridge_buf_printf(c->out, ": %s, %s</title></circle>\n",
                         ridge__chart_number(series->x[i], 4).s,
                         ridge__chart_number(series->y[i], 4).s);
    }
}

/** Walk the legend; @return lines taken. Draws only if @p is_drawn. */
static int walk_legend(const ridge_svg_chart *c, double top, bool is_drawn)
{
    double x = 12;
    int line = 0;
    for (int s = 0; s < ridge__chart_series_count(c->chart); s++) {
        const char *name = ridge__chart_label(c->chart->series[s].name);
        double need = 34 + ridge__svg_text_px(name);
        if (x > 12 && x + need > c->width - 12) {
            x = 12;
            line++;
        }
        double y = top + line * LEGEND_LINE_PX;
        if (is_drawn) {
            ridge_buf_printf(c->out,
                             "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"4\" "
                             "rx=\"2\" style=\"fill:var(--s%d)\"/>\n",
                             x, y - 6, s);
            ridge__svg_text(c, (ridge_svg_point){x + 20, y}, "", name);
        }
        x += need;
    }
    return ridge__chart_series_count(c->chart) ? line + 1 : 0;
}

static void lay_out(ridge_svg_chart *c)
{
    double y_labels = 0;
    for (int i = 0; i < c->y.n_ticks; i++)
        y_labels = fmax(y_labels, ridge__svg_text_px(c->y.ticks[i].text.s));
    c->left = 20 + y_labels;
    c->right = c->width - 20;
    c->top = 56 + walk_legend(c, 0, false) * LEGEND_LINE_PX;
    c->bottom = fmax(c->height - 48, c->top + 40);
    c->height = c->bottom + 48;
}

static void write_head(const ridge_svg_chart *c)
{
    ridge_buf_printf(c->out,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ridge-chart\" "
                     "viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
                     "style=\"width:100%%;max-width:%.0fpx;height:auto\">\n",
                     c->width, c->height, c->width);
    ridge__html_element(c->out, "<title>", ridge__chart_label(c->chart->title),
                        "</title>\n");
    write_style(c->out);
    ridge_buf_puts(c->out, "<rect class=\"ground\" width=\"100%\" height=\"100%\" "
                           "rx=\"6\"/>\n");
    ridge__svg_text(c, (ridge_svg_point){12, 24}, "class=\"title\"",
                    ridge__chart_label(c->chart->title));
}

void ridge_chart_write_svg(const ridge_chart *chart, int width, int height,
                           ridge_buf *out)
{
    ridge_svg_chart c = {.chart = chart, .out = out};
    c.width = fmin(fmax(width, WIDTH_LEAST), SIZE_MOST);
    c.height = fmin(fmax(height, HEIGHT_LEAST), SIZE_MOST);
    c.x = ridge__chart_axis_fit(chart, true, (int)fmin(c.width / 60, 20));
    c.y = ridge__chart_axis_fit(chart, false, (int)fmin(c.height / 40, 12));
    lay_out(&c);
    write_head(&c);
    walk_legend(&c, 46, true);
    write_x_axis(&c);
    write_y_axis(&c);
    for (int m = 0; m < ridge__chart_marker_count(chart); m++)
        ridge__svg_marker_line(&c, &chart->markers[m]);
    for (int s = 0; s < ridge__chart_series_count(chart); s++) {
        write_path(&c, s);
        write_points(&c, s);
    }
    for (int m = 0; m < ridge__chart_marker_count(chart); m++)
        ridge__svg_marker_label(&c, &chart->markers[m]);
    ridge_buf_puts(out, "</svg>\n");
}
