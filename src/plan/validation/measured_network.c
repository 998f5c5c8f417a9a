#include "measured_network.h"

#include <string.h>

/* Chips of a host at most. */
enum { NODE_MOST = 16 };

static const char *hardware_name(const measured_record *r)
{
    const char *name = measured_record_text(r, "hardware");
    return name != NULL ? name : measured_record_text(r, "chip");
}

ridge_status measured_chip(ridge_ctx *cx, const ridge_catalog *catalog,
                           const measured_record *r, const ridge_chip **out)
{
    const char *name = hardware_name(r);
    if (name == NULL)
        return ridge_fail(cx, RIDGE_E_ARG, "the chip is not stated");
    if (ridge_chip_find(cx, catalog, name, out) == RIDGE_OK)
        return RIDGE_OK;
    /* A network named like "H100-NVL-pair" is a system; "TPU v7x (Ironwood)" has a
     * remark. */
    const ridge_system *system;
    if (ridge_system_find(cx, catalog, name, &system) == RIDGE_OK) {
        *out = system->chip;
        return RIDGE_OK;
    }
    const char *bracket = strchr(name, '(');
    if (bracket != NULL) {
        const ridge_str head = {name, (size_t)(bracket - name)};
        const char *text = ridge_str_dup(ridge_ctx_arena(cx), ridge_str_trim(head));
        if (text == NULL)
            return ridge_fail_nomem(cx);
        if (ridge_chip_find(cx, catalog, text, out) == RIDGE_OK)
            return RIDGE_OK;
    }
    return ridge_fail(cx, RIDGE_E_NOTFOUND, "chip '%s' is not known", name);
}

/* What the text of an interconnect says about the system, beside the chip. */
typedef struct network_word {
    const char *word;   /* in the row's interconnect */
    const char *chip;   /* of the catalogue */
    const char *system; /* of the catalogue */
} network_word;

static const network_word network_words[] = {
    {"EFA", "h100", "p5"},      {"EFA", "h200", "p5e"},
    {"EFA", "b200", "p6-b200"}, {"EFA", "v100", "p3dn"},
    {"EFA", "a100", "p4de"},    {"4 HDR InfiniBand a node", "a100", "hgx-a100-4x200"},
};

/* Clusters whose network a source does not state: 5.6 GB/s of bus bandwidth between two
 * ranks, 21 between four and four, are those of four ports of 100 Gbit/s. */
static const network_word cluster_words[] = {
    {"vidur:data/profiling/network/a100_dgx", "a100", "hgx-a100-4x100"},
    {"Vidur", "a100", "hgx-a100-4x100"},
};

static const char *find_word(const network_word *words, size_t n, const char *text,
                             const ridge_chip *chip)
{
    for (size_t i = 0; text != NULL && i < n; i++) {
        if (strstr(text, words[i].word) != NULL &&
            strcmp(chip->name, words[i].chip) == 0)
            return words[i].system;
    }
    return NULL;
}

static ridge_status find_system(ridge_ctx *cx, const ridge_catalog *catalog,
                                const measured_record *r, const ridge_chip *chip,
                                const ridge_system **out)
{
    const char *network = measured_record_text(r, "interconnect");
    const char *name =
        find_word(network_words, RIDGE_COUNT_OF(network_words), network, chip);
    if (name == NULL)
        name = find_word(cluster_words, RIDGE_COUNT_OF(cluster_words), r->source, chip);
    if (name != NULL)
        return ridge_system_find(cx, catalog, name, out);
    if (ridge_system_find(cx, catalog, hardware_name(r), out) == RIDGE_OK)
        return RIDGE_OK;
    return ridge_system_find(cx, catalog, chip->default_system, out);
}

ridge_status measured_network(ridge_ctx *cx, const ridge_catalog *catalog,
                              const measured_record *r, const measured_collective *c,
                              const ridge_slice **out)
{
    const ridge_chip *chip;
    const ridge_system *system;
    RIDGE_TRY(measured_chip(cx, catalog, r, &chip));
    RIDGE_TRY(find_system(cx, catalog, r, chip, &system));
    const char *topology = measured_record_text(r, "topology");
    /* trays of a rack are nodes to their hosts, and one to the switches that join them
     */
    const bool is_rack =
        system->chips_per_node > NODE_MOST && c->ranks <= system->chips_per_node;
    const int64_t nodes = is_rack ? 1 : c->nodes;
    const char *text =
        topology != NULL
            ? ridge_sprintf(ridge_ctx_arena(cx), "%s:%s", system->name, topology)
            : ridge_sprintf(ridge_ctx_arena(cx), "%s:%lldx%lld", system->name,
                            (long long)nodes, (long long)(c->ranks / nodes));
    if (text == NULL)
        return ridge_fail_nomem(cx);
    return ridge_slice_parse(cx, catalog, text, out);
}
