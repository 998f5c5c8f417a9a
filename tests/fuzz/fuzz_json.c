/* Any bytes as a JSON document: a status, never a crash; what was read can be written,
 * and reads again. */
#include "ridge/base.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_and_write(ridge_ctx *cx, ridge_str text)
{
    ridge_node root;
    ridge_node again;
    ridge_buf out;
    if (ridge_json_parse(cx, text, "input", &root) != RIDGE_OK)
        return;
    ridge_buf_init(&out, ridge_ctx_arena(cx));
    if (ridge_json_write(cx, root.value, &out) != RIDGE_OK)
        return;
    const ridge_str written = ridge_str_of(ridge_buf_text(&out));
    if (ridge_json_parse(cx, written, "written", &again) != RIDGE_OK ||
        ridge_json_size(root) != ridge_json_size(again))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_ctx *cx = ridge_ctx_open();
    if (cx == NULL)
        return 0;
    read_and_write(cx, (ridge_str){(const char *)data, size});
    ridge_ctx_close(cx);
    return 0;
}
