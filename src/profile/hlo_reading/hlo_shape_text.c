/*
 * Shapes as HLO text writes them:
 *
 *     type[dims]{minor_to_major:D(..)T(..)(..)L(n)#(..)*(..)E(n)S(n)SC(..)P(..)M(n)}
 *
 * dims are numbers, "<=8" (a bound) or "?"; tuples are (shape, shape). What is said of
 * sparse levels, split configurations and physical shapes is read and let go.
 */
#include "hlo_shape_text.h"

#include <string.h>

enum { DEPTH_MOST = 64, PARTS_MOST = 1 << 20 };

/* Of a dim, which doubles hold; of a tile, so that padding a dim to it stays whole. */
static const int64_t DIM_MOST = (int64_t)1 << 53;
static const int64_t TILE_DIM_MOST = (int64_t)1 << 31;

static ridge_status read_shape(text_cursor *c, int depth, ridge_hlo_shape *out);

bool hlo_shape_sees(text_cursor *c)
{
    text_cursor_skip(c);
    if (text_cursor_peek(c) == '(')
        return true;
    text_cursor ahead = *c;
    const ridge_str word = text_cursor_word(&ahead);
    ridge_hlo_type type;
    return text_cursor_peek(&ahead) == '[' && ridge_hlo_type_find(word, &type);
}

/* ---- tuples ---------------------------------------------------------------------- */

typedef struct part_list {
    int n, room;
    ridge_hlo_shape *parts;
} part_list;

static bool grow(ridge_arena *arena, part_list *list)
{
    const int room = list->room ? 2 * list->room : 4;
    ridge_hlo_shape *grown = ridge_new(arena, ridge_hlo_shape, (size_t)room);
    if (grown == NULL)
        return false;
    if (list->n > 0)
        memcpy(grown, list->parts, (size_t)list->n * sizeof *grown);
    list->parts = grown;
    list->room = room;
    return true;
}

static ridge_status read_parts(text_cursor *c, int depth, part_list *list)
{
    ridge_arena *scratch = ridge_ctx_scratch(c->cx);
    while (!text_cursor_take(c, ")")) {
        if (list->n > 0)
            RIDGE_TRY(text_cursor_want(c, ",", "between the shapes of a tuple"));
        if (list->n >= PARTS_MOST)
            return text_cursor_fail(c, "a tuple has too many parts");
        if (list->n == list->room && !grow(scratch, list))
            return ridge_fail_nomem(c->cx);
        RIDGE_TRY(read_shape(c, depth + 1, &list->parts[list->n]));
        list->n++;
    }
    return RIDGE_OK;
}

static ridge_status read_tuple(text_cursor *c, int depth, ridge_hlo_shape *out)
{
    part_list list = {0, 0, NULL};
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(c->cx));
    ridge_status st = read_parts(c, depth, &list);
    ridge_hlo_shape *parts =
        ridge_new(ridge_ctx_arena(c->cx), ridge_hlo_shape, (size_t)list.n);
    if (st == RIDGE_OK && parts == NULL)
        st = ridge_fail_nomem(c->cx);
    if (st == RIDGE_OK && list.n > 0)
        memcpy(parts, list.parts, (size_t)list.n * sizeof *parts);
    ridge_arena_rewind(ridge_ctx_scratch(c->cx), mark);
    RIDGE_TRY(st);
    *out = (ridge_hlo_shape){.type = RIDGE_HLO_TUPLE, .n = list.n, .parts = parts};
    return RIDGE_OK;
}

/* ---- dims ------------------------------------------------------------------------ */

static ridge_status read_dims(text_cursor *c, ridge_hlo_shape *out)
{
    int64_t dims[RIDGE_HLO_RANK_MAX];
    int n = 0;
    RIDGE_TRY(text_cursor_want(c, "[", "behind the type"));
    while (!text_cursor_take(c, "]")) {
        if (n > 0)
            RIDGE_TRY(text_cursor_want(c, ",", "between dims"));
        if (n == RIDGE_HLO_RANK_MAX)
            return text_cursor_fail(c, "an array has more than %d dims",
                                    RIDGE_HLO_RANK_MAX);
        if (text_cursor_take(c, "<="))
            out->dynamic |= 1u << n;
        if (text_cursor_take(c, "?")) {
            out->dynamic |= 1u << n;
            dims[n] = 1;
        } else if (!text_cursor_number(c, &dims[n]) || dims[n] < 0 ||
                   dims[n] > DIM_MOST) {
            return text_cursor_fail(c, "a size of at most 2^53 is wanted as a dim");
        }
        n++;
    }
    int64_t *kept = ridge_new(ridge_ctx_arena(c->cx), int64_t, (size_t)n);
    if (kept == NULL)
        return ridge_fail_nomem(c->cx);
    memcpy(kept, dims, (size_t)n * sizeof *kept);
    out->n = n;
    out->dims = kept;
    return RIDGE_OK;
}

/* ---- layouts --------------------------------------------------------------------- */

static ridge_status read_tile(text_cursor *c, ridge_hlo_layout *out)
{
    RIDGE_TRY(text_cursor_want(c, "(", "before the sizes of a tile"));
    if (out->n_tiles == RIDGE_HLO_TILE_MAX)
        return text_cursor_fail(c, "a layout has more than %d levels of tiles",
                                RIDGE_HLO_TILE_MAX);
    ridge_hlo_tile *tile = &out->tiles[out->n_tiles++];
    while (!text_cursor_take(c, ")")) {
        if (tile->n > 0)
            RIDGE_TRY(text_cursor_want(c, ",", "between the sizes of a tile"));
        if (tile->n == RIDGE_HLO_TILE_DIM_MAX)
            return text_cursor_fail(c, "a tile has more than %d dims",
                                    RIDGE_HLO_TILE_DIM_MAX);
        int64_t *size = &tile->dims[tile->n];
        if (text_cursor_take(c, "*"))
            *size = -1;
        else if (!text_cursor_number(c, size) || *size < 1 || *size > TILE_DIM_MOST)
            return text_cursor_fail(c, "a size of at most 2^31 or * is wanted in a "
                                       "tile");
        tile->n++;
    }
    return RIDGE_OK;
}

/* n in parentheses. */
static ridge_status read_enclosed(text_cursor *c, int *out)
{
    int64_t n;
    RIDGE_TRY(text_cursor_want(c, "(", "in a layout"));
    if (!text_cursor_number(c, &n) || n < 0 || n > INT32_MAX)
        return text_cursor_fail(c, "a number is wanted in a layout");
    *out = (int)n;
    return text_cursor_want(c, ")", "in a layout");
}

static ridge_status skip_enclosed(text_cursor *c)
{
    ridge_str ignored;
    text_cursor_skip(c);
    if (text_cursor_peek(c) == '(' && text_cursor_enclosed(c, &ignored))
        return RIDGE_OK;
    return text_cursor_fail(c, "something in parentheses is wanted in a layout");
}

/* What follows the colon: letters, each with something in parentheses. */
static ridge_status read_properties(text_cursor *c, ridge_hlo_layout *out)
{
    while (!text_cursor_sees(c, "}")) {
        if (text_cursor_take(c, "SC") || text_cursor_take(c, "D") ||
            text_cursor_take(c, "#") || text_cursor_take(c, "*") ||
            text_cursor_take(c, "P") || text_cursor_take(c, "M") ||
            text_cursor_take(c, "L")) {
            RIDGE_TRY(skip_enclosed(c));
        } else if (text_cursor_take(c, "E")) {
            RIDGE_TRY(read_enclosed(c, &out->element_bits));
        } else if (text_cursor_take(c, "S")) {
            RIDGE_TRY(read_enclosed(c, &out->memory_space));
        } else if (text_cursor_take(c, "T") || out->n_tiles > 0) {
            RIDGE_TRY(read_tile(c, out));
        } else {
            return text_cursor_fail(c,
                                    "T(..), E(..), S(..) or } is wanted in a layout");
        }
    }
    return RIDGE_OK;
}

static ridge_status read_order(text_cursor *c, const ridge_hlo_shape *shape,
                               ridge_hlo_layout *out)
{
    uint32_t seen = 0;
    while (!text_cursor_sees(c, "}") && !text_cursor_sees(c, ":")) {
        int64_t dim;
        if (out->n > 0)
            RIDGE_TRY(text_cursor_want(c, ",", "between the dims of a layout"));
        if (!text_cursor_number(c, &dim) || dim < 0 || dim >= shape->n ||
            (seen & 1u << dim))
            return text_cursor_fail(c, "a layout names each of %d dims once", shape->n);
        seen |= 1u << dim;
        out->minor_to_major[out->n++] = (signed char)dim;
    }
    /* {:T(128)} of a scalar, {} of anything: row-major */
    if (out->n == 0) {
        for (int d = shape->n - 1; d >= 0; d--)
            out->minor_to_major[out->n++] = (signed char)d;
    }
    if (out->n != shape->n)
        return text_cursor_fail(c, "a layout of %d dims is wanted", shape->n);
    return RIDGE_OK;
}

/* Row-major, in HBM, as wide as its type: needs no words. */
static bool is_plain(const ridge_hlo_layout *layout)
{
    for (int i = 0; i < layout->n; i++) {
        if (layout->minor_to_major[i] != layout->n - 1 - i)
            return false;
    }
    return layout->n_tiles == 0 && layout->element_bits == 0 &&
           layout->memory_space == 0;
}

static ridge_status read_layout(text_cursor *c, ridge_hlo_shape *out)
{
    ridge_hlo_layout layout = {.n = 0};
    RIDGE_TRY(text_cursor_want(c, "{", "before a layout"));
    RIDGE_TRY(read_order(c, out, &layout));
    if (text_cursor_take(c, ":"))
        RIDGE_TRY(read_properties(c, &layout));
    RIDGE_TRY(text_cursor_want(c, "}", "behind a layout"));
    if (is_plain(&layout))
        return RIDGE_OK;
    ridge_hlo_layout *kept = ridge_new(ridge_ctx_arena(c->cx), ridge_hlo_layout, 1);
    if (kept == NULL)
        return ridge_fail_nomem(c->cx);
    *kept = layout;
    out->layout = kept;
    return RIDGE_OK;
}

/* ---- shapes ---------------------------------------------------------------------- */

static ridge_status read_shape(text_cursor *c, int depth, ridge_hlo_shape *out)
{
    *out = (ridge_hlo_shape){.n = 0};
    if (depth > DEPTH_MOST)
        return text_cursor_fail(c, "tuples lie deeper than %d in each other",
                                DEPTH_MOST);
    if (text_cursor_take(c, "("))
        return read_tuple(c, depth, out);
    text_cursor_skip(c);
    const char *at = c->p;
    const ridge_str word = text_cursor_word(c);
    if (!ridge_hlo_type_find(word, &out->type) || out->type == RIDGE_HLO_TUPLE) {
        c->p = at;
        return text_cursor_fail(c, "an element type such as f32 is wanted");
    }
    RIDGE_TRY(read_dims(c, out));
    /* a brace behind a blank belongs to something else */
    return text_cursor_peek(c) == '{' ? read_layout(c, out) : RIDGE_OK;
}

ridge_status hlo_shape_read(text_cursor *c, ridge_hlo_shape *out)
{
    return read_shape(c, 0, out);
}

ridge_status ridge_hlo_shape_parse(ridge_ctx *cx, const char *text,
                                   ridge_hlo_shape *out)
{
    text_cursor c = text_cursor_of(cx, ridge_str_of(text), "shape");
    RIDGE_TRY(hlo_shape_read(&c, out));
    text_cursor_skip(&c);
    if (!text_cursor_is_end(&c))
        return text_cursor_fail(&c, "nothing more is wanted behind the shape");
    return RIDGE_OK;
}
