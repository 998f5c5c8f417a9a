/* A line of a derivation: its texts outlive the words that they were made of. */
#include "reason.h"

static const char *kept(ridge_ctx *cx, const char *z)
{
    const char *copy = ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(z));
    return copy == NULL ? "" : copy;
}

void reason_add(ridge_ctx *cx, ridge_explanation *out, int depth, const char *name,
                const char *formula, const char *result, const char *values_fmt,
                va_list values)
{
    char text[512];
    if (out->n_reasons == RIDGE_REASON_MAX)
        return;
    vsnprintf(text, sizeof text, values_fmt, values);
    out->reasons[out->n_reasons++] = (ridge_reason){depth, kept(cx, name), formula,
                                                    kept(cx, text), kept(cx, result)};
}
