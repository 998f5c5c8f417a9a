#include "reasons_section.h"

#include <math.h>

static ridge_text change_text(double change)
{
    ridge_text t;
    snprintf(t.s, sizeof t.s, "%+.1f %%", 100 * change);
    return t;
}

/* "+12 ms" */
static void put_change(ridge_buf *out, double change_s)
{
    ridge_buf_printf(out, "%c%s", change_s < 0 ? '-' : '+',
                     ridge_format_seconds(fabs(change_s)).s);
}

static void put_degree(ridge_buf *out, const char *name, int64_t value)
{
    if (value > 1)
        ridge_buf_printf(out, "%s%s=%lld", out->n == 0 ? "" : " ", name,
                         (long long)value);
}

const char *ridge__layout_words(ridge_ctx *cx, const ridge_layout *l)
{
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(cx));
    put_degree(&out, "dp", l->dp);
    put_degree(&out, "fsdp", l->fsdp);
    put_degree(&out, "tp", l->tp);
    put_degree(&out, "cp", l->cp);
    put_degree(&out, "pp", l->pp);
    put_degree(&out, "vpp", l->vpp);
    put_degree(&out, "ep", l->ep);
    ridge_buf_printf(&out, "%szero=%d", out.n == 0 ? "" : " ", l->zero_stage);
    if (l->pp > 1 && l->schedule != RIDGE_SCHEDULE_1F1B)
        ridge_buf_printf(&out, " schedule=%s", ridge_schedule_text(l->schedule));
    ridge_buf_printf(&out, " microbatch=%lld remat=%s", (long long)l->microbatch_seqs,
                     ridge_layout_remat_text(cx, l));
    if (l->remat_layers > 0)
        ridge_buf_printf(&out, " remat_layers=%lld", (long long)l->remat_layers);
    if (l->offload != RIDGE_OFFLOAD_NONE)
        ridge_buf_printf(&out, " offload=%s", ridge_offload_text(l->offload));
    return ridge_buf_text(&out);
}

/* ---- the others ------------------------------------------------------------------ */

void ridge__others_section_add(ridge_ctx *cx, const ridge_train_view *v,
                               ridge_sections *s)
{
    const ridge_train_result *r = v->result;
    if (r->n_layouts < 2)
        return;
    bool has_tie = false;
    ridge_table *t =
        ridge__section_add(cx, s, "Why the others come after", ">#|>slower||where");
    for (int i = 1; i < r->n_layouts; i++) {
        ridge_difference parts[RIDGE_DIFFERENCE_MAX];
        const int n = ridge_train_differences(&r->layouts[0], &r->layouts[i], parts);
        const bool is_tie = ridge_train_is_tie(&r->layouts[0], &r->layouts[i]);
        ridge_buf where;
        ridge_buf_init(&where, ridge_ctx_arena(cx));
        for (int k = 0; k < n; k++) {
            ridge_buf_printf(&where, "%s%s ", k == 0 ? "" : ", ",
                             ridge_step_text(parts[k].part));
            put_change(&where, parts[k].change_s);
        }
        ridge_table_cellf(t, "%d", i + 1);
        ridge_table_cell(
            t,
            change_text(r->layouts[i].step_time_s / r->layouts[0].step_time_s - 1).s);
        ridge_table_cell(t, is_tie ? "near tie" : "");
        ridge_table_cell(t, n == 0 ? "parts alike" : ridge_buf_text(&where));
        has_tie = has_tie || is_tie;
    }
    if (has_tie)
        ridge__section_note(s,
                            "Near tie: within 3 %, where the order of measured "
                            "layouts was predicted no better than by chance; measure "
                            "both.");
}

void ridge__front_section_add(ridge_ctx *cx, const ridge_train_view *v,
                              ridge_sections *s)
{
    const ridge_train_result *r = v->result;
    if (r->n_front == 0)
        return;
    ridge_table *t = ridge__section_add(cx, s, "Time against memory",
                                        ">step|>slower|>memory|>of HBM|layout");
    for (int i = 0; i < r->n_front; i++) {
        const ridge_train_price *p = &r->front[i];
        ridge_table_cell(t, ridge_format_seconds(p->step_time_s).s);
        ridge_table_cell(
            t,
            i == 0 ? "" : change_text(p->step_time_s / r->front[0].step_time_s - 1).s);
        ridge_table_cell(t, ridge_format_bytes(p->peak_memory_bytes).s);
        ridge_table_cell(
            t, ridge_format_percent(p->peak_memory_bytes /
                                    ridge_chip_memory_bytes(v->request->slice->chip))
                   .s);
        ridge_table_cell(t, ridge__layout_words(cx, &p->layout));
    }
    ridge__section_note(s,
                        "No layout is both faster and smaller than one of these; none "
                        "beyond twice the best step is shown.");
}

/* ---- what was asked for ---------------------------------------------------------- */

static void add_answer(ridge_table *t, ridge_ctx *cx, const char *name,
                       const ridge_train_price *p, const ridge_train_price *before)
{
    ridge_table_cell(t, name);
    if (p->step_time_s <= 0) {
        ridge_table_cell(t, "-");
        ridge_table_cell(t, "-");
        ridge_table_cell(t, ridge_fit_text(p->fit));
        return;
    }
    ridge_table_cell(t, ridge_format_seconds(p->step_time_s).s);
    ridge_table_cell(t, change_text(p->step_time_s / before->step_time_s - 1).s);
    ridge_table_cellf(t, "%s%s", ridge__layout_words(cx, &p->layout),
                      p->fit == RIDGE_FIT_OVER_HBM ? " (does not fit)" : "");
}

static void add_what_if(ridge_ctx *cx, const ridge_train_view *v, ridge_sections *s)
{
    const ridge_train_reasons *r = v->reasons;
    if (r->what_if_text == NULL || v->result->n_layouts == 0)
        return;
    const ridge_train_price *before = &v->result->layouts[0];
    const char *title =
        ridge_sprintf(ridge_ctx_arena(cx), "What if %s", r->what_if_text);
    ridge_table *t = ridge__section_add(cx, s, title == NULL ? "What if" : title,
                                        "then|>step|>change|layout");
    add_answer(t, cx, "as it is", before, before);
    add_answer(t, cx, "the same layout", &r->answer.same, before);
    if (r->answer.has_best)
        add_answer(t, cx, "the best layout", &r->answer.best, before);
}

static void add_relaxations(ridge_ctx *cx, const ridge_train_view *v, ridge_sections *s)
{
    const ridge_train_reasons *r = v->reasons;
    const bool is_mended = v->result->n_layouts == 0;
    if (r->n_relaxations == 0)
        return;
    ridge_table *t = ridge__section_add(
        cx, s, is_mended ? "What would fit" : "If one limit were otherwise",
        is_mended ? "change|>step|what|layout" : "change|>step|>a token|what|layout");
    for (int i = 0; i < r->n_relaxations; i++) {
        const ridge_relaxation *x = &r->relaxations[i];
        ridge_table_cell(t, x->name);
        ridge_table_cell(t, ridge_format_seconds(x->best.step_time_s).s);
        if (!is_mended)
            ridge_table_cell(t, change_text(x->step_change).s);
        ridge_table_cell(t, x->what);
        ridge_table_cell(t, ridge__layout_words(cx, &x->best.layout));
    }
    if (is_mended)
        ridge__section_note(s, "Each change by itself; of larger slices the smallest.");
}

static void add_sensitivity(ridge_ctx *cx, const ridge_train_view *v, ridge_sections *s)
{
    const ridge_train_reasons *r = v->reasons;
    if (r->n_sensitivity == 0)
        return;
    ridge_table *t = ridge__section_add(cx, s, "Sensitivity of the best layout's step",
                                        "if|>step changes by");
    for (int i = 0; i < r->n_sensitivity; i++) {
        ridge_table_cell(t, r->sensitivity[i].name);
        ridge_table_cell(t, change_text(r->sensitivity[i].step_change).s);
    }
}

void ridge__reasons_section_add(ridge_ctx *cx, const ridge_train_view *v,
                                ridge_sections *s)
{
    if (v->reasons == NULL)
        return;
    add_what_if(cx, v, s);
    add_relaxations(cx, v, s);
    add_sensitivity(cx, v, s);
}

/* ---- JSON ------------------------------------------------------------------------ */

static void others_to_json(ridge_ctx *cx, const ridge_train_result *r,
                           ridge_json *object)
{
    ridge_json *others = ridge_json_set_array(cx, object, "others");
    for (int i = 1; i < r->n_layouts; i++) {
        ridge_difference parts[RIDGE_DIFFERENCE_MAX];
        const int n = ridge_train_differences(&r->layouts[0], &r->layouts[i], parts);
        ridge_json *o = ridge_json_push_object(cx, others);
        ridge_json_set_double(o, "step_change",
                              r->layouts[i].step_time_s / r->layouts[0].step_time_s -
                                  1);
        ridge_json_set_bool(o, "near_tie",
                            ridge_train_is_tie(&r->layouts[0], &r->layouts[i]));
        ridge_json *where = ridge_json_set_array(cx, o, "differences");
        for (int k = 0; k < n; k++) {
            ridge_json *d = ridge_json_push_object(cx, where);
            ridge_json_set_text(d, "part", ridge_step_text(parts[k].part));
            ridge_json_set_double(d, "change_s", parts[k].change_s);
        }
    }
}

static void asked_to_json(ridge_ctx *cx, const ridge_train_view *v, ridge_json *object)
{
    const ridge_train_reasons *r = v->reasons;
    if (r->what_if_text != NULL && v->result->n_layouts > 0) {
        ridge_json *w = ridge_json_set_object(cx, object, "what_if");
        ridge_json_set_text(w, "change", r->what_if_text);
        ridge_json_set(w, "same_layout",
                       ridge_train_price_to_json(cx, v->request, &r->answer.same));
        if (r->answer.has_best)
            ridge_json_set(w, "best_layout",
                           ridge_train_price_to_json(cx, v->request, &r->answer.best));
    }
    ridge_json *limits = ridge_json_set_array(cx, object, "relaxations");
    for (int i = 0; i < r->n_relaxations; i++) {
        const ridge_relaxation *x = &r->relaxations[i];
        ridge_json *o = ridge_json_push_object(cx, limits);
        ridge_json_set_text(o, "change", x->name);
        ridge_json_set_text(o, "what", x->what);
        ridge_json_set_double(o, "step_time_s", x->best.step_time_s);
        if (v->result->n_layouts > 0)
            ridge_json_set_double(o, "token_time_change", x->step_change);
        ridge_json_set_text(o, "layout", ridge__layout_words(cx, &x->best.layout));
    }
    ridge_json *levers = ridge_json_set_array(cx, object, "sensitivity");
    for (int i = 0; i < r->n_sensitivity; i++) {
        ridge_json *o = ridge_json_push_object(cx, levers);
        ridge_json_set_text(o, "change", r->sensitivity[i].name);
        ridge_json_set_double(o, "step_change", r->sensitivity[i].step_change);
    }
}

void ridge__reasons_to_json(ridge_ctx *cx, const ridge_train_view *v,
                            ridge_json *object)
{
    const ridge_train_result *r = v->result;
    others_to_json(cx, r, object);
    if (r->n_front > 0) {
        ridge_json *front = ridge_json_set_array(cx, object, "pareto");
        for (int i = 0; i < r->n_front; i++)
            ridge_json_push(front,
                            ridge_train_price_to_json(cx, v->request, &r->front[i]));
    }
    if (v->reasons != NULL)
        asked_to_json(cx, v, object);
}
