/* What is done to text before it is cut: Unicode forms, replacements, a prefix. */
#ifndef RIDGE_TEXT_NORMALIZER_H
#define RIDGE_TEXT_NORMALIZER_H

#include "ridge/base.h"

typedef enum ridge__normal_kind {
    RIDGE__NORMAL_NFC,
    RIDGE__NORMAL_NFD,
    RIDGE__NORMAL_NFKC,
    RIDGE__NORMAL_NFKD,
    RIDGE__NORMAL_PREPEND, /* unless the text is empty */
    RIDGE__NORMAL_REPLACE
} ridge__normal_kind;

typedef struct ridge__normal_step {
    ridge__normal_kind kind;
    ridge_str from; /* REPLACE; not empty */
    ridge_str to;   /* REPLACE, PREPEND */
} ridge__normal_step;

enum { RIDGE__NORMAL_MAX = 8 };

typedef struct ridge__normalizer {
    int n;
    ridge__normal_step steps[RIDGE__NORMAL_MAX];
} ridge__normalizer;

/**
 * @param json  the "normalizer" of a tokenizer.json; null: nothing is done
 * @errors E_PARSE a kind that Ridge does not have, with its place; E_NOMEM
 * @source hf-tokenizers-2020
 */
RIDGE_NODISCARD ridge_status ridge__normalizer_read(ridge_ctx *cx, ridge_node json,
                                                    ridge__normalizer *out);

/** Bytes that are no UTF-8 stay as they are. @param text  in and out; what comes out is
 * in the scratch arena unless nothing changed. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__normalizer_apply(ridge_ctx *cx,
                                                     const ridge__normalizer *n,
                                                     ridge_str *text);

#endif
