/* What a tokenizer holds once it is read. */
#ifndef RIDGE_TOKENIZER_H
#define RIDGE_TOKENIZER_H

#include "added_tokens.h"
#include "merge_table.h"
#include "ridge/execute_text.h"
#include "text_normalizer.h"
#include "text_splitter.h"
#include "token_table.h"

enum { RIDGE__AROUND_MAX = 8, RIDGE__TOKEN_MAX = 1 << 24 };

/** Ids that are put around a text. */
typedef struct ridge__around {
    int n;
    int32_t ids[RIDGE__AROUND_MAX];
} ridge__around;

struct ridge_tokenizer {
    ridge_tokenizer_kind kind;
    const char *file; /* for messages */
    int64_t n;        /* ids below it may have a token */
    ridge_str *texts; /* [n] as they stand in text; p NULL: stands for nothing */
    int32_t bos, eos;
    ridge__around before, after;
    bool is_space_stripped; /* the first space of a text goes away in decoding */
    bool is_space_stripped_behind_bos; /* ... of a token behind bos (llama2.c) */

    int32_t bytes[256];       /* token of a byte by itself; -1: none */
    ridge__token_table names; /* tokens of characters and pieces, as encoded */
    ridge__merge_table merges;
    int32_t unknown;         /* token of what has none; -1: a failure */
    bool is_unknown_fused;   /* one for several in a row */
    bool is_piece_looked_up; /* a piece that is a token needs no merges */
    const char *word_mark;   /* pieces are cut before it, as no merge crosses that;
                                NULL: not */
    ridge__normalizer normalizer;
    ridge__splitter splitter;
    ridge__added_tokens added;
};

/** An empty one: nothing known, no ids. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__tokenizer_new(ridge_ctx *cx,
                                                  ridge_tokenizer_kind kind,
                                                  const char *file,
                                                  ridge_tokenizer **out);

/** ridge_tokenizer_parse_json, and what stands beside the file. */
RIDGE_NODISCARD ridge_status ridge__tokenizer_open_json(ridge_ctx *cx, ridge_str text,
                                                        const char *file, int64_t vocab,
                                                        const ridge_tokenizer **out);

/** That of the 256 bytes. @errors E_ARG the model has fewer tokens; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__tokenizer_open_bytes(ridge_ctx *cx, int64_t vocab,
                                                         const ridge_tokenizer **out);

/** More tokens than the model has? @errors E_PARSE */
RIDGE_NODISCARD ridge_status ridge__tokenizer_fit(ridge_ctx *cx,
                                                  const ridge_tokenizer *t,
                                                  int64_t vocab);

/** "<0x0A>": 10; -1: another text. */
int ridge__byte_token(ridge_str text);

/** Whether no token has the mark behind something else: then a text can be cut before
 * each run of marks. */
bool ridge__mark_starts_words(const ridge_str *texts, int64_t n, const char *mark);

#endif
