/* Any bytes as a topology file, in every format, and as a system over a chip: a status
 * and a message of one line, never a crash. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ridge/hardware_topology.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool is_true)
{
    if (!is_true)
        abort();
}

static void check_node(const ridge_node_topology *node)
{
    for (int i = 0; i < node->n_gpus; i++) {
        expect(node->gpus[i].name != NULL);
        expect(node->gpu_paths[i * node->n_gpus + i].kind == RIDGE_PATH_SELF);
    }
    for (int i = 0; i < node->n_gpus * node->n_gpus; i++)
        expect((int)node->gpu_paths[i].kind < RIDGE_PATH_KIND_COUNT);
    for (int i = 0; i < node->n_nics; i++)
        expect(node->nics[i].name != NULL && node->nics[i].bytes_per_s >= 0);
}

static void check_fabric(const ridge_fabric *f)
{
    expect(f->n_levels <= RIDGE_FABRIC_LEVEL_MAX && f->nodes >= 0);
    for (int i = 0; i < f->n_levels; i++) {
        expect(f->levels[i].switches > 0 && f->levels[i].members > 0);
        expect(isfinite(f->levels[i].up_bytes_per_s));
    }
}

static void check_system(ridge_ctx *cx, const ridge_catalog *catalog, const char *name,
                         const ridge_topology *t)
{
    const ridge_system *base = NULL;
    ridge_buf text;
    ridge_node root;
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    if (ridge_system_find(cx, catalog, name, &base) != RIDGE_OK ||
        ridge_topology_write_system(cx, catalog, base, t, &text) != RIDGE_OK)
        return;
    expect(ridge_json_parse(cx, (ridge_str){ridge_buf_text(&text), text.n}, "own",
                            &root) == RIDGE_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ridge_ctx *shared; /* the built-in catalogue, opened once */
    static const ridge_catalog *catalog;
    ridge_topology t;
    if (shared == NULL) {
        shared = ridge_ctx_open();
        expect(shared != NULL &&
               ridge_catalog_open(shared, NULL, &catalog) == RIDGE_OK);
    }
    ridge_ctx *cx = ridge_ctx_open_budget((size_t)64 << 20);
    if (cx == NULL)
        return 0;
    const char *text =
        ridge_str_dup(ridge_ctx_arena(cx), (ridge_str){(const char *)data, size});
    if (text != NULL &&
        ridge_topology_parse(cx, (ridge_str){text, size}, "fuzz", &t) == RIDGE_OK) {
        check_node(&t.node);
        check_fabric(&t.fabric);
        check_system(cx, catalog, "h100", &t);
        check_system(cx, catalog, "mi250x", &t);
        check_system(cx, catalog, "gb200", &t);
    }
    expect(strchr(ridge_ctx_message(cx), '\n') == NULL);
    ridge_ctx_close(cx);
    return 0;
}
