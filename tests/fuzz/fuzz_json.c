/* Any text as JSON: refused with a message of one line, or every value can be walked,
 * asked for, told the place of, and written back. */
#include <stdlib.h>
#include <string.h>

#include "json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DEPTH_MAX = 100, NODES_MAX = 2000 };

typedef struct walk {
    ridge_ctx *cx;
    int nodes;
} walk;

static void require(bool is_so)
{
    if (!is_so)
        abort();
}

static void check_message(ridge_ctx *cx)
{
    const char *z = ridge_ctx_message(cx);
    require(z[0] != '\0');
    for (; *z != '\0'; z++)
        require((unsigned char)*z >= 0x20 && *z != 0x7f);
}

/* A place is within the text, whatever the value. */
static void check_place(walk *w, ridge_node n)
{
    int line = 0;
    int column = 0;
    ridge__json_place(n, &line, &column);
    require(line >= 1 && column >= 1);
    require((size_t)line <= n.doc->text.n + 1 && (size_t)column <= n.doc->text.n + 1);
    require(ridge_json_fail(w->cx, n, "x") == RIDGE_E_PARSE);
    check_message(w->cx);
}

static void check_scalar(walk *w, ridge_node n)
{
    const char *z = NULL;
    double d = 0;
    int64_t i = 0;
    bool b = false;
    const int kinds = ridge_json_text(n, &z) + ridge_json_double(n, &d) +
                      ridge_json_bool(n, &b) + ridge_json_is_absent(n) +
                      (ridge_json_kind_of(n) >= RIDGE_JSON_ARRAY ? 1 : 0);
    require(kinds == 1);
    require(!ridge_json_i64(n, &i) || ridge_json_double(n, &d));
    if (ridge_json_want_i64(w->cx, n, -5, 5, &i) == RIDGE_OK)
        require(i >= -5 && i <= 5);
    if (ridge_json_want_double(w->cx, n, 0, 1, &d) == RIDGE_OK)
        require(d >= 0 && d <= 1);
}

/* Recursion stops at DEPTH_MAX: deeper values are parsed and written, not walked. */
static void visit(walk *w, const ridge_node *n, int depth)
{
    if (++w->nodes > NODES_MAX || depth > DEPTH_MAX)
        return;
    check_scalar(w, *n);
    if (w->nodes % 7 == 0)
        check_place(w, *n);
    const size_t size = ridge_json_size(*n);
    if (ridge_json_kind_of(*n) == RIDGE_JSON_OBJECT) {
        size_t seen = 0;
        ridge_node member = ridge_json_member(n, 0);
        for (; member.key != NULL;
             member = ridge_json_member_after(n, member), seen++) {
            require(ridge_json_get(n, member.key).value == member.value);
            visit(w, &member, depth + 1);
        }
        require(seen == size);
        require(ridge_json_only(w->cx, *n, NULL, 0) == RIDGE_OK || size > 0);
    }
    for (size_t i = 0; i < size && ridge_json_kind_of(*n) == RIDGE_JSON_ARRAY; i++) {
        const ridge_node item = ridge_json_at(n, i);
        visit(w, &item, depth + 1);
    }
    const ridge_node none = ridge_json_get(n, "no such key");
    check_place(w, none);
}

/* What was read is written, read again, and written the same. */
static void check_written(ridge_ctx *cx, ridge_node root)
{
    ridge_buf first, second;
    ridge_node again;
    ridge_buf_init(&first, ridge_ctx_arena(cx));
    ridge_buf_init(&second, ridge_ctx_arena(cx));
    if (ridge_json_write(cx, root.value, &first) != RIDGE_OK)
        return; /* short memory */
    if (ridge_json_parse(cx, (ridge_str){first.p, first.n}, "again", &again) !=
        RIDGE_OK) {
        /* Rounded to twelve digits, the largest reals are beyond a double. */
        require(strstr(ridge_ctx_message(cx), "overflow") != NULL ||
                strstr(ridge_ctx_message(cx), "budget") != NULL);
        return;
    }
    if (ridge_json_write(cx, again.value, &second) == RIDGE_OK)
        require(strcmp(ridge_buf_text(&first), ridge_buf_text(&second)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_ctx *cx = ridge_ctx_open_budget((size_t)64 << 20);
    ridge_node root;
    if (cx == NULL)
        return 0;
    if (ridge_json_parse(cx, (ridge_str){(const char *)data, size}, "fuzz", &root) ==
        RIDGE_OK) {
        walk w = {cx, 0};
        visit(&w, &root, 0);
        check_written(cx, root);
    } else {
        check_message(cx);
    }
    ridge_ctx_close(cx);
    return 0;
}
