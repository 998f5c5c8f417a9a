/*
 * A report as titled sections of tables and notes, written once as text and once as
 * HTML. Layer-internal.
 */
#ifndef RIDGE_REPORT_SECTION_H
#define RIDGE_REPORT_SECTION_H

#include "ridge/base.h"

enum { RIDGE_SECTION_MAX = 40 };

typedef struct ridge_section {
    const char *title;        /* "" for none */
    const char *note;         /* under the table; NULL for none */
    const ridge_table *table; /* NULL for a note alone */
} ridge_section;

typedef struct ridge_sections {
    const char *title;
    const char *subtitle;
    int n;
    ridge_section items[RIDGE_SECTION_MAX];
} ridge_sections;

/**
 * Append a section with an empty table.
 * @param columns  "name|>number": titles, ">" marks right-aligned columns
 * @return the table, or NULL once the budget is spent (its cells are then dropped)
 */
ridge_table *ridge__section_add(ridge_ctx *cx, ridge_sections *sections,
                                const char *title, const char *columns);
/** Append a note without a table, or set the note of the last section. */
void ridge__section_note(ridge_sections *sections, const char *note);

/** A row of a name and a value. */
void ridge__table_pair(ridge_table *table, const char *name, const char *value);

void ridge__sections_write_text(const ridge_sections *sections, bool with_colour,
                                ridge_buf *out);
/** The body of a page, between ridge_html_begin and ridge_html_end. */
void ridge__sections_write_html(const ridge_sections *sections, ridge_buf *out);

/** A page: its head with the sections' title and subtitle, charts of the caller's, then
 *  the sections and its end. */
void ridge__page_begin(const ridge_sections *sections, ridge_buf *out);
void ridge__page_end(const ridge_sections *sections, ridge_buf *out);
/** A page without charts. */
void ridge__page_write(const ridge_sections *sections, ridge_buf *out);

#endif
