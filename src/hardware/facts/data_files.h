/* The JSON files of one folder of data: built in, then overridden by name. */
#ifndef RIDGE_DATA_FILES_H
#define RIDGE_DATA_FILES_H

#include "ridge/base.h"
#include "ridge/base_embedded.h"

/** One thing that a file describes, by its newest description. */
typedef struct data_file data_file;
struct data_file {
    const char *name;           /* its "name" (or "provider") */
    const char *const *aliases; /* NULL-terminated */
    int layer;                  /* 0 built in, 1 --data, 2 configuration */
    data_file *earlier;         /* what it overrides, or NULL */
    const ridge_embedded *text; /* parsed when it is first needed; NULL: it is */
    ridge_node root;            /* once parsed */
    size_t item;                /* position in its set */
    void *value;                /* set by whoever reads it; NULL until then */
};

typedef struct data_set {
    data_file **files; /* sorted by name */
    size_t n;
    size_t cap;
} data_set;

/** What is gathered. */
typedef struct data_kind {
    const char *folder; /* "chips" */
    const char *key;    /* the member that names a thing: "name" or "provider" */
} data_kind;

/** Where files come from, weakest first. */
typedef struct data_roots {
    const ridge_embedded_set *embedded;
    const char *dir;    /* --data, or NULL */
    const char *config; /* ~/.config/ridge, or NULL */
    bool is_trusted;    /* built-in files were checked: parse them when needed */
} data_roots;

/** $XDG_CONFIG_HOME/ridge or ~/.config/ridge, if it is there; else NULL. */
const char *ridge__config_dir(ridge_ctx *cx);

/**
 * Files of one kind from every root; a root that lacks the folder has none.
 * @errors E_PARSE with file:line; E_IO; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__data_gather(ridge_ctx *cx, const data_roots *roots,
                                                data_kind kind, data_set *out);

/** Have its root parsed. @errors E_PARSE with file:line; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__data_parse(ridge_ctx *cx, data_file *file);

/** @return the file of that very name, or NULL */
data_file *ridge__data_find(const data_set *set, const char *name);

#endif
