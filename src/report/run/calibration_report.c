/* A calibration for people: the machine, and its rates at sizes that tell. */
#include "ridge/report_calibration.h"

#include <stdio.h>

/* ---- machine --------------------------------------------------------------------- */

static void put_machine(const ridge_calibration *c, ridge_buf *out)
{
    ridge_buf_printf(out, "%s, %d processors\n", c->cpu, c->processors);
    ridge_buf_printf(out, "%d rank%s (%s) of %d thread%s; products by %s\n", c->ranks,
                     c->ranks == 1 ? "" : "s", ridge_engine_text(c->engine), c->threads,
                     c->threads == 1 ? "" : "s", c->library);
    if (c->ranks * c->threads > c->processors)
        ridge_buf_puts(out,
                       "more threads than processors: a rank has a share of one\n");
    ridge_buf_puts(out, "\nA rank, while all ranks work:\n");
}

static void put_row(ridge_table *t, const char *name, const char *value)
{
    ridge_table_cell(t, name);
    ridge_table_cell(t, value);
}

static void put_one(ridge_ctx *cx, const ridge_calibration *c, bool with_colour,
                    ridge_buf *out)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    ridge_table *t = ridge_table_new(arena);
    ridge_table_column(t, "", RIDGE_ALIGN_LEFT);
    ridge_table_column(t, "", RIDGE_ALIGN_RIGHT);
    put_row(t, "fp32 multiply-adds",
            ridge_sprintf(arena, "%.1f GFLOP/s", c->peak_flops_per_s / 1e9));
    put_row(t, "copies of long arrays",
            ridge_sprintf(arena, "%.1f GB/s", c->copy_bytes_per_s / 1e9));
    put_row(t, "reads of long arrays",
            ridge_sprintf(arena, "%.1f GB/s", c->read_bytes_per_s / 1e9));
    put_row(t, "an instruction beside its kernel",
            ridge_sprintf(arena, "%.2f us", c->launch_s * 1e6));
    ridge_table_write(t, 2, with_colour, out);
}

/* ---- grids ----------------------------------------------------------------------- */

static const double product_sizes[][3] = {
    {16, 512, 512}, {128, 512, 512}, {1024, 512, 512}, {1024, 512, 2048}};

static void put_products(ridge_ctx *cx, const ridge_calibration *c, bool with_colour,
                         ridge_buf *out)
{
    ridge_table *t = ridge_table_new(ridge_ctx_arena(cx));
    ridge_table_column(t, "GFLOP/s of products", RIDGE_ALIGN_LEFT);
    for (int i = 0; i < c->chip.matmul.n; i++)
        ridge_table_column(t, c->chip.matmul.items[i].name, RIDGE_ALIGN_RIGHT);
    for (size_t k = 0; k < RIDGE_COUNT_OF(product_sizes); k++) {
        const double *at = product_sizes[k];
        ridge_table_cellf(t, "%.0fx%.0fx%.0f", at[0], at[1], at[2]);
        for (int i = 0; i < c->chip.matmul.n; i++)
            ridge_table_cellf(t, "%.1f",
                              ridge_grid_rate(&c->chip.matmul.items[i].grid, at) / 1e9);
    }
    ridge_buf_puts(out, "\n");
    ridge_table_write(t, 2, with_colour, out);
}

static void put_attention(ridge_ctx *cx, const ridge_calibration *c, bool with_colour,
                          ridge_buf *out)
{
    static const double contexts[] = {128, 512, 2048};
    ridge_table *t = ridge_table_new(ridge_ctx_arena(cx));
    ridge_table_column(t, "GFLOP/s of attention, context", RIDGE_ALIGN_LEFT);
    for (size_t k = 0; k < RIDGE_COUNT_OF(contexts); k++)
        ridge_table_column(t, ridge_sprintf(ridge_ctx_arena(cx), "%.0f", contexts[k]),
                           RIDGE_ALIGN_RIGHT);
    for (int i = 0; i < c->chip.attention.n; i++) {
        ridge_table_cell(t, c->chip.attention.items[i].name);
        for (size_t k = 0; k < RIDGE_COUNT_OF(contexts); k++) {
            const double at[] = {contexts[k], 64};
            ridge_table_cellf(
                t, "%.1f", ridge_grid_rate(&c->chip.attention.items[i].grid, at) / 1e9);
        }
    }
    ridge_buf_puts(out, "\n");
    ridge_table_write(t, 2, with_colour, out);
}

static void put_streams(ridge_ctx *cx, const ridge_calibration *c, bool with_colour,
                        ridge_buf *out)
{
    static const double sizes[] = {256e3, 4e6};
    ridge_table *t = ridge_table_new(ridge_ctx_arena(cx));
    ridge_table_column(t, "GB/s of streams", RIDGE_ALIGN_LEFT);
    ridge_table_column(t, "256 kB", RIDGE_ALIGN_RIGHT);
    ridge_table_column(t, "4 MB", RIDGE_ALIGN_RIGHT);
    for (int i = 0; i < c->chip.stream.n; i++) {
        ridge_table_cell(t, c->chip.stream.items[i].name);
        for (size_t k = 0; k < RIDGE_COUNT_OF(sizes); k++)
            ridge_table_cellf(
                t, "%.1f",
                ridge_grid_rate(&c->chip.stream.items[i].grid, &sizes[k]) / 1e9);
    }
    ridge_buf_puts(out, "\n");
    ridge_table_write(t, 2, with_colour, out);
}

static void put_collectives(ridge_ctx *cx, const ridge_calibration *c, bool with_colour,
                            ridge_buf *out)
{
    static const double sizes[] = {1024, 1048576, 4194304};
    ridge_table *t = ridge_table_new(ridge_ctx_arena(cx));
    if (c->level.collective.n == 0)
        return;
    ridge_table_column(t, "us of collectives, all ranks", RIDGE_ALIGN_LEFT);
    ridge_table_column(t, "1 KiB", RIDGE_ALIGN_RIGHT);
    ridge_table_column(t, "1 MiB", RIDGE_ALIGN_RIGHT);
    ridge_table_column(t, "4 MiB", RIDGE_ALIGN_RIGHT);
    for (int i = 0; i < c->level.collective.n; i++) {
        ridge_table_cell(t, c->level.collective.items[i].name);
        for (size_t k = 0; k < RIDGE_COUNT_OF(sizes); k++) {
            const double at[] = {(double)c->ranks, sizes[k]};
            ridge_table_cellf(
                t, "%.1f",
                1e6 * sizes[k] /
                    ridge_grid_rate(&c->level.collective.items[i].grid, at));
        }
    }
    ridge_buf_puts(out, "\n");
    ridge_table_write(t, 2, with_colour, out);
}

/* ---- trust ----------------------------------------------------------------------- */

/* On a quiet machine one in a hundred, and where ranks take turns many more. */
static const double BUSY_SHARE = 0.05;

static void put_trust(const ridge_calibration *c, ridge_buf *out)
{
    if (c->disturbed_share > BUSY_SHARE && c->ranks * c->threads <= c->processors)
        ridge_buf_printf(out,
                         "%.0f %% of it took a quarter longer in one of two rounds: "
                         "other programs ran, here or beside this virtual machine. "
                         "The quicker round counts; for surer figures calibrate again "
                         "when it is quiet\n",
                         100 * c->disturbed_share);
}

/* ---- whole ----------------------------------------------------------------------- */

void ridge_calibration_write_text(ridge_ctx *cx, const ridge_calibration *c,
                                  const char *path, bool with_colour, ridge_buf *out)
{
    put_machine(c, out);
    put_one(cx, c, with_colour, out);
    put_products(cx, c, with_colour, out);
    put_attention(cx, c, with_colour, out);
    put_streams(cx, c, with_colour, out);
    put_collectives(cx, c, with_colour, out);
    ridge_buf_printf(out, "\nmeasured in %.0f s\n", c->wall_s);
    put_trust(c, out);
    if (path)
        ridge_buf_printf(out, "written to %s: take it by --on %s:%d\n", path, path,
                         c->ranks);
}

void ridge_calibration_write_json(ridge_ctx *cx, const ridge_calibration *c,
                                  ridge_json *system, ridge_json *out)
{
    (void)cx;
    ridge_json_set_text(out, "engine", ridge_engine_text(c->engine));
    ridge_json_set_i64(out, "ranks", c->ranks);
    ridge_json_set_i64(out, "threads", c->threads);
    ridge_json_set_i64(out, "processors", c->processors);
    ridge_json_set_text(out, "cpu", c->cpu);
    ridge_json_set_text(out, "library", c->library);
    ridge_json_set_double(out, "peak_flops_per_s", c->peak_flops_per_s);
    ridge_json_set_double(out, "copy_bytes_per_s", c->copy_bytes_per_s);
    ridge_json_set_double(out, "read_bytes_per_s", c->read_bytes_per_s);
    ridge_json_set_double(out, "launch_s", c->launch_s);
    ridge_json_set_double(out, "wall_s", c->wall_s);
    ridge_json_set_double(out, "disturbed_share", c->disturbed_share);
    ridge_json_set(out, "system", system);
}
