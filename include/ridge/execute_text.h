/*
 * Text in and out of a model: tokenizers, and token data to train on. Knows nothing of
 * programs or ranks.
 */
#ifndef RIDGE_EXECUTE_TEXT_H
#define RIDGE_EXECUTE_TEXT_H

#include "ridge/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- tokenizers ------------------------------------------------------------------ */

/* name, text, what */
/* clang-format off */
#define RIDGE_TOKENIZER_LIST(X)                                                   \
    X(BYTES, "bytes", "each byte of the text is a token")                          \
    X(BPE, "bpe", "byte pair encoding of a Hugging Face tokenizer.json")           \
    X(LLAMA2C, "llama2.c", "vocabulary with scores of a llama2.c tokenizer.bin")
/* clang-format on */

typedef enum ridge_tokenizer_kind {
#define RIDGE_TOKENIZER_ENUM(name, text, what) RIDGE_TOKENIZER_##name,
    RIDGE_TOKENIZER_LIST(RIDGE_TOKENIZER_ENUM)
#undef RIDGE_TOKENIZER_ENUM
} ridge_tokenizer_kind;

#define RIDGE_TOKENIZER_ONE(name, text, what) +1
enum { RIDGE_TOKENIZER_COUNT = 0 RIDGE_TOKENIZER_LIST(RIDGE_TOKENIZER_ONE) };
#undef RIDGE_TOKENIZER_ONE

const char *ridge_tokenizer_kind_text(ridge_tokenizer_kind kind);

/** How text becomes token ids and back. Immutable: threads share it, a ctx each. */
typedef struct ridge_tokenizer ridge_tokenizer;

/**
 * @param path   "bytes"; a Hugging Face tokenizer.json or a folder that holds one; or a
 *               tokenizer.bin of llama2.c
 * @param vocab  V of the model; 0: not known. Ids below it that have no token decode
 *               to nothing; a tokenizer with more tokens than it is refused
 * @owner the ctx: until it closes
 * @errors E_NOTFOUND, E_IO the file; E_PARSE with file and place: ids twice, missing or
 *         out of range, a merge of an unknown token, a kind of tokenizer that Ridge
 *         does not have; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_tokenizer_open(ridge_ctx *cx, const char *path,
                                                  int64_t vocab,
                                                  const ridge_tokenizer **out);
/** The same of a tokenizer.json's text. @param file  name for messages; copied */
RIDGE_NODISCARD ridge_status ridge_tokenizer_parse_json(ridge_ctx *cx, ridge_str text,
                                                        const char *file, int64_t vocab,
                                                        const ridge_tokenizer **out);
/** The same of a tokenizer.bin's bytes. @source karpathy2023-llama2c */
RIDGE_NODISCARD ridge_status ridge_tokenizer_parse_llama2c(ridge_ctx *cx,
                                                           ridge_str bytes,
                                                           const char *file,
                                                           int64_t vocab,
                                                           const ridge_tokenizer **out);

ridge_tokenizer_kind ridge_tokenizer_kind_of(const ridge_tokenizer *t);
/** One more than the highest id that encoding may give; ids are below it. */
int64_t ridge_tokenizer_vocab(const ridge_tokenizer *t);
/** Token at the start of a text, and that which ends one; -1: none. */
int32_t ridge_tokenizer_bos(const ridge_tokenizer *t);
int32_t ridge_tokenizer_eos(const ridge_tokenizer *t);
/** Bytes of a token as they stand in text; of none for ids without a token and for
 * special ones. Borrowed from the tokenizer. */
ridge_str ridge_tokenizer_token(const ridge_tokenizer *t, int32_t id);
/** The id of a special token by its name ("<|eot_id|>"), or -1. */
int32_t ridge_tokenizer_special(const ridge_tokenizer *t, const char *name);

typedef struct ridge_tokens {
    int32_t *ids;
    size_t n;
} ridge_tokens;

/** How text is encoded, as bits. */
typedef enum ridge_encode {
    RIDGE_ENCODE_BOS = 1u << 0,  /* with what the tokenizer puts around a text */
    RIDGE_ENCODE_PLAIN = 1u << 1 /* names of special tokens are text like any other */
} ridge_encode;

/**
 * Token ids of a text.
 *
 * Bytes that are not UTF-8 are encoded as bytes where the tokenizer has a token for
 * each byte. The time grows with n log n.
 * @param how    ridge_encode bits
 * @owner the ctx: out->ids until it closes
 * @errors E_PARSE text that is not UTF-8 (with the offset) or has a character without a
 *         token, where the tokenizer lacks bytes; E_CANCELLED; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_tokenizer_encode(ridge_ctx *cx,
                                                    const ridge_tokenizer *t,
                                                    ridge_str text, unsigned how,
                                                    ridge_tokens *out);

/** Ids to text, one at a time. Plain; it may be copied. */
typedef struct ridge_decoder {
    const ridge_tokenizer *tokenizer; /* borrowed */
    bool is_started;                  /* a token with text has passed */
    int32_t previous;                 /* id; -1: none */
} ridge_decoder;

ridge_decoder ridge_decoder_start(const ridge_tokenizer *t);
/** The bytes that this id adds to the text; perhaps a part of a character. Special
 * tokens and ids without a token add nothing. Borrowed from the tokenizer. */
ridge_str ridge_decoder_next(ridge_decoder *d, int32_t id);
/** Append the text of n ids, from the start of a text; @p out says whether it was short
 * of memory. */
void ridge_tokenizer_decode(const ridge_tokenizer *t, const int32_t *ids, size_t n,
                            ridge_buf *out);

/* ---- token data ------------------------------------------------------------------ */

/** Tokens to train on and to evaluate with. Immutable: threads share it. */
typedef struct ridge_token_data ridge_token_data;

typedef enum ridge_data_part { RIDGE_DATA_TRAIN, RIDGE_DATA_EVAL } ridge_data_part;

typedef struct ridge_data_options {
    double eval_fraction; /* of the tokens, from the end; 0 to 0.5 */
    int64_t vocab;        /* V of the model: ids at or above it are refused; 0: any */
    unsigned how;         /* ridge_encode bits, for each file */
} ridge_data_options;

/**
 * Read and tokenise text once.
 *
 * A path is a text file; a folder, whose files *.txt, *.md and *.bin are taken in the
 * order of their names (those of its folders too); or a file *.bin of token ids: 2
 * bytes each, as nanoGPT writes them, or with the 1,024 byte header of llm.c (magic
 * 20240520, 2 bytes an id; 20240801, 4 bytes). An end token stands between files where
 * the tokenizer has one.
 * @param t      NULL: .bin files alone
 * @param paths  n of them, n >= 1
 * @owner the ctx: until it closes; 4 bytes a token of text, .bin files are mapped
 * @errors E_NOTFOUND, E_IO a path; E_PARSE bytes that the tokenizer cannot encode, ids
 *         beyond the vocabulary (with file and place); E_ARG nothing to train on;
 *         E_CANCELLED; E_NOMEM
 * @source karpathy2024-llmc (headers)
 */
RIDGE_NODISCARD ridge_status ridge_token_data_open(ridge_ctx *cx,
                                                   const ridge_tokenizer *t,
                                                   const char *const *paths, int n,
                                                   const ridge_data_options *options,
                                                   const ridge_token_data **out);

/** Tokens of a part. */
int64_t ridge_token_data_count(const ridge_token_data *data, ridge_data_part part);
/** Bytes of text that the part's tokens stand for; 0 without a tokenizer. */
double ridge_token_data_bytes(const ridge_token_data *data, ridge_data_part part);

/** That sequences of @p seq_tokens can be drawn: one token more is needed.
 * @errors E_ARG with how much is there */
RIDGE_NODISCARD ridge_status ridge_token_data_check(ridge_ctx *cx,
                                                    const ridge_token_data *data,
                                                    ridge_data_part part,
                                                    int64_t seq_tokens);

/** Which sequence: the same on every layout and after every resume. */
typedef struct ridge_draw {
    ridge_data_part part;
    uint64_t seed;
    int64_t step;       /* >= 0 */
    int64_t sequence;   /* of the step's global batch, >= 0 */
    int64_t seq_tokens; /* T; checked by ridge_token_data_check */
} ridge_draw;

/**
 * Sequence @p sequence of a step: T tokens from a place that seed, step and sequence
 * alone decide, each place as likely as any other.
 * @param inputs  [T]. @param labels  [T], the token behind each input
 */
void ridge_token_data_draw(const ridge_token_data *data, const ridge_draw *draw,
                           int32_t *inputs, int32_t *labels);

/** How many sequences lie side by side in a part. */
int64_t ridge_token_data_windows(const ridge_token_data *data, ridge_data_part part,
                                 int64_t seq_tokens);
/** The one at @p index of them (below windows): an evaluation that meets each token at
 * most once. */
void ridge_token_data_window(const ridge_token_data *data, ridge_data_part part,
                             int64_t index, int64_t seq_tokens, int32_t *inputs,
                             int32_t *labels);

#ifdef __cplusplus
}
#endif

#endif
