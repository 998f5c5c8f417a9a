/*
 * How results and complaints leave: stdout, -o, --html, stderr, and the exit code.
 */
#include "cli.h"

#include "ridge/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_OK = 0, EXIT_BAD_INPUT = 2 };

void cli_tell(cli_run *run, const char *text)
{
    if (run->err)
        ridge_buf_puts(run->err, text);
    else
        fputs(text, stderr);
}

int cli_fail(cli_run *run)
{
    cli_tell(run, "ridge: ");
    cli_tell(run, ridge_ctx_message(run->cx));
    cli_tell(run, "\n");
    return EXIT_BAD_INPUT;
}

ridge_progress cli_progress(const cli_run *run)
{
    return ridge_progress_start(run->err ? NULL : stderr);
}

/** A reader that went away is no error: `ridge chips | head` ends quietly. */
static ridge_status write_stdout(cli_run *run, ridge_str text)
{
    if (run->out) {
        ridge_buf_add(run->out, text);
        return run->out->is_short ? ridge_fail_nomem(run->cx) : RIDGE_OK;
    }
    errno = 0;
    size_t done = fwrite(text.p, 1, text.n, stdout);
    if (done == text.n && fflush(stdout) == 0)
        return RIDGE_OK;
    if (errno == EPIPE)
        return RIDGE_OK;
    return ridge_fail(run->cx, RIDGE_E_IO, "stdout: %s: free some space or use -o",
                      strerror(errno));
}

static int emit(cli_run *run, const ridge_buf *text)
{
    if (text->is_short)
        return ridge_fail_nomem(run->cx) == RIDGE_OK ? EXIT_OK : cli_fail(run);
    ridge_str all = {ridge_buf_text(text), text->n};
    bool is_file = run->out_path && strcmp(run->out_path, "-") != 0;
    ridge_status st = is_file ? ridge_file_write(run->cx, run->out_path, all)
                              : write_stdout(run, all);
    return st == RIDGE_OK ? EXIT_OK : cli_fail(run);
}

int cli_emit_text(cli_run *run, const ridge_buf *text)
{
    return emit(run, text);
}

ridge_json *cli_json_begin(cli_run *run)
{
    ridge_json *object = ridge_json_object(run->cx);
    ridge_json_set_text(object, "ridge", RIDGE_VERSION);
    ridge_json_set_text(object, "verb", run->verb->name);
    return object;
}

int cli_emit_json(cli_run *run, const ridge_json *object)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (ridge_json_write(run->cx, object, &text) != RIDGE_OK)
        return cli_fail(run);
    if (text.n == 0 || text.p[text.n - 1] != '\n')
        ridge_buf_puts(&text, "\n");
    return emit(run, &text);
}

int cli_emit_listing(cli_run *run, const char *title, const char *about,
                     const char *text)
{
    ridge_buf page;
    if (run->html_path == NULL)
        return EXIT_OK;
    ridge_buf_init(&page, ridge_ctx_arena(run->cx));
    ridge_html_begin(&page, title, about);
    ridge_html_listing(&page, text);
    ridge_html_end(&page);
    return cli_emit_html(run, &page);
}

int cli_emit_html(cli_run *run, const ridge_buf *page)
{
    if (page->is_short)
        return ridge_fail_nomem(run->cx) == RIDGE_OK ? EXIT_OK : cli_fail(run);
    ridge_str all = {ridge_buf_text(page), page->n};
    if (ridge_file_write(run->cx, run->html_path, all) != RIDGE_OK)
        return cli_fail(run);
    return EXIT_OK;
}
