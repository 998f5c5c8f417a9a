/*
 * The "pre_tokenizer" of a tokenizer.json as steps of a splitter:
 *
 *     Sequence         pretokenizers[]
 *     ByteLevel        add_prefix_space, use_regex (the pattern of GPT-2)
 *     Split            pattern.Regex or pattern.String, behavior, invert
 *     Digits           individual_digits
 *     Punctuation      behavior
 *     Whitespace       words and runs of signs; white space is left out
 *     WhitespaceSplit  what stands between white space
 *     Metaspace        replacement U+2581, prepend_scheme (or add_prefix_space), split
 */
#include "text_splitter.h"

#include <string.h>

static const char GPT2[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+|"
                           " ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

typedef struct reader {
    ridge_ctx *cx;
    ridge__splitter *out;
} reader;

typedef ridge_status read_fn(reader *r, const ridge_node *json);

/* ---- parts ----------------------------------------------------------------------- */

static ridge_status add_step(reader *r, const ridge_node *json, ridge__split_step **out)
{
    if (r->out->n == RIDGE__SPLIT_MAX) {
        return ridge_json_fail(r->cx, *json,
                               "more than %d pre-tokenizers one behind "
                               "another",
                               RIDGE__SPLIT_MAX);
    }
    *out = &r->out->steps[r->out->n++];
    return RIDGE_OK;
}

static ridge_status compile(reader *r, ridge_node place, const char *pattern,
                            ridge__split_step *step)
{
    const char *fault = "";
    const ridge_status st =
        ridge__pattern_compile(r->cx, ridge_str_of(pattern), &step->pattern, &fault);
    if (st == RIDGE_E_PARSE)
        return ridge_json_fail(r->cx, place,
                               "the pattern is no regular expression that "
                               "Ridge reads: %s",
                               fault);
    return st;
}

static bool flag_of(const ridge_node *json, const char *key, bool otherwise)
{
    ridge_json_bool(ridge_json_get(json, key), &otherwise);
    return otherwise;
}

static ridge_status read_behaviour(reader *r, const ridge_node *json,
                                   ridge__split_behaviour *out)
{
    static const char *const NAMES[] = {[RIDGE__SPLIT_ISOLATED] = "Isolated",
                                        [RIDGE__SPLIT_REMOVED] = "Removed",
                                        [RIDGE__SPLIT_PREVIOUS] = "MergedWithPrevious",
                                        [RIDGE__SPLIT_NEXT] = "MergedWithNext",
                                        [RIDGE__SPLIT_CONTIGUOUS] = "Contiguous"};
    const char *text = "Isolated";
    const ridge_node place = ridge_json_get(json, "behavior");
    ridge_json_text(place, &text);
    for (size_t i = 0; i < RIDGE_COUNT_OF(NAMES); i++) {
        if (ridge_str_is(ridge_str_of(text), NAMES[i])) {
            *out = (ridge__split_behaviour)i;
            return RIDGE_OK;
        }
    }
    return ridge_json_fail(
        r->cx, place, "\"%s\" is no behavior%s", text,
        ridge_suggestion(ridge_ctx_arena(r->cx), text, NAMES, RIDGE_COUNT_OF(NAMES)));
}

/* A text as a pattern that matches just it. */
static const char *quoted(ridge_ctx *cx, const char *text)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (; *text != '\0'; text++) {
        if (strchr("\\^$.[]|()?*+{}#-", *text) != NULL)
            ridge_buf_puts(&b, "\\");
        ridge_buf_add(&b, (ridge_str){text, 1});
    }
    return b.is_short ? NULL : ridge_buf_text(&b);
}

/* ---- kinds ----------------------------------------------------------------------- */

static ridge_status read_byte_level(reader *r, const ridge_node *json)
{
    ridge__split_step *step = NULL;
    RIDGE_TRY(add_step(r, json, &step));
    r->out->is_byte_level = true;
    step->has_word_space = flag_of(json, "add_prefix_space", true);
    if (!flag_of(json, "use_regex", true))
        return RIDGE_OK;
    return compile(r, *json, GPT2, step);
}

static ridge_status read_split(reader *r, const ridge_node *json)
{
    const ridge_node pattern = ridge_json_get(json, "pattern");
    ridge_node place = ridge_json_get(&pattern, "Regex");
    const bool is_regex = !ridge_json_is_absent(place);
    const char *text;
    ridge__split_step *step = NULL;
    RIDGE_TRY(add_step(r, json, &step));
    if (!is_regex)
        place = ridge_json_get(&pattern, "String");
    RIDGE_TRY(ridge_json_want_text(r->cx, place, &text));
    if (!is_regex)
        text = quoted(r->cx, text);
    if (text == NULL)
        return ridge_fail_nomem(r->cx);
    RIDGE_TRY(read_behaviour(r, json, &step->behaviour));
    step->is_inverted = flag_of(json, "invert", false);
    return compile(r, place, text, step);
}

static ridge_status read_digits(reader *r, const ridge_node *json)
{
    ridge__split_step *step = NULL;
    RIDGE_TRY(add_step(r, json, &step));
    const bool is_single = flag_of(json, "individual_digits", false);
    return compile(r, *json, is_single ? "\\p{N}" : "\\p{N}+", step);
}

static ridge_status read_punctuation(reader *r, const ridge_node *json)
{
    ridge__split_step *step = NULL;
    RIDGE_TRY(add_step(r, json, &step));
    RIDGE_TRY(read_behaviour(r, json, &step->behaviour));
    return compile(r, *json, "[!-/:-@\\[-`{-~]|\\p{P}", step);
}

static ridge_status read_whitespace(reader *r, const ridge_node *json)
{
    ridge__split_step *step = NULL;
    RIDGE_TRY(add_step(r, json, &step));
    step->behaviour = RIDGE__SPLIT_REMOVED;
    step->is_inverted = true;
    return compile(r, *json, "\\w+|[^\\w\\s]+", step);
}

static ridge_status read_whitespace_split(reader *r, const ridge_node *json)
{
    ridge__split_step *step = NULL;
    RIDGE_TRY(add_step(r, json, &step));
    step->behaviour = RIDGE__SPLIT_REMOVED;
    return compile(r, *json, "\\s+", step);
}

static ridge_status read_metaspace(reader *r, const ridge_node *json)
{
    const ridge_node place = ridge_json_get(json, "prepend_scheme");
    const char *mark = "\xE2\x96\x81";
    const char *scheme = flag_of(json, "add_prefix_space", true) ? "always" : "never";
    ridge__split_step *step = NULL;
    RIDGE_TRY(add_step(r, json, &step));
    ridge_json_text(ridge_json_get(json, "replacement"), &mark);
    if (!ridge_str_is(ridge_str_of(mark), "\xE2\x96\x81"))
        return ridge_json_fail(r->cx, *json, "the replacement must be U+2581");
    ridge_json_text(place, &scheme);
    const ridge_str s = ridge_str_of(scheme);
    step->is_metaspace = true;
    step->is_mark_first_only = ridge_str_is(s, "first");
    step->is_mark_never = ridge_str_is(s, "never");
    if (!step->is_mark_first_only && !step->is_mark_never && !ridge_str_is(s, "always"))
        return ridge_json_fail(r->cx, place, "\"%s\" is none of first, always, never",
                               scheme);
    step->behaviour = RIDGE__SPLIT_NEXT;
    if (!flag_of(json, "split", true))
        return RIDGE_OK;
    return compile(r, *json, "\xE2\x96\x81", step);
}

/* ---- all ------------------------------------------------------------------------- */

static const struct {
    const char *type;
    read_fn *read;
} KINDS[] = {
    {"ByteLevel", read_byte_level},  {"Split", read_split},
    {"Digits", read_digits},         {"Punctuation", read_punctuation},
    {"Whitespace", read_whitespace}, {"WhitespaceSplit", read_whitespace_split},
    {"Metaspace", read_metaspace}};

static ridge_status read_one(reader *r, const ridge_node *json)
{
    const char *type;
    const ridge_node place = ridge_json_get(json, "type");
    RIDGE_TRY(ridge_json_want_text(r->cx, place, &type));
    for (size_t i = 0; i < RIDGE_COUNT_OF(KINDS); i++) {
        if (ridge_str_is(ridge_str_of(type), KINDS[i].type))
            return KINDS[i].read(r, json);
    }
    return ridge_json_fail(r->cx, place,
                           "pre-tokenizer \"%s\": Ridge has ByteLevel, Split, Digits, "
                           "Punctuation, Whitespace, WhitespaceSplit, Metaspace and "
                           "sequences of these",
                           type);
}

ridge_status ridge__splitter_read(ridge_ctx *cx, ridge_node json, ridge__splitter *out)
{
    const char *type = "";
    reader r = {cx, out};
    *out = (ridge__splitter){0};
    if (ridge_json_is_absent(json))
        return RIDGE_OK;
    ridge_json_text(ridge_json_get(&json, "type"), &type);
    if (!ridge_str_is(ridge_str_of(type), "Sequence"))
        return read_one(&r, &json);
    const ridge_node list = ridge_json_get(&json, "pretokenizers");
    for (size_t i = 0; i < ridge_json_size(list); i++) {
        const ridge_node item = ridge_json_at(&list, i);
        RIDGE_TRY(read_one(&r, &item));
    }
    return RIDGE_OK;
}
