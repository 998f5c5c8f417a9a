/*
 * The chart of a played step. Boxes take the series' colours of the page that they
 * stand in; each has its name and times in a <title>. Steps with more boxes than a
 * browser likes show their first and their last part.
 */
#include "pipeline_chart.h"

#include "html_text.h"

#include "ridge/report.h"

#include <math.h>

enum { BOXES_MOST = 12000, ROWS_MOST = 64, CHART_WIDTH = 1160 };
static const double LEFT_PX = 70;
static const double TOP_PX = 8;
static const double FOOT_PX = 34;

/* Kinds of boxes, in the order of colours. */
enum { BOX_CLOSE = RIDGE_PASS_COUNT, BOX_UPDATE, BOX_COUNT };

static const char *const box_names[] = {
    [RIDGE_PASS_FORWARD] = "forward",
    [RIDGE_PASS_BACKWARD] = "backward",
    [RIDGE_PASS_BACKWARD_INPUT] = "backward, input",
    [RIDGE_PASS_BACKWARD_WEIGHT] = "backward, weights",
    [BOX_CLOSE] = "gradient reduction",
    [BOX_UPDATE] = "optimizer and weight gather",
};
_Static_assert(RIDGE_COUNT_OF(box_names) == BOX_COUNT, "one row per box");

typedef struct pipeline_chart {
    const ridge_train_simulation *sim;
    ridge_buf *out;
    int rows;
    double row_px;
    double px_per_s;
} pipeline_chart;

typedef struct chart_box {
    int row, kind;
    const char *name;
    double from_s, to_s;
} chart_box;

static void write_box(const pipeline_chart *c, const chart_box *b)
{
    const double width = (b->to_s - b->from_s) * c->px_per_s;
    if (width <= 0)
        return;
    ridge_buf_printf(c->out,
                     "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" "
                     "fill=\"var(--s%d)\"><title>",
                     LEFT_PX + b->from_s * c->px_per_s, TOP_PX + b->row * c->row_px,
                     fmax(width - 0.4, 0.3), c->row_px - 3, b->kind);
    ridge_html_text(c->out, b->name);
    ridge_buf_printf(c->out, ": %s to ", ridge_format_seconds(b->from_s).s);
    ridge_buf_printf(c->out, "%s</title></rect>\n", ridge_format_seconds(b->to_s).s);
}

static void write_row(const pipeline_chart *c, int row, int most)
{
    const ridge_step_outcome *o = &c->sim->outcome;
    const ridge_action_list *list = &c->sim->schedule.ranks[row];
    const ridge_rank_time *rank = &o->timeline.ranks[row];
    const ridge_step_close *close = &c->sim->script.closes[row];
    ridge_buf_printf(
        c->out, "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">stage %d</text>\n",
        LEFT_PX - 8, TOP_PX + (row + 0.5) * c->row_px + 2.5, row + 1);
    for (int i = 0; i < list->n; i++) {
        const ridge_action *a = &list->actions[i];
        if (i >= most / 2 && i < list->n - most / 2)
            continue;
        const char *name = ridge_sprintf(c->out->arena, "%s, microbatch %d%s",
                                         box_names[a->pass], a->microbatch,
                                         c->sim->step.pipeline.chunks == 1 ? ""
                                         : a->chunk == 0 ? ", first chunk"
                                                         : ", a later chunk");
        write_box(c, &(chart_box){row, (int)a->pass, name == NULL ? "" : name,
                                  rank->actions[i].start_s, rank->actions[i].end_s});
    }
    write_box(c, &(chart_box){row, BOX_CLOSE, box_names[BOX_CLOSE], rank->end_s,
                              rank->end_s + close->reduce_s});
    const double from_s =
        c->sim->script.has_barrier ? o->reduced_s : rank->end_s + close->reduce_s;
    write_box(c, &(chart_box){row, BOX_UPDATE, box_names[BOX_UPDATE], from_s,
                              from_s + close->update_s + close->gather_s});
}

static void write_axis(const pipeline_chart *c, double step_s)
{
    enum { TICKS = 8 };
    const double y = TOP_PX + c->rows * c->row_px;
    for (int i = 0; i <= TICKS; i++) {
        const double at_s = step_s * i / TICKS;
        const double x = LEFT_PX + at_s * c->px_per_s;
        ridge_buf_printf(c->out,
                         "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
                         "stroke=\"var(--grid)\"/>\n",
                         x, TOP_PX, x, y + 4);
        ridge_buf_printf(
            c->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", x,
            y + 20, ridge_format_seconds(at_s).s);
    }
}

static bool has_kind(const ridge_train_simulation *sim, int kind)
{
    const bool is_split = ridge_schedule_is_split(sim->step.pipeline.kind);
    if (kind == RIDGE_PASS_BACKWARD)
        return !is_split;
    return (kind != RIDGE_PASS_BACKWARD_INPUT && kind != RIDGE_PASS_BACKWARD_WEIGHT) ||
           is_split;
}

static void write_legend(const pipeline_chart *c)
{
    ridge_buf_puts(c->out, "<div class=\"legend\">");
    for (int i = 0; i < BOX_COUNT; i++) {
        if (!has_kind(c->sim, i))
            continue;
        ridge_buf_printf(c->out, "<span><i style=\"background:var(--s%d)\"></i>", i);
        ridge__html_element(c->out, "", box_names[i], "</span>");
    }
    ridge_buf_puts(c->out, "</div>\n");
}

/* Until the last rank is through. */
static double shown_s(const ridge_train_simulation *sim)
{
    double most_s = 0;
    for (int i = 0; i < sim->step.pipeline.ranks; i++) {
        const ridge_step_close *c = &sim->script.closes[i];
        most_s = fmax(most_s, c->update_s + c->gather_s);
    }
    return sim->outcome.reduced_s + most_s;
}

void ridge__pipeline_chart_write(const ridge_train_simulation *sim, ridge_buf *out)
{
    const double step_s = shown_s(sim);
    const int ranks = sim->step.pipeline.ranks;
    const int rows = ranks < ROWS_MOST ? ranks : ROWS_MOST;
    pipeline_chart c = {.sim = sim, .out = out, .rows = rows};
    c.row_px = rows <= 16 ? 26 : 14;
    c.px_per_s = (CHART_WIDTH - LEFT_PX - 20) / step_s;
    const double height = TOP_PX + rows * c.row_px + FOOT_PX;
    write_legend(&c);
    ridge_buf_printf(
        out,
        "<figure><svg viewBox=\"0 0 %d %.0f\" width=\"100%%\" role=\"img\" "
        "aria-label=\"pipeline in time\" font-size=\"12\" "
        "fill=\"var(--dim)\">\n",
        CHART_WIDTH, height);
    write_axis(&c, step_s);
    for (int row = 0; row < rows; row++)
        write_row(&c, row, BOXES_MOST / rows);
    ridge_buf_puts(out, "</svg></figure>\n");
    if (sim->schedule.ranks[0].n > BOXES_MOST / rows)
        ridge_html_paragraph(out, "Passes in the middle of the step are left out.");
    if (ranks > rows)
        ridge_html_paragraph(out, "Of more stages than fit here, the first.");
}
