/* The program as a function. */
#include "ridge/cli_answer.h"

#include "verb_table.h"

static ridge_str text_of(const ridge_buf *buf)
{
    return (ridge_str){ridge_buf_text(buf), buf->n};
}

ridge_status ridge_answer_line(ridge_ctx *cx, int argc, const char *const *argv,
                               ridge_answer *out)
{
    ridge_buf text;
    ridge_buf err;
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    ridge_buf_init(&err, ridge_ctx_arena(cx));
    cli_run run = {.cx = cx, .out = &text, .err = &err};
    const int code = cli_run_line(&run, argc, argv);
    if (text.is_short || err.is_short)
        return ridge_fail_nomem(cx);
    *out = (ridge_answer){code, text_of(&text), text_of(&err)};
    return RIDGE_OK;
}
