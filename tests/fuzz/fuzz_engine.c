/* Any bytes as a file of data/engines: a status and a message, never a crash. */
#include <stdlib.h>

#include "engine_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_engine *engine = NULL;
    ridge_node root;
    ridge_ctx *cx = ridge_ctx_open_budget((size_t)64 << 20);
    if (cx == NULL)
        return 0;
    const ridge_str text = {(const char *)data, size};
    if (ridge_json_parse(cx, text, "fuzz.json", &root) == RIDGE_OK &&
        ridge__engine_read(cx, root, NULL, &engine) == RIDGE_OK) {
        ridge_buf line;
        ridge_buf_init(&line, ridge_ctx_arena(cx));
        if (engine->block_tokens < 1 || engine->sequences < 1)
            abort();
        ridge_engine_cache_write(engine, 1000, engine->block_tokens, 4096, &line);
    }
    ridge_ctx_close(cx);
    return 0;
}
