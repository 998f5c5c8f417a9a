#include "model_fixture.h"

#include <stdio.h>
#include <string.h>

void fixture_assert_ok(ridge_ctx *cx, ridge_status st, const char *file, int line)
{
    if (st == RIDGE_OK)
        return;
    print_error("%s: %s\n", ridge_status_text(st), ridge_ctx_message(cx));
    _fail(file, line);
}

void fixture_assert_message(const ridge_ctx *cx, const char *part)
{
    const char *message = ridge_ctx_message(cx);
    if (strstr(message, part) != NULL)
        return;
    print_error("no \"%s\" in the message: %s\n", part, message);
    fail();
}

const ridge_model *fixture_model(ridge_ctx *cx, const char *fmt, ...)
{
    char text[4096];
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    assert_true(n > 0 && (size_t)n < sizeof text);
    for (int i = 0; i < n; i++)
        if (text[i] == '\'')
            text[i] = '"';
    ridge_node config;
    const ridge_model *model = NULL;
    assert_ok(cx,
              ridge_json_parse(cx, (ridge_str){text, (size_t)n}, "inline", &config));
    assert_ok(cx, ridge_model_from_config(cx, config, "inline", &model));
    return model;
}

const ridge_model *fixture_named(ridge_ctx *cx, const char *name)
{
    const ridge_library *library = NULL;
    const ridge_model *model = NULL;
    assert_ok(cx, ridge_library_open(cx, NULL, &library));
    assert_ok(cx, ridge_model_load(cx, library, name, &model));
    return model;
}

int fixture_open(void **state)
{
    *state = ridge_ctx_open();
    return *state == NULL;
}

int fixture_close(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}
