/* Meshes: axes with names and sizes. How they lie on a slice is hardware's affair. */
#include "cursor.h"

#include <string.h>

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_same_name(const char *a, const char *b)
{
    while (*a && lower(*a) == lower(*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

int64_t ridge_mesh_size(const ridge_mesh *mesh)
{
    int64_t size = 1;
    for (int i = 0; i < mesh->n; i++)
        size *= mesh->axes[i].size; /* the reader has checked the product */
    return size;
}

int ridge_mesh_find(const ridge_mesh *mesh, const char *name)
{
    for (int i = 0; i < mesh->n; i++) {
        if (strcmp(mesh->axes[i].name, name) == 0)
            return i;
    }
    for (int i = 0; i < mesh->n; i++) {
        if (is_same_name(mesh->axes[i].name, name))
            return i;
    }
    return -1;
}

/* "x=4" */
static ridge_status read_axis(ridge_cursor *s, ridge_mesh *mesh)
{
    ridge__cursor_peek(s);
    const size_t at = s->at;
    const ridge_str word = ridge__cursor_word(s);
    if (word.n == 0 || !ridge__cursor_take(s, '='))
        return ridge__cursor_fail(s, RIDGE_E_PARSE, s->at, "write axes as x=4,y=2");
    const char *name = ridge_str_dup(ridge_ctx_arena(s->cx), word);
    if (!name)
        return ridge_fail_nomem(s->cx);
    for (int i = 0; i < mesh->n; i++) {
        if (is_same_name(mesh->axes[i].name, name)) {
            return ridge__cursor_fail(s, RIDGE_E_PARSE, at,
                                      "axis '%.40s' is there already", name);
        }
    }
    if (mesh->n == RIDGE_MESH_AXIS_MAX) {
        return ridge__cursor_fail(s, RIDGE_E_PARSE, at, "a mesh has at most %d axes",
                                  RIDGE_MESH_AXIS_MAX);
    }
    ridge__cursor_peek(s);
    const size_t value_at = s->at;
    int64_t size = 0, product = 0;
    if (!ridge_parse_i64(ridge__cursor_value(s), &size) || size < 1) {
        return ridge__cursor_fail(s, RIDGE_E_PARSE, value_at,
                                  "the size of axis '%.40s' is a whole number from 1",
                                  name);
    }
    if (!ridge_mul_i64(ridge_mesh_size(mesh), size, &product)) {
        return ridge__cursor_fail(s, RIDGE_E_PARSE, value_at,
                                  "the mesh has more than 2^63 ranks: make it smaller");
    }
    mesh->axes[mesh->n++] = (ridge_mesh_axis){name, size};
    return RIDGE_OK;
}

ridge_status ridge__mesh_read(ridge_cursor *s, ridge_mesh *out)
{
    ridge_mesh mesh = {0};
    if (!ridge__cursor_at_end(s)) {
        do {
            RIDGE_TRY(read_axis(s, &mesh));
        } while (ridge__cursor_take(s, ','));
    }
    if (!ridge__cursor_at_end(s)) {
        return ridge__cursor_fail(s, RIDGE_E_PARSE, s->at,
                                  "expected a comma: write x=4,y=2");
    }
    *out = mesh;
    return RIDGE_OK;
}

ridge_status ridge_mesh_parse(ridge_ctx *cx, const char *text, ridge_mesh *out)
{
    ridge_cursor s = {.cx = cx, .what = "mesh", .text = text};
    return ridge__mesh_read(&s, out);
}
