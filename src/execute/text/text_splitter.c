/*
 * Cutting text by the steps of a pre-tokenizer: each cuts the pieces of the one before.
 * Bytes that are no characters are pieces by themselves, so that patterns see UTF-8.
 */
#include "text_splitter.h"

#include "utf8.h"

#include <string.h>

/* U+2581, which stands for a space. */
static const char MARK[] = "\xE2\x96\x81";

enum { MARK_BYTES = sizeof MARK - 1 };

typedef struct cutter {
    ridge__split_work *work;
    const ridge__split_text *text;
} cutter;

static ridge_status cut_step(const cutter *c, int at, ridge_str piece);

/* ---- patterns -------------------------------------------------------------------- */

/* Pieces under way: spans come in order, and some are joined. */
typedef struct joiner {
    const cutter *cutter;
    int step;
    ridge_str text;
    ridge__span held;
    bool is_holding, is_match_held;
} joiner;

static ridge_status flush(joiner *j)
{
    if (!j->is_holding)
        return RIDGE_OK;
    j->is_holding = false;
    return cut_step(
        j->cutter, j->step + 1,
        (ridge_str){j->text.p + j->held.start, j->held.end - j->held.start});
}

static bool is_joined(const joiner *j, ridge__split_behaviour behaviour, bool is_match)
{
    switch (behaviour) {
    case RIDGE__SPLIT_PREVIOUS:
        return is_match && !j->is_match_held;
    case RIDGE__SPLIT_NEXT:
        return !is_match && j->is_match_held;
    case RIDGE__SPLIT_CONTIGUOUS:
        return is_match == j->is_match_held;
    case RIDGE__SPLIT_ISOLATED:
    case RIDGE__SPLIT_REMOVED:
        return false;
    }
    return false;
}

static ridge_status take_span(joiner *j, ridge__span span, bool is_match)
{
    const ridge__split_step *step = &j->cutter->work->splitter->steps[j->step];
    if (span.start == span.end)
        return RIDGE_OK;
    is_match = is_match != step->is_inverted;
    if (j->is_holding && is_joined(j, step->behaviour, is_match)) {
        j->held.end = span.end;
    } else {
        RIDGE_TRY(flush(j));
        j->held = span;
        j->is_holding = !(is_match && step->behaviour == RIDGE__SPLIT_REMOVED);
    }
    j->is_match_held = is_match;
    return RIDGE_OK;
}

/* @param text  whole characters */
static ridge_status cut_by_pattern(const cutter *c, int at, ridge_str text)
{
    const ridge__pattern *pattern = c->work->splitter->steps[at].pattern;
    joiner j = {.cutter = c, .step = at, .text = text};
    for (size_t from = 0; from < text.n;) {
        ridge__span match;
        if (!ridge__pattern_find(pattern, c->work->matches[at], text, from, &match)) {
            return ridge_fail(c->work->cx, RIDGE_E_PARSE,
                              "the tokenizer's pattern takes too long on a text of %zu "
                              "bytes: cut long runs of one kind of character",
                              text.n);
        }
        RIDGE_TRY(take_span(&j, (ridge__span){from, match.start}, false));
        RIDGE_TRY(take_span(&j, match, true));
        from = match.end;
    }
    return flush(&j);
}

/* Runs of characters by the pattern, runs of other bytes as they are. */
static ridge_status cut_runs(const cutter *c, int at, ridge_str text)
{
    for (size_t from = 0; from < text.n;) {
        const size_t valid = ridge__utf8_valid_end(text, from);
        if (valid > from)
            RIDGE_TRY(cut_by_pattern(c, at, (ridge_str){text.p + from, valid - from}));
        from = ridge__utf8_invalid_end(text, valid);
        if (from > valid)
            RIDGE_TRY(cut_step(c, at + 1, (ridge_str){text.p + valid, from - valid}));
    }
    return RIDGE_OK;
}

/* ---- spaces and marks ------------------------------------------------------------ */

static ridge_status with_word_space(ridge_ctx *cx, ridge_str *piece)
{
    if (piece->n == 0 || piece->p[0] == ' ')
        return RIDGE_OK;
    char *text = ridge_new(ridge_ctx_scratch(cx), char, piece->n + 1);
    if (text == NULL)
        return ridge_fail_nomem(cx);
    text[0] = ' ';
    memcpy(text + 1, piece->p, piece->n);
    *piece = (ridge_str){text, piece->n + 1};
    return RIDGE_OK;
}

static bool starts_with_mark(ridge_str text)
{
    return text.n >= MARK_BYTES && memcmp(text.p, MARK, MARK_BYTES) == 0;
}

static ridge_status with_marks(const cutter *c, const ridge__split_step *step,
                               ridge_str *piece)
{
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_scratch(c->work->cx));
    const bool is_start = c->text->is_first && piece->p == c->text->text.p;
    const bool is_marked =
        !step->is_mark_never && (is_start || !step->is_mark_first_only);
    if (is_marked && piece->n > 0 && piece->p[0] != ' ' && !starts_with_mark(*piece))
        ridge_buf_puts(&out, MARK);
    for (ridge_str rest = *piece; rest.p != NULL;) {
        const ridge_str word = ridge_str_cut(&rest, ' ');
        ridge_buf_add(&out, word);
        if (rest.p != NULL)
            ridge_buf_puts(&out, MARK);
    }
    if (out.is_short)
        return ridge_fail_nomem(c->work->cx);
    *piece = (ridge_str){ridge_buf_text(&out), out.n};
    return RIDGE_OK;
}

/* ---- steps ----------------------------------------------------------------------- */

static ridge_status cut_step(const cutter *c, int at, ridge_str piece)
{
    const ridge__splitter *s = c->work->splitter;
    if (piece.n == 0)
        return RIDGE_OK;
    if (at == s->n)
        return c->text->take(c->text->payload, piece);
    if (s->steps[at].has_word_space)
        RIDGE_TRY(with_word_space(c->work->cx, &piece));
    if (s->steps[at].is_metaspace)
        RIDGE_TRY(with_marks(c, &s->steps[at], &piece));
    if (s->steps[at].pattern == NULL)
        return cut_step(c, at + 1, piece);
    return cut_runs(c, at, piece);
}

ridge_status ridge__splitter_cut(ridge__split_work *work, const ridge__split_text *text)
{
    return cut_step(&(cutter){work, text}, 0, text->text);
}

ridge_status ridge__split_work_open(ridge_ctx *cx, const ridge__splitter *splitter,
                                    ridge__split_work *out)
{
    *out = (ridge__split_work){.cx = cx, .splitter = splitter};
    for (int i = 0; i < splitter->n; i++) {
        if (splitter->steps[i].pattern == NULL)
            continue;
        out->matches[i] = ridge__pattern_match_open(cx, splitter->steps[i].pattern);
        if (out->matches[i] == NULL) {
            ridge__split_work_close(out);
            return ridge_fail_nomem(cx);
        }
    }
    return RIDGE_OK;
}

void ridge__split_work_close(ridge__split_work *work)
{
    for (int i = 0; i < RIDGE__SPLIT_MAX; i++) {
        ridge__pattern_match_close(work->matches[i]);
        work->matches[i] = NULL;
    }
}
