/* Reading a tokenizer.json: what its parts share. */
#ifndef RIDGE_TOKENIZER_JSON_H
#define RIDGE_TOKENIZER_JSON_H

#include "tokenizer.h"

typedef struct ridge__tokenizer_file {
    ridge_ctx *cx;
    ridge_node root;
    ridge_tokenizer *t;
    const char *nul;        /* stands for U+0000 in strings; NULL: there is none */
    ridge_str *names;       /* [t->n] as the file spells them; p NULL: no such id */
    ridge__token_table ids; /* by these names */
} ridge__tokenizer_file;

/** Another character in place of U+0000. @param text  the document, replaced if need be
 * @param nul  out: what stands for it; NULL: there is none. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__replace_nul(ridge_ctx *cx, ridge_str *text,
                                                const char **nul);
/** A string of the document with U+0000 where it belongs. NULL p: no memory. */
ridge_str ridge__tokenizer_string(const ridge__tokenizer_file *f, const char *text);

/** vocab, added_tokens: names, ids, added; that no id is missing. @errors E_PARSE */
RIDGE_NODISCARD ridge_status ridge__tokenizer_read_tokens(ridge__tokenizer_file *f);
/** merges. @errors E_PARSE one of an unknown token */
RIDGE_NODISCARD ridge_status ridge__tokenizer_read_merges(ridge__tokenizer_file *f);
/** What is put around a text, and how text is made of ids. @errors E_PARSE */
RIDGE_NODISCARD ridge_status ridge__tokenizer_read_around(ridge__tokenizer_file *f);

/** The names of start and end in a tokenizer_config.json beside the file, if there is
 * one. @errors E_PARSE, E_IO */
RIDGE_NODISCARD ridge_status ridge__tokenizer_read_config(ridge_ctx *cx,
                                                          ridge_tokenizer *t);

#endif
