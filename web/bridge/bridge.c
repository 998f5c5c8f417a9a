/*
 * What the page calls: a command line as JSON in, what the program says to it out. No
 * arithmetic and no formatting is here; the verbs answer.
 */
#include "bridge.h"

#include <emscripten/emscripten.h>
#include <string.h>

enum { WORD_MAX = 128 };

struct bridge_reply {
    ridge_ctx *cx;
    ridge_answer answer;
};

static ridge_status read_words(ridge_ctx *cx, const char *request, int *argc,
                               const char **argv)
{
    ridge_node root;
    RIDGE_TRY(ridge_json_parse(cx, ridge_str_of(request), "request", &root));
    const size_t n = ridge_json_size(root);
    if (n > WORD_MAX)
        return ridge_fail(cx, RIDGE_E_ARG, "a line has at most %d words", WORD_MAX);
    for (size_t i = 0; i < n; i++) {
        const ridge_node word = ridge_json_at(&root, i);
        RIDGE_TRY(ridge_json_want_text(cx, word, &argv[i]));
    }
    *argc = (int)n;
    return RIDGE_OK;
}

static ridge_status answer(ridge_ctx *cx, const char *request, ridge_answer *out)
{
    int argc = 0;
    const char **argv = ridge_new(ridge_ctx_arena(cx), const char *, WORD_MAX);
    if (!argv)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(read_words(cx, request, &argc, argv));
    return ridge_answer_line(cx, argc, argv, out);
}

EMSCRIPTEN_KEEPALIVE bridge_reply *bridge_ask(const char *request)
{
    ridge_ctx *cx = ridge_ctx_open();
    if (!cx)
        return NULL;
    bridge_reply *reply = ridge_new(ridge_ctx_arena(cx), bridge_reply, 1);
    if (!reply) {
        ridge_ctx_close(cx);
        return NULL;
    }
    reply->cx = cx;
    if (answer(cx, request, &reply->answer) != RIDGE_OK) {
        reply->answer =
            (ridge_answer){2, ridge_str_of(""), ridge_str_of(ridge_ctx_message(cx))};
    }
    return reply;
}

EMSCRIPTEN_KEEPALIVE int bridge_code(const bridge_reply *reply)
{
    return reply->answer.code;
}

EMSCRIPTEN_KEEPALIVE const char *bridge_out(const bridge_reply *reply)
{
    return reply->answer.out.p;
}

EMSCRIPTEN_KEEPALIVE const char *bridge_err(const bridge_reply *reply)
{
    return reply->answer.err.p;
}

EMSCRIPTEN_KEEPALIVE void bridge_close(bridge_reply *reply)
{
    ridge_ctx_close(reply->cx);
}

/* ---- numbers ---- */

static ridge_text format_si(double v)
{
    return ridge_format_si(v, "");
}

/* What no integer holds is written as a real. */
static ridge_text format_exact(double v)
{
    static const double most = 9007199254740992.0; /* 2^53 */
    return v > -most && v < most ? ridge_format_exact((int64_t)v)
                                 : ridge_format_double(v);
}

EMSCRIPTEN_KEEPALIVE void bridge_format(const char *kind, double value, ridge_text *out)
{
    static const struct {
        const char *kind;
        ridge_text (*format)(double v);
    } formats[] = {{"seconds", ridge_format_seconds},
                   {"bytes", ridge_format_bytes},
                   {"si", format_si},
                   {"count", ridge_format_count},
                   {"exact", format_exact},
                   {"percent", ridge_format_percent},
                   {"usd", ridge_format_usd}};
    *out = ridge_format_double(value);
    for (size_t i = 0; i < RIDGE_COUNT_OF(formats); i++) {
        if (strcmp(formats[i].kind, kind) == 0)
            *out = formats[i].format(value);
    }
}
