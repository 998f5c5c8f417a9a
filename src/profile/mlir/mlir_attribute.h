/* Attributes of StableHLO, read and put into HLO's words. Layer-internal. */
#ifndef RIDGE_MLIR_ATTRIBUTE_H
#define RIDGE_MLIR_ATTRIBUTE_H

#include "mlir_text.h"

/** Behind "key =", where the key is a word of its own; NULL: it is not there. */
const char *mlir_key_find(ridge_str text, const char *key);
/** "[0, 1]", "array<i64: 0, 1>" or "dense<[0, 1]>" at @p p: what is between the
 *  brackets; p NULL: no list. @param end  out: behind it */
ridge_str mlir_list_at(ridge_str text, const char *p, const char **end);
ridge_str mlir_list_of(ridge_str text, const char *key);
/** Whole numbers of a list, nested ones too. @return how many */
int mlir_numbers_of(ridge_str list, int64_t *out, int most);
bool mlir_number_of(ridge_str text, const char *key, int64_t *out);

/** Add an attribute to a list of them. @errors E_NOMEM, also of a text that is NULL */
RIDGE_NODISCARD ridge_status mlir_attribute_put(mlir_function *f, hlo_list *list,
                                                const char *key, const char *text);
/** Groups, pairs and channels of a collective. */
RIDGE_NODISCARD ridge_status mlir_groups_put(mlir_function *f, ridge_str text,
                                             hlo_list *list);
/** Shardings in an operation's attributes. */
RIDGE_NODISCARD ridge_status mlir_shardings_put(mlir_function *f, ridge_str text,
                                                hlo_list *list);
/** All attributes of an operation in HLO's words. */
RIDGE_NODISCARD ridge_status mlir_attributes_take(mlir_function *f,
                                                  const mlir_statement *s,
                                                  const ridge_hlo_instruction *i,
                                                  hlo_list *list);

#endif
