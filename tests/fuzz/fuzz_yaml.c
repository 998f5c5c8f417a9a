/* Any bytes as YAML: a status and a message of one line, never a crash; all nodes of a
 * document that is read are there. */
#include "ridge/base_yaml.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool is_true)
{
    if (!is_true)
        abort();
}

/* Every node has a kind, and places of it can be named. */
static size_t walk(ridge_ctx *cx, ridge_node node, size_t depth)
{
    enum { DEPTH_MOST = 64 };
    size_t n = 1;
    if (depth > DEPTH_MOST)
        return n;
    for (size_t i = 0; i < ridge_json_size(node); i++) {
        const bool is_object = ridge_json_kind_of(node) == RIDGE_JSON_OBJECT;
        n += walk(cx, is_object ? ridge_json_member(&node, i) : ridge_json_at(&node, i),
                  depth + 1);
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_ctx *cx = ridge_ctx_open_budget((size_t)64 << 20);
    ridge_node root;
    if (cx == NULL)
        return 0;
    const ridge_str text = {(const char *)data, size};
    if (ridge_yaml_parse(cx, text, "fuzz.yaml", &root) == RIDGE_OK) {
        expect(walk(cx, root, 0) >= 1);
    } else {
        expect(ridge_ctx_message(cx)[0] != '\0');
        expect(strchr(ridge_ctx_message(cx), '\n') == NULL);
    }
    ridge_ctx_close(cx);
    return 0;
}
