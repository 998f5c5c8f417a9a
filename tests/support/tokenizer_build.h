/* Small tokenizers for tests, as the text of a tokenizer.json. */
#ifndef RIDGE_TEST_TOKENIZER_BUILD_H
#define RIDGE_TEST_TOKENIZER_BUILD_H

#include "ridge/execute_text.h"

/** Parts of a tokenizer.json as JSON text; NULL: the usual one of a byte-level BPE. */
typedef struct tokenizer_parts {
    const char *tokens; /* "he Ġt", as the file spells them: ids from 256 on */
    const char *merges; /* "\"h e\", \"Ġ t\"" */
    const char *added;  /* "{\"id\": …}" */
    const char *normalizer, *pre_tokenizer, *post_processor, *decoder;
    const char *rules; /* of the model: "\"ignore_merges\": true" */
} tokenizer_parts;

/** In the ctx's arena. */
ridge_str tokenizer_text(ridge_ctx *cx, const tokenizer_parts *parts);
/** Read it; fails the test if that fails. */
const ridge_tokenizer *tokenizer_of(ridge_ctx *cx, const tokenizer_parts *parts);

/** Fail unless a text has these ids, given as "1 2 3". */
void assert_ids(ridge_ctx *cx, const ridge_tokenizer *t, ridge_str text, unsigned how,
                const char *ids);
/** Fail unless these ids, given as "1 2 3", are this text. */
void assert_text(ridge_ctx *cx, const ridge_tokenizer *t, const char *ids,
                 const char *text);

#endif
