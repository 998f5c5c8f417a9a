/* Files that a script writes itself: "cat > NAME <<EOF" up to the line EOF. */
#include "server_command.h"

#include <string.h>

enum { MARK_BYTES = 64 };

/* What stands behind a mark: up to a blank or a quote. */
static ridge_str word_after(ridge_str line, const char *mark)
{
    const size_t n = strlen(mark);
    for (size_t i = 0; i + n <= line.n; i++) {
        if (memcmp(line.p + i, mark, n) != 0)
            continue;
        size_t from = i + n;
        while (from < line.n && strchr(" \t-'\"", line.p[from]) != NULL)
            from++;
        size_t to = from;
        while (to < line.n && strchr(" \t\r'\"|;&<>", line.p[to]) == NULL)
            to++;
        return (ridge_str){line.p + from, to - from};
    }
    return (ridge_str){NULL, 0};
}

/* Blanks for the letters of a file, so that what follows keeps its line. */
static void blank_out(char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        text[i] = text[i] == '\n' ? '\n' : ' ';
}

/* The file whose text starts at @p rest. @return bytes up to behind its last line */
static size_t find_end(ridge_str rest, ridge_str mark, size_t *body)
{
    const char *start = rest.p;
    const size_t whole = rest.n;
    while (rest.p != NULL) {
        const ridge_str line = ridge_str_cut(&rest, '\n');
        *body = (size_t)(line.p - start);
        if (ridge_str_equal(ridge_str_trim(line), mark))
            return *body + line.n;
    }
    *body = whole;
    return whole;
}

ridge_status server_docs_take(ridge_ctx *cx, ridge_str text, server_docs *docs,
                              ridge_str *out)
{
    const char *copy = ridge_str_dup(ridge_ctx_arena(cx), text);
    if (copy == NULL)
        return ridge_fail_nomem(cx);
    char *blanked = ridge_new(ridge_ctx_arena(cx), char, text.n + 1);
    if (blanked == NULL)
        return ridge_fail_nomem(cx);
    memcpy(blanked, text.p, text.n);
    int number = 0;
    size_t at = 0;
    while (at < text.n) {
        ridge_str rest = {text.p + at, text.n - at};
        const ridge_str line = ridge_str_cut(&rest, '\n');
        const ridge_str mark = word_after(line, "<<");
        const ridge_str name = word_after(line, ">");
        at += line.n + 1;
        number++;
        if (mark.n == 0 || name.n == 0 || docs->n == SERVER_DOC_MOST || at >= text.n)
            continue;
        size_t body = 0;
        const size_t end = find_end((ridge_str){text.p + at, text.n - at}, mark, &body);
        docs->all[docs->n] =
            (server_doc){.name = ridge_str_dup(ridge_ctx_arena(cx), name),
                         .text = {copy + at, body},
                         .line = number};
        if (docs->all[docs->n++].name == NULL)
            return ridge_fail_nomem(cx);
        blank_out(blanked + at, end);
        for (size_t i = 0; i < end; i++)
            number += text.p[at + i] == '\n' ? 1 : 0;
        at += end;
    }
    *out = (ridge_str){blanked, text.n};
    return RIDGE_OK;
}
