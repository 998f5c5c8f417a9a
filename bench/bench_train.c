/* How many training layouts the search covers and prices a second on one core, and how
 * long a whole search takes on all of them. */
#include "stopwatch.h"

#include "ridge/plan_reasons.h"

#include <stdio.h>

typedef struct load {
    ridge_train_request request;
    ridge_train_result result; /* of the last run */
    bool is_priced;            /* count what was priced, not what was covered */
} load;

static double search_once(void *payload)
{
    load *l = payload;
    ridge_ctx *cx = ridge_ctx_open();
    if (cx == NULL)
        return -1;
    const ridge_status st = ridge_train_search(cx, &l->request, &l->result);
    l->result.layouts = NULL; /* they go with the ctx */
    ridge_ctx_close(cx);
    if (st != RIDGE_OK)
        return -1;
    return (double)(l->is_priced ? l->result.priced : l->result.covered);
}

static const struct {
    const char *name, *model, *slice;
    double batch_tokens, seq_tokens;
} rows[] = {
    {"train_llama_3_70b", "llama-3-70b", "v5p:16x20x28", 4e6, 4096},
    {"train_llama_3_405b", "llama-3.1-405b", "h100:2048x8", 16e6, 8192},
    {"train_deepseek_v3", "deepseek-v3", "h100:256x8", 64e6, 4096},
    /* many divisors of the batch: many microbatches */
    {"train_divisors", "deepseek-v3", "h800:256x8", 62914560, 4096},
};

/* The searches of --reasons, one for each limit that is taken away. */
static double relax_once(void *payload)
{
    load *l = payload;
    ridge_relaxation lines[RIDGE_RELAXATION_MAX];
    int n = 0;
    const ridge_catalog *catalog = NULL;
    ridge_train_request r = l->request;
    ridge_ctx *cx = ridge_ctx_open();
    if (cx == NULL)
        return -1;
    const bool is_done =
        ridge_catalog_open(cx, NULL, &catalog) == RIDGE_OK &&
        ridge_layer_shelf_open(cx, &r.shelf) == RIDGE_OK &&
        ridge_train_search(cx, &r, &l->result) == RIDGE_OK && l->result.n_layouts > 0 &&
        ridge_train_relax(cx, catalog, &r, &l->result.layouts[0], lines, &n) ==
            RIDGE_OK;
    ridge_ctx_close(cx);
    return is_done ? 1 : -1;
}

static int report_reasons(load *l, const char *name)
{
    char text[64];
    snprintf(text, sizeof text, "%s_reasons", name);
    const bench b = {
        .name = text, .unit = "answers/s", .run = relax_once, .payload = l};
    l->request.workers = 0;
    return bench_report(&b, NULL);
}

/* The same search counted in three ways. */
static int report(load *l, const char *name)
{
    char text[3][64];
    snprintf(text[0], sizeof text[0], "%s_covered", name);
    snprintf(text[1], sizeof text[1], "%s_priced", name);
    snprintf(text[2], sizeof text[2], "%s_search", name);
    bench b = {.name = text[0], .unit = "layouts/s", .run = search_once, .payload = l};
    l->request.workers = 1;
    int code = bench_report(&b, NULL);
    l->is_priced = true;
    b.name = text[1];
    code |= bench_report(&b, NULL);
    bench_rates rates;
    l->request.workers = 0;
    b.name = text[2];
    b.unit = "searches/s";
    b.amount_per_run = 1;
    code |= bench_report(&b, &rates);
    if (code == 0)
        printf("{\"bench\": \"%s\", \"covered\": %lld, \"priced\": %lld, "
               "\"wall_s\": %.6g}\n",
               name, (long long)l->result.covered, (long long)l->result.priced,
               1 / rates.median);
    return code;
}

int main(void)
{
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_catalog *catalog = NULL;
    const ridge_library *library = NULL;
    int code = !cx || ridge_catalog_open(cx, NULL, &catalog) != RIDGE_OK ||
               ridge_library_open(cx, NULL, &library) != RIDGE_OK;
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows) && !code; i++) {
        load l = {.request = {.batch_tokens = rows[i].batch_tokens,
                              .seq_tokens = rows[i].seq_tokens,
                              .knobs = ridge_knobs_free(),
                              .top = 5}};
        code = ridge_slice_parse(cx, catalog, rows[i].slice, &l.request.slice) ||
               ridge_model_load(cx, library, rows[i].model, &l.request.model);
        if (!code)
            code = report(&l, rows[i].name) || report_reasons(&l, rows[i].name);
    }
    if (code && cx)
        fprintf(stderr, "bench: %s\n", ridge_ctx_message(cx));
    if (cx)
        ridge_ctx_close(cx);
    return code;
}
