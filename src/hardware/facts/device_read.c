/*
 * Files of data/devices: {"name", "gpus": {"source", "date", "chips": [{"chip",
 * "ids"}]}, "links": [{"chips", "bytes_per_s"}], "nics": [{"full_name", "ids",
 * "bytes_per_s"}]}, each list optional. An id is a PCI vendor and device as lspci -nn
 * has them: "10de:2330"; bytes_per_s is a fact, one way.
 */
#include "device_read.h"

#include <string.h>

#include "fact_read.h"

typedef struct device_reader {
    ridge_ctx *cx;
    const name_index *chips;
    device_list *list;
} device_reader;

static ridge_status push_row(device_reader *r, ridge_node from, const device_row *row)
{
    if (r->list->rows == NULL)
        r->list->rows = ridge_new(ridge_ctx_arena(r->cx), device_row, DEVICE_ROWS_MOST);
    if (r->list->rows == NULL)
        return ridge_fail_nomem(r->cx);
    if (r->list->n == DEVICE_ROWS_MOST)
        return ridge_json_fail(r->cx, from, "more than %d devices", DEVICE_ROWS_MOST);
    r->list->rows[r->list->n++] = *row;
    return RIDGE_OK;
}

/* "10de:2330": four small hexadecimal digits, twice. */
static ridge_status want_id(const device_reader *r, ridge_node node, const char **out)
{
    const char *id;
    RIDGE_TRY(ridge_json_want_text(r->cx, node, &id));
    bool is_id = strlen(id) == 9 && id[4] == ':';
    for (size_t i = 0; is_id && i < 9; i++)
        is_id = i == 4 || strchr("0123456789abcdef", id[i]) != NULL;
    if (!is_id)
        return ridge_json_fail(r->cx, node, "'%.20s' is no PCI id such as 10de:2330",
                               id);
    *out = id;
    return RIDGE_OK;
}

static ridge_status want_chip(const device_reader *r, ridge_node node, const char **out)
{
    RIDGE_TRY(ridge_json_want_text(r->cx, node, out));
    if (ridge__index_find(r->chips, *out) != NULL)
        return RIDGE_OK;
    return ridge_json_fail(
        r->cx, node, "unknown chip '%.40s': %s", *out,
        ridge__index_suggest(r->cx, r->chips, NULL, *out, "no chip is called that"));
}

/* One row for each id of an object. */
static ridge_status push_ids(device_reader *r, const ridge_node *node, device_row row)
{
    const ridge_node ids = ridge_json_get(node, "ids");
    if (ridge_json_kind_of(ids) != RIDGE_JSON_ARRAY)
        return ridge_json_fail(r->cx, *node, "\"ids\" has to be a list of PCI ids");
    for (size_t i = 0; i < ridge_json_size(ids); i++) {
        RIDGE_TRY(want_id(r, ridge_json_at(&ids, i), &row.pci_id));
        RIDGE_TRY(push_row(r, ids, &row));
    }
    return RIDGE_OK;
}

static ridge_status read_rate(const device_reader *r, const ridge_node *node,
                              ridge_fact *out)
{
    static const fact_spec spec = {"bytes_per_s", 1e6, 1e13};
    fact_list facts;
    double v;
    RIDGE_TRY(ridge__facts_open(r->cx, NULL, 0, 1, &facts));
    RIDGE_TRY(ridge__fact_read(r->cx, ridge_json_get(node, "bytes_per_s"), &spec,
                               &facts, &v));
    *out = facts.items[0];
    return RIDGE_OK;
}

static ridge_status read_gpu(device_reader *r, ridge_node node)
{
    static const char *const members[] = {"chip", "ids"};
    device_row row = {.kind = DEVICE_GPU};
    RIDGE_TRY(ridge_json_only(r->cx, node, members, RIDGE_COUNT_OF(members)));
    RIDGE_TRY(want_chip(r, ridge_json_get(&node, "chip"), &row.chip));
    return push_ids(r, &node, row);
}

static ridge_status read_gpus(device_reader *r, ridge_node gpus)
{
    static const char *const members[] = {"source", "date", "chips"};
    const char *source, *date;
    if (ridge_json_is_absent(gpus))
        return RIDGE_OK;
    RIDGE_TRY(ridge_json_only(r->cx, gpus, members, RIDGE_COUNT_OF(members)));
    RIDGE_TRY(ridge__source_read(r->cx, &gpus, &source, &date));
    const ridge_node chips = ridge_json_get(&gpus, "chips");
    for (size_t i = 0; i < ridge_json_size(chips); i++)
        RIDGE_TRY(read_gpu(r, ridge_json_at(&chips, i)));
    return RIDGE_OK;
}

static ridge_status read_link(device_reader *r, ridge_node node)
{
    static const char *const members[] = {"chips", "bytes_per_s"};
    device_row row = {.kind = DEVICE_LINK};
    RIDGE_TRY(ridge_json_only(r->cx, node, members, RIDGE_COUNT_OF(members)));
    RIDGE_TRY(read_rate(r, &node, &row.rate));
    const ridge_node chips = ridge_json_get(&node, "chips");
    for (size_t i = 0; i < ridge_json_size(chips); i++) {
        RIDGE_TRY(want_chip(r, ridge_json_at(&chips, i), &row.chip));
        RIDGE_TRY(push_row(r, chips, &row));
    }
    return RIDGE_OK;
}

static ridge_status read_nic(device_reader *r, ridge_node node)
{
    static const char *const members[] = {"full_name", "ids", "bytes_per_s"};
    device_row row = {.kind = DEVICE_NIC};
    RIDGE_TRY(ridge_json_only(r->cx, node, members, RIDGE_COUNT_OF(members)));
    RIDGE_TRY(ridge__text_read(r->cx, &node, "full_name", NULL, &row.full_name));
    RIDGE_TRY(read_rate(r, &node, &row.rate));
    return push_ids(r, &node, row);
}

ridge_status ridge__devices_read(ridge_ctx *cx, ridge_node root,
                                 const name_index *chips, device_list *list)
{
    static const char *const members[] = {"name", "gpus", "links", "nics"};
    device_reader r = {cx, chips, list};
    if (ridge_json_kind_of(root) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, root, "a list of devices is an object");
    RIDGE_TRY(ridge_json_only(cx, root, members, RIDGE_COUNT_OF(members)));
    const ridge_node links = ridge_json_get(&root, "links");
    const ridge_node nics = ridge_json_get(&root, "nics");
    RIDGE_TRY(read_gpus(&r, ridge_json_get(&root, "gpus")));
    for (size_t i = 0; i < ridge_json_size(links); i++)
        RIDGE_TRY(read_link(&r, ridge_json_at(&links, i)));
    for (size_t i = 0; i < ridge_json_size(nics); i++)
        RIDGE_TRY(read_nic(&r, ridge_json_at(&nics, i)));
    return RIDGE_OK;
}

const device_row *ridge__device_find(const device_list *list, device_row_kind kind,
                                     const char *key)
{
    for (size_t i = 0; key != NULL && i < list->n; i++) {
        const device_row *row = &list->rows[i];
        const char *own = kind == DEVICE_LINK ? row->chip : row->pci_id;
        if (row->kind == kind && own != NULL && ridge__name_compare(own, key) == 0)
            return row;
    }
    return NULL;
}
