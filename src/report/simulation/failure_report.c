/* Published counts of failures of a chip: how often a chip fails, and of what. */
#include "failure_report.h"

#include "ridge/hardware_site.h"

#include <string.h>

static bool is_of_chip(const ridge_failure_record *record, const ridge_chip *chip)
{
    for (size_t i = 0; record != NULL && record->chips[i] != NULL; i++) {
        if (strcmp(record->chips[i], chip->name) == 0)
            return true;
    }
    return false;
}

/* "faulty GPU 148, software bug 54, ..." of the most frequent: files begin with these.
 */
static const char *causes_text(ridge_ctx *cx, const ridge_failure_record *r)
{
    enum { CAUSES_SHOWN = 4 };
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    for (size_t i = 0; i < r->n_causes && i < CAUSES_SHOWN; i++) {
        ridge_buf_printf(&text, "%s%s %lld", i == 0 ? "" : ", ", r->causes[i].cause,
                         (long long)r->causes[i].count);
    }
    if (r->n_causes > CAUSES_SHOWN)
        ridge_buf_puts(&text, ", ...");
    return ridge_buf_text(&text);
}

void ridge__failures_add(ridge_ctx *cx, const ridge_catalog *catalog,
                         const ridge_chip *chip, ridge_sections *out)
{
    ridge_table *t = NULL;
    for (size_t i = 0; i < ridge_catalog_failure_count(catalog); i++) {
        const ridge_failure_record *r = ridge_catalog_failure(catalog, i);
        if (!is_of_chip(r, chip))
            continue;
        if (t == NULL) {
            const char *title = ridge_sprintf(ridge_ctx_arena(cx),
                                              "Published failures of %s", chip->name);
            t = ridge__section_add(
                cx, out, title ? title : "Published failures",
                "record|>a chip fails every|source|date|what|causes");
        }
        ridge_table_cell(t, r->name);
        ridge_table_cell(
            t, ridge_format_seconds(RIDGE_HOUR_S / r->failures_per_chip_hour).s);
        ridge_table_cell(t, r->source);
        ridge_table_cell(t, r->date);
        ridge_table_cell(t, r->full_name);
        ridge_table_cell(t, causes_text(cx, r));
    }
}

static void set_record(ridge_ctx *cx, const ridge_failure_record *r, ridge_json *o)
{
    ridge_json_set_text(o, "name", r->name);
    ridge_json_set_double(o, "failures_per_chip_hour", r->failures_per_chip_hour);
    ridge_json_set_text(o, "source", r->source);
    ridge_json_set_text(o, "date", r->date);
    ridge_json *causes = ridge_json_set_array(cx, o, "causes");
    for (size_t i = 0; i < r->n_causes; i++) {
        ridge_json *row = ridge_json_push_object(cx, causes);
        ridge_json_set_text(row, "cause", r->causes[i].cause);
        ridge_json_set_i64(row, "count", r->causes[i].count);
    }
}

void ridge__failures_set(ridge_ctx *cx, const ridge_catalog *catalog,
                         const ridge_chip *chip, ridge_json *object)
{
    ridge_json *records = ridge_json_set_array(cx, object, "failures");
    for (size_t i = 0; i < ridge_catalog_failure_count(catalog); i++) {
        const ridge_failure_record *r = ridge_catalog_failure(catalog, i);
        if (is_of_chip(r, chip))
            set_record(cx, r, ridge_json_push_object(cx, records));
    }
}
