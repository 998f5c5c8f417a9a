#include "speculation_notes.h"

#include <math.h>

static const char *accept_text(ridge_ctx *cx, const ridge_speculation_view *v)
{
    const ridge_speculation *p = &v->query->speculation;
    const int shown = (int)v->query->deepest;
    ridge_buf b;
    int n = shown;
    while (n > 1 && p->draft.accept[n - 1] == p->draft.accept[n - 2])
        n--;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < n; i++)
        ridge_buf_printf(&b, "%s%.3g", i > 0 ? ", " : "", p->draft.accept[i]);
    return ridge_buf_text(&b);
}

static const char *stop_text(ridge_ctx *cx, const ridge_speculation_study *s)
{
    const double last = s->rows[s->n_rows - 1].batch;
    if (s->stops_at <= 0)
        return "No depth is faster than without drafts at any of these batches.";
    if (!isfinite(s->stops_at))
        return ridge_sprintf(ridge_ctx_arena(cx),
                             "It pays at every batch up to %.0f sequences.", last);
    return ridge_sprintf(ridge_ctx_arena(cx),
                         "It stops paying at %.0f sequences of an attention rank.",
                         s->stops_at);
}

static const char *accepted_note(ridge_ctx *cx, const ridge_speculation_view *v)
{
    const ridge_speculation *p = &v->query->speculation;
    return ridge_sprintf(
        ridge_ctx_arena(cx),
        "K=n: speed-up of n drafted tokens over an iteration without, at contexts of "
        "%.0f tokens. tokens: of an iteration and sequence in the mean. Acceptance by "
        "position: %s (%s). %s At a batch of %.0f an acceptance below %.2f gains "
        "nothing.",
        v->query->context_tokens, accept_text(cx, v), p->source,
        stop_text(cx, v->study), v->study->rows[0].batch, v->study->floor_acceptance);
}

/* The engine's own work that is counted, and how far measured gains lie. */
static const char *engine_note(ridge_ctx *cx, const ridge_engine *e)
{
    if (e->draft_s <= 0 && e->draft_pass_s <= 0 && e->draft_token_s <= 0)
        return ridge_sprintf(ridge_ctx_arena(cx),
                             "What drafting takes of the host of %s is not known, and "
                             "not counted: gains are at most these.",
                             e->full_name);
    return ridge_sprintf(
        ridge_ctx_arena(cx),
        "Drafting counts the engine's own work: %s an iteration, %s a pass and %s a "
        "drafted token. Speed-ups that are measured with it lie 6 %% below to 3 %% "
        "above in one study of vLLM, 0 to 40 %% below in others, whose acceptance is "
        "not told by position.",
        ridge_format_seconds(e->draft_s).s, ridge_format_seconds(e->draft_pass_s).s,
        ridge_format_seconds(e->draft_token_s).s);
}

int ridge__speculation_notes(ridge_ctx *cx, const ridge_speculation_view *v,
                             const char **out)
{
    int n = 0;
    out[n++] = accepted_note(cx, v);
    out[n++] = engine_note(cx, v->engine);
    if (v->study->rows[0].tree.nodes > 0)
        out[n++] = "tree: nodes beside the root, by level; each further candidate has "
                   "the same chance of what those before it leave.";
    for (int i = 0; i < n; i++) {
        if (out[i] == NULL)
            out[i] = "";
    }
    return n;
}
