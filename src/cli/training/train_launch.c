/* A launch file as a training question, and the account of what it said. */
#include "train_launch.h"

#include <string.h>

enum { SEQ_TOKENS_USUAL = 4096 };

ridge_status train_launch_read(cli_run *run, const char *path,
                               ridge_train_request *request, train_launch *out)
{
    ridge_launch_query query = {.slice = request->slice};
    RIDGE_TRY(cli_library(run, &query.library));
    if (run->n_args > 0)
        RIDGE_TRY(cli_model(run, run->args[0], &query.model));
    RIDGE_TRY(ridge_launch_read(run->cx, path, &query, &out->launch));
    const ridge_launch *l = &out->launch;
    double seq = l->seq_tokens > 0 ? l->seq_tokens : SEQ_TOKENS_USUAL;
    RIDGE_TRY(cli_option_count(run, "seq", seq, &seq));
    request->model = l->model;
    request->knobs = l->knobs;
    request->seq_tokens = seq;
    request->batch_tokens = l->batch_seqs * seq;
    request->total_tokens = l->total_tokens;
    return RIDGE_OK;
}

void train_launch_free(const cli_run *run, ridge_knobs *knobs)
{
    static const char *const degrees[] = {"tp", "cp", "pp", "dp", "fsdp", "zero"};
    for (int i = 0; cli_option_text(run, "from") && i < run->n_knobs; i++) {
        for (size_t d = 0; d < RIDGE_COUNT_OF(degrees); d++) {
            if (strcmp(run->knobs[i].key, degrees[d]) == 0)
                knobs->dp = knobs->fsdp = 0;
        }
    }
}

static void put_notes(const char *title, const ridge_launch_notes *notes,
                      ridge_buf *out)
{
    for (int i = 0; i < notes->n; i++)
        ridge_buf_printf(out, "%s %s\n", i == 0 ? title : "           ",
                         notes->text[i]);
}

ridge_status train_launch_price(cli_run *run, const ridge_train_request *request,
                                const ridge_train_result *result, train_launch *launch)
{
    if (!launch->launch.path || !launch->launch.has_layout || result->n_layouts > 0 ||
        !result->has_nearest)
        return RIDGE_OK;
    return ridge_train_price_one(run->cx, request, &result->nearest.layout,
                                 &launch->over);
}

void train_launch_text(const train_launch *launch, ridge_buf *out)
{
    const ridge_launch *l = &launch->launch;
    ridge_buf_printf(out, "%s: %s; %d options read, %d change no time%s\n", l->path,
                     l->format, l->read, l->ignored,
                     l->has_layout ? "" : "; it states no layout: all are searched");
    put_notes("assumed:   ", &l->assumed, out);
    put_notes("not priced:", &l->differing, out);
    if (launch->over.step_time_s > 0) {
        ridge_buf_printf(out,
                         "It does not fit, see below; if it did, a step would take %s, "
                         "at %s MFU.\n",
                         ridge_format_seconds(launch->over.step_time_s).s,
                         ridge_format_percent(launch->over.mfu).s);
    }
    ridge_buf_puts(out, "\n");
}

static void set_notes(cli_run *run, ridge_json *object, const char *key,
                      const ridge_launch_notes *notes)
{
    ridge_json *list = ridge_json_set_array(run->cx, object, key);
    for (int i = 0; i < notes->n; i++)
        ridge_json_push_text(list, notes->text[i]);
}

void train_launch_json(cli_run *run, const ridge_train_request *request,
                       const train_launch *launch, ridge_json *object)
{
    const ridge_launch *l = &launch->launch;
    ridge_json *from = ridge_json_set_object(run->cx, object, "from");
    ridge_json_set_text(from, "path", l->path);
    ridge_json_set_text(from, "format", l->format);
    ridge_json_set_text(from, "launcher", ridge_launcher_text(l->launcher));
    ridge_json_set_bool(from, "states_layout", l->has_layout);
    ridge_json_set_i64(from, "options_read", l->read);
    ridge_json_set_i64(from, "options_ignored", l->ignored);
    set_notes(run, from, "assumed", &l->assumed);
    set_notes(run, from, "not_priced", &l->differing);
    if (launch->over.step_time_s > 0) {
        ridge_json_set(from, "if_it_fitted",
                       ridge_train_price_to_json(run->cx, request, &launch->over));
    }
}
