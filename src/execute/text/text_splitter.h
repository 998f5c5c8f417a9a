/* How text is cut into pieces (words), each of which is encoded on its own. */
#ifndef RIDGE_TEXT_SPLITTER_H
#define RIDGE_TEXT_SPLITTER_H

#include "pattern.h"

/* What becomes of what a pattern matches. */
typedef enum ridge__split_behaviour {
    RIDGE__SPLIT_ISOLATED,  /* a piece of its own */
    RIDGE__SPLIT_REMOVED,   /* left out */
    RIDGE__SPLIT_PREVIOUS,  /* joined to what stands before it */
    RIDGE__SPLIT_NEXT,      /* joined to what follows it */
    RIDGE__SPLIT_CONTIGUOUS /* a piece with matches beside it */
} ridge__split_behaviour;

typedef struct ridge__split_step {
    const ridge__pattern *pattern; /* NULL: the text stays whole */
    ridge__split_behaviour behaviour;
    bool is_inverted; /* what the pattern does not match is the match */
    bool
        has_word_space; /* a space is put before a piece that does not begin with one */
    /* Metaspace: spaces become the mark U+2581, and one is put before the text. */
    bool is_metaspace;
    bool
        is_mark_first_only; /* before the first text alone, not behind special tokens */
    bool is_mark_never;
} ridge__split_step;

enum { RIDGE__SPLIT_MAX = 8 };

typedef struct ridge__splitter {
    int n;
    ridge__split_step steps[RIDGE__SPLIT_MAX];
    bool is_byte_level; /* pieces are encoded by bytes, not by characters */
} ridge__splitter;

/**
 * @param json  the "pre_tokenizer" of a tokenizer.json; null: text stays whole
 * @owner the ctx
 * @errors E_PARSE a kind that Ridge does not have or a malformed pattern, with its
 *         place; E_NOMEM
 * @source hf-tokenizers-2020; radford2019 (the pattern of ByteLevel)
 */
RIDGE_NODISCARD ridge_status ridge__splitter_read(ridge_ctx *cx, ridge_node json,
                                                  ridge__splitter *out);

/** Takes a piece; borrowed until it returns, but for what lies in the text itself. */
typedef ridge_status ridge__piece_fn(void *payload, ridge_str piece);

/** What cutting needs: of one thread, from opening to closing. */
typedef struct ridge__split_work {
    ridge_ctx *cx;
    const ridge__splitter *splitter;
    ridge__pattern_match
        *matches[RIDGE__SPLIT_MAX]; /* of each step; NULL: no pattern */
} ridge__split_work;

/** @owner closing; its scratch memory the caller. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__split_work_open(ridge_ctx *cx,
                                                    const ridge__splitter *splitter,
                                                    ridge__split_work *out);
void ridge__split_work_close(ridge__split_work *work);

/** A text to cut, and who takes the pieces in their order. */
typedef struct ridge__split_text {
    ridge_str text;
    bool is_first; /* nothing stands before it */
    ridge__piece_fn *take;
    void *payload;
} ridge__split_text;

/** @errors E_PARSE a pattern that takes too long on this text; what take fails with */
RIDGE_NODISCARD ridge_status ridge__splitter_cut(ridge__split_work *work,
                                                 const ridge__split_text *text);

#endif
