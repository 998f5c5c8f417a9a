#include "hlo_builder.h"

#include <string.h>

enum { FIRST_ROOM = 8 };

typedef struct pending_call {
    int *slot;
    ridge_str name;
} pending_call;

void *hlo_list_push(ridge_arena *arena, hlo_list *list)
{
    if (list->n == list->room) {
        const int room = list->room ? 2 * list->room : FIRST_ROOM;
        char *grown = list->room > INT32_MAX / 2
                          ? NULL
                          : ridge_arena_new(arena, (size_t)room, list->size);
        if (grown == NULL)
            return NULL;
        if (list->n > 0)
            memcpy(grown, list->items, (size_t)list->n * list->size);
        list->items = grown;
        list->room = room;
    }
    void *item = list->items + (size_t)list->n++ * list->size;
    memset(item, 0, list->size);
    return item;
}

void *hlo_list_copy(ridge_arena *arena, const hlo_list *list)
{
    void *copy = ridge_arena_new(arena, (size_t)list->n, list->size);
    if (copy && list->n > 0)
        memcpy(copy, list->items, (size_t)list->n * list->size);
    return copy;
}

hlo_builder hlo_builder_start(ridge_ctx *cx)
{
    hlo_builder b = {.cx = cx,
                     .arena = ridge_ctx_arena(cx),
                     .scratch = ridge_ctx_scratch(cx),
                     .computations = {.size = sizeof(ridge_hlo_computation)},
                     .frames = {.size = sizeof(ridge_hlo_frame)},
                     .instructions = {.size = sizeof(ridge_hlo_instruction)},
                     .calls = {.size = sizeof(pending_call)}};
    b.module.partitions = b.module.replicas = 1;
    b.module.entry = -1;
    return b;
}

int hlo_builder_open(hlo_builder *b, ridge_str name, bool is_entry, int line)
{
    ridge_hlo_computation *new = hlo_list_push(b->scratch, &b->computations);
    const int index = b->computations.n - 1;
    if (new == NULL ||
        !hlo_names_put(b->scratch, &b->computation_names, 0, name, index))
        return -1;
    *new = (ridge_hlo_computation){.name = name, .root = -1, .line = line};
    if (is_entry && !b->has_entry)
        b->module.entry = index;
    b->has_entry |= is_entry;
    b->instructions.n = 0;
    return index;
}

int hlo_builder_add(hlo_builder *b, const ridge_hlo_instruction *instruction)
{
    ridge_hlo_instruction *new = hlo_list_push(b->scratch, &b->instructions);
    const int index = b->instructions.n - 1;
    if (new == NULL)
        return -1;
    *new = *instruction;
    b->module.n_instructions++;
    const bool is_named = instruction->name.n > 0;
    return is_named && !hlo_names_put(b->scratch, &b->names, b->computations.n,
                                      instruction->name, index)
               ? -1
               : index;
}

int hlo_builder_find(const hlo_builder *b, ridge_str name)
{
    return hlo_names_find(&b->names, b->computations.n, name);
}

bool hlo_builder_call(hlo_builder *b, int *slot, ridge_str name)
{
    pending_call *call = hlo_list_push(b->scratch, &b->calls);
    *slot = -1;
    if (call == NULL)
        return false;
    *call = (pending_call){slot, name};
    return true;
}

void hlo_builder_miss(hlo_builder *b, const char *what, ridge_str name)
{
    if (b->module.n_missing++ == 0)
        b->module.missing = ridge_sprintf(b->arena, "%s %.*s", what,
                                          (int)(name.n < 80 ? name.n : 80), name.p);
}

bool hlo_builder_close(hlo_builder *b, int root)
{
    ridge_hlo_computation *last =
        (ridge_hlo_computation *)(void *)b->computations.items + b->computations.n - 1;
    last->n = b->instructions.n;
    last->root = root >= 0 ? root : last->n - 1;
    last->instructions = hlo_list_copy(b->arena, &b->instructions);
    return last->instructions != NULL;
}

/* ---- the end ----------------------------------------------------------------------
 */

static void resolve(hlo_builder *b)
{
    pending_call *calls = (pending_call *)(void *)b->calls.items;
    for (int i = 0; i < b->calls.n; i++) {
        *calls[i].slot = hlo_names_find(&b->computation_names, 0, calls[i].name);
        if (*calls[i].slot < 0)
            hlo_builder_miss(b, "computation", calls[i].name);
    }
}

/** Where a walk through the computations stands. */
typedef struct walk_place {
    int computation, instruction, call;
} walk_place;

/* The next computation that is called from a place, which is moved on; -1: no more. */
static int next_call(const ridge_hlo_computation *all, walk_place *at)
{
    const ridge_hlo_computation *c = &all[at->computation];
    for (; at->instruction < c->n; at->instruction++, at->call = 0) {
        const ridge_hlo_instruction *i = &c->instructions[at->instruction];
        while (at->call < i->n_called) {
            const int called = i->called[at->call++];
            if (called >= 0)
                return called;
        }
    }
    return -1;
}

/* Depth first without recursion: a file may nest as deep as it is long.
 * @return the computation that calls itself through others; -1: none; -2: no memory */
static int find_circle(hlo_builder *b, const ridge_hlo_computation *all, int n)
{
    enum { NEW, OPEN, DONE };
    char *state = ridge_new(b->scratch, char, (size_t)n);
    walk_place *stack = ridge_new(b->scratch, walk_place, (size_t)n);
    if (state == NULL || stack == NULL)
        return -2;
    for (int first = 0; first < n; first++) {
        int depth = 0;
        if (state[first] != NEW)
            continue;
        state[first] = OPEN;
        stack[depth++] = (walk_place){first, 0, 0};
        while (depth > 0) {
            const int called = next_call(all, &stack[depth - 1]);
            if (called < 0) {
                state[stack[--depth].computation] = DONE;
            } else if (state[called] == OPEN) {
                return called;
            } else if (state[called] == NEW) {
                state[called] = OPEN;
                stack[depth++] = (walk_place){called, 0, 0};
            }
        }
    }
    return -1;
}

ridge_status hlo_builder_end(hlo_builder *b, const char *path, ridge_hlo_module *out)
{
    ridge_hlo_module *m = &b->module;
    if (b->computations.n == 0) {
        return ridge_fail(b->cx, RIDGE_E_PARSE,
                          "%s: module '%.*s' has no computation: is the file cut?",
                          path, (int)m->name.n, m->name.p);
    }
    resolve(b);
    const ridge_hlo_computation *all = hlo_list_copy(b->arena, &b->computations);
    m->frames = hlo_list_copy(b->arena, &b->frames);
    m->n_frames = b->frames.n;
    const int circle =
        all == NULL || m->frames == NULL ? -2 : find_circle(b, all, b->computations.n);
    if (circle == -2)
        return ridge_fail_nomem(b->cx);
    if (circle >= 0) {
        return ridge_fail(b->cx, RIDGE_E_PARSE,
                          "%s:%d:1: computation '%.*s' calls itself, through others or "
                          "not: HLO has no recursion",
                          path, all[circle].line, (int)all[circle].name.n,
                          all[circle].name.p);
    }
    m->computations = all;
    m->n_computations = b->computations.n;
    if (m->entry < 0 && m->cut == NULL)
        m->entry = m->n_computations - 1;
    *out = *m;
    return RIDGE_OK;
}
