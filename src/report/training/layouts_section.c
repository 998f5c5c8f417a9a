/* The table of the best training layouts, and the notes by which it is read. */
#include "layouts_section.h"

static ridge_text money(const ridge_train_price *p)
{
    ridge_text none = {"-"};
    return p->has_usd ? ridge_format_usd(p->usd) : none;
}

static ridge_text duration(const ridge_train_price *p)
{
    ridge_text none = {"-"};
    return p->has_total ? ridge_format_seconds(p->days * RIDGE_DAY_S) : none;
}

enum { PP_COLUMN = 4 }; /* of the degrees */

/* A cell's word; a list of operations stands below the table. */
static const char *remat_name(const ridge_layout *l)
{
    return l->remat_ops != 0 ? "operations" : ridge_remat_text(l->remat);
}

static void add_layout(ridge_table *t, int rank, const ridge_train_price *p)
{
    const ridge_layout *l = &p->layout;
    const int64_t degrees[] = {l->dp, l->fsdp, l->tp, l->cp, l->pp, l->ep};
    ridge_table_cellf(t, "%d", rank);
    ridge_table_cell(t, ridge_format_seconds(p->step_time_s).s);
    ridge_table_cell(t, ridge_format_seconds(p->bound_step_time_s).s);
    ridge_table_cell(t, ridge_format_percent(p->mfu).s);
    for (size_t i = 0; i < RIDGE_COUNT_OF(degrees); i++) {
        if (i == PP_COLUMN && l->vpp > 1) {
            ridge_table_cellf(t, "%lldv%lld", (long long)l->pp, (long long)l->vpp);
        } else {
            ridge_table_cellf(t, "%lld", (long long)degrees[i]);
        }
    }
    ridge_table_cellf(t, "%d", l->zero_stage);
    ridge_table_cellf(t, "%lldx%lld", (long long)p->microbatches,
                      (long long)l->microbatch_seqs);
    const char *remat = remat_name(l);
    if (l->remat_layers > 0) {
        ridge_table_cellf(t, "%s %lld", remat, (long long)l->remat_layers);
    } else {
        ridge_table_cell(t, remat);
    }
    ridge_table_cell(t, ridge_format_bytes(p->peak_memory_bytes).s);
    ridge_table_cell(t, duration(p).s);
    ridge_table_cell(t, money(p).s);
    ridge_table_cellf(
        t, "%s %s", ridge_step_text(p->bottleneck),
        ridge_format_percent(ridge_step_get(&p->parts, p->bottleneck) / p->step_time_s)
            .s);
}

/* A line of its own: where others break does not hang on how long the search took. */
static const char *search_note(ridge_ctx *cx, const ridge_train_result *r)
{
    return ridge_sprintf(ridge_ctx_arena(cx), "%s layouts covered, %s priced in %s.",
                         ridge_format_exact(r->covered).s,
                         ridge_format_exact(r->priced).s,
                         ridge_format_seconds(r->seconds).s);
}

/* " of bf16 peaks": of a run whose products are in a format that MFU is not told by. */
static const char *mfu_peak_note(ridge_ctx *cx, const ridge_train_view *v)
{
    const ridge_policy *policy =
        ridge_precision_policy(v->result->layouts[0].layout.precision);
    ridge_dtype used;
    ridge_policy_mfu_peak(policy, v->request->slice->chip, &used);
    return used == policy->compute ? ""
                                   : ridge_sprintf(ridge_ctx_arena(cx), " of %s peaks",
                                                   ridge_dtype_text(used));
}

/* " Software: xla-tpu, usual on these chips." */
static const char *stack_note(ridge_ctx *cx, const ridge_train_view *v)
{
    return !v->request->is_stack_usual
               ? ""
               : ridge_sprintf(ridge_ctx_arena(cx),
                               " Software: %s, usual on these chips; --stack names "
                               "another.",
                               v->request->stack->name);
}

static const char *times_note(ridge_ctx *cx, const ridge_train_view *v)
{
    return ridge_sprintf(
        ridge_ctx_arena(cx),
        "Expected times; the bound has perfect overlap and peak rates. %s%s MFU%s by "
        "convention %s: %s.",
        ridge_train_range_text(cx, v->request, &v->result->layouts[0]),
        stack_note(cx, v), mfu_peak_note(cx, v),
        ridge_convention_text(v->request->convention),
        ridge_convention_what(v->request->convention));
}

/* The first layout that fits the question; NULL: none does. */
static const ridge_layout *first_layout(const ridge_train_result *r,
                                        bool (*fits)(const ridge_layout *))
{
    for (int i = 0; i < r->n_layouts; i++)
        if (fits(&r->layouts[i].layout))
            return &r->layouts[i].layout;
    return NULL;
}

static bool has_partial_remat(const ridge_layout *l)
{
    return l->remat_layers > 0;
}

static bool has_virtual_stages(const ridge_layout *l)
{
    return l->vpp > 1;
}

/* How to read what is not a plain number, by the first cell of each kind. */
static const char *reading_note(ridge_ctx *cx, const ridge_train_result *r)
{
    const ridge_layout *staged = first_layout(r, has_virtual_stages);
    const ridge_layout *partial = first_layout(r, has_partial_remat);
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(cx));
    if (staged)
        ridge_buf_printf(&out, "pp %lldv%lld: %lld stages of %lld virtual ones.",
                         (long long)staged->pp, (long long)staged->vpp,
                         (long long)staged->pp, (long long)staged->vpp);
    if (partial)
        ridge_buf_printf(
            &out, "%sremat %s %lld: on %lld layer%s of a stage; the others keep all.",
            out.n == 0 ? "" : " ", remat_name(partial),
            (long long)partial->remat_layers, (long long)partial->remat_layers,
            partial->remat_layers == 1 ? "" : "s");
    return ridge_buf_text(&out);
}

static void put_end(ridge_buf *out, const char *end, int64_t layers)
{
    if (layers == RIDGE_STAGE_EVEN)
        return;
    ridge_buf_printf(out, "%s%s stage %lld layers", out->n == 0 ? "" : ", ", end,
                     (long long)(layers == RIDGE_STAGE_NONE ? 0 : layers));
}

/* The choices that no column shows. */
static const char *choices_note(ridge_ctx *cx, const ridge_train_price *p)
{
    const ridge_layout *l = &p->layout;
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(cx));
    if (l->pp > 1)
        ridge_buf_printf(&out, "schedule %s",
                         ridge_schedule_text(ridge_layout_schedule(l)));
    put_end(&out, "first", l->first_layers);
    put_end(&out, "last", l->last_layers);
    if (l->mtp > 0)
        ridge_buf_printf(&out, "%s%lld prediction layer%s on the last stage",
                         out.n == 0 ? "" : ", ", (long long)l->mtp,
                         l->mtp == 1 ? "" : "s");
    if (l->cp > 1)
        ridge_buf_printf(&out, "%scp by %s", out.n == 0 ? "" : ", ",
                         ridge_cp_text(l->cp_exchange));
    if (l->tp > 1)
        ridge_buf_printf(&out, "%s%s", out.n == 0 ? "" : ", ",
                         l->has_sp ? "SP" : "no SP");
    if (l->ep > 1 && l->ep_dispatch != RIDGE_DISPATCH_COPIES)
        ridge_buf_printf(&out, "%stokens dispatched %s", out.n == 0 ? "" : ", ",
                         ridge_ep_dispatch_text(l->ep_dispatch));
    if (l->offload != RIDGE_OFFLOAD_NONE)
        ridge_buf_printf(&out, "%s%s on the host (%s a chip)", out.n == 0 ? "" : ", ",
                         ridge_offload_text(l->offload),
                         ridge_format_bytes(p->host_bytes).s);
    if (l->remat_ops != 0)
        ridge_buf_printf(&out, "%s%s computed again", out.n == 0 ? "" : ", ",
                         ridge_layout_remat_text(cx, l));
    if (l->optimizer != RIDGE_OPTIMIZER_ADAMW)
        ridge_buf_printf(&out, "%soptimizer %s", out.n == 0 ? "" : ", ",
                         ridge_optimizer_text(l->optimizer));
    if (l->optimizer == RIDGE_OPTIMIZER_LORA)
        ridge_buf_printf(&out, " of rank %lld beside %s products",
                         (long long)ridge_lora_rank(&l->lora),
                         ridge_lora_text(cx, l->lora.targets));
    const char *text = ridge_buf_text(&out);
    return out.n == 0
               ? ""
               : ridge_sprintf(ridge_ctx_arena(cx), "The best layout: %s.", text);
}

void ridge__layouts_add(ridge_ctx *cx, const ridge_train_view *v, ridge_sections *s)
{
    ridge_table *t = ridge__section_add(
        cx, s, "Best layouts",
        ">#|>step|>bound|>MFU|>dp|>fsdp|>tp|>cp|>pp|>ep|>ZeRO|>microb.|remat|>memory|"
        ">time|>cost|bottleneck");
    for (int i = 0; i < v->result->n_layouts; i++)
        add_layout(t, i + 1, &v->result->layouts[i]);
    const char *reading = reading_note(cx, v->result);
    const char *choices = choices_note(cx, &v->result->layouts[0]);
    if (choices != NULL && choices[0] != '\0')
        ridge__section_note(s, choices);
    if (reading != NULL && reading[0] != '\0')
        ridge__section_note(s, reading);
    ridge__section_note(s, times_note(cx, v));
    ridge__section_note(s, search_note(cx, v->result));
}
