/*
 * Reading the mesh axes of a dim or of partial sums.
 *
 *     over   "@" axes | "_" axes | "_{" axes "}"
 *     axes   name { "+" name } | "(" name { "," name } ")"; letters may stand together
 *
 * A word that is the name of an axis is that axis; otherwise each letter is one.
 */
#include "subscript.h"

#include <string.h>

static int axis_named(const ridge_mesh *mesh, ridge_str name)
{
    char z[64];
    if (name.n >= sizeof z)
        return -1;
    memcpy(z, name.p, name.n);
    z[name.n] = '\0';
    return ridge_mesh_find(mesh, z);
}

/* A word as an axis, or as one axis a letter. @return false: it is neither */
static bool axes_of(const ridge_mesh *mesh, ridge_str word, ridge_dim_axes *out)
{
    const int whole = axis_named(mesh, word);
    *out = (ridge_dim_axes){.n = 1, .axes = {whole}};
    if (whole >= 0)
        return true;
    if (word.n == 0 || word.n > RIDGE_MESH_AXIS_MAX)
        return false;
    out->n = (int)word.n;
    for (size_t i = 0; i < word.n; i++) {
        out->axes[i] = axis_named(mesh, (ridge_str){word.p + i, 1});
        if (out->axes[i] < 0)
            return false;
    }
    return true;
}

static ridge_status fail_axis(const ridge_subscripts *u, size_t at, ridge_str word)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(u->s->cx));
    for (int i = 0; i < u->mesh->n; i++)
        ridge_buf_printf(&b, "%s%s", i ? ", " : "", u->mesh->axes[i].name);
    if (word.n == 0) {
        return ridge__cursor_fail(u->s, RIDGE_E_PARSE, at,
                                  "expected mesh axes, as in I@x or I@(x,y)");
    }
    return ridge__cursor_fail(
        u->s, RIDGE_E_ARG, at, "the mesh has no axis '%.*s': it has %s",
        (int)(word.n < 40 ? word.n : 40), word.p, b.n ? ridge_buf_text(&b) : "none");
}

static ridge_status use_axis(ridge_subscripts *u, size_t at, int axis)
{
    const unsigned bit = 1u << axis;
    const char *name = u->mesh->axes[axis].name;
    const char *fault = NULL;
    if (u->here & bit) {
        fault = "stands twice in this list";
    } else if (u->is_partial ? (u->cut & bit) : (u->partial & bit)) {
        fault = "both cuts a dim and carries partial sums";
    } else if (!u->is_partial && (u->cut & bit)) {
        fault = "cuts two dims";
    }
    if (fault) {
        return ridge__cursor_fail(
            u->s, RIDGE_E_ARG, at,
            "axis %.40s %s of %.40s: use each axis once in an array", name, fault,
            u->array);
    }
    u->here |= bit;
    *(u->is_partial ? &u->partial : &u->cut) |= bit;
    return RIDGE_OK;
}

/* One word of a list, which began at @p at, appended. */
static ridge_status add_axes(ridge_subscripts *u, size_t at, ridge_str word,
                             ridge_dim_axes *out)
{
    ridge_dim_axes more;
    if (!axes_of(u->mesh, word, &more))
        return fail_axis(u, at, word);
    const bool is_whole = more.n == 1;
    for (int i = 0; i < more.n; i++) {
        const size_t here = at + (is_whole ? 0 : (size_t)i);
        RIDGE_TRY(use_axis(u, here, more.axes[i]));
        out->axes[out->n++] = more.axes[i]; /* each axis once: there is room */
    }
    return RIDGE_OK;
}

/* Words joined by @p joint. */
static ridge_status read_axes(ridge_subscripts *u, char joint, ridge_dim_axes *out)
{
    do {
        ridge__cursor_peek(u->s);
        const size_t at = u->s->at;
        RIDGE_TRY(add_axes(u, at, ridge__cursor_word(u->s), out));
    } while (ridge__cursor_take(u->s, joint));
    return RIDGE_OK;
}

/* What stands behind "@" or "_": a list in brackets or without. */
static ridge_status read_over(ridge_subscripts *u, ridge_dim_axes *out)
{
    const bool is_round = ridge__cursor_take(u->s, '(');
    const bool is_curly = !is_round && ridge__cursor_take(u->s, '{');
    RIDGE_TRY(read_axes(u, is_round ? ',' : '+', out));
    if ((is_round && !ridge__cursor_take(u->s, ')')) ||
        (is_curly && !ridge__cursor_take(u->s, '}'))) {
        return ridge__cursor_fail(u->s, RIDGE_E_PARSE, u->s->at,
                                  "the list of axes is not closed: expected '%c'",
                                  is_round ? ')' : '}');
    }
    return RIDGE_OK;
}

ridge_status ridge__subscript_read(ridge_subscripts *u, size_t at, ridge_str *name,
                                   bool is_dim, ridge_dim_axes *out)
{
    u->here = 0;
    out->n = 0;
    if (ridge__cursor_take(u->s, '@'))
        return read_over(u, out);
    size_t cut = is_dim ? 0 : name->n;
    while (cut > 0 && name->p[cut - 1] != '_')
        cut--;
    if (cut < 2)
        return RIDGE_OK;
    const ridge_str word = {name->p + cut, name->n - cut};
    name->n = cut - 1;
    if (word.n == 0)
        return read_over(u, out);
    return add_axes(u, at + cut, word, out);
}
