#include "engine_line.h"

const char *ridge__engine_line(ridge_ctx *cx, const ridge_engine *engine,
                               int64_t blocks, int64_t block_tokens,
                               int64_t longest_tokens)
{
    ridge_buf lines;
    ridge_buf out;
    ridge_buf_init(&lines, ridge_ctx_arena(cx));
    ridge_buf_init(&out, ridge_ctx_arena(cx));
    ridge_engine_cache_write(engine, blocks, block_tokens, longest_tokens, &lines);
    ridge_str rest = {ridge_buf_text(&lines), lines.n};
    while (rest.p != NULL && rest.n > 0) {
        const ridge_str line = ridge_str_cut(&rest, '\n');
        if (out.n > 0 && line.n > 0)
            ridge_buf_puts(&out, "; ");
        ridge_buf_add(&out, line);
    }
    return ridge_buf_text(&out);
}
