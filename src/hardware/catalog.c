/*
 * The catalogue of chips and systems: files gathered, variants resolved through their
 * bases, names indexed, prices added. What a file may say, its reader knows.
 */
#include "catalog.h"

#include <string.h>

#include "chip_read.h"
#include "data_files.h"
#include "price_read.h"
#include "system_read.h"

extern const ridge_embedded_set ridge_hardware_data;

static const data_kind chip_files = {"chips", "name"};
static const data_kind system_files = {"systems", "name"};
static const data_kind price_files = {"prices", "provider"};

/* Longest chain of bases; longer ones, circles among them, are refused. */
enum { BASE_DEPTH_MAX = 8 };

typedef struct loader loader;
struct loader {
    ridge_ctx *cx;
    ridge_catalog *catalog;
    data_set set;
    ridge_status (*read)(loader *l, const data_file *file, const void *base,
                         void **out);
};

static ridge_status read_chip(loader *l, const data_file *file, const void *base,
                              void **out)
{
    ridge_chip *chip = NULL;
    RIDGE_TRY(ridge__chip_read(l->cx, file->root, base, &chip));
    *out = chip;
    return RIDGE_OK;
}

static ridge_status read_system(loader *l, const data_file *file, const void *base,
                                void **out)
{
    ridge_system *system = NULL;
    RIDGE_TRY(ridge__system_read(l->cx, file->root, l->catalog, base, &system));
    *out = system;
    return RIDGE_OK;
}

/* The file of a base; a file with its own name as base means what it overrides. */
static ridge_status find_base(const loader *l, const data_file *file, ridge_node node,
                              data_file **out)
{
    const char *name = NULL;
    RIDGE_TRY(ridge_json_want_text(l->cx, node, &name));
    *out =
        strcmp(name, file->name) == 0 ? file->earlier : ridge__data_find(&l->set, name);
    if (*out != NULL)
        return RIDGE_OK;
    return ridge_json_fail(l->cx, node,
                           "unknown base '%.40s': name another file's \"name\"", name);
}

static ridge_status resolve(loader *l, data_file *file, int depth)
{
    if (file->value != NULL)
        return RIDGE_OK;
    const ridge_node node = ridge_json_get(&file->root, "base");
    data_file *base = NULL;
    if (depth > BASE_DEPTH_MAX) {
        return ridge_json_fail(
            l->cx, node, "a chain of more than %d bases, or a circle", BASE_DEPTH_MAX);
    }
    if (!ridge_json_is_absent(node)) {
        RIDGE_TRY(find_base(l, file, node, &base));
        RIDGE_TRY(resolve(l, base, depth + 1));
    }
    return l->read(l, file, base != NULL ? base->value : NULL, &file->value);
}

static ridge_status resolve_all(loader *l)
{
    for (size_t i = 0; i < l->set.n; i++)
        RIDGE_TRY(resolve(l, l->set.files[i], 0));
    return RIDGE_OK;
}

static size_t count_names(const char *const *aliases)
{
    size_t n = 1;
    for (size_t i = 0; aliases[i] != NULL; i++)
        n++;
    return n;
}

static ridge_status sort_names(const loader *l, name_index *names)
{
    const name_entry *clash[2] = {NULL, NULL};
    if (ridge__index_sort(names, clash))
        return RIDGE_OK;
    return ridge_json_fail(l->cx, l->set.files[clash[1]->item]->root,
                           "'%.40s' is already a name of '%.40s'", clash[1]->name,
                           l->set.files[clash[0]->item]->name);
}

static ridge_status load_chips(loader *l, const data_roots *roots)
{
    ridge_catalog *c = l->catalog;
    RIDGE_TRY(ridge__data_gather(l->cx, roots, chip_files, &l->set));
    l->read = read_chip;
    RIDGE_TRY(resolve_all(l));
    c->chips = ridge_new(ridge_ctx_arena(l->cx), ridge_chip *, l->set.n + 1);
    if (c->chips == NULL)
        return ridge_fail_nomem(l->cx);
    c->n_chips = l->set.n;
    size_t names = 0;
    for (size_t i = 0; i < c->n_chips; i++) {
        c->chips[i] = l->set.files[i]->value;
        names += count_names(c->chips[i]->aliases);
    }
    RIDGE_TRY(ridge__index_open(l->cx, names, &c->chip_names));
    for (size_t i = 0; i < c->n_chips; i++)
        ridge__index_add(&c->chip_names, c->chips[i]->name, c->chips[i]->aliases, i);
    return sort_names(l, &c->chip_names);
}

static ridge_status load_systems(loader *l, const data_roots *roots)
{
    ridge_catalog *c = l->catalog;
    RIDGE_TRY(ridge__data_gather(l->cx, roots, system_files, &l->set));
    l->read = read_system;
    RIDGE_TRY(resolve_all(l));
    c->systems = ridge_new(ridge_ctx_arena(l->cx), ridge_system *, l->set.n + 1);
    if (c->systems == NULL)
        return ridge_fail_nomem(l->cx);
    c->n_systems = l->set.n;
    size_t names = 0;
    for (size_t i = 0; i < c->n_systems; i++) {
        c->systems[i] = l->set.files[i]->value;
        names += count_names(c->systems[i]->aliases);
    }
    RIDGE_TRY(ridge__index_open(l->cx, names, &c->system_names));
    for (size_t i = 0; i < c->n_systems; i++) {
        ridge__index_add(&c->system_names, c->systems[i]->name, c->systems[i]->aliases,
                         i);
    }
    return sort_names(l, &c->system_names);
}

static ridge_status load_prices(ridge_ctx *cx, const data_roots *roots,
                                ridge_catalog *catalog)
{
    data_set set;
    RIDGE_TRY(ridge__data_gather(cx, roots, price_files, &set));
    for (size_t i = 0; i < set.n; i++)
        RIDGE_TRY(ridge__prices_read(cx, set.files[i]->root, catalog));
    return RIDGE_OK;
}

/* Runs once both catalogues are there: each chip's default system must exist. */
static ridge_status check_default_systems(ridge_ctx *cx, const ridge_catalog *c)
{
    for (size_t i = 0; i < c->n_chips; i++) {
        const ridge_chip *chip = c->chips[i];
        if (ridge__system_lookup(c, chip->default_system) == NULL) {
            return ridge_fail(
                cx, RIDGE_E_PARSE, "chip %s: unknown default_system '%.40s': %s",
                chip->name, chip->default_system,
                ridge__index_suggest(cx, &c->system_names, NULL, chip->default_system,
                                     "no system is called that"));
        }
    }
    return RIDGE_OK;
}

static ridge_status load(ridge_ctx *cx, const data_roots *roots,
                         const ridge_catalog **out)
{
    ridge_catalog *catalog = ridge_new(ridge_ctx_arena(cx), ridge_catalog, 1);
    if (catalog == NULL)
        return ridge_fail_nomem(cx);
    loader l = {.cx = cx, .catalog = catalog};
    RIDGE_TRY(load_chips(&l, roots));
    RIDGE_TRY(load_systems(&l, roots));
    RIDGE_TRY(load_prices(cx, roots, catalog));
    RIDGE_TRY(check_default_systems(cx, catalog));
    *out = catalog;
    return RIDGE_OK;
}

static ridge_status check_dir(ridge_ctx *cx, const char *dir)
{
    if (dir == NULL || ridge_path_is_dir(dir))
        return RIDGE_OK;
    return ridge_fail(
        cx, RIDGE_E_IO,
        "%s: no such folder: give one with chips/, systems/ or prices/ in "
        "it",
        dir);
}

ridge_status ridge_catalog_open(ridge_ctx *cx, const char *dir,
                                const ridge_catalog **out)
{
    RIDGE_TRY(check_dir(cx, dir));
    const data_roots roots = {
        .embedded = &ridge_hardware_data, .dir = dir, .config = ridge__config_dir(cx)};
    return load(cx, &roots, out);
}

ridge_status ridge_catalog_open_data(ridge_ctx *cx, const ridge_embedded_set *data,
                                     const char *dir, const ridge_catalog **out)
{
    RIDGE_TRY(check_dir(cx, dir));
    const data_roots roots = {.embedded = data, .dir = dir};
    return load(cx, &roots, out);
}

size_t ridge_catalog_chip_count(const ridge_catalog *catalog)
{
    return catalog->n_chips;
}

const ridge_chip *ridge_catalog_chip(const ridge_catalog *catalog, size_t index)
{
    return index < catalog->n_chips ? catalog->chips[index] : NULL;
}

size_t ridge_catalog_system_count(const ridge_catalog *catalog)
{
    return catalog->n_systems;
}

const ridge_system *ridge_catalog_system(const ridge_catalog *catalog, size_t index)
{
    return index < catalog->n_systems ? catalog->systems[index] : NULL;
}

ridge_chip *ridge__chip_lookup(const ridge_catalog *catalog, const char *name)
{
    const name_entry *e = ridge__index_find(&catalog->chip_names, name);
    return e != NULL ? catalog->chips[e->item] : NULL;
}

const name_index *ridge__chip_names(const ridge_catalog *catalog)
{
    return &catalog->chip_names;
}

const ridge_system *ridge__system_lookup(const ridge_catalog *catalog, const char *name)
{
    const name_entry *e = ridge__index_find(&catalog->system_names, name);
    return e != NULL ? catalog->systems[e->item] : NULL;
}

ridge_status ridge_chip_find(ridge_ctx *cx, const ridge_catalog *catalog,
                             const char *name, const ridge_chip **out)
{
    const ridge_chip *chip = ridge__chip_lookup(catalog, name);
    if (chip == NULL) {
        return ridge_fail(cx, RIDGE_E_NOTFOUND, "unknown chip '%.40s': %s", name,
                          ridge__index_suggest(cx, &catalog->chip_names, NULL, name,
                                               "`ridge chips` lists those that are "
                                               "known"));
    }
    *out = chip;
    return RIDGE_OK;
}

ridge_status ridge_system_find(ridge_ctx *cx, const ridge_catalog *catalog,
                               const char *name, const ridge_system **out)
{
    const ridge_system *system = ridge__system_lookup(catalog, name);
    const ridge_chip *chip = ridge__chip_lookup(catalog, name);
    if (system == NULL && chip != NULL)
        system = ridge__system_lookup(catalog, chip->default_system);
    if (system == NULL) {
        return ridge_fail(
            cx, RIDGE_E_NOTFOUND, "unknown chip or system '%.40s': %s", name,
            ridge__index_suggest(cx, &catalog->system_names, &catalog->chip_names, name,
                                 "`ridge chips` lists those that are "
                                 "known"));
    }
    *out = system;
    return RIDGE_OK;
}

ridge_status ridge__system_open_file(ridge_ctx *cx, const ridge_catalog *catalog,
                                     const char *path, const ridge_system **out)
{
    ridge_node root;
    RIDGE_TRY(ridge_json_read(cx, path, &root));
    const ridge_node node = ridge_json_get(&root, "base");
    const ridge_system *base = NULL;
    if (!ridge_json_is_absent(node)) {
        const char *name = NULL;
        RIDGE_TRY(ridge_json_want_text(cx, node, &name));
        RIDGE_TRY(ridge_system_find(cx, catalog, name, &base));
    }
    ridge_system *system = NULL;
    RIDGE_TRY(ridge__system_read(cx, root, catalog, base, &system));
    *out = system;
    return RIDGE_OK;
}
