#include "chips_topology.h"

#include "ridge/report_topology.h"

#include <string.h>

bool chips_topology_is_asked(cli_run *run, const ridge_catalog *catalog)
{
    const ridge_chip *chip;
    const char *text = run->n_args == 1 ? run->args[0] : "";
    if (strpbrk(text, ":*+") != NULL)
        return false;
    if (strchr(text, '@') != NULL)
        return true;
    const bool is_path =
        ridge_topology_is_path(text) || (strlen(text) > 5 && strchr(text, '/') != NULL);
    const bool is_chip =
        is_path && ridge_chip_find(run->cx, catalog, text, &chip) == RIDGE_OK;
    ridge_ctx_clear(run->cx);
    return is_path && !is_chip;
}

static ridge_status keep(cli_run *run, const ridge_topology_reading *reading)
{
    const char *path = cli_option_text(run, "write-system");
    if (path == NULL)
        return RIDGE_OK;
    if (reading->system_text == NULL) {
        return ridge_fail(run->cx, RIDGE_E_ARG, "no system to write: %s",
                          reading->why_not != NULL ? reading->why_not
                                                   : "no topology file was named");
    }
    return ridge_file_write(run->cx, path, ridge_str_of(reading->system_text));
}

int chips_topology_run(cli_run *run, const ridge_catalog *catalog)
{
    ridge_topology_reading *reading =
        ridge_new(ridge_ctx_arena(run->cx), ridge_topology_reading, 1);
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (reading == NULL ||
        ridge_topology_open(run->cx, catalog, run->args[0], reading) != RIDGE_OK ||
        keep(run, reading) != RIDGE_OK)
        return cli_fail(run);
    if (run->html_path != NULL) {
        ridge_buf page;
        ridge_buf_init(&page, ridge_ctx_arena(run->cx));
        ridge_topology_write_html(run->cx, reading, &page);
        const int code = cli_emit_html(run, &page);
        if (code != 0)
            return code;
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_topology_write_json(run->cx, reading, object);
        return cli_emit_json(run, object);
    }
    ridge_topology_write_text(run->cx, reading, run->has_colour, &text);
    return cli_emit_text(run, &text);
}
