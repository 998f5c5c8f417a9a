/* The study of drafting for a layout of serve. */
#include "serve_speculation.h"

#include "ridge/plan_speculation.h"
#include "ridge/report_speculation.h"

#include <math.h>

enum { DEPTH_USUAL = 8, NODES_USUAL = 64 };

static ridge_status read_speculation(cli_run *run, ridge_speculation *out)
{
    const ridge_library *library;
    RIDGE_TRY(cli_library(run, &library));
    const ridge_status st = ridge_speculation_parse(
        run->cx, cli_option_text(run, "speculation"), library, out);
    if (st != RIDGE_OK)
        ridge_ctx_note(run->cx, "--speculation");
    return st;
}

/* Powers of two up to what the cache holds, and that. */
static void fill_batches(const ridge_serving_memory *m, double context,
                         ridge_speculation_query *q)
{
    const double tokens = (double)m->blocks * (double)m->block_tokens;
    const double most = fmax(1, floor(tokens / fmax(1, context)));
    double batch = 1;
    while (batch < most && q->n_batches + 1 < RIDGE_STUDY_BATCHES_MAX) {
        q->batches[q->n_batches++] = batch;
        batch *= 2;
    }
    q->batches[q->n_batches++] = most;
}

/* A quarter of the context to 64 times it, as far as the model and the cache reach. */
static void fill_contexts(const ridge_model *model, const ridge_serving_memory *m,
                          ridge_speculation_query *q)
{
    double context = q->context_tokens / 4;
    q->cache_tokens = (double)m->blocks * (double)m->block_tokens;
    for (int i = 0; i < 5; i++, context *= 4) {
        const bool is_long =
            model->max_positions > 0 && context > (double)model->max_positions;
        if (!is_long && context >= 1 && context <= q->cache_tokens)
            q->contexts[q->n_contexts++] = round(context);
    }
}

static double context_of(const ridge_service_work *w)
{
    return w->context_tokens > 0 ? w->context_tokens
                                 : w->prompt_tokens + w->output_tokens / 2;
}

static ridge_status study(cli_run *run, const ridge_service_request *r,
                          const ridge_serving_layout *layout,
                          ridge_speculation_query *q, ridge_speculation_study *out)
{
    ridge_serving_memory memory;
    const ridge_service_work *w = &r->work;
    const ridge_serving_case about = {
        .model = r->model,
        .slice = r->slice,
        .engine = r->engine,
        .expert_skew = r->expert_skew,
        .longest_tokens = fmax(w->prompt_tokens + w->output_tokens, w->context_tokens)};
    q->layout = layout;
    q->context_tokens = context_of(w);
    RIDGE_TRY(read_speculation(run, &q->speculation));
    const ridge_draft *d = &q->speculation.draft;
    q->deepest = d->depth > 0 ? d->depth : DEPTH_USUAL;
    if (q->deepest > RIDGE_STUDY_DEPTHS_MAX)
        q->deepest = RIDGE_STUDY_DEPTHS_MAX;
    q->most_nodes = d->nodes > 0 ? d->nodes : NODES_USUAL;
    RIDGE_TRY(ridge_serving_desk_open(run->cx, &about, &q->desk));
    RIDGE_TRY(ridge_serving_memory_find(q->desk, layout, &memory));
    fill_batches(&memory, q->context_tokens, q);
    fill_contexts(r->model, &memory, q);
    return ridge_speculation_study_run(run->cx, q, out);
}

static int write_svg(cli_run *run, const ridge_speculation_view *v)
{
    const char *path = cli_option_text(run, "svg");
    ridge_buf text;
    if (path == NULL)
        return 0;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    ridge_speculation_write_svg(run->cx, v, &text);
    return ridge_file_write(run->cx, path, (ridge_str){text.p, text.n}) == RIDGE_OK
               ? 0
               : cli_fail(run);
}

static int show(cli_run *run, const ridge_speculation_view *v)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (run->html_path) {
        ridge_speculation_write_html(run->cx, v, &text);
        const int code = cli_emit_html(run, &text);
        if (code)
            return code;
        ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_speculation_write_json(run->cx, v, object);
        return cli_emit_json(run, object);
    }
    ridge_speculation_write_text(run->cx, v, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

int serve_speculation_run(cli_run *run, const ridge_service_request *request,
                          const ridge_service_result *result, const char *model_name)
{
    ridge_speculation_query query = {0};
    ridge_speculation_study *found =
        ridge_new(ridge_ctx_arena(run->cx), ridge_speculation_study, 1);
    if (found == NULL)
        return cli_fail(run);
    const ridge_service_choice *best = &result->layouts[0].choice;
    const ridge_serving_layout *layout = &best->pools[best->n_pools - 1].layout;
    if (study(run, request, layout, &query, found) != RIDGE_OK)
        return cli_fail(run);
    const ridge_speculation_view view = {.model_name = model_name,
                                         .slice_text = request->slice->text,
                                         .query = &query,
                                         .study = found,
                                         .engine = request->engine};
    const int code = write_svg(run, &view);
    return code ? code : show(run, &view);
}
