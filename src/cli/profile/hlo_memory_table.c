/* ridge hlo FILE of XProf's memory viewer: what fills a device's memory. */
#include "hlo_memory_table.h"

#include "ridge/report_memory_table.h"

static ridge_status read_view(cli_run *run, ridge_memory_table *table,
                              ridge_memory_table_view *view)
{
    static const char *const of_modules[] = {"module", "partition", "mesh", "write",
                                             "rounds", "devices",   NULL};
    enum { TOP_ROWS = 15, TOP_MOST = 1000000 };
    const ridge_slice *slice = NULL;
    double top;
    RIDGE_TRY(cli_refuse_options(run, of_modules,
                                 "is of modules, not of a memory viewer's table: leave "
                                 "it out"));
    RIDGE_TRY(cli_option_count(run, "top", TOP_ROWS, &top));
    if (cli_option_text(run, "on"))
        RIDGE_TRY(cli_slice(run, &slice));
    RIDGE_TRY(ridge_memory_table_read(run->cx, run->args[0], table));
    *view = (ridge_memory_table_view){.path = run->args[0],
                                      .table = table,
                                      .chip = slice == NULL ? NULL : slice->chip,
                                      .top = top < TOP_MOST ? (int)top : TOP_MOST};
    return RIDGE_OK;
}

static int emit(cli_run *run, const ridge_memory_table_view *view)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (run->html_path) {
        ridge_buf page;
        ridge_buf_init(&page, ridge_ctx_arena(run->cx));
        ridge_memory_table_write_html(run->cx, view, &page);
        const int code = cli_emit_html(run, &page);
        if (code)
            return code;
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_memory_table_write_json(run->cx, view, object);
        return cli_emit_json(run, object);
    }
    ridge_memory_table_write_text(run->cx, view, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

int cli_hlo_memory_table(cli_run *run)
{
    ridge_memory_table table;
    ridge_memory_table_view view;
    if (read_view(run, &table, &view) != RIDGE_OK)
        return cli_fail(run);
    return emit(run, &view);
}
