/*
 * Modules as protos of XLA, through protobuf-c and a .proto of our own. Instructions
 * are unpacked one at a time; what they say becomes the same attributes as in text.
 * @source xla-operations-2025
 */
#include "hlo_proto.h"
#include "hlo_type.h"

#include <string.h>

enum { NAME_MOST = 32 };

/** A module being read. */
typedef struct proto_reader {
    ridge_ctx *cx;
    const char *path;
    hlo_builder b;
} proto_reader;

static ridge_status fail(const proto_reader *r, const char *what, const char *where)
{
    return ridge_fail(r->cx, RIDGE_E_PARSE, "%s: %s%s%s: is this an HLO proto?",
                      r->path, what, where[0] ? " in " : "", where);
}

static ridge_str kept(proto_reader *r, const char *z)
{
    const char *copy = ridge_str_dup(r->b.arena, ridge_str_of(z));
    return ridge_str_of(copy);
}

/* Computations and instructions are named by number here. */
static ridge_str number_name(proto_reader *r, int64_t id)
{
    const char *z = ridge_sprintf(r->b.arena, "#%lld", (long long)id);
    return ridge_str_of(z);
}

/* ---- instructions ---------------------------------------------------------------- */

static const char *literal_text(ridge_arena *arena, const Ridge__Hlo__Literal *l)
{
    if (l == NULL)
        return "";
    if (l->n_s32s == 1)
        return ridge_sprintf(arena, "%d", l->s32s[0]);
    if (l->n_s64s == 1)
        return ridge_sprintf(arena, "%lld", (long long)l->s64s[0]);
    if (l->n_u32s == 1)
        return ridge_sprintf(arena, "%u", l->u32s[0]);
    if (l->n_u64s == 1)
        return ridge_sprintf(arena, "%llu", (unsigned long long)l->u64s[0]);
    if (l->n_f32s == 1)
        return ridge_sprintf(arena, "%.9g", (double)l->f32s[0]);
    return l->n_preds == 1 ? (l->preds[0] ? "true" : "false") : "";
}

static ridge_status take_operands(proto_reader *r, const Ridge__Hlo__Instruction *i,
                                  ridge_hlo_instruction *out)
{
    int *operands = ridge_new(r->b.arena, int, i->n_operand_ids);
    if (operands == NULL || i->n_operand_ids > INT32_MAX)
        return ridge_fail_nomem(r->cx);
    for (size_t k = 0; k < i->n_operand_ids; k++) {
        char name[NAME_MOST];
        const int n =
            snprintf(name, sizeof name, "#%lld", (long long)i->operand_ids[k]);
        operands[k] = hlo_builder_find(&r->b, (ridge_str){name, (size_t)n});
        if (operands[k] < 0)
            return fail(r, "an operand is not defined before it is used", i->name);
    }
    out->operands = operands;
    out->n_operands = (int)i->n_operand_ids;
    return RIDGE_OK;
}

/* A while's proto names its body first. */
static ridge_status take_called(proto_reader *r, const Ridge__Hlo__Instruction *i,
                                ridge_hlo_instruction *out)
{
    const size_t n = i->n_called_ids;
    int *called = ridge_new(r->b.arena, int, n);
    if (called == NULL || n > INT32_MAX)
        return ridge_fail_nomem(r->cx);
    const bool is_loop = out->code == RIDGE_HLO_OP_WHILE && n == 2;
    for (size_t k = 0; k < n; k++) {
        const int64_t id = i->called_ids[is_loop ? n - 1 - k : k];
        if (!hlo_builder_call(&r->b, &called[k], number_name(r, id)))
            return ridge_fail_nomem(r->cx);
    }
    out->called = called;
    out->n_called = (int)n;
    return RIDGE_OK;
}

static ridge_status take_attributes(proto_reader *r, const Ridge__Hlo__Instruction *i,
                                    ridge_hlo_instruction *out)
{
    hlo_list list = {.size = sizeof(ridge_hlo_attribute)};
    if (!hlo_proto_attributes(r->b.arena, i, &list))
        return ridge_fail_nomem(r->cx);
    out->attributes = hlo_list_copy(r->b.arena, &list);
    out->n_attributes = list.n;
    return out->attributes ? RIDGE_OK : ridge_fail_nomem(r->cx);
}

static ridge_status take_instruction(proto_reader *r, const Ridge__Hlo__Instruction *i,
                                     int *index)
{
    ridge_hlo_instruction new = {.name = kept(r, i->name),
                                 .code_text = kept(r, i->opcode)};
    hlo_opcode_find(new.code_text, &new.code, &new.phase);
    RIDGE_TRY(hlo_proto_shape(r->cx, i->shape, 0, &new.shape));
    RIDGE_TRY(take_operands(r, i, &new));
    RIDGE_TRY(take_called(r, i, &new));
    RIDGE_TRY(take_attributes(r, i, &new));
    if (new.code == RIDGE_HLO_OP_PARAMETER) {
        new.literal = ridge_str_of(
            ridge_sprintf(r->b.arena, "%lld", (long long)i->parameter_number));
    } else if (new.code == RIDGE_HLO_OP_CONSTANT) {
        new.literal = ridge_str_of(literal_text(r->b.arena, i->literal));
    }
    *index = hlo_builder_add(&r->b, &new);
    return *index >= 0 && hlo_names_put(r->b.scratch, &r->b.names, r->b.computations.n,
                                        number_name(r, i->id), *index)
               ? RIDGE_OK
               : ridge_fail_nomem(r->cx);
}

/* ---- computations ---------------------------------------------------------------- */

static ridge_status read_instructions(proto_reader *r, const Ridge__Hlo__Computation *c)
{
    int root = -1;
    for (size_t k = 0; k < c->n_instructions; k++) {
        ProtobufCAllocator room = hlo_proto_allocator(r->b.scratch);
        int index;
        const Ridge__Hlo__Instruction *i = ridge__hlo__instruction__unpack(
            &room, c->instructions[k].len, c->instructions[k].data);
        if (i == NULL)
            return fail(r, "an instruction cannot be unpacked", c->name);
        RIDGE_TRY(take_instruction(r, i, &index));
        if (i->id == c->root_id)
            root = index;
    }
    return hlo_builder_close(&r->b, root) ? RIDGE_OK : ridge_fail_nomem(r->cx);
}

static ridge_status read_computation(proto_reader *r, ProtobufCBinaryData bytes,
                                     int64_t entry)
{
    ProtobufCAllocator room = hlo_proto_allocator(r->b.scratch);
    const Ridge__Hlo__Computation *c =
        ridge__hlo__computation__unpack(&room, bytes.len, bytes.data);
    if (c == NULL)
        return fail(r, "a computation cannot be unpacked", "");
    const int index = hlo_builder_open(&r->b, kept(r, c->name), c->id == entry, 0);
    if (index < 0 || !hlo_names_put(r->b.scratch, &r->b.computation_names, 0,
                                    number_name(r, c->id), index))
        return ridge_fail_nomem(r->cx);
    return read_instructions(r, c);
}

/* ---- modules ----------------------------------------------------------------------
 */

static ridge_status take_frames(proto_reader *r, const Ridge__Hlo__Frames *f)
{
    for (size_t k = 0; f && k < f->n_frames; k++) {
        ridge_hlo_frame *row = hlo_list_push(r->b.scratch, &r->b.frames);
        const size_t place = (size_t)f->frames[k]->place_id - 1;
        if (row == NULL)
            return ridge_fail_nomem(r->cx);
        row->parent = -1;
        if (place >= f->n_places)
            continue;
        const size_t file = (size_t)f->places[place]->file_name_id - 1;
        row->line = f->places[place]->line;
        if (file < f->n_files)
            row->file = kept(r, f->files[file]);
    }
    return RIDGE_OK;
}

/* "{ {0}: (3, {}, may-alias), ... }" */
static ridge_status take_aliases(proto_reader *r, const Ridge__Hlo__Aliases *a)
{
    ridge_buf b;
    ridge_hlo_attribute *attribute = ridge_new(r->b.arena, ridge_hlo_attribute, 1);
    ridge_buf_init(&b, r->b.arena);
    ridge_buf_puts(&b, "{ ");
    for (size_t k = 0; a && k < a->n_entries; k++) {
        const Ridge__Hlo__Alias *e = a->entries[k];
        if (e->n_output_index == 1)
            ridge_buf_printf(&b, "%s{%lld}: (%lld, {}, may-alias)", k ? ", " : "",
                             (long long)e->output_index[0],
                             (long long)e->parameter_number);
    }
    ridge_buf_puts(&b, " }");
    if (attribute == NULL || b.is_short)
        return ridge_fail_nomem(r->cx);
    *attribute = (ridge_hlo_attribute){ridge_str_of("input_output_alias"),
                                       (ridge_str){b.p, b.n}};
    r->b.module.attributes = attribute;
    r->b.module.n_attributes = 1;
    return RIDGE_OK;
}

static ridge_status read_module(proto_reader *r, const Ridge__Hlo__Module *m,
                                ridge_hlo_module *out)
{
    r->b.module.name = kept(r, m->name);
    r->b.module.format = RIDGE_HLO_FORMAT_PROTO;
    r->b.module.is_scheduled = m->schedule.len > 0;
    if (m->device_assignment && m->device_assignment->replica_count > 0 &&
        m->device_assignment->computation_count > 0) {
        r->b.module.replicas = m->device_assignment->replica_count;
        r->b.module.partitions = m->device_assignment->computation_count;
    }
    RIDGE_TRY(take_frames(r, m->frames));
    RIDGE_TRY(take_aliases(r, m->input_output_alias));
    for (size_t k = 0; k < m->n_computations; k++) {
        RIDGE_TRY(read_computation(r, m->computations[k], m->entry_computation_id));
        if (ridge_ctx_is_cancelled(r->cx))
            return ridge_fail(r->cx, RIDGE_E_CANCELLED, "cancelled");
    }
    return hlo_builder_end(&r->b, r->path, out);
}

/* The module's own bytes within an HloSnapshot or HloProto; NULL: it is none. */
static const Ridge__Hlo__Module *find_module(ridge_arena *arena, ridge_str bytes)
{
    enum { WRAPPERS_MOST = 3 };
    ProtobufCAllocator room = hlo_proto_allocator(arena);
    size_t n = bytes.n;
    const uint8_t *p = (const uint8_t *)(const void *)bytes.p;
    for (int depth = 0; depth < WRAPPERS_MOST; depth++) {
        const Ridge__Hlo__Module *m = ridge__hlo__module__unpack(&room, n, p);
        if (m && m->n_computations > 0)
            return m;
        const Ridge__Hlo__Outer *outer = ridge__hlo__outer__unpack(&room, n, p);
        if (outer == NULL || outer->hlo_module.len == 0)
            return NULL;
        n = outer->hlo_module.len;
        p = outer->hlo_module.data;
    }
    return NULL;
}

ridge_status hlo_proto_read(ridge_ctx *cx, ridge_str bytes, const char *path,
                            ridge_hlo_file *out)
{
    proto_reader r = {.cx = cx, .path = path, .b = hlo_builder_start(cx)};
    ridge_hlo_module *module = ridge_new(ridge_ctx_arena(cx), ridge_hlo_module, 1);
    if (module == NULL)
        return ridge_fail_nomem(cx);
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(cx));
    const Ridge__Hlo__Module *m = find_module(ridge_ctx_scratch(cx), bytes);
    const ridge_status st =
        m ? read_module(&r, m, module) : fail(&r, "holds no HloModule", "");
    ridge_arena_rewind(ridge_ctx_scratch(cx), mark);
    RIDGE_TRY(st);
    out->modules = module;
    out->n_modules = 1;
    return RIDGE_OK;
}
