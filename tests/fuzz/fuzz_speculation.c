/* Any bytes as speculation: a status and a message of one line, never a crash; what is
 * read has chances. */
#include "ridge/plan_speculation.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool is_true)
{
    if (!is_true)
        abort();
}

static void check(const ridge_speculation *s)
{
    expect(s->draft.depth >= 0 && s->draft.depth <= RIDGE_DRAFT_DEPTH_MAX);
    expect(s->draft.nodes >= 0 && s->draft.nodes <= RIDGE_TREE_NODES_MAX);
    expect(s->next >= 0 && s->next < 1);
    expect(s->draft.kind != RIDGE_DRAFT_MODEL || s->draft.model != NULL);
    for (int i = 0; i < RIDGE_DRAFT_DEPTH_MAX; i++)
        expect(s->draft.accept[i] >= 0 && s->draft.accept[i] <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_ctx *cx = ridge_ctx_open_budget((size_t)64 << 20);
    const ridge_library *library;
    ridge_speculation s;
    char text[512];
    if (cx == NULL)
        return 0;
    expect(ridge_library_open(cx, NULL, &library) == RIDGE_OK);
    const size_t n = size < sizeof text ? size : sizeof text - 1;
    memcpy(text, data, n);
    text[n] = '\0';
    if (ridge_speculation_parse(cx, text, library, &s) == RIDGE_OK) {
        check(&s);
    } else {
        expect(ridge_ctx_message(cx)[0] != '\0');
    }
    ridge_ctx_close(cx);
    return 0;
}
