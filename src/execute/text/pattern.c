/* Regular expressions through PCRE2, compiled to machine code where it can. */
#define PCRE2_CODE_UNIT_WIDTH 8

#include "pattern.h"

#include "utf8.h"

#include <pcre2.h>

enum { MATCH_STEPS = 10000000 };

struct ridge__pattern {
    pcre2_code *code;
    bool is_jit;
};

struct ridge__pattern_match {
    pcre2_match_data *data;
    pcre2_match_context *context;
};

static void free_code(void *code)
{
    pcre2_code_free(code);
}

static const char *fault_text(ridge_ctx *cx, int code, size_t offset)
{
    PCRE2_UCHAR8 text[160];
    if (pcre2_get_error_message(code, text, sizeof text) < 0)
        text[0] = '\0';
    const char *fault = ridge_sprintf(ridge_ctx_arena(cx), "%s, at byte %zu of it",
                                      (const char *)text, offset);
    return fault == NULL ? "malformed" : fault;
}

ridge_status ridge__pattern_compile(ridge_ctx *cx, ridge_str text,
                                    const ridge__pattern **out, const char **fault)
{
    int code = 0;
    PCRE2_SIZE offset = 0;
    ridge__pattern *p = ridge_new(ridge_ctx_arena(cx), ridge__pattern, 1);
    if (p == NULL)
        return ridge_fail_nomem(cx);
    p->code = pcre2_compile((PCRE2_SPTR8)text.p, text.n, PCRE2_UTF | PCRE2_UCP, &code,
                            &offset, NULL);
    if (p->code == NULL) {
        *fault = fault_text(cx, code, offset);
        return RIDGE_E_PARSE;
    }
    RIDGE_TRY(ridge_ctx_defer(cx, free_code, p->code));
    p->is_jit = pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE) == 0;
    *out = p;
    return RIDGE_OK;
}

ridge__pattern_match *ridge__pattern_match_open(ridge_ctx *cx,
                                                const ridge__pattern *pattern)
{
    ridge__pattern_match *m = ridge_new(ridge_ctx_scratch(cx), ridge__pattern_match, 1);
    if (m == NULL)
        return NULL;
    m->data = pcre2_match_data_create_from_pattern(pattern->code, NULL);
    m->context = pcre2_match_context_create(NULL);
    if (m->data == NULL || m->context == NULL) {
        ridge__pattern_match_close(m);
        return NULL;
    }
    pcre2_set_match_limit(m->context, MATCH_STEPS);
    return m;
}

void ridge__pattern_match_close(ridge__pattern_match *match)
{
    if (match == NULL)
        return;
    pcre2_match_data_free(match->data);
    pcre2_match_context_free(match->context);
}

static int match_once(const ridge__pattern *p, ridge__pattern_match *m, ridge_str text,
                      size_t from)
{
    PCRE2_SPTR8 subject = (PCRE2_SPTR8)text.p;
    if (p->is_jit)
        return pcre2_jit_match(p->code, subject, text.n, from, 0, m->data, m->context);
    return pcre2_match(p->code, subject, text.n, from, PCRE2_NO_UTF_CHECK, m->data,
                       m->context);
}

bool ridge__pattern_find(const ridge__pattern *pattern, ridge__pattern_match *match,
                         ridge_str text, size_t from, ridge__span *out)
{
    while (from < text.n) {
        const int found = match_once(pattern, match, text, from);
        if (found == PCRE2_ERROR_NOMATCH)
            break;
        if (found < 0)
            return false;
        const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(match->data);
        if (ends[1] > ends[0] && ends[0] >= from) {
            *out = (ridge__span){ends[0], ends[1]};
            return true;
        }
        from = ends[0] > from ? ends[0] : from; /* \K may set it back */
        if (from < text.n)
            from += ridge__utf8_length(text, from);
    }
    *out = (ridge__span){text.n, text.n};
    return true;
}
