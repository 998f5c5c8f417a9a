/*
 * Writing a report's sections as text and as HTML.
 */
#include "section.h"

#include "ridge/report.h"

static void add_columns(ridge_ctx *cx, ridge_table *table, const char *titles)
{
    ridge_str rest = ridge_str_of(titles);
    while (rest.p) {
        ridge_str title = ridge_str_cut(&rest, '|');
        bool is_right = title.n > 0 && title.p[0] == '>';
        if (is_right)
            title = (ridge_str){title.p + 1, title.n - 1};
        const char *text = ridge_str_dup(ridge_ctx_arena(cx), title);
        ridge_table_column(table, text ? text : "",
                           is_right ? RIDGE_ALIGN_RIGHT : RIDGE_ALIGN_LEFT);
    }
}

ridge_table *ridge__section_add(ridge_ctx *cx, ridge_sections *sections,
                                const char *title, const char *columns)
{
    ridge_table *table = ridge_table_new(ridge_ctx_arena(cx));
    add_columns(cx, table, columns);
    if (sections->n < RIDGE_SECTION_MAX) {
        sections->items[sections->n++] =
            (ridge_section){.title = title, .table = table};
    }
    return table;
}

void ridge__section_note(ridge_sections *sections, const char *note)
{
    bool is_last_free = sections->n > 0 && !sections->items[sections->n - 1].note;
    if (is_last_free) {
        sections->items[sections->n - 1].note = note;
    } else if (sections->n < RIDGE_SECTION_MAX) {
        sections->items[sections->n++] = (ridge_section){.title = "", .note = note};
    }
}

void ridge__table_pair(ridge_table *table, const char *name, const char *value)
{
    ridge_table_cell(table, name);
    ridge_table_cell(table, value);
}

enum { NOTE_COLUMNS = 98 };

/** A paragraph, its lines broken between words; every line is indented. It may quote
 * names of files and of what they hold. */
static void write_wrapped(const char *text, size_t indent, ridge_buf *out)
{
    ridge_buf safe;
    ridge_buf_init(&safe, out->arena);
    ridge_buf_printable(&safe, text);
    ridge_str rest = ridge_str_of(ridge_buf_text(&safe));
    size_t used = 0;
    while (rest.p) {
        ridge_str word = ridge_str_cut(&rest, ' ');
        const char *z = ridge_str_dup(out->arena, word);
        size_t n = z ? ridge_text_width(z) : 0;
        bool is_first = used == 0;
        bool is_over = !is_first && used + 1 + n > NOTE_COLUMNS;
        if (is_over)
            ridge_buf_puts(out, "\n");
        if (is_first || is_over) {
            ridge_buf_pad(out, ' ', indent);
            used = indent;
        } else {
            ridge_buf_puts(out, " ");
            used++;
        }
        ridge_buf_add(out, word);
        used += n;
    }
    ridge_buf_puts(out, "\n");
}

static void write_bold(const char *text, bool with_colour, ridge_buf *out)
{
    ridge_buf_puts(out, with_colour ? "\033[1m" : "");
    ridge_buf_printable(out, text);
    ridge_buf_puts(out, with_colour ? "\033[0m\n" : "\n");
}

void ridge__sections_write_text(const ridge_sections *sections, bool with_colour,
                                ridge_buf *out)
{
    if (sections->title)
        write_bold(sections->title, with_colour, out);
    if (sections->subtitle)
        write_wrapped(sections->subtitle, 0, out);
    for (int i = 0; i < sections->n; i++) {
        const ridge_section *section = &sections->items[i];
        if (*section->title) {
            ridge_buf_puts(out, out->n ? "\n" : "");
            write_bold(section->title, with_colour, out);
        }
        if (section->table) {
            ridge_table_write(section->table, *section->title ? 2 : 0, with_colour,
                              out);
        }
        if (section->note)
            write_wrapped(section->note, 2, out);
    }
}

void ridge__sections_write_html(const ridge_sections *sections, ridge_buf *out)
{
    for (int i = 0; i < sections->n; i++) {
        const ridge_section *section = &sections->items[i];
        if (*section->title)
            ridge_html_heading(out, section->title);
        if (section->table)
            ridge_html_table(out, section->table);
        if (section->note)
            ridge_html_paragraph(out, section->note);
    }
}

void ridge__page_begin(const ridge_sections *sections, ridge_buf *out)
{
    ridge_html_begin(out, sections->title, sections->subtitle);
}

void ridge__page_end(const ridge_sections *sections, ridge_buf *out)
{
    ridge__sections_write_html(sections, out);
    ridge_html_end(out);
}

void ridge__page_write(const ridge_sections *sections, ridge_buf *out)
{
    ridge__page_begin(sections, out);
    ridge__page_end(sections, out);
}
