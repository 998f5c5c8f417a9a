#include "service_text.h"

#include <math.h>

static void put_degree(ridge_buf *b, const char *name, int64_t value, bool is_knob)
{
    if (value > 1)
        ridge_buf_printf(b, is_knob ? "%s%s=%lld" : "%s%s %lld", b->n == 0 ? "" : " ",
                         name, (long long)value);
}

static const char *layout_text(ridge_ctx *cx, const ridge_serving_layout *l,
                               bool is_knob)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    put_degree(&b, "tp", l->tp, is_knob);
    put_degree(&b, is_knob ? "tp_d" : "D", l->tp_d, is_knob);
    put_degree(&b, is_knob ? "attention_dp" : "dp", l->attention_dp, is_knob);
    put_degree(&b, "ep", l->ep, is_knob);
    if (l->redundant_experts > 0)
        ridge_buf_printf(&b, is_knob ? " redundant=%lld" : " +%lld",
                         (long long)l->redundant_experts);
    put_degree(&b, "pp", l->pp, is_knob);
    if (l->kv_cut != RIDGE_KV_CUT_HEADS)
        ridge_buf_printf(&b, is_knob ? "%skv_cut=%s" : "%skv by %s",
                         b.n == 0 ? "" : " ", ridge_kv_cut_text(l->kv_cut));
    if (l->placement > 0)
        ridge_buf_printf(&b, is_knob ? "%splacement=%d" : "%sorder %d",
                         b.n == 0 ? "" : " ", l->placement);
    if (l->is_weight_gathered)
        ridge_buf_printf(&b, is_knob ? "%sgathered=1" : "%sgathered",
                         b.n == 0 ? "" : " ");
    if (l->has_two_batches)
        ridge_buf_printf(&b, is_knob ? "%soverlap=1" : "%sin halves",
                         b.n == 0 ? "" : " ");
    if (l->draft.kind != RIDGE_DRAFT_NONE)
        ridge_buf_printf(&b, "%s%s%s%lld", b.n == 0 ? "" : " ",
                         is_knob ? "depth" : ridge_draft_kind_text(l->draft.kind),
                         is_knob ? "=" : " ", (long long)l->draft.depth);
    if (l->draft.nodes > l->draft.depth)
        ridge_buf_printf(&b, is_knob ? " nodes=%lld" : " of %lld nodes",
                         (long long)l->draft.nodes);
    if (b.n == 0)
        ridge_buf_puts(&b, is_knob ? "tp=1" : "one chip");
    return ridge_buf_text(&b);
}

const char *ridge__serving_layout_text(ridge_ctx *cx,
                                       const ridge_serving_layout *layout)
{
    return layout_text(cx, layout, false);
}

const char *ridge__service_choice_text(ridge_ctx *cx,
                                       const ridge_service_choice *choice)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < choice->n_pools; i++) {
        const ridge_service_pool *p = &choice->pools[i];
        ridge_buf_printf(&b, "%s%lld x %s", i == 0 ? "" : " > ", (long long)p->servers,
                         layout_text(cx, &p->layout, false));
    }
    return ridge_buf_text(&b);
}

const char *ridge__service_choice_words(ridge_ctx *cx,
                                        const ridge_service_choice *choice)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < choice->n_pools; i++) {
        const ridge_service_pool *p = &choice->pools[i];
        ridge_buf_printf(&b, "%s%s servers=%lld batch=%s budget=%lld",
                         i == 0 ? "" : " > ", layout_text(cx, &p->layout, true),
                         (long long)p->servers, ridge__batch_text(p->batch).s,
                         (long long)p->layout.budget_tokens);
    }
    return ridge_buf_text(&b);
}

const char *ridge__serving_formats_text(ridge_ctx *cx, const ridge_serving_formats *f)
{
    const char *expert = "";
    if (f->expert != f->weight)
        expert = ridge_sprintf(ridge_ctx_arena(cx), ", experts %s",
                               ridge_dtype_text(f->expert));
    const char *compute = "";
    if (f->compute != f->weight)
        compute = ridge_sprintf(ridge_ctx_arena(cx), " computed in %s",
                                ridge_dtype_text(f->compute));
    const char *text =
        ridge_sprintf(ridge_ctx_arena(cx), "%s%s%s, cache %s",
                      ridge_dtype_text(f->weight), compute == NULL ? "" : compute,
                      expert == NULL ? "" : expert, ridge_dtype_text(f->cache));
    return text == NULL ? "" : text;
}

const char *ridge__service_choice_named(ridge_ctx *cx,
                                        const ridge_service_request *request,
                                        const ridge_service_choice *choice)
{
    const char *text = ridge__service_choice_text(cx, choice);
    if (request->knobs.n_formats <= 1)
        return text;
    const char *named = ridge_sprintf(
        ridge_ctx_arena(cx), "%s, %s", text,
        ridge__serving_formats_text(cx, &choice->pools[0].layout.formats));
    return named == NULL ? text : named;
}

ridge_text ridge__batch_text(double batch)
{
    if (fabs(batch - round(batch)) < 1e-6 * batch)
        return ridge_format_exact((int64_t)round(batch));
    ridge_text t;
    snprintf(t.s, sizeof t.s, batch < 10 ? "%.2f" : "%.1f", batch);
    return t;
}

ridge_text ridge__kwh_text(const ridge_service_price *p)
{
    const double kwh = p->energy.joules_per_token * RIDGE_KWH_PER_MILLION_J;
    return kwh > 0 ? ridge_format_double(kwh) : (ridge_text){.s = "-"};
}
