/*
 * An analytical network of ASTRA-sim, YAML: lists of one length, a dimension each,
 * innermost first: topology (Ring, FullyConnected, Switch), npus_count, bandwidth in
 * GB/s, latency in ns. @source astra-sim-2023
 */
#include "topology_read.h"

#include <string.h>

static ridge_status read_kind(ridge_ctx *cx, ridge_node node, ridge_axis_kind *out)
{
    static const char *const names[] = {"Ring", "FullyConnected", "Switch"};
    static const ridge_axis_kind kinds[] = {RIDGE_AXIS_TORUS, RIDGE_AXIS_MESH,
                                            RIDGE_AXIS_SWITCH};
    const char *text;
    RIDGE_TRY(ridge_json_want_text(cx, node, &text));
    for (size_t i = 0; i < RIDGE_COUNT_OF(names); i++) {
        if (strcmp(text, names[i]) != 0)
            continue;
        *out = kinds[i];
        return RIDGE_OK;
    }
    return ridge_json_fail(cx, node, "'%.40s' is none of Ring, FullyConnected, Switch",
                           text);
}

ridge_status ridge__simulator_network_read(ridge_ctx *cx, ridge_node root,
                                           ridge_topology *out)
{
    static const char *const members[] = {"topology", "npus_count", "bandwidth",
                                          "latency"};
    ridge_node lists[RIDGE_COUNT_OF(members)];
    for (size_t i = 0; i < RIDGE_COUNT_OF(members); i++) {
        lists[i] = ridge_json_get(&root, members[i]);
        if (ridge_json_kind_of(lists[i]) != RIDGE_JSON_ARRAY ||
            ridge_json_size(lists[i]) != ridge_json_size(lists[0]))
            return ridge_json_fail(
                cx, root, "\"%s\" has to be a list, a value a dimension", members[i]);
    }
    const size_t n = ridge_json_size(lists[0]);
    if (n < 1 || n > RIDGE_NETWORK_DIM_MAX)
        return ridge_json_fail(cx, root, "1 to %d dimensions are taken",
                               RIDGE_NETWORK_DIM_MAX);
    for (size_t i = 0; i < n; i++) {
        ridge_network_dim *d = &out->dims[i];
        double gb_per_s, ns;
        RIDGE_TRY(read_kind(cx, ridge_json_at(&lists[0], i), &d->kind));
        RIDGE_TRY(
            ridge_json_want_i64(cx, ridge_json_at(&lists[1], i), 1, 1000000, &d->size));
        RIDGE_TRY(ridge_json_want_double(cx, ridge_json_at(&lists[2], i), 1e-3, 1e6,
                                         &gb_per_s));
        RIDGE_TRY(ridge_json_want_double(cx, ridge_json_at(&lists[3], i), 0, 1e9, &ns));
        d->bytes_per_s = gb_per_s * 1e9;
        d->latency_s = ns * 1e-9;
    }
    out->n_dims = (int)n;
    out->format = "network of ASTRA-sim";
    return RIDGE_OK;
}
