/* Hardware of a measured row: its chip, the system that joins such chips, and the
 * network that the row names. */
#include "measured_row.h"
#include "measured_words.h"

#include <string.h>

/* Behind the name of a chip that stands for those like it. */
static const char CLASS_WORD[] = "-class";

static ridge_status find_chip(ridge_ctx *cx, const ridge_catalog *catalog,
                              const char *name, measured_gaps *gaps,
                              const ridge_chip **out)
{
    if (ridge_chip_find(cx, catalog, name, out) == RIDGE_OK)
        return RIDGE_OK;
    /* "V100 (memory not named)": what stands before the remark. */
    const char *open_bracket = strchr(name, '(');
    if (open_bracket == NULL)
        return ridge_fail(cx, RIDGE_E_NOTFOUND, "chip '%s' is not known", name);
    ridge_str head = ridge_str_trim((ridge_str){name, (size_t)(open_bracket - name)});
    const size_t n_class = strlen(CLASS_WORD); /* "A100-class (model not named)" */
    if (head.n > n_class &&
        strncmp(head.p + head.n - n_class, CLASS_WORD, n_class) == 0)
        head.n -= n_class;
    const char *short_name = ridge_str_dup(ridge_ctx_arena(cx), head);
    if (short_name == NULL)
        return ridge_fail_nomem(cx);
    measured_assume(gaps, "chip variant");
    if (ridge_chip_find(cx, catalog, short_name, out) == RIDGE_OK)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_NOTFOUND, "chip '%s' is not named exactly", name);
}

/* A kind of network that the row names and a system has in its name: kinds reach
 * unlike shares of their lines. */
static const ridge_system *system_of_network(const ridge_catalog *catalog,
                                             const ridge_chip *chip, int64_t per_node,
                                             const char *network)
{
    static const char *const kinds[] = {"Omni-Path", "EFA", "TCPX", "RoCE"};
    for (size_t k = 0; network != NULL && k < RIDGE_COUNT_OF(kinds); k++) {
        if (strstr(network, kinds[k]) == NULL)
            continue;
        for (size_t i = 0; i < ridge_catalog_system_count(catalog); i++) {
            const ridge_system *s = ridge_catalog_system(catalog, i);
            if (s != NULL && s->chip == chip && s->chips_per_node == per_node &&
                strstr(s->full_name, kinds[k]) != NULL)
                return s;
        }
    }
    return NULL;
}

/* The default system, or one of the same chip with the row's chips in a node. */
static const ridge_system *choose_system(const ridge_catalog *catalog,
                                         const ridge_chip *chip, int64_t per_node,
                                         bool is_domain_of_racks)
{
    const ridge_system *chosen = NULL;
    for (size_t i = 0; i < ridge_catalog_system_count(catalog); i++) {
        const ridge_system *s = ridge_catalog_system(catalog, i);
        if (s == NULL || s->chip != chip)
            continue;
        bool is_default = strcmp(s->name, chip->default_system) == 0;
        bool is_node = per_node > 0 && s->chips_per_node == per_node;
        if (is_default && (chosen == NULL || is_domain_of_racks || per_node == 0))
            chosen = s;
        if (is_node && !is_domain_of_racks &&
            (chosen == NULL || chosen->chips_per_node != per_node || is_default))
            chosen = s;
    }
    return chosen;
}

/* A copy of the slice whose scale-out network has the rate that the row states. */
static ridge_status with_stated_network(ridge_ctx *cx, const measured_row *row,
                                        const ridge_slice *slice, measured_gaps *gaps,
                                        const ridge_slice **out)
{
    bool has_fabric = false;
    for (int i = 0; i < slice->n_axes; i++)
        has_fabric = has_fabric || slice->axes[i].kind == RIDGE_AXIS_FABRIC;
    *out = slice;
    if (!has_fabric)
        return RIDGE_OK;
    measured_rate rate;
    if (!measured_rate_words(measured_text(&row->hardware, "inter_node"), &rate)) {
        measured_assume(gaps, "network between nodes");
        return RIDGE_OK;
    }
    ridge_slice *copy = ridge_new(ridge_ctx_arena(cx), ridge_slice, 1);
    if (copy == NULL)
        return ridge_fail_nomem(cx);
    *copy = *slice;
    const double chips = rate.is_of_node ? (double)slice->system->chips_per_node : 1;
    for (int i = 0; i < copy->n_axes; i++) {
        if (copy->axes[i].kind == RIDGE_AXIS_FABRIC)
            copy->axes[i].bytes_per_s = rate.bytes_per_s / chips;
    }
    *out = copy;
    return RIDGE_OK;
}

ridge_status measured_slice(ridge_ctx *cx, const ridge_catalog *catalog,
                            const measured_row *row, measured_gaps *gaps,
                            const ridge_slice **out)
{
    const ridge_chip *chip;
    const ridge_slice *slice;
    int64_t chips;
    int64_t per_node = 0;
    RIDGE_TRY(find_chip(cx, catalog, row->chip, gaps, &chip));
    if (!measured_count(&row->hardware, "n_chips", &chips))
        return ridge_fail(cx, RIDGE_E_ARG, "the number of chips is not stated");
    measured_count(&row->hardware, "chips_per_node", &per_node);
    const char *inner = measured_text(&row->hardware, "intra_node");
    bool is_racks = inner != NULL && strstr(inner, "NVL72") != NULL;
    const char *network = measured_text(&row->hardware, "inter_node");
    const ridge_system *system = system_of_network(catalog, chip, per_node, network);
    if (system == NULL)
        system = choose_system(catalog, chip, per_node, is_racks);
    if (system == NULL)
        return ridge_fail(cx, RIDGE_E_NOTFOUND, "no system of %s is known", chip->name);
    RIDGE_TRY(ridge_slice_of_chips(cx, catalog, system, chips, &slice));
    return with_stated_network(cx, row, slice, gaps, out);
}
