/* Strategies that were run: whether the numbers are right, and measured times beside
 * predicted ones. */
#include "shard_proof.h"

#include <math.h>

bool ridge_shard_proof_holds(const ridge_shard_proof *proof)
{
    for (int i = 0; i < proof->n; i++) {
        if (!proof->results[i].is_right)
            return false;
    }
    return true;
}

static const char *draw_text(ridge_draw draw)
{
    switch (draw) {
    case RIDGE_DRAW_WHOLE:
        return "whole";
    case RIDGE_DRAW_REAL:
        return "real";
    }
    return "";
}

static const ridge_priced_strategy *strategy_at(const ridge_shard_view *view, int run)
{
    return &view->study->strategies[view->proof->first + run];
}

/* ---- words --------------------------------------------------------------------------
 */

static const char *steps_text(ridge_ctx *cx, const ridge_expr *e,
                              const ridge_strategy *s)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_strategy_write(e, s, &b);
    return ridge_buf_text(&b);
}

static const char *step_text(ridge_ctx *cx, const ridge_expr *e,
                             const ridge_reshard *step)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_reshard_write(e, step, &b);
    return ridge_buf_text(&b);
}

/* "0, exactly", "2e-06 (3e-08 of the largest)" */
static const char *error_text(ridge_ctx *cx, const ridge_strategy_result *r)
{
    if (r->is_exact && r->max_abs_error <= 0.0)
        return "0, exactly";
    return ridge_sprintf(ridge_ctx_arena(cx), "%.2g (%.2g of the largest)",
                         r->max_abs_error, r->max_rel_error);
}

static const char *fault_text(const ridge_strategy_result *r)
{
    return !r->is_padding_zero      ? "WRONG: padding is not zero"
           : !r->has_equal_replicas ? "WRONG: replicas differ"
           : !r->is_right           ? "WRONG numbers"
                                    : "right";
}

static const char *verdict(ridge_ctx *cx, const ridge_shard_proof *proof)
{
    ridge_buf b;
    int wrong = 0;
    double most = 0.0;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < proof->n; i++) {
        wrong += !proof->results[i].is_right;
        most = fmax(most, proof->results[i].max_abs_error);
    }
    ridge_buf_printf(&b, "Run on %d %s with %s numbers", proof->run.ranks.ranks,
                     proof->run.ranks.engine == RIDGE_ENGINE_THREADS ? "threads"
                     : proof->run.ranks.engine == RIDGE_ENGINE_MPI   ? "MPI ranks"
                                                                     : "GPUs",
                     draw_text(proof->run.draw));
    if (wrong > 0) {
        ridge_buf_printf(&b, ": WRONG in %d of %d.", wrong, proof->n);
    } else if (proof->n == 1) {
        ridge_buf_printf(&b,
                         ": largest error %s. Padding is zero, replicas agree bit for "
                         "bit.",
                         error_text(cx, &proof->results[0]));
    } else {
        ridge_buf_printf(&b,
                         ": all %d right, largest error %.2g. Padding is zero, "
                         "replicas agree bit for bit.",
                         proof->n, most);
    }
    return ridge_buf_text(&b);
}

/* ---- sections -----------------------------------------------------------------------
 */

static void seconds_cell(ridge_table *t, double s)
{
    ridge_table_cellf(t, "%s", ridge_format_seconds(s).s);
}

/* A row's predicted time, where there is a slice, and its measured ones. */
typedef struct row_times {
    double predicted_s, measured_s, overlapped_s;
    bool is_beside; /* of the product: no time of its own when overlapped */
} row_times;

static void add_times(const ridge_shard_view *view, const row_times *times,
                      ridge_table *t)
{
    if (view->study->slice)
        seconds_cell(t, times->predicted_s);
    seconds_cell(t, times->measured_s);
    if (!view->proof->run.has_overlap)
        return;
    if (times->is_beside) {
        ridge_table_cell(t, "beside");
    } else {
        seconds_cell(t, times->overlapped_s);
    }
}

static const char *columns_of(const ridge_shard_view *view, bool is_list)
{
    const bool has_slice = view->study->slice,
               has_overlap = view->proof->run.has_overlap;
    if (is_list) {
        return has_slice     ? has_overlap
                                   ? "strategy|error|>predicted|>measured|>overlapped"
                                   : "strategy|error|>predicted|>measured"
               : has_overlap ? "strategy|error|>measured|>overlapped"
                             : "strategy|error|>measured";
    }
    return has_slice     ? has_overlap
                               ? "step|>array of a group|>predicted|>measured|>overlapped"
                               : "step|>array of a group|>predicted|>measured"
           : has_overlap ? "step|>array of a group|>measured|>overlapped"
                         : "step|>array of a group|>measured";
}

/* Without anything beside the product the second run would be the first. */
static double overlapped(const ridge_strategy_result *r, double plain_s,
                         double overlapped_s)
{
    return r->has_overlap ? overlapped_s : plain_s;
}

static void add_step_row(ridge_ctx *cx, const ridge_shard_view *view, int i,
                         ridge_table *t)
{
    const ridge_priced_strategy *p = strategy_at(view, 0);
    const ridge_strategy_result *r = &view->proof->results[0];
    const ridge_reshard *step = &p->strategy.steps[i];
    const row_times times = {
        p->cost.steps[i].expected_s, r->plain.steps_s[i],
        overlapped(r, r->plain.steps_s[i], r->overlapped.steps_s[i]), r->is_beside[i]};
    ridge_table_cell(t, step_text(cx, &view->study->expr, step));
    ridge_table_cellf(t, "%s", ridge_format_bytes(step->bytes).s);
    add_times(view, &times, t);
}

static void add_total_rows(const ridge_shard_view *view, bool is_product,
                           ridge_table *t)
{
    const ridge_strategy_cost *cost = &strategy_at(view, 0)->cost;
    const ridge_strategy_result *r = &view->proof->results[0];
    const double plain_s = is_product ? r->plain.product_s : r->plain.total_s;
    const double other_s = is_product ? r->overlapped.product_s : r->overlapped.total_s;
    const double total_s = view->study->has_overlap ? cost->overlapped_s : cost->time_s;
    const row_times times = {is_product ? cost->compute.expected_s : total_s, plain_s,
                             overlapped(r, plain_s, other_s), false};
    ridge_table_cell(t, is_product ? "multiply" : "all in one go");
    ridge_table_cell(t, "");
    add_times(view, &times, t);
}

static void add_first(ridge_ctx *cx, const ridge_shard_view *view, ridge_sections *out)
{
    const ridge_strategy *s = &strategy_at(view, 0)->strategy;
    const char *title = ridge_sprintf(ridge_ctx_arena(cx), "Run of strategy %d",
                                      view->proof->first + 1);
    ridge_table *t =
        ridge__section_add(cx, out, title ? title : "Run", columns_of(view, false));
    for (int i = 0; i <= s->n_steps; i++) {
        if (i == s->n_before)
            add_total_rows(view, true, t);
        if (i < s->n_steps)
            add_step_row(cx, view, i, t);
    }
    ridge_table_rule(t);
    add_total_rows(view, false, t);
    const char *tail =
        view->proof->run.has_overlap && !view->proof->results[0].has_overlap
            ? " No step of it can run beside the product."
            : "";
    ridge__section_note(
        out,
        ridge_sprintf(ridge_ctx_arena(cx),
                      "%s Measured here, until the last rank is done: steps one by "
                      "one, then all in one go; medians.%s",
                      verdict(cx, view->proof), tail));
}

static void add_list(ridge_ctx *cx, const ridge_shard_view *view, ridge_sections *out)
{
    ridge_table *t =
        ridge__section_add(cx, out, "Strategies run", columns_of(view, true));
    for (int i = 0; i < view->proof->n; i++) {
        const ridge_strategy_result *r = &view->proof->results[i];
        const ridge_priced_strategy *p = strategy_at(view, i);
        const row_times times = {
            view->study->has_overlap ? p->cost.overlapped_s : p->cost.time_s,
            r->plain.total_s, overlapped(r, r->plain.total_s, r->overlapped.total_s),
            false};
        ridge_table_cell(t, steps_text(cx, &view->study->expr, &p->strategy));
        ridge_table_cell(t, r->is_right ? error_text(cx, r) : fault_text(r));
        add_times(view, &times, t);
    }
}

void ridge__shard_proof_add(ridge_ctx *cx, const ridge_shard_view *view,
                            ridge_sections *out)
{
    add_first(cx, view, out);
    if (view->proof->n > 1)
        add_list(cx, view, out);
}

/* ---- JSON ---------------------------------------------------------------------------
 */

void ridge__shard_proof_set(ridge_ctx *cx, const ridge_shard_proof *proof,
                            ridge_json *object)
{
    ridge_json *run = ridge_json_set_object(cx, object, "run");
    double most = 0.0;
    for (int i = 0; i < proof->n; i++)
        most = fmax(most, proof->results[i].max_abs_error);
    ridge_json_set_text(run, "engine", ridge_engine_text(proof->run.ranks.engine));
    ridge_json_set_i64(run, "ranks", proof->run.ranks.ranks);
    ridge_json_set_text(run, "values", draw_text(proof->run.draw));
    ridge_json_set_i64(run, "seed", (int64_t)proof->run.seed);
    ridge_json_set_i64(run, "strategies", proof->n);
    ridge_json_set_bool(run, "is_right", ridge_shard_proof_holds(proof));
    ridge_json_set_double(run, "max_abs_error", most);
    ridge_json_set_double(run, "measured_s", proof->results[0].plain.total_s);
}

typedef struct step_row {
    const char *text;
    double bytes, sent_bytes, measured_s;
} step_row;

static void push_row(ridge_ctx *cx, ridge_json *rows, const step_row *r)
{
    ridge_json *row = ridge_json_push_object(cx, rows);
    ridge_json_set_text(row, "text", r->text);
    ridge_json_set_double(row, "bytes", r->bytes);
    ridge_json_set_double(row, "sent_bytes", r->sent_bytes);
    ridge_json_set_double(row, "measured_s", r->measured_s);
}

/* Steps that ran of their own, with the product among them. */
static void set_steps(ridge_ctx *cx, const ridge_expr *e, const ridge_strategy *s,
                      const ridge_strategy_times *times, const bool *is_beside,
                      ridge_json *object)
{
    ridge_json *rows = ridge_json_set_array(cx, object, "steps");
    for (int i = 0; i <= s->n_steps; i++) {
        if (i == s->n_before)
            push_row(cx, rows, &(step_row){"multiply", 0.0, 0.0, times->product_s});
        if (i == s->n_steps || (is_beside && is_beside[i]))
            continue;
        const step_row row = {step_text(cx, e, &s->steps[i]), s->steps[i].bytes,
                              ridge_reshard_sent_bytes(&e->mesh, &s->steps[i]),
                              times->steps_s[i]};
        push_row(cx, rows, &row);
    }
}

static void set_overlapped(ridge_ctx *cx, const ridge_expr *e, const ridge_strategy *s,
                           const ridge_strategy_result *r, ridge_json *run)
{
    ridge_json *object = ridge_json_set_object(cx, run, "overlapped");
    ridge_json *beside = ridge_json_set_array(cx, object, "beside_product");
    for (int i = 0; i < s->n_steps; i++) {
        if (r->is_beside[i])
            ridge_json_push_text(beside, step_text(cx, e, &s->steps[i]));
    }
    ridge_json_set_double(object, "measured_s", r->overlapped.total_s);
    set_steps(cx, e, s, &r->overlapped, r->is_beside, object);
}

void ridge__shard_proof_set_strategy(ridge_ctx *cx, const ridge_shard_view *view,
                                     int which, ridge_json *row)
{
    const ridge_shard_proof *proof = view->proof;
    if (!proof || which < proof->first || which >= proof->first + proof->n)
        return;
    const ridge_strategy_result *r = &proof->results[which - proof->first];
    const ridge_strategy *s = &view->study->strategies[which].strategy;
    ridge_json *run = ridge_json_set_object(cx, row, "run");
    ridge_json_set_bool(run, "is_right", r->is_right);
    ridge_json_set_bool(run, "is_exact", r->is_exact);
    ridge_json_set_bool(run, "is_padding_zero", r->is_padding_zero);
    ridge_json_set_bool(run, "has_equal_replicas", r->has_equal_replicas);
    ridge_json_set_double(run, "max_abs_error", r->max_abs_error);
    ridge_json_set_double(run, "max_rel_error", r->max_rel_error);
    ridge_json_set_double(run, "measured_s", r->plain.total_s);
    set_steps(cx, &view->study->expr, s, &r->plain, NULL, run);
    if (r->has_overlap)
        set_overlapped(cx, &view->study->expr, s, r, run);
}
