/* A module while it is read: computations and instructions as they come, names resolved
 * where they may be. Every reader of HLO builds through this. Layer-internal. */
#ifndef RIDGE_HLO_BUILDER_H
#define RIDGE_HLO_BUILDER_H

#include "hlo_names.h"
#include "ridge/profile_hlo.h"

/** Items of one size, growing. */
typedef struct hlo_list {
    size_t size;
    int n, room;
    char *items;
} hlo_list;

/** Room for one more item, zeroed. @return NULL: out of memory */
void *hlo_list_push(ridge_arena *arena, hlo_list *list);
/** The items in memory of their own. @return NULL: out of memory */
void *hlo_list_copy(ridge_arena *arena, const hlo_list *list);

typedef struct hlo_builder {
    ridge_ctx *cx;
    ridge_arena *arena, *scratch;
    ridge_hlo_module module;
    hlo_list computations, frames;
    hlo_list instructions; /* of the computation being read */
    hlo_list calls;        /* names of computations to be resolved */
    hlo_names names, computation_names;
    bool has_entry;
} hlo_builder;

hlo_builder hlo_builder_start(ridge_ctx *cx);
/** @return index of the new computation; -1: out of memory */
int hlo_builder_open(hlo_builder *b, ridge_str name, bool is_entry, int line);
/** Take an instruction into the open computation.
 * @return its index; -1: out of memory */
int hlo_builder_add(hlo_builder *b, const ridge_hlo_instruction *instruction);
/** Index of an instruction of the open computation by name; -1: there is none. */
int hlo_builder_find(const hlo_builder *b, ridge_str name);
/** A place for the number of a computation, filled in at the end.
 * @return false: out of memory */
bool hlo_builder_call(hlo_builder *b, int *slot, ridge_str name);
/** Note what the file lacks. */
void hlo_builder_miss(hlo_builder *b, const char *what, ridge_str name);
/** Close the computation. @param root  -1: the last instruction
 * @return false: out of memory */
bool hlo_builder_close(hlo_builder *b, int root);
/** Resolve what was called and give the module. @errors E_PARSE: nothing in it, or
 *  computations that call each other in a circle; E_NOMEM */
RIDGE_NODISCARD ridge_status hlo_builder_end(hlo_builder *b, const char *path,
                                             ridge_hlo_module *out);

#endif
