/* A bar on a terminal, and silence elsewhere. */
#define _XOPEN_SOURCE 700 /* terminals of one's own */

#include "near.h"
#include "ridge/base.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A terminal whose other end the test reads. */
typedef struct screen {
    int reader;
    FILE *terminal;
    char text[4096];
} screen;

static bool open_screen(screen *s)
{
    *s = (screen){.reader = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK)};
    if (s->reader < 0 || grantpt(s->reader) != 0 || unlockpt(s->reader) != 0)
        return false;
    int fd = open(ptsname(s->reader), O_RDWR | O_NOCTTY);
    s->terminal = fd < 0 ? NULL : fdopen(fd, "w");
    return s->terminal != NULL;
}

static const char *shown(screen *s)
{
    fflush(s->terminal);
    ssize_t n = read(s->reader, s->text, sizeof s->text - 1);
    s->text[n < 0 ? 0 : n] = '\0';
    return s->text;
}

static void close_screen(screen *s)
{
    fclose(s->terminal);
    close(s->reader);
}

static void a_file_shows_nothing(void **state)
{
    (void)state;
    FILE *f = tmpfile();
    assert_non_null(f);
    ridge_progress p = ridge_progress_start(f);
    p.start_s -= 10;
    ridge_progress_show(&p, 0.5, "layouts");
    ridge_progress_end(&p);
    assert_int_equal(ftell(f), 0);
    fclose(f);
}

static void no_stream_is_allowed(void **state)
{
    (void)state;
    ridge_progress p = ridge_progress_start(NULL);
    ridge_progress_show(&p, 0.5, "layouts");
    ridge_progress_end(&p);
    assert_false(p.is_shown);
}

static void short_work_shows_nothing_on_a_terminal(void **state)
{
    (void)state;
    screen s;
    if (!open_screen(&s))
        skip();
    ridge_progress p = ridge_progress_start(s.terminal);
    ridge_progress_show(&p, 0.5, "layouts");
    ridge_progress_end(&p);
    assert_string_equal(shown(&s), "");
    close_screen(&s);
}

static void long_work_shows_a_bar_and_wipes_it(void **state)
{
    (void)state;
    screen s;
    if (!open_screen(&s))
        skip();
    ridge_progress p = ridge_progress_start(s.terminal);
    p.start_s -= 3; /* as if it had begun three seconds ago */
    ridge_progress_show(&p, 0.5, "layouts");
    assert_string_equal(shown(&s), "\r\033[K[###############...............] "
                                   "50.0 %  layouts");
    ridge_progress_show(&p, 0.6, "too soon to draw again");
    assert_string_equal(shown(&s), "");
    ridge_progress_end(&p);
    assert_string_equal(shown(&s), "\r\033[K");
    close_screen(&s);
}

static void fractions_beyond_the_ends_are_the_ends(void **state)
{
    (void)state;
    screen s;
    if (!open_screen(&s))
        skip();
    ridge_progress p = ridge_progress_start(s.terminal);
    p.start_s -= 3;
    ridge_progress_show(&p, 7, "x");
    assert_string_equal(shown(&s), "\r\033[K[##############################] 100 %  x");
    p.last_s = 0;
    ridge_progress_show(&p, -7, "x");
    assert_string_equal(shown(&s), "\r\033[K[..............................] 0.0 %  x");
    close_screen(&s);
}

static void the_clock_never_goes_back(void **state)
{
    (void)state;
    double last = ridge_clock_s();
    for (int i = 0; i < 1000; i++) {
        double now = ridge_clock_s();
        assert_true(now >= last);
        last = now;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_shows_nothing),
        cmocka_unit_test(no_stream_is_allowed),
        cmocka_unit_test(short_work_shows_nothing_on_a_terminal),
        cmocka_unit_test(long_work_shows_a_bar_and_wipes_it),
        cmocka_unit_test(fractions_beyond_the_ends_are_the_ends),
        cmocka_unit_test(the_clock_never_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
