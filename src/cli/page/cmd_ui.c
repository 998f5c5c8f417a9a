/*
 * ridge ui: the web page, served on this machine and opened in its browser.
 */
#include "cli.h"
#include "page_file.h"
#include "page_server.h"

#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { PORT_USUAL = 8087, PORT_MOST = 65535, PAGE_BYTES_MOST = 64 << 20 };

static ridge_status read_port(cli_run *run, int *out)
{
    double port;
    RIDGE_TRY(cli_option_count(run, "port", PORT_USUAL, &port));
    if (port > PORT_MOST || floor(port) != port) {
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--port: expected 0 (any that is free) to %d", PORT_MOST);
    }
    *out = (int)port;
    return RIDGE_OK;
}

static ridge_status read_page(cli_run *run, ridge_str *out)
{
    const char *path = cli_option_text(run, "page");
    if (!path)
        RIDGE_TRY(page_file_find(run->cx, &path));
    return ridge_file_read(run->cx, path, PAGE_BYTES_MOST, out);
}

/* A browser that does not open is no error: the address is told. */
static void open_browser(const char *url)
{
    union {
        const char *in;
        char *out;
    } words[] = {{"xdg-open"}, {url}, {NULL}};
    char *const argv[] = {words[0].out, words[1].out, words[2].out};
    posix_spawn_file_actions_t quiet;
    pid_t child;
    if (posix_spawn_file_actions_init(&quiet) != 0)
        return;
    if (posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", 1, 0) == 0)
        (void)posix_spawnp(&child, "xdg-open", &quiet, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&quiet);
}

static int tell(cli_run *run, const char *url)
{
    ridge_buf text;
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_json_set_text(object, "url", url);
        return cli_emit_json(run, object);
    }
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    ridge_buf_printf(&text, "Ridge is at %s (Ctrl-C ends it)\n", url);
    return cli_emit_text(run, &text);
}

static void wait_for_end(cli_run *run)
{
    const struct timespec moment = {.tv_nsec = 100 * 1000 * 1000};
    while (!ridge_ctx_is_cancelled(run->cx))
        nanosleep(&moment, NULL);
}

static int serve(cli_run *run, const page_server *server)
{
    const char *topic = run->n_args > 0 ? run->args[0] : "";
    const char *url =
        ridge_sprintf(ridge_ctx_arena(run->cx), "http://127.0.0.1:%d/%s%s",
                      server->port, *topic ? "#/" : "", topic);
    if (!url)
        return ridge_fail_nomem(run->cx) == RIDGE_OK ? 0 : cli_fail(run);
    const int code = tell(run, url);
    if (code)
        return code;
    if (!cli_option_text(run, "no-open"))
        open_browser(url);
    wait_for_end(run);
    return 0;
}

static int run_ui(cli_run *run)
{
    int port = 0;
    ridge_str page;
    page_server server;
    if (read_port(run, &port) != RIDGE_OK || read_page(run, &page) != RIDGE_OK ||
        page_server_open(run->cx, port, page, &server) != RIDGE_OK)
        return cli_fail(run);
    const int code = serve(run, &server);
    page_server_close(&server);
    return code;
}

static const cli_option options[] = {
    {"port", "N", "of 127.0.0.1 (8087); 0: any that is free"},
    {"no-open", NULL, "tell the address, open no browser"},
    {"page", "FILE", "the page (the one beside the program)"},
    {NULL, NULL, NULL}};

const cli_verb cli_verb_ui = {
    .name = "ui",
    .summary = "the web page, served on this machine and opened",
    .synopsis = "[TOPIC]",
    .detail =
        "TOPIC is the page that opens: model, hardware, sharding, training, serving,\n"
        "profile or explain. The page computes in the browser; nothing is sent "
        "anywhere.\n"
        "It is one file that also opens from a disk, without this server.\n"
        "\n"
        "Only this machine reaches the server. Ctrl-C ends it.",
    .example = "ridge ui training --no-open",
    .options = options,
    .min_args = 0,
    .max_args = 1,
    .is_live = true,
    .run = run_ui,
};
