/*
 * Sizes of slices. Switched chips: part of a node by whole hosts, then whole nodes
 * (NVLink domains). A torus: the numbers of chips that one slice can have, and beyond
 * the largest those of several alike over DCN.
 */
#include "offer_sizes.h"

#include "ridge/hardware_site.h"

#include <string.h>

/* Chips that the levels below the fabrics join. */
static int64_t node_chips(const ridge_system *system)
{
    int64_t chips = 1;
    for (int i = 0; i < system->n_levels; i++) {
        const ridge_axis *level = &system->levels[i].axis;
        if (level->kind == RIDGE_AXIS_FABRIC)
            return i == 0 ? system->chips_per_node : chips;
        if (level->size == 0 || !ridge_mul_i64(chips, level->size, &chips))
            return system->chips_per_node;
    }
    return chips;
}

static int64_t pod_chips(const ridge_system *system)
{
    int64_t chips = 1;
    for (int i = 0; i < system->torus_dims; i++)
        chips *= system->torus_max[i];
    return chips;
}

/* As few slices of a torus as its chips need: with more it would only be slower. */
static bool is_compact(const ridge_slice *slice)
{
    return slice->system->torus_dims == 0 ||
           slice->slices == ridge_ceil_div(slice->chips, pod_chips(slice->system));
}

/* The slice of so many chips, put last; nothing where there is none. */
static ridge_status push(ridge_ctx *cx, const ridge_catalog *catalog,
                         const ridge_slice *one, int64_t chips, offer_sizes *out)
{
    const ridge_slice *slice = NULL;
    ridge_status st;
    if (out->n == OFFER_SIZES_MOST)
        return RIDGE_OK;
    if (one->system->torus_dims > 0 || chips == 1) {
        st = ridge_slice_with_chips(cx, catalog, one, chips, &slice);
    } else {
        const int64_t node = node_chips(one->system);
        const int64_t each = chips < node ? chips : node;
        const char *colon = strrchr(one->text, ':');
        const int n =
            (int)(colon == NULL ? strlen(one->text) : (size_t)(colon - one->text));
        const char *text =
            ridge_sprintf(ridge_ctx_arena(cx), "%.*s:%lldx%lld", n, one->text,
                          (long long)(chips / each), (long long)each);
        if (text == NULL)
            return ridge_fail_nomem(cx);
        st = ridge_slice_parse(cx, catalog, text, &slice);
    }
    if (st == RIDGE_E_ARG)
        return RIDGE_OK;
    if (st == RIDGE_OK && is_compact(slice))
        out->slices[out->n++] = slice;
    return st;
}

ridge_status offer_sizes_double(ridge_ctx *cx, const ridge_catalog *catalog,
                                const ridge_slice *one, int64_t most, offer_sizes *out)
{
    const bool is_torus = one->system->torus_dims > 0;
    const int64_t whole = is_torus ? pod_chips(one->system) : node_chips(one->system);
    *out = (offer_sizes){0};
    for (int64_t n = 1; n < whole && n <= most; n *= 2)
        RIDGE_TRY(push(cx, catalog, one, n, out));
    for (int64_t n = whole; n <= most; n *= 2)
        RIDGE_TRY(push(cx, catalog, one, n, out));
    return RIDGE_OK;
}

/* ---- between two ----------------------------------------------------------------- */

static bool is_length(int64_t n)
{
    return n == 1 || n == 2 || n % 4 == 0;
}

/* Whether a torus can have so many chips; the rules of its system may know better. */
static bool is_torus_size(const ridge_system *system, int64_t chips)
{
    const int64_t *most = system->torus_max;
    for (int64_t x = 1; x <= most[0] && x <= chips; x++) {
        if (!is_length(x) || chips % x != 0)
            continue;
        for (int64_t y = 1; y <= most[1] && x * y <= chips; y++) {
            const int64_t z = chips / (x * y);
            const bool is_whole = is_length(y) && chips % (x * y) == 0;
            if (is_whole && is_length(z) && z <= (system->torus_dims > 2 ? most[2] : 1))
                return true;
        }
    }
    return false;
}

static bool is_size(const ridge_system *system, int64_t chips)
{
    if (system->torus_dims == 0)
        return true;
    const int64_t pods = ridge_ceil_div(chips, pod_chips(system));
    return chips % pods == 0 && is_torus_size(system, chips / pods);
}

/* The step in which sizes grow: hosts, then nodes; hosts of a torus. */
static int64_t unit_of(const ridge_system *system, int64_t low)
{
    if (system->torus_dims == 0) {
        const int64_t node = node_chips(system);
        return low >= node ? node : system->chips_per_node;
    }
    int64_t chips = 1;
    for (int i = 0; i < system->torus_dims; i++)
        chips *= system->host_shape[i];
    return chips;
}

/* Legal multiples of a step between two. */
static int64_t count_between(const ridge_system *system, int64_t low, int64_t high,
                             int64_t step)
{
    int64_t n = 0;
    for (int64_t chips = (low / step + 1) * step; chips < high; chips += step)
        n += is_size(system, chips);
    return n;
}

ridge_status offer_sizes_between(ridge_ctx *cx, const ridge_catalog *catalog,
                                 const ridge_slice *one, int64_t low, int64_t high,
                                 int wanted, offer_sizes *out)
{
    int64_t step = unit_of(one->system, low);
    *out = (offer_sizes){0};
    while (count_between(one->system, low, high, step) > wanted)
        step *= 2;
    for (int64_t chips = (low / step + 1) * step; chips < high; chips += step) {
        if (is_size(one->system, chips))
            RIDGE_TRY(push(cx, catalog, one, chips, out));
    }
    return RIDGE_OK;
}
