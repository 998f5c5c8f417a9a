/*
 * The program: signals, the terminal, and one command line.
 */
#include "verb_table.h"

#include "ridge/execute_comm.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A handler takes no payload, so the request that Ctrl-C cancels is the one thing that
 * is static and changes. Set before the handler is. (banned: allow static) */
static ridge_ctx *volatile interrupted_cx;

static void cancel_on_interrupt(int signal_number)
{
    (void)signal_number;
    ridge_ctx_cancel(interrupted_cx);
}

/** The first Ctrl-C asks the work to stop, the second kills. A reader that closes the
 *  pipe shows as EPIPE instead of a signal. */
static void watch_signals(ridge_ctx *cx)
{
    interrupted_cx = cx;
    struct sigaction interrupt = {.sa_handler = cancel_on_interrupt,
                                  .sa_flags = (int)SA_RESETHAND};
    struct sigaction ignored = {.sa_handler = SIG_IGN};
    sigemptyset(&interrupt.sa_mask);
    sigemptyset(&ignored.sa_mask);
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGPIPE, &ignored, NULL);
    sigaction(SIGXFSZ, &ignored, NULL); /* a file beyond the limit: a write fails */
}

/* A rank's terminal is its launcher's, whose own output may go to a file. */
static bool stdout_has_colour(void)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && ridge_launched_ranks() == 1 &&
           !(no_colour && *no_colour) && !(term && strcmp(term, "dumb") == 0);
}

int main(int argc, char **argv)
{
    ridge_ctx *cx = ridge_ctx_open();
    if (!cx) {
        fprintf(stderr, "ridge: out of memory: close other programs\n");
        return 2;
    }
    watch_signals(cx);
    cli_run run = {.cx = cx, .can_colour = stdout_has_colour()};
    int code =
        cli_run_line(&run, argc > 0 ? argc - 1 : 0, (const char *const *)argv + 1);
    ridge_ctx_close(cx);
    return code;
}
