/* Two profiles side by side. */
#include "profile_sections.h"

#include "ridge/report.h"

#include <math.h>

enum { DIFF_ROWS = 20 };

static const char *change_text(ridge_ctx *cx, double before, double after)
{
    const double delta = after - before;
    const char *sign = delta < 0 ? "-" : "+";
    const char *text = before > 0
                           ? ridge_sprintf(ridge_ctx_arena(cx), "%s%s", sign,
                                           ridge_format_percent(fabs(delta) / before).s)
                       : after > 0 ? "new"
                                   : "";
    return text == NULL ? "" : text;
}

static void change_row(ridge_ctx *cx, ridge_table *t, const ridge_profile_change *c)
{
    const double delta = c->after_s - c->before_s;
    ridge_table_cell(t, *c->name == 0
                            ? "(not told)"
                            : profile_name_text(cx, c->name, PROFILE_NAME_COLUMNS));
    ridge_table_cell(t, ridge_format_seconds(c->before_s).s);
    ridge_table_cell(t, ridge_format_seconds(c->after_s).s);
    ridge_table_cellf(t, "%s%s", delta < 0 ? "-" : "+",
                      ridge_format_seconds(fabs(delta)).s);
    ridge_table_cell(t, change_text(cx, c->before_s, c->after_s));
}

static void build(ridge_ctx *cx, const ridge_profile_diff *d, ridge_sections *s)
{
    s->title = ridge_sprintf(ridge_ctx_arena(cx), "%s against %s", d->after->path,
                             d->before->path);
    s->subtitle = ridge_sprintf(
        ridge_ctx_arena(cx), "a step on average, of %lld before and %lld after",
        (long long)d->before->steps, (long long)d->after->steps);
    ridge_table *t = ridge__section_add(cx, s, "Step", "part|>before|>after|>change|>");
    for (int i = 0; i < d->n_parts; i++)
        change_row(cx, t, &d->parts[i]);
    ridge_table_rule(t);
    change_row(cx, t, &d->step);
    change_row(cx, t, &d->hidden);
    t = ridge__section_add(cx, s,
                           ridge_sprintf(ridge_ctx_arena(cx),
                                         "Operations by %s, largest changes first",
                                         ridge_profile_key_text(d->key)),
                           "|>before|>after|>change|>|>calls before|>after");
    for (int i = 0; i < d->n_groups && i < DIFF_ROWS; i++) {
        change_row(cx, t, &d->groups[i]);
        ridge_table_cell(t, ridge_format_count(d->groups[i].before_count).s);
        ridge_table_cell(t, ridge_format_count(d->groups[i].after_count).s);
    }
}

void ridge_profile_diff_write_text(ridge_ctx *cx, const ridge_profile_diff *diff,
                                   bool with_colour, ridge_buf *out)
{
    ridge_sections s = {0};
    build(cx, diff, &s);
    ridge__sections_write_text(&s, with_colour, out);
}

void ridge_profile_diff_write_html(ridge_ctx *cx, const ridge_profile_diff *diff,
                                   ridge_buf *out)
{
    enum { SIDES = 2 };
    static const char *const rows[] = {"before", "after"};
    const char *names[RIDGE_PROFILE_PART_COUNT];
    double values[SIDES * RIDGE_PROFILE_PART_COUNT];
    ridge_sections s = {0};
    build(cx, diff, &s);
    ridge__page_begin(&s, out);
    ridge_html_heading(out, "Where a step goes");
    for (int i = 0; i < diff->n_parts; i++) {
        names[i] = diff->parts[i].name;
        values[i] = diff->parts[i].before_s;
        values[diff->n_parts + i] = diff->parts[i].after_s;
    }
    ridge_html_bars(out, rows, SIDES, names, (size_t)diff->n_parts, values, "s");
    ridge__page_end(&s, out);
}

static void set_change(ridge_json *o, const ridge_profile_change *c)
{
    ridge_json_set_text(o, "name", c->name);
    ridge_json_set_double(o, "before_s", c->before_s);
    ridge_json_set_double(o, "after_s", c->after_s);
    ridge_json_set_double(o, "change_s", c->after_s - c->before_s);
}

void ridge_profile_diff_write_json(ridge_ctx *cx, const ridge_profile_diff *diff,
                                   ridge_json *object)
{
    ridge_json_set_text(object, "before", diff->before->path);
    ridge_json_set_text(object, "after", diff->after->path);
    set_change(ridge_json_set_object(cx, object, "step"), &diff->step);
    ridge_json *parts = ridge_json_set_array(cx, object, "parts");
    for (int i = 0; i < diff->n_parts; i++)
        set_change(ridge_json_push_object(cx, parts), &diff->parts[i]);
    set_change(ridge_json_push_object(cx, parts), &diff->hidden);
    ridge_json_set_text(object, "by", ridge_profile_key_text(diff->key));
    ridge_json *groups = ridge_json_set_array(cx, object, "groups");
    for (int i = 0; i < diff->n_groups; i++) {
        ridge_json *o = ridge_json_push_object(cx, groups);
        set_change(o, &diff->groups[i]);
        ridge_json_set_double(o, "before_count", diff->groups[i].before_count);
        ridge_json_set_double(o, "after_count", diff->groups[i].after_count);
    }
}
