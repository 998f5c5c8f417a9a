/* Charts in characters and SVG. With a folder as its argument: write charts there, for
 * a reader of XML. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "near.h"
#include "ridge/report.h"

static const double ramp[] = {1, 10, 100, 1000};
static const double broken[] = {1, (double)NAN, (double)INFINITY, -(double)INFINITY};
static const double flat[] = {7, 7, 7, 7};
static const double negative[] = {-1, -2, -3, -4};
static const double wide[] = {1e-320, 1e-300, 1e300, 1.7e308};

static const ridge_chart charts[] = {
    {.title = "A line",
     .x_label = "x",
     .y_label = "y",
     .n_series = 1,
     .series = {{"ramp", ramp, ramp, 4}}},
    {.title = "Logs & <marks>",
     .x_label = "bytes",
     .y_label = "s",
     .is_x_log = true,
     .is_y_log = true,
     .n_series = 2,
     .series = {{"one \"quoted\"", ramp, ramp, 4}, {"two", ramp, flat, 4}},
     .n_markers = 2,
     .markers = {{"peak", 7, false}, {"critical", 240, true}}},
    {.title = "Gaps",
     .n_series = 2,
     .series = {{"broken", ramp, broken, 4}, {"negative", ramp, negative, 4}}},
    {.title = "Nothing to draw on logs",
     .is_x_log = true,
     .is_y_log = true,
     .n_series = 1,
     .series = {{"negative", ramp, negative, 4}},
     .n_markers = 1,
     .markers = {{"never", (double)NAN, true}}},
    {.title = "Wide", .n_series = 1, .series = {{"wide", ramp, wide, 4}}},
    {.title = "Wide logs",
     .is_y_log = true,
     .n_series = 1,
     .series = {{"wide", ramp, wide, 4}}},
    {.title = "One point", .n_series = 1, .series = {{"point", ramp, ramp, 1}}},
    {.title = "Empty", .n_series = 1, .series = {{"none", NULL, NULL, 0}}},
    {.title = NULL, .n_series = 0},
    {.title = "Counts out of range\x01", .n_series = -3, .n_markers = 99},
    {.title = "A title that is much longer than any terminal is wide, and then longer",
     .x_label = "a label that is much longer than any terminal is wide, too",
     .n_series = 1,
     .series = {{"and a name that is much longer than any terminal is wide", ramp, flat,
                 4}}},
};

static const char *text_of(ridge_ctx *cx, const ridge_chart *chart, int width,
                           int height)
{
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(cx));
    ridge_chart_write_text(chart, width, height, false, &out);
    return ridge_buf_text(&out);
}

static size_t widest_line(const char *text, size_t *lines)
{
    char line[2048];
    size_t widest = 0;
    for (*lines = 0; *text; (*lines)++) {
        size_t n = strcspn(text, "\n");
        assert_true(n < sizeof line);
        memcpy(line, text, n);
        line[n] = '\0';
        widest = ridge_text_width(line) > widest ? ridge_text_width(line) : widest;
        text += n + (text[n] == '\n');
    }
    return widest;
}

static void text_keeps_its_width_and_height(void **state)
{
    ridge_ctx *cx = *state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(charts); i++) {
        for (int width = 30; width <= 120; width += 15) {
            for (int height = 8; height <= 40; height += 4) {
                size_t lines = 0;
                const char *text = text_of(cx, &charts[i], width, height);
                assert_in_range(widest_line(text, &lines), 1, (size_t)width);
                assert_in_range(lines, 1, (size_t)height);
            }
        }
    }
}

static void text_too_small_is_drawn_at_its_least(void **state)
{
    ridge_ctx *cx = *state;
    size_t lines = 0;
    assert_in_range(widest_line(text_of(cx, &charts[0], -5, 0), &lines), 20, 30);
    assert_in_range(lines, 6, 8);
}

static void text_shows_title_labels_and_names(void **state)
{
    const char *text = text_of(*state, &charts[1], 80, 20);
    assert_non_null(strstr(text, "Logs & <marks>\n"));
    assert_non_null(strstr(text, "● one \"quoted\"  ■ two"));
    assert_non_null(strstr(text, "peak"));
    assert_non_null(strstr(text, "critical"));
    assert_non_null(strstr(text, "bytes\n"));
}

static void a_rising_line_ends_higher_than_it_starts(void **state)
{
    const char *text = text_of(*state, &charts[0], 60, 20);
    const char *first = strstr(strstr(text, "ramp"), "●"); /* topmost point */
    assert_non_null(first);
    const char *row_start = first;
    while (row_start[-1] != '\n')
        row_start--;
    assert_true(first - row_start > 30); /* at the right end */
}

static void a_gap_is_not_drawn(void **state)
{
    const double x[] = {0, 1, 2};
    const double y[] = {0, (double)NAN, 0};
    const ridge_chart chart = {.n_series = 1, .series = {{"s", x, y, 3}}};
    const char *text = text_of(*state, &chart, 60, 12);
    assert_null(strstr(text, "⣀⣀"));
    assert_null(strstr(text, "⠤⠤"));
}

static void colour_is_asked_for(void **state)
{
    ridge_ctx *cx = *state;
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(cx));
    assert_null(strchr(text_of(cx, &charts[1], 60, 15), '\033'));
    ridge_chart_write_text(&charts[1], 60, 15, true, &out);
    assert_non_null(strstr(ridge_buf_text(&out), "\033[33m"));
    const char *last = strrchr(ridge_buf_text(&out), '\033');
    assert_memory_equal(last, "\033[0m", 4);
}

static void svg_has_what_it_shows(void **state)
{
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(*state));
    ridge_chart_write_svg(&charts[1], 800, 400, &out);
    const char *svg = ridge_buf_text(&out);
    assert_memory_equal(svg, "<svg ", 5);
    assert_non_null(strstr(svg, "viewBox=\"0 0 800 400\""));
    assert_non_null(strstr(svg, "<title>Logs &amp; &lt;marks&gt;</title>"));
    assert_non_null(strstr(svg, "one &quot;quoted&quot;"));
    assert_non_null(strstr(svg, "prefers-color-scheme:dark"));
    assert_null(strstr(svg, "nan"));
    assert_null(strstr(svg, "inf"));
}

static void svg_of_anything_has_only_finite_places(void **state)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(charts); i++) {
        ridge_buf out;
        ridge_buf_init(&out, ridge_ctx_arena(*state));
        ridge_chart_write_svg(&charts[i], 1, 1, &out);
        assert_null(strstr(ridge_buf_text(&out), "\"nan"));
        assert_null(strstr(ridge_buf_text(&out), "\"inf"));
        assert_null(strstr(ridge_buf_text(&out), "\"-nan"));
        assert_null(strstr(ridge_buf_text(&out), "Mnan"));
    }
}

static void short_memory_is_said(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open_budget(4096);
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(cx));
    ridge_chart_write_text(&charts[0], 120, 40, false, &out);
    assert_true(out.is_short);
    ridge_ctx_close(cx);
}

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state ? 0 : -1;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

/** Write every chart as SVG and all in one page. @return exit code */
static int write_charts(const char *folder)
{
    ridge_ctx *cx = ridge_ctx_open();
    ridge_arena *arena = ridge_ctx_arena(cx);
    ridge_buf page;
    ridge_buf_init(&page, arena);
    ridge_html_begin(&page, "Charts", "Each of them");
    bool is_fine = true;
    for (size_t i = 0; i < RIDGE_COUNT_OF(charts); i++) {
        ridge_buf out;
        ridge_buf_init(&out, arena);
        ridge_chart_write_svg(&charts[i], 700, 350, &out);
        ridge_html_chart(&page, &charts[i]);
        const char *path = ridge_sprintf(arena, "%s/%zu.svg", folder, i);
        ridge_str text = {ridge_buf_text(&out), out.n};
        is_fine = is_fine && ridge_file_write(cx, path, text) == RIDGE_OK;
    }
    ridge_html_end(&page);
    const char *path = ridge_sprintf(arena, "%s/charts.html", folder);
    ridge_str text = {ridge_buf_text(&page), page.n};
    is_fine = is_fine && ridge_file_write(cx, path, text) == RIDGE_OK;
    ridge_ctx_close(cx);
    return is_fine ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 2)
        return write_charts(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_keeps_its_width_and_height),
        cmocka_unit_test(text_too_small_is_drawn_at_its_least),
        cmocka_unit_test(text_shows_title_labels_and_names),
        cmocka_unit_test(a_rising_line_ends_higher_than_it_starts),
        cmocka_unit_test(a_gap_is_not_drawn),
        cmocka_unit_test(colour_is_asked_for),
        cmocka_unit_test(svg_has_what_it_shows),
        cmocka_unit_test(svg_of_anything_has_only_finite_places),
        cmocka_unit_test(short_memory_is_said),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
