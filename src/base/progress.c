/* A bar on a terminal for work that takes longer than two seconds; the clock. */
#include "ridge/base.h"

#include <time.h>
#include <unistd.h>

static const double SHOW_AFTER_S = 2.0;
static const double REDRAW_EVERY_S = 0.1;
enum { BAR_CHARS = 30 };

double ridge_clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

ridge_progress ridge_progress_start(FILE *stream)
{
    bool is_terminal = stream != NULL && isatty(fileno(stream)) == 1;
    return (ridge_progress){.stream = is_terminal ? stream : NULL,
                            .start_s = ridge_clock_s()};
}

void ridge_progress_show(ridge_progress *p, double fraction, const char *what)
{
    if (p->stream == NULL)
        return;
    double now_s = ridge_clock_s();
    if (now_s - p->start_s < SHOW_AFTER_S || now_s - p->last_s < REDRAW_EVERY_S)
        return;
    p->last_s = now_s;
    p->is_shown = true;
    fraction = fraction < 0 ? 0 : fraction > 1 ? 1 : fraction;
    int full = (int)(fraction * BAR_CHARS);
    fprintf(p->stream, "\r\033[K[");
    for (int i = 0; i < BAR_CHARS; i++)
        fputc(i < full ? '#' : '.', p->stream);
    fprintf(p->stream, "] %s  %s", ridge_format_percent(fraction).s, what);
    fflush(p->stream);
}

void ridge_progress_end(ridge_progress *p)
{
    if (p->stream != NULL && p->is_shown)
        fprintf(p->stream, "\r\033[K");
}
