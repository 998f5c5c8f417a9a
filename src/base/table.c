/* Rows of aligned text. Widths count characters, not bytes. */
#include "ridge/base.h"

#include "text.h"

#include <stdarg.h>
#include <string.h>

enum { COLUMN_MAX = 32, CELL_MAX_CHARS = 512 };

typedef struct column {
    const char *title;
    ridge_align align;
} column;

typedef struct row {
    const char *cells[COLUMN_MAX];
    bool is_rule;
    struct row *next;
} row;

struct ridge_table {
    ridge_arena *arena;
    size_t n_columns;
    column columns[COLUMN_MAX];
    size_t n_rows;
    row *first, *last;
    size_t n_cells; /* of the last row */
    bool is_short;  /* something was lost for want of memory */
};

/* Cells may come from files: no control character reaches the terminal. */
static const char *copy_text(ridge_table *t, const char *z)
{
    ridge_buf b;
    ridge_buf_init(&b, t->arena);
    ridge_buf_printable(&b, z);
    t->is_short = t->is_short || b.is_short;
    return b.is_short ? NULL : ridge_buf_text(&b);
}

ridge_table *ridge_table_new(ridge_arena *arena)
{
    ridge_table *t = ridge_new(arena, ridge_table, 1);
    if (t != NULL)
        t->arena = arena;
    return t;
}

void ridge_table_column(ridge_table *t, const char *title, ridge_align align)
{
    if (t == NULL || t->n_columns == COLUMN_MAX)
        return;
    const char *copy = copy_text(t, title);
    t->columns[t->n_columns++] = (column){copy == NULL ? "" : copy, align};
}

static row *add_row(ridge_table *t)
{
    row *r = ridge_new(t->arena, row, 1);
    if (r == NULL) {
        t->is_short = true;
        return NULL;
    }
    if (t->last == NULL) {
        t->first = r;
    } else {
        t->last->next = r;
    }
    t->last = r;
    t->n_rows++;
    t->n_cells = 0;
    return r;
}

void ridge_table_cell(ridge_table *t, const char *z)
{
    if (t == NULL || t->n_columns == 0)
        return;
    bool is_full = t->last == NULL || t->last->is_rule || t->n_cells == t->n_columns;
    if (is_full && add_row(t) == NULL)
        return;
    t->last->cells[t->n_cells++] = z == NULL ? NULL : copy_text(t, z);
}

void ridge_table_cellf(ridge_table *t, const char *fmt, ...)
{
    char text[CELL_MAX_CHARS];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    ridge_table_cell(t, text);
}

void ridge_table_rule(ridge_table *t)
{
    if (t == NULL)
        return;
    row *r = add_row(t);
    if (r != NULL)
        r->is_rule = true;
}

static const char *text_of(const char *z)
{
    return z == NULL ? "" : z;
}

static const row *row_at(const ridge_table *t, size_t index)
{
    const row *r = t->first;
    for (size_t i = 0; r != NULL && i < index; i++)
        r = r->next;
    return r;
}

size_t ridge_table_columns(const ridge_table *t)
{
    return t == NULL ? 0 : t->n_columns;
}

size_t ridge_table_rows(const ridge_table *t)
{
    return t == NULL ? 0 : t->n_rows;
}

const char *ridge_table_title(const ridge_table *t, size_t index)
{
    return t->columns[index].title;
}

ridge_align ridge_table_alignment(const ridge_table *t, size_t index)
{
    return t->columns[index].align;
}

const char *ridge_table_get(const ridge_table *t, size_t at, size_t index)
{
    const row *r = row_at(t, at);
    return r == NULL || r->is_rule ? NULL : text_of(r->cells[index]);
}

static void widths_of(const ridge_table *t, size_t *widths)
{
    for (size_t c = 0; c < t->n_columns; c++)
        widths[c] = ridge_text_width(t->columns[c].title);
    for (const row *r = t->first; r != NULL; r = r->next) {
        for (size_t c = 0; c < t->n_columns && !r->is_rule; c++) {
            size_t w = ridge_text_width(text_of(r->cells[c]));
            if (w > widths[c])
                widths[c] = w;
        }
    }
}

/* One cell, padded to its column; no spaces trail the last column. */
static void write_cell(ridge_buf *out, const char *z, size_t width, ridge_align align,
                       bool is_last)
{
    size_t w = ridge_text_width(z);
    size_t pad = w < width ? width - w : 0;
    if (align == RIDGE_ALIGN_RIGHT)
        ridge_buf_pad(out, ' ', pad);
    ridge_buf_puts(out, z);
    if (align == RIDGE_ALIGN_LEFT && !is_last)
        ridge_buf_pad(out, ' ', pad);
    if (!is_last)
        ridge_buf_puts(out, "  ");
}

static void write_rule(ridge_buf *out, const size_t *widths, size_t n)
{
    size_t total = 0;
    for (size_t c = 0; c < n; c++)
        total += widths[c] + (c + 1 < n ? 2 : 0);
    for (size_t i = 0; i < total; i++)
        ridge_buf_puts(out, "\u2500");
}

static void write_titles(const ridge_table *t, const size_t *widths, size_t indent,
                         bool with_colour, ridge_buf *out)
{
    bool has_titles = false;
    for (size_t c = 0; c < t->n_columns; c++)
        has_titles = has_titles || t->columns[c].title[0] != '\0';
    if (!has_titles)
        return;
    ridge_buf_pad(out, ' ', indent);
    ridge_buf_puts(out, with_colour ? "\033[1m" : "");
    for (size_t c = 0; c < t->n_columns; c++) {
        write_cell(out, t->columns[c].title, widths[c], t->columns[c].align,
                   c + 1 == t->n_columns);
    }
    ridge_buf_puts(out, with_colour ? "\033[0m\n" : "\n");
}

void ridge_table_write(const ridge_table *t, size_t indent, bool with_colour,
                       ridge_buf *out)
{
    if (t == NULL || t->is_short)
        out->is_short = true;
    if (t == NULL)
        return;
    size_t widths[COLUMN_MAX] = {0};
    widths_of(t, widths);
    write_titles(t, widths, indent, with_colour, out);
    for (const row *r = t->first; r != NULL; r = r->next) {
        ridge_buf_pad(out, ' ', indent);
        if (r->is_rule)
            write_rule(out, widths, t->n_columns);
        for (size_t c = 0; c < t->n_columns && !r->is_rule; c++) {
            write_cell(out, text_of(r->cells[c]), widths[c], t->columns[c].align,
                       c + 1 == t->n_columns);
        }
        ridge_buf_puts(out, "\n");
    }
}
