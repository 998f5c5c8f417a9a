/*
 * The catalogue of chips and systems. Built-in files are only indexed when it opens and
 * read when they are first asked for, under a lock and in memory of its own: to a
 * caller it does not change. Files of --data and of the user are read at once, so that
 * what is wrong in them is said. What a file may say, its reader knows.
 */
#include "catalog.h"
#include "catalog_parts.h"

#include <string.h>

#include "chip_read.h"
#include "engine_read.h"
#include "failure_read.h"
#include "site_read.h"
#include "stack_read.h"
#include "system_read.h"

extern const ridge_embedded_set ridge_hardware_data;

static const data_kind chip_files = {"chips", "name"};
static const data_kind system_files = {"systems", "name"};
static const data_kind stack_files = {"stacks", "name"};
static const data_kind price_files = {"prices", "provider"};
static const data_kind site_files = {"sites", "name"};
static const data_kind failure_files = {"failures", "name"};
static const data_kind engine_files = {"engines", "name"};
static const data_kind device_files = {"devices", "name"};

/* ---- reading --------------------------------------------------------------------- */

static ridge_status read_prices(ridge_ctx *cx, ridge_catalog *c)
{
    if (c->has_prices)
        return RIDGE_OK;
    for (size_t i = 0; i < c->price_set.n; i++) {
        data_file *file = c->price_set.files[i];
        RIDGE_TRY(ridge__data_parse(cx, file));
        RIDGE_TRY(ridge__prices_read(cx, file->root, &c->chips.names, &c->prices));
    }
    c->has_prices = true;
    return RIDGE_OK;
}

static ridge_status read_devices(ridge_ctx *cx, ridge_catalog *c)
{
    if (c->has_devices)
        return RIDGE_OK;
    for (size_t i = 0; i < c->device_set.n; i++) {
        data_file *file = c->device_set.files[i];
        RIDGE_TRY(ridge__data_parse(cx, file));
        RIDGE_TRY(ridge__devices_read(cx, file->root, &c->chips.names, &c->devices));
    }
    c->has_devices = true;
    return RIDGE_OK;
}

static ridge_status read_chip(ridge_ctx *cx, ridge_catalog *catalog,
                              const data_file *file, const void *base, void **out)
{
    ridge_chip *chip = NULL;
    RIDGE_TRY(read_prices(cx, catalog));
    RIDGE_TRY(ridge__chip_read(cx, file->root, base, &chip));
    ridge__prices_attach(&catalog->prices, file->item, chip);
    *out = chip;
    return RIDGE_OK;
}

static ridge_status read_system(ridge_ctx *cx, ridge_catalog *catalog,
                                const data_file *file, const void *base, void **out)
{
    ridge_system *system = NULL;
    RIDGE_TRY(ridge__system_read(cx, file->root, catalog, base, &system));
    *out = system;
    return RIDGE_OK;
}

static ridge_status read_site(ridge_ctx *cx, ridge_catalog *catalog,
                              const data_file *file, const void *base, void **out)
{
    (void)catalog;
    ridge_site *site = NULL;
    RIDGE_TRY(ridge__site_read(cx, file->root, base, &site));
    *out = site;
    return RIDGE_OK;
}

static ridge_status read_failures(ridge_ctx *cx, ridge_catalog *catalog,
                                  const data_file *file, const void *base, void **out)
{
    (void)base;
    ridge_failure_record *record = NULL;
    RIDGE_TRY(ridge__failure_read(cx, file->root, &catalog->chips.names, &record));
    *out = record;
    return RIDGE_OK;
}

static ridge_status read_stack(ridge_ctx *cx, ridge_catalog *catalog,
                               const data_file *file, const void *base, void **out)
{
    ridge_stack *stack = NULL;
    (void)catalog;
    RIDGE_TRY(ridge__stack_read(cx, file->root, base, &stack));
    *out = stack;
    return RIDGE_OK;
}

static ridge_status read_engine(ridge_ctx *cx, ridge_catalog *catalog,
                                const data_file *file, const void *base, void **out)
{
    ridge_engine *engine = NULL;
    (void)catalog;
    RIDGE_TRY(ridge__engine_read(cx, file->root, base, &engine));
    *out = engine;
    return RIDGE_OK;
}

/* Each chip's default system must exist; @p layer as in ridge__shelf_read_from. */
static ridge_status check_default_systems(ridge_ctx *cx, const ridge_catalog *c,
                                          int layer)
{
    for (size_t i = 0; i < c->chips.set.n; i++) {
        const data_file *file = c->chips.set.files[i];
        if (file->layer < layer)
            continue;
        const ridge_chip *chip = file->value;
        if (ridge__index_find(&c->systems.names, chip->default_system) == NULL) {
            return ridge_fail(
                cx, RIDGE_E_PARSE, "chip %s: unknown default_system '%.40s': %s",
                chip->name, chip->default_system,
                ridge__index_suggest(cx, &c->systems.names, NULL, chip->default_system,
                                     "no system is called that"));
        }
    }
    return RIDGE_OK;
}

/* ---- opening --------------------------------------------------------------------- */

static bool has_layer(const data_set *set, int layer)
{
    for (size_t i = 0; i < set->n; i++) {
        if (set->files[i]->layer >= layer)
            return true;
    }
    return false;
}

static ridge_status load(ridge_catalog *c, const data_roots *roots)
{
    ridge_ctx *cx = c->own;
    const int layer = roots->is_trusted ? 1 : 0; /* what is read at once */
    RIDGE_TRY(ridge__shelf_open(cx, roots, chip_files, read_chip, &c->chips));
    RIDGE_TRY(ridge__shelf_open(cx, roots, system_files, read_system, &c->systems));
    RIDGE_TRY(ridge__shelf_open(cx, roots, site_files, read_site, &c->sites));
    RIDGE_TRY(ridge__shelf_open(cx, roots, failure_files, read_failures, &c->failures));
    RIDGE_TRY(ridge__shelf_open(cx, roots, stack_files, read_stack, &c->stacks));
    RIDGE_TRY(ridge__shelf_open(cx, roots, engine_files, read_engine, &c->engines));
    RIDGE_TRY(ridge__data_gather(cx, roots, price_files, &c->price_set));
    RIDGE_TRY(ridge__shelf_read_from(cx, c, &c->chips, layer));
    RIDGE_TRY(ridge__shelf_read_from(cx, c, &c->systems, layer));
    RIDGE_TRY(ridge__shelf_read_from(cx, c, &c->sites, layer));
    RIDGE_TRY(ridge__shelf_read_from(cx, c, &c->failures, layer));
    RIDGE_TRY(ridge__shelf_read_from(cx, c, &c->stacks, layer));
    RIDGE_TRY(ridge__shelf_read_from(cx, c, &c->engines, layer));
    if (has_layer(&c->price_set, layer))
        RIDGE_TRY(read_prices(cx, c));
    RIDGE_TRY(ridge__data_gather(cx, roots, device_files, &c->device_set));
    if (has_layer(&c->device_set, layer))
        RIDGE_TRY(read_devices(cx, c));
    return check_default_systems(cx, c, layer);
}

static void close_own(void *own)
{
    ridge_ctx_close(own);
}

static ridge_status open_catalog(ridge_ctx *cx, const data_roots *roots,
                                 const ridge_catalog **out)
{
    ridge_ctx *own = ridge_ctx_open();
    if (own == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge_ctx_defer(cx, close_own, own));
    ridge_catalog *c = ridge_new(ridge_ctx_arena(own), ridge_catalog, 1);
    if (c == NULL)
        return ridge_fail_nomem(cx);
    c->own = own;
    ridge_status st = ridge_lock_open(own, &c->lock);
    if (st == RIDGE_OK)
        st = load(c, roots);
    if (st != RIDGE_OK)
        return ridge_fail(cx, st, "%s", ridge_ctx_message(own));
    *out = c;
    return RIDGE_OK;
}

static ridge_status check_dir(ridge_ctx *cx, const char *dir)
{
    if (dir == NULL || ridge_path_is_dir(dir))
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_IO,
                      "%s: no such folder: give one with chips/, systems/, prices/, "
                      "sites/ or failures/ in it",
                      dir);
}

ridge_status ridge_catalog_open(ridge_ctx *cx, const char *dir,
                                const ridge_catalog **out)
{
    RIDGE_TRY(check_dir(cx, dir));
    const data_roots roots = {.embedded = &ridge_hardware_data,
                              .dir = dir,
                              .config = ridge__config_dir(cx),
                              .is_trusted = true};
    return open_catalog(cx, &roots, out);
}

ridge_status ridge_catalog_open_data(ridge_ctx *cx, const ridge_embedded_set *data,
                                     const char *dir, const ridge_catalog **out)
{
    RIDGE_TRY(check_dir(cx, dir));
    const data_roots roots = {.embedded = data, .dir = dir};
    return open_catalog(cx, &roots, out);
}

/* ---- asking ---------------------------------------------------------------------- */

ridge_status ridge__catalog_devices(ridge_ctx *cx, const ridge_catalog *catalog,
                                    const device_list **out)
{
    ridge_catalog *c = (ridge_catalog *)(uintptr_t)catalog; /* see the file's head */
    ridge_lock_take(c->lock);
    ridge_status st = read_devices(c->own, c);
    if (st != RIDGE_OK)
        st = ridge_fail(cx, st, "%s", ridge_ctx_message(c->own));
    ridge_lock_give(c->lock);
    *out = &c->devices;
    return st;
}
