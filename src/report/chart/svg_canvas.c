/* Places in a chart's field, and the lines and texts that are drawn there. */
#include "svg_marker.h"

#include "html_text.h"

static const double CHARACTER_PX = 6.6; /* mean advance at the 12 px of labels */

double ridge__svg_x_px(const ridge_svg_chart *c, double place)
{
    return c->left + place * (c->right - c->left);
}

double ridge__svg_y_px(const ridge_svg_chart *c, double place)
{
    return c->bottom - place * (c->bottom - c->top);
}

double ridge__svg_text_px(const char *text)
{
    return CHARACTER_PX * (double)ridge_text_width(text);
}

void ridge__svg_text(const ridge_svg_chart *c, ridge_svg_point at,
                     const char *attributes, const char *text)
{
    ridge_buf_printf(c->out, "<text x=\"%.1f\" y=\"%.1f\" %s>", at.x, at.y, attributes);
    ridge__html_element(c->out, "", text, "</text>\n");
}

static void write_line(const ridge_svg_chart *c, const char *kind, ridge_svg_point from,
                       ridge_svg_point to)
{
    ridge_buf_printf(
        c->out,
        "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", kind,
        from.x, from.y, to.x, to.y);
}

void ridge__svg_upright(const ridge_svg_chart *c, const char *kind, double x)
{
    write_line(c, kind, (ridge_svg_point){x, c->top}, (ridge_svg_point){x, c->bottom});
}

void ridge__svg_level(const ridge_svg_chart *c, const char *kind, double y)
{
    write_line(c, kind, (ridge_svg_point){c->left, y}, (ridge_svg_point){c->right, y});
}

bool ridge__svg_can_draw(const ridge_svg_chart *c, const ridge_series *series, size_t i)
{
    return ridge__chart_axis_takes(c->x.is_log, series->x[i]) &&
           ridge__chart_axis_takes(c->y.is_log, series->y[i]);
}
