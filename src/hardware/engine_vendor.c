/* Whose chips an engine runs on, and which variant of it stands for it elsewhere. */
#include "ridge/hardware_engine.h"

#include <string.h>

static const char vllm[] = "vllm-v1";

static bool is_listed(const char *const *vendors, const char *vendor)
{
    for (size_t i = 0; vendors != NULL && vendor != NULL && vendors[i] != NULL; i++) {
        if (strcmp(vendors[i], vendor) == 0)
            return true;
    }
    return false;
}

bool ridge_engine_runs_on(const ridge_engine *engine, const ridge_chip *chip)
{
    return engine->vendors == NULL || engine->vendors[0] == NULL ||
           is_listed(engine->vendors, chip->vendor);
}

bool ridge_engine_is_measured_on(const ridge_engine *engine, const ridge_chip *chip)
{
    if (engine->range_rows == 0)
        return false;
    return engine->range_vendors == NULL || engine->range_vendors[0] == NULL ||
           is_listed(engine->range_vendors, chip->vendor);
}

/* Engines of a catalogue that name the chip's vendor. */
typedef struct vendor_engines {
    const ridge_engine *variant; /* of the one that was asked for; or NULL */
    const ridge_engine *first;   /* or NULL */
    ridge_buf names;             /* of all of them */
} vendor_engines;

static ridge_status find_vendor(ridge_ctx *cx, const ridge_catalog *catalog,
                                const ridge_engine *asked, const ridge_chip *chip,
                                vendor_engines *out)
{
    *out = (vendor_engines){.variant = NULL};
    ridge_buf_init(&out->names, ridge_ctx_arena(cx));
    for (size_t i = 0; i < ridge_catalog_engine_count(catalog); i++) {
        const ridge_engine *e = ridge_catalog_engine(catalog, i);
        if (e == NULL)
            return ridge_fail_nomem(cx);
        if (!is_listed(e->vendors, chip->vendor))
            continue;
        if (out->first == NULL)
            out->first = e;
        if (out->variant == NULL && e->base != NULL &&
            strcmp(e->base, asked->name) == 0)
            out->variant = e;
        ridge_buf_printf(&out->names, "%s%s", out->names.n > 0 ? ", " : "", e->name);
    }
    return RIDGE_OK;
}

ridge_status ridge_engine_find_on(ridge_ctx *cx, const ridge_catalog *catalog,
                                  const char *name, const ridge_chip *chip,
                                  const ridge_engine **out)
{
    const ridge_engine *engine;
    vendor_engines there;
    RIDGE_TRY(ridge_engine_find(cx, catalog, name == NULL ? vllm : name, &engine));
    if (!ridge_engine_runs_on(engine, chip)) {
        RIDGE_TRY(find_vendor(cx, catalog, engine, chip, &there));
        if (there.variant != NULL)
            engine = there.variant;
        else if (name == NULL && there.first != NULL)
            engine = there.first;
        else if (there.names.n > 0)
            return ridge_fail(cx, RIDGE_E_ARG,
                              "%s does not run on %s's chips (%s): use --engine %s",
                              engine->full_name, chip->vendor, chip->name,
                              ridge_buf_text(&there.names));
    }
    *out = engine;
    return RIDGE_OK;
}
