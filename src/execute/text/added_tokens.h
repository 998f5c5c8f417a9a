/* Tokens whose names are found in text before anything else: <|endoftext|>. */
#ifndef RIDGE_ADDED_TOKENS_H
#define RIDGE_ADDED_TOKENS_H

#include "ridge/base.h"

typedef struct ridge__added_token {
    ridge_str text;
    int32_t id;
    bool is_special;                /* stands for no text */
    bool is_single_word;            /* not within a word */
    bool strips_left, strips_right; /* takes the white space beside it */
} ridge__added_token;

/* A node of the trie over all names. */
typedef struct ridge__added_node {
    unsigned char byte;
    int32_t child, sibling; /* -1: none */
    int32_t token;          /* whose name ends here; -1: none */
} ridge__added_node;

typedef struct ridge__added_tokens {
    ridge__added_token *tokens;
    size_t n;
    ridge__added_node *nodes; /* the root first */
    size_t n_nodes;
    bool is_first[256]; /* bytes with which names begin */
} ridge__added_tokens;

/** Make the trie of tokens[0 .. n). @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__added_tokens_index(ridge_ctx *cx,
                                                       ridge__added_tokens *added);

/** Where one stands in a text. */
typedef struct ridge__added_place {
    size_t start, end;               /* with the white space that it takes */
    const ridge__added_token *token; /* NULL: none is left; start and end: text's end */
} ridge__added_place;

/** The first one at or behind @p from; of several there the longest. */
ridge__added_place ridge__added_tokens_find(const ridge__added_tokens *added,
                                            ridge_str text, size_t from);

#endif
