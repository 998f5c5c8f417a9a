/*
 * Markers of an SVG chart: their lines, and a free place for each label.
 */
#include "svg_marker.h"

#include <math.h>

static const double LABEL_HEIGHT_PX = 16;

typedef struct box {
    double x0, y0, x1, y1;
} box;

/** A place for a label: its baseline's start. */
static box box_at(ridge_svg_point start, double width)
{
    return (box){start.x, start.y - LABEL_HEIGHT_PX, start.x + width, start.y + 2};
}

static ridge_svg_point point_of(const ridge_svg_chart *c, const ridge_series *series,
                                size_t i)
{
    return (ridge_svg_point){
        ridge__svg_x_px(c, ridge__chart_axis_place(&c->x, series->x[i])),
        ridge__svg_y_px(c, ridge__chart_axis_place(&c->y, series->y[i]))};
}

/** How many of a few samples of a segment lie in a box. */
static int hits(box b, ridge_svg_point from, ridge_svg_point to)
{
    enum { SAMPLES = 24 };
    int n = 0;
    for (int i = 0; i <= SAMPLES; i++) {
        double x = from.x + (to.x - from.x) * i / SAMPLES;
        double y = from.y + (to.y - from.y) * i / SAMPLES;
        n += x >= b.x0 && x <= b.x1 && y >= b.y0 && y <= b.y1;
    }
    return n;
}

static int crowding(const ridge_svg_chart *c, box b)
{
    int n = 0;
    for (int s = 0; s < ridge__chart_series_count(c->chart); s++) {
        const ridge_series *series = &c->chart->series[s];
        for (size_t i = 0; i < series->n; i++) {
            if (!ridge__svg_can_draw(c, series, i))
                continue;
            bool has_last = i > 0 && ridge__svg_can_draw(c, series, i - 1);
            ridge_svg_point here = point_of(c, series, i);
            n += hits(b, has_last ? point_of(c, series, i - 1) : here, here);
        }
    }
    return n;
}

static bool axis_place(const ridge_svg_chart *c, const ridge_marker *marker,
                       double *out)
{
    const ridge_chart_axis *axis = marker->is_vertical ? &c->x : &c->y;
    if (!ridge__chart_axis_takes(axis->is_log, marker->at))
        return false;
    *out = ridge__chart_axis_place(axis, marker->at);
    return true;
}

void ridge__svg_marker_line(const ridge_svg_chart *c, const ridge_marker *marker)
{
    double place = 0;
    if (!axis_place(c, marker, &place))
        return;
    if (marker->is_vertical) {
        ridge__svg_upright(c, "marker", ridge__svg_x_px(c, place));
    } else {
        ridge__svg_level(c, "marker", ridge__svg_y_px(c, place));
    }
}

void ridge__svg_marker_label(const ridge_svg_chart *c, const ridge_marker *marker)
{
    double place = 0;
    const char *label = ridge__chart_label(marker->label);
    if (!*label || !axis_place(c, marker, &place))
        return;
    double width = ridge__svg_text_px(label);
    double x = ridge__svg_x_px(c, place);
    double y = ridge__svg_y_px(c, place);
    double far = c->right - width - 4;
    const ridge_svg_point upright[] = {{x + 6, c->top + 14},
                                       {x - width - 6, c->top + 14},
                                       {x + 6, c->bottom - 8},
                                       {x - width - 6, c->bottom - 8}};
    const ridge_svg_point level[] = {
        {far, y - 5}, {far, y + 15}, {c->left + 6, y - 5}, {c->left + 6, y + 15}};
    const ridge_svg_point *places = marker->is_vertical ? upright : level;
    ridge_svg_point best = places[0];
    double least = HUGE_VAL;
    for (int i = 0; i < 4; i++) {
        box b = box_at(places[i], width);
        bool is_inside = b.x0 >= c->left && b.x1 <= c->right && b.y0 >= c->top - 4 &&
                         b.y1 <= c->bottom;
        double cost = crowding(c, b) + (is_inside ? 0 : 1e6);
        if (cost < least) {
            least = cost;
            best = places[i];
        }
    }
    ridge__svg_text(c, best, "class=\"label\"", label);
}
