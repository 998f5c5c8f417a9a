/*
 * XProf's memory viewer as JSON: sizes in 2^20 bytes, the arrays of the peak in
 * "maxHeap", numbers that are 0 left out.
 */
#include "ridge/profile_memory_table.h"

#include "ridge/base_stream.h"

#include <stdlib.h>
#include <string.h>

enum { TABLE_BYTES_MOST = 1 << 28 };

static const double MIB_MOST = 0x1p40;

static const char *text_of(const ridge_node *parent, const char *key)
{
    const char *text = "";
    return ridge_json_text(ridge_json_get(parent, key), &text) ? text : "";
}

/* @return 0 where there is none, or none of a memory */
static double bytes_of(const ridge_node *parent, const char *key)
{
    double mib = 0;
    if (!ridge_json_double(ridge_json_get(parent, key), &mib) ||
        !(mib > 0 && mib < MIB_MOST))
        return 0;
    return mib * 0x1p20;
}

static int compare_arrays(const void *a, const void *b)
{
    const ridge_memory_array *x = a;
    const ridge_memory_array *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int compare_groups(const void *a, const void *b)
{
    const ridge_memory_group *x = a;
    const ridge_memory_group *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void add_to_group(ridge_memory_table *t, const ridge_memory_array *array)
{
    const bool is_told = array->group[0] != 0;
    const char *name = is_told ? array->group : "other";
    int i = 0;
    while (i < t->n_groups && strcmp(t->groups[i].name, name) != 0)
        i++;
    if (i == RIDGE_MEMORY_GROUP_MAX) {
        i = RIDGE_MEMORY_GROUP_MAX - 1;
        t->groups[i].name = "other";
    } else if (i == t->n_groups) {
        t->groups[t->n_groups++] = (ridge_memory_group){.name = name};
    }
    t->groups[i].bytes += array->bytes;
    t->groups[i].arrays++;
}

static ridge_status read_arrays(ridge_ctx *cx, const ridge_node *heap,
                                ridge_memory_table *t)
{
    const size_t n = ridge_json_size(*heap);
    t->arrays = ridge_new(ridge_ctx_arena(cx), ridge_memory_array, n);
    if (t->arrays == NULL)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < n; i++) {
        const ridge_node item = ridge_json_at(heap, i);
        ridge_memory_array *a = &t->arrays[t->n_arrays];
        *a = (ridge_memory_array){
            .name = text_of(&item, "instructionName"),
            .opcode = text_of(&item, "opCode"),
            .shape = text_of(&item, "shapeString"),
            .group = text_of(&item, "groupName"),
            .scope = text_of(&item, "tfOpName"),
            .bytes = bytes_of(&item, "logicalBufferSizeMib"),
            .unpadded_bytes = bytes_of(&item, "unpaddedShapeMib"),
        };
        if (a->bytes <= 0)
            continue;
        add_to_group(t, a);
        t->n_arrays++;
    }
    qsort(t->arrays, t->n_arrays, sizeof *t->arrays, compare_arrays);
    qsort(t->groups, (size_t)t->n_groups, sizeof *t->groups, compare_groups);
    return RIDGE_OK;
}

/* The instruction of the program at which memory is fullest. */
static const char *fullest(const ridge_node *root)
{
    int64_t at = 0;
    const char *name = "";
    const ridge_node names = ridge_json_get(root, "hloInstructionNames");
    const ridge_node position = ridge_json_get(root, "peakHeapSizePosition");
    if (!ridge_json_i64(position, &at) || at < 0)
        return "";
    return ridge_json_text(ridge_json_at(&names, (size_t)at), &name) ? name : "";
}

ridge_status ridge_memory_table_parse(ridge_ctx *cx, ridge_str text, const char *path,
                                      ridge_memory_table *out)
{
    ridge_node root;
    const ridge_status st = ridge_json_parse(cx, text, path, &root);
    if (st == RIDGE_E_PARSE)
        return ridge_fail(
            cx, st,
            "%s (what begins with { is read as what XProf's memory viewer "
            "computed)",
            ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(ridge_ctx_message(cx))));
    RIDGE_TRY(st);
    const ridge_node heap = ridge_json_get(&root, "maxHeap");
    ridge_memory_table t = {.module = text_of(&root, "moduleName"),
                            .instruction = fullest(&root),
                            .peak_bytes = bytes_of(&root, "peakHeapMib"),
                            .unpadded_bytes = bytes_of(&root, "peakUnpaddedHeapMib")};
    if (ridge_json_kind_of(heap) != RIDGE_JSON_ARRAY || t.peak_bytes <= 0)
        return ridge_fail(cx, RIDGE_E_PARSE,
                          "%s: JSON, but not what XProf's memory viewer computes (no "
                          "maxHeap or peakHeapMib): give that, HLO or StableHLO text, "
                          "or a proto; of times of operations: ridge profile FILE",
                          path);
    t.allocated_bytes = bytes_of(&root, "totalBufferAllocationMib");
    t.parameters_bytes = bytes_of(&root, "entryComputationParametersMib");
    RIDGE_TRY(read_arrays(cx, &heap, &t));
    *out = t;
    return RIDGE_OK;
}

ridge_status ridge_memory_table_read(ridge_ctx *cx, const char *path,
                                     ridge_memory_table *out)
{
    ridge_str text;
    const char *fault = NULL;
    RIDGE_TRY(ridge_file_read_unpacked(cx, path, TABLE_BYTES_MOST, &fault, &text));
    const ridge_status st = ridge_memory_table_parse(cx, text, path, out);
    if (st != RIDGE_OK && fault != NULL)
        ridge_ctx_note(cx, "%s", fault);
    return st;
}

static bool begins_as_object(ridge_str head)
{
    const ridge_str text = ridge_str_trim(head);
    return text.n > 0 && text.p[0] == '{';
}

bool ridge_memory_table_is(ridge_ctx *cx, const char *path)
{
    char head[64];
    size_t n = 0;
    ridge_stream *stream;
    ridge_status st = ridge_stream_open(cx, path, &stream);
    if (st == RIDGE_OK) {
        st = ridge_stream_read(cx, stream, head, sizeof head, &n);
        ridge_stream_close(stream);
    }
    if (st != RIDGE_OK) {
        ridge_ctx_clear(cx); /* whoever reads it as a module says why */
        return false;
    }
    return begins_as_object((ridge_str){head, n});
}
