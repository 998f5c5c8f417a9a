/* Charts of random series keep their size, whatever the values. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "near.h"
#include "ridge/report.h"

enum { CASES = 400, POINTS_MOST = 40 };

/* xorshift64: the same series on every machine */
static uint64_t next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static double value(uint64_t *seed)
{
    static const double odd[] = {(double)NAN,
                                 (double)INFINITY,
                                 -(double)INFINITY,
                                 0,
                                 -0.0,
                                 1e308,
                                 -1e308,
                                 1e-320,
                                 1e-300,
                                 1};
    uint64_t pick = next(seed) % 20;
    if (pick < RIDGE_COUNT_OF(odd))
        return odd[pick];
    double exponent = (double)(next(seed) % 601) - 300;
    double sign = next(seed) % 4 ? 1 : -1;
    return sign * pow(10, exponent / (double)(1 + next(seed) % 100));
}

static void check(const ridge_chart *chart, int width, int height, uint64_t seed)
{
    ridge_ctx *cx = ridge_ctx_open();
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(cx));
    ridge_chart_write_text(chart, width, height, false, &out);
    int lines = 0;
    for (const char *p = ridge_buf_text(&out); *p; lines++) {
        size_t n = strcspn(p, "\n");
        const char *line = ridge_str_dup(ridge_ctx_arena(cx), (ridge_str){p, n});
        if (ridge_text_width(line) > (size_t)width)
            print_error("seed %llu: %s\n", (unsigned long long)seed, line);
        assert_true(ridge_text_width(line) <= (size_t)width);
        p += n + (p[n] == '\n');
    }
    assert_in_range(lines, 1, height);
    ridge_buf_init(&out, ridge_ctx_arena(cx));
    ridge_chart_write_svg(chart, 10 * width, 20 * height, &out);
    assert_null(strstr(ridge_buf_text(&out), "\"nan"));
    assert_null(strstr(ridge_buf_text(&out), " nan"));
    assert_null(strstr(ridge_buf_text(&out), "inf\""));
    ridge_ctx_close(cx);
}

static void any_values_fit_their_frame(void **state)
{
    (void)state;
    double x[POINTS_MOST];
    double y[POINTS_MOST];
    for (uint64_t start = 1; start <= CASES; start++) {
        uint64_t seed = start * 0x9E3779B97F4A7C15U;
        size_t n = next(&seed) % POINTS_MOST;
        for (size_t i = 0; i < n; i++) {
            x[i] = value(&seed);
            y[i] = value(&seed);
        }
        ridge_chart chart = {.title = "random",
                             .is_x_log = next(&seed) % 2,
                             .is_y_log = next(&seed) % 2,
                             .n_series = 1,
                             .series = {{"s", x, y, n}},
                             .n_markers = 2,
                             .markers = {{"vertical", value(&seed), true},
                                         {"horizontal", value(&seed), false}}};
        check(&chart, 30 + (int)(next(&seed) % 100), 8 + (int)(next(&seed) % 40),
              start);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_values_fit_their_frame)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
