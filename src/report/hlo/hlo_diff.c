/* Two modules side by side: categories, operations and totals, largest change first. */
#include "hlo_section.h"

#include "ridge/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** One thing in both modules. */
typedef struct pair {
    const char *key;
    double n[2], flops[2], bytes[2], time_s[2];
} pair;

typedef struct pair_list {
    int n;
    pair items[2 * RIDGE_HLO_BUCKET_MAX];
} pair_list;

static bool has_times(const ridge_hlo_diff_view *v)
{
    return v->studies[0]->slice && v->studies[1]->slice;
}

static pair *pair_of(pair_list *list, const char *key)
{
    for (int k = 0; k < list->n; k++) {
        if (strcmp(list->items[k].key, key) == 0)
            return &list->items[k];
    }
    if (list->n == (int)RIDGE_COUNT_OF(list->items))
        return NULL;
    list->items[list->n] = (pair){.key = key};
    return &list->items[list->n++];
}

static void add(pair_list *list, const char *key, int side, const double values[4])
{
    pair *p = pair_of(list, key);
    if (p == NULL)
        return;
    p->n[side] += values[0];
    p->flops[side] += values[1];
    p->bytes[side] += values[2];
    p->time_s[side] += values[3];
}

static pair_list categories_of(const ridge_hlo_diff_view *v)
{
    pair_list list = {.n = 0};
    for (int side = 0; side < 2; side++) {
        for (int c = 0; c < RIDGE_HLO_CATEGORY_COUNT; c++) {
            const ridge_hlo_share *s = &v->studies[side]->shares[c];
            const double values[] = {(double)s->n, s->flops, s->bytes, s->exposed_s};
            if (s->n > 0)
                add(&list, ridge_hlo_category_text((ridge_hlo_category)c), side,
                    values);
        }
    }
    return list;
}

static pair_list buckets_of(const ridge_hlo_diff_view *v, ridge_hlo_grouping by)
{
    pair_list list = {.n = 0};
    for (int side = 0; side < 2; side++) {
        for (int k = 0; k < v->studies[side]->n_buckets[by]; k++) {
            const ridge_hlo_bucket *b = &v->studies[side]->buckets[by][k];
            const double values[] = {(double)b->n, b->flops, b->bytes, b->expected_s};
            add(&list, b->key, side, values);
        }
    }
    return list;
}

static double change(const pair *p)
{
    const double s = fabs(p->time_s[1] - p->time_s[0]);
    return s > 0 ? s : fabs(p->bytes[1] - p->bytes[0]) * 1e-30;
}

static int larger_change(const void *a, const void *b)
{
    const double x = change(a), y = change(b);
    if (x != y)
        return x > y ? -1 : 1;
    return strcmp(((const pair *)a)->key, ((const pair *)b)->key);
}

static const char *signed_text(ridge_ctx *cx, double v, ridge_text text)
{
    const char *z = ridge_sprintf(ridge_ctx_arena(cx), "%s%s",
                                  v > 0   ? "+"
                                  : v < 0 ? "-"
                                          : "",
                                  text.s);
    return z ? z : "";
}

static void add_pairs(ridge_ctx *cx, const ridge_hlo_diff_view *v, const char *title,
                      pair_list *list, ridge_sections *out)
{
    qsort(list->items, (size_t)list->n, sizeof *list->items, larger_change);
    ridge_table *t =
        ridge__section_add(cx, out, title,
                           has_times(v) ? "|>kernels A|>B|>bytes A|>B|>time A|>B|>B - A"
                                        : "|>kernels A|>B|>bytes A|>B|>B - A");
    for (int k = 0; k < list->n && k < v->top; k++) {
        const pair *p = &list->items[k];
        ridge_table_cell(t, p->key);
        for (int side = 0; side < 2; side++)
            ridge_table_cell(t, ridge_format_count(p->n[side]).s);
        for (int side = 0; side < 2; side++)
            ridge_table_cell(t, ridge_format_bytes(p->bytes[side]).s);
        if (!has_times(v)) {
            const double d = p->bytes[1] - p->bytes[0];
            ridge_table_cell(t, signed_text(cx, d, ridge_format_bytes(fabs(d))));
            continue;
        }
        for (int side = 0; side < 2; side++)
            ridge_table_cell(t, ridge_format_seconds(p->time_s[side]).s);
        const double d = p->time_s[1] - p->time_s[0];
        ridge_table_cell(t, signed_text(cx, d, ridge_format_seconds(fabs(d))));
    }
}

static void add_totals(ridge_ctx *cx, const ridge_hlo_diff_view *v, ridge_sections *out)
{
    const ridge_hlo_study *a = v->studies[0], *b = v->studies[1];
    ridge_table *t = ridge__section_add(cx, out, "", "|>A|>B|>B / A");
    const struct {
        const char *name;
        double a, b;
        bool is_time;
    } rows[] = {
        {"FLOPs", ridge_hlo_study_flops(a), ridge_hlo_study_flops(b), false},
        {"HBM traffic", a->bytes, b->bytes, false},
        {"peak memory", a->memory.peak_bytes, b->memory.peak_bytes, false},
        {"expected time", a->expected_s, b->expected_s, true},
        {"bound", a->bound_s, b->bound_s, true},
        {"exposed network", a->exposed_s, b->exposed_s, true},
    };
    for (size_t k = 0; k < RIDGE_COUNT_OF(rows); k++) {
        if ((rows[k].is_time && !has_times(v)) || (rows[k].a == 0 && rows[k].b == 0))
            continue;
        const bool is_bytes = k == 1 || k == 2;
        ridge_table_cell(t, rows[k].name);
        for (int side = 0; side < 2; side++) {
            const double x = side ? rows[k].b : rows[k].a;
            ridge_table_cell(t, rows[k].is_time ? ridge_format_seconds(x).s
                                : is_bytes      ? ridge_format_bytes(x).s
                                                : ridge_format_si(x, "").s);
        }
        ridge_table_cell(t, rows[k].a > 0 ? ridge_format_double(rows[k].b / rows[k].a).s
                                          : "");
    }
    ridge__section_note(out, ridge_sprintf(ridge_ctx_arena(cx), "A is %s, B is %s.",
                                           v->paths[0], v->paths[1]));
}

static ridge_sections sections_of(ridge_ctx *cx, const ridge_hlo_diff_view *v)
{
    ridge_sections all = {.subtitle = NULL};
    all.title = "Two modules";
    pair_list categories = categories_of(v), codes = buckets_of(v, RIDGE_HLO_BY_CODE),
              scopes = buckets_of(v, RIDGE_HLO_BY_SCOPE);
    add_totals(cx, v, &all);
    add_pairs(cx, v, "By category", &categories, &all);
    add_pairs(cx, v, "By operation", &codes, &all);
    add_pairs(cx, v, "By scope", &scopes, &all);
    return all;
}

void ridge_hlo_diff_write_text(ridge_ctx *cx, const ridge_hlo_diff_view *view,
                               bool with_colour, ridge_buf *out)
{
    const ridge_sections all = sections_of(cx, view);
    ridge__sections_write_text(&all, with_colour, out);
}

static void draw(const ridge_hlo_diff_view *v, ridge_buf *out)
{
    static const char *const rows[] = {"A", "B"};
    const char *names[RIDGE_HLO_CATEGORY_COUNT];
    double values[2 * RIDGE_HLO_CATEGORY_COUNT];
    for (int c = 0; c < RIDGE_HLO_CATEGORY_COUNT; c++) {
        names[c] = ridge_hlo_category_text((ridge_hlo_category)c);
        for (int side = 0; side < 2; side++) {
            const ridge_hlo_share *s = &v->studies[side]->shares[c];
            values[side * RIDGE_HLO_CATEGORY_COUNT + c] =
                has_times(v) ? s->exposed_s : s->bytes;
        }
    }
    ridge_html_bars(out, rows, 2, names, RIDGE_HLO_CATEGORY_COUNT, values,
                    has_times(v) ? "s" : "B");
}

void ridge_hlo_diff_write_html(ridge_ctx *cx, const ridge_hlo_diff_view *view,
                               ridge_buf *out)
{
    const ridge_sections all = sections_of(cx, view);
    ridge__page_begin(&all, out);
    draw(view, out);
    ridge__page_end(&all, out);
}

static void set_pairs(ridge_ctx *cx, const ridge_hlo_diff_view *v, const char *key,
                      pair_list *list, ridge_json *object)
{
    static const char *const sides[] = {"a", "b"};
    ridge_json *array = ridge_json_set_array(cx, object, key);
    qsort(list->items, (size_t)list->n, sizeof *list->items, larger_change);
    for (int k = 0; k < list->n; k++) {
        const pair *p = &list->items[k];
        ridge_json *o = ridge_json_push_object(cx, array);
        ridge_json_set_text(o, "key", p->key);
        for (int side = 0; side < 2; side++) {
            ridge_json *x = ridge_json_set_object(cx, o, sides[side]);
            ridge_json_set_double(x, "kernels", p->n[side]);
            ridge_json_set_double(x, "flops", p->flops[side]);
            ridge_json_set_double(x, "bytes", p->bytes[side]);
            if (has_times(v))
                ridge_json_set_double(x, "time_s", p->time_s[side]);
        }
    }
}

void ridge_hlo_diff_write_json(ridge_ctx *cx, const ridge_hlo_diff_view *view,
                               ridge_json *object)
{
    static const char *const sides[] = {"a", "b"};
    pair_list categories = categories_of(view),
              codes = buckets_of(view, RIDGE_HLO_BY_CODE),
              scopes = buckets_of(view, RIDGE_HLO_BY_SCOPE);
    ridge_json *diff = ridge_json_set_object(cx, object, "diff");
    for (int side = 0; side < 2; side++) {
        const ridge_hlo_study *s = view->studies[side];
        ridge_json *o = ridge_json_set_object(cx, diff, sides[side]);
        ridge_json_set_text(o, "file", view->paths[side]);
        ridge_json_set_double(o, "flops", ridge_hlo_study_flops(s));
        ridge_json_set_double(o, "bytes", s->bytes);
        ridge_json_set_double(o, "peak_memory_bytes", s->memory.peak_bytes);
        if (has_times(view))
            ridge_json_set_double(o, "time_s", s->expected_s);
    }
    set_pairs(cx, view, "categories", &categories, diff);
    set_pairs(cx, view, "by_operation", &codes, diff);
    set_pairs(cx, view, "by_scope", &scopes, diff);
}
