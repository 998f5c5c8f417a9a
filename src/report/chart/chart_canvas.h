/*
 * A grid of terminal cells, each with 2 x 4 Braille dots or one glyph, and a colour.
 */
#ifndef RIDGE_CHART_CANVAS_H
#define RIDGE_CHART_CANVAS_H

#include "ridge/base.h"

typedef struct ridge_canvas_cell {
    unsigned char dots; /* Braille pattern; ignored under a glyph */
    short pen;          /* series whose colour it has; -1: plain, -2: dim */
    char glyph[5];      /* one UTF-8 character, "" for none */
} ridge_canvas_cell;

typedef struct ridge_canvas {
    int columns, rows;
    ridge_canvas_cell *cells; /* [rows, columns] */
} ridge_canvas;

/** A dot's place: [0, 2 columns) x [0, 4 rows), row 0 on top. */
typedef struct ridge_canvas_dot {
    int x, y;
} ridge_canvas_dot;

/** @return false once the budget is spent */
bool ridge__canvas_new(ridge_arena *arena, int columns, int rows, ridge_canvas *out);

/** A line between two dots, both ends drawn; ends outside the canvas are clamped. */
void ridge__canvas_line(ridge_canvas *canvas, ridge_canvas_dot from,
                        ridge_canvas_dot to, int pen);

/** One character over a cell. @param glyph  UTF-8; its first character is taken */
void ridge__canvas_glyph(ridge_canvas *canvas, int column, int row, const char *glyph,
                         int pen);

/** Text over the cells of a row, cut at the right edge. */
void ridge__canvas_text(ridge_canvas *canvas, int column, int row, const char *text,
                        int pen);

/** Whether any of a row's cells [column, column + n) holds anything. */
bool ridge__canvas_is_free(const ridge_canvas *canvas, int column, int row, int n);

/** One row's characters, without a line end. */
void ridge__canvas_write_row(const ridge_canvas *canvas, int row, bool with_colour,
                             ridge_buf *out);

/** Escape sequence of a pen; of the end for is_end. "" without colour. */
const char *ridge__canvas_colour(int pen, bool with_colour);
const char *ridge__canvas_plain(bool with_colour);

/** The bytes of the UTF-8 character at @p z, at least 1 unless at the end. */
size_t ridge__canvas_character(const char *z);

#endif
