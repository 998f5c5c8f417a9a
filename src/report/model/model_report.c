/*
 * A model for people: what it is, parameters, FLOPs under every convention, then what
 * model_memory_report.c says of memory; as text and as a page.
 */
#include "model_section.h"

#include "ridge/model_length.h"

#include <math.h>

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

double ridge_model_view_seq(const ridge_model *model)
{
    static const double usual = 4096;
    bool is_shorter = model->max_positions > 0 && (double)model->max_positions < usual;
    return is_shorter ? (double)model->max_positions : usual;
}

/* ---- what it is ------------------------------------------------------------------ */

static void add_shape(ridge_ctx *cx, const ridge_model *model, ridge_sections *out)
{
    ridge_table *t = ridge__section_add(cx, out, "Shape", "|");
    if (model->model_type)
        ridge__table_pair(t, "type", model->model_type);
    ridge__table_pair(t, "layers", ridge_format_exact(model->layer_count).s);
    ridge__table_pair(t, "width D", ridge_format_exact(model->d_model).s);
    ridge__table_pair(t, "vocabulary V", ridge_format_exact(model->vocab).s);
    if (model->max_positions)
        ridge__table_pair(t, "context", ridge_format_exact(model->max_positions).s);
    ridge__table_pair(t, "unembedding",
                      !model->has_unembedding ? "none"
                      : model->is_tied        ? "tied to the embedding"
                                              : "its own weights");
    if (model->source)
        ridge__table_pair(t, "source", model->source);
}

static void add_layers(ridge_ctx *cx, const ridge_model *model, ridge_sections *out)
{
    ridge_table *t =
        ridge__section_add(cx, out, "Kinds of layers", ">count|mixer|feed-forward");
    for (int i = 0; i < model->n_layers; i++) {
        const ridge_layer *layer = &model->layers[i];
        ridge_table_cell(t, ridge_format_exact(layer->count).s);
        ridge_table_cellf(t, "%s%s%s", layer->is_encoder ? "encoder " : "",
                          ridge__mixer_text(cx, &layer->mixer),
                          layer->has_cross ? ", and cross-attention" : "");
        ridge_table_cell(t, ridge__ffn_text(cx, &layer->ffn));
    }
}

/* ---- parameters ------------------------------------------------------------------ */

static void add_part(ridge_table *t, const char *name, int64_t n, int64_t active,
                     int64_t total)
{
    if (!n)
        return;
    ridge_table_cell(t, name);
    ridge_table_cell(t, ridge_format_exact(n).s);
    ridge_table_cell(t, ridge_format_percent(share((double)n, (double)total)).s);
    ridge_table_cell(t, ridge_format_exact(active).s);
}

static void add_beside(ridge_ctx *cx, int64_t n, const char *what, ridge_sections *out)
{
    if (n) {
        ridge__section_note(out, ridge_sprintf(ridge_ctx_arena(cx),
                                               "Beside the total: %s, %s.", what,
                                               ridge_format_exact(n).s));
    }
}

static void add_params(ridge_ctx *cx, const ridge_model *model, ridge_sections *out)
{
    ridge_params p = ridge_model_params(model);
    ridge_table *t =
        ridge__section_add(cx, out, "Parameters", "part|>parameters|>share|>active");
    add_part(t, "embedding", p.embedding, p.embedding, p.total);
    add_part(t, "attention (mixers)", p.attention, p.attention, p.total);
    add_part(t, "MLP", p.mlp, p.mlp, p.total);
    add_part(t, "router", p.router, p.router, p.total);
    add_part(t, "experts", p.experts, p.experts_active, p.total);
    add_part(t, "norms", p.norm, p.norm, p.total);
    add_part(t, "unembedding", p.unembedding, p.unembedding, p.total);
    ridge_table_rule(t);
    add_part(t, "total", p.total, p.active, p.total);
    add_beside(cx, p.mtp, "multi-token prediction layers", out);
    add_beside(cx, p.vision, "a vision tower", out);
    if (model->published_params) {
        ridge__section_note(
            out, ridge_sprintf(ridge_ctx_arena(cx), "Published: %s%s%s.",
                               ridge_format_exact(model->published_params).s,
                               model->published_note ? ", " : "",
                               model->published_note ? model->published_note : ""));
    }
}

/* ---- FLOPs ----------------------------------------------------------------------- */

static void add_flops_part(ridge_table *t, const char *name, double v, double total)
{
    if (v <= 0)
        return;
    ridge_table_cell(t, name);
    ridge_table_cell(t, ridge_format_si(v, "FLOP").s);
    ridge_table_cell(t, ridge_format_percent(share(v, total)).s);
}

static const char *length_text(ridge_ctx *cx, double tokens)
{
    if (!isfinite(tokens))
        return "no length";
    return ridge_sprintf(ridge_ctx_arena(cx), "T = %s",
                         ridge_format_exact((int64_t)round(tokens)).s);
}

/* From where on attention is what a model computes. */
static void add_lengths(ridge_ctx *cx, const ridge_model *model, ridge_sections *out)
{
    const ridge_scores_length half = ridge_model_scores_length(model, true);
    const ridge_scores_length full = ridge_model_scores_length(model, false);
    if (!isfinite(full.projections) && !isfinite(full.matmuls))
        return;
    ridge__section_note(
        out, ridge_sprintf(
                 ridge_ctx_arena(cx),
                 "Scores take as many FLOPs as all matmuls of the layers at %s "
                 "(over the full square at %s), as attention's projections at %s "
                 "(%s).",
                 length_text(cx, half.matmuls), length_text(cx, full.matmuls),
                 length_text(cx, half.projections), length_text(cx, full.projections)));
}

static void add_forward(ridge_ctx *cx, const ridge_model_view *view,
                        ridge_sections *out)
{
    ridge_flops f = ridge_model_flops_forward(view->model, view->seq_tokens, true);
    const char *title =
        ridge_sprintf(ridge_ctx_arena(cx), "Forward FLOPs of a token at T = %s",
                      ridge_format_count(view->seq_tokens).s);
    ridge_table *t = ridge__section_add(cx, out, title ? title : "Forward FLOPs",
                                        "part|>FLOPs|>share");
    add_flops_part(t, "attention projections", f.attention_projections, f.total);
    add_flops_part(t, "attention scores (causal half)", f.attention_scores, f.total);
    add_flops_part(t, "MLP", f.mlp, f.total);
    add_flops_part(t, "router", f.router, f.total);
    add_flops_part(t, "experts", f.experts, f.total);
    add_flops_part(t, "unembedding", f.unembedding, f.total);
    ridge_table_rule(t);
    add_flops_part(t, "total", f.total, f.total);
    ridge__section_note(
        out, ridge_sprintf(ridge_ctx_arena(cx),
                           "Beside them %s of elementwise work (norms, softmax, "
                           "activations).",
                           ridge_format_si(f.vector, "FLOP").s));
    add_lengths(cx, view->model, out);
}

static void add_conventions(ridge_ctx *cx, const ridge_model_view *view,
                            ridge_sections *out)
{
    ridge_table *t = ridge__section_add(cx, out, "Training FLOPs of a token",
                                        "convention|>FLOPs|what it counts");
    for (int i = 0; i < RIDGE_CONVENTION_COUNT; i++) {
        ridge_convention c = (ridge_convention)i;
        double flops = ridge_model_flops_train(view->model, view->seq_tokens, c);
        ridge_table_cell(t, ridge_convention_text(c));
        ridge_table_cell(t, ridge_format_si(flops, "FLOP").s);
        ridge_table_cell(t, ridge_convention_what(c));
    }
}

/* ---- the rest -------------------------------------------------------------------- */

static void add_checkpoint(ridge_ctx *cx, const ridge_checkpoint *c,
                           ridge_sections *out)
{
    if (!c)
        return;
    ridge_table *t = ridge__section_add(cx, out, "Checkpoint", "|");
    ridge__table_pair(t, "file", c->path);
    ridge__table_pair(t, "tensors", ridge_format_exact(c->tensors).s);
    ridge__table_pair(t, "bytes it holds", ridge_format_bytes(c->total_bytes).s);
    ridge__table_pair(t, "bytes predicted", ridge_format_bytes(c->predicted_bytes).s);
    ridge__table_pair(t, "verdict", c->verdict);
}

static void add_notes(ridge_ctx *cx, const ridge_model *model, ridge_sections *out)
{
    if (!model->n_notes)
        return;
    ridge_table *t = ridge__section_add(cx, out, "Notes", "");
    for (int i = 0; i < model->n_notes; i++)
        ridge_table_cell(t, model->notes[i]);
}

static ridge_sections sections_of(ridge_ctx *cx, const ridge_model_view *view)
{
    ridge_params p = ridge_model_params(view->model);
    const char *subtitle =
        p.active == p.total
            ? ridge_sprintf(ridge_ctx_arena(cx), "%s parameters",
                            ridge_format_count((double)p.total).s)
            : ridge_sprintf(ridge_ctx_arena(cx), "%s parameters, %s active for a token",
                            ridge_format_count((double)p.total).s,
                            ridge_format_count((double)p.active).s);
    ridge_sections out = {.title = view->model->name, .subtitle = subtitle};
    add_shape(cx, view->model, &out);
    add_layers(cx, view->model, &out);
    add_params(cx, view->model, &out);
    add_forward(cx, view, &out);
    add_conventions(cx, view, &out);
    ridge__model_add_past_run(cx, view, &out);
    ridge__model_add_memory(cx, view, &out);
    add_checkpoint(cx, view->checkpoint, &out);
    add_notes(cx, view->model, &out);
    return out;
}

void ridge_model_write_text(ridge_ctx *cx, const ridge_model_view *view,
                            bool with_colour, ridge_buf *out)
{
    ridge_sections sections = sections_of(cx, view);
    ridge__sections_write_text(&sections, with_colour, out);
}

/** Parameters by part, as one bar. */
static void write_bars(const ridge_model *model, ridge_buf *out)
{
    static const char *const names[] = {
        "embedding", "attention", "MLP", "router", "experts", "norms", "unembedding"};
    ridge_params p = ridge_model_params(model);
    double values[] = {(double)p.embedding,  (double)p.attention, (double)p.mlp,
                       (double)p.router,     (double)p.experts,   (double)p.norm,
                       (double)p.unembedding};
    const char *rows[] = {"parameters"};
    ridge_html_bars(out, rows, 1, names, RIDGE_COUNT_OF(names), values, "");
}

void ridge_model_write_html(ridge_ctx *cx, const ridge_model_view *view, ridge_buf *out)
{
    ridge_sections sections = sections_of(cx, view);
    ridge__page_begin(&sections, out);
    write_bars(view->model, out);
    ridge__page_end(&sections, out);
}
