/*
 * Drawing with Braille dots: lines, glyphs and text over a grid of terminal cells.
 */
#include "chart_canvas.h"

#include <stdlib.h>
#include <string.h>

bool ridge__canvas_new(ridge_arena *arena, int columns, int rows, ridge_canvas *out)
{
    ridge_canvas_cell *cells =
        ridge_new(arena, ridge_canvas_cell, (size_t)columns * (size_t)rows);
    if (!cells)
        return false;
    for (int i = 0; i < columns * rows; i++)
        cells[i].pen = -1;
    *out = (ridge_canvas){columns, rows, cells};
    return true;
}

static ridge_canvas_cell *cell_at(const ridge_canvas *canvas, int column, int row)
{
    if (column < 0 || row < 0 || column >= canvas->columns || row >= canvas->rows)
        return NULL;
    return &canvas->cells[(size_t)row * (size_t)canvas->columns + (size_t)column];
}

static void set_dot(ridge_canvas *canvas, int x, int y, int pen)
{
    /* bit of each dot of a Braille character, [row, column] */
    static const unsigned char bits[4][2] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    ridge_canvas_cell *cell = cell_at(canvas, x / 2, y / 4);
    if (!cell || x < 0 || y < 0)
        return;
    cell->glyph[0] = '\0'; /* what was there lies below the line */
    cell->dots |= bits[y % 4][x % 2];
    cell->pen = (short)pen;
}

static int clamp(int v, int most)
{
    return v < 0 ? 0 : v > most ? most : v;
}

static ridge_canvas_dot inside(const ridge_canvas *canvas, ridge_canvas_dot dot)
{
    return (ridge_canvas_dot){clamp(dot.x, 2 * canvas->columns - 1),
                              clamp(dot.y, 4 * canvas->rows - 1)};
}

/** The i-th of n equal steps of d, rounded. */
static int step_of(int d, int i, int n)
{
    int half = d < 0 ? -(n / 2) : n / 2;
    return n ? (d * i + half) / n : 0;
}

void ridge__canvas_line(ridge_canvas *canvas, ridge_canvas_dot from,
                        ridge_canvas_dot to, int pen)
{
    from = inside(canvas, from);
    to = inside(canvas, to);
    int dx = to.x - from.x;
    int dy = to.y - from.y;
    int steps = abs(dx) > abs(dy) ? abs(dx) : abs(dy);
    for (int i = 0; i <= steps; i++) {
        set_dot(canvas, from.x + step_of(dx, i, steps), from.y + step_of(dy, i, steps),
                pen);
    }
}

size_t ridge__canvas_character(const char *z)
{
    if (!*z)
        return 0;
    size_t n = 1;
    while (n < 4 && ((unsigned char)z[n] & 0xC0) == 0x80)
        n++;
    return n;
}

void ridge__canvas_glyph(ridge_canvas *canvas, int column, int row, const char *glyph,
                         int pen)
{
    ridge_canvas_cell *cell = cell_at(canvas, column, row);
    if (!cell)
        return;
    size_t n = ridge__canvas_character(glyph);
    memcpy(cell->glyph, glyph, n);
    cell->glyph[n] = '\0';
    cell->pen = (short)pen;
}

void ridge__canvas_text(ridge_canvas *canvas, int column, int row, const char *text,
                        int pen)
{
    for (; *text && column < canvas->columns; column++) {
        ridge__canvas_glyph(canvas, column, row,
                            (unsigned char)*text < ' ' ? " " : text, pen);
        text += ridge__canvas_character(text);
    }
}

bool ridge__canvas_is_free(const ridge_canvas *canvas, int column, int row, int n)
{
    for (int i = 0; i < n; i++) {
        const ridge_canvas_cell *cell = cell_at(canvas, column + i, row);
        if (!cell || cell->dots || cell->glyph[0])
            return false;
    }
    return true;
}

const char *ridge__canvas_colour(int pen, bool with_colour)
{
    static const char *const colours[] = {"\033[34m", "\033[33m", "\033[32m",
                                          "\033[31m", "\033[35m", "\033[36m"};
    if (!with_colour || pen == -1)
        return "";
    if (pen < 0)
        return "\033[2m";
    return colours[(size_t)pen % RIDGE_COUNT_OF(colours)];
}

const char *ridge__canvas_plain(bool with_colour)
{
    return with_colour ? "\033[0m" : "";
}

static void write_cell(const ridge_canvas_cell *cell, ridge_buf *out)
{
    if (cell->glyph[0]) {
        ridge_buf_puts(out, cell->glyph);
    } else if (cell->dots) { /* U+2800 + dots */
        char braille[4] = {(char)0xE2, (char)(0xA0 | (cell->dots >> 6)),
                           (char)(0x80 | (cell->dots & 0x3F)), '\0'};
        ridge_buf_puts(out, braille);
    } else {
        ridge_buf_puts(out, " ");
    }
}

void ridge__canvas_write_row(const ridge_canvas *canvas, int row, bool with_colour,
                             ridge_buf *out)
{
    int last = canvas->columns - 1;
    while (last >= 0 && ridge__canvas_is_free(canvas, last, row, 1))
        last--;
    int pen = -1;
    for (int column = 0; column <= last; column++) {
        const ridge_canvas_cell *cell = cell_at(canvas, column, row);
        bool is_blank = !cell->glyph[0] && !cell->dots;
        if (with_colour && !is_blank && cell->pen != pen) {
            ridge_buf_puts(out, ridge__canvas_plain(pen != -1));
            ridge_buf_puts(out, ridge__canvas_colour(cell->pen, true));
            pen = cell->pen;
        }
        write_cell(cell, out);
    }
    ridge_buf_puts(out, ridge__canvas_plain(with_colour && pen != -1));
}
