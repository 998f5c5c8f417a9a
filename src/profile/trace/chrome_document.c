/*
 * What a trace says beside its events, small enough to be parsed as a document.
 *
 *     "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", ...}]
 *     "distributedInfo": {"rank": 0, "world_size": 8, ...}
 */
#include "chrome_event.h"

#include <string.h>

enum { DOCUMENT_BYTES_MOST = 1 << 20 };

static void hardware_add(trace_store *store, ridge_node device)
{
    const char *name;
    int64_t id = 0;
    if (!ridge_json_text(ridge_json_get(&device, "name"), &name) ||
        store->n_hardware == TRACE_HARDWARE_MAX)
        return;
    if (!ridge_json_i64(ridge_json_get(&device, "id"), &id))
        id = store->n_hardware;
    store->hardware[store->n_hardware++] =
        (trace_hardware){id, trace_store_name(store, ridge_str_of(name))};
}

static void hardware_store(trace_store *store, ridge_node root)
{
    const size_t n = ridge_json_size(root);
    for (size_t i = 0; i < n && i < TRACE_HARDWARE_MAX; i++)
        hardware_add(store, ridge_json_at(&root, i));
}

static void distributed_store(trace_store *store, ridge_node root)
{
    int64_t n;
    if (ridge_json_i64(ridge_json_get(&root, "rank"), &n) && n >= 0 && n < INT32_MAX)
        store->rank = (int)n;
    if (ridge_json_i64(ridge_json_get(&root, "world_size"), &n) && n > 0 &&
        n < INT32_MAX)
        store->world = (int)n;
}

void chrome_document_store(trace_store *store, ridge_str key, const scan_value *value)
{
    const bool is_hardware = ridge_str_is(key, "deviceProperties");
    const bool is_distributed = ridge_str_is(key, "distributedInfo");
    ridge_node root;
    if ((!is_hardware && !is_distributed) || value->raw.n > DOCUMENT_BYTES_MOST)
        return;
    const char *copy = ridge_str_dup(ridge_ctx_arena(store->cx), value->raw);
    if (copy == NULL) {
        store->is_short = true;
        return;
    }
    /* Malformed, it only leaves names untold. */
    if (ridge_json_parse(store->cx, (ridge_str){copy, value->raw.n}, "trace", &root) !=
        RIDGE_OK) {
        ridge_ctx_clear(store->cx);
        trace_store_lose(store, "malformed descriptions of devices or ranks", -1);
        return;
    }
    if (is_hardware)
        hardware_store(store, root);
    else
        distributed_store(store, root);
}
