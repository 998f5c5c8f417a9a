/* The things of a catalogue by position and by name. Built-in files are read when their
 * thing is first asked for, under the catalogue's lock: see catalog.c. */
#include "catalog.h"
#include "catalog_parts.h"

#include "ridge/hardware_engine.h"
#include "ridge/hardware_site.h"
#include "ridge/hardware_stack.h"

ridge_status ridge__catalog_get(ridge_ctx *cx, const ridge_catalog *catalog,
                                const shelf *from, size_t item, void **out)
{
    ridge_catalog *c = (ridge_catalog *)(uintptr_t)catalog; /* see catalog.c's head */
    ridge_lock_take(c->lock);
    ridge_status st = ridge__shelf_get(c->own, c, from, item, out);
    if (st != RIDGE_OK && cx != NULL && cx != c->own)
        st = ridge_fail(cx, st, "%s", ridge_ctx_message(c->own));
    ridge_lock_give(c->lock);
    return st;
}

ridge_status ridge__catalog_lookup(ridge_ctx *cx, const ridge_catalog *catalog,
                                   const shelf *from, const char *name, void **out)
{
    const name_entry *e = ridge__index_find(&from->names, name);
    *out = NULL;
    return e == NULL ? RIDGE_OK : ridge__catalog_get(cx, catalog, from, e->item, out);
}

/* By position; NULL beyond the last, or out of memory. */
static void *item_at(const ridge_catalog *catalog, const shelf *from, size_t index)
{
    void *item = NULL;
    if (index >= from->set.n ||
        ridge__catalog_get(NULL, catalog, from, index, &item) != RIDGE_OK)
        return NULL;
    return item;
}

size_t ridge_catalog_chip_count(const ridge_catalog *catalog)
{
    return catalog->chips.set.n;
}

const ridge_chip *ridge_catalog_chip(const ridge_catalog *catalog, size_t index)
{
    return item_at(catalog, &catalog->chips, index);
}

size_t ridge_catalog_system_count(const ridge_catalog *catalog)
{
    return catalog->systems.set.n;
}

const ridge_system *ridge_catalog_system(const ridge_catalog *catalog, size_t index)
{
    return item_at(catalog, &catalog->systems, index);
}

size_t ridge_catalog_site_count(const ridge_catalog *catalog)
{
    return catalog->sites.set.n;
}

const ridge_site *ridge_catalog_site(const ridge_catalog *catalog, size_t index)
{
    return item_at(catalog, &catalog->sites, index);
}

size_t ridge_catalog_failure_count(const ridge_catalog *catalog)
{
    return catalog->failures.set.n;
}

const ridge_failure_record *ridge_catalog_failure(const ridge_catalog *catalog,
                                                  size_t index)
{
    return item_at(catalog, &catalog->failures, index);
}

size_t ridge_catalog_stack_count(const ridge_catalog *catalog)
{
    return catalog->stacks.set.n;
}

const ridge_stack *ridge_catalog_stack(const ridge_catalog *catalog, size_t index)
{
    return item_at(catalog, &catalog->stacks, index);
}

size_t ridge_catalog_engine_count(const ridge_catalog *catalog)
{
    return catalog->engines.set.n;
}

const ridge_engine *ridge_catalog_engine(const ridge_catalog *catalog, size_t index)
{
    return item_at(catalog, &catalog->engines, index);
}

const name_index *ridge__chip_names(const ridge_catalog *catalog)
{
    return &catalog->chips.names;
}

ridge_status ridge__chip_lookup(ridge_ctx *cx, const ridge_catalog *catalog,
                                const char *name, const ridge_chip **out)
{
    void *chip = NULL;
    RIDGE_TRY(ridge__catalog_lookup(cx, catalog, &catalog->chips, name, &chip));
    *out = chip;
    return RIDGE_OK;
}

ridge_status ridge__system_lookup(ridge_ctx *cx, const ridge_catalog *catalog,
                                  const char *name, const ridge_system **out)
{
    void *system = NULL;
    RIDGE_TRY(ridge__catalog_lookup(cx, catalog, &catalog->systems, name, &system));
    *out = system;
    return RIDGE_OK;
}
