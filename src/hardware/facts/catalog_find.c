/* The things of a catalogue by what a user calls them: what is unknown is told with
 * what is nearest. */
#include "catalog.h"
#include "catalog_parts.h"

#include "ridge/hardware_engine.h"
#include "ridge/hardware_site.h"
#include "ridge/hardware_stack.h"

#include "chip_spelling.h"

#include <string.h>

ridge_status ridge_chip_find(ridge_ctx *cx, const ridge_catalog *catalog,
                             const char *name, const ridge_chip **out)
{
    const ridge_chip *chip = NULL;
    RIDGE_TRY(ridge__chip_lookup(cx, catalog, name, &chip));
    if (chip == NULL)
        RIDGE_TRY(ridge__chip_of_spelling(cx, catalog, name, &chip));
    if (chip == NULL) {
        return ridge_fail(cx, RIDGE_E_NOTFOUND, "unknown chip '%.40s': %s", name,
                          ridge__index_suggest(cx, &catalog->chips.names, NULL, name,
                                               "`ridge chips` lists those that are "
                                               "known"));
    }
    *out = chip;
    return RIDGE_OK;
}

ridge_status ridge_system_find(ridge_ctx *cx, const ridge_catalog *catalog,
                               const char *name, const ridge_system **out)
{
    const ridge_system *system = NULL;
    const ridge_chip *chip = NULL;
    RIDGE_TRY(ridge__system_lookup(cx, catalog, name, &system));
    if (system == NULL) {
        RIDGE_TRY(ridge__chip_lookup(cx, catalog, name, &chip));
        if (chip == NULL)
            RIDGE_TRY(ridge__chip_of_spelling(cx, catalog, name, &chip));
        if (chip != NULL)
            RIDGE_TRY(ridge__system_lookup(cx, catalog, chip->default_system, &system));
    }
    if (system == NULL) {
        return ridge_fail(cx, RIDGE_E_NOTFOUND, "unknown chip or system '%.40s': %s",
                          name,
                          ridge__index_suggest(cx, &catalog->chips.names,
                                               &catalog->systems.names, name,
                                               "`ridge chips` lists those that are "
                                               "known"));
    }
    *out = system;
    return RIDGE_OK;
}

/* A thing of a shelf whose names stand in no other. */
static ridge_status find(ridge_ctx *cx, const ridge_catalog *catalog, const shelf *from,
                         const char *what, const char *name, void **out)
{
    RIDGE_TRY(ridge__catalog_lookup(cx, catalog, from, name, out));
    if (*out != NULL)
        return RIDGE_OK;
    ridge_buf all;
    ridge_buf_init(&all, ridge_ctx_scratch(cx));
    for (size_t i = 0; i < from->set.n; i++)
        ridge_buf_printf(&all, "%s%s", i == 0 ? "known are " : ", ",
                         from->set.files[i]->name);
    return ridge_fail(
        cx, RIDGE_E_NOTFOUND, "unknown %s '%.40s': %s", what, name,
        ridge__index_suggest(cx, &from->names, NULL, name, ridge_buf_text(&all)));
}

ridge_status ridge_site_find(ridge_ctx *cx, const ridge_catalog *catalog,
                             const char *name, const ridge_site **out)
{
    void *site = NULL;
    RIDGE_TRY(find(cx, catalog, &catalog->sites, "site", name, &site));
    *out = site;
    return RIDGE_OK;
}

ridge_status ridge_failure_find(ridge_ctx *cx, const ridge_catalog *catalog,
                                const char *name, const ridge_failure_record **out)
{
    void *record = NULL;
    RIDGE_TRY(
        find(cx, catalog, &catalog->failures, "record of failures", name, &record));
    *out = record;
    return RIDGE_OK;
}

static bool is_of_chip(const ridge_failure_record *record, const ridge_chip *chip)
{
    for (size_t i = 0; record->chips[i] != NULL; i++) {
        if (ridge__name_compare(record->chips[i], chip->name) == 0)
            return true;
    }
    return false;
}

ridge_status ridge_failure_of_chip(ridge_ctx *cx, const ridge_catalog *catalog,
                                   const ridge_chip *chip,
                                   const ridge_failure_record **out)
{
    const ridge_failure_record *best = NULL;
    for (size_t i = 0; i < catalog->failures.set.n; i++) {
        void *item = NULL;
        RIDGE_TRY(ridge__catalog_get(cx, catalog, &catalog->failures, i, &item));
        const ridge_failure_record *record = item;
        if (is_of_chip(record, chip) &&
            (best == NULL || strcmp(record->date, best->date) > 0))
            best = record;
    }
    *out = best;
    return RIDGE_OK;
}

ridge_status ridge_stack_find(ridge_ctx *cx, const ridge_catalog *catalog,
                              const char *name, const ridge_stack **out)
{
    void *stack = NULL;
    RIDGE_TRY(find(cx, catalog, &catalog->stacks, "software stack", name, &stack));
    *out = stack;
    return RIDGE_OK;
}

ridge_status ridge_engine_find(ridge_ctx *cx, const ridge_catalog *catalog,
                               const char *name, const ridge_engine **out)
{
    void *engine = NULL;
    RIDGE_TRY(find(cx, catalog, &catalog->engines, "serving engine", name, &engine));
    *out = engine;
    return RIDGE_OK;
}
