/*
 * The notation of slices.
 *
 *     fleet  = pool { "+" pool }
 *     pool   = [ count "*" ] name [ ":" shape ]
 *     shape  = count { "x" count }
 *     name   = a chip, a system, the path of a system file or of a topology file (it
 *              holds no '+', no '*' and no ':'), or "name@path": what a topology file
 *              tells over a chip or a system
 *
 * A pool may also be Google's accelerator type, a TPU with its number of TensorCores:
 * v5p-512, v5litepod-16. Then the slice is the most compact of that many.
 * @source google-tpu-docs
 *
 * White space around a pool and letter case do not matter. What a shape means, slice.c
 * knows.
 */
#include <assert.h>
#include <string.h>

#include "ridge/hardware_topology.h"

#include "catalog.h"
#include "slice_build.h"
#include "torus_rules.h"

enum { POOL_MAX = 64, TEXT_LENGTH_MAX = 4096 };

/* A system file, a topology file, or one over a name. */
static bool is_of_files(const char *name)
{
    const size_t n = strlen(name);
    return (n > 5 && strcmp(name + n - 5, ".json") == 0) || strchr(name, '@') != NULL ||
           ridge_topology_is_path(name);
}

/* A whole number of 1 to SLICE_CHIPS_MAX, digits only. */
static ridge_status parse_count(ridge_ctx *cx, ridge_str s, const char *pool,
                                int64_t *out)
{
    bool is_number = s.n > 0;
    for (size_t i = 0; i < s.n; i++)
        is_number = is_number && s.p[i] >= '0' && s.p[i] <= '9';
    if (!is_number) {
        return ridge_fail(cx, RIDGE_E_PARSE,
                          "'%.60s': '%.*s' is no count: write chip:shape, such as "
                          "v5p:4x4x8 or h100:16x8",
                          pool, (int)(s.n < 20 ? s.n : 20), s.n > 0 ? s.p : "");
    }
    int64_t n = 0;
    if (!ridge_parse_i64(s, &n) || n < 1 || n > SLICE_CHIPS_MAX) {
        return ridge_fail(cx, RIDGE_E_ARG, "'%.60s': a count is 1 to %d", pool,
                          SLICE_CHIPS_MAX);
    }
    *out = n;
    return RIDGE_OK;
}

static ridge_status parse_shape(ridge_ctx *cx, ridge_str text, const char *pool,
                                slice_request *q)
{
    ridge_str rest = text;
    while (rest.p != NULL) {
        /* Either letter case separates; the first one decides where. */
        size_t n = 0;
        while (n < rest.n && rest.p[n] != 'x' && rest.p[n] != 'X')
            n++;
        if (q->rank == REQUEST_RANK_MAX) {
            return ridge_fail(cx, RIDGE_E_PARSE,
                              "'%.60s': a shape has at most 3 numbers", pool);
        }
        RIDGE_TRY(parse_count(cx, (ridge_str){rest.p, n}, pool, &q->shape[q->rank++]));
        rest = n < rest.n ? (ridge_str){rest.p + n + 1, rest.n - n - 1}
                          : (ridge_str){NULL, 0};
    }
    return RIDGE_OK;
}

/* What stands after the last ':', if anything does. */
static bool cut_shape(ridge_str *name, ridge_str *shape)
{
    for (size_t i = name->n; i > 0; i--) {
        if (name->p[i - 1] != ':')
            continue;
        *shape = (ridge_str){name->p + i, name->n - i};
        name->n = i - 1;
        return true;
    }
    return false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_times(char c)
{
    return c == 'x' || c == 'X';
}

/* "8xh100", "8h100" and "h100x8" in name and count. @return false: something else */
static bool cut_count(ridge_str text, ridge_str *name, ridge_str *count)
{
    size_t n = 0;
    while (n < text.n && is_digit(text.p[n]))
        n++;
    *count = (ridge_str){text.p, n};
    if (n > 0) {
        const size_t skip = n + 1 < text.n && is_times(text.p[n]) ? n + 1 : n;
        *name = (ridge_str){text.p + skip, text.n - skip};
        return name->n > 0;
    }
    n = text.n;
    while (n > 0 && is_digit(text.p[n - 1]))
        n--;
    *count = (ridge_str){text.p + n, text.n - n};
    if (count->n == 0 || n < 2 || !is_times(text.p[n - 1]))
        return false;
    *name = (ridge_str){text.p, n - 1};
    return true;
}

/* Other notations of a known chip and a count are told by name. */
static ridge_status check_notation(ridge_ctx *cx, const ridge_catalog *catalog,
                                   ridge_str text)
{
    const ridge_chip *chip = NULL;
    ridge_str name;
    ridge_str count;
    if (!cut_count(text, &name, &count))
        return RIDGE_OK;
    const char *z = ridge_str_dup(ridge_ctx_arena(cx), name);
    if (z == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge__chip_lookup(cx, catalog, z, &chip));
    if (chip == NULL)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_PARSE,
                      "'%.*s' is no slice: write chip:shape, here %s:%.*s", (int)text.n,
                      text.p, z, (int)count.n, count.p);
}

static ridge_status find_hardware(ridge_ctx *cx, const ridge_catalog *catalog,
                                  ridge_str name, slice_request *q)
{
    const char *z = ridge_str_dup(ridge_ctx_arena(cx), name);
    if (z == NULL)
        return ridge_fail_nomem(cx);
    const ridge_chip *chip = NULL;
    const ridge_system *system = NULL;
    RIDGE_TRY(ridge__chip_lookup(cx, catalog, z, &chip));
    RIDGE_TRY(ridge__system_lookup(cx, catalog, z, &system));
    if (chip == NULL && system == NULL && is_of_files(z)) {
        RIDGE_TRY(ridge_topology_system(cx, catalog, z, &q->system));
        q->chip = q->system->chip;
        q->name = z;
        return RIDGE_OK;
    }
    if (chip == NULL && system == NULL)
        RIDGE_TRY(check_notation(cx, catalog, name));
    RIDGE_TRY(ridge_system_find(cx, catalog, z, &q->system));
    if (chip == NULL && system == NULL) /* found by a spelling of the chip's */
        chip = q->system->chip;
    q->chip = system != NULL ? system->chip : chip;
    /* A name of both, such as a chip and its rack, is written as the chip's. */
    q->name = chip == q->chip && chip != NULL ? chip->name : q->system->name;
    return RIDGE_OK;
}

/* The shape of "v5p-512", whose name is then "v5p". Others stay as they are. */
static ridge_status cut_accelerator_type(ridge_ctx *cx, const ridge_catalog *catalog,
                                         ridge_str *name, slice_request *q)
{
    const ridge_chip *tpu = NULL;
    const ridge_system *system = NULL;
    const char *whole = ridge_str_dup(ridge_ctx_arena(cx), *name);
    const char *dash = whole == NULL ? NULL : strrchr(whole, '-');
    int64_t cores = 0;
    if (whole == NULL)
        return ridge_fail_nomem(cx);
    if (dash == NULL || dash == whole ||
        !ridge_parse_i64(ridge_str_of(dash + 1), &cores))
        return RIDGE_OK;
    RIDGE_TRY(ridge__chip_lookup(cx, catalog, whole, &tpu));
    RIDGE_TRY(ridge__system_lookup(cx, catalog, whole, &system));
    if (tpu != NULL || system != NULL)
        return RIDGE_OK;
    const ridge_str stem = {name->p, (size_t)(dash - whole)};
    const char *z = ridge_str_dup(ridge_ctx_arena(cx), stem);
    if (z == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge__chip_lookup(cx, catalog, z, &tpu));
    if (tpu == NULL || tpu->kind != RIDGE_CHIP_TPU)
        return RIDGE_OK;
    *name = stem;
    RIDGE_TRY(ridge_system_find(cx, catalog, z, &system));
    return ridge__torus_of_cores(cx, system, whole, cores, q->shape, &q->rank);
}

static ridge_status parse_pool(ridge_ctx *cx, const ridge_catalog *catalog,
                               ridge_str text, ridge_slice **out)
{
    slice_request q = {.slices = 1};
    ridge_str name = ridge_str_trim(text);
    ridge_str shape = {NULL, 0};
    const char *pool = ridge_str_dup(ridge_ctx_arena(cx), name);
    if (pool == NULL)
        return ridge_fail_nomem(cx);
    const bool has_shape = cut_shape(&name, &shape);
    const char *star = name.n > 0 ? memchr(name.p, '*', name.n) : NULL;
    if (star != NULL) {
        const size_t n = (size_t)(star - name.p);
        RIDGE_TRY(
            parse_count(cx, ridge_str_trim((ridge_str){name.p, n}), pool, &q.slices));
        name = (ridge_str){star + 1, name.n - n - 1};
    }
    name = ridge_str_trim(name);
    if (name.n == 0) {
        return ridge_fail(cx, RIDGE_E_PARSE,
                          "'%.60s' names no chip: write chip:shape, such as "
                          "v5p:4x4x8 or h100:16x8",
                          pool);
    }
    RIDGE_TRY(has_shape ? parse_shape(cx, ridge_str_trim(shape), pool, &q)
                        : cut_accelerator_type(cx, catalog, &name, &q));
    RIDGE_TRY(find_hardware(cx, catalog, name, &q));
    return ridge__slice_build(cx, &q, out);
}

ridge_status ridge_slice_parse(ridge_ctx *cx, const ridge_catalog *catalog,
                               const char *text, const ridge_slice **out)
{
    ridge_str rest = ridge_str_of(text);
    const ridge_slice *first = NULL;
    const ridge_slice **end = &first;
    if (rest.n > TEXT_LENGTH_MAX) {
        return ridge_fail(cx, RIDGE_E_PARSE, "a slice of more than %d characters",
                          TEXT_LENGTH_MAX);
    }
    for (int pools = 0; rest.p != NULL; pools++) {
        if (pools == POOL_MAX) {
            return ridge_fail(cx, RIDGE_E_ARG, "more than %d pools in a fleet",
                              POOL_MAX);
        }
        ridge_slice *pool = NULL;
        RIDGE_TRY(parse_pool(cx, catalog, ridge_str_cut(&rest, '+'), &pool));
        assert(pool != NULL); /* as parse_pool succeeded */
        *end = pool;
        end = &pool->next;
    }
    if (first == NULL) {
        return ridge_fail(cx, RIDGE_E_PARSE,
                          "no slice: write chip:shape, such as "
                          "v5p:4x4x8 or h100:16x8");
    }
    *out = first;
    return RIDGE_OK;
}
