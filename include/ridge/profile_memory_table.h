/*
 * What XProf's memory viewer computed of a module: what lies in a device's memory at
 * the moment when it is fullest.
 */
#ifndef RIDGE_PROFILE_MEMORY_TABLE_H
#define RIDGE_PROFILE_MEMORY_TABLE_H

#include "ridge/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One array at the peak. Texts are never NULL. */
typedef struct ridge_memory_array {
    const char *name, *opcode, *shape;
    const char *group; /* "Parameter", "Temporary", ... */
    const char *scope; /* the framework's name of the operation */
    double bytes;
    double unpadded_bytes; /* without what layouts add */
} ridge_memory_array;

/** Arrays of one group at the peak. */
typedef struct ridge_memory_group {
    const char *name;
    double bytes;
    int64_t arrays;
} ridge_memory_group;

enum { RIDGE_MEMORY_GROUP_MAX = 16 };

typedef struct ridge_memory_table {
    const char *module;
    const char *instruction; /* at which memory is fullest; "": not told */
    double peak_bytes, unpadded_bytes;
    double allocated_bytes;  /* by the program, in all; 0: not told */
    double parameters_bytes; /* of the entry computation; 0: not told */
    size_t n_arrays;
    ridge_memory_array *arrays; /* largest first */
    int n_groups;               /* what is more is in the last one, "other" */
    ridge_memory_group groups[RIDGE_MEMORY_GROUP_MAX]; /* largest first */
} ridge_memory_table;

/** Whether a file, plain or packed, begins as a JSON object. Unreadable ones do not. */
bool ridge_memory_table_is(ridge_ctx *cx, const char *path);
/** @owner the ctx. @errors E_IO, E_NOMEM; E_PARSE it is no such table
 * @source xprof-tables */
RIDGE_NODISCARD ridge_status ridge_memory_table_read(ridge_ctx *cx, const char *path,
                                                     ridge_memory_table *out);
/** The same of text. @param text  borrowed: outlives the table */
RIDGE_NODISCARD ridge_status ridge_memory_table_parse(ridge_ctx *cx, ridge_str text,
                                                      const char *path,
                                                      ridge_memory_table *out);

#ifdef __cplusplus
}
#endif

#endif
