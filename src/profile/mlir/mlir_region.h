/* Regions of StableHLO: computations that operations run. Layer-internal. */
#ifndef RIDGE_MLIR_REGION_H
#define RIDGE_MLIR_REGION_H

#include "mlir_text.h"

/** The name of a value behind its '%', with '#k' of a result with several parts. */
ridge_str mlir_value_name(text_cursor *c);
/** Part k of a tuple as a value of its own. @return its index; -1: out of memory */
int mlir_part_add(mlir_function *f, ridge_str name, int tuple,
                  const ridge_hlo_shape *shape, int k);
/** The name of a part: "name#k" of "%name:3", the k-th of "%a, %b". */
ridge_str mlir_part_name(mlir_function *f, ridge_str results, int k, int n);
/** The named parts of a tuple: "name#k" of "%name:2", the k-th of "%a, %b". */
RIDGE_NODISCARD ridge_status mlir_parts_name(mlir_function *f, ridge_str results,
                                             int tuple, int n_named);

/** Queue a region to be read as a computation. @param slot  gets its number */
RIDGE_NODISCARD ridge_status mlir_region_queue(mlir_function *f,
                                               const mlir_region *region, int *slot);
/** Read one. @errors E_PARSE; E_NOMEM */
RIDGE_NODISCARD ridge_status mlir_region_read(mlir_function *f,
                                              const mlir_region *region);
/** Values that texts of regions take from the computation that is being built, but for
 *  constants. @param out  ridge_str items: their names */
RIDGE_NODISCARD ridge_status mlir_captures_find(mlir_function *f, ridge_str text,
                                                hlo_list *out);

/** Regions that put scalars together, as called computations. */
RIDGE_NODISCARD ridge_status mlir_functions_take(mlir_function *f,
                                                 const mlir_statement *s,
                                                 ridge_hlo_instruction *out);
/** Branches of an if or a case: what they take from outside is a tuple given to each.
 */
RIDGE_NODISCARD ridge_status mlir_branches_take(mlir_function *f,
                                                const mlir_statement *s,
                                                ridge_hlo_instruction *out);
/** sdy.manual_computation: arrays to one device's shapes, a call, and back. */
RIDGE_NODISCARD ridge_status mlir_manual_take(mlir_function *f,
                                              const mlir_statement *s);

/** A body: statements up to the closing brace, and its root. */
RIDGE_NODISCARD ridge_status mlir_body_read(mlir_function *f, text_cursor *c,
                                            const mlir_region *region);

#endif
