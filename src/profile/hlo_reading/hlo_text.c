/*
 * Modules as HLO text writes them: a head "HloModule name, key=value, ...", tables of
 * source places (FileNames, FunctionNames, FileLocations, StackFrames), computations
 *
 *     [ENTRY] [%]name [(parameters) -> shape] { instructions } [, key=value]
 *
 * Text without a head is a module, and so is what follows a line "// -----".
 */
#include "hlo_text.h"
#include "hlo_shape_text.h"

#include <string.h>

static bool find_in(const char *from, const char *to, const char *z)
{
    const size_t n = strlen(z);
    for (; from + n <= to; from++) {
        if (memcmp(from, z, n) == 0)
            return true;
    }
    return false;
}

/* ---- the head -------------------------------------------------------------------- */

static void note_head(ridge_hlo_module *m, const ridge_hlo_attribute *a)
{
    int64_t n;
    if (ridge_str_is(a->key, "is_scheduled"))
        m->is_scheduled = ridge_str_is(a->text, "true");
    else if (ridge_str_is(a->key, "num_partitions") && ridge_parse_i64(a->text, &n) &&
             n > 0)
        m->partitions = n;
    else if (ridge_str_is(a->key, "replica_count") && ridge_parse_i64(a->text, &n) &&
             n > 0)
        m->replicas = n;
}

static ridge_status read_head(text_cursor *c, hlo_builder *b)
{
    hlo_list list = {.size = sizeof(ridge_hlo_attribute)};
    text_cursor_skip(c);
    b->module.name = text_cursor_word(c);
    RIDGE_TRY(hlo_text_attributes(c, &list));
    ridge_hlo_attribute *attributes = hlo_list_copy(b->arena, &list);
    if (attributes == NULL)
        return ridge_fail_nomem(c->cx);
    for (int i = 0; i < list.n; i++)
        note_head(&b->module, &attributes[i]);
    b->module.attributes = attributes;
    b->module.n_attributes = list.n;
    return RIDGE_OK;
}

/* ---- places in sources ----------------------------------------------------------- */

/** The four tables of a module: names by number, places, and frames of them. */
typedef struct place_tables {
    hlo_list files, functions, places; /* ridge_str, ridge_str, ridge_hlo_frame */
} place_tables;

/* key=number of "{a=1 b=2}"; 0: not there. */
static int64_t field_of(ridge_str text, const char *key)
{
    const size_t n = strlen(key);
    int64_t value = 0;
    for (size_t i = 0; i + n < text.n; i++) {
        const bool is_start = i == 0 || text.p[i - 1] == ' ' || text.p[i - 1] == ',';
        if (!is_start || memcmp(text.p + i, key, n) != 0 || text.p[i + n] != '=')
            continue;
        size_t to = i + n + 1;
        while (to < text.n && text.p[to] >= '0' && text.p[to] <= '9')
            to++;
        if (ridge_parse_i64((ridge_str){text.p + i + n + 1, to - i - n - 1}, &value))
            return value;
    }
    return value;
}

static ridge_str name_at(const hlo_list *names, int64_t number)
{
    if (number < 1 || number > names->n)
        return (ridge_str){NULL, 0};
    return ((const ridge_str *)(const void *)names->items)[number - 1];
}

static ridge_status read_names(text_cursor *c, hlo_list *names)
{
    int64_t number;
    text_cursor_skip(c);
    while (text_cursor_number(c, &number)) {
        ridge_str *name = hlo_list_push(ridge_ctx_scratch(c->cx), names);
        if (name == NULL)
            return ridge_fail_nomem(c->cx);
        text_cursor_skip_blank(c);
        if (text_cursor_peek(c) != '"' || !text_cursor_quoted(c, name))
            return text_cursor_fail(c, "a quoted name is wanted");
    }
    return RIDGE_OK;
}

/* Rows "number {fields}". @param is_frames  they are frames, else places */
static ridge_status read_rows(text_cursor *c, hlo_builder *b, place_tables *tables,
                              bool is_frames)
{
    int64_t number;
    ridge_str fields;
    while (text_cursor_number(c, &number)) {
        ridge_hlo_frame *row = hlo_list_push(ridge_ctx_scratch(c->cx),
                                             is_frames ? &b->frames : &tables->places);
        if (row == NULL)
            return ridge_fail_nomem(c->cx);
        text_cursor_skip_blank(c);
        if (text_cursor_peek(c) != '{' || !text_cursor_enclosed(c, &fields))
            return text_cursor_fail(c, "{fields} are wanted behind a number");
        if (!is_frames) {
            *row = (ridge_hlo_frame){
                .file = name_at(&tables->files, field_of(fields, "file_name_id")),
                .function =
                    name_at(&tables->functions, field_of(fields, "function_name_id")),
                .line = (int)(field_of(fields, "line") & INT32_MAX)};
            continue;
        }
        const int64_t place = field_of(fields, "file_location_id");
        if (place >= 1 && place <= tables->places.n)
            *row = ((ridge_hlo_frame *)(void *)tables->places.items)[place - 1];
        /* a frame without a parent is its own: "parent_frame_id=1" of frame 1 */
        const int64_t parent = field_of(fields, "parent_frame_id") - 1;
        row->parent = parent >= 0 && parent < b->frames.n - 1 ? (int)parent : -1;
    }
    return RIDGE_OK;
}

/* @return whether a table stood here */
static ridge_status read_table(text_cursor *c, hlo_builder *b, place_tables *tables,
                               bool *is_table)
{
    *is_table = true;
    if (text_cursor_take(c, "FileNames"))
        return read_names(c, &tables->files);
    if (text_cursor_take(c, "FunctionNames"))
        return read_names(c, &tables->functions);
    if (text_cursor_take(c, "FileLocations"))
        return read_rows(c, b, tables, false);
    if (text_cursor_take(c, "StackFrames"))
        return read_rows(c, b, tables, true);
    *is_table = false;
    return RIDGE_OK;
}

/* ---- computations ---------------------------------------------------------------- */

static ridge_status read_computation(text_cursor *c, hlo_builder *b)
{
    ridge_str signature = {NULL, 0};
    hlo_list ignored = {.size = sizeof(ridge_hlo_attribute)};
    ridge_hlo_shape shape;
    const int line = text_cursor_line(c);
    const bool is_entry = text_cursor_take(c, "ENTRY ");
    text_cursor_take(c, "%");
    const ridge_str name = text_cursor_word(c);
    if (name.n == 0)
        return text_cursor_fail(c, "HloModule, ENTRY or the name of a computation is "
                                   "wanted");
    text_cursor_skip(c);
    if (text_cursor_peek(c) == '(' && !text_cursor_enclosed(c, &signature))
        return text_cursor_fail(c, "the parameters of '%.*s' are not closed",
                                (int)name.n, name.p);
    if (text_cursor_take(c, "->"))
        RIDGE_TRY(hlo_shape_read(c, &shape));
    RIDGE_TRY(text_cursor_want(c, "{", "to begin a computation"));
    if (hlo_builder_open(b, name, is_entry, line) < 0)
        return ridge_fail_nomem(c->cx);
    RIDGE_TRY(hlo_text_instructions(c, b, signature));
    return hlo_text_attributes(c, &ignored);
}

/* Whether another module begins behind what was read. */
static bool is_next_module(text_cursor *c, const hlo_builder *b)
{
    const char *from = c->p;
    const bool is_head = text_cursor_sees(c, "HloModule ");
    return text_cursor_is_end(c) ||
           (b->computations.n > 0 && (is_head || find_in(from, c->p, "// -----")));
}

/* A file that was cut in the head of a computation. */
static void cut_here(text_cursor *c, hlo_builder *b)
{
    ridge_ctx_clear(c->cx);
    b->module.cut = ridge_sprintf(b->arena,
                                  "the text ends at line %d, in the head of a "
                                  "computation",
                                  text_cursor_line(c));
    c->p = c->end;
}

static ridge_status read_module(text_cursor *c, ridge_hlo_module *out)
{
    hlo_builder b = hlo_builder_start(c->cx);
    place_tables tables = {.files = {.size = sizeof(ridge_str)},
                           .functions = {.size = sizeof(ridge_str)},
                           .places = {.size = sizeof(ridge_hlo_frame)}};
    if (text_cursor_take(c, "HloModule "))
        RIDGE_TRY(read_head(c, &b));
    while (!is_next_module(c, &b)) {
        bool is_table;
        if (ridge_ctx_is_cancelled(c->cx))
            return ridge_fail(c->cx, RIDGE_E_CANCELLED, "cancelled");
        RIDGE_TRY(read_table(c, &b, &tables, &is_table));
        if (is_table)
            continue;
        const char *from = c->p;
        const ridge_status st = read_computation(c, &b);
        if (st == RIDGE_E_PARSE && b.computations.n > 0 &&
            hlo_text_is_last_line(from, c->end)) {
            cut_here(c, &b);
            break;
        }
        RIDGE_TRY(st);
    }
    return hlo_builder_end(&b, c->path, out);
}

ridge_status hlo_text_read(ridge_ctx *cx, ridge_str text, const char *path,
                           ridge_hlo_file *out)
{
    text_cursor c = text_cursor_of(cx, text, path);
    hlo_list modules = {.size = sizeof(ridge_hlo_module)};
    text_cursor_skip(&c);
    do {
        ridge_hlo_module module;
        const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(cx));
        const ridge_status st = read_module(&c, &module);
        ridge_arena_rewind(ridge_ctx_scratch(cx), mark);
        RIDGE_TRY(st);
        ridge_hlo_module *kept = hlo_list_push(ridge_ctx_arena(cx), &modules);
        if (kept == NULL)
            return ridge_fail_nomem(cx);
        *kept = module;
        text_cursor_skip(&c);
    } while (!text_cursor_is_end(&c));
    out->modules = (const ridge_hlo_module *)(const void *)modules.items;
    out->n_modules = modules.n;
    return RIDGE_OK;
}
