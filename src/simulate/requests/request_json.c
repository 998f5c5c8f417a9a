/*
 * A line of JSON about a request: an object of numbers, texts and arrays of whole
 * numbers. What is not wanted is skipped, nested or not. Long arrays of tokens are
 * hashed on the way, piece by piece, each piece with those before it.
 *
 *     mooncake  timestamp (ms), input_length, output_length, hash_ids of 512 tokens
 *     bailian   chat_id, timestamp (s), input_length, output_length, hash_ids of 16
 *     tokens    arrival_time_ns, input_toks, output_toks, input_tok_ids
 *     measured  input_toks, output_toks, arrival_time (s), queued_ts, first_token_ts,
 *               last_token_ts (s, of another clock)
 */
#include "request_record.h"

#include <string.h>

enum { DEPTH_MAX = 64, MOONCAKE_PIECE = 512, BAILIAN_PIECE = 16 };

typedef struct json_cursor {
    const char *p, *end;
    const char *fault;  /* NULL: none so far */
    const char *number; /* name of what should be one and is not, or NULL */
} json_cursor;

static void skip_space(json_cursor *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\t'))
        c->p++;
}

static bool take(json_cursor *c, char wanted)
{
    skip_space(c);
    if (c->p >= c->end || *c->p != wanted)
        return false;
    c->p++;
    return true;
}

static void fault(json_cursor *c, const char *what)
{
    if (c->fault == NULL)
        c->fault = what;
    c->p = c->end;
}

/* A text without its quotes, escapes as they stand. */
static ridge_str take_text(json_cursor *c)
{
    const char *from = c->p;
    if (!take(c, '"')) {
        fault(c, "a name in quotes is wanted");
        return (ridge_str){from, 0};
    }
    from = c->p;
    while (c->p < c->end && *c->p != '"')
        c->p += *c->p == '\\' && c->p + 1 < c->end ? 2 : 1;
    const ridge_str text = {from, (size_t)(c->p - from)};
    if (c->p < c->end)
        c->p++;
    else
        fault(c, "a text does not end");
    return text;
}

static ridge_str take_word(json_cursor *c)
{
    skip_space(c);
    const char *from = c->p;
    while (c->p < c->end && strchr(",]}: \t", *c->p) == NULL)
        c->p++;
    return (ridge_str){from, (size_t)(c->p - from)};
}

/* Any value. Brackets are counted, whatever is in them. */
static void skip_value(json_cursor *c)
{
    int depth = 0;
    do {
        skip_space(c);
        if (c->p >= c->end) {
            fault(c, "it ends within a value");
        } else if (*c->p == '"') {
            (void)take_text(c);
        } else if (*c->p == '[' || *c->p == '{') {
            c->p++;
            depth++;
        } else if (*c->p == ']' || *c->p == '}') {
            c->p++;
            depth--;
        } else if (*c->p == ',' || *c->p == ':') {
            c->p++;
        } else if (take_word(c).n == 0) {
            fault(c, "a value is wanted");
        }
    } while (depth > 0 && depth < DEPTH_MAX && c->fault == NULL);
    if (depth != 0)
        fault(c, "brackets do not match");
}

static bool take_double(json_cursor *c, double *out)
{
    skip_space(c);
    if (c->p < c->end && *c->p == '"')
        return ridge_parse_double(take_text(c), out);
    return ridge_parse_double(take_word(c), out);
}

/* ---- arrays ---------------------------------------------------------------------- */

typedef struct piece_hash {
    request_record *to;
    int64_t tokens; /* of a piece; 0: each number is a hash */
    int64_t in_piece;
    uint64_t state;
} piece_hash;

static ridge_status add_number(ridge_ctx *cx, piece_hash *h, int64_t v)
{
    request_record *r = h->to;
    if (r->hashes == NULL) {
        r->hashes = ridge_new(ridge_ctx_arena(cx), uint64_t, REQUEST_HASHES_MAX);
        if (r->hashes == NULL)
            return ridge_fail_nomem(cx);
    }
    /* @source steele2014, as in request_hash.c */
    h->state = (h->state ^ (uint64_t)v) * UINT64_C(0xbf58476d1ce4e5b9);
    h->state ^= h->state >> 29;
    h->in_piece++;
    if (h->tokens > 0 && h->in_piece < h->tokens)
        return RIDGE_OK;
    h->in_piece = 0;
    if (r->n_hashes < REQUEST_HASHES_MAX)
        r->hashes[r->n_hashes++] = h->tokens > 0 ? h->state : (uint64_t)v;
    return RIDGE_OK;
}

static ridge_status read_numbers(ridge_ctx *cx, json_cursor *c, piece_hash *h)
{
    int64_t v;
    if (!take(c, '[')) {
        fault(c, "an array of whole numbers is wanted");
        return RIDGE_OK;
    }
    h->to->n_hashes = 0;
    if (take(c, ']'))
        return RIDGE_OK;
    do {
        if (!ridge_parse_i64(take_word(c), &v)) {
            fault(c, "an array of whole numbers is wanted");
            return RIDGE_OK;
        }
        RIDGE_TRY(add_number(cx, h, v));
    } while (take(c, ','));
    if (!take(c, ']'))
        fault(c, "an array does not end");
    return RIDGE_OK;
}

/* ---- objects --------------------------------------------------------------------- */

enum wanted_number { ARRIVAL, PROMPT, OUTPUT, QUEUED, FIRST, LAST, NUMBER_COUNT };

typedef struct json_format {
    const char *numbers[NUMBER_COUNT]; /* members; NULL: the format has none */
    const char *hashes;
    double unit_s;        /* of arrivals */
    int64_t piece_tokens; /* 0: as the options say, the array is of tokens */
} json_format;

static const json_format formats[] = {
    [RIDGE_REQUEST_FORMAT_MOONCAKE] = {{"timestamp", "input_length", "output_length"},
                                       "hash_ids",
                                       1e-3,
                                       MOONCAKE_PIECE},
    [RIDGE_REQUEST_FORMAT_BAILIAN] = {{"timestamp", "input_length", "output_length"},
                                      "hash_ids",
                                      1,
                                      BAILIAN_PIECE},
    [RIDGE_REQUEST_FORMAT_TOKENS] = {{"arrival_time_ns", "input_toks", "output_toks"},
                                     "input_tok_ids",
                                     1e-9,
                                     0},
    [RIDGE_REQUEST_FORMAT_MEASURED] = {{"arrival_time", "input_toks", "output_toks",
                                        "queued_ts", "first_token_ts", "last_token_ts"},
                                       "input_tok_ids",
                                       1,
                                       0},
};

typedef struct json_values {
    double of[NUMBER_COUNT];
    bool has[NUMBER_COUNT];
} json_values;

static int number_of(const json_format *f, ridge_str name)
{
    for (int i = 0; i < NUMBER_COUNT; i++) {
        if (f->numbers[i] != NULL && ridge_str_is(name, f->numbers[i]))
            return i;
    }
    return -1;
}

static ridge_status read_member(ridge_ctx *cx, json_cursor *c, const json_format *f,
                                piece_hash *h, json_values *v)
{
    const ridge_str name = take_text(c);
    if (!take(c, ':'))
        fault(c, "a colon is wanted behind a name");
    const int i = number_of(f, name);
    if (i >= 0) {
        v->has[i] = take_double(c, &v->of[i]);
        if (!v->has[i]) {
            c->number = f->numbers[i];
            fault(c, "");
        }
    } else if (ridge_str_is(name, f->hashes)) {
        return read_numbers(cx, c, h);
    } else if (c->fault == NULL) {
        skip_value(c);
    }
    return RIDGE_OK;
}

static ridge_status read_object(ridge_ctx *cx, json_cursor *c, const json_format *f,
                                piece_hash *h, json_values *v)
{
    if (!take(c, '{'))
        fault(c, "an object is wanted");
    if (take(c, '}'))
        return RIDGE_OK;
    do {
        RIDGE_TRY(read_member(cx, c, f, h, v));
    } while (c->fault == NULL && take(c, ','));
    if (!take(c, '}'))
        fault(c, "the object does not end");
    skip_space(c);
    if (c->p < c->end)
        fault(c, "something stands behind the object");
    return RIDGE_OK;
}

bool ridge__request_json_format(ridge_str line, ridge_request_format *out)
{
    json_cursor c = {line.p, line.p + line.n, NULL, NULL};
    bool has_length = false, has_chat = false, has_toks = false, has_times = false;
    if (!take(&c, '{'))
        return false;
    do {
        const ridge_str name = take_text(&c);
        has_length |= ridge_str_is(name, "input_length");
        has_chat |= ridge_str_is(name, "chat_id");
        has_toks |= ridge_str_is(name, "input_toks");
        has_times |= ridge_str_is(name, "first_token_ts");
        if (take(&c, ':'))
            skip_value(&c);
    } while (c.fault == NULL && take(&c, ','));
    if (!has_length && !has_toks)
        return false;
    if (has_toks)
        *out = has_times ? RIDGE_REQUEST_FORMAT_MEASURED : RIDGE_REQUEST_FORMAT_TOKENS;
    else
        *out = has_chat ? RIDGE_REQUEST_FORMAT_BAILIAN : RIDGE_REQUEST_FORMAT_MOONCAKE;
    return true;
}

static ridge_status check_values(ridge_ctx *cx, const request_lines *lines,
                                 const json_format *f, const json_values *v)
{
    for (int i = 0; i < NUMBER_COUNT; i++) {
        if (f->numbers[i] != NULL && !v->has[i])
            return ridge__lines_fail(cx, lines, "no \"%s\"", f->numbers[i]);
    }
    for (int i = PROMPT; i <= OUTPUT; i++) {
        if (v->of[i] < 0 || v->of[i] > 1e12)
            return ridge__lines_fail(cx, lines, "\"%s\" is not a number of tokens",
                                     f->numbers[i]);
    }
    return RIDGE_OK;
}

ridge_status ridge__request_json_read(ridge_ctx *cx, const request_lines *lines,
                                      ridge_request_format format, ridge_str line,
                                      int64_t tokens_a_piece, request_record *out)
{
    const json_format *f = &formats[format];
    const bool are_tokens = f->piece_tokens == 0;
    json_cursor c = {line.p, line.p + line.n, NULL, NULL};
    json_values v = {.has = {false}};
    piece_hash h = {.to = out, .tokens = are_tokens ? tokens_a_piece : 0};
    out->n_hashes = 0;
    RIDGE_TRY(read_object(cx, &c, f, &h, &v));
    if (c.number != NULL)
        return ridge__lines_fail(cx, lines, "\"%s\" is not a number", c.number);
    if (c.fault != NULL)
        return ridge__lines_fail(cx, lines, "not a line of requests in JSON: %s",
                                 c.fault);
    RIDGE_TRY(check_values(cx, lines, f, &v));
    out->arrival_s = v.of[ARRIVAL] * f->unit_s;
    out->prompt = v.of[PROMPT];
    out->output = v.of[OUTPUT];
    out->hash_tokens = are_tokens ? tokens_a_piece : f->piece_tokens;
    out->has_times = v.has[QUEUED] && v.has[FIRST] && v.has[LAST];
    out->first_s = v.of[FIRST] - v.of[QUEUED];
    out->last_s = v.of[LAST] - v.of[QUEUED];
    return RIDGE_OK;
}
