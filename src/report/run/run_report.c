/* A training run as tables and as JSON. */
#include "section.h"

#include "ridge/report.h"
#include "ridge/report_run.h"

#include <math.h>
#include <stdio.h>

static double most_memory(const ridge_train_report *r)
{
    double most = 0.0;
    for (int i = 0; i < r->ranks; i++)
        most = fmax(most, r->peak_memory_bytes[i]);
    return most;
}

/* What the plan says of arrays alone: a run counts no context or allocator's gap. */
static double predicted_memory(const ridge_train_price *p)
{
    return p->peak_memory_bytes - p->memory.reserve_bytes;
}

static double mfu(const ridge_run_view *v)
{
    const ridge_train_report *r = v->report;
    return r->peak_flops_per_s > 0.0
               ? r->tokens_per_s * v->flops_per_token / r->peak_flops_per_s
               : nan("");
}

/* ---- text --------------------------------------------------------------------------
 */

static void row(ridge_table *t, const char *name, const char *measured,
                const char *predicted, double error)
{
    ridge_table_cell(t, name);
    ridge_table_cell(t, measured);
    ridge_table_cell(t, predicted);
    ridge_table_cell(t, isfinite(error) ? ridge_format_percent(error).s : "");
}

/* Experts' ranks wait for the busiest: new weights choose unevenly, and a plan does not
 * know how. */
static void add_loaded(const ridge_run_view *v, ridge_table *t)
{
    const ridge_train_report *r = v->report;
    char load[32];
    if (!(r->expert_load > 0.0) || r->ranks == 1)
        return;
    if (v->loaded)
        row(t, "step, experts so loaded", ridge_format_seconds(r->median_step_s).s,
            ridge_format_seconds(v->loaded->step_time_s).s,
            v->loaded->step_time_s / r->median_step_s - 1.0);
    snprintf(load, sizeof load, "%.2f", r->expert_load);
    row(t, "busiest rank's experts", load, "", nan(""));
}

static void add_measured(ridge_ctx *cx, const ridge_run_view *v, ridge_sections *s)
{
    const ridge_train_report *r = v->report;
    const ridge_train_price *p = v->price;
    ridge_table *t = ridge__section_add(cx, s, "Measured and predicted",
                                        "|>measured|>predicted|>error");
    row(t, "step", ridge_format_seconds(r->median_step_s).s,
        p ? ridge_format_seconds(p->step_time_s).s : "",
        p ? p->step_time_s / r->median_step_s - 1.0 : nan(""));
    add_loaded(v, t);
    row(t, "tokens", ridge_format_si(r->tokens_per_s, "tokens/s").s, "", nan(""));
    if (r->peak_flops_per_s > 0.0)
        row(t, "MFU", ridge_format_percent(mfu(v)).s,
            p ? ridge_format_percent(p->mfu).s : "", nan(""));
    row(t, "peak memory a rank", ridge_format_bytes(most_memory(r)).s,
        p ? ridge_format_bytes(predicted_memory(p)).s : "",
        p ? predicted_memory(p) / most_memory(r) - 1.0 : nan(""));
    if (!p)
        ridge__section_note(s, "No prediction: the run had no plan file, or its slice "
                               "cannot be priced.");
}

static void add_ranks(ridge_ctx *cx, const ridge_run_view *v, ridge_sections *s)
{
    const ridge_train_report *r = v->report;
    ridge_table *t = ridge__section_add(cx, s, "Memory of arrays by rank",
                                        ">rank|>peak|>weights and optimizer");
    for (int i = 0; i < r->ranks; i++) {
        ridge_table_cellf(t, "%d", i);
        ridge_table_cell(t, ridge_format_bytes(r->peak_memory_bytes[i]).s);
        ridge_table_cell(t, ridge_format_bytes(r->weight_bytes[i]).s);
    }
}

static void add_losses(ridge_ctx *cx, const ridge_run_view *v, ridge_sections *s)
{
    const ridge_train_report *r = v->report;
    ridge_table *t = ridge__section_add(cx, s, "Loss", "|>nats a token");
    ridge_table_cellf(t, "step %lld", (long long)r->first_step);
    ridge_table_cellf(t, "%.4f", r->first_loss);
    ridge_table_cellf(t, "step %lld", (long long)r->last_step);
    ridge_table_cellf(t, "%.4f", r->last_loss);
    if (isfinite(r->eval_loss)) {
        ridge_table_cell(t, "evaluation");
        ridge_table_cellf(t, "%.4f", r->eval_loss);
    }
}

static ridge_sections sections_of(ridge_ctx *cx, const ridge_run_view *v)
{
    ridge_sections s = {.title = ridge_sprintf(ridge_ctx_arena(cx), "%s on %d %s of %s",
                                               v->run->model->name, v->report->ranks,
                                               v->report->ranks == 1 ? "rank" : "ranks",
                                               ridge_engine_text(v->run->ranks.engine)),
                        .subtitle = ridge_run_layout_text(cx, &v->run->layout)};
    add_losses(cx, v, &s);
    add_measured(cx, v, &s);
    add_ranks(cx, v, &s);
    return s;
}

void ridge_run_write_text(ridge_ctx *cx, const ridge_run_view *v, bool with_colour,
                          ridge_buf *out)
{
    const ridge_sections s = sections_of(cx, v);
    ridge__sections_write_text(&s, with_colour, out);
}

/* ---- HTML --------------------------------------------------------------------------
 */

/* Points of steps, or of evaluations. @return how many */
static size_t loss_points(const ridge_run_view *v, bool is_evaluation, double *x,
                          double *y)
{
    size_t n = 0;
    for (int64_t i = 0; i < v->n_events; i++) {
        const ridge_run_event *e = &v->events[i];
        if (e->checkpoint || e->is_evaluation != is_evaluation)
            continue;
        x[n] = (double)e->step;
        y[n++] = e->loss;
    }
    return n;
}

static bool loss_chart(ridge_ctx *cx, const ridge_run_view *v, ridge_chart *out)
{
    static const char *const names[] = {"training", "evaluation"};
    *out = (ridge_chart){.title = "Loss", .x_label = "step", .y_label = "nats a token"};
    for (int i = 0; i < 2; i++) {
        const size_t most = (size_t)v->n_events + 1;
        double *x = ridge_new(ridge_ctx_arena(cx), double, most);
        double *y = ridge_new(ridge_ctx_arena(cx), double, most);
        if (!x || !y)
            return false;
        const size_t n = loss_points(v, i == 1, x, y);
        if (n > 1)
            out->series[out->n_series++] =
                (ridge_series){.name = names[i], .x = x, .y = y, .n = n};
    }
    return out->n_series > 0;
}

void ridge_run_write_html(ridge_ctx *cx, const ridge_run_view *v, ridge_buf *out)
{
    const ridge_sections s = sections_of(cx, v);
    ridge_chart chart;
    ridge__page_begin(&s, out);
    if (loss_chart(cx, v, &chart))
        ridge_html_chart(out, &chart);
    ridge__page_end(&s, out);
}

/* ---- JSON --------------------------------------------------------------------------
 */

static void set_events(ridge_ctx *cx, const ridge_run_view *v, ridge_json *object)
{
    ridge_json *steps = ridge_json_set_array(cx, object, "steps");
    ridge_json *evaluations = ridge_json_set_array(cx, object, "evaluations");
    ridge_json *checkpoints = ridge_json_set_array(cx, object, "checkpoints");
    for (int64_t i = 0; i < v->n_events; i++) {
        const ridge_run_event *e = &v->events[i];
        if (e->checkpoint) {
            ridge_json_push_i64(checkpoints, e->step);
            continue;
        }
        ridge_json *o =
            ridge_json_push_object(cx, e->is_evaluation ? evaluations : steps);
        ridge_json_set_i64(o, "step", e->step);
        ridge_json_set_double(o, "loss", e->loss);
        if (e->is_evaluation)
            continue;
        ridge_json_set_double(o, "gradient_norm", e->gradient_norm);
        ridge_json_set_double(o, "rate", e->rate);
        ridge_json_set_double(o, "step_s", e->step_s);
        ridge_json_set_double(o, "tokens_per_s", e->tokens_per_s);
    }
}

static void set_measured(ridge_ctx *cx, const ridge_run_view *v, ridge_json *object)
{
    const ridge_train_report *r = v->report;
    ridge_json *o = ridge_json_set_object(cx, object, "measured");
    ridge_json_set_double(o, "step_time_s", r->median_step_s);
    ridge_json_set_double(o, "tokens_per_s", r->tokens_per_s);
    ridge_json_set_double(o, "mfu", mfu(v));
    ridge_json_set_double(o, "peak_flops_per_s", r->peak_flops_per_s);
    if (r->expert_load > 0.0)
        ridge_json_set_double(o, "expert_load", r->expert_load);
    ridge_json *peak = ridge_json_set_array(cx, o, "peak_memory_bytes");
    ridge_json *weights = ridge_json_set_array(cx, o, "weight_bytes");
    for (int i = 0; i < r->ranks; i++) {
        ridge_json_push_double(peak, r->peak_memory_bytes[i]);
        ridge_json_push_double(weights, r->weight_bytes[i]);
    }
}

void ridge_run_write_json(ridge_ctx *cx, const ridge_run_view *v, ridge_json *object)
{
    const ridge_train_report *r = v->report;
    ridge_json_set_text(object, "model", v->run->model->name);
    ridge_json_set_text(object, "layout", ridge_run_layout_text(cx, &v->run->layout));
    ridge_json_set_text(object, "engine", ridge_engine_text(v->run->ranks.engine));
    ridge_json_set_i64(object, "ranks", r->ranks);
    ridge_json_set_i64(object, "batch_tokens", v->run->batch_seqs * v->run->seq_tokens);
    set_events(cx, v, object);
    set_measured(cx, v, object);
    if (!v->price)
        return;
    ridge_json *o = ridge_json_set_object(cx, object, "predicted");
    ridge_json_set_double(o, "step_time_s", v->price->step_time_s);
    ridge_json_set_double(o, "bound_step_time_s", v->price->bound_step_time_s);
    if (v->loaded)
        ridge_json_set_double(o, "loaded_step_time_s", v->loaded->step_time_s);
    ridge_json_set_double(o, "peak_memory_bytes", predicted_memory(v->price));
}
