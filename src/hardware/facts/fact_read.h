/* Reading of sourced numbers ("facts") and of the names that data files share. */
#ifndef RIDGE_FACT_READ_H
#define RIDGE_FACT_READ_H

#include "ridge/hardware.h"

/** The facts of one file; those of its base first, replaced key by key. */
typedef struct fact_list {
    ridge_fact *items;
    size_t n;
    size_t cap;
} fact_list;

/** A fact that is wanted: its key, which lives as long as the list, and its range. */
typedef struct fact_spec {
    const char *key;
    double low;
    double high;
} fact_spec;

/**
 * @param inherited  facts of the base, copied; NULL with n 0 for none
 * @param room       how many keys may be added
 * @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__facts_open(ridge_ctx *cx,
                                               const ridge_fact *inherited, size_t n,
                                               size_t room, fact_list *out);

/** @return whether there is a fact of that key */
bool ridge__facts_has(const fact_list *facts, const char *key);

/** Forget the fact of key @p stem and those of "stem.more". */
void ridge__facts_drop(fact_list *facts, const char *stem);

/**
 * Read {"value", "source", "date", "note"}, all but the note required, and list it.
 * @errors E_PARSE with file:line and what is missing or wrong
 */
RIDGE_NODISCARD ridge_status ridge__fact_read(ridge_ctx *cx, ridge_node node,
                                              const fact_spec *spec, fact_list *facts,
                                              double *out);

/** A fact, or a plain number where the value is a choice and not a claim. */
RIDGE_NODISCARD ridge_status ridge__count_read(ridge_ctx *cx, ridge_node node,
                                               const fact_spec *spec, fact_list *facts,
                                               int64_t *out);

/** The required "source" and "date" of @p parent. */
RIDGE_NODISCARD ridge_status ridge__source_read(ridge_ctx *cx, const ridge_node *parent,
                                                const char **source, const char **date);

/** A name that slice notation can hold: no ':', '*', '+', ',', '/', not empty. */
RIDGE_NODISCARD ridge_status ridge__name_read(ridge_ctx *cx, ridge_node node,
                                              const char **out);

/** Text member, or @p fallback when it is absent; required when that is NULL. */
RIDGE_NODISCARD ridge_status ridge__text_read(ridge_ctx *cx, const ridge_node *parent,
                                              const char *key, const char *fallback,
                                              const char **out);

/** NULL-terminated aliases; an absent array is an empty one. */
RIDGE_NODISCARD ridge_status ridge__aliases_read(ridge_ctx *cx, ridge_node node,
                                                 const char *const **out);

/**
 * The position of a text in a closed list.
 * @errors E_PARSE naming the nearest, or all of them
 */
RIDGE_NODISCARD ridge_status ridge__choice_read(ridge_ctx *cx, ridge_node node,
                                                const char *const *choices, size_t n,
                                                size_t *out);

#endif
